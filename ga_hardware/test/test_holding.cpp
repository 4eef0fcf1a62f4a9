// SPDX-License-Identifier: Apache-2.0

// Holding and handing over on the simulated PUMA, outstretched, with a payload of 2.5 kg that no law
// knows: nothing sinks, whichever controller holds it, takes over, or is missing.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_hardware/simulated_arm.hpp"
#include "puma_cell.hpp"

namespace {

using ga_controllers::LawKind;
using ga_hardware::DriveState;
using ga_hardware::test::kDt;
using ga_hardware::test::puma;
using ga_hardware::test::Values;

const Values kStretched{0, 0, 1.57, 0, 0, 0};

class Cell : public ga_hardware::test::PumaCell {
 public:
  explicit Cell(LawKind kind, double payload = 2.5)
      : PumaCell(kind, kStretched, payload), before_(6) {}

  /// Cycles with a controller. Empty reference: it holds.
  void run(double seconds, const Values& q = {}) {
    for (int k = 0; k < std::lround(seconds / kDt); ++k) {
      before_ = torque();
      drive({.q = q, .qd = {}, .qdd = {}});
      note();
    }
  }
  /// Cycles without one.
  void idle(double seconds) {
    for (int k = 0; k < std::lround(seconds / kDt); ++k) {
      arm().advance(kDt);
      arm().idle();
      note();
    }
  }
  /// From now on.
  void watch() {
    step = moved = braked_moved = 0;
    from_.assign(arm().plant().q().begin(), arm().plant().q().end());
  }

  double step = 0;          ///< largest change of a torque per cycle, of its limit
  double moved = 0;         ///< rad, farthest
  double braked_moved = 0;  ///< of the joints with brakes, 1 to 3

 private:
  void note() {
    for (std::size_t i = 0; i < 6; ++i) {
      const double limit = puma().joints()[i].limits.effort;
      step = std::max(step, std::abs(torque()[i] - before_[i]) / limit);
      if (from_.empty()) continue;
      const double way = std::abs(arm().plant().q()[i] - from_[i]);
      moved = std::max(moved, way);
      if (i < 3) braked_moved = std::max(braked_moved, way);
    }
  }

