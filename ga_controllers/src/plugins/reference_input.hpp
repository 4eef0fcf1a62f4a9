// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__REFERENCE_INPUT_HPP_
#define GA_CONTROLLERS__PLUGINS__REFERENCE_INPUT_HPP_

// What the law is to follow in a cycle: the motion of the last set-point of ~/reference, or the
// reference interfaces that a controller before this one has written.

#include <atomic>
#include <cstdint>
#include <hardware_interface/handle.hpp>
#include <realtime_tools/realtime_thread_safe_box.hpp>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "notice.hpp"
#include "set_point.hpp"

namespace ga_controllers {

/// configure() and offer() allocate. All else is for the control loop and real-time safe: no
/// allocation, no waiting, no logging.
class ReferenceInput {
 public:
  /// Positions of all joints, then velocities, then accelerations.
  using Interfaces = std::vector<hardware_interface::CommandInterface::SharedPtr>;

  /// `timeout` [s]: a reference that moves and does not change for so long is stale.
  /// `error_cycles`: so many cycles in a row without a finite reference are an error.
  void configure(std::size_t joints, double timeout, int error_cycles);
  /// A set-point for the control loop, from one other thread at a time.
  void offer(SetPoint set_point);

  /// There is no reference until there is a new one, from wherever.
  void activate(const Interfaces& interfaces);
  /// Leaves nothing in the interfaces for a predecessor to start from.
  void forget(const Interfaces& interfaces);
  /// Where the last set-point's motion is after another `period` [s].
  void follow_set_point(double period, Notices& notices);
  /// What the predecessor has written. False: after a finite one there was none for too long.
  bool read(const Interfaces& interfaces, double dt, Notices& notices);

  bool has_reference() const noexcept { return has_reference_; }
  /// Of this cycle; empty where there is none.
  Reference reference() const noexcept {
    return has_reference_ ? Reference{q_, qd_, qdd_} : Reference{};
  }

 private:
  double timeout_ = 0;
  int error_cycles_ = 0;
  realtime_tools::RealtimeThreadSafeBox<SetPoint> messages_;
  std::atomic<std::uint64_t> last_message_{0};

  std::vector<double> q_, qd_, qdd_;
  bool has_reference_ = false;
  SetPoint set_point_;
  double set_point_age_ = 0;  ///< s
  std::uint64_t messages_before_activation_ = 0;
  bool had_reference_ = false;  ///< a finite one of the predecessor's, since the activation
  double unchanged_for_ = 0;    ///< s, all of the predecessor's references
  int bad_cycles_ = 0;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__REFERENCE_INPUT_HPP_
