// SPDX-License-Identifier: Apache-2.0
#ifndef PROCESS__REALTIME_HPP_
#define PROCESS__REALTIME_HPP_

// Real-time scheduling, a periodic timer and a histogram of times.

#include <array>
#include <cstdint>
#include <string>

namespace puma_hardware {

/// Requests SCHED_FIFO at `priority` for this thread and locks the memory. Returns what the system
/// refused, with the remedy, or nothing. Allocates; does not throw.
std::string enter_realtime(int priority);

/// Keeps the processors out of sleep states that they leave too slowly, for its lifetime.
class AwakeProcessors {
 public:
  /// `path`: of the kernel's file.
  explicit AwakeProcessors(const char* path = "/dev/cpu_dma_latency");
  ~AwakeProcessors();
  AwakeProcessors(const AwakeProcessors&) = delete;
  AwakeProcessors& operator=(const AwakeProcessors&) = delete;
  /// What the system refused, with the remedy, or nothing.
  const std::string& refused() const noexcept { return refused_; }

 private:
  int file_ = -1;
  std::string refused_;
};

/// Periodic wake-up without drift. Real-time safe.
class PeriodicTimer {
 public:
  explicit PeriodicTimer(std::int64_t period_ns) noexcept;
  /// Sleeps until the next period and returns the wake-up latency [ns]. Missed periods are skipped:
  /// no burst of short cycles.
  std::int64_t wait() noexcept;
  std::uint64_t missed() const noexcept { return missed_; }  ///< periods

 private:
  std::int64_t period_ns_;
  std::int64_t next_ns_;
  std::uint64_t missed_ = 0;
};

/// Bins double in width: 1 µs, 2 µs, 4 µs, … Recording is real-time safe.
class TimeHistogram {
 public:
  void add(std::int64_t ns) noexcept;
  std::uint64_t count() const noexcept { return count_; }
  double mean_us() const noexcept;
  double max_us() const noexcept;
  /// One line with a bar per non-empty bin; allocates.
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
