// SPDX-License-Identifier: Apache-2.0

// Counts, drive angles, joint angles and torques of the PUMA 560's gears.

#include <gtest/gtest.h>

#include <array>
#include <numbers>
#include <random>

#include "arm/transmission.hpp"

namespace puma_hardware {
namespace {

using Six = std::array<double, 6>;

class TransmissionTest : public ::testing::Test {
 protected:
  const ArmSettings settings_ =
      ArmSettings::from(ga_dynamics::Chain::from_urdf_file(PUMA_URDF), {});
  const Transmission transmission_{settings_};
  std::mt19937 random_{1};

  Six random(double size) {
    std::uniform_real_distribution<double> uniform(-size, size);
    Six values;
    for (double& value : values) value = uniform(random_);
    return values;
  }
};

TEST_F(TransmissionTest, CountsAndJointsAreExactInverses) {
  for (int k = 0; k < 1000; ++k) {
    const Six q = random(4.6);
    Six counts, back;
    transmission_.joints_to_counts(q, counts);
    transmission_.counts_to_joints(counts, back);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(back[i], q[i], 1e-12);
  }
}

TEST_F(TransmissionTest, TorquesAreExactInverses) {
  for (int k = 0; k < 1000; ++k) {
    const Six joint = random(100);
    Six drive, back;
    transmission_.joint_to_drive_torque(joint, drive);
    transmission_.drive_to_joint_torque(drive, back);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(back[i], joint[i], 1e-12);
  }
}

TEST_F(TransmissionTest, BothSidesOfTheGearsSeeTheSamePower) {
  for (int k = 0; k < 1000; ++k) {
    const Six qd = random(5), joint = random(100);
    Six ed, drive;
    transmission_.joints_to_drive(qd, ed);
    transmission_.joint_to_drive_torque(joint, drive);
    double at_joints = 0, at_drives = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      at_joints += joint[i] * qd[i];
      at_drives += drive[i] * ed[i];
    }
    EXPECT_NEAR(at_joints, at_drives, 1e-11);
  }
}

TEST_F(TransmissionTest, WorksInPlace) {
  const Six q = random(3);
  Six apart, in_place = q;
  transmission_.joints_to_counts(q, apart);
  transmission_.joints_to_counts(in_place, in_place);
  EXPECT_EQ(apart, in_place);
  transmission_.counts_to_joints(apart, apart);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(apart[i], q[i], 1e-12);
  Six torque = q;
  transmission_.joint_to_drive_torque(torque, torque);
  transmission_.drive_to_joint_torque(torque, torque);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(torque[i], q[i], 1e-12);
}

// Trident ROBOT.C v4.3: rad per count with the direction as sign, from its own encoder scales.
TEST_F(TransmissionTest, ScalesAgreeWithTridents) {
  const Six published{1.0035e-4, -7.3156e-5, 1.17e-4, -8.2663e-5, -8.7376e-5, -8.1885e-5};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(1 / transmission_.counts_per_rad(i) / published[i], 1, i == 1 ? 5e-3 : 1e-3)
        << "joint " << i + 1;
  }
}

// Trident ROBOT.C v4.3: q5 = e5 − 0.0139037 q4, q6 = e6 − (−0.0130401 q4 + 0.180556 e5). Its log
// reports a sign error there, up to version 4.2.
TEST_F(TransmissionTest, WristCouplingHasThePublishedSigns) {
  const double turn = 2 * std::numbers::pi;
  Six q;
  // One turn of motor 4 backwards by its encoder is a positive motion of joint 4.
  transmission_.counts_to_joints(Six{0, 0, 0, -1000, 0, 0}, q);
  const double q4 = turn / 76.03636;
  EXPECT_NEAR(q[3], q4, 1e-12);
  EXPECT_NEAR(q[4], -0.0139037 * q4, 1e-12);
  EXPECT_NEAR(q[5], 0.0130401 * q4, 1e-12);
  transmission_.counts_to_joints(Six{0, 0, 0, 0, -1000, 0}, q);
  const double e5 = turn / 71.923;
  EXPECT_EQ(q[3], 0);
  EXPECT_NEAR(q[4], e5, 1e-12);
  EXPECT_NEAR(q[5], -0.180556 * e5, 1e-12);
  transmission_.counts_to_joints(Six{0, 0, 0, 0, 0, -1000}, q);
  EXPECT_EQ(q[4], 0);
  EXPECT_NEAR(q[5], turn / 76.686, 1e-12);
  // A turn of joint 4 alone: motors 5 and 6 turn once, opposite ways.
  Six counts;
  transmission_.joints_to_counts(Six{0, 0, 0, turn, 0, 0}, counts);
  EXPECT_NEAR(counts[4], -1000, 0.1);
  EXPECT_NEAR(counts[5], 1000 - 0.180556 * 0.0139037 * 76.686 * 1000, 0.1);
}

TEST_F(TransmissionTest, TorqueOfJoint6LoadsMotor5) {
  Six drive;
  transmission_.joint_to_drive_torque(Six{0, 0, 0, 0, 0, 1}, drive);
  EXPECT_NEAR(drive[3], 0.0130401, 1e-15);
  EXPECT_NEAR(drive[4], -0.180556, 1e-15);
  EXPECT_EQ(drive[5], 1);
}

}  // namespace
}  // namespace puma_hardware
