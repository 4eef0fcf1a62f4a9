// SPDX-License-Identifier: Apache-2.0

// Infeasible references and the governed ones. The arm is the SCARA; its shoulder turns by ±2.2 rad
// with at most 6 rad/s and 120 N m.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference_governor.hpp"

namespace {

using ga_controllers::LimitViolation;
using ga_controllers::ReferenceGovernor;
using ga_dynamics::Chain;
using Reason = LimitViolation::Reason;
using Values = std::vector<double>;

constexpr double kDt = 1e-3;

/// Quintic polynomial from rest to rest.
struct Quintic {
  double from, to, duration;
  void at(double t, double& q, double& qd, double& qdd) const {
    const double s = std::min(t / duration, 1.0), way = to - from;
    q = from + way * s * s * s * (10 - 15 * s + 6 * s * s);
    qd = way * 30 * s * s * (1 - s) * (1 - s) / duration;
    qdd = way * 60 * s * (1 - 3 * s + 2 * s * s) / (duration * duration);
  }
};

struct Seen {
  double furthest = 0, fastest = 0, strongest = 0, step = 0, own_step = 0, last = 0, deviation = 0;
  int left = 0, outside = 0, too_fast = 0;
};

class GovernorTest : public ::testing::Test {
 protected:
  GovernorTest() {
    for (const auto& joint : chain_.joints()) limit_.push_back(joint.limits.effort);
    ga_dynamics::Dynamics dynamics(chain_, {.drives = ga_dynamics::Drives::kArmature});
    Values inertia(16);
    dynamics.inertia_matrix(rest_, inertia);
    strength_ = limit_[0] / inertia[0];
  }
  /// Moves the shoulder and then waits.
  Seen move(const Quintic& motion) {
    ReferenceGovernor governor(chain_, limit_);
    Seen seen;
    Values q = rest_, qd(4), qdd(4), measured = rest_, at_rest(4);
    measured[0] = motion.from;
    governor.begin(measured, at_rest, at_rest);
    double before = 0, asked_before = 0;
    for (int k = 0; k * kDt < motion.duration + 3; ++k) {
      motion.at(k * kDt, q[0], qd[0], qdd[0]);
      const double asked = q[0], asked_qdd = qdd[0];
      const auto result = governor.govern(measured, kDt, {q, qd, qdd});
      seen.outside += result.reason == Reason::kOutside;
      seen.too_fast += result.reason == Reason::kTooFast;
      seen.left += q[0] != asked;
      seen.deviation = std::max(seen.deviation, std::abs(q[0] - asked));
      seen.furthest = std::max(seen.furthest, std::abs(q[0]));
      seen.fastest = std::max(seen.fastest, std::abs(qd[0]));
      seen.strongest = std::max(seen.strongest, std::abs(qdd[0]) / strength_);
      const double step = std::abs(qdd[0] - before) / strength_;
      seen.step = std::max(seen.step, step);
      // Steps of the reference itself are not due to the governor.
      seen.own_step = std::max(seen.own_step, step - std::abs(asked_qdd - asked_before) /
                                                         strength_ * (q[0] == asked ? 1.0 : 0.0));
      before = qdd[0];
      asked_before = asked_qdd;
    }
    seen.last = q[0];
    return seen;
  }

