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
  explicit ArmBench(const Parameters& parameters = {},
                    std::unique_ptr<puma_hardware::PumaSystem> plugin =
                        std::make_unique<puma_hardware::PumaSystem>())
      : ArmBench(parameters, *plugin, std::move(plugin)) {}

  std::string calibrate() { return call("calibrate", 200); }
  /// Connected, calibrated, active; effort claimed, the law holds the arm where it is.
  bool bring_up() override {
    system().configure();
    if (calibrate()[0] != '+') return false;
    system().activate();
    return state() == States::PRIMARY_STATE_ACTIVE && engage();
  }

  puma_hardware::PumaSystem& plugin() { return plugin_; }
  /// Do the emulated cards show what they should without power?
  bool outputs_are_off() const {
    const auto& cards = *plugin_.emulated_cards();
    for (int joint = 0; joint < 6; ++joint) {
      if (cards.output_volts(joint) != 0) return false;
    }
    return !cards.digital_output(kPowerOutput);
  }
  static constexpr int kPowerOutput = 2;  ///< with the brakes on it, by default

 private:
  ArmBench(const Parameters& parameters, puma_hardware::PumaSystem& plugin,
           std::unique_ptr<puma_hardware::PumaSystem>&& owned)
      : LawBench(real_puma(parameters), std::move(owned)), plugin_(plugin) {}

  puma_hardware::PumaSystem& plugin_;
};

}  // namespace test

#endif  // ARM_BENCH_HPP_
