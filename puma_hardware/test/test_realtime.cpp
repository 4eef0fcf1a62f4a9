// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "process/heartbeat.hpp"
#include "process/realtime.hpp"

namespace puma_hardware {
namespace {

TEST(PeriodicTimer, DoesNotDrift) {
  constexpr std::int64_t kPeriod = 2'000'000;
  const std::int64_t start = monotonic_ns();
  PeriodicTimer timer(kPeriod);
  std::int64_t last_late = 0;
  for (int i = 0; i < 50; ++i) {
    last_late = timer.wait();
    EXPECT_GE(last_late, 0);
  }
  // 50 beats and those missed, on a grid that began with the timer; lateness does not add up.
  const auto beats = static_cast<std::int64_t>(50 + timer.missed());
  const std::int64_t on_grid = monotonic_ns() - start - last_late % kPeriod;
  EXPECT_NEAR(static_cast<double>(on_grid), static_cast<double>(beats * kPeriod), 1.5e6);
}

TEST(PeriodicTimer, SkipsBeatsThatWereMissedInsteadOfRushing) {
  constexpr std::int64_t kPeriod = 5'000'000;
  PeriodicTimer timer(kPeriod);
  const timespec stall{0, 4 * kPeriod + kPeriod / 2};
  nanosleep(&stall, nullptr);
  EXPECT_GE(timer.wait(), 3 * kPeriod);
  EXPECT_GE(timer.missed(), 3U);
  const std::int64_t before = monotonic_ns();
  timer.wait();
  timer.wait();
  EXPECT_GE(monotonic_ns() - before, kPeriod);
}

TEST(TimeHistogram, CountsInDoublingBins) {
  TimeHistogram histogram;
  histogram.add(500);    // below 1 us
  histogram.add(1'500);  // below 2 us
  histogram.add(3'900);  // below 4 us
  histogram.add(3'000);  // below 4 us
  histogram.add(-5);     // clocks that disagree count as nothing
  histogram.add(90'000'000'000);
  EXPECT_EQ(histogram.count(), 6U);
  EXPECT_DOUBLE_EQ(histogram.max_us(), 9e7);
  EXPECT_NEAR(histogram.mean_us(), (0.5 + 1.5 + 3.9 + 3.0 + 9e7) / 6, 1e-6);
  const std::string text = histogram.text("cycle");
  EXPECT_NE(text.find("cycle: 6 cycles"), std::string::npos) << text;
  EXPECT_NE(text.find("<        1 us          2"), std::string::npos) << text;
  EXPECT_NE(text.find("<        4 us          2"), std::string::npos) << text;
}

TEST(TimeHistogram, IsEmptyAtFirst) {
  const TimeHistogram histogram;
  EXPECT_EQ(histogram.mean_us(), 0);
  EXPECT_EQ(histogram.text("t"), "t: 0 cycles, mean 0.0 us, largest 0.0 us\n");
}

/// Do descriptors of this process refer to the file?
bool held_open(const std::string& path) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (std::filesystem::read_symlink(entry.path(), error) == path) return true;
  }
  return false;
}

TEST(AwakeProcessors, HoldTheLongestLatencyAtZeroForTheirLifetime) {
  const std::string path = "/tmp/puma_awake_" + std::to_string(getpid());
  std::ofstream(path) << "";
  {
    const AwakeProcessors awake(path.c_str());
    EXPECT_EQ(awake.refused(), "");
    EXPECT_TRUE(held_open(path)) << "the kernel forgets the request when the file is closed";
    std::ifstream file(path, std::ios::binary);
    std::int32_t longest = -1;
    file.read(reinterpret_cast<char*>(&longest), sizeof longest);
    EXPECT_TRUE(file.good());
    EXPECT_EQ(longest, 0) << "us, as a binary number of 4 bytes";
    EXPECT_EQ(file.peek(), std::ifstream::traits_type::eof());
  }
  EXPECT_FALSE(held_open(path));
  std::remove(path.c_str());
}

TEST(AwakeProcessors, SayWhatWasRefused) {
  const AwakeProcessors awake("/nowhere/cpu_dma_latency");
  for (const char* word : {"/nowhere/cpu_dma_latency", "No such file", "let the user write"}) {
    EXPECT_NE(awake.refused().find(word), std::string::npos) << awake.refused();
  }
}

TEST(EnterRealtime, SaysWhatWasRefused) {
  // Priorities end at 99: this one is refused everywhere.
  EXPECT_NE(enter_realtime(1000).find("no real-time scheduling"), std::string::npos);
}

}  // namespace
}  // namespace puma_hardware
