// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <system_error>

#include "cli/errors.hpp"
#include "ga_dynamics/number.hpp"

namespace ga_tools::cli {

using namespace ga_dynamics;
using namespace ga_motion;
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

[[noreturn]] void fail(int error) {
  if (error == EPIPE) throw ReaderGone();
  throw OutputError("cannot write to standard output: " + std::generic_category().message(error));
}

}  // namespace

Output::Output() : buffer_(kBufferBytes) {
  std::signal(SIGPIPE, SIG_IGN);  // write() then says EPIPE
}

void Output::put(std::string_view text) {
  while (!text.empty()) {
    if (used_ == buffer_.size()) flush();
    const std::size_t part = std::min(text.size(), buffer_.size() - used_);
    std::memcpy(buffer_.data() + used_, text.data(), part);
    used_ += part;
    text.remove_prefix(part);
  }
}

void Output::put_number(double value) {
  if (buffer_.size() - used_ < kMaxNumberBytes) flush();
  char* const at = buffer_.data() + used_;
  used_ += static_cast<std::size_t>(write_number(at, value) - at);
}

void Output::flush() {
  const char* at = buffer_.data();
  while (used_ > 0) {
    const ssize_t written = ::write(STDOUT_FILENO, at, used_);
    if (written < 0) {
      if (errno == EINTR) continue;
      used_ = 0;
      fail(errno);
    }
    at += written;
    used_ -= static_cast<std::size_t>(written);
  }
}

void Output::close() {
  flush();
  if (::close(STDOUT_FILENO) != 0 && errno != EINTR) fail(errno);
}

}  // namespace ga_tools::cli
