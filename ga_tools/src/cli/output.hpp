// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CLI__OUTPUT_HPP_
#define GA_DYNAMICS__CLI__OUTPUT_HPP_

// Standard output in large blocks. No failure to write goes unseen.

#include <cstddef>
#include <string_view>
#include <vector>

namespace ga_tools::cli {

/// All functions throw OutputError, or ReaderGone where the other end of the pipe is closed.
class Output {
 public:
  Output();

  void put(std::string_view text);
  void put(char c) { put(std::string_view(&c, 1)); }
  void put_number(double value);
  /// Gives what has been put to the system.
  void flush();
  /// Flushes and closes: some file systems tell of a full disk only then.
  void close();

 private:
  std::vector<char> buffer_;
  std::size_t used_ = 0;
};

}  // namespace ga_tools::cli

#endif  // GA_DYNAMICS__CLI__OUTPUT_HPP_
