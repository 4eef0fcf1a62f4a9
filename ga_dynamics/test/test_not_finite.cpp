// SPDX-License-Identifier: Apache-2.0

// What has no solution is reported: inputs that are not finite, and arms in which a joint moves no
// inertia. The kernels are compiled with -ffinite-math-only, which removes the usual checks.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "random_robot.hpp"
#include "variants.hpp"

namespace ga_dynamics {
namespace {

using test::RandomRobot;
using Values = std::vector<double>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotFinite[] = {kNan, -kNan, kInfinity, -kInfinity};
constexpr int kMostJoints = 7;

bool all_nan(const Values& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
}

/// An arm with friction and armature, and one state of it.
struct Case {
  explicit Case(int joints, unsigned seed)
      : n(static_cast<std::size_t>(joints)), chain(make(joints, seed)) {
    RandomRobot random(1, seed);
    q = random.positions(joints);
    qd = random.rates(joints);
    third = random.rates(joints);
  }

  static Chain make(int joints, unsigned seed) {
    // Seed 0 has revolute joints alone and gravity along axis 1: nothing depends on q1.
    RandomRobot random(joints, seed, {.prismatic = seed == 0 ? 0 : 0.3, .fixed = 0});
    const Chain from = Chain::from_urdf_text(random.urdf());
    std::vector<DhJoint> rows;
    for (const ChainJoint& joint : from.joints()) {
      rows.push_back({joint.type, joint.dh, joint.body, {0.2, 0.3, 0.4, 0.5}, {}, joint.name});
    }
    return Chain::from_dh(rows, seed == 0 ? Vector3{0, 0, -9.81} : from.gravity_in_frame0());
  }

