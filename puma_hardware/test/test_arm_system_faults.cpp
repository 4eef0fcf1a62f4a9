// SPDX-License-Identifier: Apache-2.0
// PumaSystem when something fails: reaction, recovery, no jump when active again.

#include <gtest/gtest.h>

#include "arm_bench.hpp"
#include "ga_hardware/safety_machine.hpp"

namespace {

using ga_hardware::Fault;
using test::ArmBench;
using test::Return;
using test::States;

class ArmSystemFaults : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(bench.bring_up());
    ASSERT_EQ(bench.hold(200), Return::OK);
    ASSERT_EQ(bench.move(300, 0.3), Return::OK);
  }
  /// Cycles of the moving arm until the component says that something is wrong.
  Return fail(const std::string& fault) {
    EXPECT_EQ(bench.inject(fault), "");
    return bench.move(2000, 0.3);
  }
  int fault_code() const { return static_cast<int>(bench.state("arm/fault_code")); }
  void expect_no_jump_when_active() {
    const auto before = bench.positions();
    bench.system().activate();
    ASSERT_EQ(bench.state(), States::PRIMARY_STATE_ACTIVE);
    ASSERT_TRUE(bench.engage());
    ASSERT_EQ(bench.hold(1500), Return::OK);
    EXPECT_LT(bench.largest_distance(before), 1e-3);
    EXPECT_EQ(bench.move(300, 0.2), Return::OK) << "and moves again";
  }

  ArmBench bench;
};

TEST_F(ArmSystemFaults, AnEncoderJumpCutsAndAsksForCalibration) {
  ASSERT_EQ(fail("encoder-jump:joint1"), Return::DEACTIVATE);
  EXPECT_EQ(fault_code(), static_cast<int>(Fault::kEncoderJump));
  EXPECT_EQ(bench.largest_effort(), 0) << "cut";
  EXPECT_TRUE(std::isnan(bench.position(0))) << "unknown from this cycle on";
  ASSERT_EQ(bench.cycles(1000), Return::OK);
  EXPECT_NE(bench.calibrate().find("encoder-jump"), std::string::npos) << "not before the reset";
  ASSERT_EQ(bench.reset_fault()[0], '+');
  EXPECT_TRUE(std::isnan(bench.position(0)));
  bench.system().activate();
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE) << "refused";
  ASSERT_EQ(bench.calibrate()[0], '+');
  expect_no_jump_when_active();
}

TEST_F(ArmSystemFaults, LostCardsAreAnError) {
  ASSERT_EQ(fail("pcl833a-lost"), Return::ERROR);
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_UNCONFIGURED);
  bench.system().configure();
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_UNCONFIGURED) << "they still do not answer";
  ASSERT_EQ(bench.inject(""), "");
  bench.system().configure();
  ASSERT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE);
  EXPECT_EQ(fault_code(), 0);
  bench.system().activate();
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE) << "not calibrated";
  ASSERT_EQ(bench.cycles(500), Return::OK);  // it comes to rest
  ASSERT_EQ(bench.calibrate()[0], '+');
  expect_no_jump_when_active();
}

TEST_F(ArmSystemFaults, CardsLostWhileInactiveAreAnErrorAsWell) {
  bench.system().deactivate();
  ASSERT_EQ(bench.cycles(500), Return::OK);
  ASSERT_EQ(bench.inject("pcl818-lost"), "");
  EXPECT_EQ(bench.cycles(100), Return::ERROR);
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_UNCONFIGURED);
}

TEST_F(ArmSystemFaults, ATorqueThatIsNoNumberRampsDown) {
  for (int i = 0; i < 3; ++i) {
    bench.set("joint3/effort", std::numeric_limits<double>::quiet_NaN());
    if (bench.cycle() == Return::DEACTIVATE) break;
  }
  EXPECT_EQ(fault_code(), static_cast<int>(Fault::kTorqueNotFinite));
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE);
  EXPECT_GT(bench.largest_effort(), 1) << "fading, not cut";
  ASSERT_EQ(bench.cycles(500), Return::OK);
  EXPECT_EQ(bench.largest_effort(), 0);
}

TEST_F(ArmSystemFaults, MissedDeadlinesRampDown) {
  Return result = Return::OK;
  const rclcpp::Time now{0, 0, RCL_SYSTEM_TIME};
  const auto late = rclcpp::Duration::from_seconds(0.002);
  for (int i = 0; i < 5 && result == Return::OK; ++i) {
    ASSERT_EQ(bench.system().read(now, late), Return::OK);
    result = bench.write_or_deactivate();
  }
  EXPECT_EQ(result, Return::DEACTIVATE);
  EXPECT_EQ(fault_code(), static_cast<int>(Fault::kDeadlineMissed));
  ASSERT_EQ(bench.cycles(1000), Return::OK);
  ASSERT_EQ(bench.reset_fault()[0], '+');
  expect_no_jump_when_active();
}

TEST(ArmSystemErrors, BrakesOfTheirOwnCloseWithTheError) {
  constexpr int kPower = 8, kBrake = 9;
  ArmBench bench({{"pcl726.power_output", "8"}, {"pcl726.brake_output", "9"}});
  ASSERT_TRUE(bench.bring_up());
  ASSERT_EQ(bench.hold(200), Return::OK);
  const auto& cards = *bench.plugin().emulated_cards();
  ASSERT_TRUE(cards.digital_output(kPower));
  ASSERT_TRUE(cards.digital_output(kBrake));
  bench.system().error();
  EXPECT_FALSE(cards.digital_output(kPower));
  EXPECT_FALSE(cards.digital_output(kBrake));
  EXPECT_EQ(cards.output_volts(1), 0);
}

TEST(ArmSystemErrors, AFaultBeforeTheCalibrationDoesNotMakePositionsKnown) {
  ArmBench bench;
  bench.system().configure();
  ASSERT_EQ(bench.cycles(10), Return::OK);
  ASSERT_EQ(bench.inject("thermal:joint2"), "");
  ASSERT_EQ(bench.cycles(10), Return::OK);
  ASSERT_EQ(bench.state("arm/fault_code"), static_cast<int>(Fault::kThermal));
  for (const double q : bench.positions()) EXPECT_TRUE(std::isnan(q));
  EXPECT_TRUE(std::isnan(bench.state("joint1/velocity")));
  ASSERT_EQ(bench.inject(""), "");
  EXPECT_EQ(bench.reset_fault(),
            "+cleared; call calibrate, then set the component active to continue");
}

TEST_F(ArmSystemFaults, UnknownFaultsAreNamed) {
  EXPECT_NE(bench.inject("fire").find("fault 'fire' is unknown; give one of thermal:JOINT"),
            std::string::npos);
  EXPECT_NE(bench.inject("thermal:joint9").find("there is no joint 'joint9'"), std::string::npos);
}

}  // namespace
