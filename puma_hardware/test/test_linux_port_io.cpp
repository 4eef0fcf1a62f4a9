// SPDX-License-Identifier: Apache-2.0

// Ports of the real machine. What the tests touch is the diagnostic port 80h, which nothing obeys.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>

#include "cards/linux_port_io.hpp"
#include "fake_bus.hpp"

namespace puma_hardware {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string explain(int error, std::string_view lockdown) {
  return explain_ioperm_error({"PCL-726 (pcl726.base)", 0x2C0, 16}, error, lockdown);
}

TEST(LinuxPortIo, TellsWhatIsMissingAndTheRemedy) {
  EXPECT_THAT(
      explain(EPERM, ""),
      AllOf(HasSubstr("PCL-726 (pcl726.base): no access to ports 0x2C0 to 0x2CF"),
            HasSubstr("CAP_SYS_RAWIO"), HasSubstr("root"), HasSubstr("setcap cap_sys_rawio+ep")));
  EXPECT_THAT(explain(EPERM, "[none] integrity confidentiality"), HasSubstr("CAP_SYS_RAWIO"));
  EXPECT_THAT(
      explain(EPERM, "none [integrity] confidentiality"),
      AllOf(HasSubstr("kernel lockdown"), HasSubstr("Secure Boot"), Not(HasSubstr("setcap"))));
  EXPECT_THAT(explain(ENOSYS, ""),
              AllOf(HasSubstr("CONFIG_X86_IOPL_IOPERM"), HasSubstr("emulated cards")));
  EXPECT_THAT(explain(EINVAL, ""), HasSubstr("Invalid argument; check the card's base address"));
}

TEST(LinuxPortIo, WithoutTheCapabilityItSaysSo) {
  std::string message;
  // Capabilities are a thread's own, and so this one can give them up.
  std::thread([&] {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2]{};
    ASSERT_EQ(syscall(SYS_capset, &header, none), 0);
    message = error_of([] { LinuxPortIo io(CardSettings{}); });
  }).join();
  EXPECT_THAT(message, HasSubstr("PCL-818 (pcl818.base): no access to ports 0x300 to 0x30F"));
}

TEST(LinuxPortIo, ImpossibleSettingsAreRefusedBeforePortsAreGranted) {
  CardSettings settings;
  settings.pcl726.base = 0x300;
  EXPECT_THAT(error_of([&] { LinuxPortIo io(settings); }), HasSubstr("overlap"));
}

TEST(LinuxPortIo, TimeRunsForward) {
  const LinuxPortIo io{std::span<const PortWindow>{}};
  const std::int64_t before = io.now_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_GE(io.now_ns() - before, 2'000'000);
}

#ifdef __x86_64__

/// Catches port instructions that the thread is not allowed, and notes them.
class PortTrap {
 public:
  PortTrap() {
    struct sigaction action {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &before_);
    instruction_ = -1;
    port_ = -1;
    value_ = -1;
  }
  ~PortTrap() { sigaction(SIGSEGV, &before_, nullptr); }

  int instruction() const { return instruction_; }
  int port() const { return port_; }
  int value() const { return value_; }

  static constexpr int kIn = 0xEC, kOut = 0xEE;  ///< one byte each: port in DX, value in AL
  static constexpr int kAnswer = 0x3C;           ///< to a caught read

 private:
  static void handle(int, siginfo_t*, void* context) {
    greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const int instruction = *reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]);
    if (instruction != kIn && instruction != kOut) _exit(99);
    instruction_ = instruction;
    port_ = static_cast<int>(registers[REG_RDX] & 0xFFFF);
    value_ = static_cast<int>(registers[REG_RAX] & 0xFF);
    if (instruction == kIn) registers[REG_RAX] = (registers[REG_RAX] & ~greg_t{0xFF}) | kAnswer;
    ++registers[REG_RIP];
  }

  static inline volatile int instruction_, port_, value_;
  struct sigaction before_ {};
};

TEST(LinuxPortIo, ReadsAndWritesByPortInstructions) {
  LinuxPortIo nothing_granted{std::span<const PortWindow>{}};
  {
    const PortTrap trap;
    EXPECT_EQ(nothing_granted.read(0x2CE), PortTrap::kAnswer);
    EXPECT_EQ(trap.instruction(), PortTrap::kIn);
    EXPECT_EQ(trap.port(), 0x2CE);
  }
  {
    const PortTrap trap;
    nothing_granted.write(0x2C1, 0xA7);
    EXPECT_EQ(trap.instruction(), PortTrap::kOut);
    EXPECT_EQ(trap.port(), 0x2C1);
    EXPECT_EQ(trap.value(), 0xA7);
  }
}

TEST(LinuxPortIo, GrantsItsWindowsAndNothingElseByThread) {
  const PortWindow diagnostic{"diagnostic port", 0x80, 1};
  std::unique_ptr<LinuxPortIo> io;
  // Granted in a thread of its own, so that the test's thread can show that it has no part in it.
  std::string refused;
  bool granted_traps = true, neighbor_traps = false;
  std::thread([&] {
    refused = error_of([&] { io = std::make_unique<LinuxPortIo>(std::span(&diagnostic, 1)); });
    if (!refused.empty()) return;
    const PortTrap trap;
    io->write(0x80, 0x55);
    io->read(0x80);
    granted_traps = trap.instruction() >= 0;
    io->read(0x81);
    neighbor_traps = trap.port() == 0x81;
  }).join();
  if (!refused.empty()) GTEST_SKIP() << refused;
  EXPECT_FALSE(granted_traps);
  EXPECT_TRUE(neighbor_traps);

  const PortTrap trap;
  io->read(0x80);
  EXPECT_EQ(trap.port(), 0x80) << "not granted to this thread yet";
  std::thread([&] {
    io->grant_to_this_thread();
    const PortTrap inner;
    io->read(0x80);
    EXPECT_EQ(inner.port(), -1);
  }).join();
}

#endif

}  // namespace
}  // namespace puma_hardware
