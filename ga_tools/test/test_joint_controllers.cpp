// SPDX-License-Identifier: Apache-2.0
// The joint controllers for comparison: their tuning rule and their torques.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ga_dynamics/dynamics.hpp"
#include "ga_tools/closed_loop.hpp"
#include "study/demonstration.hpp"

namespace ga_tools {
namespace {

using ga_controllers::gains_from_bandwidth;
using ga_controllers::JointGains;
using ga_dynamics::Chain;

const Chain& puma() {
  static const auto chain = Chain::from_urdf_file(PUMA_URDF);
  return chain;
}

const std::vector<double> kPosture{0.2, -0.9, 1.1, 0.1, 0.5, 0};
constexpr double kRate = 1000;

JointControllerGains gains_at(const Chain& chain, const std::vector<double>& q,
                              double bandwidth = 40) {
  const std::vector<JointGains> gains(q.size(), gains_from_bandwidth(bandwidth, 1));
  const std::vector<std::vector<double>> postures{q};
  return joint_controller_gains(chain, gains, postures, kRate);
}

/// One update at rest at q, with a reference that is `error` behind in every joint.
std::vector<double> torque_of(LawUnderTest& law, const std::vector<double>& q, double error,
                              double dt = 1e-3) {
  std::vector<double> reference = q, rest(q.size()), tau(q.size());
  for (double& r : reference) r -= error;
  law.update(q, rest, {reference, rest, rest}, dt, tau);
  return tau;
}

TEST(JointControllers, GainsAreThoseOfTheLawsTimesTheJointsInertia) {
  const JointControllerGains g = gains_at(puma(), kPosture);
  std::vector<double> d(36);
  ga_dynamics::Dynamics(puma(), {.drives = ga_dynamics::Drives::kArmature})
      .inertia_matrix(kPosture, d);
  EXPECT_EQ(g.reduction, 1) << "the PUMA's rotors dominate: its joints are hardly coupled";
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(g.kp[i], 1600 * d[7 * i], 1e-9) << i;
    EXPECT_NEAR(g.kd[i], 80 * d[7 * i], 1e-9) << i;
    EXPECT_NEAR(g.ki[i], 16000 * d[7 * i], 1e-9) << i;
  }
}

TEST(JointControllers, FastCoupledModesReduceAllGainsByOneFactor) {
  const std::vector<double> q{0, -1, 1, 0.3, 0.5, 0};
  const JointControllerGains slow = gains_at(puma(), q, 40), fast = gains_at(puma(), q, 400);
  EXPECT_LT(fast.reduction, 0.5);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(fast.kp[i], 100 * fast.reduction * slow.kp[i], 1e-6) << i;
    EXPECT_NEAR(fast.kd[i], 10 * fast.reduction * slow.kd[i], 1e-6) << i;
    EXPECT_NEAR(fast.ki[i], 1000 * fast.reduction * slow.ki[i], 1e-3) << i;
  }
}

TEST(JointControllers, DifferByGravityAndByTheIntegral) {
  const JointControllerGains g = gains_at(puma(), kPosture);
  LawUnderTest pd = joint_controller(JointController::kPd, puma(), g);
  LawUnderTest with_gravity = joint_controller(JointController::kPdGravity, puma(), g);
  LawUnderTest pid = joint_controller(JointController::kPid, puma(), g);
  const std::vector<double> rest(6);
  for (LawUnderTest* law : {&pd, &with_gravity, &pid}) law->start(kPosture, rest);
  std::vector<double> gravity(6);
  ga_dynamics::Dynamics(puma()).gravity(kPosture, gravity);
  constexpr double kError = 1e-3;
  const auto tau_pd = torque_of(pd, kPosture, kError),
             tau_g = torque_of(with_gravity, kPosture, kError);
  const auto tau_1 = torque_of(pid, kPosture, kError), tau_2 = torque_of(pid, kPosture, kError);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(tau_pd[i], -kError * g.kp[i], 1e-9) << i;
    EXPECT_NEAR(tau_g[i], gravity[i] - kError * g.kp[i], 1e-9) << i;
    EXPECT_NEAR(tau_1[i], gravity[i] - kError * (g.kp[i] + 1e-3 * g.ki[i]), 1e-9) << i;
    EXPECT_NEAR(tau_2[i] - tau_1[i], -kError * 1e-3 * g.ki[i], 1e-9) << i;
  }
}

TEST(JointControllers, ThePidTakesOverTheTorqueThatHeldTheArm) {
  const std::vector<double> held{1, 2, 3, 4, 5, 6}, rest(6);
  LawUnderTest pid =
      joint_controller(JointController::kPid, puma(), gains_at(puma(), kPosture), held);
  pid.start(kPosture, rest);
  const auto tau = torque_of(pid, kPosture, 0);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(tau[i], held[i], 1e-12) << i;
}

TEST(JointControllers, ThePidDoesNotWindUpAtItsTorqueLimit) {
  LawUnderTest pid = joint_controller(JointController::kPid, puma(), gains_at(puma(), kPosture));
  const std::vector<double> rest(6);
  pid.start(kPosture, rest);
  const auto before = torque_of(pid, kPosture, 0);
  for (int k = 0; k < 1000; ++k) {
    const auto tau = torque_of(pid, kPosture, 0.5);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_DOUBLE_EQ(tau[i], -puma().joints()[i].limits.effort) << i;
    }
  }
  const auto after = torque_of(pid, kPosture, 0);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(after[i], before[i], 1e-9) << i;
  // An error the other way is integrated at once.
  EXPECT_GT(torque_of(pid, kPosture, -1e-3)[0], after[0]);
}

TEST(JointControllers, AReferenceWithoutRatesIsAtRest) {
  LawUnderTest pd = joint_controller(JointController::kPd, puma(), gains_at(puma(), kPosture));
  std::vector<double> tau(6), expected(6), rest(6), moving(6, 0.1);
  pd.update(kPosture, moving, {kPosture, {}, {}}, 1e-3, tau);
  pd.update(kPosture, moving, {kPosture, rest, rest}, 1e-3, expected);
  EXPECT_EQ(tau, expected);
  EXPECT_LT(tau[0], 0);
}

/// On arms without rotor inertia, too, the tuning rule gives controllers that work.
TEST(JointControllers, DoNotOscillateOnCoupledArms) {
  for (const char* robot : {"/ur10e.urdf", "/seven_joints.urdf", "/scara.urdf"}) {
    for (const double mismatch : {0.0, 0.2}) {
      DemonstrationOptions options;
      options.urdf = std::string(GA_ROBOTS) + robot;
      options.laws = {"pd-gravity", "pid"};
      options.settle_time = 2;
      options.disturbances.mismatch = mismatch;
      const Demonstration d = demonstrate(options, {});
      for (const LawResult& r : d.results) {
        EXPECT_TRUE(r.verdict->state != RunState::kOscillating)
            << robot << ' ' << r.id << ' ' << mismatch << ": " << describe(*r.verdict);
      }
    }
  }
}

}  // namespace
}  // namespace ga_tools
