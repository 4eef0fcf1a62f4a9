// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "ga_dynamics/number.hpp"

namespace ga_tools::cli {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

[[noreturn]] void fail(int error) {
  if (error == EPIPE) throw ReaderGone();
  throw OutputError("cannot write to standard output: " + std::generic_category().message(error));
}

/// Characters, not bytes, of UTF-8 text.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace

Output::Output() : buffer_(kBufferBytes) {
  std::signal(SIGPIPE, SIG_IGN);  // write() then fails with EPIPE
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
  if (buffer_.size() - used_ < ga_dynamics::kMaxNumberBytes) flush();
  char* const at = buffer_.data() + used_;
  used_ += static_cast<std::size_t>(ga_dynamics::write_number(at, value) - at);
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

void print(std::string_view text) {
  Output output;
  output.put(text);
  output.close();
}

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

TextTable::TextTable(std::vector<std::string> header, std::size_t names)
    : names_(names), rows_{std::move(header)} {}

void TextTable::add(std::vector<std::string> row) {
  row.resize(rows_.front().size());
  rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const std::vector<std::string>& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width(row[i]), ' ');
      const bool name = i >= 1 && i <= names_;
      line += "  " + (name ? row[i] + padding : padding + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace ga_tools::cli
