// SPDX-License-Identifier: Apache-2.0

// Sizes, indices and names that do not fit are errors of the program, reported in every build:
// nothing is read or written out of bounds.

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "ga_dynamics/cartesian_line.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/numeric_kinematics.hpp"
#include "ga_dynamics/puma_kinematics.hpp"
#include "ga_dynamics/trajectory.hpp"

namespace ga_dynamics {
namespace {

using Values = std::vector<double>;

Chain puma() { return Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf"); }

/// The message of what is thrown, or a remark that nothing is.
template <class Error = std::invalid_argument>
std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

/// Calls with memory for `sizes` values each. With one value less of any argument the call throws,
/// naming it, and writes nothing.
void expect_sizes(const std::string& function, const std::vector<std::string>& names,
                  const std::vector<std::size_t>& sizes,
                  const std::function<void(std::vector<std::span<double>>&)>& call) {
  constexpr double kUntouched = -77.25;
  std::vector<Values> memory;
  for (const std::size_t size : sizes) memory.emplace_back(size, 0.25);
  std::vector<std::span<double>> spans(memory.begin(), memory.end());
  EXPECT_NO_THROW(call(spans)) << function;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (Values& values : memory) std::fill(values.begin(), values.end(), kUntouched);
    spans.assign(memory.begin(), memory.end());
    spans[i] = spans[i].first(sizes[i] - 1);
    EXPECT_EQ(refusal([&] { call(spans); }),
              function + ": " + names[i] + " has " + std::to_string(sizes[i] - 1) +
                  " values; give at least " + std::to_string(sizes[i]));
    for (const Values& values : memory) {
      for (const double v : values) EXPECT_EQ(v, kUntouched) << function << " " << names[i];
    }
  }
}

TEST(BadSize, IsRefusedByEveryFunctionOfDynamics) {
  const Chain chain = puma();
  for (const Method method :
       {Method::kTensor, Method::kVector, Method::kDalembert, Method::kMinimal}) {
    Dynamics d(chain, {.method = method, .drives = Drives::kAll});
    expect_sizes("Dynamics::inverse_dynamics", {"q", "qd", "qdd", "tau"}, {6, 6, 6, 6},
                 [&](auto& a) { d.inverse_dynamics(a[0], a[1], a[2], a[3]); });
    expect_sizes("Dynamics::forward_dynamics", {"q", "qd", "tau", "qdd"}, {6, 6, 6, 6},
                 [&](auto& a) { d.forward_dynamics(a[0], a[1], a[2], a[3]); });
    expect_sizes("Dynamics::inertia_matrix", {"q", "inertia"}, {6, 36},
                 [&](auto& a) { d.inertia_matrix(a[0], a[1]); });
    expect_sizes("Dynamics::bias", {"q", "qd", "h"}, {6, 6, 6},
                 [&](auto& a) { d.bias(a[0], a[1], a[2]); });
    expect_sizes("Dynamics::gravity", {"q", "g"}, {6, 6}, [&](auto& a) { d.gravity(a[0], a[1]); });
    expect_sizes("Dynamics::jacobian", {"q", "jacobian"}, {6, 36},
                 [&](auto& a) { d.jacobian(a[0], chain.tip_index(), a[1]); });
    expect_sizes("Dynamics::energy", {"q", "qd"}, {6, 6}, [&](auto& a) { d.energy(a[0], a[1]); });
    expect_sizes("Dynamics::gibbs_function", {"q", "qd", "qdd"}, {6, 6, 6},
                 [&](auto& a) { d.gibbs_function(a[0], a[1], a[2]); });
    std::vector<Pose> poses(chain.links().size());
    expect_sizes("Dynamics::link_poses", {"q"}, {6}, [&](auto& a) { d.link_poses(a[0], poses); });
    poses.pop_back();
    EXPECT_EQ(refusal([&] { d.link_poses(Values(6), poses); }),
              "Dynamics::link_poses: poses has " + std::to_string(poses.size()) +
                  " values; give at least " + std::to_string(poses.size() + 1));
  }
}

TEST(BadSize, LongerSpansAreAccepted) {
  Dynamics d(puma());
  const Values q(9, 0.1);
  Values tau(9, -5), expected(6);
  d.inverse_dynamics(Values(6, 0.1), Values(6, 0.1), Values(6, 0.1), expected);
  d.inverse_dynamics(q, q, q, tau);
  EXPECT_EQ(Values(tau.begin(), tau.begin() + 6), expected);
  EXPECT_EQ(Values(tau.begin() + 6, tau.end()), Values(3, -5));
}

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
  for (const auto& motion : motions) {
    expect_sizes("Trajectory::sample", {"q", "qd", "qdd"}, {6, 6, 6},
                 [&](auto& a) { motion->sample(0.3, a[0], a[1], a[2]); });
  }
}

TEST(BadIndex, OfALinkIsRefused) {
  const Chain chain = puma();
  Dynamics d(chain);
  Values q(6), jacobian(36), before(6), after(6);
  d.inverse_dynamics(q, q, q, before);
  const auto size = static_cast<int>(chain.links().size());
  for (const int link : {-1, -1000000, size, size + 1, 1 << 30}) {
    const std::string rest = ": link index " + std::to_string(link) + " is not in 0 to " +
                             std::to_string(size - 1) + "; take it from Chain::link_index()";
    EXPECT_EQ(refusal([&] {
                d.set_external_wrench(link, {1, 2, 3}, {4, 5, 6});
              }),
              "Dynamics::set_external_wrench" + rest);
    EXPECT_EQ(refusal([&] { d.jacobian(q, link, jacobian); }), "Dynamics::jacobian" + rest);
  }
  d.inverse_dynamics(q, q, q, after);
  EXPECT_EQ(after, before) << "what is refused changes nothing";
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

TEST(LinkIndex, IsThatOfLinksOrAnErrorWithTheKnownNames) {
  const Chain chain = puma();
  for (std::size_t i = 0; i < chain.links().size(); ++i) {
    EXPECT_EQ(chain.link_index(chain.links()[i].name), static_cast<int>(i));
  }
  EXPECT_EQ(chain.link_index(chain.tip().name), chain.tip_index());
  std::string known;
  for (const ChainLink& link : chain.links()) known += (known.empty() ? "" : ", ") + link.name;
  for (const std::string name : {"lnik3", "", "link"}) {
    EXPECT_EQ(refusal<DescriptionError>([&] { chain.link_index(name); }),
              "link '" + name + "': not in the chain; its links are " + known);
  }
}

}  // namespace
}  // namespace ga_dynamics
