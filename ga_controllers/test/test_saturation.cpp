// SPDX-License-Identifier: Apache-2.0

// Saturated torques: the projection onto the limits, and the resulting motion of the arm.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "box_projection.hpp"
#include "counting_allocator.hpp"
#include "decoupled_saturation.hpp"
#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/plant.hpp"
#include "measured_arm.hpp"
#include "wave.hpp"

namespace ga_controllers {
namespace {

using ga_dynamics::Chain;
using ga_dynamics::Plant;
using Random = std::mt19937;

constexpr const char* kArms[] = {"puma560_akb", "seven_joints", "scara"};

Chain arm_named(const std::string& name) {
  return Chain::from_urdf_file(std::string(GA_ROBOTS) + "/" + name + ".urdf");
}

Values efforts(const Chain& chain) {
  Values limits;
  for (const auto& joint : chain.joints()) limits.push_back(joint.limits.effort);
  return limits;
}

/// Random configurations, many of them with aligned axes.
void scatter(MeasuredArm& arm, Random& random) {
  std::normal_distribution<double> normal;
  for (double& q : arm.q) q = random() % 4 == 0 ? 0 : normal(random);
}

/// The commanded torques.
Values clamped(const Values& tau, const Values& limit) {
  Values out = tau;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::clamp(out[i], -limit[i], limit[i]);
  return out;
}

TEST(BoxProjection, FindsTheNearestPoint) {
  Random random(1);
  std::normal_distribution<double> normal;
  for (const char* name : kArms) {
    const Chain chain = arm_named(name);
    const std::size_t n = chain.joints().size();
    const Values limit = efforts(chain);
    MeasuredArm arm(chain, limit);
    BoxProjection projection(n);
    for (int round = 0; round < 20000; ++round) {
      scatter(arm, random);
      arm.update_inertia();
      const double size = std::pow(10, 2 * std::abs(normal(random)) - 1);
      Values value(n), bound(n);
      for (std::size_t i = 0; i < n; ++i) {
        value[i] = size * limit[i] * normal(random);
        bound[i] =
            random() % 5 == 0 ? INFINITY : limit[i] * std::pow(10, -std::abs(normal(random)));
      }
      ASSERT_TRUE(projection.project(arm.inertia, value, bound)) << name << " round " << round;
      const auto x = projection.multipliers(), y = projection.result();
      for (std::size_t i = 0; i < n; ++i) {
        double sum = value[i], scale = std::abs(value[i]);
        for (std::size_t j = 0; j < n; ++j) {
          sum += arm.inertia[i * n + j] * x[j];
          scale += std::abs(arm.inertia[i * n + j] * x[j]);
        }
        ASSERT_NEAR(y[i], sum, 1e-8 * scale);
        ASSERT_LE(std::abs(y[i]), bound[i]);
        switch (projection.side()[i]) {
          case 0:
            ASSERT_EQ(x[i], 0);
            break;
          case 1:
            ASSERT_EQ(y[i], bound[i]);
            ASSERT_LE(x[i], 0);
            break;
          default:
            ASSERT_EQ(y[i], -bound[i]);
            ASSERT_GE(x[i], 0);
        }
      }
    }
  }
}

TEST(BoxProjection, OfASingularMatrixIsFinite) {
  BoxProjection projection(3);
  const Values massless{2, 1, 0, 1, 2, 0, 0, 0, 0}, aligned{1, 1, 1, 1, 1, 1, 1, 1, 1};
  const Values value{5, 0.5, -7}, bound{1, 1, 1};
  for (const Values& matrix : {massless, aligned}) {
    projection.project(matrix, value, bound);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_LE(std::abs(projection.result()[i]), 1);
      EXPECT_TRUE(std::isfinite(projection.multipliers()[i]));
    }
  }
  // A massless joint is clamped separately and does not affect the others.
  EXPECT_TRUE(projection.project(massless, value, bound));
  EXPECT_EQ(projection.result()[0], 1);
  EXPECT_NEAR(projection.result()[1], -1, 1e-9);
  EXPECT_EQ(projection.result()[2], -1);
}

TEST(DecoupledSaturation, GivesSaturatedJointsNoMoreThanTheirAccelerations) {
  Random random(2);
  std::normal_distribution<double> normal;
  for (const char* name : kArms) {
    const Chain chain = arm_named(name);
    const std::size_t n = chain.joints().size();
    const Values limit = efforts(chain);
    MeasuredArm arm(chain, limit);
    DecoupledSaturation saturation(n);
    ga_dynamics::Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kArmature});
    int at_limit = 0;
    for (int round = 0; round < 2000; ++round) {
      scatter(arm, random);
      Values v(n), wanted(n), is(n);
      for (std::size_t i = 0; i < n; ++i) wanted[i] = 1.5 * limit[i] * normal(random);
      ASSERT_TRUE(dynamics.forward_dynamics(arm.q, arm.qd, wanted, v));
      Values given = wanted;
      saturation.apply(arm, given);
      ASSERT_TRUE(dynamics.forward_dynamics(arm.q, arm.qd, clamped(given, limit), is));
      double largest = 0;
      for (const double acceleration : v) largest = std::max(largest, std::abs(acceleration));
      for (std::size_t i = 0; i < n; ++i) {
        // A joint at a limit is marked by a torque beyond it.
        const double more = is[i] - v[i], tolerance = 1e-9 * (1 + largest);
        EXPECT_LE(given[i] >= -limit[i] ? more : 0, tolerance) << name << " joint " << i + 1;
        EXPECT_GE(given[i] <= limit[i] ? more : 0, -tolerance) << name << " joint " << i + 1;
        at_limit += std::abs(given[i]) > limit[i];
      }
    }
    EXPECT_GT(at_limit, 1000);
  }
}

