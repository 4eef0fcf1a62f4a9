// SPDX-License-Identifier: Apache-2.0

// Three limits at each end of a joint: goals end at the soft one, the safety machine cuts at the hard
// one, the mechanical stop is beyond. On the simulated PUMA with its encoders, DACs and friction and
// an unknown payload of 2.5 kg.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_hardware/simulated_arm.hpp"
#include "puma_cell.hpp"

namespace {

using ga_controllers::LawKind;
using ga_hardware::DriveState;
using ga_hardware::Fault;
using ga_hardware::test::kDt;
using ga_hardware::test::puma;
using ga_hardware::test::Values;

constexpr double kStopMargin = 0.05;  ///< rad, of the mechanical stops beyond the hard limits
/// Arm half stretched forward, so that the payload loads joints 2, 3 and 5.
const Values kPosture{0, -0.6, 2.2, 0, 0.4, 0};

/// It holds its start first.
class Cell : public ga_hardware::test::PumaCell {
 public:
  Cell(LawKind kind, const Values& start, double payload)
      : PumaCell(kind, start, payload, kStopMargin) {
    cycles(300, start);
  }

  void cycles(int count, const Values& q, const Values& qd = {}) {
    for (int k = 0; k < count; ++k) {
      cycle({.q = q, .qd = qd, .qdd = {}});
    }
  }
  /// With the last reference.
  void hold(int count) {
    const Values q = last_q_, qd = last_qd_;
    cycles(count, q, qd);
  }
  void cycle(const ga_controllers::Reference& reference) {
    last_q_.assign(reference.q.begin(), reference.q.end());
    last_qd_.assign(reference.qd.begin(), reference.qd.end());
    drive(reference);
    for (std::size_t i = 0; i < 6; ++i) {
      const auto& limits = puma().joints()[i].limits;
      overshoot = std::max({overshoot, q(i) - limits.goal_upper(), limits.goal_lower() - q(i)});
    }
  }

  double q(std::size_t i) { return arm().plant().q()[i]; }

  double overshoot = -1;  ///< rad beyond a soft limit

