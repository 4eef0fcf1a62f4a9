// SPDX-License-Identifier: Apache-2.0
#ifndef PLUGINS__EFFORT_COMMANDS_HPP_
#define PLUGINS__EFFORT_COMMANDS_HPP_

// The effort commands of the controllers, and whether they are valid.
//
// Torques are valid only if all effort interfaces were claimed by a switch after the component's
// activation ("engaged"): a controller that kept writing while the arm was inactive must not open
// the brakes.
//
// Order in a cycle of the controller manager: update the controllers, switched(), deactivate the
// predecessors, activate the successors, write. So at a switch, the handles may hold what a
// predecessor leaves behind (the stock effort controllers: zeros), or the last torque of a moving
// arm while its successor waits for a first message. Therefore the cycle of the switch outputs the
// predecessor's last torque and erases the handles, which the successors have read by then. That
// torque is held, and its age grows, until the successors have commanded all their joints; the
// driver of the arm detects when it is too old, and holds the arm. While the held torque is not
// zero, zeros on all of these joints do not count as a command: without `activate_asap` the
// controllers are deactivated and activated outside the control cycle, any time after the handles
// were erased. So that a successor which finds them erased can tell a driven arm from one that is
// not, they are erased with ga_controllers::kept_torque() while a torque is held.

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plugins/arm_interfaces.hpp"

namespace ga_hardware {

class EffortCommands {
 public:
  enum class Request {
    kNothing,  ///< no torque is commanded
    kStop,     ///< released without a successor: controlled stop
    kTorque    ///< torque(), with the age age()
  };

  /// Throws std::invalid_argument unless there are 1 to 64 joints.
  explicit EffortCommands(std::size_t joints);
  /// Call after the interfaces are exported. Allocates.
  void bind(const ArmInterfaces& interfaces);

  // For the thread in which the controller manager switches. It may differ from that of the control
  // cycles and holds no lock.

  /// Why the controller manager must not make this switch; empty if it may. Allocates.
  std::string refuse(const std::vector<std::string>& start,
                     const std::vector<std::string>& stop) const;
  /// Records the switch for the next cycle. Real-time safe.
  void switched(const std::vector<std::string>& start,
                const std::vector<std::string>& stop) noexcept;
  bool claimed() const noexcept { return claimed_ != 0; }  ///< any of the joints

  // For the component's own callbacks, one at a time. Real-time safe.

  /// Discards all commands until the next switch.
  void forget() noexcept;
  /// The same, and clears all claims.
  void reset() noexcept;
  /// In write(): the request of this cycle, `period` [s] after the last one.
  Request next(double period) noexcept;
  /// In the cycles of an inactive component: true if the efforts were released.
  bool stopped_while_inactive() noexcept;

  std::span<const double> torque() const noexcept { return torque_; }  ///< N m
  double age() const noexcept { return age_; }                         ///< s
  /// The torque is the predecessor's, at least in some joints.
  bool handing_over() const noexcept { return pending_ != 0; }

 private:
  static constexpr unsigned kStarted = 1, kStopped = 2, kErase = 4;

  std::uint64_t bits(const std::vector<std::string>& names) const noexcept;
  void erase(std::uint64_t joints, double with) noexcept;
  void begin_handover(std::uint64_t joints) noexcept;
  bool read_handles() noexcept;
  bool commanded(std::uint64_t joints) const noexcept;
  bool only_zeros(std::uint64_t joints) const noexcept;

  std::uint64_t all_joints_;  ///< bits of all joints
  std::vector<ArmInterfaces::Command> handles_;
  std::vector<std::string> names_;  ///< "joint1/effort"

  std::atomic<std::uint64_t> claimed_{0}, handed_over_{0};  ///< bit per joint
  std::atomic<unsigned> events_{0};
  std::vector<std::atomic<double>> predecessor_torque_;  ///< at a switch

  std::vector<double> torque_, commands_;
  std::uint64_t pending_ = 0;  ///< joints whose new controllers have not commanded yet
  bool engaged_ = false;
  bool torque_seen_ = false;  ///< a torque was commanded since the switch
  double age_ = 0;            ///< s
};

}  // namespace ga_hardware

#endif  // PLUGINS__EFFORT_COMMANDS_HPP_
