// SPDX-License-Identifier: Apache-2.0

// The estimate of a payload from static torques, and from a simulated motion with friction.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ga_dynamics/dynamics.hpp"
#include "ga_tools/closed_loop.hpp"
#include "ga_tools/payload_estimate.hpp"

namespace ga_tools {
namespace {

using ga_dynamics::Chain;
using ga_dynamics::Payload;

Chain load(const std::string& name) {
  return Chain::from_urdf_file(std::string(GA_ROBOTS) + "/" + name + ".urdf");
}

/// Torques of an arm with the payload at random postures.
std::vector<PostureTorque> measured(const Chain& chain, const Payload& payload, int count,
                                    double noise) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> position(-1, 1);
  std::normal_distribution<double> error(0, noise > 0 ? noise : 1);
  ga_dynamics::Dynamics dynamics(chain);
  dynamics.set_payload(payload);
  std::vector<PostureTorque> samples;
  for (int k = 0; k < count; ++k) {
    PostureTorque sample{std::vector<double>(chain.joints().size()), {}};
    for (double& q : sample.q) q = position(random);
    sample.torque.resize(sample.q.size());
    dynamics.gravity(sample.q, sample.torque);
    for (double& torque : sample.torque) torque += noise > 0 ? error(random) : 0;
    samples.push_back(sample);
  }
  return samples;
}

const Payload kPayload{2.5, {0.03, -0.02, 0.11}, {}};

TEST(PayloadEstimate, IsExactForExactTorques) {
  const Chain chain = load("ur10e");
  const PayloadEstimate e = estimate_payload(chain, measured(chain, kPayload, 5, 0));
  EXPECT_TRUE(e.mass_identified);
  EXPECT_NEAR(e.payload.mass, 2.5, 1e-9);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_TRUE(e.com_identified[k]);
    EXPECT_NEAR(e.payload.com[k], kPayload.com[k], 1e-9);
  }
  EXPECT_LT(e.mass_deviation, 1e-9);
  EXPECT_LT(e.residual, 1e-9);
}

TEST(PayloadEstimate, DeviationsFitTheNoise) {
  const Chain chain = load("ur10e");
  const PayloadEstimate e = estimate_payload(chain, measured(chain, kPayload, 40, 0.5));
  EXPECT_NEAR(e.residual, 0.5, 0.1);
  EXPECT_GT(e.mass_deviation, 1e-3);
  EXPECT_LT(std::abs(e.payload.mass - 2.5), 3 * e.mass_deviation);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_GT(e.com_deviation[k], 1e-4);
    EXPECT_LT(std::abs(e.payload.com[k] - kPayload.com[k]), 3.5 * e.com_deviation[k]);
  }
}

TEST(PayloadEstimate, NamesWhatGravityDoesNotShow) {
  // Of a SCARA, only the quill carries weight: the mass, and nothing of its place.
  const Chain scara = load("scara");
  const PayloadEstimate e = estimate_payload(scara, measured(scara, kPayload, 8, 0));
  EXPECT_TRUE(e.mass_identified);
  EXPECT_NEAR(e.payload.mass, 2.5, 1e-9);
  EXPECT_EQ(e.com_identified, (std::array{false, false, false}));
  EXPECT_NE(e.text().find("not identified: center of mass along x, center of mass along y"),
            std::string::npos)
      << e.text();
}

TEST(PayloadEstimate, WrongSamplesAreRefused) {
  const Chain chain = load("ur10e");
  EXPECT_THROW(estimate_payload(chain, {}), std::invalid_argument);
  auto samples = measured(chain, kPayload, 2, 0);
  samples[1].torque.pop_back();
  EXPECT_THROW(estimate_payload(chain, samples), std::invalid_argument);
  samples = measured(chain, kPayload, 2, 0);
  samples[0].q[2] = NAN;
  EXPECT_THROW(estimate_payload(chain, samples), std::invalid_argument);
}

TEST(PayloadMotion, FindsThePayloadOfAnArmWithFriction) {
  const Chain chain = load("puma560_akb");
  const std::vector<double> start{0.2, -0.8, 1.6, 0.1, 0.6, 0.1};
  const PayloadMotion motion(chain, start);
  const LoopOptions loop;
  ga_hardware::SimulatedArmSettings settings = settings_for(motion.trajectory(), loop);
  settings.payload = kPayload;
  ga_hardware::SimulatedArm arm(chain, settings);
  // The law does not know the payload, and feeds no friction forward.
  LawUnderTest law = computed_torque(
      chain, ga_hardware::law_parameters(ga_controllers::LawKind::kTrackingIntegral,
                                         {ga_controllers::gains_from_bandwidth(40, 1)}, 0,
                                         ga_hardware::signals_of(chain)));
  const RunRecording recording = run_loop(arm, chain, motion.trajectory(), law, loop);
  ASSERT_FALSE(recording.ended) << describe(*recording.ended);
  const PayloadEstimate e = estimate_payload(chain, motion.samples(recording));
  RecordProperty("estimate", e.text());
  std::printf("%s", e.text().c_str());
  EXPECT_NEAR(e.payload.mass, 2.5, 0.03) << e.text();
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(e.payload.com[k], kPayload.com[k], 0.005) << e.text();
  }
  RunRecording early = recording;
  early.time.resize(early.time.size() / 2);
  EXPECT_THROW(motion.samples(early), std::invalid_argument);
}

TEST(PayloadMotion, StaysWithinTheLimits) {
  const Chain chain = load("puma560_akb");
  std::vector<double> start{0.2, -0.8, 1.6, 0.1, 0.6, 0.1}, q(6), qd(6), qdd(6);
  start[5] = chain.joints()[5].limits.upper - 0.1;  // one way is closed
  const PayloadMotion motion(chain, start);
  for (double t = 0; t <= motion.trajectory().duration(); t += 0.01) {
    motion.trajectory().sample(t, q, qd, qdd);
    for (std::size_t i = 0; i < 6; ++i) {
      const auto& limits = chain.joints()[i].limits;
      EXPECT_GE(q[i], limits.lower);
      EXPECT_LE(q[i], limits.upper);
      EXPECT_LE(std::abs(qd[i]), limits.velocity / 3);
    }
  }
  start[1] = chain.joints()[1].limits.lower;
  EXPECT_THROW(PayloadMotion(chain, start), std::invalid_argument);
}

}  // namespace
}  // namespace ga_tools
