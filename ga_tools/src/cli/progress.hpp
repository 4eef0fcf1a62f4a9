// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CLI__PROGRESS_HPP_
#define GA_DYNAMICS__CLI__PROGRESS_HPP_

// One line on standard error that says how far the work is.

#include <chrono>
#include <cstdint>
#include <string_view>

namespace ga_tools::cli {

class Progress {
 public:
  enum class Beside {
    kFile,  ///< shown only where standard output, which would run through the line, is elsewhere
    kAnyOutput  ///< nothing is written while the line is there
  };
  /// Shown only where standard error is a terminal.
  explicit Progress(bool wanted, Beside beside = Beside::kFile);
  /// Wipes the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Writes at most twice a second. `total_bytes` is 0 where it is not known.
  void update(std::uint64_t rows, std::uint64_t bytes, std::uint64_t total_bytes);
  /// Writes at once.
  void say(std::string_view what);

 private:
  using Clock = std::chrono::steady_clock;

  bool shown_;
  bool written_ = false;
  Clock::time_point start_, last_;
};

}  // namespace ga_tools::cli

#endif  // GA_DYNAMICS__CLI__PROGRESS_HPP_
