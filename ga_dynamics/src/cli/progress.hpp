// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CLI__PROGRESS_HPP_
#define GA_DYNAMICS__CLI__PROGRESS_HPP_

// One line on standard error that says how far the work is.

#include <chrono>
#include <cstdint>

namespace ga_dynamics::cli {

class Progress {
 public:
  /// Shown only where standard error is a terminal and standard output, which would run through
  /// it, is not.
  explicit Progress(bool wanted);
  /// Wipes the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Writes at most twice a second. `total_bytes` is 0 where it is not known.
  void update(std::uint64_t rows, std::uint64_t bytes, std::uint64_t total_bytes);

 private:
  using Clock = std::chrono::steady_clock;

  bool shown_;
  bool written_ = false;
  Clock::time_point start_, last_;
};

}  // namespace ga_dynamics::cli

#endif  // GA_DYNAMICS__CLI__PROGRESS_HPP_