  std::size_t n;
  Chain chain;
  Values q, qd, third;  ///< third: torque or acceleration
};

class NotFinite : public ::testing::TestWithParam<test::Variant> {
 protected:
  /// Calls `check` for arms of 1 to 7 joints with every choice of drives.
  template <class Check>
  void for_each_arm(const Check& check) {
    for (int n = 1; n <= kMostJoints; ++n) {
      for (const unsigned seed : {0U, 1U, 2U}) {
        for (const Drives drives : {Drives::kNone, Drives::kArmature, Drives::kAll}) {
          Case c(n, seed);
          Dynamics dynamics = GetParam().make(c.chain, drives);
          SCOPED_TRACE("n = " + std::to_string(n) + ", seed " + std::to_string(seed) + ", drives " +
                       std::to_string(static_cast<int>(drives)));
          check(c, dynamics);
        }
      }
    }
  }
};

TEST_P(NotFinite, PositionRateOrTorqueIsReportedByForwardDynamics) {
  for_each_arm([](Case& c, Dynamics& dynamics) {
    Values sound(c.n), qdd(c.n);
    ASSERT_TRUE(dynamics.forward_dynamics(c.q, c.qd, c.third, sound));
    for (Values* input : {&c.q, &c.qd, &c.third}) {
      for (double& value : *input) {
        const double before = value;
        for (const double bad : kNotFinite) {
          value = bad;
          std::fill(qdd.begin(), qdd.end(), 0.0);
          EXPECT_FALSE(dynamics.forward_dynamics(c.q, c.qd, c.third, qdd)) << bad;
          EXPECT_TRUE(all_nan(qdd)) << bad;
        }
        value = before;
        EXPECT_TRUE(dynamics.forward_dynamics(c.q, c.qd, c.third, qdd)) << "leaves no trace";
        EXPECT_EQ(qdd, sound);
      }
    }
  });
}

TEST_P(NotFinite, ExternalWrenchIsReportedByForwardDynamics) {
  for_each_arm([](Case& c, Dynamics& dynamics) {
    Values sound(c.n), qdd(c.n);
    ASSERT_TRUE(dynamics.forward_dynamics(c.q, c.qd, c.third, sound));
    for (int link = 1; link < static_cast<int>(c.chain.links().size()); ++link) {
      for (std::size_t component = 0; component < 6; ++component) {
        for (const double bad : kNotFinite) {
          Vector3 force{1, 2, 3}, moment{4, 5, 6};
          (component < 3 ? force : moment)[component % 3] = bad;
          dynamics.set_external_wrench(link, force, moment);
          EXPECT_FALSE(dynamics.forward_dynamics(c.q, c.qd, c.third, qdd))
              << bad << ", link " << link << ", component " << component;
          EXPECT_TRUE(all_nan(qdd));
        }
      }
      dynamics.set_external_wrench(link, {1, 2, 3}, {4, 5, 6});
      EXPECT_TRUE(dynamics.forward_dynamics(c.q, c.qd, c.third, qdd));
      dynamics.clear_external_wrenches();
    }
    EXPECT_TRUE(dynamics.forward_dynamics(c.q, c.qd, c.third, qdd));
    EXPECT_EQ(qdd, sound);
  });
}

TEST_P(NotFinite, OverflowIsReportedByForwardDynamics) {
  for_each_arm([](Case& c, Dynamics& dynamics) {
    Values qdd(c.n);
    const Values huge(c.n, 1e200), torque(c.n, std::numeric_limits<double>::max());
    const bool spins = std::any_of(c.chain.joints().begin() + 1, c.chain.joints().end(),
                                   [](const ChainJoint& joint) { return joint.revolute(); });
    if (spins) {
      EXPECT_FALSE(dynamics.forward_dynamics(c.q, huge, c.third, qdd));
      EXPECT_TRUE(all_nan(qdd));
    }
    // The inertia at the last joint is below 1 in its unit: the acceleration is out of range.
    if (dynamics.forward_dynamics(c.q, c.qd, torque, qdd)) {
      for (const double v : qdd) EXPECT_TRUE(std::isfinite(v));
    } else {
      EXPECT_TRUE(all_nan(qdd));
    }
  });
}

/// Runs `function` with each input value not finite. Every output that a finite change of that
/// value would change must then not be finite.
template <class Function>
void expect_to_spread(const std::vector<Values*>& inputs, std::size_t outputs,
                      const Function& function) {
  Values sound(outputs), moved(outputs), out(outputs);
  function(sound);
  double scale = 0;
  for (const double v : sound) scale = std::max(scale, std::abs(v));
  for (Values* input : inputs) {
    for (double& value : *input) {
      const double before = value;
      value = before + 0.37;
      function(moved);
      for (const double bad : kNotFinite) {
        value = bad;
        function(out);
        for (std::size_t i = 0; i < outputs; ++i) {
          if (std::abs(moved[i] - sound[i]) <= 1e-9 * (1 + scale)) continue;
          EXPECT_FALSE(std::isfinite(out[i]))
              << "output " << i << " is " << out[i] << " for " << bad;
        }
      }
      value = before;
    }
  }
}

TEST_P(NotFinite, ValueSpreadsToEveryResultThatDependsOnIt) {
  for_each_arm([](Case& c, Dynamics& d) {
    const std::size_t n = c.n;
    expect_to_spread({&c.q, &c.qd, &c.third}, n,
                     [&](Values& tau) { d.inverse_dynamics(c.q, c.qd, c.third, tau); });
    expect_to_spread({&c.q}, n * n, [&](Values& inertia) { d.inertia_matrix(c.q, inertia); });
    expect_to_spread({&c.q, &c.qd}, n, [&](Values& h) { d.bias(c.q, c.qd, h); });
    expect_to_spread({&c.q}, n, [&](Values& g) { d.gravity(c.q, g); });
    expect_to_spread({&c.q, &c.qd}, 2, [&](Values& e) {
      const MechanicalEnergy energy = d.energy(c.q, c.qd);
      e = {energy.kinetic, energy.potential};
    });
    expect_to_spread({&c.q, &c.qd, &c.third}, 1,
                     [&](Values& gibbs) { gibbs[0] = d.gibbs_function(c.q, c.qd, c.third); });
    const auto tip = static_cast<int>(n);
    expect_to_spread({&c.q}, 6 * n, [&](Values& j) { d.jacobian(c.q, tip, j); });
    std::vector<Pose> poses(c.chain.links().size());
    expect_to_spread({&c.q}, 12, [&](Values& pose) {
      d.link_poses(c.q, poses);
      std::copy_n(poses.back().rotation.begin(), 9, pose.begin());
      std::copy_n(poses.back().translation.begin(), 3, pose.begin() + 9);
    });
  });
}

// --- joints that move no inertia ---

/// n joints with bodies, perpendicular in turn.
std::vector<DhJoint> arm(int n) {
  std::vector<DhJoint> rows(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].dh = {i % 2 == 1 ? 1.3 : -0.8, 0.3, 0.1, 0, 0};
    rows[i].body = {2, {0.1, 0.02, 0.05}, {0.02, 0, 0, 0, 0.03, 0, 0, 0, 0.04}};
    rows[i].drive.armature = 0.1;
  }
  return rows;
}

class Singular : public ::testing::TestWithParam<test::Variant> {
 protected:
  static void expect_reported(const std::vector<DhJoint>& rows) {
    const Chain chain = Chain::from_dh(rows);
    const std::size_t n = rows.size();
    const Values q(n, 0.4), qd(n, 0.2), tau(n, 1.0);
    Values qdd(n, 0.0);
    Dynamics rigid = GetParam().make(chain);
    EXPECT_FALSE(rigid.forward_dynamics(q, qd, tau, qdd)) << "n = " << n;
    EXPECT_TRUE(all_nan(qdd)) << "n = " << n;
    Dynamics driven = GetParam().make(chain, Drives::kArmature);
    EXPECT_TRUE(driven.forward_dynamics(q, qd, tau, qdd)) << "armature helps, n = " << n;
  }
};

TEST_P(Singular, MasslessTipIsReported) {
  for (int n = 1; n <= kMostJoints; ++n) {
    std::vector<DhJoint> rows = arm(n);
    rows.back().body = {};
    expect_reported(rows);
    rows.back().type = JointType::kPrismatic;
    expect_reported(rows);
  }
}

TEST_P(Singular, PointMassOnTheAxisOfTheLastJointIsReported) {
  for (int n = 1; n <= kMostJoints; ++n) {
    std::vector<DhJoint> rows = arm(n);
    rows.back().body = {2, {0, 0, 0.1}, {}};
    expect_reported(rows);
  }
}

TEST_P(Singular, JointWithoutInertiaBetweenCoincidentAxesIsReported) {
  for (int n = 2; n <= kMostJoints; ++n) {
    for (std::size_t at = 1; at < static_cast<std::size_t>(n); ++at) {
      std::vector<DhJoint> rows = arm(n);
      rows[at - 1].body = {};  // nothing between this joint and the next, on the same axis
      rows[at].dh = {};
      expect_reported(rows);
    }
  }
}

TEST_P(Singular, NearlySingularIsSolvedUntilRoundingDecides) {
  // Two joints on one axis. With I behind the second and r I between them D is I [1+r 1; 1 1]:
  // q̈1 = (τ1 − τ2)/(r I), of which rounding leaves a relative error of about 1e-16/r.
  const double inertia = 0.05, tau1 = 0.3, tau2 = -0.2;
  for (const double ratio : {1e-1, 1e-3, 1e-6, 1e-9, 1e-12}) {
    std::vector<DhJoint> rows(2);
    rows[0].body = {0, {}, {0, 0, 0, 0, 0, 0, 0, 0, ratio * inertia}};
    rows[1].body = {0, {}, {0, 0, 0, 0, 0, 0, 0, 0, inertia}};
    Dynamics dynamics = GetParam().make(Chain::from_dh(rows));
    Values qdd(2);
    ASSERT_TRUE(dynamics.forward_dynamics(Values{0.2, 0.3}, Values{0, 0}, Values{tau1, tau2}, qdd))
        << ratio;
    EXPECT_NEAR(qdd[0] * ratio * inertia / (tau1 - tau2), 1, 1e-15 / ratio) << ratio;
  }
  for (const double ratio : {1e-17, 1e-30, 0.0}) {
    std::vector<DhJoint> rows(2);
    rows[0].body = {0, {}, {0, 0, 0, 0, 0, 0, 0, 0, ratio * inertia}};
    rows[1].body = {0, {}, {0, 0, 0, 0, 0, 0, 0, 0, inertia}};
    Dynamics dynamics = GetParam().make(Chain::from_dh(rows));
    Values qdd(2);
    EXPECT_FALSE(dynamics.forward_dynamics(Values{0.2, 0.3}, Values{0, 0}, Values{tau1, tau2}, qdd))
        << ratio;
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, NotFinite, ::testing::ValuesIn(test::variants()),
                         test::variant_test_name);
INSTANTIATE_TEST_SUITE_P(Methods, Singular, ::testing::ValuesIn(test::variants()),
                         test::variant_test_name);

}  // namespace
}  // namespace ga_dynamics