  Values before_, from_;
};

TEST(Holding, TheFallbackHoldsAnUnknownPayload) {
  Cell cell(LawKind::kGravityHold);
  cell.watch();
  cell.run(11);
  std::printf("gravity hold, outstretched, 2.5 kg unknown, 11 s: %.2f mrad\n", 1e3 * cell.moved);
  RecordProperty("moved_mrad", std::to_string(1e3 * cell.moved));
  EXPECT_EQ(cell.arm().state(), DriveState::kRunning);
  EXPECT_LT(cell.moved, 0.02);
  cell.watch();
  cell.run(1);
  EXPECT_LT(cell.moved, 1e-4) << "it does not sink";
}

TEST(Holding, TheDisturbanceEstimateSurvivesASwap) {
  double worst_step = 0, worst_sag = 0;
  for (const LawKind from : {LawKind::kTrackingIntegral, LawKind::kGravityHold}) {
    for (const LawKind to : {LawKind::kTrackingIntegral, LawKind::kGravityHold}) {
      Cell cell(from);
      cell.run(3);
      const double carried = cell.law().disturbance()[1];
      cell.watch();
      cell.swap(to);
      cell.run(0.3);
      EXPECT_LT(cell.step, 0.02);
      worst_step = std::max(worst_step, cell.step);
      // Joint 2 carries the payload: gravity of 2.5 kg at 0.9 m over its inertia, and friction.
      EXPECT_GT(std::abs(carried), 1);
      EXPECT_NEAR(cell.law().disturbance()[1], carried, 0.5 * std::abs(carried));
      cell.run(2);
      EXPECT_LT(cell.moved, 2e-3);
      worst_sag = std::max(worst_sag, cell.moved);
    }
  }
  std::printf("swaps with a payload: %.2f mrad, %.2f %% of the torque limit per millisecond\n",
              1e3 * worst_sag, 100 * worst_step);
}

TEST(Holding, EveryPairOfLawsIsSwitchedWithoutABump) {
  constexpr LawKind kLaws[] = {LawKind::kPointToPoint, LawKind::kTracking,
                               LawKind::kTrackingIntegral, LawKind::kGravityHold,
                               LawKind::kHandGuiding};
  double worst = 0;
  for (const LawKind from : kLaws) {
    for (const LawKind to : kLaws) {
      if (from == to) continue;
      for (const bool moving : {false, true}) {
        Cell cell(from == LawKind::kHandGuiding ? LawKind::kTracking : from, moving ? 0 : 2.5);
        cell.run(1, kStretched);
        Values goal = kStretched;
        for (double& q : goal) q -= 0.4;
        if (moving) cell.run(0.35, goal);
        if (from == LawKind::kHandGuiding) {
          cell.swap(from);
          cell.run(0.1);
        }
        cell.watch();
        cell.swap(to);
        cell.run(moving ? 0.02 : 0.5);  // no reference yet, as behind a trajectory controller
        EXPECT_LT(cell.step, 0.02) << static_cast<int>(from) << " to " << static_cast<int>(to);
        worst = std::max(worst, cell.step);
        cell.run(0.3);
        EXPECT_EQ(cell.arm().state(), DriveState::kRunning);
      }
    }
  }
  std::printf("20 pairs of laws: at most %.2f %% of the torque limit per millisecond\n",
              100 * worst);
}

TEST(Holding, AnySequenceOfSwitchesIsWithoutABump) {
  constexpr LawKind kLaws[] = {LawKind::kPointToPoint, LawKind::kTracking,
                               LawKind::kTrackingIntegral, LawKind::kGravityHold,
                               LawKind::kHandGuiding};
  double worst = 0;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    std::mt19937 random(seed);
    Cell cell(LawKind::kTracking);
    cell.run(1, kStretched);
    for (int k = 0; k < 100; ++k) {
      const LawKind to = kLaws[random() % std::size(kLaws)];
      if (to == cell.law().kind()) continue;
      const LawKind from = cell.law().kind();
      cell.watch();
      cell.swap(to);
      cell.run(1e-3 * static_cast<double>(
                          random() % 3));  // until the trajectory controller holds the arm there
      const bool holds = to == LawKind::kGravityHold || to == LawKind::kHandGuiding;
      const Values here(cell.arm().position().begin(), cell.arm().position().end());
      cell.run(0.1 + 1e-3 * static_cast<double>(random() % 1500), holds ? Values{} : here);
      EXPECT_LT(cell.step, 0.02) << "seed " << seed << ", switch " << k << ": "
                                 << static_cast<int>(from) << " to " << static_cast<int>(to);
      worst = std::max(worst, cell.step);
    }
    EXPECT_EQ(cell.arm().state(), DriveState::kRunning);
  }
  std::printf("random switches: at most %.2f %% of the torque limit per millisecond\n",
              100 * worst);
}

TEST(Holding, AGapWithoutAControllerEndsInAHold) {
  // The effort interfaces are released: a controlled stop, the brakes close.
  Cell released(LawKind::kTrackingIntegral);
  released.run(2);
  released.watch();
  released.arm().stop();
  released.idle(3);
  // The commands stop without a release.
  Cell silent(LawKind::kTrackingIntegral);
  silent.run(2);
  silent.watch();
  silent.idle(6);
  // The wrist has no brakes, and its friction does not hold this payload.
  std::printf("released: %.2f mrad; no commands: %.2f mrad\n", 1e3 * released.braked_moved,
              1e3 * silent.braked_moved);
  EXPECT_LT(released.braked_moved, 5e-3);
  EXPECT_TRUE(released.arm().brakes_closed());
  EXPECT_EQ(silent.arm().fault().fault, ga_hardware::Fault::kCommandTimeout);
  // The hold of the safety machine does not know the payload; after hold_time the brakes do.
  silent.watch();
  silent.idle(1);
  EXPECT_LT(silent.braked_moved, 1e-4);
  EXPECT_TRUE(silent.arm().brakes_closed());
  // The next controller starts where the arm is.
  ASSERT_TRUE(released.arm().power_on());
  released.watch();
  released.swap(LawKind::kGravityHold);
  released.run(3);
  EXPECT_LT(released.moved, 0.02);
  EXPECT_EQ(released.arm().state(), DriveState::kRunning);
}

}  // namespace
