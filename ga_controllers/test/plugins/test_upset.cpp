// SPDX-License-Identifier: Apache-2.0

// A controller under faults, for every law: locked handles, missing samples, invalid periods,
// harmful parameters.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <future>
#include <thread>

#include "bench.hpp"

namespace test {
namespace {

using rclcpp::Parameter;

/// Another thread that holds a handle.
class Locked {
 public:
  explicit Locked(hardware_interface::Handle& handle)
      : thread_([this, &handle] {
          const std::unique_lock lock(handle.get_mutex());
          locked_.set_value();
          release_.get_future().wait();
        }) {
    locked_.get_future().wait();
  }
  ~Locked() {
    release_.set_value();
    thread_.join();
  }

 private:
  std::promise<void> locked_, release_;
  std::thread thread_;
};

TEST(Upset, AnUnreadableStateIsToleratedThenAnError) {
  Arm arm(puma());
  Bench bench(kLaw, puma(), {Parameter("error_cycles", 5)});
  ASSERT_TRUE(bench.set_in_motion(arm, 0.4));
  double worst = 0;
  for (const double t : {0.4, 0.9}) {
    const Values before = arm.torque();
    {
      const Locked locked(*arm.velocity[3]);
      // The previous values are used for four cycles, and the law holds for another four. The arm
      // moves on.
      for (int k = 0; k < 10; ++k) {
        bench.refer(Motion(arm.chain, t + k * kDt).reference());
        EXPECT_EQ(bench.update(), k < 8) << "cycle " << k;
        arm.step();
        for (std::size_t i = 0; i < 6; ++i) {
          std::ignore = arm.position[i]->set_value(arm.plant.q()[i]);
          if (i != 3) std::ignore = arm.velocity[i]->set_value(arm.plant.qd()[i]);
        }
      }
    }
    for (std::size_t i = 0; i < 6; ++i) {
      const double change = std::abs(arm.torque()[i] - before[i]) / arm.limit(i);
      EXPECT_LT(change, 0.01) << "joint " << i + 1 << ", in ten cycles";
      worst = std::max(worst, change);
    }
    // No after-effect: the arm follows again.
    EXPECT_LT(bench.follow(arm, t + 10 * kDt, t + 0.5), 0.01);
    if (tracks(kLaw)) {
      EXPECT_LT(arm.distance(Motion(arm.chain, t + 0.5).q), 1e-3);
    }
  }
  RecordProperty("change", std::to_string(worst));
}

TEST(Upset, AnUnwritableCommandIsAnErrorAfterErrorCycles) {
  Arm arm(puma());
  Bench bench(kLaw, puma(), {Parameter("error_cycles", 5)});
  ASSERT_TRUE(bench.set_in_motion(arm, 0.1));
  {
    const Locked locked(*arm.effort[2]);
    for (int k = 0; k < 6; ++k) EXPECT_EQ(bench.update(), k < 4) << "cycle " << k;
  }
  EXPECT_TRUE(bench.update()) << "good again";
}

/// Restarts a moving controller while a sample is missing. False if the computer was too slow for a
/// restart.
bool restart_without_a_sample(bool unreadable) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  EXPECT_TRUE(bench.set_in_motion(arm, 0.4));
  const auto then = std::chrono::steady_clock::now();
  bench.deactivate();
  bool active = false;
  if (unreadable) {
    const Locked position(*arm.position[1]), effort(*arm.effort[4]);
    active = bench.activate(arm, true, false);
  } else {
    std::ignore = arm.position[1]->set_value(std::nan(""));
    active = bench.activate(arm, true);
  }
  if (std::chrono::steady_clock::now() - then > std::chrono::milliseconds(80)) return false;
  EXPECT_TRUE(active);
  if (!active) return true;
  bench.refer(Motion(arm.chain, 0.4).reference());
  EXPECT_LT(bench.cycle(arm), 0.01);
  EXPECT_LT(bench.follow(arm, 0.401, 0.7), 0.01);
  // A sample that stays missing is an error.
  for (int k = 0; k < 10; ++k) {
    std::ignore = arm.position[1]->set_value(std::nan(""));
    EXPECT_EQ(bench.update(), k < 9);
  }
  return true;
}

TEST(Upset, AMissingSampleDoesNotStopAChange) {
  // The controller manager restarts the controller when a predecessor is attached or detached.
  for (const bool unreadable : {false, true}) {
    int tries = 0;
    while (!restart_without_a_sample(unreadable)) ASSERT_LT(++tries, 50);
  }
}

TEST(Upset, InvalidPeriodsMakeNoStep) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.set_in_motion(arm, 0.4));
  double t = 0.4;
  for (int k = 0; k < 400; ++k) {
    // The clock jitters, stops, or steps back by a cycle; the arm continues.
    const double period = k % 50 == 10   ? 0
                          : k % 50 == 20 ? -kDt
                          : k % 50 == 30 ? 0.2
                          : k % 2 == 0   ? 0.4 * kDt
                                         : 1.6 * kDt;
    bench.refer(Motion(arm.chain, t += kDt).reference());
    EXPECT_LT(bench.cycle(arm, period), 0.01) << "cycle " << k << ", period " << period;
  }
  EXPECT_LT(bench.follow(arm, t + kDt, t + 0.3), 0.01);
}

