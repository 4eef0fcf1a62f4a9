// SPDX-License-Identifier: Apache-2.0

// Every public function refuses sizes and indices that do not fit, by name.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ga_motion/cartesian_line.hpp"
#include "ga_motion/kinematics.hpp"
#include "ga_motion/trajectory.hpp"
#include "refusal.hpp"

namespace ga_motion {
namespace {

using ga_dynamics::Chain;
using ga_dynamics::Pose;
using ga_dynamics::test::expect_sizes;
using ga_dynamics::test::refusal;
using Values = std::vector<double>;

Chain puma() { return Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf"); }

TEST(BadSize, IsRefusedByEveryFunctionOfTheKinematics) {
  const Chain chain = puma();
  const PumaKinematics closed(chain);
  const NumericKinematics numeric(chain);
  Pose pose, scratch;
  closed.forward(Values{0.3, -0.6, 2.6, 0.4, 0.9, 0.2}, pose);
  const std::pair<const InverseKinematics*, std::string> both[] = {{&closed, "PumaKinematics"},
                                                                   {&numeric, "NumericKinematics"}};
  for (const auto& [kinematics, name] : both) {
    const InverseKinematics& k = *kinematics;
    expect_sizes("InverseKinematics::forward", {"q"}, {6},
                 [&](auto& a) { k.forward(a[0], scratch); });
    expect_sizes("InverseKinematics::jacobian", {"q", "jacobian"}, {6, 36},
                 [&](auto& a) { k.jacobian(a[0], a[1]); });
    expect_sizes("InverseKinematics::velocity_product", {"q", "qd", "acceleration"}, {6, 6, 6},
                 [&](auto& a) { k.velocity_product(a[0], a[1], a[2]); });
    expect_sizes(name + "::nearest", {"seed", "q"}, {6, 6},
                 [&](auto& a) { k.nearest(pose, a[0], a[1]); });
    expect_sizes(name + "::follow", {"seed", "q"}, {6, 6},
                 [&](auto& a) { k.follow(pose, a[0], a[1]); });
    expect_sizes(name + "::singularity", {"q"}, {6}, [&](auto& a) { k.singularity(a[0]); });
    expect_sizes(name + "::branch_number", {"q"}, {6}, [&](auto& a) { k.branch_number(a[0]); });
  }
  std::array<PumaSolution, 8> all;
  expect_sizes("PumaKinematics::solve", {"seed"}, {6},
               [&](auto& a) { closed.solve(pose, a[0], all); });
  expect_sizes("PumaKinematics::branch_of", {"q"}, {6}, [&](auto& a) { closed.branch_of(a[0]); });
}

TEST(BadSize, IsRefusedByEveryTrajectory) {
  const Chain chain = puma();
  const Values start{0.3, -0.6, 2.6, 0.4, 0.9, 0.2}, goal{0.5, -0.7, 2.5, 0.3, 0.8, 0.1};
  Pose from, to;
  const PumaKinematics closed(chain);
  closed.forward(start, from);
  to = from;
  to.translation[2] += 0.05;
  const CartesianLine line(from, to, 0.1, 0.1);
  std::vector<std::unique_ptr<Trajectory>> motions;
  motions.push_back(make_ramp(start, goal, Values(6, 1), Values(6, 1)));
  motions.push_back(make_timed_ramp(start, goal, 1, 0.1));
  motions.push_back(make_quintic(start, goal, 1));
  motions.push_back(make_cubic_spline(Values{0, 1}, std::vector<Values>{start, goal}));
  motions.push_back(make_hold(start, 1));
  std::vector<std::unique_ptr<Trajectory>> parts;
  parts.push_back(make_hold(start, 1));
  parts.push_back(make_quintic(start, goal, 1));
  motions.push_back(make_sequence(std::move(parts)));
  motions.push_back(make_cartesian_line(closed, line, start));
  motions.push_back(make_cartesian_line(NumericKinematics(chain), line, start));
  motions.push_back(make_position_line(closed, {start, {0, 0, 1}, 0.05, 0.1, 0.1}));
  for (const auto& motion : motions) {
    expect_sizes("Trajectory::sample", {"q", "qd", "qdd"}, {6, 6, 6},
                 [&](auto& a) { motion->sample(0.3, a[0], a[1], a[2]); });
  }
}

TEST(BadIndex, OfAJointIsRefusedByDescribe) {
  const Chain chain = puma();
  for (const int joint : {-1, 6, 1 << 30}) {
    EXPECT_EQ(refusal([&] {
                describe({IkStatus::kOutsideLimits, joint, 1.0}, chain);
              }),
              "describe: joint index " + std::to_string(joint) +
                  " of a chain of 6 joints; give the chain of the result");
  }
  EXPECT_EQ(describe({IkStatus::kOk, -1, 0}, chain), "solved");
}

}  // namespace
}  // namespace ga_motion