TEST(DecoupledSaturation, IsContinuous) {
  Random random(3);
  std::normal_distribution<double> normal;
  double worst = 0;
  for (const char* name : kArms) {
    const Chain chain = arm_named(name);
    const std::size_t n = chain.joints().size();
    const Values limit = efforts(chain);
    MeasuredArm arm(chain, limit);
    DecoupledSaturation saturation(n);
    for (int round = 0; round < 20000; ++round) {
      scatter(arm, random);
      Values below(n), above;
      for (std::size_t i = 0; i < n; ++i) below[i] = limit[i] * normal(random);
      // One of the joints crosses its limit.
      const std::size_t crosses = random() % n;
      below[crosses] = std::copysign(limit[crosses], below[crosses]) * (1 - 1e-9);
      above = below;
      above[crosses] *= 1 + 2e-9;
      saturation.apply(arm, below);
      saturation.apply(arm, above);
      below = clamped(below, limit);
      above = clamped(above, limit);
      for (std::size_t i = 0; i < n; ++i) {
        worst = std::max(worst, std::abs(below[i] - above[i]) / limit[i]);
      }
    }
  }
  EXPECT_LT(worst, 1e-6);
  RecordProperty("step", std::to_string(worst));
}

TEST(DecoupledSaturation, AWeakJointDoesNotMakeTheOthersChatter) {
  // Joint 2 cannot hold the arm; joints 1 and 3 continue.
  const Chain chain = puma();
  for (const bool stops : {false, true}) {
    const LawKind kind = stops ? LawKind::kTracking : LawKind::kTrackingIntegral;
    LawParameters p = parameters(kind, 40);
    p.torque_limit = efforts(chain);
    p.torque_limit[1] *= 0.1;
    ControlLaw law(chain, p);
    Plant plant(chain, {.friction = false, .stops = stops});
    plant.reset(Wave(0).q, Wave(0).qd);
    law.start(plant.q(), plant.qd(), Values(6, NAN));
    Values tau(6), before(6);
    double step = 0;
    int saturated = 0, steps = 0;
    for (int k = 0; k < 3000; ++k) {
      const Wave now(k * kDt);
      const long allocations = test::allocations();
      law.update(plant.q(), plant.qd(), now.reference(), kDt, tau);
      EXPECT_EQ(test::allocations(), allocations);
      saturated += law.saturated(1);
      for (std::size_t i = 0; i < 6 && k > 0; ++i) {
        const double change = std::abs(tau[i] - before[i]) / chain.joints()[i].limits.effort;
        step = std::max(step, change);
        steps += change > 0.05;
      }
      std::copy(tau.begin(), tau.end(), before.begin());
      plant.step(tau, kDt);
    }
    EXPECT_GT(saturated, 2000);
    // Joint 2 hits its stop at 3 rad/s and bounces: that steps the torques, a few times.
    EXPECT_LT(steps, stops ? 30 : 1);
    EXPECT_LT(step, stops ? 0.15 : 0.05);
    RecordProperty(stops ? "step_at_stop" : "step", std::to_string(step));
  }
}

}  // namespace
}  // namespace ga_controllers
