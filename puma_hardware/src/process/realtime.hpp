// SPDX-License-Identifier: Apache-2.0
#ifndef PROCESS__REALTIME_HPP_
#define PROCESS__REALTIME_HPP_

// A thread that keeps time: scheduling, a periodic timer and what its cycles really took.

#include <array>
#include <cstdint>
#include <string>

namespace puma_hardware {

/// SCHED_FIFO at `priority` for this thread and memory locked, each where the system allows it.
/// Returns what was refused and how to get it, or nothing. Allocates; does not throw.
std::string enter_realtime(int priority);

/// Wakes up every period at times that do not drift. Real-time safe.
class PeriodicTimer {
 public:
  explicit PeriodicTimer(std::int64_t period_ns) noexcept;
  /// Sleeps to the next beat and returns by how much it woke up late [ns]. After a beat that was
  /// missed whole it goes on with the next one to come: no burst of short cycles.
  std::int64_t wait() noexcept;
  std::uint64_t missed() const noexcept { return missed_; }  ///< whole beats

 private:
  std::int64_t period_ns_;
  std::int64_t next_ns_;
  std::uint64_t missed_ = 0;
};

/// Counts of times in bins that double: 1 µs, 2 µs, 4 µs, … Recording is real-time safe.
class TimeHistogram {
 public:
  void add(std::int64_t ns) noexcept;
  std::uint64_t count() const noexcept { return count_; }
  double mean_us() const noexcept;
  double max_us() const noexcept;
  /// A line per bin that holds something, with a bar; allocates.
  std::string text(const std::string& title) const;

 private:
  static constexpr std::size_t kBins = 24;
  std::array<std::uint64_t, kBins> bins_{};
  std::uint64_t count_ = 0;
  std::int64_t sum_ns_ = 0;
  std::int64_t max_ns_ = 0;
};

}  // namespace puma_hardware

#endif  // PROCESS__REALTIME_HPP_
