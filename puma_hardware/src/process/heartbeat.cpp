// SPDX-License-Identifier: Apache-2.0
#include "process/heartbeat.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace puma_hardware {

/// Zeroed memory is a valid, disarmed heartbeat: it does not matter which process creates it.
struct HeartbeatMemory {
  std::atomic<std::uint32_t> layout;
  std::atomic<std::uint32_t> armed;
  std::atomic<std::uint32_t> tripped;
  std::atomic<std::int32_t> controller_pid;
  std::atomic<std::uint32_t> digital_outputs;
  std::atomic<std::int64_t> beat_ns;
  std::atomic<std::int64_t> guard_beat_ns;
  std::atomic<std::uint64_t> guard_settings;
  std::atomic<std::int64_t> guard_timeout_ns;
  std::atomic<std::int32_t> guard_pid;
};

namespace {

constexpr std::uint32_t kLayout = 3;
/// For a guard that stands by to take over.
constexpr std::int64_t kTakeOver = 20'000'000;
static_assert(std::atomic<std::int64_t>::is_always_lock_free);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

std::string shared_name(const std::string& name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; };
  if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), fits)) {
    throw std::runtime_error("heartbeat '" + name +
                             "': a name is 1 to 64 letters, digits, '_' or '-'");
  }
  return "/puma_heartbeat_" + name;
}

[[noreturn]] void fail(const std::string& what, const std::string& name) {
  throw std::runtime_error("heartbeat '" + name + "': cannot " + what +
                           " the shared memory: " + std::strerror(errno));
}

bool process_lives(int pid) noexcept { return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM); }

}  // namespace

Heartbeat::Heartbeat(const std::string& name) {
  const int fd = shm_open(shared_name(name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    fail("open", name);
  }
  path_ = "/dev/shm" + shared_name(name);
  struct stat file {};
  if (fstat(fd, &file) == 0) file_ = file.st_ino;
  void* memory = MAP_FAILED;
  if (ftruncate(fd, sizeof(HeartbeatMemory)) == 0) {
    memory = mmap(nullptr, sizeof(HeartbeatMemory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  close(fd);
  if (memory == MAP_FAILED) {
    fail("map", name);
  }
  memory_ = static_cast<HeartbeatMemory*>(memory);
  std::uint32_t layout = 0;
  if (!memory_->layout.compare_exchange_strong(layout, kLayout) && layout != kLayout) {
    munmap(memory, sizeof(HeartbeatMemory));
    throw std::runtime_error(
        "heartbeat '" + name + "': the shared memory has layout " + std::to_string(layout) +
        ", this program knows " + std::to_string(kLayout) +
        "; stop the other program first. If there is none, remove /dev/shm" + shared_name(name));
  }
}

Heartbeat::~Heartbeat() {
  if (guard_fd_ >= 0) close(guard_fd_);
  munmap(memory_, sizeof(HeartbeatMemory));
}

void Heartbeat::remove(const std::string& name) noexcept {
  try {
    shm_unlink(shared_name(name).c_str());
  } catch (const std::runtime_error&) {
    // There is no memory with an invalid name.
  }
}

bool Heartbeat::arm() noexcept {
  const std::int32_t self = getpid();
  const std::int32_t other = memory_->controller_pid.load();
  if (memory_->armed.load() != 0 && other != self && process_lives(other)) {
    return false;
  }
  watch_guard();
  if (watched_guard_ > 0 && guard_process_ended()) return false;
  memory_->beat_ns.store(monotonic_ns());
  memory_->controller_pid.store(self);
  memory_->tripped.store(0);
  memory_->armed.store(1);
  armed_as_ = self;
  return true;
}

void Heartbeat::beat(std::uint16_t digital_outputs) noexcept {
  memory_->digital_outputs.store(digital_outputs, std::memory_order_relaxed);
  memory_->beat_ns.store(monotonic_ns(), std::memory_order_release);
}

void Heartbeat::disarm() noexcept {
  armed_as_ = 0;
  memory_->armed.store(0);
}

bool Heartbeat::overruled() const noexcept {
  if (armed_as_ == 0) return false;
  const bool kept = memory_->armed.load() != 0 && memory_->controller_pid.load() == armed_as_;
  // Read after `kept`: a trip sets its flag first, so that it is never mistaken for this.
  return !kept && !tripped();
}

bool Heartbeat::tripped() const noexcept { return memory_->tripped.load() != 0; }

bool Heartbeat::guard_alive(std::int64_t max_age_ns) const noexcept {
  const std::int64_t seen = memory_->guard_beat_ns.load(std::memory_order_acquire);
  return seen != 0 && monotonic_ns() - seen <= max_age_ns;
}

std::uint64_t Heartbeat::guard_settings() const noexcept { return memory_->guard_settings.load(); }

std::int64_t Heartbeat::guard_timeout_ns() const noexcept {
  return memory_->guard_timeout_ns.load();
}

int Heartbeat::guard_pid() const noexcept { return memory_->guard_pid.load(); }

void Heartbeat::watch_guard() noexcept {
  if (guard_fd_ >= 0) close(guard_fd_);
  watched_guard_ = guard_pid();
  ended_ns_ = 0;
  guard_fd_ =
      watched_guard_ > 0 ? static_cast<int>(syscall(SYS_pidfd_open, watched_guard_, 0)) : -1;
}

/// Without a pidfd the process has ended before, or the kernel has none.
bool Heartbeat::guard_process_ended() const noexcept {
  if (guard_fd_ < 0) return !process_lives(watched_guard_);
  pollfd guard{guard_fd_, POLLIN, 0};
  return poll(&guard, 1, 0) > 0;
}

bool Heartbeat::guard_ended() noexcept {
  if (guard_pid() != watched_guard_) watch_guard();
  if (watched_guard_ <= 0 || !guard_process_ended()) return false;
  const std::int64_t now = monotonic_ns();
  if (ended_ns_ == 0) ended_ns_ = now;
  return now - ended_ns_ >= kTakeOver;
}

bool Heartbeat::present() const noexcept {
  struct stat file {};
  return stat(path_.c_str(), &file) == 0 && file.st_ino == file_;
}

void Heartbeat::watch(std::uint64_t settings, std::int64_t timeout_ns) noexcept {
  memory_->guard_settings.store(settings);
  memory_->guard_timeout_ns.store(timeout_ns);
  memory_->guard_pid.store(getpid());
}

bool Heartbeat::armed() const noexcept { return memory_->armed.load() != 0; }

int Heartbeat::controller_pid() const noexcept { return memory_->controller_pid.load(); }

std::int64_t Heartbeat::beat_age_ns() const noexcept {
  return monotonic_ns() - memory_->beat_ns.load(std::memory_order_acquire);
}

std::uint16_t Heartbeat::digital_outputs() const noexcept {
  return static_cast<std::uint16_t>(memory_->digital_outputs.load(std::memory_order_relaxed));
}

void Heartbeat::guard_beat() noexcept {
  memory_->guard_beat_ns.store(monotonic_ns(), std::memory_order_release);
}

void Heartbeat::trip() noexcept {
  memory_->tripped.store(1);
  memory_->armed.store(0);
}

}  // namespace puma_hardware
