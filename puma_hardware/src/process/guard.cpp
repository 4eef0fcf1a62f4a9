// SPDX-License-Identifier: Apache-2.0
#include "process/guard.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>

#include "cards/pcl726.hpp"

namespace puma_hardware {

namespace {

/// Detects the end of a process by a pidfd, without polling.
class ProcessWatch {
 public:
  ~ProcessWatch() { forget(); }

  void watch(int pid) noexcept {
    if (pid == pid_) {
      return;
    }
    forget();
    pid_ = pid;
    fd_ = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    gone_ = fd_ < 0 && errno == ESRCH;  // other errors: only the timeout detects its end
  }

  void forget() noexcept {
    if (fd_ >= 0) {
      close(fd_);
    }
    fd_ = -1;
    pid_ = 0;
    gone_ = false;
  }

  /// Waits up to `period_ns`, less if the process ends. True if it has ended.
  bool wait(std::int64_t period_ns) noexcept {
    const timespec period{0, period_ns};
    if (fd_ < 0) {
      nanosleep(&period, nullptr);
      return gone_;
    }
    pollfd descriptor{fd_, POLLIN, 0};
    return ppoll(&descriptor, 1, &period, nullptr) > 0;
  }

 private:
  int pid_ = 0;
  int fd_ = -1;
  bool gone_ = false;
};

constexpr double kNanosecond = 1e-9;

}  // namespace

std::uint64_t cut_settings(const Pcl726Settings& settings) noexcept {
  const auto field = [](int value, int shift) {
    return static_cast<std::uint64_t>(static_cast<std::uint16_t>(value)) << shift;
  };
  const int coding = settings.coding == DacCoding::kTwosComplement ? 2 : 1;
  return field(settings.base, 48) | field(coding, 32) | field(settings.power_output, 16) |
         field(settings.brake_output, 0);
}

std::string cut_settings_text(const Pcl726Settings& settings) {
  char text[160];
  std::snprintf(text, sizeof text,
                "pcl726.base=0x%03X pcl726.coding=%s pcl726.power_output=%d pcl726.brake_output=%d",
                unsigned{settings.base},
                settings.coding == DacCoding::kTwosComplement ? "twos_complement" : "offset_binary",
                settings.power_output, settings.brake_output);
  return text;
}

void run_guard(PortIo& io, const Pcl726Settings& settings, Heartbeat& heartbeat,
               const GuardOptions& options, const std::atomic<bool>& stop,
               const std::function<void(const GuardEvent&)>& report) {
  if (!(options.period > 0 && options.period <= options.timeout && options.timeout <= 1)) {
    throw std::invalid_argument(
        "guard: the period must be positive and no longer than the timeout, the timeout at most "
        "1 s");
  }
  const auto period_ns = static_cast<std::int64_t>(options.period / kNanosecond);
  const auto timeout_ns = static_cast<std::int64_t>(options.timeout / kNanosecond);

  heartbeat.watch(cut_settings(settings), timeout_ns);
  ProcessWatch process;
  bool watching = false;
  bool cut = false;
  std::uint16_t outputs = 0;
  while (!stop.load() || (options.outlast && heartbeat.armed())) {
    heartbeat.guard_beat();
    const bool armed = heartbeat.armed();
    if (armed && !watching) {
      watching = true;
      cut = false;
      process.watch(heartbeat.controller_pid());
      report({GuardEvent::Kind::kWatching, heartbeat.controller_pid(), false, 0, 0});
    } else if (!armed && watching) {
      watching = false;
      process.forget();
      report({GuardEvent::Kind::kReleased, heartbeat.controller_pid(), false, 0, 0});
    }
    if (cut) {
      cut_outputs(io, settings, outputs);
    }

    const bool died = process.wait(period_ns) && watching && heartbeat.armed();
    const std::int64_t silence = heartbeat.beat_age_ns();
    if (watching && heartbeat.armed() && (died || silence > timeout_ns)) {
      const std::int64_t noticed = monotonic_ns();
      // The flag first, so that a process that only stalled writes no more; then the voltages.
      heartbeat.trip();
      outputs = heartbeat.digital_outputs();
      cut_outputs(io, settings, outputs);
      const std::int64_t done = monotonic_ns();
      cut = true;
      watching = false;
      process.forget();
      report({GuardEvent::Kind::kTripped, heartbeat.controller_pid(), died,
              static_cast<double>(silence) * kNanosecond,
              static_cast<double>(done - noticed) * kNanosecond});
    }
  }
}

}  // namespace puma_hardware
