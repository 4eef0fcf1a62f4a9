// SPDX-License-Identifier: Apache-2.0
#ifndef EMULATOR__EMULATED_CELL_HPP_
#define EMULATOR__EMULATED_CELL_HPP_

// A robot for other processes: shared cards with the simulated arm behind them, in wall-clock time.
// Other processes open the cards by name.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "emulator/emulated_arm.hpp"

namespace puma_hardware::emulator {

struct EmulatedCellOptions {
  EmulatedArmOptions arm = {};
  CardBehavior cards = {};
  double rate = 1000;  ///< Hz, of the steps of the arm
  /// s of a stall that the simulation catches up with; the rest of a longer stall is skipped, as if
  /// time had stood still.
  double max_catch_up = 0.1;
};

struct EmulatedCellReport {
  std::uint64_t steps = 0;
  double simulated = 0;     ///< s
  double skipped = 0;       ///< s
  double longest_step = 0;  ///< s of computing
};

/// Returns when `stop` is true, and removes the cards. Calls `ready` once cards and arm are running.
/// Throws std::runtime_error if the cards cannot be created, std::invalid_argument for invalid
/// options.
EmulatedCellReport run_emulator(
    const std::string& name, const ArmSettings& settings, const ga_dynamics::Chain& chain,
    const EmulatedCellOptions& options, const std::atomic<bool>& stop,
    const std::function<void(EmulatedCards&, EmulatedArm&)>& ready = {});

}  // namespace puma_hardware::emulator

#endif  // EMULATOR__EMULATED_CELL_HPP_
