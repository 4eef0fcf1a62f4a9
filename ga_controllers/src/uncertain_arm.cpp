// SPDX-License-Identifier: Apache-2.0
#include "uncertain_arm.hpp"

#include <cmath>
#include <sstream>
#include <string>

namespace ga_controllers {

using ga_dynamics::Chain;
using ga_dynamics::Dynamics;

UncertainArm::UncertainArm(const Chain& model, const Chain& loaded)
    : rigid_(model), loaded_(loaded) {
  for (const auto& joint : model.joints()) armature_.push_back(joint.drive.armature);
}

Matrix UncertainArm::inertia(Dynamics& dynamics, std::span<const double> q) const {
  Matrix result(size());
  dynamics.inertia_matrix(q, result.values);
  return result;
}

Matrix UncertainArm::model_inertia(std::span<const double> q) {
  Matrix result = inertia(rigid_, q);
  for (std::size_t i = 0; i < size(); ++i) result(i, i) += armature_[i];
  return result;
}

Matrix UncertainArm::real_inertia(std::span<const double> q, const RealArm& real) {
  Matrix result = (real.mass - real.payload) * inertia(rigid_, q);
  if (real.payload > 0) result = result + real.payload * inertia(loaded_, q);
  for (std::size_t i = 0; i < size(); ++i) result(i, i) += real.armature[i];
  return result;
}

std::vector<double> UncertainArm::real_gravity(std::span<const double> q, const RealArm& real) {
  std::vector<double> own(size()), loaded(size());
  rigid_.gravity(q, own);
  loaded_.gravity(q, loaded);
  for (std::size_t i = 0; i < size(); ++i)
    own[i] = (real.mass - real.payload) * own[i] + real.payload * loaded[i];
  return own;
}

Matrix UncertainArm::factor(const Matrix& inertia, std::span<const double> q) const {
  Matrix lower(size());
  const std::size_t bad = cholesky(inertia, lower);
  if (bad == size()) return lower;
  std::ostringstream text;
  text << "arm stability: joint '" << rigid_.chain().joints()[bad].name
       << "' moves no inertia at q = [";
  for (std::size_t i = 0; i < q.size(); ++i) text << (i > 0 ? ", " : "") << q[i];
  text << "]; give its link an inertia, or the joint its rotor inertia (parameter armature)";
  throw SingularInertia(text.str());
}

// M_model x = rho M_real x; with M_real = L Lᵀ, rho are the eigenvalues of L⁻¹ M_model L⁻ᵀ.
InertiaRatio UncertainArm::extreme(std::span<const double> q, const RealArm& real, double sign) {
  const Matrix model = model_inertia(q);
  factor(model, q);
  const Matrix lower = factor(real_inertia(q, real), q);
  const SymmetricEigen modes =
      symmetric_eigen(solve_lower(lower, transposed(solve_lower(lower, model))));
  std::size_t best = 0;
  for (std::size_t i = 1; i < size(); ++i) {
    if (sign * modes.values[i] > sign * modes.values[best]) best = i;
  }
  const Matrix shapes = solve_lower_transposed(lower, modes.vectors), forces = model * shapes;
  InertiaRatio result{.rho = modes.values[best], .joint = 0};
  const auto share = [&](std::size_t i) { return shapes(i, best) * forces(i, best); };
  for (std::size_t i = 1; i < size(); ++i) {
    if (share(i) > share(result.joint)) result.joint = i;
  }
  return result;
}

InertiaRatio UncertainArm::lowest(std::span<const double> q, const RealArm& real) {
  return extreme(q, real, -1);
}

InertiaRatio UncertainArm::highest(std::span<const double> q, const RealArm& real) {
  return extreme(q, real, 1);
}

// In equilibrium the law commands the acceleration u with ID(q, 0, u) = G_real(q).
UncertainArm::Stiffness UncertainArm::stiffness(std::span<const double> q, const RealArm& real,
                                                const Matrix& lower) {
  const std::size_t n = size();
  constexpr double kStep = 1e-5;  // rad; central differences
  std::vector<double> at(q.begin(), q.end()), rest(n), gravity(n), torque(n);
  rigid_.gravity(q, gravity);
  const std::vector<double> wanted = real_gravity(q, real);
  Matrix error(n);
  for (std::size_t i = 0; i < n; ++i) error(i, 0) = wanted[i] - gravity[i];
  const Matrix solution = solve_lower_transposed(lower, solve_lower(lower, error));
  std::vector<double> u(n);
  for (std::size_t i = 0; i < n; ++i) u[i] = solution(i, 0);
  Stiffness result{Matrix(n), Matrix(n)};
  for (std::size_t j = 0; j < n; ++j) {
    for (const double sign : {1.0, -1.0}) {
      at[j] = q[j] + sign * kStep;
      rigid_.inverse_dynamics(at, rest, u, torque);
      const std::vector<double> weight = real_gravity(at, real);
      for (std::size_t i = 0; i < n; ++i) {
        result.model(i, j) += sign * torque[i] / (2 * kStep);
        result.real(i, j) += sign * weight[i] / (2 * kStep);
      }
    }
    at[j] = q[j];
  }
  return result;
}

LinearPlant UncertainArm::linearized(std::span<const double> q, const RealArm& real, double period,
                                     bool gravity) {
  const std::size_t n = size();
  const Matrix model = model_inertia(q), lower = factor(model, q);
  const Matrix real_lower = factor(real_inertia(q, real), q);
  const auto solve = [](const Matrix& l, const Matrix& b) {
    return solve_lower_transposed(l, solve_lower(l, b));
  };
  LinearPlant plant{solve(real_lower, model), Matrix(n), Matrix(n)};
  if (!gravity) return plant;
  const Stiffness k = stiffness(q, real, lower);
  plant.model_stiffness = period * period * solve(lower, k.model);
  plant.stiffness = period * period * solve(real_lower, k.real);
  return plant;
}

double UncertainArm::gravity_stiffness(std::span<const double> q, const RealArm& real) {
  const Matrix lower = factor(model_inertia(q), q);
  const Stiffness k = stiffness(q, real, lower);
  const Matrix sum = k.real - k.model;
  const Matrix symmetric = 0.5 * (sum + transposed(sum));
  const SymmetricEigen modes =
      symmetric_eigen(solve_lower(lower, transposed(solve_lower(lower, symmetric))));
  double smallest = modes.values[0];
  for (const double value : modes.values) smallest = std::min(smallest, value);
  return smallest;
}

}  // namespace ga_controllers
