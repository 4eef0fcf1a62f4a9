// SPDX-License-Identifier: Apache-2.0
#include "process/realtime.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "process/heartbeat.hpp"

namespace puma_hardware {

std::string enter_realtime(int priority) {
  std::string refused;
  sched_param parameters{};
  parameters.sched_priority = priority;
  if (const int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters);
      error != 0) {
    refused += "no real-time scheduling (" + std::string(std::strerror(error)) +
               "): give the user an rtprio limit or the program CAP_SYS_NICE";
  }
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    refused += std::string(refused.empty() ? "" : "; ") + "memory not locked (" +
               std::strerror(errno) + "): raise the memlock limit";
  }
  return refused;
}

AwakeProcessors::AwakeProcessors(const char* path) {
  const std::int32_t longest = 0;  // µs
  file_ = open(path, O_WRONLY | O_CLOEXEC);
  if (file_ >= 0 && write(file_, &longest, sizeof longest) == sizeof longest) return;
  refused_ = std::string("the processors may sleep (") + path + ": " + std::strerror(errno) +
             "): let the user write to that file";
}

AwakeProcessors::~AwakeProcessors() {
  if (file_ >= 0) close(file_);
}

PeriodicTimer::PeriodicTimer(std::int64_t period_ns) noexcept
    : period_ns_(period_ns), next_ns_(monotonic_ns() + period_ns) {}

std::int64_t PeriodicTimer::wait() noexcept {
  const timespec next{next_ns_ / 1'000'000'000, next_ns_ % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr) == EINTR) {
  }
  const std::int64_t late = monotonic_ns() - next_ns_;
  const std::int64_t beats = 1 + std::max<std::int64_t>(late, 0) / period_ns_;
  missed_ += static_cast<std::uint64_t>(beats - 1);
  next_ns_ += beats * period_ns_;
  return late;
}

void TimeHistogram::add(std::int64_t ns) noexcept {
  const std::int64_t clipped = std::max<std::int64_t>(ns, 0);
  const auto us = static_cast<std::uint64_t>(clipped / 1000);
  const auto bin = std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(us)), kBins - 1);
  ++bins_[bin];
  ++count_;
  sum_ns_ += clipped;
  max_ns_ = std::max(max_ns_, clipped);
}

double TimeHistogram::mean_us() const noexcept {
  return count_ == 0 ? 0 : static_cast<double>(sum_ns_) / static_cast<double>(count_) / 1000;
}

double TimeHistogram::max_us() const noexcept { return static_cast<double>(max_ns_) / 1000; }

std::string TimeHistogram::text(const std::string& title) const {
  char line[160];
  std::snprintf(line, sizeof line, "%s: %llu cycles, mean %.1f us, largest %.1f us\n",
                title.c_str(), static_cast<unsigned long long>(count_), mean_us(), max_us());
  std::string text = line;
  const std::uint64_t most = *std::max_element(bins_.begin(), bins_.end());
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    if (bins_[bin] == 0) {
      continue;
    }
    const auto bar = static_cast<std::size_t>((bins_[bin] * 40 + most - 1) / most);
    std::snprintf(line, sizeof line, "  < %8llu us %10llu  %s\n", 1ULL << bin,
                  static_cast<unsigned long long>(bins_[bin]), std::string(bar, '#').c_str());
    text += line;
  }
  return text;
}

}  // namespace puma_hardware
