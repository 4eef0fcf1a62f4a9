// SPDX-License-Identifier: Apache-2.0

// Memory of the cards' state: private to this process, or shared by name.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "emulator/cards_state.hpp"
#include "process/process_lock.hpp"

namespace puma_hardware::emulator {

/// The functions throw std::runtime_error.
struct EmulatedCards::Segment {
  CardsState* state = nullptr;
  std::string path;  ///< empty: private
  int file = -1;
  std::optional<ProcessLock> lock;  ///< of the creator
  pid_t creator = 0;                ///< of a shared segment; 0 if it was only opened

  static std::unique_ptr<Segment> make_private(const CardSettings& settings, bool wall_clock,
                                               const CardBehavior& behavior);
  static std::unique_ptr<Segment> create(const std::string& name, const CardSettings& settings,
                                         const CardBehavior& behavior);
  /// Waits up to `patience` [s].
  static std::unique_ptr<Segment> open(const std::string& name, const CardSettings& settings,
                                       double patience);
  Segment() = default;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment();
};

namespace {

struct Wire {
  std::string name;
  long value;
};

/// The settings of the hardware itself. Settings of a driver (ranges, time-outs, filter clock) may
/// differ between processes that share the cards.
std::vector<Wire> wires_of(const CardSettings& s) {
  std::vector<Wire> wires{
      {"pcl818.base", s.pcl818.base},
      {"pcl818.variant", static_cast<long>(s.pcl818.variant)},
      {"pcl818.jumper_10v", s.pcl818.jumper_10v},
      {"pcl818.thermal_active_high", s.pcl818.thermal_active_high},
      {"pcl726.base", s.pcl726.base},
      {"pcl726.coding", static_cast<long>(s.pcl726.coding)},
      {"pcl726.range", static_cast<long>(s.pcl726.range)},
      {"pcl726.power_output", s.pcl726.power_output},
      {"pcl726.brake_output", s.pcl726.brake_output},
      {"pcl726.power_feedback_input", s.pcl726.power_feedback_input},
      {"pcl726.power_feedback_active_high", s.pcl726.power_feedback_active_high},
      {"pcl726.watchdog_output", s.pcl726.watchdog_output},
      {"pcl726.watchdog_input", s.pcl726.watchdog_input}};
  const auto add = [&](const char* name, const auto& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      wires.push_back({std::string(name) + "[" + std::to_string(i) + "]", values[i]});
    }
  };
  add("pcl818.pot_channel", s.pcl818.pot_channel);
  add("pcl818.thermal_input", s.pcl818.thermal_input);
  add("pcl726.channel", s.pcl726.channel);
  add("pcl726.tool_output", s.pcl726.tool_output);
  add("pcl833.base", s.pcl833.base);
  add("pcl833.channel", s.pcl833.channel);
  add("pcl833.byte_offset", s.pcl833.byte_offset);
  return wires;
}

/// As the settings spell it.
std::string text_of(const Wire& wire) {
  if (wire.name == "pcl818.variant") return to_string(static_cast<Pcl818Variant>(wire.value));
  if (wire.name == "pcl726.coding") {
    return static_cast<DacCoding>(wire.value) == DacCoding::kTwosComplement ? "twos_complement"
                                                                            : "offset_binary";
  }
  if (wire.name == "pcl726.range") {
    return static_cast<DacRange>(wire.value) == DacRange::kBipolar5 ? "bipolar_5" : "bipolar_10";
  }
  char text[24];
  const bool address = wire.name.find(".base") != std::string::npos;
  std::snprintf(text, sizeof text, address ? "0x%lX" : "%ld", wire.value);
  return text;
}

std::string path_of(const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  if (name.empty() || name.size() > 100 || !std::all_of(name.begin(), name.end(), allowed)) {
    throw std::runtime_error("emulated cards cannot be named '" + name +
                             "'; use 1 to 100 letters, digits, '_', '-' or '.'");
  }
  return "/puma_cards_" + name;
}

[[noreturn]] void fail(const std::string& path, const std::string& what, int error) {
  throw std::runtime_error("emulated cards '" + path + "': " + what + ": " + std::strerror(error));
}

void initialize(CardsState& state, const CardSettings& settings, bool wall_clock,
                const CardBehavior& behavior) {
  settings.validate();
  state.settings = settings;
  state.behavior = behavior;
  if (behavior.inputs_float_high) state.pcl726.inputs = 0xFFFF;
  for (auto& channel : state.pcl726.channels) channel.code = behavior.power_up_code;
  state.wall_clock = wall_clock;
  update_inputs(state);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  // Priority inheritance: a real-time process must not wait for a preempted one.
  pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  const int error = pthread_mutex_init(&state.mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  if (error != 0) {
    throw std::runtime_error(std::string("emulated cards: cannot make their lock: ") +
                             std::strerror(error));
  }
  std::atomic_ref(state.magic).store(CardsState::kMagic, std::memory_order_release);
}

CardsState* map(const std::string& path, int file) {
  void* memory = mmap(nullptr, sizeof(CardsState), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) fail(path, "cannot map them", errno);
  return static_cast<CardsState*>(memory);
}

}  // namespace

std::unique_ptr<EmulatedCards::Segment> EmulatedCards::Segment::make_private(
    const CardSettings& settings, bool wall_clock, const CardBehavior& behavior) {
  auto segment = std::make_unique<Segment>();
  segment->state = new CardsState;
  initialize(*segment->state, settings, wall_clock, behavior);
  return segment;
}

std::unique_ptr<EmulatedCards::Segment> EmulatedCards::Segment::create(
    const std::string& name, const CardSettings& settings, const CardBehavior& behavior) {
  auto segment = std::make_unique<Segment>();
  const std::string path = path_of(name);
  const std::string lock = "emulator-" + name;
  segment->lock = ProcessLock::take(lock);
  if (!segment->lock) {
    throw std::runtime_error("emulated cards '" + name + "': " + ProcessLock::holder(lock).text() +
                             " already emulates it; stop that process, or use another name");
  }
  shm_unlink(path.c_str());  // left by a killed process
  segment->file = shm_open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (segment->file < 0) fail(path, "cannot create them", errno);
  segment->path = path;
  segment->creator = getpid();
  if (ftruncate(segment->file, sizeof(CardsState)) != 0) fail(path, "no memory for them", errno);
  segment->state = new (map(path, segment->file)) CardsState;
  initialize(*segment->state, settings, true, behavior);
  return segment;
}

std::unique_ptr<EmulatedCards::Segment> EmulatedCards::Segment::open(const std::string& name,
                                                                     const CardSettings& settings,
                                                                     double patience) {
  using Clock = std::chrono::steady_clock;
  const std::string path = path_of(name);
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(std::max(patience, 0.0)));
  const auto wait = [&] {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return true;
  };
  for (;;) {
    auto segment = std::make_unique<Segment>();
    segment->file = shm_open(path.c_str(), O_RDWR | O_CLOEXEC, 0);
    if (segment->file < 0) {
      if (errno == ENOENT && wait()) continue;
      if (errno == ENOENT) {
        throw std::runtime_error("there are no emulated cards '" + path +
                                 "'; start the emulator under the name '" + name + "'");
      }
      fail(path, "cannot open them", errno);
    }
    segment->path = path;
    struct stat status {};
    if (fstat(segment->file, &status) != 0) fail(path, "cannot read their size", errno);
    if (status.st_size == 0 && wait()) continue;
    if (status.st_size != static_cast<off_t>(sizeof(CardsState))) {
      throw std::runtime_error(
          "emulated cards '" + path + "' have " + std::to_string(status.st_size) + " bytes, not " +
          std::to_string(sizeof(CardsState)) + ": another version made them; restart the emulator");
    }
    segment->state = map(path, segment->file);
    if (std::atomic_ref(segment->state->magic).load(std::memory_order_acquire) !=
        CardsState::kMagic) {
      if (wait()) continue;
      throw std::runtime_error("emulated cards '" + path +
                               "' are incomplete; restart the emulator");
    }
    if (segment->state->version != CardsState::kVersion) {
      throw std::runtime_error("emulated cards '" + path + "' are of version " +
                               std::to_string(segment->state->version) + ", not " +
                               std::to_string(CardsState::kVersion) + "; restart the emulator");
    }
    const std::vector<Wire> here = wires_of(settings), there = wires_of(segment->state->settings);
    for (std::size_t i = 0; i < here.size() && !segment->state->own_wiring; ++i) {
      if (here[i].value == there[i].value) continue;
      throw std::runtime_error("emulated cards '" + path + "' have " + here[i].name + " = " +
                               text_of(there[i]) + ", the settings here say " + text_of(here[i]) +
                               "; give both the same settings or restart the emulator");
    }
    return segment;
  }
}

