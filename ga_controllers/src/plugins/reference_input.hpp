// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__REFERENCE_INPUT_HPP_
#define GA_CONTROLLERS__PLUGINS__REFERENCE_INPUT_HPP_

// Input reference of a cycle: the motion of the last set-point from ~/reference, or the reference
// interfaces that the preceding controller has written.

#include <array>
#include <atomic>
#include <cstdint>
#include <hardware_interface/handle.hpp>
#include <realtime_tools/realtime_thread_safe_box.hpp>
#include <span>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "notice.hpp"
#include "set_point.hpp"

namespace ga_controllers {

/// configure() and offer() allocate. All else runs in the control loop and is real-time safe: no
/// allocation, no waiting, no logging.
class ReferenceInput {
 public:
  /// Positions of all joints, then velocities, then accelerations.
  using Interfaces = std::vector<hardware_interface::CommandInterface::SharedPtr>;

  /// `timeout` [s]: a moving reference that does not change for this time is stale. `error_cycles`:
  /// consecutive cycles without a finite reference before an error.
  void configure(std::size_t joints, double timeout, int error_cycles);
  /// Passes a set-point to the control loop, from one other thread at a time.
  void offer(SetPoint set_point);

  /// Clears the reference until a new one arrives from either source.
  void activate(const Interfaces& interfaces);
  /// Clears the interfaces, so that no predecessor starts from an old reference.
  void invalidate(const Interfaces& interfaces);
  /// Advances the motion of the last set-point by `period` [s].
  void follow_set_point(double period, Notices& notices);
  /// Reads the predecessor's reference. False if it has been invalid for error_cycles after a valid
  /// one.
  bool read(const Interfaces& interfaces, double dt, Notices& notices);

  bool has_reference() const noexcept { return has_reference_; }
  /// Of this cycle; empty if there is none. Velocities and accelerations are empty until the
  /// predecessor has written them.
  Reference reference() const noexcept {
    if (!has_reference_) return {};
    const std::span<const double> none;
    return {q_, has_[1] ? (at_rest_ ? zeros_ : qd_) : none,
            has_[2] ? (at_rest_ ? zeros_ : qdd_) : none};
  }

 private:
  double timeout_ = 0;
  int error_cycles_ = 0;
  realtime_tools::RealtimeThreadSafeBox<SetPoint> messages_;
  std::atomic<std::uint64_t> last_message_{0};

  std::vector<double> q_, qd_, qdd_, zeros_;
  bool has_reference_ = false, at_rest_ = false;
  std::array<bool, 3> has_ = {true, false, false};  ///< positions, velocities, accelerations
  SetPoint set_point_;
  double set_point_age_ = 0;  ///< s
  std::uint64_t messages_before_activation_ = 0;
  bool had_reference_ = false;  ///< the predecessor has written a finite one since activation
  double unchanged_for_ = 0;    ///< s, since the predecessor's last change of any value
  int bad_cycles_ = 0;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__REFERENCE_INPUT_HPP_
