// SPDX-License-Identifier: Apache-2.0
#ifndef PROCESS__HEARTBEAT_HPP_
#define PROCESS__HEARTBEAT_HPP_

// What a controlling process and its guard tell each other through shared memory. A process that is
// killed leaves its last voltage on a PCL-726; the guard, a process of its own, sees the heartbeat
// stop and writes 0 V. Either side may start first, and die and come back.
//
// Opening allocates and throws std::runtime_error naming the memory; everything else is real-time
// safe: lock-free atomics, no exception.

#include <atomic>
#include <cstdint>
#include <string>

namespace puma_hardware {

/// Monotonic time [ns], the same for all processes of the machine.
std::int64_t monotonic_ns() noexcept;

struct HeartbeatMemory;

class Heartbeat {
 public:
  /// Opens the memory of that name (letters, digits, `_`, `-`), or makes it.
  explicit Heartbeat(const std::string& name);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;
  /// Removes the memory of that name; processes that have it open keep it.
  static void remove(const std::string& name) noexcept;

  // The controlling process.

  /// From now on silence is a fault; forgets a trip of before. False if another live process is
  /// armed.
  bool arm() noexcept;
  /// Once a cycle. `digital_outputs`: what stands on the PCL-726, so that the guard, which cannot
  /// read it back, keeps the tool's outputs when it drops power and brakes.
  void beat(std::uint16_t digital_outputs) noexcept;
  /// The outputs are at 0 V and stay there.
  void disarm() noexcept;
  /// The guard has cut the outputs: write nothing more.
  bool tripped() const noexcept;
  /// Armed here, but no longer so, although neither disarm() nor the guard's trip ended it: nobody
  /// watches this process any more.
  bool overruled() const noexcept;
  /// Has the guard shown itself within the last `max_age_ns`?
  bool guard_alive(std::int64_t max_age_ns) const noexcept;

  /// What the guard has told of its settings with watch(); 0: nothing yet.
  std::uint64_t guard_settings() const noexcept;

  // The guard.

  /// Before the first guard_beat(). `settings`: see cut_settings().
  void watch(std::uint64_t settings) noexcept;
  bool armed() const noexcept;
  int controller_pid() const noexcept;
  std::int64_t beat_age_ns() const noexcept;
  std::uint16_t digital_outputs() const noexcept;
  void guard_beat() noexcept;
  void trip() noexcept;

 private:
  HeartbeatMemory* memory_ = nullptr;
  int armed_as_ = 0;  ///< pid; 0: not armed here
};

}  // namespace puma_hardware

#endif  // PROCESS__HEARTBEAT_HPP_
