// SPDX-License-Identifier: Apache-2.0
#ifndef EXPERIMENTS__THREAD_TIME_HPP_
#define EXPERIMENTS__THREAD_TIME_HPP_

#include <time.h>

#include <algorithm>
#include <vector>

namespace ga_tools::experiments {

/// Processor time of this thread, s: other programs do not count.
inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace ga_tools::experiments

#endif  // EXPERIMENTS__THREAD_TIME_HPP_
