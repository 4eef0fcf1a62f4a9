// SPDX-License-Identifier: Apache-2.0
#ifndef CARDS__PORT_IO_HPP_
#define CARDS__PORT_IO_HPP_

// The bus of the cards: bytes at port addresses. All functions are real-time safe and do not throw.

#include <time.h>

#include <cstdint>

namespace puma_hardware {

/// System time [ns], the same for all processes.
inline std::int64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

class PortIo {
 public:
  virtual ~PortIo() = default;
  /// An address without a card reads FFh, as on the ISA bus.
  virtual std::uint8_t read(std::uint16_t port) noexcept = 0;
  virtual void write(std::uint16_t port, std::uint8_t value) noexcept = 0;
  /// Monotonic time of this bus [ns], for time-outs.
  virtual std::int64_t now_ns() const noexcept = 0;
};

}  // namespace puma_hardware

#endif  // CARDS__PORT_IO_HPP_