 private:
  Values last_q_, last_qd_;
};

struct End {
  std::size_t joint;
  bool upper;
  double soft() const {
    const auto& limits = puma().joints()[joint].limits;
    return upper ? limits.goal_upper() : limits.goal_lower();
  }
  double hard() const {
    const auto& limits = puma().joints()[joint].limits;
    return upper ? limits.upper : limits.lower;
  }
  double outward() const { return upper ? 1 : -1; }
  std::string name() const { return puma().joints()[joint].name + (upper ? " upper" : " lower"); }
};

std::vector<End> all_ends() {
  std::vector<End> ends;
  for (std::size_t joint = 0; joint < 6; ++joint) {
    ends.push_back({joint, false});
    ends.push_back({joint, true});
  }
  return ends;
}

/// kPosture with the joint half a radian inside its soft limit.
Values ahead_of(const End& end) {
  Values start = kPosture;
  start[end.joint] = end.soft() - 0.5 * end.outward();
  return start;
}

void expect_at_rest_without_fault(Cell& cell) {
  EXPECT_EQ(cell.arm().state(), DriveState::kRunning);
  EXPECT_FALSE(cell.arm().brakes_closed());
  EXPECT_EQ(cell.arm().fault().fault, Fault::kNone)
      << describe(cell.arm().fault(), puma().joints()[0].name);
  EXPECT_EQ(cell.arm().safety().fault_count(), 0) << "not even the torque was limited";
  Values before(6);
  for (std::size_t i = 0; i < 6; ++i) before[i] = cell.q(i);
  cell.hold(500);
  // Under stiction a joint may rest beside its goal for some seconds, and then take a last step.
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(cell.q(i), before[i], 1e-3) << i;
}

/// Goals at the soft limit, on the hard one, on the mechanical stop and far beyond.
void goals_end_at_rest(LawKind kind, double accuracy) {
  double worst = 0, farthest = 0;
  for (const End& end : all_ends()) {
    const double stop = end.hard() + end.outward() * kStopMargin;
    for (const double at : {end.soft(), end.hard(), stop, stop + end.outward()}) {
      SCOPED_TRACE(end.name() + ", goal " + std::to_string(at));
      const Values start = ahead_of(end);
      Cell cell(kind, start, 2.5);
      cell.overshoot = -1;
      Values goal = start;
      goal[end.joint] = at;
      cell.cycles(4500, goal);
      expect_at_rest_without_fault(cell);
      EXPECT_NEAR(cell.q(end.joint), end.soft(), accuracy);
      EXPECT_LT(cell.overshoot, 0.01);
      worst = std::max(worst, std::abs(cell.q(end.joint) - end.soft()));
      farthest = std::max(farthest, cell.overshoot);
    }
  }
  std::printf("at rest %.2f mrad off the soft limit, at most %.2f mrad beyond it\n", 1e3 * worst,
              1e3 * farthest);
  ::testing::Test::RecordProperty("worst_mrad", std::to_string(1e3 * worst));
  ::testing::Test::RecordProperty("overshoot_mrad", std::to_string(1e3 * farthest));
}

TEST(JointLimits, GoalsAtAndBeyondEveryLimitEndAtRestUnderTheIntegralLaw) {
  goals_end_at_rest(LawKind::kTrackingIntegral, 5e-4);
}

TEST(JointLimits, GoalsAtAndBeyondEveryLimitEndAtRestUnderTheTrackingLaw) {
  goals_end_at_rest(LawKind::kTracking, 0.03);
}

TEST(JointLimits, AHoldInFullMotionTowardsALimitStopsBeforeTheHardOne) {
  double farthest = -1;
  for (const End& end : all_ends()) {
    SCOPED_TRACE(end.name());
    const Values start = ahead_of(end);
    Cell cell(LawKind::kTrackingIntegral, start, 2.5);
    cell.overshoot = -1;
    const double speed = 0.9 * puma().joints()[end.joint].limits.velocity * end.outward();
    Values q = start, qd(6);
    qd[end.joint] = speed;
    for (int k = 0; k < 5000 && (end.soft() - cell.q(end.joint)) * end.outward() > 0.15; ++k) {
      q[end.joint] += speed * kDt;
      cell.cycles(1, q, qd);
    }
    cell.swap(LawKind::kGravityHold);
    cell.cycles(3000, {});
    expect_at_rest_without_fault(cell);
    farthest = std::max(farthest, cell.overshoot);
  }
  std::printf("held at most %.2f mrad beyond a soft limit\n", 1e3 * farthest);
}

TEST(JointLimits, AnArmThatStartsBetweenSoftAndHardLimitIsHeldThereAndMovesOnlyInward) {
  for (const End& end : all_ends()) {
    SCOPED_TRACE(end.name());
    const double between = (2 * end.soft() + end.hard()) / 3;
    Values start = kPosture;
    start[end.joint] = between;
    for (const LawKind kind : {LawKind::kGravityHold, LawKind::kTrackingIntegral}) {
      Cell cell(kind, start, 2.5);
      Values goal = start;
      goal[end.joint] = end.hard();
      cell.cycles(1500, goal);
      EXPECT_EQ(cell.arm().state(), DriveState::kRunning);
      EXPECT_NEAR(cell.q(end.joint), between, 5e-3);
      if (kind == LawKind::kGravityHold) continue;
      goal[end.joint] = end.soft() - 0.2 * end.outward();
      cell.cycles(1500, goal);
      goal[end.joint] = between;
      cell.cycles(2000, goal);
      EXPECT_EQ(cell.arm().state(), DriveState::kRunning);
      EXPECT_NEAR(cell.q(end.joint), end.soft(), 1e-3) << "inside, the soft limit counts again";
    }
  }
}

TEST(JointLimits, TheHardLimitCutsBeforeTheMechanicalStop) {
  const End end{0, true};
  Values start = kPosture;
  start[0] = end.soft() - 0.3;
  Cell cell(LawKind::kTracking, start, 0);
  Values push(6);
  for (int k = 0; k < 3000 && cell.arm().fault().fault == Fault::kNone; ++k) {
    cell.arm().advance(kDt);
    // Torque up to the soft limit; the arm then coasts.
    const bool pushes = cell.q(0) < end.soft();
    ga_dynamics::Dynamics(puma()).gravity(cell.arm().position(), push);
    push[0] = pushes ? 60 : 0;
    cell.arm().command(push);
  }
  EXPECT_EQ(cell.arm().fault().fault, Fault::kHardLimit);
  EXPECT_NEAR(cell.arm().fault().threshold, end.hard(), 1e-3);
  EXPECT_LT(cell.q(0), end.hard() + kStopMargin);
  EXPECT_GT(cell.q(0), end.hard());
  EXPECT_TRUE(cell.arm().brakes_closed());
}

}  // namespace
