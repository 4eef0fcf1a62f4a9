// SPDX-License-Identifier: Apache-2.0

// Paths timed by motor torque, sampled for a trajectory controller and followed by the simulated arm.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ga_hardware/arm_model.hpp"
#include "ga_motion/time_parameterization.hpp"
#include "ga_tools/closed_loop.hpp"

namespace ga_tools {
namespace {

using ga_dynamics::Chain;
using ga_motion::SampledTiming;
using Points = std::vector<std::vector<double>>;

constexpr double kReserve = 0.1, kRamp = 0.02;

const Chain& puma() {
  static const Chain chain = Chain::from_urdf_file(PUMA_URDF);
  return chain;
}

SampledTiming plan(const Points& points, double rate) {
  ga_motion::TimingLimits limits = ga_motion::limits_of(puma());
  for (std::size_t i = 0; i < limits.torque.size(); ++i) {
    limits.torque[i] *= 1 - kReserve;
    limits.torque_rate[i] = limits.torque[i] / kRamp;
  }
  return time_and_sample(puma(), limits, {}, ga_motion::make_spline_path(points), rate);
}

/// Largest joint error [rad] of the tracking law with integral action, feed-forward friction and time
/// scaling, at 1 kHz, through encoders and DACs.
double largest_error(const ga_motion::Trajectory& motion,
                     const ga_hardware::Disturbances& disturbances) {
  const LoopOptions loop;
  ga_hardware::SimulatedArmSettings settings = settings_for(motion, loop);
  settings.disturbances = disturbances;
  settings.seed = 3;
  settings.signals = ga_hardware::signals_of(puma());
  settings.errors = ga_hardware::draw_errors(disturbances, puma().joints().size(), settings.seed);
  ga_hardware::SimulatedArm arm(puma(), settings);
  ga_controllers::LawParameters parameters = ga_hardware::law_parameters(
      ga_controllers::LawKind::kTrackingIntegral, {ga_controllers::gains_from_bandwidth(40, 1)}, 1,
      settings.signals);
  parameters.keep_path = true;
  LawUnderTest law = computed_torque(puma(), parameters);
  const RunRecording run = run_loop(arm, puma(), motion, law, loop);
  EXPECT_TRUE(judge(run, puma(), run.duration(motion.duration()), settings.signals, true).ok());
  double largest = 0;
  for (std::size_t i = 0; i < run.q.size(); ++i) {
    for (std::size_t k = 0; k < run.time.size(); ++k) {
      largest = std::max(largest, std::abs(run.q[i][k] - run.q_ref[i][k]));
    }
  }
  return largest;
}

// No joint reverses: all of them move monotonically.
const Points kOneWay{{-0.6, -1.2, 1.8, -0.5, -0.4, 0.2},
                     {-0.2, -0.9, 1.5, -0.2, -0.1, 0.5},
                     {0.3, -0.6, 1.1, 0.2, 0.3, 0.9}};
const Points kStraight{{0.4, -0.5, 1.0, 0.3, 0.5, 0.0}, {-0.2, -1.1, 1.5, -0.3, -0.2, 0.7}};
// Every joint reverses.
const Points kToAndFro{{-0.10, -0.84, 2.41, -1.18, 1.11, 2.38},
                       {0.29, -0.96, 2.06, -1.25, 0.93, 2.67},
                       {0.22, -0.99, 2.42, -0.92, 0.98, 2.21},
                       {0.55, -1.15, 2.18, -0.86, 1.60, 2.27},
                       {0.10, -0.61, 2.05, -1.23, 1.30, 2.83}};

/// Expects at most these errors [rad] with an exact model, and with masses and friction off by up to 20 %.
void expect_errors(const Points& points, double rate, double most, double most_with_wrong_model) {
  const auto motion = plan(points, rate).samples.interpolated();
  ga_hardware::Disturbances perturbed;
  perturbed.mismatch = 0.2;
  perturbed.friction_error = 0.2;
  const double exact = largest_error(*motion, {}), wrong = largest_error(*motion, perturbed);
  std::printf("exact model %.2f mrad, masses and friction off by up to 20 %% %.2f mrad\n",
              1e3 * exact, 1e3 * wrong);
  EXPECT_LT(exact, most);
  EXPECT_LT(wrong, most_with_wrong_model);
}

class TimedTracking : public testing::TestWithParam<double> {};

TEST_P(TimedTracking, SamplesKeepAllLimitsBetweenThem) {
  for (const Points& points : {kOneWay, kStraight, kToAndFro}) {
    const SampledTiming sampled = plan(points, GetParam());
    EXPECT_TRUE(sampled.use.within(ga_motion::kTorqueTolerance));
    for (const auto& joint : sampled.use.joints) EXPECT_LE(joint.velocity.share, 1);
    EXPECT_GT(sampled.torque_share, 0.85);
    EXPECT_LE(sampled.samples.times[1], 1 / GetParam() + 1e-12);
  }
}

TEST_P(TimedTracking, StaysWithinTwoMilliradiansWhereNoJointReverses) {
  for (const Points& points : {kOneWay, kStraight}) {
    expect_errors(points, GetParam(), 2e-3, 2e-3);
  }
}

TEST_P(TimedTracking, StaysCloseWhereJointsReverseAtFullTorque) {
  // The law changes its friction feed-forward by 2 % of the torque limit per ms at most; that of joint 1
  // jumps by 53 % of it. It must begin before the reversal, or the error is 2.1 mrad.
  expect_errors(kToAndFro, GetParam(), 6e-4, 2.5e-3);
}

INSTANTIATE_TEST_SUITE_P(Rates, TimedTracking, testing::Values(200.0, 100.0));

}  // namespace
}  // namespace ga_tools
