// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__MODEL_CORRECTION_HPP_
#define GA_CONTROLLERS__MODEL_CORRECTION_HPP_

// Corrects the model of a law by what the adaptation has found:
//   tau = D(q) v + C(q,qd) + G(q) + Δ(q_ref,qd_ref,qdd_ref) + s (D' − D) (v − qdd_ref),
// with the described model D, C, G, the estimated one D', C', G', and the difference Δ of their torques
// at the reference. What is evaluated at the reference is feed-forward: it cannot make the loop unstable,
// whatever the estimate is. A wrong one costs accuracy. It is bounded: D' and D differ by at most a
// factor of three about any direction of motion, and Δ is at most half of a torque limit.
//
// The inertia of the feedback, D + s (D' − D), is the gain of the loop, which check_law() has checked for
// D. It stays within a factor inertia_ratio of D in both directions, and s rises only while the estimate
// is trusted (Adaptation::trusted()). In contact, after a load has been dropped and when the loop
// oscillates, it returns to 0 within some 0.1 s, and the loop is the checked one again.
//
// It costs the inverse dynamics of both models at the reference; the matrix is updated every few cycles.
//
// Bumpless: the disturbance estimate takes over every change of the torque. What a law does not
// subtract of the estimate changes the torque, by a little at a time. The work is spread over the
// cycles. Laws that do not track velocities (hand guiding, gravity compensation, point to point) use
// the description.

#include <span>
#include <vector>

#include "adaptation.hpp"
#include "cycle.hpp"
#include "followed_reference.hpp"
#include "friction_feedforward.hpp"
#include "law_parameters.hpp"
#include "measured_arm.hpp"
#include "payload_blend.hpp"
#include "rest_latch.hpp"
#include "state_observer.hpp"

namespace ga_controllers {

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception.
class ModelCorrection {
 public:
  ModelCorrection(const ga_dynamics::Chain& chain, const LawParameters& parameters,
                  std::span<const double> torque_limit);

  /// The law starts with this known payload. `last_torque`: N m, what drove the arm before. Where it
  /// does not confirm the estimated payload, that is forgotten: it may have been released meanwhile.
  void start(const ga_dynamics::Payload& payload, std::span<const double> last_torque,
             MeasuredArm& arm) noexcept;
  void set_payload(const ga_dynamics::Payload& payload) noexcept;

  /// The torque of the commanded acceleration v, in laws that track velocities. `reference`: the
  /// followed one, whose acceleration is a part of v.
  void torque(const Cycle& cycle, std::span<const double> v, const Motion& reference,
              MeasuredArm& arm, std::span<double> tau) noexcept;
  /// At a change, before the torque: the feedback uses the description, and friction is that for the law.
  void restart(const LawSetting& setting, MeasuredArm& arm, FrictionFeedforward& friction) noexcept;

  /// The parts of the law.
  struct Law {
    const LawSetting& setting;
    MeasuredArm& arm;
    FollowedReference& reference;
    FrictionFeedforward& friction;
    StateObserver& observer;
    const RestLatch& latch;
    PayloadBlend& payload;
  };
  /// What the law has computed in this cycle.
  struct Command {
    std::span<const double> tau;         ///< N m
    std::span<const double> v;           ///< rad/s², its acceleration
    std::span<const double> subtracted;  ///< rad/s², the most of the estimate that it subtracts
    bool observed;                       ///< the observer has settled
  };
  /// After the torque of a cycle.
  void advance(const Cycle& cycle, const Command& command, const Law& law) noexcept;

  Adaptation& estimator() noexcept { return estimator_; }
  const Adaptation& estimator() const noexcept { return estimator_; }
  ga_dynamics::Dynamics& dynamics() noexcept { return used_.dynamics; }

 private:
  /// Steps of a correction, one per cycle.
  enum class Step { kWait, kMake, kInertia, kLimit, kShare, kUse };
  struct Model {
    Model(const ga_dynamics::Chain& chain, std::size_t unknowns);
    std::vector<double> x;
    ga_dynamics::Dynamics dynamics;
    std::vector<double>
        found;         ///< kg m², n·n: of the inertia, what the feedback takes into account
    double share = 0;  ///< of D' − D in `found`
  };

  void choose() noexcept;
  void make() noexcept;
  void find_inertia(Model& model, double share, const MeasuredArm& arm) noexcept;
  void choose_share() noexcept;
  bool within_ratio(double share, double ratio) noexcept;
  bool limit_inertia() noexcept;
  void install(MeasuredArm& arm) noexcept;
  bool confirms(std::span<const double> last_torque, MeasuredArm& arm) noexcept;
  void describe(const Motion& reference, MeasuredArm& arm) noexcept;
  void correct(Model& model, std::span<const double> v, const Motion& reference,
               const MeasuredArm& arm, std::span<double> by) noexcept;
  double share_within_step(const Law& law) const noexcept;
  bool find_shift(const Command& command, const Law& law) noexcept;
  void use(const Command& command, const Law& law) noexcept;
  void tell(const LawSetting& setting, FollowedReference& reference) noexcept;

  double inertia_ratio_;
  Adaptation estimator_;
  Model used_, next_;
  ModelUnknowns::Bodies bodies_;  ///< of `next_`, then of `used_`
  bool adapted_ = false;          ///< the used model is not the description
  bool reduced_ = false;          ///< the correction would have been too large: the share waits
  bool payload_changed_ = false;  ///< since the last torque()
  bool untold_ = false;           ///< governor and time scaling have another model
  Step step_ = Step::kWait;
  int age_ = 0;                                 ///< cycles since the last correction began
  double share_ = 0;                            ///< of the found inertia in the feedback
  double ceiling_ = 1;                          ///< of the share
  double least_part_ = 0, most_part_ = 1;       ///< of the correction, bracket of limit_inertia()
  std::vector<double> at_;                      ///< rad, position of the next inertias
  std::vector<double> described_, difference_;  ///< kg m², there: D, D' − D
  std::vector<double> described_torque_;        ///< N m, of the reference in the description
  std::vector<double> after_inertia_;           ///< scratch of within_ratio()
  std::vector<double> acceleration_, doubt_;    ///< scratch of advance()
  std::vector<double> before_, after_;  ///< N m, torques of v in the used and the next model
  std::vector<double> shift_, factor_;  ///< scratch of find_shift()
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__MODEL_CORRECTION_HPP_
