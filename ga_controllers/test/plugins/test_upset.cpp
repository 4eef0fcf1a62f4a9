// SPDX-License-Identifier: Apache-2.0

// A controller in a bad cycle: handles that are locked, samples that are missing, periods that are
// no periods, references that are lost, parameters that would do harm.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <future>
#include <thread>

#include "bench.hpp"

namespace test {
namespace {

using ga_controllers::Reference;
using rclcpp::Parameter;

const LawKind kLaw = law_under_test();
const bool kTakesReferences = kLaw != LawKind::kGravityHold;

/// Another thread that keeps a handle to itself.
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

/// Holding or following, at time `t` of the motion.
void set_in_motion(Bench& bench, Arm& arm, double t) {
  const Motion at(arm.chain, t);
  arm.put(at.q, at.qd);
  arm.drive(at.qdd);
  ASSERT_TRUE(bench.activate(arm, true));
}
double follow(Bench& bench, Arm& arm, double from, double to) {
  double change = 0;
  for (int k = 0; k < static_cast<int>(std::round((to - from) / kDt)); ++k) {
    bench.refer(Motion(arm.chain, from + k * kDt).reference());
    change = std::max(change, bench.cycle(arm));
  }
  return change;
}

TEST(Upset, AStateThatCannotBeReadIsBridgedThenAnError) {
  Arm arm(puma());
  Bench bench(kLaw, puma(), {Parameter("error_cycles", 5)});
  ASSERT_TRUE(bench.configure());
  set_in_motion(bench, arm, 0);
  follow(bench, arm, 0, 0.4);
  for (const double t : {0.4, 0.9}) {
    const Values before = arm.torque();
    {
      const Locked locked(*arm.velocity[3]);
      // The last values will do for four cycles, and the law bridges another four.
      for (int k = 0; k < 10; ++k) EXPECT_EQ(bench.update(), k < 8) << "cycle " << k;
    }
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(arm.torque()[i], before[i], 0.05 * arm.limit(i)) << "joint " << i + 1;
    }
    // Nothing of it is left: the arm follows again.
    EXPECT_LT(follow(bench, arm, t, t + 0.5), 0.01);
    if (tracks(kLaw)) {
      EXPECT_LT(arm.distance(Motion(arm.chain, t + 0.5).q), 1e-3);
    }
  }
}

TEST(Upset, ACommandThatCannotBeWrittenIsAnErrorAfterAWhile) {
  Arm arm(puma());
  Bench bench(kLaw, puma(), {Parameter("error_cycles", 5)});
  ASSERT_TRUE(bench.configure());
  set_in_motion(bench, arm, 0);
  follow(bench, arm, 0, 0.1);
  {
    const Locked locked(*arm.effort[2]);
    for (int k = 0; k < 6; ++k) EXPECT_EQ(bench.update(), k < 4) << "cycle " << k;
  }
  EXPECT_TRUE(bench.update()) << "good again";
}

/// Restarts a moving controller while a sample is missing. False if the computer took so long that
/// it was no restart.
bool restart_without_a_sample(bool unreadable) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  EXPECT_TRUE(bench.configure());
  set_in_motion(bench, arm, 0);
  follow(bench, arm, 0, 0.4);
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
  EXPECT_LT(follow(bench, arm, 0.401, 0.7), 0.01);
  // It is not blind for ever: what stays missing is an error.
  for (int k = 0; k < 10; ++k) {
    std::ignore = arm.position[1]->set_value(std::nan(""));
    EXPECT_EQ(bench.update(), k < 9);
  }
  return true;
}

TEST(Upset, AMissingSampleDoesNotStopAChange) {
  // The controller manager restarts the controller when a predecessor comes or goes.
  for (const bool unreadable : {false, true}) {
    int tries = 0;
    while (!restart_without_a_sample(unreadable)) ASSERT_LT(++tries, 50);
  }
}

TEST(Upset, PeriodsThatAreNoneMakeNoStep) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  set_in_motion(bench, arm, 0);
  follow(bench, arm, 0, 0.4);
  double t = 0.4;
  for (int k = 0; k < 400; ++k) {
    // The clock jitters, stands, or goes back by a cycle; the arm moves on by its own.
    const double period = k % 50 == 10   ? 0
                          : k % 50 == 20 ? -kDt
                          : k % 50 == 30 ? 0.2
                          : k % 2 == 0   ? 0.4 * kDt
                                         : 1.6 * kDt;
    bench.refer(Motion(arm.chain, t += kDt).reference());
    EXPECT_LT(bench.cycle(arm, period), 0.01) << "cycle " << k << ", period " << period;
  }
  EXPECT_LT(follow(bench, arm, t + kDt, t + 0.3), 0.01);
}

