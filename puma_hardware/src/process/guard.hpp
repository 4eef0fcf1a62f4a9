// SPDX-License-Identifier: Apache-2.0
#ifndef PROCESS__GUARD_HPP_
#define PROCESS__GUARD_HPP_

// The guard: a loop for a process of its own that watches a controlling process and, when that dies
// or falls silent, writes 0 V to all DAC channels and drops power and brakes.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "cards/card_settings.hpp"
#include "cards/port_io.hpp"
#include "process/heartbeat.hpp"

namespace puma_hardware {

struct GuardOptions {
  double timeout = 0.008;  ///< s of silence that trip it; a death is seen at once
  double period = 0.001;   ///< s between two looks
  /// When asked to stop, go on as long as somebody drives the arm: those who end a whole system at
  /// once ask its guard first or last by chance.
  bool outlast = false;
};

struct GuardEvent {
  enum class Kind { kWatching, kTripped, kReleased };
  Kind kind = Kind::kWatching;
  int pid = 0;               ///< of the controlling process
  bool died = false;         ///< it is gone, not just silent
  double silence = 0;        ///< s since its last heartbeat
  double reaction_time = 0;  ///< s from the guard's notice to the last port written
};

/// All that a cut depends on, in one number, never 0: a guard and a controlling process that
/// disagree on it do not fit together. Real-time safe.
std::uint64_t cut_settings(const Pcl726Settings& settings) noexcept;
/// The same in words: "pcl726.base=0x2C0 pcl726.coding=offset_binary …". Allocates.
std::string cut_settings_text(const Pcl726Settings& settings);

/// Runs until `stop`, see GuardOptions::outlast. Writes to the cards only after a trip, and then
/// again every period until the controlling process arms anew: one that only stalled may still have
/// a write under way. Throws std::invalid_argument for impossible options; does not allocate in its
/// loop unless `report` does.
void run_guard(PortIo& io, const Pcl726Settings& settings, Heartbeat& heartbeat,
               const GuardOptions& options, const std::atomic<bool>& stop,
               const std::function<void(const GuardEvent&)>& report);

}  // namespace puma_hardware

#endif  // PROCESS__GUARD_HPP_
