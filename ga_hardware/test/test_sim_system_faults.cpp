// SPDX-License-Identifier: Apache-2.0
// SimSystem's faults: the reaction to each, continued states, recovery, and that the arm does not
// jump on recovery.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ga_dynamics/chain.hpp"
#include "ga_hardware/safety_machine.hpp"
#include "hardware_bench.hpp"

namespace {

using ga_hardware::Fault;
using test::Bench;
using test::Return;
using test::States;

class SimFaults : public testing::Test {
 protected:
  void SetUp() override {
    bench.system().configure();
    bench.system().activate();
    ASSERT_EQ(bench.state(), States::PRIMARY_STATE_ACTIVE);
    ASSERT_TRUE(bench.start());
    bench.set_efforts(push);
    ASSERT_EQ(bench.cycles(500), Return::OK);
    ASSERT_GT(bench.effort(0), 40);
  }

  /// Number of cycles until read or write return something other than OK.
  Return until_fault(int most) {
    for (int i = 0; i < most; ++i) {
      if (const Return result = bench.cycle(); result != Return::OK) return result;
    }
    return Return::OK;
  }

  double fault_code() const { return bench.state("arm/fault_code"); }

  /// Inactive with a latched fault → active, controller on: nothing moves until it commands.
  void recover() {
    bench.system().activate();
    EXPECT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE) << "a latched fault must hold it back";
    ASSERT_EQ(bench.cycles(300), Return::OK);
    EXPECT_EQ(bench.reset_fault().substr(0, 9), "+cleared;");
    expect_no_jump();
  }
  void expect_no_jump() {
    // Long enough for a joint without a brake to come to rest.
    for (int i = 0; i < 3000; ++i) ASSERT_EQ(bench.read(), Return::OK);
    const auto before = bench.positions();
    EXPECT_EQ(fault_code(), 0);
    bench.system().activate();
    ASSERT_EQ(bench.state(), States::PRIMARY_STATE_ACTIVE);
    EXPECT_TRUE(std::isnan(bench.command("joint1/effort"))) << "the old command must be gone";
    ASSERT_EQ(bench.cycles(100), Return::OK);
    ASSERT_TRUE(bench.switch_mode(bench.efforts(), bench.efforts()));
    ASSERT_EQ(bench.cycles(300), Return::OK);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(bench.effort(i), 0);
      EXPECT_NEAR(bench.position(i), before[i], 2e-4) << bench.joints()[i];
    }
    bench.set_efforts(push);
    ASSERT_EQ(bench.cycles(300), Return::OK);
    EXPECT_GT(bench.position(0), before[0] + 1e-3) << "it must work again";
  }

  std::vector<double> push{50, 0, 0, 0, 0, 0};
  Bench bench{test::puma({{"dac", "false"}})};
};

TEST_F(SimFaults, EncoderJumpCutsAtOnce) {
  ASSERT_EQ(bench.inject("encoder-jump:joint3"), "");
  const double before = bench.position(2);
  EXPECT_EQ(until_fault(3), Return::DEACTIVATE);
  EXPECT_EQ(fault_code(), static_cast<double>(Fault::kEncoderJump));
  ASSERT_EQ(bench.read(), Return::OK);
  EXPECT_EQ(bench.effort(0), 0);
  EXPECT_GT(std::abs(bench.position(2) - before), 0.05);
  EXPECT_EQ(bench.state("arm/brakes"), 1);
  recover();
  EXPECT_NEAR(bench.position(2), before, 0.01);
}

TEST_F(SimFaults, MissedDeadlinesFadeTheTorque) {
  ASSERT_EQ(bench.inject("deadline-missed"), "");
  EXPECT_EQ(until_fault(5), Return::DEACTIVATE);
  EXPECT_EQ(fault_code(), static_cast<double>(Fault::kDeadlineMissed));
  EXPECT_GT(bench.effort(0), 40);
  ASSERT_EQ(bench.inject(""), "");
  recover();
}

TEST_F(SimFaults, EmergencyStopCutsAtOnce) {
  ASSERT_EQ(bench.inject("emergency-stop"), "");
  EXPECT_EQ(until_fault(3), Return::DEACTIVATE);
  ASSERT_EQ(bench.read(), Return::OK);
  EXPECT_EQ(bench.effort(0), 0);
  ASSERT_EQ(bench.inject(""), "");
  recover();
}

TEST_F(SimFaults, LostCardsAreAnErrorFromRead) {
  ASSERT_EQ(bench.inject("card-lost"), "");
  EXPECT_EQ(until_fault(3), Return::ERROR);
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_UNCONFIGURED);
  EXPECT_EQ(bench.effort(0), 0);
  bench.system().configure();
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_UNCONFIGURED) << "nothing answers";
  ASSERT_EQ(bench.inject(""), "");
  EXPECT_EQ(bench.reset_fault().substr(0, 35), "+the component is not configured: t");
  bench.system().configure();
  ASSERT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE);
  expect_no_jump();
}

