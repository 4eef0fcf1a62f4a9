// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__MODEL_CORRECTION_HPP_
#define GA_CONTROLLERS__MODEL_CORRECTION_HPP_

// Corrects the model of a law by what the adaptation has found, with bumpless transfer: the
// disturbance estimate takes over every change of the torque. What a law does not subtract of the
// estimate changes the torque, by a little at a time. In laws that do not track velocities (hand
// guiding, gravity compensation, point to point) the model goes back to the description.

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
#include "torque_limiter.hpp"

namespace ga_controllers {

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception.
class ModelCorrection {
 public:
  ModelCorrection(const ga_dynamics::Chain& chain, const LawParameters& parameters,
                  std::span<const double> torque_limit);

  /// The parts of the law.
  struct Law {
    const LawSetting& setting;
    MeasuredArm& arm;
    FollowedReference& reference;
    FrictionFeedforward& friction;
    StateObserver& observer;
    const RestLatch& latch;
    const TorqueLimiter& output;
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

 private:
  void use(const Command& command, const Law& law) noexcept;
  void move(double share, std::span<const double> v, const Law& law) noexcept;
  double share_within(double most, const Law& law) const noexcept;
  bool find_shift(const Command& command, const Law& law) noexcept;

  Adaptation estimator_;
  int age_ = 0;                               ///< cycles since the last correction
  std::vector<double> acceleration_, doubt_;  ///< scratch of advance()
  std::vector<double> before_, after_;        ///< N m, torques of v in the old and the new model
  std::vector<double> shift_, factor_;        ///< scratch of find_shift()
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__MODEL_CORRECTION_HPP_
