// SPDX-License-Identifier: Apache-2.0

// Whether the arm stands where it is said to, by its potentiometers and by gravity.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>

#include "arm/calibration_posture.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_hardware/simulated_arm.hpp"

namespace puma_hardware {
namespace {

using Six = std::array<double, 6>;

const ga_dynamics::Chain& chain() {
  static const auto kChain = ga_dynamics::Chain::from_urdf_file(PUMA_URDF);
  return kChain;
}
const ArmSettings& settings() {
  static const ArmSettings kSettings = ArmSettings::from(chain(), {});
  return kSettings;
}

constexpr Six kUpright{0, -1.5, 1.5, 0, 0, 0};
constexpr Six kLow{-0.7, -2.2, 0.8, -0.7, -0.7, -0.7}, kHigh{0.7, -0.8, 2.2, 0.7, 0.7, 0.7};

/// Of an arm that stands `error` from where it is said to, with this friction.
std::vector<GravityPlace> swept(const ga_dynamics::Chain& arm, const Six& error,
                                double friction = 1) {
  ga_dynamics::Dynamics dynamics(arm);
  std::mt19937 random(4);
  std::normal_distribution<double> noise(0, 0.2);  // N m
  std::vector<GravityPlace> places;
  for (std::size_t joint = 0; joint < 6; ++joint) {
    const ga_dynamics::Drive& drive = chain().joints()[joint].drive;
    for (double q = kLow[joint]; q <= kHigh[joint]; q += 0.04) {
      GravityPlace place{joint, kUpright, 0};
      place.q[joint] = q;
      Six there = place.q, gravity;
      for (std::size_t i = 0; i < 6; ++i) there[i] += error[i];
      dynamics.gravity(there, gravity);
      place.torque = gravity[joint] + noise(random) +
                     friction * 0.5 * (drive.coulomb_positive - drive.coulomb_negative);
      places.push_back(place);
    }
  }
  return places;
}

TEST(CalibrationPosture, GravityFindsAnArmThatStandsElsewhere) {
  EXPECT_EQ(estimate_posture(chain(), swept(chain(), {})).contradiction(settings()), "");
  for (const double error : {-0.3, -0.1, 0.1, 0.3}) {
    const PostureEstimate found = estimate_posture(chain(), swept(chain(), {0, error}));
    EXPECT_NEAR(found.error[1], error, 0.03);
    EXPECT_NEAR(found.error[2], 0, 0.1);
    EXPECT_EQ(found.contradiction(settings()).find("joint2 stands about"), 0u)
        << found.contradiction(settings());
  }
  const PostureEstimate found = estimate_posture(chain(), swept(chain(), {0, 0, 0.4}));
  EXPECT_NEAR(found.error[2], 0.4, 0.15);
  EXPECT_EQ(found.contradiction(settings()).find("joint3 stands about"), 0u)
      << found.contradiction(settings());
}

TEST(CalibrationPosture, GravitySaysWhatItDoesNotSee) {
  const PostureEstimate found = estimate_posture(chain(), swept(chain(), {0.5, 0, 0, 0.5, 0.2, 3}));
  EXPECT_EQ(found.seen, (std::array<bool, 6>{false, true, true, false, false, false}));
  EXPECT_EQ(found.contradiction(settings()), "");
  EXPECT_EQ(estimate_posture(chain(), {}).seen, (std::array<bool, 6>{}));
}

TEST(CalibrationPosture, OrdinaryErrorsOfTheModelAreNoContradiction) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    ga_hardware::Disturbances disturbances;
    disturbances.mismatch = 0.1;
    const auto arm =
        ga_hardware::actual_arm(chain(), ga_hardware::draw_errors(disturbances, 6, seed), {});
    for (const double friction : {0.8, 1.2}) {
      const PostureEstimate found = estimate_posture(chain(), swept(arm, {}, friction));
      EXPECT_EQ(found.contradiction(settings()), "") << "seed " << seed;
    }
  }
}

TEST(CalibrationPosture, APotentiometerCoversItsJointsRange) {
  Six volts;
  const auto read_at = [&](const Six& q) {
    for (std::size_t i = 0; i < 6; ++i) {
      const JointSettings& joint = settings().joints[i];
      volts[i] = 2.5 + joint.pot_direction * joint.pot_volts_per_rev * joint.gear_ratio /
                           (2 * std::numbers::pi) * (q[i] - 0.5 * (joint.lower + joint.upper));
    }
    return volts;
  };
  EXPECT_EQ(pot_contradiction(settings(), kUpright, read_at(kUpright)), "");
  Six far = kUpright;
  far[5] = 3;
  const std::string told = pot_contradiction(settings(), far, read_at(kUpright));
  EXPECT_EQ(told.find("joint6: its potentiometer reads 2.50 V at the stated 3.0000 rad"), 0u)
      << told;
  EXPECT_NE(told.find("about 3.00 rad from there"), std::string::npos) << told;
  // Mounted a few turns off the middle, as by a mechanic.
  read_at(kUpright);
  for (std::size_t i = 0; i < 6; ++i) volts[i] += 6 * settings().joints[i].pot_volts_per_rev;
  EXPECT_EQ(pot_contradiction(settings(), kUpright, volts), "");
  // At its stop it says nothing.
  read_at(kUpright);
  volts[5] = 4.99;
  EXPECT_EQ(pot_contradiction(settings(), far, volts), "");
}

}  // namespace
}  // namespace puma_hardware
