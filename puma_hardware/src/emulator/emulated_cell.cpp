// SPDX-License-Identifier: Apache-2.0
#include "emulator/emulated_cell.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace puma_hardware::emulator {

EmulatedCellReport run_emulator(const std::string& name, const ArmSettings& settings,
                                const ga_dynamics::Chain& chain, const EmulatedCellOptions& options,
                                const std::atomic<bool>& stop,
                                const std::function<void(EmulatedCards&, EmulatedArm&)>& ready) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  if (!(options.rate >= 100 && options.rate <= 10000)) {
    throw std::invalid_argument("the emulator's rate is " + std::to_string(options.rate) +
                                " Hz; give 100 to 10000");
  }
  const double period = 1 / options.rate;
  if (!(options.max_catch_up >= period)) {
    throw std::invalid_argument("the emulator's max_catch_up is " +
                                std::to_string(options.max_catch_up) +
                                " s; give at least a period, " + std::to_string(period) + " s");
  }
  const auto cards = EmulatedCards::create_shared(name, settings.cards, options.cards);
  EmulatedArm arm(chain, settings, *cards, options.arm);
  if (ready) ready(*cards, arm);

  EmulatedCellReport report;
  const auto begin = Clock::now();
  while (!stop) {
    const auto step_begin = Clock::now();
    const double behind = Seconds(step_begin - begin).count() - report.skipped - report.simulated;
    if (behind < period) {
      std::this_thread::sleep_for(Seconds(period - std::max(behind, 0.0)));
      continue;
    }
    report.skipped += std::max(behind - options.max_catch_up, 0.0);
    if (!arm.advance(period)) throw std::runtime_error("the emulated arm: " + arm.plant().error());
    ++report.steps;
    report.simulated = static_cast<double>(report.steps) * period;
    report.longest_step = std::max(report.longest_step, Seconds(Clock::now() - step_begin).count());
  }
  return report;
}

}  // namespace puma_hardware::emulator
