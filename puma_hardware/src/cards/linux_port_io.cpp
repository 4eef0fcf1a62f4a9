// SPDX-License-Identifier: Apache-2.0

#include "cards/linux_port_io.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#if defined(__x86_64__) || defined(__i386__)
#include <sys/io.h>
#define PUMA_HAS_PORTS 1
#else
#define PUMA_HAS_PORTS 0
#endif

namespace puma_hardware {

std::string explain_ioperm_error(const PortWindow& window, int error, std::string_view lockdown) {
  char place[64];
  std::snprintf(place, sizeof place, ": no access to ports 0x%X to 0x%X: ", unsigned{window.base},
                unsigned{window.base} + window.size - 1);
  std::string text = window.card + place;
  // The active mode is in brackets: "none [integrity] confidentiality".
  const bool locked = !lockdown.empty() && lockdown.find("[none]") == std::string_view::npos;
  if (error == EPERM && locked) {
    text +=
        "kernel lockdown forbids port access to all programs; disable Secure Boot in the firmware "
        "setup, or boot without lockdown=";
  } else if (error == EPERM) {
    text +=
        "the program lacks the capability CAP_SYS_RAWIO; run it as root, or grant it: puma with "
        "'sudo setcap cap_sys_rawio+ep PROGRAM', control_node as in docs/commissioning.md";
  } else if (error == ENOSYS) {
    text +=
        "this kernel or processor has no ioperm; an x86 kernel with CONFIG_X86_IOPL_IOPERM=y is "
        "needed, or run with emulated cards";
  } else {
    text += std::string("ioperm: ") + std::strerror(error) + "; check the card's base address";
  }
  return text;
}

LinuxPortIo::LinuxPortIo(const CardSettings& settings) {
  settings.validate();
  const auto windows = settings.windows();
  windows_.assign(windows.begin(), windows.end());
  grant_to_this_thread();
}

LinuxPortIo::LinuxPortIo(std::span<const PortWindow> windows)
    : windows_(windows.begin(), windows.end()) {
  grant_to_this_thread();
}

void LinuxPortIo::grant_to_this_thread() {
  for (const PortWindow& window : windows_) {
#if PUMA_HAS_PORTS
    const int error = ioperm(window.base, window.size, 1) == 0 ? 0 : errno;
#else
    const int error = ENOSYS;
#endif
    if (error == 0) continue;
    std::ifstream file("/sys/kernel/security/lockdown");
    std::string lockdown;
    std::getline(file, lockdown);
    throw CardError(explain_ioperm_error(window, error, lockdown));
  }
}

std::uint8_t LinuxPortIo::read([[maybe_unused]] std::uint16_t port) noexcept {
#if PUMA_HAS_PORTS
  return inb(port);
#else
  return 0xFF;
#endif
}

void LinuxPortIo::write([[maybe_unused]] std::uint16_t port,
                        [[maybe_unused]] std::uint8_t value) noexcept {
#if PUMA_HAS_PORTS
  outb(value, port);
#endif
}

}  // namespace puma_hardware