  Chain chain_ = Chain::from_urdf_file(std::string(GA_ROBOTS) + "/scara.urdf");
  const Values rest_{0, 0, 0.1, 0};
  Values limit_;
  double strength_ = 0;
};

TEST_F(GovernorTest, PassesAFeasibleReferenceUnchanged) {
  for (const Quintic& motion : {Quintic{0, 2.2, 1.2}, Quintic{-2.2, 2.2, 1.6}, Quintic{1, 1, 1}}) {
    const Seen seen = move(motion);
    EXPECT_EQ(seen.left, 0);
    EXPECT_EQ(seen.outside + seen.too_fast, 0);
  }
}

TEST_F(GovernorTest, JudgesAccelerationsByTheInertiaWhereTheArmIs) {
  ga_dynamics::Dynamics dynamics(chain_, {.drives = ga_dynamics::Drives::kArmature});
  const auto strength = [&](const Values& q) {
    Values inertia(16);
    dynamics.inertia_matrix(q, inertia);
    return limit_[0] / inertia[0];
  };
  const Values folded{0, 2.5, 0.1, 0};
  ASSERT_GT(strength(folded), 1.3 * strength_);
  ReferenceGovernor governor(chain_, limit_);
  const Values at_rest(4);
  const auto reason = [&](const Values& q, double acceleration) {
    Values q_ref = q, qd(4), qdd{acceleration, 0, 0, 0};
    governor.begin(q, at_rest, at_rest);
    return governor.govern(q, kDt, {q_ref, qd, qdd}).reason;
  };
  const double between = 1.15 * strength_;
  EXPECT_EQ(reason(rest_, between), Reason::kTooFast);
  EXPECT_EQ(reason(folded, between), Reason::kNone);
  EXPECT_EQ(reason(rest_, between), Reason::kTooFast);
  EXPECT_EQ(reason(rest_, 0.9 * strength_), Reason::kNone);
  // A payload counts within a few cycles, also at rest.
  ga_dynamics::Payload heavy;
  heavy.mass = 20;
  governor.set_payload(heavy);
  dynamics.set_payload(heavy);
  const double less = 0.9 * strength_;
  ASSERT_LT(strength(rest_), 0.8 * less);
  for (int k = 0; k < 20; ++k) reason(rest_, 0);
  EXPECT_EQ(reason(rest_, less), Reason::kTooFast);
}

TEST_F(GovernorTest, BrakesAheadOfThePositionLimit) {
  for (const double to : {2.21, 2.25, 2.5, 3.5, 10.0}) {
    for (const double duration : {0.4, 0.8, 1.5, 4.0}) {
      for (const double side : {1.0, -1.0}) {
        const Seen seen = move({0, side * to, duration});
        EXPECT_LT(seen.furthest, 2.2 + 1e-4) << to << " in " << duration;
        EXPECT_NEAR(seen.last, side * 2.2, 1e-3);
        EXPECT_GT(seen.outside, 0);
      }
    }
  }
}

TEST_F(GovernorTest, KeepsBelowVelocityLimitAndTorqueAndArrives) {
  const Seen seen = move({0, 2, 0.1});  // 37 rad/s, 1150 rad/s²
  EXPECT_GT(seen.too_fast, 0);
  EXPECT_LT(seen.fastest, 1.1 * 6);
  EXPECT_LT(seen.strongest, 1.0);
  EXPECT_LT(seen.furthest, 2.02);
  EXPECT_NEAR(seen.last, 2, 1e-6);
}

TEST_F(GovernorTest, StepsNoTorqueByMoreThanAPercent) {
  for (const Quintic& motion : {Quintic{0, 3.5, 1.5}, Quintic{0, 10, 4.0}, Quintic{0, 2.25, 1.5}}) {
    const Seen seen = move(motion);
    EXPECT_GT(seen.left, 0);
    EXPECT_LT(seen.step, 0.01);
  }
}

TEST_F(GovernorTest, DoesNotJumpWithItsReference) {
  const Seen seen = move({0, 2, 1e-6});
  EXPECT_LT(seen.fastest, 1.02 * 6);
  EXPECT_LT(seen.step, 0.01);
  EXPECT_LT(seen.furthest, 2.01);
  EXPECT_NEAR(seen.last, 2, 1e-6);
}

TEST_F(GovernorTest, OverridesAndCatchesUpWithoutAStep) {
  // From gentle to far too fast: it is overridden at any acceleration up to the torque limit.
  for (const double to : {0.5, 1.0, 2.0}) {
    for (double duration = 0.1; duration < 0.85; duration += 0.05) {
      const Seen seen = move({0, to, duration});
      EXPECT_LT(seen.own_step, 0.0101) << to << " rad in " << duration << " s";
      EXPECT_NEAR(seen.last, to, 1e-6);
    }
  }
}

TEST_F(GovernorTest, UnconfirmedAccelerationsAreNotContinued) {
  // A resting reference with spurious accelerations, then one that is too large: the governed
  // reference must not continue with the last of them.
  for (const double before : {-0.9, 0.5, 0.99}) {
    ReferenceGovernor governor(chain_, limit_);
    const Values at_rest(4);
    governor.begin(rest_, at_rest, at_rest);
    double furthest = 0;
    for (int k = 0; k < 2000; ++k) {
      Values q = rest_, qd(4), qdd(4);
      if (k < 20) qdd[0] = before * strength_;
      if (k == 20) qdd[0] = 1.5 * strength_;
      governor.govern(rest_, kDt, {q, qd, qdd});
      furthest = std::max(furthest, std::abs(q[0] - rest_[0]));
    }
    EXPECT_LT(furthest, 0.01) << before;
  }
}

TEST_F(GovernorTest, BeginsAtTheGivenState) {
  ReferenceGovernor governor(chain_, limit_);
  const Values at_rest(4), followed{0.5, 0, 0.1, 0}, moving{0.4, 0, 0, 0};
  governor.begin(followed, moving, at_rest);
  Values q{1.5, 0, 0.1, 0}, qd(4), qdd(4);
  EXPECT_EQ(governor.govern(rest_, kDt, {q, qd, qdd}).reason, Reason::kTooFast);
  EXPECT_NEAR(q[0], 0.5 + 0.4 * kDt, 1e-5);
  EXPECT_NEAR(qd[0], 0.4, 0.01 * strength_ * kDt + 1e-3);
}

TEST_F(GovernorTest, BringsAJointFromOutsideBackToItsLimit) {
  ReferenceGovernor governor(chain_, limit_);
  const Values measured{2.3, 0, 0.1, 0}, at_rest(4);
  Values q(4);
  for (int k = 0; k < 3000; ++k) {
    q = {2.3, 0, 0.1, 0};
    Values qd(4), qdd(4);
    governor.govern(measured, kDt, {q, qd, qdd});
    EXPECT_LT(q[0], 2.3 + 1e-9);
  }
  EXPECT_NEAR(q[0], 2.2, 1e-3);
}

TEST_F(GovernorTest, AStateThatIsNotFiniteDoesNotLast) {
  // Without an inertia there is no acceleration to follow with. A joint that is overridden in such a
  // cycle must find its way back.
  ReferenceGovernor governor(chain_, limit_);
  const Values unknown(4, NAN), at_rest(4);
  Values q, qd, qdd;
  const auto cycle = [&](double goal, const Values& measured) {
    q = rest_, qd = qdd = at_rest;
    q[0] = goal;
    governor.govern(measured, kDt, {q, qd, qdd});
  };
  cycle(0, rest_);
  cycle(1, rest_);  // a jump, overridden
  ASSERT_NE(q[0], 1);
  cycle(1, unknown);
  for (int k = 0; k < 3000; ++k) cycle(1, rest_);
  EXPECT_NEAR(q[0], 1, 1e-9);
}

/// The SCARA with soft limits of its shoulder at ±2 rad; the hard ones are at ±2.2 rad.
Chain soft_scara(const Chain& chain) {
  std::vector<ga_dynamics::DhJoint> rows;
  for (const auto& joint : chain.joints())
    rows.push_back({joint.type, joint.dh, joint.body, joint.drive, joint.limits, joint.name});
  rows[0].limits.soft_lower = -2;
  rows[0].limits.soft_upper = 2;
  return Chain::from_dh(rows);
}

TEST_F(GovernorTest, TheReferenceStaysWithinTheSoftLimits) {
  chain_ = soft_scara(chain_);
  for (const double goal : {2.1, 2.5, -2.1, -4.0}) {
    const Seen seen = move({0, goal, 3});
    EXPECT_LT(seen.furthest, 2 + 1e-4) << goal;
    EXPECT_NEAR(std::abs(seen.last), 2, 1e-3) << goal;
    EXPECT_GT(seen.outside, 0) << goal;
  }
}

TEST_F(GovernorTest, AnArmBeyondASoftLimitStaysAndMovesOnlyInward) {
  chain_ = soft_scara(chain_);
  ReferenceGovernor governor(chain_, limit_);
  Values q = rest_, qd(4), qdd(4);
  const Values at_rest(4);
  q[0] = 2.1;
  governor.begin(q, at_rest, at_rest);
  const auto follow = [&](double goal, int cycles) {
    for (int k = 0; k < cycles; ++k) {
      q[0] = goal;
      qd = qdd = at_rest;
      governor.govern(rest_, kDt, {q, qd, qdd});
    }
    return q[0];
  };
  EXPECT_EQ(follow(2.1, 1000), 2.1) << "it may stay";
  EXPECT_NEAR(follow(2.2, 3000), 2.1, 1e-6) << "not farther out";
  EXPECT_NEAR(follow(2.05, 3000), 2.05, 1e-6);
  EXPECT_NEAR(follow(2.1, 3000), 2.05, 1e-6) << "nor back out";
  EXPECT_NEAR(follow(1, 6000), 1, 1e-6);
  EXPECT_NEAR(follow(2.1, 6000), 2, 1e-6) << "inside, the soft limit counts again";
}

}  // namespace
