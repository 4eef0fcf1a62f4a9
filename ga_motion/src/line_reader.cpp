// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include "ga_motion/state_file.hpp"

namespace ga_motion {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 18;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

LineReader::LineReader(ByteSource source, std::string name)
    : source_(std::move(source)), name_(std::move(name)), buffer_(kMaxLineBytes + kBlockBytes) {}

bool LineReader::fill() {
  if (buffer_.size() - end_ < kBlockBytes) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const std::size_t got = source_(buffer_.data() + end_, kBlockBytes);
  end_ += got;
  return got > 0;
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;
  for (;;) {
    const char* const start = buffer_.data() + begin_;
    const std::size_t size = end_ - begin_;
    const void* const found =
        size > searched ? std::memchr(start + searched, '\n', size - searched) : nullptr;
    std::size_t length = size;
    if (found != nullptr)
      length = static_cast<std::size_t>(static_cast<const char*>(found) - start);
    if (length > kMaxLineBytes) {
      throw InputError(name_ + ": line " + std::to_string(number_ + 1) + " is longer than " +
                       std::to_string(kMaxLineBytes) + " bytes; give one state per line");
    }
    if (found == nullptr && !finished_) {
      searched = size;
      finished_ = !fill();
      continue;
    }
    if (found == nullptr && size == 0) return false;
    line = {start, length};
    begin_ += length + (found != nullptr ? 1 : 0);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (++number_ == 1 && line.starts_with(kByteOrderMark)) {
      line.remove_prefix(kByteOrderMark.size());
    }
    return true;
  }
}

}  // namespace ga_motion