TEST(Upset, ALateCycleMakesNoStep) {
  // The computer stalls for 0.2 s while the arm moves with its last torques.
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.set_in_motion(arm, 0.4));
  for (int k = 0; k < 200; ++k) arm.step();
  bench.refer(Motion(arm.chain, 0.6).reference());
  EXPECT_LT(bench.cycle(arm, 0.2), 0.01);
  EXPECT_LT(bench.follow(arm, 0.601, 0.9), 0.01);
  bench.follow(arm, 0.9, 3);
  if (tracks(kLaw)) {
    EXPECT_LT(arm.distance(Motion(arm.chain, 3).q), 1e-3);
  }
}

TEST(Upset, GainsTooHighForTheUpdateRateAreRefused) {
  EXPECT_FALSE(Bench(kLaw, puma(), {Parameter("gains.kd", Values{501})}).configure());
  Bench bench(kLaw, puma(), {Parameter("gains.kd", Values{499})});
  ASSERT_TRUE(bench.configure());
  const auto result =
      bench.controller->get_node()->set_parameter(Parameter("gains.kd", Values{501}));
  EXPECT_FALSE(result.successful);
  EXPECT_NE(result.reason.find("update rate 1000 Hz"), std::string::npos) << result.reason;
}

TEST(Upset, SettingAnEqualParameterChangesNothing) {
  Arm arm(puma());
  Bench bench(kLaw, puma()), other(kLaw, puma(), {}, "other");
  Values torque[2];
  for (Bench* each : {&bench, &other}) {
    ASSERT_TRUE(each->set_in_motion(arm, 0.4));
    const auto node = each->controller->get_node();
    if (each == &other) {
      ASSERT_TRUE(node->set_parameter(Parameter("gains.bandwidth", Values{30})).successful);
    }
    each->follow(arm, 0.4, 0.5);
    torque[each == &other] = arm.torque();
    each->deactivate();
  }
  EXPECT_EQ(torque[0], torque[1]);
}

/// The SCARA with a torque-rate limit for its shoulder in <ros2_control>.
std::string with_rate_limit(const std::string& value) {
  std::string urdf = scara();
  return urdf.insert(urdf.find("</robot>"),
                     "<ros2_control name=\"arm\" type=\"system\"><joint name=\"shoulder\"><param "
                     "name=\"torque_rate_limit\">" +
                         value + "</param></joint></ros2_control>");
}

TEST(Upset, TorqueRatesStayWithinTheDescriptionsLimits) {
  for (const double own : {0.0, 5.0, 500.0}) {
    const std::string urdf = with_rate_limit("20");
    Arm arm(urdf);
    std::vector<Parameter> parameters;
    if (own > 0) parameters.emplace_back("torque_rate_limit", Values{own});
    Bench bench(kLaw, urdf, parameters);
    ASSERT_TRUE(bench.configure());
    std::ignore = arm.effort[0]->set_value(0.3 * arm.limit(0));
    ASSERT_TRUE(bench.activate(arm));
    double fastest = 0, before = arm.torque()[0];
    for (int k = 0; k < 300; ++k) {
      arm.write_states();
      ASSERT_TRUE(bench.update());
      fastest = std::max(fastest, std::abs(arm.torque()[0] - before) / kDt);
      before = arm.torque()[0];
    }
    // Laws with integral action take the torque for one that holds a payload: it does not change.
    const bool takes_over = kLaw == LawKind::kTrackingIntegral || kLaw == LawKind::kGravityHold;
    if (takes_over) {
      EXPECT_LT(fastest, (own == 5 ? 5 : 20) + 1e-6);
    } else {
      EXPECT_NEAR(fastest, own == 5 ? 5 : 20, 1e-6);
    }
  }
  for (const char* bad : {"0", "-1", "fast", "1e3x"}) {
    EXPECT_FALSE(Bench(kLaw, with_rate_limit(bad)).configure()) << bad;
  }
}

}  // namespace
}  // namespace test
