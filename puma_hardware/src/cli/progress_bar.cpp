// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_bar.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace puma_hardware::cli {

void ProgressBar::show(double share, const std::string& what) {
  if (isatty(STDERR_FILENO) == 0) return;
  constexpr int kWidth = 40;
  const double clamped = std::clamp(share, 0.0, 1.0);
  const auto done = static_cast<std::size_t>(clamped * kWidth);
  std::fprintf(stderr, "\r[%s%s] %3.0f %% %-26s", std::string(done, '#').c_str(),
               std::string(kWidth - done, ' ').c_str(), 100 * clamped, what.c_str());
  shown_ = true;
}

void ProgressBar::end() {
  if (shown_) std::fprintf(stderr, "\n");
  shown_ = false;
}

}  // namespace puma_hardware::cli
