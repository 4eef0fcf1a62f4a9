// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>

namespace ga_tools::cli {

Progress::Progress(bool wanted, Beside beside)
    : shown_(wanted && ::isatty(STDERR_FILENO) == 1 &&
             (beside == Beside::kAnyOutput || ::isatty(STDOUT_FILENO) == 0)),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (written_) std::fputs("\r\x1b[K", stderr);
}

void Progress::update(std::uint64_t rows, std::uint64_t bytes, std::uint64_t total_bytes) {
  if (!shown_) return;
  const Clock::time_point now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(500)) return;
  last_ = now;
  written_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::fprintf(stderr, "\rga: %" PRIu64 " rows, %.0f rows/s", rows,
               static_cast<double>(rows) / seconds);
  if (total_bytes > 0) {
    const double part = static_cast<double>(bytes) / static_cast<double>(total_bytes);
    std::fprintf(stderr, ", %.0f %%", 100 * part);
  }
  std::fputs("\x1b[K", stderr);
}

void Progress::say(std::string_view what) {
  if (!shown_) return;
  written_ = true;
  std::fprintf(stderr, "\rga: %.*s\x1b[K", static_cast<int>(what.size()), what.data());
}

}  // namespace ga_tools::cli
