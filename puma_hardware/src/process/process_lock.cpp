// SPDX-License-Identifier: Apache-2.0
#include "process/process_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace puma_hardware {

namespace {

constexpr std::size_t kLongestCommand = 160;

/// In the folder of the heartbeats and emulated cards, where every user may write.
std::string path_of(const std::string& name) {
  const auto fits = [](unsigned char c) {
    return (c < 128 && std::isalnum(c)) || c == '_' || c == '-' || c == '.';
  };
  if (name.empty() || name.size() > 120 || !std::all_of(name.begin(), name.end(), fits)) {
    throw std::runtime_error("lock '" + name +
                             "': a name is 1 to 120 letters, digits, '_', '-' or '.'");
  }
  return "/dev/shm/puma_lock_" + name;
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw std::runtime_error("lock " + path + ": " + std::strerror(error) +
                           "; run as the user that owns the file, or remove it when no program "
                           "that drives the arm runs");
}

/// -1 if it was created or removed meanwhile: try again.
int open_file(const std::string& path) {
  // Many kernels refuse O_CREAT for another user's file in a world-writable folder: try without.
  int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file >= 0 || errno != ENOENT) return file >= 0 ? file : (fail(path, errno), -1);
  file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file < 0 && errno != EEXIST) fail(path, errno);
  if (file >= 0) fchmod(file, 0666);  // despite the umask: the next holder may be another user
  return file;
}

/// The holder removes the file when it ends: the opened file may no longer be the present one.
bool still_there(int file, const std::string& path) noexcept {
  struct stat mine {
  }, present{};
  return fstat(file, &mine) == 0 && stat(path.c_str(), &present) == 0 &&
         mine.st_ino == present.st_ino && mine.st_dev == present.st_dev;
}

std::string own_command() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& c : text) {
    if (c == '\0' || c == '\n') c = ' ';
  }
  return text.substr(0, kLongestCommand);
}

}  // namespace

std::string ProcessLock::Holder::text() const {
  if (pid <= 0) return "another process";
  return "process " + std::to_string(pid) + (command.empty() ? "" : " (" + command + ")");
}

std::optional<ProcessLock> ProcessLock::take(const std::string& name, const std::string& note) {
  const std::string path = path_of(name);
  for (;;) {
    const int file = open_file(path);
    if (file < 0) continue;
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      close(file);
      if (error == EWOULDBLOCK) return std::nullopt;
      if (error == EINTR) continue;
      fail(path, error);
    }
    if (!still_there(file, path)) {
      close(file);
      continue;
    }
    const std::string text = std::to_string(getpid()) + "\n" + own_command() + "\n" + note + "\n";
    // Information for other processes; the lock does not depend on it.
    if (ftruncate(file, 0) == 0 && pwrite(file, text.data(), text.size(), 0) < 0) errno = 0;
    return ProcessLock(file, path);
  }
}

ProcessLock::Holder ProcessLock::holder(const std::string& name) {
  std::ifstream file(path_of(name));
  Holder holder;
  std::string pid;
  std::getline(file, pid);
  std::getline(file, holder.command);
  std::getline(file, holder.note);
  holder.pid = std::atoi(pid.c_str());
  return holder;
}

bool ProcessLock::present() const noexcept { return file_ >= 0 && still_there(file_, path_); }

ProcessLock::ProcessLock(int file, std::string path)
    : file_(file), owner_(getpid()), path_(std::move(path)) {}

ProcessLock::ProcessLock(ProcessLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)), owner_(other.owner_), path_(std::move(other.path_)) {}

ProcessLock& ProcessLock::operator=(ProcessLock&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(owner_, other.owner_);
  std::swap(path_, other.path_);
  return *this;
}

ProcessLock::~ProcessLock() {
  if (file_ < 0) return;
  // A forked child shares the lock but does not own it.
  if (owner_ == getpid()) unlink(path_.c_str());
  close(file_);
}

}  // namespace puma_hardware
