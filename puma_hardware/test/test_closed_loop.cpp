// SPDX-License-Identifier: Apache-2.0

// The whole loop at 1 kHz: laws, encoders, DACs, friction and the arm, along the papers' line.

#include <gtest/gtest.h>

#include <numbers>

#include "puma_hardware/velocity_observer.hpp"
#include "sim/demonstration.hpp"

namespace puma_hardware::sim {
namespace {

const LawResult& result_of(const Demonstration& d, const std::string& id) {
  for (const LawResult& r : d.results) {
    if (r.id == id) return r;
  }
  throw std::runtime_error(id);
}

TEST(ClosedLoop, FollowsTheLineWithinTheArmsRepeatability) {
  DemonstrationOptions options;
  options.urdf = PUMA_URDF;
  options.laws = {"integral", "pd"};
  const Demonstration d = demonstrate(options, {});
  const Metrics& integral = result_of(d, "integral").metrics;
  const Metrics& pd = result_of(d, "pd").metrics;
  EXPECT_LT(integral.tool_rms, 1e-4) << "0.1 mm, the PUMA's repeatability";
  EXPECT_GT(pd.tool_rms, 20 * integral.tool_rms);
  EXPECT_LT(integral.torque_use, 1);
}

TEST(ClosedLoop, TheSameSeedGivesTheSameNumbers) {
  DemonstrationOptions options;
  options.urdf = PUMA_URDF;
  options.laws = {"tracking"};
  options.trajectory = "quintic";
  options.noise = 1e-5;
  options.mismatch = 0.1;
  const Demonstration first = demonstrate(options, {}), again = demonstrate(options, {});
  EXPECT_EQ(first.results[0].recording.q, again.results[0].recording.q);
  options.seed = 2;
  EXPECT_NE(first.results[0].recording.q, demonstrate(options, {}).results[0].recording.q);
}

TEST(ClosedLoop, ReadsEncodersAndDacsFromTheDescription) {
  const auto chain = ga_dynamics::Chain::from_urdf_file(PUMA_URDF);
  const std::vector<JointSignals> signals = signals_of(chain);
  EXPECT_NEAR(signals[0].counts_per_rad, 1000 * 62.6111 / (2 * std::numbers::pi), 1e-6);
  EXPECT_NEAR(signals[1].torque_per_volt, 18.64, 1e-9);
}

TEST(ClosedLoop, RefusesImpossibleOptionsByName) {
  DemonstrationOptions options;
  options.urdf = PUMA_URDF;
  options.laws = {"magic"};
  try {
    demonstrate(options, {});
    ADD_FAILURE();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("magic"), std::string::npos);
  }
  options.laws = {"pd"};
  options.rate = 1;
  EXPECT_THROW(demonstrate(options, {}), std::runtime_error);
}

TEST(VelocityObserver, FollowsAccelerationThatItIsToldWithoutLag) {
  const double dt = 1e-3, a = 3;
  VelocityObserver observer(150, dt);
  observer.reset(0, 0);
  for (int k = 1; k <= 1000; ++k) observer.update(0.5 * a * (k * dt) * (k * dt), a);
  EXPECT_NEAR(observer.velocity(), a, 1e-9);
}

TEST(VelocityObserver, IsSmootherThanTheDifferenceOfCounts) {
  const double dt = 1e-3, resolution = 1e-4, speed = 0.05;
  VelocityObserver observer(150, dt);
  observer.reset(0, speed);
  double worst = 0, worst_difference = 0, before = 0;
  for (int k = 1; k <= 3000; ++k) {
    const double count = std::round(speed * k * dt / resolution) * resolution;
    observer.update(count, 0);
    if (k > 500) {
      worst = std::max(worst, std::abs(observer.velocity() - speed));
      worst_difference = std::max(worst_difference, std::abs((count - before) / dt - speed));
    }
    before = count;
  }
  EXPECT_LT(worst, 0.25 * worst_difference);
}

}  // namespace
}  // namespace puma_hardware::sim
