// SPDX-License-Identifier: Apache-2.0

// Joints driven through stiffness and damping after the valves of a hydraulic arm have closed (the
// d'Alembert paper, §3, equation 14; the arm's numbers are ours): the simulated oscillation has the
// frequencies and the damping of the linearized arm, and dies away to the static deflection.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "experiments/hydraulic_arm.hpp"
#include "worse.hpp"

namespace ga_tools::experiments {

using namespace ga_dynamics;
using namespace ga_motion;
namespace {

constexpr std::size_t kJoints = 5;

JointValues scaled(JointValues values, double factor) {
  for (double& v : values) v *= factor;
  return values;
}

/// Samples often enough for the fastest mode, long enough for the slowest.
RingDown swing(const HydraulicArm& arm, const JointValues& qd) {
  const bool heavy = arm.load == LoadModel::kBody;
  return ring_down(arm, closing_position(), qd, heavy ? 2 : 1, heavy ? 0.01 : 0.003);
}

JointValues rest_after(const HydraulicArm& arm, const JointValues& qd) {
  return rest_positions(arm, free_positions(arm, closing_position(), qd));
}

struct Difference {
  double frequency = 0, damping = 0;  ///< relative
};

Difference largest_difference(const std::vector<Mode>& seen, const std::vector<Mode>& expected) {
  EXPECT_EQ(expected.size(), kJoints);
  EXPECT_EQ(seen.size(), expected.size());
  Difference to;
  for (std::size_t i = 0; i < std::min(seen.size(), expected.size()); ++i) {
    to.frequency =
        test::worse(to.frequency, std::abs(seen[i].frequency() / expected[i].frequency() - 1));
    to.damping = test::worse(to.damping,
                             std::abs(seen[i].damping_ratio() / expected[i].damping_ratio() - 1));
  }
  return to;
}

class ElasticDrive : public ::testing::TestWithParam<LoadModel> {
 protected:
  const HydraulicArm arm_ = make_hydraulic_arm(GetParam());
};

TEST_P(ElasticDrive, SmallSwingsHaveTheLinearizedFrequenciesAndDamping) {
  const JointValues qd = scaled(closing_speed(), 0.01);
  const JointValues rest = rest_after(arm_, qd);
  const Difference d =
      largest_difference(observed_modes(swing(arm_, qd), rest), linear_modes(arm_, rest));
  EXPECT_LT(d.frequency, 2e-4);
  EXPECT_LT(d.damping, 3e-4);
}

TEST_P(ElasticDrive, SwingsOfTheFullSpeedStayNearThem) {
  const JointValues qd = closing_speed(), rest = rest_after(arm_, qd);
  const Difference d =
      largest_difference(observed_modes(swing(arm_, qd), rest), linear_modes(arm_, rest));
  EXPECT_LT(d.frequency, 0.01);
  EXPECT_LT(d.damping, 0.02);
  EXPECT_GT(d.frequency, 1e-5);  // the equations are not linear
}

TEST_P(ElasticDrive, DampingLowersTheFrequenciesOfStiffnessAndInertia) {
  // λ of the damped pairs and the generalized eigenvalues ω² of K and D are of one arm: the product
  // of all |λ|² is det K / det D, the product of all ω².
  const JointValues rest = rest_after(arm_, closing_speed());
  const std::vector<Mode> damped = linear_modes(arm_, rest);
  const std::vector<double> undamped = undamped_frequencies(arm_, rest);
  ASSERT_EQ(damped.size(), kJoints);
  ASSERT_EQ(undamped.size(), kJoints);
  double product = 1;
  for (std::size_t i = 0; i < kJoints; ++i) {
    EXPECT_LT(damped[i].frequency(), undamped[i]);
    product *= std::norm(damped[i].eigenvalue) / std::pow(2 * std::numbers::pi * undamped[i], 2);
  }
  EXPECT_NEAR(product, 1, 1e-9);
}

TEST_P(ElasticDrive, OscillationDecaysToTheStaticDeflection) {
  const JointValues q = closing_position(), qd = closing_speed();
  const JointValues free = free_positions(arm_, q, qd), rest = rest_positions(arm_, free);
  const RingDown motion = ring_down(arm_, q, qd, 25, 0.05);
  double slowest = 1e9;  // decay rate, 1/s
  for (const Mode& mode : linear_modes(arm_, rest)) {
    slowest = std::min(slowest, -mode.eigenvalue.real());
  }
  for (std::size_t i = 0; i < kJoints; ++i) {
    EXPECT_NEAR(motion.q.back()[i], rest[i], 1e-8) << "joint " << i + 1;
    EXPECT_NEAR(motion.qd.back()[i], 0, 1e-7) << "joint " << i + 1;
    double first = 0, later = 0;  // largest deviation in the first second, and five seconds later
    for (std::size_t k = 0; k < 20; ++k) {
      first = test::worse(first, std::abs(motion.q[k][i] - rest[i]));
      later = test::worse(later, std::abs(motion.q[k + 100][i] - rest[i]));
    }
    EXPECT_LT(later, 2 * std::exp(-5 * slowest) * first) << "joint " << i + 1;
  }
  // Joints 2 to 4 carry the load: θ0 − θ = τ / k, and the load's weight alone makes most of τ2.
  EXPECT_GT(arm_.stiffness[1] * (free[1] - rest[1]), 0.5 * kLoad * 3);
  EXPECT_GT(free[2] - rest[2], 1e-3);
  EXPECT_GT(free[3] - rest[3], 1e-3);
  EXPECT_NEAR(free[0] - rest[0], 0, 1e-10);  // upright axes carry no weight
  EXPECT_NEAR(free[4] - rest[4], 0, 1e-10);
}

TEST_P(ElasticDrive, NothingSwingsWhereNothingMoved) {
  const JointValues q = closing_position(), still(kJoints);
  const RingDown motion = ring_down(arm_, q, still, 1, 0.05);
  for (std::size_t i = 0; i < kJoints; ++i) EXPECT_NEAR(motion.q.back()[i], q[i], 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Load, ElasticDrive, ::testing::Values(LoadModel::kBody, LoadModel::kForce),
                         [](const auto& given) {
                           return given.param == LoadModel::kBody ? "Body" : "Force";
                         });

TEST(ElasticDriveLoads, TheLoadsInertiaSlowsTheSwingButDoesNotChangeTheDeflection) {
  const HydraulicArm body = make_hydraulic_arm(LoadModel::kBody);
  const HydraulicArm force = make_hydraulic_arm(LoadModel::kForce);
  const JointValues q = closing_position(), still(kJoints);
  const JointValues free = free_positions(body, q, still);
  const JointValues rest = rest_positions(body, free), other = rest_positions(force, free);
  for (std::size_t i = 0; i < kJoints; ++i) {
    EXPECT_NEAR(rest[i], q[i], 1e-13);
    EXPECT_NEAR(other[i], rest[i], 1e-13) << "joint " << i + 1;
  }
  const std::vector<Mode> heavy = linear_modes(body, rest), light = linear_modes(force, rest);
  ASSERT_EQ(heavy.size(), light.size());
  for (std::size_t i = 0; i < heavy.size(); ++i) {
    EXPECT_GT(light[i].frequency(), 1.5 * heavy[i].frequency()) << "mode " << i + 1;
  }
}

}  // namespace
}  // namespace ga_tools::experiments
