// SPDX-License-Identifier: Apache-2.0
#ifndef ARM_BENCH_HPP_
#define ARM_BENCH_HPP_

// PumaSystem on a bench, with cards that are emulated in this process and a law to drive it.

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "plugins/arm_system.hpp"
#include "puma_hardware/emulator/emulated_arm.hpp"
#include "sim/closed_loop.hpp"
#include "sim_bench.hpp"

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
  parameters.emplace("calibration_file", EMULATED_CALIBRATION);
  std::string urdf = puma(parameters);
  const std::string sim = "puma_hardware/PumaSimSystem";
  return urdf.replace(urdf.find(sim), sim.size(), "puma_hardware/PumaSystem");
}

class ArmBench : public Bench {
 public:
  explicit ArmBench(const Parameters& parameters = {},
                    std::unique_ptr<hardware_interface::SystemInterface> plugin =
                        std::make_unique<puma_hardware::PumaSystem>())
      : Bench(real_puma(parameters), std::move(plugin)),
        chain_(ga_dynamics::Chain::from_urdf_file(PUMA_URDF)),
        law_(chain_,
             puma_hardware::sim::law_parameters(ga_controllers::LawKind::kTracking,
                                                {ga_controllers::gains_from_bandwidth(40, 1)}, 1,
                                                puma_hardware::sim::signals_of(chain_))),
        torque_(6),
        zero_(6) {}

  const ga_dynamics::Chain& chain() const { return chain_; }

  std::string calibrate() { return call("calibrate", 200); }
  /// Connected, calibrated, active; effort claimed, the law holds the arm where it is.
  bool bring_up() {
    system().configure();
    if (calibrate()[0] != '+') return false;
    system().activate();
    return state() == States::PRIMARY_STATE_ACTIVE && engage();
  }
  bool engage() {
    if (!start()) return false;
    const auto q = positions();
    goal_ = q;
    const std::vector<double> none(6, std::numeric_limits<double>::quiet_NaN());
    law_.start(q, zero_, none);
    return true;
  }

  /// One cycle as a controller manager with the law runs it.
  Return drive(const ga_controllers::Reference& reference) {
    if (const Return result = read_next(); result != Return::OK) return result;
    const auto q = positions();
    std::vector<double> qd;
    for (const std::string& joint : joints()) qd.push_back(state(joint + "/velocity"));
    law_.update(q, qd, reference, 1e-3, torque_);
    set_efforts(torque_);
    return write_or_deactivate();
  }
  Return hold(int count) {
    for (int i = 0; i < count; ++i) {
      if (const Return result = drive({goal_, zero_, zero_}); result != Return::OK) return result;
    }
    return Return::OK;
  }
  /// Moves on at a speed [rad/s] of joint 1 for so many cycles.
  Return move(int count, double speed) {
    std::vector<double> qd(zero_);
    qd[0] = speed;
    for (int i = 0; i < count; ++i) {
      goal_[0] += speed * 1e-3;
      if (const Return result = drive({goal_, qd, zero_}); result != Return::OK) return result;
    }
    return Return::OK;
  }
  double largest_distance(const std::vector<double>& from) const {
    double largest = 0;
    for (std::size_t i = 0; i < 6; ++i)
      largest = std::max(largest, std::abs(position(i) - from[i]));
    return largest;
  }
  double largest_effort() const {
    double largest = 0;
    for (std::size_t i = 0; i < 6; ++i) largest = std::max(largest, std::abs(effort(i)));
    return largest;
  }

 private:
  ga_dynamics::Chain chain_;
  ga_controllers::ControlLaw law_;
  std::vector<double> torque_, zero_, goal_;
};

}  // namespace test

#endif  // ARM_BENCH_HPP_
