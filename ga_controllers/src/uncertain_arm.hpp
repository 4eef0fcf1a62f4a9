// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__UNCERTAIN_ARM_HPP_
#define GA_CONTROLLERS__UNCERTAIN_ARM_HPP_

// A model and real arms around it. Inertia matrix and gravity are linear in masses, inertias and
// rotor inertias, so two descriptions, without and with payload, give all of them.
//
// Not real-time safe. Throws SingularInertia if the model's inertia matrix is singular, naming the
// joint.

#include <span>
#include <stdexcept>
#include <vector>

#include "ga_controllers/stability.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "loop_matrix.hpp"

namespace ga_controllers {

/// The arm has a joint that moves no inertia: its loop has no defined stability.
struct SingularInertia : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// One real arm.
struct RealArm {
  double payload = 0;            ///< share of the largest one
  double mass = 1;               ///< factor on the model's masses and inertias
  std::vector<double> armature;  ///< rotor inertias, kg m²
};

/// An extreme eigenvalue of M_real⁻¹ M_model.
struct InertiaRatio {
  double rho = 1;
  std::size_t joint = 0;  ///< with the largest share of its mode
};

class UncertainArm {
 public:
  UncertainArm(const ga_dynamics::Chain& model, const ga_dynamics::Chain& loaded);

  std::size_t size() const noexcept { return armature_.size(); }
  const std::vector<double>& armature() const noexcept { return armature_; }  ///< of the model

  InertiaRatio lowest(std::span<const double> q, const RealArm& real);
  InertiaRatio highest(std::span<const double> q, const RealArm& real);

  /// Small motions about rest at q. Without `gravity` the stiffness is zero.
  LinearPlant linearized(std::span<const double> q, const RealArm& real, double period,
                         bool gravity);
  /// Smallest eigenvalue [1/s²] of the static stiffness that gravity adds to Kp; negative where an
  /// error of gravity grows as the arm yields to it.
  double gravity_stiffness(std::span<const double> q, const RealArm& real);

 private:
  Matrix inertia(ga_dynamics::Dynamics& dynamics, std::span<const double> q) const;
  Matrix model_inertia(std::span<const double> q);
  Matrix real_inertia(std::span<const double> q, const RealArm& real);
  std::vector<double> real_gravity(std::span<const double> q, const RealArm& real);
  InertiaRatio extreme(std::span<const double> q, const RealArm& real, double sign);
  Matrix factor(const Matrix& inertia, std::span<const double> q) const;
  /// ∂/∂q of the law's and of the real arm's torque, at rest in equilibrium.
  struct Stiffness {
    Matrix model, real;
  };
  Stiffness stiffness(std::span<const double> q, const RealArm& real, const Matrix& lower);

  ga_dynamics::Dynamics rigid_, loaded_;
  std::vector<double> armature_;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__UNCERTAIN_ARM_HPP_
