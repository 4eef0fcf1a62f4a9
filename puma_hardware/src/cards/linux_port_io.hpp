// SPDX-License-Identifier: Apache-2.0
#ifndef CARDS__LINUX_PORT_IO_HPP_
#define CARDS__LINUX_PORT_IO_HPP_

// The real bus: x86 port instructions under Linux, with ioperm(2) for the cards' address windows
// only.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cards/card_settings.hpp"
#include "cards/port_io.hpp"

namespace puma_hardware {

/// Linux grants ports per thread: the constructing thread has access, and threads that it starts
/// later inherit it; any other thread must call grant_to_this_thread() first. An access without
/// grant, or outside the windows, ends the process with SIGSEGV. A grant lasts as long as its
/// thread. Granting needs CAP_SYS_RAWIO.
class LinuxPortIo : public PortIo {
 public:
  /// Grants the windows of the four cards to this thread. Throws CardError.
  explicit LinuxPortIo(const CardSettings& settings);
  explicit LinuxPortIo(std::span<const PortWindow> windows);

  /// Throws CardError. Not real-time safe.
  void grant_to_this_thread();

  // Real-time safe, none throws.
  std::uint8_t read(std::uint16_t port) noexcept override;
  void write(std::uint16_t port, std::uint8_t value) noexcept override;
  std::int64_t now_ns() const noexcept override { return monotonic_ns(); }

 private:
  std::vector<PortWindow> windows_;
};

/// Cause and remedy of an ioperm error. `error`: errno; `lockdown`: content of
/// /sys/kernel/security/lockdown, empty if there is no such file.
std::string explain_ioperm_error(const PortWindow& window, int error, std::string_view lockdown);

}  // namespace puma_hardware

#endif  // CARDS__LINUX_PORT_IO_HPP_
