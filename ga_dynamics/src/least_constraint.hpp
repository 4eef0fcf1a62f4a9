// SPDX-License-Identifier: Apache-2.0
#ifndef LEAST_CONSTRAINT_HPP_
#define LEAST_CONSTRAINT_HPP_

// Motion of joints that friction, brakes and stops restrain, by Gauss' principle of least
// constraint.
//
// A restrained joint is at rest or about to move, and its reaction r is bounded:
//
//   D x = load + r,   r_i ∈ [−against_positive, against_negative],
//   x_i > 0 ⇒ r_i = −against_positive,   x_i < 0 ⇒ r_i = against_negative.
//
// That is a linear complementarity problem with bounds. It has exactly one solution, the minimum of
//
//   ½ (x − x₀)ᵀ D (x − x₀) + Σ (against_positive·max(x_i, 0) + against_negative·max(−x_i, 0))
//
// with D x₀ = load. The same problem gives accelerations (load: torque, bounds: friction torques)
// and the velocities after an impact (load: momentum, bounds: friction impulses). For an impact xᵀD
// x = xᵀD x₀ − Σ … ≤ xᵀD x₀, and with Cauchy–Schwarz xᵀD x ≤ x₀ᵀD x₀: the kinetic energy does not
// increase (J. J. Moreau, "Unilateral contact and dry friction in finite freedom dynamics", CISM
// Courses 302, 1988).
//
// Solved by a primal active-set method: it ends after finitely many exchanges.

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace ga_dynamics {

/// Bounds of the reaction that restrains a joint, not negative. Both 0: the joint is free.
struct Restraint {
  static constexpr double kRigid = std::numeric_limits<double>::infinity();
  double against_positive = 0;
  double against_negative = 0;
};

/// Construction allocates; solve() is real-time safe and does not throw. One object per thread.
class LeastConstraint {
 public:
  explicit LeastConstraint(std::size_t n);

  /// `inertia`: n·n values, symmetric, positive definite. Restrained joints that stay at rest have
  /// x = 0 exactly. False if x is not finite (singular inertia matrix, a load that is not finite).
  bool solve(std::span<const double> inertia, std::span<const double> load,
             std::span<const Restraint> restraints, std::span<double> x) noexcept;

 private:
  enum class Motion { kFree, kHeld, kPositive, kNegative };

  bool solve_moving(std::span<const double> inertia, std::span<const double> load,
                    std::span<const Restraint> restraints) noexcept;
  bool hold_those_that_turn_back() noexcept;
  bool release_most_overloaded(std::span<const double> inertia, std::span<const double> load,
                               std::span<const Restraint> restraints) noexcept;

  std::size_t n_;
  std::vector<Motion> motion_;
  std::vector<double> point_;   ///< descends to the minimum
  std::vector<double> target_;  ///< minimum for the joints that move now
  std::vector<double> reduced_, right_;
  std::vector<std::size_t> moving_;  ///< the first count_ are the joints that move
  std::size_t count_ = 0;
};

}  // namespace ga_dynamics

#endif  // LEAST_CONSTRAINT_HPP_