TEST(Upset, ALateCycleMakesNoStep) {
  // The computer stalls for 0.2 s, while the arm moves on under its last torques.
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  set_in_motion(bench, arm, 0);
  follow(bench, arm, 0, 0.4);
  for (int k = 0; k < 200; ++k) arm.step();
  bench.refer(Motion(arm.chain, 0.6).reference());
  EXPECT_LT(bench.cycle(arm, 0.2), 0.01);
  EXPECT_LT(follow(bench, arm, 0.601, 0.9), 0.01);
  follow(bench, arm, 0.9, 3);
  if (tracks(kLaw)) {
    EXPECT_LT(arm.distance(Motion(arm.chain, 3).q), 1e-3);
  }
}

TEST(Upset, AReferenceThatIsNotFiniteHoldsThenIsAnError) {
  if (!kTakesReferences) GTEST_SKIP() << "this law takes no reference";
  for (const std::size_t which : {0u, 1u, 2u}) {
    Arm arm(puma());
    Bench bench(kLaw, puma(), {Parameter("error_cycles", 5)});
    ASSERT_TRUE(bench.configure());
    set_in_motion(bench, arm, 0);
    EXPECT_LT(bench.cycles(arm, 20), 0.01) << "no reference yet is no error";
    follow(bench, arm, 0, 0.8);
    Motion bad(arm.chain, 0.8);
    (which == 0 ? bad.q : which == 1 ? bad.qd : bad.qdd)[2] = NAN;
    bench.refer(bad.reference());
    EXPECT_LT(bench.cycles(arm, 4), 0.01);
    EXPECT_LT(follow(bench, arm, 0.8, 0.81), 0.01) << "good again";
    bench.refer(bad.reference());
    bench.cycles(arm, 4);
    Values before = arm.torque();
    for (int k = 0; k < 1500; ++k) {
      arm.write_states();
      ASSERT_FALSE(bench.update());
      for (std::size_t i = 0; i < 6; ++i) {
        ASSERT_LT(std::abs(arm.torque()[i] - before[i]), 0.01 * arm.limit(i));
      }
      before = arm.torque();
      arm.step();
    }
    EXPECT_LT(arm.speed(), 1e-2) << "the torque still holds the arm";
    EXPECT_LT(arm.distance(Motion(arm.chain, 0.8).q), 0.2);
  }
}

TEST(Upset, AMovingReferenceThatStandsIsStale) {
  if (!kTakesReferences) GTEST_SKIP() << "this law takes no reference";
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  set_in_motion(bench, arm, 0);
  follow(bench, arm, 0, 0.8);  // and the predecessor writes no more
  EXPECT_LT(bench.cycles(arm, 2000), 0.01);
  EXPECT_LT(arm.speed(), 1e-3);
  const Values at(arm.plant.q().begin(), arm.plant.q().end());
  EXPECT_LT(follow(bench, arm, 0.8, 0.81), 0.01) << "it writes again";
  EXPECT_LT(arm.distance(at), 0.05);
}

TEST(Upset, GainsThatTheRateCannotBearAreRefused) {
  EXPECT_FALSE(Bench(kLaw, puma(), {Parameter("gains.kd", Values{501})}).configure());
  Bench bench(kLaw, puma(), {Parameter("gains.kd", Values{499})});
  ASSERT_TRUE(bench.configure());
  const auto result =
      bench.controller->get_node()->set_parameter(Parameter("gains.kd", Values{501}));
  EXPECT_FALSE(result.successful);
  EXPECT_NE(result.reason.find("update rate 1000 Hz"), std::string::npos) << result.reason;
}

TEST(Upset, AParameterThatChangesNothingChangesNothing) {
  Arm arm(puma());
  Bench bench(kLaw, puma()), other(kLaw, puma(), {}, "other");
  Values torque[2];
  for (Bench* each : {&bench, &other}) {
    ASSERT_TRUE(each->configure());
    set_in_motion(*each, arm, 0);
    follow(*each, arm, 0, 0.4);
    const auto node = each->controller->get_node();
    if (each == &other) {
      ASSERT_TRUE(node->set_parameter(Parameter("gains.bandwidth", Values{30})).successful);
    }
    follow(*each, arm, 0.4, 0.5);
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
    EXPECT_NEAR(fastest, own == 5 ? 5 : 20, 1e-6);
  }
  for (const char* bad : {"0", "-1", "fast", "1e3x"}) {
    EXPECT_FALSE(Bench(kLaw, with_rate_limit(bad)).configure()) << bad;
  }
}

}  // namespace
}  // namespace test
