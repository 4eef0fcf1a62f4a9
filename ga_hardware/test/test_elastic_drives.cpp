// SPDX-License-Identifier: Apache-2.0
// Elastic drives of the simulated arm: the declared resonance and inertias, encoder and friction on
// the motor.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "ga_dynamics/dynamics.hpp"
#include "ga_hardware/simulated_arm.hpp"

namespace {

using ga_dynamics::Chain;
using ga_dynamics::DhJoint;
using ga_hardware::SimulatedArm;
using ga_hardware::SimulatedArmSettings;

constexpr double kCycle = 1e-3;

DhJoint wheel(double coulomb) {
  DhJoint joint;
  joint.body.mass = 1;
  joint.body.inertia = {0.8, 0, 0, 0, 0.8, 0, 0, 0, 0.8};
  joint.drive.armature = 0.2;
  joint.drive.coulomb_positive = joint.drive.coulomb_negative = coulomb;
  joint.limits.effort = 1000;
  return joint;
}

/// 1 kg m² about an upright axis.
Chain turntable(double coulomb = 0) { return Chain::from_dh({wheel(coulomb)}); }

/// The same about a horizontal axis, with the center of mass beside it.
Chain pendulum() {
  DhJoint joint = wheel(0);
  joint.body.com = {0.5, 0, 0};
  return Chain::from_dh({joint}, {0, -9.81, 0});
}

SimulatedArmSettings elastic(double frequency, double ratio) {
  SimulatedArmSettings settings;
  settings.disturbances.elastic_frequency = frequency;
  settings.disturbances.elastic_ratio = ratio;
  settings.brake_release_time = 0;
  settings.safety.overspeed_ratio = 0;
  return settings;
}

void cycle(SimulatedArm& arm, double torque) {
  arm.command(std::vector<double>{torque});
  arm.advance(kCycle);
}

void start(SimulatedArm& arm) {
  ASSERT_TRUE(arm.power_on());
  cycle(arm, 0);
}

struct Ring {
  double frequency = 0;  ///< Hz
  double ratio = 0;      ///< motor over link amplitude
  double damping = 0;    ///< ratio
};

/// Motor against link after a push of one cycle.
Ring ring_of(SimulatedArm& arm) {
  start(arm);
  cycle(arm, 100);
  std::vector<double> twist, speed;  // motor against link; of the motor against the mean
  const double mean = 100 * kCycle / 1.0;
  double motor = 0, link = 0;
  for (int k = 0; k < 1000; ++k) {
    cycle(arm, 0);
    twist.push_back(arm.position()[0] - arm.plant().q()[0]);
    motor = std::max(motor, std::abs(arm.velocity()[0] - mean));
    link = std::max(link, std::abs(arm.plant().qd()[0] - mean));
  }
  std::vector<double> crossings;
  double first = 0, last = 0;
  for (std::size_t k = 1; k < twist.size(); ++k) {
    if (k < 200) first = std::max(first, std::abs(twist[k]));
    if (k >= 800) last = std::max(last, std::abs(twist[k]));
    if (!(twist[k - 1] < 0 && twist[k] >= 0)) continue;
    crossings.push_back(static_cast<double>(k) - twist[k] / (twist[k] - twist[k - 1]));
  }
  Ring ring;
  ring.frequency =
      static_cast<double>(crossings.size() - 1) / (kCycle * (crossings.back() - crossings.front()));
  ring.ratio = motor / link;
  ring.damping = std::log(first / last) / (0.8 * 2 * std::numbers::pi * ring.frequency);
  return ring;
}

TEST(ElasticDrives, RingAtTheDeclaredFrequencyWithTheDeclaredInertias) {
  for (const double frequency : {15.0, 40.0, 60.0}) {
    for (const double ratio : {0.1, 0.2}) {
      SimulatedArmSettings settings = elastic(frequency, ratio);
      settings.disturbances.elastic_damping = 0.01;
      SimulatedArm arm(turntable(), settings);
      const Ring ring = ring_of(arm);
      EXPECT_NEAR(ring.frequency / frequency, 1, 0.003) << frequency << " Hz, " << ratio;
      // Momentum: what the motor has, the link has the other way.
      EXPECT_NEAR(ring.ratio * ratio, 1, 0.1) << frequency << " Hz, " << ratio;
      EXPECT_NEAR(ring.damping, 0.01, 0.002) << frequency << " Hz, " << ratio;
    }
  }
}

TEST(ElasticDrives, KeepTheInertiaOfTheWholeJoint) {
  SimulatedArm arm(turntable(), elastic(40, 0.2));
  start(arm);
  for (int k = 0; k < 2000; ++k) cycle(arm, 1);
  EXPECT_NEAR(arm.plant().qd()[0], 2.001, 0.01);
}

TEST(ElasticDrives, MotorInertiaBeyondTheArmatureIsAdded) {
  // The link keeps its 0.8 kg m²; the motor gets as much, of which the description has 0.2.
  SimulatedArm arm(turntable(), elastic(40, 1));
  start(arm);
  for (int k = 0; k < 2000; ++k) cycle(arm, 1);
  EXPECT_NEAR(arm.plant().qd()[0], 2.001 / 1.6, 0.02);
}

TEST(ElasticDrives, TheLinkSagsUnseenByTheEncoder) {
  const Chain chain = pendulum();
  SimulatedArmSettings settings = elastic(20, 0.1);
  settings.plant.brake_torque = {100};
  SimulatedArm arm(chain, settings);
  for (int k = 0; k < 500; ++k) {
    arm.idle();
    arm.advance(kCycle);
  }
  std::vector<double> inertia(1), gravity(1), zero(1);
  ga_dynamics::Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kArmature});
  dynamics.inertia_matrix(zero, inertia);
  dynamics.gravity(zero, gravity);
  const double motor = inertia[0] * 0.1 / 1.1, link = inertia[0] - motor;
  const double stiffness = std::pow(2 * std::numbers::pi * 20, 2) * motor * link / inertia[0];
  EXPECT_NEAR(arm.position()[0], 0, 1e-12) << "the brake holds the motor";
  EXPECT_NEAR(arm.plant().q()[0], -gravity[0] / stiffness, 1e-5);
  EXPECT_GT(std::abs(arm.plant().q()[0]), 1e-3);
}

TEST(ElasticDrives, FrictionHoldsTheMotorUpToItsStiction) {
  SimulatedArmSettings settings = elastic(40, 0.2);
  settings.disturbances.stiction = 1.5;
  SimulatedArm arm(turntable(2), settings);
  start(arm);
  for (int k = 0; k < 50; ++k) cycle(arm, 2.9);
  EXPECT_EQ(arm.position()[0], 0);
  for (int k = 0; k < 50; ++k) cycle(arm, 3.1);
  EXPECT_GT(arm.position()[0], 1e-4);
  for (int k = 0; k < 3000; ++k) cycle(arm, 0);
  EXPECT_EQ(arm.velocity()[0], 0) << "friction stops the motor";
  EXPECT_NEAR(arm.plant().qd()[0], 0, 1e-4);
}

TEST(ElasticDrives, TheStiffLimitIsTheRigidArm) {
  SimulatedArm stiff(turntable(), elastic(200, 0.2)), rigid(turntable(), elastic(0, 0.2));
  start(stiff);
  start(rigid);
  for (int k = 0; k < 500; ++k) {
    const double torque = 5 * std::sin(0.02 * k);
    cycle(stiff, torque);
    cycle(rigid, torque);
  }
  EXPECT_NEAR(stiff.plant().q()[0], rigid.plant().q()[0], 5e-5);
}

}  // namespace
