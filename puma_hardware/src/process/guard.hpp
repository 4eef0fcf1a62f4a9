// SPDX-License-Identifier: Apache-2.0
#ifndef PROCESS__GUARD_HPP_
#define PROCESS__GUARD_HPP_

// The guard, a watchdog process: when the controlling process dies or its heartbeat stops, it writes
// 0 V to all DAC channels and switches off power and brake release.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "cards/card_settings.hpp"
#include "cards/port_io.hpp"
#include "process/heartbeat.hpp"

namespace puma_hardware {

struct GuardOptions {
  double timeout = 0.008;  ///< s without a heartbeat; the end of the process is detected at once
  double period = 0.001;   ///< s between two checks, less than 1
  /// After a stop request, keep running while a process drives the arm: when a whole system is
  /// stopped, its processes get their signals in any order.
  bool outlast = false;
};

struct GuardEvent {
  enum class Kind { kWatching, kTripped, kReleased };
  Kind kind = Kind::kWatching;
  int pid = 0;               ///< of the controlling process
  bool died = false;         ///< it ended, rather than hangs
  double silence = 0;        ///< s since its last heartbeat
  double reaction_time = 0;  ///< s from detection to the last port written
};

/// The settings that a cut depends on, as one number, never 0. Guard and controlling process must
/// agree on it. Real-time safe.
std::uint64_t cut_settings(const Pcl726Settings& settings) noexcept;
/// The same as text: "pcl726.base=0x2C0 pcl726.coding=offset_binary …". Allocates.
std::string cut_settings_text(const Pcl726Settings& settings);

/// Runs until `stop`, see GuardOptions::outlast. Writes to the cards only after a trip, and then
/// every period until the controlling process arms again: a process that only stalled may still
/// finish a write. Throws std::invalid_argument for invalid options; its loop does not allocate
/// unless `report` does.
void run_guard(PortIo& io, const Pcl726Settings& settings, Heartbeat& heartbeat,
               const GuardOptions& options, const std::atomic<bool>& stop,
               const std::function<void(const GuardEvent&)>& report);

}  // namespace puma_hardware

#endif  // PROCESS__GUARD_HPP_
