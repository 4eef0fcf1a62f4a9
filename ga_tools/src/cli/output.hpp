// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__OUTPUT_HPP_
#define CLI__OUTPUT_HPP_

// What the `ga` command writes: results to standard output, progress to standard error, and tables.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ga_tools::cli {

/// Results that could not be written.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The reader closed the pipe, as `head` does once it has its lines. Not a failure.
class ReaderGone : public std::runtime_error {
 public:
  ReaderGone() : std::runtime_error("the reader of the output has gone") {}
};

/// Standard output, written in large blocks. All functions throw OutputError, or ReaderGone if the
/// pipe is closed: no write error is lost.
class Output {
 public:
  Output();

  void put(std::string_view text);
  void put(char c) { put(std::string_view(&c, 1)); }
  void put_number(double value);
  /// Passes the buffer to the system.
  void flush();
  /// Flushes and closes: some file systems report a full disk only on close.
  void close();

 private:
  std::vector<char> buffer_;
  std::size_t used_ = 0;
};

/// Writes the text and closes standard output.
void print(std::string_view text);

/// One line on standard error, shown only if that is a terminal.
class Progress {
 public:
  enum class Beside {
    kFile,      ///< hidden if standard output is a terminal: results would overwrite the line
    kAnyOutput  ///< nothing is written to standard output while the line is shown
  };
  explicit Progress(bool wanted, Beside beside = Beside::kFile);
  /// Clears the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Writes at most twice a second. `total_bytes` is 0 if unknown.
  void update(std::uint64_t rows, std::uint64_t bytes, std::uint64_t total_bytes);
  /// Writes at once.
  void say(std::string_view what);

 private:
  using Clock = std::chrono::steady_clock;

  bool shown_;
  bool written_ = false;
  Clock::time_point start_, last_;
};

/// Aligned columns of text: names to the left, numbers to the right.
class TextTable {
 public:
  /// The first column holds the row's number; the next `names` columns hold names.
  TextTable(std::vector<std::string> header, std::size_t names);

  void add(std::vector<std::string> row);
  /// Lines indented by two spaces.
  std::string text() const;

 private:
  std::size_t names_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace ga_tools::cli

#endif  // CLI__OUTPUT_HPP_