TEST_F(SimFaults, ATorqueThatIsNotFiniteFadesFromTheHoldingTorque) {
  ASSERT_GT(bench.state("joint1/velocity"), 0.1);
  bench.set("joint4/effort", std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(until_fault(2), Return::DEACTIVATE);
  EXPECT_LE(bench.effort(0), 0) << "the commands before it may have been wrong as well: it damps";
  EXPECT_EQ(fault_code(), static_cast<double>(Fault::kTorqueNotFinite));
  recover();
}

TEST_F(SimFaults, AnExcessiveTorqueRampsDown) {
  bench.set("joint1/effort", 150);  // 1.5 times the limit is 146
  EXPECT_EQ(until_fault(2), Return::DEACTIVATE);
  EXPECT_EQ(fault_code(), static_cast<double>(Fault::kTorqueExcessive));
  recover();
}

TEST_F(SimFaults, AStaleTorqueHoldsTheArmThenRampsDown) {
  // A switch to a controller that never commands.
  ASSERT_TRUE(bench.switch_mode(bench.efforts(), bench.efforts()));
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(bench.cycle(), Return::OK);
  EXPECT_EQ(fault_code(), 0);
  EXPECT_EQ(bench.state("arm/power"), 1) << "held by its motors";
  EXPECT_EQ(until_fault(20), Return::DEACTIVATE);
  EXPECT_EQ(fault_code(), static_cast<double>(Fault::kCommandTimeout));
  EXPECT_EQ(bench.reset_fault(), "-the arm is still stopping; call again when it has stopped");
  for (int i = 0; i < 300; ++i) ASSERT_EQ(bench.read(), Return::OK);
  EXPECT_EQ(bench.state("arm/power"), 0);
  EXPECT_EQ(bench.state("arm/brakes"), 1);
  recover();
}

TEST(SimLimits, TorqueFadesTowardsASoftLimitAndTheMotionContinues) {
  Bench bench(test::puma({{"dac", "false"}, {"initial_positions", test::kUpright}}));
  bench.system().configure();
  bench.system().activate();
  ASSERT_TRUE(bench.start());
  const double limit = ga_dynamics::Chain::from_urdf_file(PUMA_URDF).joints()[0].limits.upper;
  constexpr double kMargin = 0.035;
  for (int i = 0; i < 17000; ++i) {
    // Slow enough to come to rest before the limit.
    const double slow = 20 + 100 * (0.25 - bench.state("joint1/velocity"));
    bench.set_efforts({slow, 0, 0, 0, 0, 0});
    ASSERT_EQ(bench.cycle(), Return::OK) << bench.position(0);
  }
  EXPECT_GT(bench.position(0), limit - kMargin);
  EXPECT_LT(bench.position(0), limit);
  bench.set_efforts({90, 0, 0, 0, 0, 0});
  ASSERT_EQ(bench.cycle(), Return::OK);
  EXPECT_NEAR(bench.effort(0), (limit - bench.position(0)) / kMargin * 97.6, 1);
}

TEST_F(SimFaults, OverspeedCutsAtOnce) {
  bench.set("joint6/effort", 21);
  EXPECT_EQ(until_fault(500), Return::DEACTIVATE);
  EXPECT_EQ(fault_code(), static_cast<double>(Fault::kOverspeed));
  EXPECT_GT(bench.state("joint6/velocity"), 1.2 * 5.74);
  recover();
}

TEST_F(SimFaults, TheGpioResetsWhatTheServiceResets) {
  ASSERT_EQ(bench.inject("encoder-jump:joint1"), "");
  EXPECT_EQ(until_fault(3), Return::DEACTIVATE);
  ASSERT_EQ(bench.read(), Return::OK);
  bench.set("arm/fault_reset", 1);
  ASSERT_EQ(bench.read(), Return::OK);
  EXPECT_EQ(fault_code(), 0);
}

TEST_F(SimFaults, UnknownInjectionsAreRefusedWithWhatIsKnown) {
  EXPECT_EQ(
      bench.inject("fire"),
      "fault 'fire' is unknown; give one of thermal:JOINT, encoder-jump:JOINT, "
      "encoder-frozen:JOINT, pcl818-lost, pcl726-lost, pcl833a-lost, pcl833b-lost, card-lost, "
      "deadline-missed, emergency-stop, or nothing for none");
  EXPECT_NE(bench.inject("thermal:elbow").find("there is no joint 'elbow'"), std::string::npos);
  EXPECT_NE(bench.inject("thermal").find("unknown"), std::string::npos);
  EXPECT_EQ(bench.cycles(10), Return::OK);
}

TEST(SimDiagnostics, DiagnosticsReportTheFault) {
  Bench bench(test::puma({{"initial_positions", test::kUpright}}));
  bench.system().configure();
  bench.system().activate();
  ASSERT_TRUE(bench.start());
  bench.set_efforts({0, 0, 0, 0, 0, 0});
  EXPECT_EQ(bench.diagnosis(0, "running"), "running");
  ASSERT_EQ(bench.inject("thermal:joint5"), "");
  EXPECT_EQ(bench.diagnosis(2, "thermal").substr(0, 16), "joint5: thermal:");
}

TEST(SimErrors, AFailedIntegrationIsReportedWithTheRemedy) {
  std::string urdf = test::puma({{"overspeed_ratio", "0"}, {"dac", "false"}});
  const std::string limit = "effort=\"89.4\"";
  urdf.replace(urdf.find(limit), limit.size(), "effort=\"1e300\"");
  Bench bench(urdf);
  bench.system().configure();
  bench.system().activate();
  ASSERT_TRUE(bench.start());
  bench.set_efforts({0, 0, 1e250, 0, 0, 0});
  ASSERT_EQ(bench.cycles(1000), Return::ERROR);
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_UNCONFIGURED);
  const test::LastError error;
  bench.system().configure();
  bench.system().activate();
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_INACTIVE);
  EXPECT_EQ(error().substr(0, 28), "the integration has diverged") << error();
  EXPECT_EQ(bench.reset_fault().substr(0, 9), "+cleared;");
  bench.system().activate();
  EXPECT_EQ(bench.state(), States::PRIMARY_STATE_ACTIVE);
  EXPECT_EQ(bench.position(2), 0) << "at its start";
}

}  // namespace
