// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__ERROR_INTEGRAL_HPP_
#define GA_CONTROLLERS__ERROR_INTEGRAL_HPP_

// The integral of the tracking law's error, and what keeps it from harm: it does not wind up where
// a limit cuts the torque, and under stiction it does not hunt about its goal while the reference
// rests, nor take what it pushed there into the next motion.
//
// In each update of the law: advance(), v from sum(), the torque of v, relax().

#include <span>
#include <vector>

#include "followed_reference.hpp"
#include "ga_controllers/control_law.hpp"
#include "measured_arm.hpp"

namespace ga_controllers {

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception. Units:
/// rad, s, N m (m, N for prismatic joints).
class ErrorIntegral {
 public:
  ErrorIntegral(const LawParameters& parameters, std::size_t joints);

  /// Another law, or a start: nothing is integrated yet.
  void clear() noexcept;
  /// The integral's part of v stays what it is.
  void change_gain(std::size_t joint, double ki_before, double ki) noexcept {
    sum_[joint] = ki > 0 ? sum_[joint] * ki_before / ki : 0;
  }

  /// Integrates e = q − q_ref for dt [s], and gives back what it pushed in a rest that is over.
  /// `cut`: +1 where the upper torque limit cuts, −1 where the lower one does.
  void advance(double dt, const FollowedReference& reference, std::span<const int> cut,
               std::span<const JointGains> gains, MeasuredArm& arm) noexcept;
  /// Takes the integral's push out of `tau` and of the `friction` that is part of it, where the
  /// joint rests at its goal.
  void relax(const MeasuredArm& arm, std::span<double> tau, std::span<double> friction) noexcept;

  std::span<const double> sum() const noexcept { return sum_; }  ///< ∫e dt, rad s

 private:
  enum class Rest {
    kMoving,  ///< the reference moves
    kBeside,  ///< it rests, the joint is outside of the dead band
    kAtGoal
  };
  void forget_pushes(std::span<const JointGains> gains, MeasuredArm& arm) noexcept;

  double dead_band_, limit_;
  double friction_;  ///< share that is fed forward
  double slow_;      ///< rad/s; a slower reference rests
  std::vector<double> sum_;
  std::vector<Rest> rests_;
  std::vector<char> settled_;          ///< rest_torque_ is of this rest
  std::vector<int> push_;              ///< where it pushed last: +1, −1; 0: not in this rest
  std::vector<double> rest_torque_;    ///< when the reference came to rest
  std::vector<double> pushed_;         ///< what the law has added since, up to the friction
  std::vector<double> step_, factor_;  ///< scratch of forget_pushes()
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__ERROR_INTEGRAL_HPP_
