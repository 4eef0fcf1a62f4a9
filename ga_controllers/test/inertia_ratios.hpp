// SPDX-License-Identifier: Apache-2.0
#ifndef INERTIA_RATIOS_HPP_
#define INERTIA_RATIOS_HPP_

// rho of stability.hpp by Eigen.

#include <Eigen/Eigenvalues>
#include <vector>

#include "ga_dynamics/dynamics.hpp"

namespace ga_controllers::test {

/// Eigenvalues of M_real⁻¹ M_model at q, in ascending order.
inline Eigen::VectorXd inertia_ratios(const ga_dynamics::Chain& model,
                                      const ga_dynamics::Chain& real,
                                      const std::vector<double>& q) {
  const auto n = static_cast<long>(q.size());
  Eigen::MatrixXd m(n, n), r(n, n);
  const ga_dynamics::DynamicsOptions armature{.drives = ga_dynamics::Drives::kArmature};
  ga_dynamics::Dynamics(model, armature)
      .inertia_matrix(q, {m.data(), static_cast<std::size_t>(n * n)});
  ga_dynamics::Dynamics(real, armature)
      .inertia_matrix(q, {r.data(), static_cast<std::size_t>(n * n)});
  return Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd>(m, r).eigenvalues();
}

}  // namespace ga_controllers::test

#endif  // INERTIA_RATIOS_HPP_
