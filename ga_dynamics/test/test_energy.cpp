// SPDX-License-Identifier: Apache-2.0

// A swing without friction keeps its energy: forward dynamics, energy and integration have to fit
// together.

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "ga_dynamics/dynamics.hpp"
#include "random_robot.hpp"
#include "worse.hpp"

namespace ga_dynamics {
namespace {

using Values = std::vector<double>;

/// Largest change of the total energy over a free fall of `seconds`, relative to the largest
/// kinetic energy.
double energy_drift(Dynamics& dynamics, Values q, Values qd, double seconds, double step) {
  const std::size_t n = q.size();
  const Values tau(n, 0.0);
  const auto total = [&](const MechanicalEnergy& e) { return e.kinetic + e.potential; };
  const double start = total(dynamics.energy(q, qd));
  double drift = 0, kinetic = 0;
  std::array<Values, 4> dq, dqd;
  Values at(n), rate(n), acceleration(n);
  const auto steps = static_cast<int>(seconds / step);
  for (int k = 0; k < steps; ++k) {
    // classical Runge–Kutta
    for (std::size_t stage = 0; stage < 4; ++stage) {
      const double part = stage == 0 ? 0 : stage == 3 ? step : step / 2;
      for (std::size_t i = 0; i < n; ++i) {
        at[i] = q[i] + (stage == 0 ? 0 : part * dq[stage - 1][i]);
        rate[i] = qd[i] + (stage == 0 ? 0 : part * dqd[stage - 1][i]);
      }
      EXPECT_TRUE(dynamics.forward_dynamics(at, rate, tau, acceleration));
      dq[stage] = rate;
      dqd[stage] = acceleration;
    }
    for (std::size_t i = 0; i < n; ++i) {
      q[i] += step / 6 * (dq[0][i] + 2 * dq[1][i] + 2 * dq[2][i] + dq[3][i]);
      qd[i] += step / 6 * (dqd[0][i] + 2 * dqd[1][i] + 2 * dqd[2][i] + dqd[3][i]);
    }
    const MechanicalEnergy e = dynamics.energy(q, qd);
    drift = test::worse(drift, std::abs(total(e) - start));
    kinetic = std::max(kinetic, e.kinetic);
  }
  return drift / kinetic;
}

TEST(Energy, KeptByASwingingPuma) {
  // Rotor inertia as on the real arm: without it the light wrist whirls faster than a fixed step
  // can follow.
  const Chain chain = Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf");
  for (const Method method :
       {Method::kTensor, Method::kVector, Method::kDalembert, Method::kMinimal}) {
    Dynamics dynamics(chain, {.method = method, .drives = Drives::kArmature});
    EXPECT_LT(energy_drift(dynamics, {0, 0.3, 0.5, 0.2, 0.4, 0}, {1, 0, -1, 2, 1, 3}, 5.0, 1e-3),
              1e-9);
  }
}

TEST(Energy, KeptByRandomChainsWithPrismaticJoints) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    const int n = 2 + static_cast<int>(seed) % 3;
    test::RandomRobot robot(n, 40 + seed);
    Dynamics dynamics(Chain::from_urdf_text(robot.urdf()));
    // Short: gravity accelerates free prismatic joints without end.
    EXPECT_LT(energy_drift(dynamics, robot.positions(n), robot.rates(n), 0.5, 1e-4), 1e-8)
        << "seed " << seed;
  }
}

TEST(Energy, KineticEnergyIsTheQuadraticFormOfTheInertia) {
  for (int n = 1; n <= 12; ++n) {
    test::RandomRobot robot(n, 90u + static_cast<unsigned>(n));
    Dynamics dynamics(Chain::from_urdf_text(robot.urdf()));
    const auto size = static_cast<std::size_t>(n);
    const Values q = robot.positions(n), qd = robot.rates(n);
    Values d(size * size);
    dynamics.inertia_matrix(q, d);
    double kinetic = 0;
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t k = 0; k < size; ++k) kinetic += 0.5 * d[i * size + k] * qd[i] * qd[k];
    }
    EXPECT_NEAR(dynamics.energy(q, qd).kinetic / kinetic, 1, 1e-12);
  }
}

TEST(Energy, GravityIsTheGradientOfThePotential) {
  for (int n = 1; n <= 12; ++n) {
    test::RandomRobot robot(n, 190u + static_cast<unsigned>(n));
    Dynamics dynamics(Chain::from_urdf_text(robot.urdf()));
    const Values q = robot.positions(n), rest(q.size(), 0.0);
    Values g(q.size());
    dynamics.gravity(q, g);
    for (std::size_t i = 0; i < q.size(); ++i) {
      Values more = q, less = q;
      more[i] += 1e-5, less[i] -= 1e-5;
      const double slope =
          (dynamics.energy(more, rest).potential - dynamics.energy(less, rest).potential) / 2e-5;
      EXPECT_NEAR(g[i], slope, 1e-6 * (1 + std::abs(slope)));
    }
  }
}

}  // namespace
}  // namespace ga_dynamics
