// SPDX-License-Identifier: Apache-2.0
// PumaSystem on ports: Linux grants them by thread, and an access without the grant ends the
// process. Here ioperm only takes note, the processor refuses every port instruction, and the trap
// looks at the note before it passes the access on to emulated cards.

#include <gtest/gtest.h>
#ifdef __x86_64__
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>

#include "arm_bench.hpp"

namespace {

using hardware_interface::CallbackReturn;
using test::Return;

std::array<std::atomic<int>, 64> granted{};  ///< thread ids
std::atomic<int> refused_accesses{0}, accesses{0};
puma_hardware::emulator::EmulatedCards* cards = nullptr;

bool is_granted() {
  const int self = gettid();
  for (const auto& thread : granted) {
    if (thread == self) return true;
  }
  return false;
}

void on_port_instruction(int, siginfo_t*, void* context) {
  constexpr int kIn = 0xEC, kOut = 0xEE;  // one byte each: port in DX, value in AL
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const int instruction = *reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]);
  if (instruction != kIn && instruction != kOut) _exit(99);
  ++accesses;
  if (!is_granted()) ++refused_accesses;
  const auto port = static_cast<std::uint16_t>(registers[REG_RDX]);
  if (instruction == kIn) {
    registers[REG_RAX] = (registers[REG_RAX] & ~greg_t{0xFF}) | cards->read(port);
  } else {
    cards->write(port, static_cast<std::uint8_t>(registers[REG_RAX]));
  }
  ++registers[REG_RIP];
}

}  // namespace

/// In place of the C library's.
extern "C" int ioperm(unsigned long, unsigned long, int) noexcept {
  const int self = gettid();
  for (auto& thread : granted) {
    int none = 0;
    if (thread == self || thread.compare_exchange_strong(none, self)) return 0;
  }
  return -1;
}

namespace {

/// In a thread of its own, which has no access to ports yet.
template <typename Call>
auto elsewhere(const Call& call) {
  decltype(call()) result{};
  std::thread([&] { result = call(); }).join();
  return result;
}

TEST(ArmSystemPorts, WhicheverThreadComesIsGrantedThePortsFirst) {
  struct sigaction trap {
  }, before{};
  trap.sa_sigaction = on_port_instruction;
  trap.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &trap, &before);

  hardware_interface::HardwareComponentInterfaceParams params;
  params.hardware_info = hardware_interface::parse_control_resources_from_urdf(
                             test::real_puma({{"io", "ports"}, {"guard", "false"}}))
                             .at(0);
  params.hardware_info.hardware_parameters.erase("initial_positions");
  params.hardware_info.rw_rate = 1000;
  auto plugin = std::make_unique<puma_hardware::PumaSystem>();
  ASSERT_EQ(plugin->on_init(params), CallbackReturn::SUCCESS);
  const auto states = plugin->on_export_state_interfaces();
  const auto commands = plugin->on_export_command_interfaces();
  const auto settings = puma_hardware::ArmSettings::from(
      ga_dynamics::Chain::from_urdf_file(PUMA_URDF), puma_hardware::Parameters{});
  puma_hardware::emulator::EmulatedCards emulated(settings.cards, true);
  cards = &emulated;

  const rclcpp_lifecycle::State any;
  const rclcpp::Time now{0, 0, RCL_SYSTEM_TIME};
  const auto period = rclcpp::Duration::from_seconds(1e-3);
  const auto configure = [&] { return plugin->on_configure(any); };
  const auto cycle = [&] { return plugin->read(now, period); };
  ASSERT_EQ(elsewhere(configure), CallbackReturn::SUCCESS);
  ASSERT_EQ(elsewhere(cycle), Return::OK);
  EXPECT_EQ(elsewhere([&] { return plugin->on_error(any); }), CallbackReturn::SUCCESS);
  // The old connection is let go in the thread of the new one.
  EXPECT_EQ(elsewhere(configure), CallbackReturn::SUCCESS);
  EXPECT_EQ(elsewhere(cycle), Return::OK);
  EXPECT_EQ(elsewhere([&] { return plugin->on_cleanup(any); }), CallbackReturn::SUCCESS);
  EXPECT_EQ(elsewhere(configure), CallbackReturn::SUCCESS);
  elsewhere([&] {
    plugin.reset();
    return 0;
  });
  sigaction(SIGSEGV, &before, nullptr);
  EXPECT_GT(accesses, 100);
  EXPECT_EQ(refused_accesses, 0);
}

}  // namespace
#endif
