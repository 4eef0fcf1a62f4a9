// SPDX-License-Identifier: Apache-2.0
#ifndef ARM_BENCH_HPP_
#define ARM_BENCH_HPP_

// PumaSystem on a bench, with cards that are emulated in this process and a law to drive it.

#include <array>
#include <memory>
#include <string>

#include "emulator/emulated_arm.hpp"
#include "law_bench.hpp"
#include "plugins/arm_system.hpp"

namespace test {

constexpr std::array<double, 6> kStart{0.3, -1.2, 1.9, 0.1, 0.4, -0.2};

inline std::string positions_text(const std::array<double, 6>& q) {
  std::string text;
  for (std::size_t i = 0; i < 6; ++i) {
    text += (i == 0 ? "joint" : ",joint") + std::to_string(i + 1) + ":" + std::to_string(q[i]);
  }
  return text;
}

inline std::string real_puma(Parameters parameters = {}) {
  parameters.emplace("io", "emulated");
  parameters.emplace("initial_positions", positions_text(kStart));
  std::string urdf = puma(parameters);
  const std::string sim = "puma_hardware/PumaSimSystem";
  return urdf.replace(urdf.find(sim), sim.size(), "puma_hardware/PumaSystem");
}

class ArmBench : public LawBench {
 public:
  using Plugin = puma_hardware::PumaSystem;
  static constexpr double kStandingPower = 0;  ///< active, on its brakes
  static constexpr int kThermalCycles = 2000;  ///< until an alarm is noticed, at most

  explicit ArmBench(const Parameters& parameters = {},
                    std::unique_ptr<Plugin> plugin = std::make_unique<Plugin>())
      : ArmBench(parameters, *plugin, std::move(plugin)) {}

  static std::string urdf() { return real_puma(); }
  std::string calibrate() { return call("calibrate", 200); }
  bool make_ready() override { return calibrate()[0] == '+'; }

  Plugin& plugin() { return plugin_; }
  /// Do the emulated cards show what they should without power?
  bool outputs_are_off() const override {
    const auto& cards = *plugin_.emulated_cards();
    for (int joint = 0; joint < 6; ++joint) {
      if (cards.output_volts(joint) != 0) return false;
    }
    return !cards.digital_output(kPowerOutput);
  }
  static constexpr int kPowerOutput = 2;  ///< with the brakes on it, by default

 private:
  ArmBench(const Parameters& parameters, Plugin& plugin, std::unique_ptr<Plugin>&& owned)
      : LawBench(real_puma(parameters), std::move(owned)), plugin_(plugin) {}

  Plugin& plugin_;
};

}  // namespace test

#endif  // ARM_BENCH_HPP_
