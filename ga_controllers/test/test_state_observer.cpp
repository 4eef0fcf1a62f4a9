// SPDX-License-Identifier: Apache-2.0
// The observer of position, velocity and disturbance.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "state_observer.hpp"

namespace ga_controllers {
namespace {

constexpr double kDt = 1e-3;
using Values = std::vector<double>;

StateObserver observer_of(double bandwidth, double limit = 1e6) {
  StateObserver observer(1);
  observer.set_joint(0, bandwidth, limit);
  observer.reset(Values{0}, Values{0});
  return observer;
}

TEST(ObserverBandwidth, IsTwiceThatOfTheLawByDefault) {
  JointGains gains = gains_from_bandwidth(40, 1);
  EXPECT_NEAR(observer_bandwidth(gains), 80, 1e-6);
  gains.ki = 0;
  EXPECT_DOUBLE_EQ(observer_bandwidth(gains), 80);
  EXPECT_DOUBLE_EQ(observer_bandwidth({0, 50, 0}), 50) << "damping alone";
  EXPECT_DOUBLE_EQ(observer_bandwidth({0, 0, 0}), 20) << "no gains";
}

TEST(ObserverBandwidth, FollowsFromKi) {
  const double kp = 1600, kd = 80;
  for (const double w : {41.0, 300.0, 3000.0}) {
    const double ki = w * w * w * kp / (kp + 3 * w * kd + 3 * w * w);
    EXPECT_NEAR(observer_bandwidth({kp, kd, ki}), w, 1e-6 * w);
  }
  EXPECT_DOUBLE_EQ(observer_bandwidth({kp, kd, 1e-3}), 40) << "not slower than the law";
}

TEST(StateObserver, FollowsAnExpectedAccelerationWithoutError) {
  StateObserver observer = observer_of(80);
  double q = 0, qd = 0;
  for (int k = 0; k < 500; ++k) {
    const double u = k < 200 ? 3 : -5;
    observer.expect(Values{u});
    q += kDt * (qd + kDt * u / 2);
    qd += kDt * u;
    observer.update(Values{q}, kDt);
    ASSERT_NEAR(observer.position()[0], q, 1e-12);
    ASSERT_NEAR(observer.velocity()[0], qd, 1e-12);
    ASSERT_NEAR(observer.disturbance()[0], 0, 1e-9);
  }
}

TEST(StateObserver, FindsADisturbanceWithThreeEqualPoles) {
  // The error of the estimate decays like (1 + x + x²/2) e^−x with x = w t.
  const double w = 80, d = 2;
  StateObserver observer = observer_of(w);
  observer.expect(Values{-1});
  double q = 0, qd = 0;
  for (int k = 1; k <= 300; ++k) {
    q += kDt * (qd + kDt * (d - 1) / 2);
    qd += kDt * (d - 1);
    observer.update(Values{q}, kDt);
    const double x = w * k * kDt, left = (1 + x + x * x / 2) * std::exp(-x);
    EXPECT_NEAR(observer.disturbance()[0], d * (1 - left), 0.05 * d) << k;
  }
  EXPECT_NEAR(observer.disturbance()[0], d, 1e-6);
  EXPECT_NEAR(observer.velocity()[0], qd, 1e-6);
}

TEST(StateObserver, FindsItInCyclesOfAnyLength) {
  StateObserver observer = observer_of(80);
  observer.expect(Values{0});
  double q = 0, qd = 0;
  for (int k = 0; k < 400; ++k) {
    const double dt = kDt * (k % 3 == 0 ? 0.4 : 1.3);
    q += dt * (qd + dt * 2.0 / 2);
    qd += dt * 2.0;
    observer.update(Values{q}, dt);
  }
  EXPECT_NEAR(observer.disturbance()[0], 2, 1e-6);
  EXPECT_NEAR(observer.velocity()[0], qd, 1e-6);
  const double before = observer.position()[0];
  observer.update(Values{q + 1}, 0);
  EXPECT_EQ(observer.position()[0], before) << "no time has passed";
}

TEST(StateObserver, AHeldJointKeepsItsDisturbance) {
  StateObserver observer = observer_of(80);
  observer.add_disturbance(0, 5);
  observer.hold(0, true);
  observer.expect(Values{-3});
  for (int k = 0; k < 200; ++k) observer.update(Values{1e-4}, kDt);
  EXPECT_EQ(observer.disturbance()[0], 5);
  EXPECT_NEAR(observer.position()[0], 1e-4, 1e-9);
  EXPECT_NEAR(observer.velocity()[0], 0, 1e-7) << "neither -3 nor 5 rad/s² moves it";
}

TEST(StateObserver, TheDisturbanceIsLimited) {
  StateObserver observer = observer_of(80, 1.5);
  for (int k = 0; k < 1000; ++k) observer.update(Values{0.5 * kDt * kDt * k * k * 10}, kDt);
  EXPECT_EQ(observer.disturbance()[0], 1.5);
  observer.add_disturbance(0, -100);
  EXPECT_EQ(observer.disturbance()[0], -1.5);
}

TEST(StateObserver, ARestartForgetsADisturbanceThatIsNotFinite) {
  StateObserver observer = observer_of(80);
  observer.expect(Values{NAN});
  observer.update(Values{0}, kDt);
  ASSERT_TRUE(std::isnan(observer.disturbance()[0]));
  observer.reset(Values{0.5}, Values{0});
  for (int k = 0; k < 1000; ++k) {
    observer.expect(Values{0});
    observer.update(Values{0.5}, kDt);
  }
  EXPECT_NEAR(observer.position()[0], 0.5, 1e-12);
  EXPECT_NEAR(observer.disturbance()[0], 0, 1e-9);
}

TEST(StateObserver, ARestartKeepsTheDisturbance) {
  StateObserver observer = observer_of(80);
  observer.add_disturbance(0, 5);
  observer.hold(0, true);
  observer.reset(Values{0.3}, Values{0.2});
  EXPECT_EQ(observer.disturbance()[0], 5);
  observer.update(Values{0.3 + 0.2 * kDt}, kDt);
  EXPECT_NEAR(observer.position()[0], 0.3 + 0.2 * kDt, 1e-12) << "it does not accelerate";
  EXPECT_NEAR(observer.velocity()[0], 0.2, 1e-12);
  observer.clear_disturbance();
  EXPECT_EQ(observer.disturbance()[0], 0);
}

}  // namespace
}  // namespace ga_controllers
