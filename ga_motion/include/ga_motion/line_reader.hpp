// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__LINE_READER_HPP_
#define GA_MOTION__LINE_READER_HPP_

// Lines of a stream of any length, in constant memory.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ga_motion {

/// Writes at most `size` bytes to `to` and returns how many; 0 at the end of the stream.
using ByteSource = std::function<std::size_t(char* to, std::size_t size)>;

class LineReader {
 public:
  /// A row of 500 joints takes 40 kB; a line beyond this is no row of numbers.
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

  /// `name` is what error messages call the stream.
  LineReader(ByteSource source, std::string name);

  /// The next line without its end (LF or CR LF; the last line may have none) and, on line 1,
  /// without a UTF-8 byte order mark. False at the end. `line` stays valid until the next call.
  /// Throws InputError for a line over the limit.
  bool next(std::string_view& line);

  /// Of the line that next() gave last; the first is 1.
  long number() const { return number_; }
  const std::string& name() const { return name_; }

 private:
  bool fill();

  ByteSource source_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what has been read and not yet given
  bool finished_ = false;
  long number_ = 0;
};

}  // namespace ga_motion

#endif  // GA_MOTION__LINE_READER_HPP_
