// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__EFFORT_COMMANDS_HPP_
#define GA_HARDWARE__EFFORT_COMMANDS_HPP_

// What the controllers command an arm, and whether it counts.
//
// Torques count only if all efforts were claimed by a switch after the component's activation
// ("engaged"): whoever went on writing while the arm was inactive must not open its brakes.
//
// The controller manager's order in a cycle is: controllers' updates, switched(), predecessors
// deactivated, successors activated, write. At a change of controllers the handles may thus hold
// what a predecessor leaves behind (the stock effort controllers: zeros), or the last torque of a
// moving arm while its successor waits for a first message. Therefore the cycle of the change gives
// the predecessor's last torque and erases the handles, which the successors have read by then.
// Until the successors have commanded all their joints, that torque goes on and ages, and whoever
// drives the arm can tell that it is too old. Zeros on all of them are no command while the torque
// that goes on is not zero: without `activate_asap` the predecessor is deactivated beside the
// cycles, any time after the handles were erased.

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ga_hardware/arm_interfaces.hpp"

namespace ga_hardware {

class EffortCommands {
 public:
  enum class Wish {
    kNothing,  ///< no torque is commanded
    kStop,     ///< given up without a successor: a controlled stop
    kTorque    ///< torque(), which is age() old
  };

  /// Throws std::invalid_argument unless there are 1 to 64.
  explicit EffortCommands(std::size_t joints);
  /// After the interfaces are exported. Allocates.
  void bind(const ArmInterfaces& interfaces);

  // For the thread that the controller manager switches in, which may be another than that of the
  // cycles and holds no lock.

  /// Why the controller manager must not switch by these lists; empty if it may. Allocates.
  std::string refuse(const std::vector<std::string>& start,
                     const std::vector<std::string>& stop) const;
  /// Leaves word for the next cycle. Real-time safe.
  void switched(const std::vector<std::string>& start,
                const std::vector<std::string>& stop) noexcept;
  bool claimed() const noexcept { return claimed_ != 0; }  ///< any of them

  // For the component's own callbacks, one at a time. Real-time safe.

  /// Nothing is commanded, and nothing will be before the next switch.
  void forget() noexcept;
  /// The same, and nobody has claimed anything.
  void reset() noexcept;
  /// In write(): what this cycle is to do, `period` [s] after the last one.
  Wish next(double period) noexcept;
  /// In the cycles of an inactive component: true if the efforts were given up.
  bool stopped_while_inactive() noexcept;

  std::span<const double> torque() const noexcept { return torque_; }  ///< N m
  double age() const noexcept { return age_; }                         ///< s

 private:
  static constexpr unsigned kStarted = 1, kStopped = 2, kErase = 4;

  std::uint64_t bits(const std::vector<std::string>& names) const noexcept;
  void erase(std::uint64_t joints) noexcept;
  void change_hands(std::uint64_t joints) noexcept;
  bool read_handles() noexcept;
  bool commanded(std::uint64_t joints) const noexcept;
  bool only_zeros(std::uint64_t joints) const noexcept;

  std::uint64_t every_;  ///< bits of all joints
  std::vector<ArmInterfaces::Command> handles_;
  std::vector<std::string> names_;  ///< "joint1/effort"

  std::atomic<std::uint64_t> claimed_{0}, swapped_{0};  ///< bit per joint
  std::atomic<unsigned> events_{0};
  std::vector<std::atomic<double>> latest_;  ///< of the predecessors, at a change

  std::vector<double> torque_, wanted_;
  std::uint64_t awaited_ = 0;  ///< joints whose new controllers have not commanded yet
  bool engaged_ = false;
  bool begun_ = false;  ///< a torque was commanded since it was engaged
  double age_ = 0;      ///< s
};

}  // namespace ga_hardware

#endif  // GA_HARDWARE__EFFORT_COMMANDS_HPP_
