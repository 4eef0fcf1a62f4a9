// SPDX-License-Identifier: Apache-2.0
#ifndef FAKE_BUS_HPP_
#define FAKE_BUS_HPP_

// A bus without cards, for the drivers' tests: reads give what the test has laid there, all
// accesses are written down.

#include <cstdint>
#include <cstdio>
#include <deque>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "cards/card_settings.hpp"
#include "cards/port_io.hpp"

namespace puma_hardware {

class FakeBus : public PortIo {
 public:
  std::uint8_t read(std::uint16_t port) noexcept override {
    std::uint8_t value = 0xFF;
    if (auto& queue = queued_[port]; !queue.empty()) {
      value = queue.front();
      queue.pop_front();
    } else if (const auto at = held_.find(port); at != held_.end()) {
      value = at->second;
    }
    note('R', port, value);
    return value;
  }

  void write(std::uint16_t port, std::uint8_t value) noexcept override {
    if (echoing_.count(port) != 0) held_[port] = value;
    note('W', port, value);
  }

  std::int64_t now_ns() const noexcept override { return now_; }

  /// What the port gives from now on.
  void hold(std::uint16_t port, std::uint8_t value) { held_[port] = value; }
  /// What the port gives once each, before what it holds.
  void queue(std::uint16_t port, std::initializer_list<std::uint8_t> values) {
    queued_[port].insert(queued_[port].end(), values);
  }
  /// The port gives back what is written to it.
  void echo(std::uint16_t port) { echoing_.insert(port); }
  void advance(std::int64_t ns) { now_ += ns; }

  /// The accesses since the last call: "W300=00 R308=10".
  std::string take_log() {
    accesses_ = 0;
    return std::exchange(log_, {});
  }
  int accesses() const { return accesses_; }  ///< since take_log()

 private:
  void note(char direction, std::uint16_t port, std::uint8_t value) {
    char text[16];
    std::snprintf(text, sizeof text, "%s%c%03X=%02X", log_.empty() ? "" : " ", direction,
                  unsigned{port}, unsigned{value});
    log_ += text;
    ++accesses_;
    now_ += 1000;  // about what an access to an 8-bit ISA card takes
  }

  std::map<std::uint16_t, std::uint8_t> held_;
  std::map<std::uint16_t, std::deque<std::uint8_t>> queued_;
  std::set<std::uint16_t> echoing_;
  std::string log_;
  int accesses_ = 0;
  std::int64_t now_ = 0;
};

/// The message of the error that `action` throws; empty if it throws none.
template <typename Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

}  // namespace puma_hardware

#endif  // FAKE_BUS_HPP_
