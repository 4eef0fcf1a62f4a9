// SPDX-License-Identifier: Apache-2.0
#ifndef PROCESS__HEARTBEAT_HPP_
#define PROCESS__HEARTBEAT_HPP_

// Heartbeat of a controlling process and its guard in shared memory. A killed process leaves its
// last voltages on the PCL-726; the guard detects that the heartbeat stopped and writes 0 V. Either
// side may start first and may be restarted.
//
// Opening allocates and throws std::runtime_error naming the memory; everything else is real-time
// safe: lock-free atomics, no exception.

#include <atomic>
#include <cstdint>
#include <string>

#include "cards/port_io.hpp"

namespace puma_hardware {

struct HeartbeatMemory;

class Heartbeat {
 public:
  /// Opens or creates the memory of that name (letters, digits, `_`, `-`).
  explicit Heartbeat(const std::string& name);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;
  /// Removes the memory of that name; processes that have it open keep it.
  static void remove(const std::string& name) noexcept;

  // The controlling process.

  /// From now on a missing heartbeat trips the guard; clears an earlier trip. False if another live
  /// process is armed, or if the guard has ended.
  bool arm() noexcept;
  /// Once per cycle. `digital_outputs`: of the PCL-726. The guard, which cannot read them back,
  /// keeps the tool outputs when it switches off power and brake release.
  void beat(std::uint16_t digital_outputs) noexcept;
  /// The outputs are and stay at 0 V.
  void disarm() noexcept;
  /// The guard has cut the outputs: write nothing more.
  bool tripped() const noexcept;
  /// Armed here, but ended neither by disarm() nor by the guard's trip: this process is no longer
  /// watched.
  bool overruled() const noexcept;
  /// Has the guard given a sign of life within the last `max_age_ns`?
  bool guard_alive(std::int64_t max_age_ns) const noexcept;

  /// The guard's settings and its timeout [ns], from watch(); 0: none yet.
  std::uint64_t guard_settings() const noexcept;
  std::int64_t guard_timeout_ns() const noexcept;
  int guard_pid() const noexcept;
  /// The guard that ran at arm(), or a later one, has ended: noticed at once, before its signs of
  /// life are missed. A successor has 20 ms to take over.
  bool guard_ended() noexcept;
  /// False if the memory was removed or replaced: a guard or a controller that starts now would not
  /// find it. Not real-time safe: it asks the file system.
  bool present() const noexcept;

  // The guard.

  /// Before the first guard_beat(). `settings`: see cut_settings().
  void watch(std::uint64_t settings, std::int64_t timeout_ns) noexcept;
  bool armed() const noexcept;
  int controller_pid() const noexcept;
  std::int64_t beat_age_ns() const noexcept;
  std::uint16_t digital_outputs() const noexcept;
  void guard_beat() noexcept;
  void trip() noexcept;

 private:
  void watch_guard() noexcept;
  bool guard_process_ended() const noexcept;

  HeartbeatMemory* memory_ = nullptr;
  std::string path_;           ///< of the memory
  std::uint64_t file_ = 0;     ///< its inode
  int armed_as_ = 0;           ///< pid; 0: not armed here
  int guard_fd_ = -1;          ///< pidfd of the guard
  int watched_guard_ = 0;      ///< its pid
  std::int64_t ended_ns_ = 0;  ///< when it was found to have ended; 0: it runs
};

}  // namespace puma_hardware

#endif  // PROCESS__HEARTBEAT_HPP_
