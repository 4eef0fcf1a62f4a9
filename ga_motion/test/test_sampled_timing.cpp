// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "ga_motion/time_parameterization.hpp"
#include "refusal.hpp"
#include "timing_paths.hpp"

// Samples of timed paths, which keep the limits in between.

namespace ga_motion {
namespace {

using ga_dynamics::Chain;
using ga_dynamics::DhJoint;
using ga_dynamics::test::refusal;
using ga_motion::test::kPaths;
using ga_motion::test::Points;
using ga_motion::test::puma;

const Points kLifted{
    {0, -0.35, 1.57, 0, 0, 0}, {0.8, -0.05, 1.57, 0, 0, 0}, {0.2, -0.3, 1.57, 0.3, 0.2, 0}};

/// 1 kg at 1 m, hanging at 0: gravity takes 9.81 sin q.
Chain pendulum(double effort) {
  DhJoint joint;
  joint.body.mass = 1;
  joint.body.com = {1, 0, 0};
  joint.limits.effort = effort;
  joint.limits.velocity = 3;
  joint.name = "swing";
  return Chain::from_dh({joint}, {9.81, 0, 0});
}

void expect_kept(const SampledTiming& timed, const std::string& what) {
  EXPECT_TRUE(timed.use.within(kTorqueTolerance)) << what;
  for (const JointUse& joint : timed.use.joints) EXPECT_LE(joint.velocity.share, 1) << what;
  EXPECT_EQ(timed.samples.times.back(), timed.timing.trajectory->duration());
  EXPECT_EQ(timed.timing.time.back(), timed.timing.trajectory->duration());
}

TEST(SampledTiming, OfAnArmWhoseGravityTakesAllTorqueIsSlowerInsteadOfRefused) {
  const Chain chain = pendulum(9.81000001);
  for (const double rate : {100.0, 200.0}) {
    const auto path = make_spline_path(Points{{0}, {2.5}});
    const double fastest = PathTimer(chain, limits_of(chain)).time(path).trajectory->duration();
    const SampledTiming timed = time_and_sample(chain, limits_of(chain), {}, path, rate);
    expect_kept(timed, "pendulum");
    EXPECT_GT(timed.stretch, 1);
    EXPECT_LT(timed.timing.time.back(), 1.25 * fastest);
    EXPECT_LE(timed.samples.times[1], 1 / rate + 1e-12);
  }
}

TEST(SampledTiming, OfAHeavyPayloadIsNotMuchLongerThanTheMotion) {
  struct Case {
    double mass, rate, most;
  };
  for (const auto& [mass, rate, most] :
       {Case{14, 100, 3}, Case{14, 200, 3}, Case{14.5, 100, 6}, Case{14.5, 200, 6}}) {
    const Chain chain = puma().with_payload({mass, {0, 0, 0}, {}});
    const SampledTiming timed =
        time_and_sample(chain, limits_of(chain), {}, make_spline_path(kLifted), rate);
    expect_kept(timed, std::to_string(mass));
    EXPECT_LT(timed.timing.time.back(), most) << mass << " kg, " << rate << " Hz";
  }
}

TEST(SampledTiming, KeepsTheLimitsAtEveryMillisecondAtLowRatesToo) {
  TimingLimits limits = limits_of(puma());
  for (const bool ramps : {false, true}) {
    if (ramps) {
      for (std::size_t i = 0; i < 6; ++i) limits.torque_rate[i] = limits.torque[i] / 0.02;
    }
    for (const Points& points : kPaths) {
      const auto path = make_spline_path(points);
      TimingLimits anywhere = limits;
      anywhere.lower.assign(6, -10), anywhere.upper.assign(6, 10);
      const SampledTiming timed = time_and_sample(puma(), anywhere, {.intervals = 300}, path, 10);
      EXPECT_TRUE(limit_use(puma(), anywhere, *timed.samples.interpolated(), 1e-3)
                      .within(kTorqueTolerance));
    }
  }
}

std::string refused(const Chain& chain, const TimingLimits& limits) {
  try {
    time_and_sample(chain, limits, {}, make_spline_path(kLifted), 200);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SampledTiming, RefusesWithTheGivenLimit) {
  const Chain chain = puma().with_payload({15, {0, 0, 0}, {}});
  const std::string text = refused(chain, limits_of(chain));
  EXPECT_NE(text.find("its torque limit is 186.4 N m"), std::string::npos) << text;
}

TEST(SampledTiming, OfAMotionOfDaysIsRefusedBeforeItFillsTheMemory) {
  TimingLimits limits = limits_of(puma());
  for (double& velocity : limits.velocity) velocity *= 1e-6;
  const std::string text = refused(puma(), limits);
  EXPECT_NE(text.find("s; the longest may take 3600 s: raise the velocity limits"),
            std::string::npos)
      << text;
  const auto hold = make_hold(std::vector<double>(6, 0.0), 2e9);
  EXPECT_EQ(refusal([&] { sample_motion(*hold, 200); }),
            "sample_motion: 200 samples per second of a motion of 2e+09 s are more than 1e+06; "
            "give a lower rate");
  EXPECT_EQ(refusal([&] { limit_use(puma(), limits, *hold); }),
            "limit_use: the motion takes 2e+09 s, more than 1e+07 steps of 0.001 s; give a shorter "
            "motion (times are in s) or a longer step");
}

}  // namespace
}  // namespace ga_motion
