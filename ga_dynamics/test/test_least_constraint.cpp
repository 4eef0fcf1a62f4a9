// SPDX-License-Identifier: Apache-2.0

// Restrained joints: the one solution of the complementarity problem, against a search through all
// combinations of joints that move and joints that rest.

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>

#include "counting_allocator.hpp"
#include "ga_dynamics/algorithm/cholesky.hpp"
#include "least_constraint.hpp"

namespace ga_dynamics {
namespace {

using Values = std::vector<double>;

struct Problem {
  std::size_t n = 0;
  Values inertia, load;
  std::vector<Restraint> restraints;
};

Problem random_problem(std::size_t n, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  Problem p{n, Values(n * n), Values(n), std::vector<Restraint>(n)};
  Values factor(n * n);
  for (double& f : factor) f = normal(random);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t m = 0; m < n; ++m)
        p.inertia[i * n + k] += factor[i * n + m] * factor[k * n + m];
    }
    p.inertia[i * n + i] += 0.1;
    p.load[i] = normal(random);
    const auto bound = [&] {
      const double kind = uniform(random);
      return kind < 0.3 ? 0 : kind < 0.5 ? Restraint::kRigid : uniform(random);
    };
    p.restraints[i] = {bound(), bound()};
  }
  return p;
}

double row(const Problem& p, std::size_t i, const Values& x) {
  double sum = 0;
  for (std::size_t k = 0; k < p.n; ++k) sum += p.inertia[i * p.n + k] * x[k];
  return sum;
}

/// Every joint rests, moves up or moves down: the combination that contradicts nothing.
std::optional<Values> searched(const Problem& p) {
  std::size_t combinations = 1;
  for (std::size_t i = 0; i < p.n; ++i) combinations *= 3;
  for (std::size_t c = 0; c < combinations; ++c) {
    std::vector<int> motion(p.n);
    std::vector<std::size_t> moving;
    std::size_t rest = c;
    bool possible = true;
    for (std::size_t i = 0; i < p.n; ++i, rest /= 3) {
      motion[i] = static_cast<int>(rest % 3) - 1;
      const Restraint& r = p.restraints[i];
      possible = possible && !(motion[i] > 0 && std::isinf(r.against_positive)) &&
                 !(motion[i] < 0 && std::isinf(r.against_negative));
      if (motion[i] != 0) moving.push_back(i);
    }
    if (!possible) continue;
    Values reduced(moving.size() * moving.size()), right(moving.size()), x(p.n);
    for (std::size_t a = 0; a < moving.size(); ++a) {
      const std::size_t i = moving[a];
      for (std::size_t b = 0; b < moving.size(); ++b) {
        reduced[a * moving.size() + b] = p.inertia[i * p.n + moving[b]];
      }
      right[a] = p.load[i] + (motion[i] > 0 ? -p.restraints[i].against_positive
                                            : p.restraints[i].against_negative);
    }
    detail::cholesky_solve<0>(static_cast<int>(moving.size()), reduced.data(), right.data());
    for (std::size_t a = 0; a < moving.size(); ++a) x[moving[a]] = right[a];
    for (std::size_t i = 0; i < p.n; ++i) {
      const double reaction = row(p, i, x) - p.load[i];
      possible = possible && x[i] * motion[i] >= 0 &&
                 (motion[i] != 0 || (reaction >= -p.restraints[i].against_positive &&
                                     reaction <= p.restraints[i].against_negative));
    }
    if (possible) return x;
  }
  return std::nullopt;
}

TEST(LeastConstraint, FindsTheOneSolution) {
  std::mt19937 random(1);
  int held = 0, moved = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const auto n = static_cast<std::size_t>(1 + trial % 5);
    const Problem p = random_problem(n, random);
    Values x(n, 99.0);
    LeastConstraint solver(n);
    ASSERT_TRUE(solver.solve(p.inertia, p.load, p.restraints, x));
    const auto expected = searched(p);
    ASSERT_TRUE(expected) << "trial " << trial;
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_NEAR(x[i], (*expected)[i], 1e-9) << "trial " << trial << ", joint " << i;
      ++((*expected)[i] == 0 ? held : moved);
      ASSERT_EQ(x[i] == 0, (*expected)[i] == 0) << "at rest to the last bit";
    }
  }
  EXPECT_GT(held, 1000);
  EXPECT_GT(moved, 1000);
}

TEST(LeastConstraint, KeepsEveryBoundAndDoesNotGainEnergyForManyJoints) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 300; ++trial) {
    const auto n = static_cast<std::size_t>(6 + trial % 25);
    Problem p = random_problem(n, random);
    Values before(n), x(n);
    for (double& v : before) v = normal(random);
    for (std::size_t i = 0; i < n; ++i) p.load[i] = row(p, i, before);
    LeastConstraint solver(n);
    ASSERT_TRUE(solver.solve(p.inertia, p.load, p.restraints, x));
    double energy = 0, energy_before = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Restraint& r = p.restraints[i];
      const double reaction = row(p, i, x) - p.load[i], slack = 1e-8 * (1 + std::abs(p.load[i]));
      EXPECT_GE(reaction, -r.against_positive - slack);
      EXPECT_LE(reaction, r.against_negative + slack);
      if (x[i] > 0) {
        EXPECT_NEAR(reaction, -r.against_positive, slack);
      }
      if (x[i] < 0) {
        EXPECT_NEAR(reaction, r.against_negative, slack);
      }
      energy += x[i] * row(p, i, x);
      energy_before += before[i] * p.load[i];
    }
    EXPECT_LE(energy, energy_before * (1 + 1e-12));
  }
}

TEST(LeastConstraint, ReportsASingularInertia) {
  LeastConstraint solver(2);
  Values x(2);
  EXPECT_FALSE(solver.solve(Values{1, 1, 1, 1}, Values{1, 2}, std::vector<Restraint>(2), x));
  EXPECT_TRUE(solver.solve(Values{1, 1, 1, 1}, Values{1, 2},
                           std::vector<Restraint>{{Restraint::kRigid, Restraint::kRigid}, {}}, x))
      << "of the joints that can move";
  EXPECT_EQ(x, (Values{0, 2}));
}

TEST(LeastConstraint, AllocatesNothing) {
  std::mt19937 random(3);
  const Problem p = random_problem(12, random);
  LeastConstraint solver(12);
  Values x(12);
  const long before = test::allocations();
  solver.solve(p.inertia, p.load, p.restraints, x);
  EXPECT_EQ(test::allocations(), before);
}

}  // namespace
}  // namespace ga_dynamics
