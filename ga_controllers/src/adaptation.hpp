// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__ADAPTATION_HPP_
#define GA_CONTROLLERS__ADAPTATION_HPP_

// Adaptation: estimates errors of the model while the arm moves, and corrects the model.
//
// Unknowns x, each with a standard deviation before the first motion (AdaptationParameters): masses,
// central inertias and centers of mass of the bodies, a payload at the tip link (a point mass),
// Coulomb friction, viscous friction and rotor inertia of the joints (model_unknowns.hpp). The torques
// are linear in them,
//   tau − tau_model = Y(q,qd,qdd) x,
// with the regressor Y of the bodies (ga_dynamics::Dynamics::regressor()) and of the drives. Both
// sides pass the same low-pass filter. A Kalman filter with constant x takes one equation per joint
// and sample.
//
// The accelerations are not measured: those of the closed loop are used, which lack what the
// disturbance estimate has not found yet. The variance of an equation grows with the tracking error.
//
// Guarded: an equation counts only if its joint moves, and only if it improves the estimate. Samples
// are dropped if a joint is saturated or latched, and if the law restarts. An equation that contradicts
// the estimate by more than kOutlier standard deviations is dropped; after several of them in a row,
// as in contact with an obstacle, the adaptation pauses. If it pauses again and again, the payload has
// changed, and its estimate becomes uncertain. Before it has converged, a contact force cannot be told
// from a payload: adaptation must be off for motions in contact.
//
// The work is spread over the cycles: in each one, the regressor of one body and one equation.

#include <span>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "model_unknowns.hpp"

namespace ga_controllers {

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception. Units:
/// rad, s, N m (m, N for prismatic joints).
class Adaptation {
 public:
  Adaptation(const ga_dynamics::Chain& chain, const LawParameters& parameters,
             std::span<const double> torque_limit);

  /// What the law knows about a cycle.
  struct Sample {
    std::span<const double> q, qd, qdd;  ///< state and acceleration of the closed loop
    std::span<const double> tau;         ///< N m, commanded
    std::span<const double> doubt;       ///< N m, by how much `qdd` may be wrong, as a torque
    bool valid = false;                  ///< false: drop the sample
  };
  /// Takes a cycle of dt [s].
  void take(const Sample& sample, double dt) noexcept;
  /// The payload that the law knows. What is known now is no longer unknown: the estimate gives it up.
  void set_payload(const ga_dynamics::Payload& payload) noexcept;
  /// The payload may have changed: its estimate becomes uncertain.
  void doubt_payload() noexcept;
  /// Drops samples that are in progress: the law or the state has changed.
  void interrupt() noexcept;
  /// Forgets the estimate. The model goes back to the description step by step, with use().
  void reset() noexcept;

  /// Chooses the model to use at q: the estimate, or the description. If the inertia of the estimated
  /// bodies differs from the description's by more than a factor of two about any direction of motion,
  /// a share of the estimate: beyond that the loop could become unstable if it were wrong.
  void choose(std::span<const double> q, bool described) noexcept;
  /// Moves the used model by a share of its distance from the chosen one, 0 … 1; takes that back.
  void use(double share) noexcept;
  void undo() noexcept;
  /// True if the used model is not the chosen one.
  bool differs() const noexcept { return chosen_ != used_; }
  /// The used model.
  std::span<const ga_dynamics::LinkInertia> bodies() const noexcept { return model_.bodies; }
  std::span<const double> armature() const noexcept { return model_.armature; }
  const ga_dynamics::Drive& drive(std::size_t joint) const noexcept { return model_.drives[joint]; }

  AdaptedModel estimate() const noexcept;

 private:
  bool keeps_inertia(std::span<const double> q) noexcept;
  void begin_sample() noexcept;
  void process_body(std::size_t body) noexcept;
  void finish_regressor() noexcept;
  void low_pass() noexcept;
  void process_joint(std::size_t joint) noexcept;
  void bound() noexcept;

  ga_dynamics::Chain chain_;
  ga_dynamics::Dynamics dynamics_;   ///< as described, with the known payload
  ga_dynamics::Dynamics candidate_;  ///< of keeps_inertia()
  std::vector<double> torque_limit_;
  double friction_velocity_;
  ModelUnknowns unknowns_;
  std::vector<BodyParameters> nominal_;  ///< of the described bodies, with the known payload
  std::vector<double> x_, chosen_, used_, before_;
  double share_ = 1;  ///< of the estimated bodies in the chosen model
  ga_dynamics::Payload known_ = {};
  std::vector<double> covariance_;                            ///< K·K
  std::vector<double> gain_;                                  ///< scratch
  std::vector<double> inertia_, candidate_inertia_, factor_;  ///< scratch of keeps_inertia()

  // The sample that is collected, the one whose regressor is computed, and the filtered one.
  std::vector<double> sum_, q_, qd_, qdd_, doubt_;  ///< integrals of torque, state and doubt
  double collected_ = 0;                            ///< s
  std::size_t phase_ = 0;
  bool valid_ = false;
  std::vector<double> mean_, next_q_, next_qd_, next_qdd_, next_doubt_;
  double period_ = 0;
  bool ready_ = false;
  std::vector<double> body_regressor_, y_, residual_;
  std::vector<double> filtered_y_, filtered_residual_, filtered_doubt_;
  std::vector<int> moving_;  ///< consecutive samples
  int filtered_samples_ = 0;
  std::vector<double> rate_;   ///< rad/s, of the filtered sample
  std::vector<int> outliers_;  ///< consecutive ones of each joint
  double pause_ = 0;           ///< s, left
  int pauses_ = 0;             ///< without agreement in between
  int agreed_ = 0;             ///< equations since the last one

  ModelUnknowns::Bodies model_;  ///< used or, within choose(), a candidate
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__ADAPTATION_HPP_