EmulatedCards::Segment::~Segment() {
  if (path.empty()) {
    if (state != nullptr) pthread_mutex_destroy(&state->mutex);
    delete state;
    return;
  }
  if (state != nullptr) munmap(state, sizeof(CardsState));
  // Not in a forked child, and not if the name now belongs to new cards.
  if (creator == getpid()) {
    struct stat mine {
    }, present{};
    const int file_now = shm_open(path.c_str(), O_RDONLY | O_CLOEXEC, 0);
    if (file_now >= 0) {
      if (fstat(file, &mine) == 0 && fstat(file_now, &present) == 0 &&
          mine.st_ino == present.st_ino) {
        shm_unlink(path.c_str());
      }
      close(file_now);
    }
  }
  close(file);
}

EmulatedCards::EmulatedCards(std::unique_ptr<Segment> segment)
    : segment_(std::move(segment)), state_(segment_->state) {}

EmulatedCards::EmulatedCards(const CardSettings& settings, bool wall_clock,
                             const CardBehavior& behavior)
    : EmulatedCards(Segment::make_private(settings, wall_clock, behavior)) {}

std::unique_ptr<EmulatedCards> EmulatedCards::create_shared(const std::string& name,
                                                            const CardSettings& settings,
                                                            const CardBehavior& behavior) {
  return std::unique_ptr<EmulatedCards>(
      new EmulatedCards(Segment::create(name, settings, behavior)));
}

std::unique_ptr<EmulatedCards> EmulatedCards::open_shared(const std::string& name,
                                                          const CardSettings& settings,
                                                          double patience) {
  return std::unique_ptr<EmulatedCards>(new EmulatedCards(Segment::open(name, settings, patience)));
}

EmulatedCards::~EmulatedCards() = default;

}  // namespace puma_hardware::emulator
