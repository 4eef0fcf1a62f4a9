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
// Guarded: an equation counts only if its joint moves. Samples
// are dropped if a joint is latched, while a payload is blended, and if the law restarts. An equation that contradicts
// the estimate by more than kOutlier standard deviations is dropped; after several of them in a row,
// as in contact with an obstacle, the adaptation pauses. If it pauses again and again, the payload has
// changed, and its estimate becomes uncertain. If that does not help, the estimate is wrong: a contact
// was taken for a property of the arm. It is forgotten. If even the description contradicts the torques,
// as friction does that is far from what the deviations allow, the equations of the joint count less.
// Before it has converged, a contact force cannot be told from a payload: adaptation must be off for
// motions in contact.
//
// Until its deviation has fallen, an estimated payload may be anything: the law goes on with the last
// one that was known, and a pause forgets the other.
//
// The work is spread over the cycles: the regressor of a body and the equation of a joint in turn.

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
  /// Takes a cycle of dt [s]. True if it did a part of the work: in two of three cycles at 1 kHz.
  bool take(const Sample& sample, double dt) noexcept;
  /// The payload that the law knows. What is known now is no longer unknown: the estimate gives it up.
  void set_payload(const ga_dynamics::Payload& payload) noexcept;
  /// The payload may have changed: its estimate becomes uncertain.
  void doubt_payload() noexcept;
  /// Drops samples that are in progress: the law or the state has changed.
  void interrupt() noexcept;
  /// Forgets the payload, or all.
  void forget_payload() noexcept;
  void reset() noexcept;

  const ModelUnknowns& unknowns() const noexcept { return unknowns_; }
  /// The estimate, in the order of unknowns().
  std::span<const double> values() const noexcept { return known_x_; }
  /// True if all equations have agreed with the estimate for a while, from accelerations that are
  /// known well: no contact, no oscillation, no change of the payload.
  bool trusted() const noexcept { return trust_ >= kTrusted; }
  AdaptedModel estimate() const noexcept;

 private:
  static constexpr int kTrusted = 8;  ///< equations
  void begin_sample() noexcept;
  void process(std::size_t part) noexcept;
  void process_body(std::size_t body) noexcept;
  void finish_regressor() noexcept;
  void low_pass() noexcept;
  void process_joint(std::size_t joint) noexcept;
  void contradict(std::size_t joint) noexcept;
  void agree() noexcept;
  bool payload_known() const noexcept;
  bool of_payload(std::size_t k) const noexcept {
    return unknowns_.is_payload_mass(k) || unknowns_.is_payload_moment(k);
  }
  void doubt_payload_again() noexcept;
  void forget() noexcept;
  void publish() noexcept;
  void bound() noexcept;

  ga_dynamics::Chain chain_;
  ga_dynamics::Dynamics dynamics_;  ///< for the regressor
  std::vector<double> torque_limit_;
  double friction_velocity_;
  ModelUnknowns unknowns_;
  std::vector<BodyParameters> nominal_;  ///< of the described bodies, with the known payload
  std::vector<double> x_;
  std::vector<double> known_x_;  ///< with the last payload that was known
  ga_dynamics::Payload known_ = {};
  std::vector<double> covariance_;  ///< K·K
  std::vector<double> gain_;        ///< scratch

  // The sample that is collected, the one whose regressor is computed, and the filtered one.
  std::vector<double> sum_, q_, qd_, qdd_, doubt_;  ///< integrals of torque, state and doubt
  double collected_ = 0;                            ///< s
  std::size_t phase_ = 0;                           ///< part of the work
  double waited_ = 0;                               ///< s, since the last part
  bool valid_ = false;
  std::vector<double> mean_, next_q_, next_qd_, next_qdd_, next_doubt_;
  double period_ = 0;
  bool ready_ = false;
  std::vector<double> body_regressor_, y_, residual_;
  std::vector<double> filtered_y_, filtered_residual_, filtered_doubt_;
  std::vector<int> moving_;  ///< consecutive samples
  int filtered_samples_ = 0;
  std::vector<int> outliers_;  ///< consecutive ones of each joint
  double pause_ = 0;           ///< s, left
  int pauses_ = 0;             ///< less those that agreement has made up for
  int agreed_ = 0;             ///< equations since the last one
  std::vector<double>
      noise_;      ///< of each joint, on that of an arm that is what the deviations allow
  int trust_ = 0;  ///< equations that agree
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__ADAPTATION_HPP_
