// SPDX-License-Identifier: Apache-2.0
#ifndef CARDS__LINUX_PORT_IO_HPP_
#define CARDS__LINUX_PORT_IO_HPP_

// The real bus: port instructions of an x86 processor under Linux, allowed by ioperm(2) for the
// cards' windows and nothing else.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cards/card_settings.hpp"
#include "cards/port_io.hpp"

namespace puma_hardware {

/// Linux grants ports to a thread, not to a process: the thread that constructs this has them, and
/// threads that it starts later inherit them; any other thread that does I/O must call
/// grant_to_this_thread() first. An access from a thread without the grant, or outside the windows,
/// ends the process by SIGSEGV. A grant lasts as long as its thread.
/// Needs CAP_SYS_RAWIO when granting, not afterwards.
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
  std::int64_t now_ns() const noexcept override;  ///< CLOCK_MONOTONIC

 private:
  std::vector<PortWindow> windows_;
};

/// Why ioperm refused, with the remedy. `error`: errno; `lockdown`: what
/// /sys/kernel/security/lockdown says, empty if there is no such file.
std::string explain_ioperm_error(const PortWindow& window, int error, std::string_view lockdown);

}  // namespace puma_hardware

#endif  // CARDS__LINUX_PORT_IO_HPP_
