// SPDX-License-Identifier: Apache-2.0

// The search of NumericKinematics against the same task done with Orocos KDL: how many reachable
// poses are solved from random seeds, by one attempt and with restarts, and how long it takes.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include "kdl_kinematics.hpp"
#include "random_robot.hpp"

namespace ga_motion {

using namespace ga_dynamics;
namespace {

using ga_dynamics::test::RandomRobot;
using test::KdlKinematics;
constexpr double kPi = std::numbers::pi;

struct Arm {
  std::string name;
  std::vector<Chain> chains;
};

std::string robot(const char* name) { return std::string(GA_ROBOTS) + "/" + name; }

/// Modified-DH rows {alpha, a, d} and symmetric limits.
Chain from_rows(const std::vector<DhParameters>& dh, const std::vector<double>& limits) {
  std::vector<DhJoint> rows(dh.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].dh = dh[i];
    rows[i].limits.lower = -limits[i], rows[i].limits.upper = limits[i];
  }
  return Chain::from_dh(rows);
}

Arm random_chains(int joints) {
  Arm arm{std::to_string(joints) + " random joints", {}};
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const RandomRobot random(joints, seed, {.prismatic = 0.1, .fixed = 0});
    arm.chains.push_back(Chain::from_urdf_text(random.urdf()));
  }
  return arm;
}

std::vector<Arm> arms() {
  const double r = kPi / 2;
  std::vector<Arm> all;
  all.push_back({"PUMA 560", {Chain::from_urdf_file(robot("puma560_akb.urdf"))}});
  // The lengths of Universal Robots' UR5; its joints turn by two turns.
  all.push_back({"UR5",
                 {from_rows({{0, 0, 0.089159},
                             {r},
                             {0, -0.425},
                             {0, -0.39225, 0.10915},
                             {r, 0, 0.09465},
                             {-r, 0, 0.0823}},
                            std::vector<double>(6, 2 * kPi))}});
  all.push_back({"7 joints", {Chain::from_urdf_file(robot("seven_joints.urdf"))}});
  all.push_back({"SCARA", {Chain::from_urdf_file(robot("scara.urdf"))}});
  all.push_back(
      {"5 joints",
       {from_rows({{}, {r, 0.03}, {0, 0.25}, {0, 0.2}, {r, 0, 0.1}}, {2.9, 1.9, 2.4, 1.8, 3})}});
  for (const int joints : {5, 6, 7, 9}) all.push_back(random_chains(joints));
  return all;
}

struct Score {
  int solved = 0;
  double microseconds = 0;
};

/// Poses of random postures, from random seeds, both within the limits.
Score score(const InverseKinematics& kinematics, unsigned seed, int poses) {
  RandomRobot random(1, seed);
  const auto n = static_cast<std::size_t>(kinematics.size());
  const auto posture = [&] {
    std::vector<double> q(n);
    for (std::size_t i = 0; i < n; ++i) {
      const ChainJoint& joint = kinematics.chain().joints()[i];
      const double span = joint.revolute() ? kPi : 0.5;
      q[i] =
          random.uniform(std::max(joint.limits.lower, -span), std::min(joint.limits.upper, span));
    }
    return q;
  };
  Score score;
  for (int k = 0; k < poses; ++k) {
    const std::vector<double> goal = posture(), start = posture();
    std::vector<double> q(n);
    Pose pose, reached;
    kinematics.forward(goal, pose);
    const auto before = std::chrono::steady_clock::now();
    const bool usable = kinematics.nearest(pose, start, q).usable();
    score.microseconds +=
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - before)
            .count();
    if (!usable) continue;
    ++score.solved;
    kinematics.forward(q, reached);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(reached.translation[i], pose.translation[i], 1e-9);
  }
  return score;
}

/// Both on the same poses; prints a row.
void compare(const Arm& arm, int restarts, int poses, Score& all_ours, Score& all_kdl) {
  Score ours, kdl;
  const int each = poses / static_cast<int>(arm.chains.size());
  for (std::size_t i = 0; i < arm.chains.size(); ++i) {
    const auto seed = static_cast<unsigned>(100 + i);
    const NumericKinematics numeric(arm.chains[i], {.restarts = restarts});
    const Score a = score(numeric, seed, each);
    const Score b = score(KdlKinematics(arm.chains[i], restarts), seed, each);
    ours.solved += a.solved, ours.microseconds += a.microseconds;
    kdl.solved += b.solved, kdl.microseconds += b.microseconds;
  }
  std::printf("%-16s %2d restarts: %5.1f %% in %6.1f us, KDL %5.1f %% in %6.1f us\n",
              arm.name.c_str(), restarts, 100.0 * ours.solved / poses, ours.microseconds / poses,
              100.0 * kdl.solved / poses, kdl.microseconds / poses);
  EXPECT_GE(ours.solved, kdl.solved) << arm.name;
  all_ours.microseconds += ours.microseconds, all_kdl.microseconds += kdl.microseconds;
}

/// Sanitizers slow down our code and not the library.
void expect_less_time([[maybe_unused]] const Score& ours, [[maybe_unused]] const Score& kdl) {
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LT(ours.microseconds, kdl.microseconds);
#endif
}

TEST(SearchAgainstKdl, OneAttemptSolvesNoFewerPosesInLessTime) {
  Score ours, kdl;
  for (const Arm& arm : arms()) compare(arm, 0, 1000, ours, kdl);
  expect_less_time(ours, kdl);
}

TEST(SearchAgainstKdl, RestartsSolveNoFewerPosesInLessTime) {
  Score ours, kdl;
  for (const Arm& arm : arms()) compare(arm, 50, 100, ours, kdl);
  expect_less_time(ours, kdl);
}

}  // namespace
}  // namespace ga_motion
