// SPDX-License-Identifier: Apache-2.0
#ifndef PUMA_CELL_HPP_
#define PUMA_CELL_HPP_

// The PUMA, and a simulated one that a law drives: with encoders, DACs, brakes, friction and stiction.

#include <utility>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_hardware/arm_model.hpp"
#include "ga_hardware/simulated_arm.hpp"

namespace ga_hardware::test {

using Values = std::vector<double>;

constexpr double kDt = 1e-3;

inline const ga_dynamics::Chain& puma() {
  static const auto chain = ga_dynamics::Chain::from_urdf_file(PUMA_URDF);
  return chain;
}

class PumaCell {
 public:
  /// With a payload [kg] that the law does not know, and stops [rad] beyond the hard limits.
  PumaCell(ga_controllers::LawKind kind, const Values& start, double payload,
           double stop_margin = 0)
      : signals_(signals_of(puma())),
        arm_(puma(), settings(start, payload, stop_margin)),
        law_(make(kind)),
        tau_(6) {
    arm_.power_on();
    law_.start(arm_.position(), arm_.velocity(), {});
  }

  /// Another controller takes over.
  void swap(ga_controllers::LawKind kind) {
    ga_controllers::ControlLaw next = make(kind);
    next.start(arm_.position(), arm_.velocity(), tau_);
    law_ = std::move(next);
  }

  SimulatedArm& arm() { return arm_; }
  const ga_controllers::ControlLaw& law() const { return law_; }
  /// Of the last cycle with a controller.
  const Values& torque() const { return tau_; }

 protected:
  /// One cycle with a controller. Empty reference: it holds.
  void drive(const ga_controllers::Reference& reference) {
    arm_.advance(kDt);
    law_.update(arm_.position(), arm_.velocity(), reference, kDt, tau_);
    arm_.command(tau_);
  }

 private:
  ga_controllers::ControlLaw make(ga_controllers::LawKind kind) const {
    using ga_controllers::LawKind;
    const bool measured = kind == LawKind::kPointToPoint || kind == LawKind::kHandGuiding;
    auto p = law_parameters(kind, {ga_controllers::gains_from_bandwidth(40, 1)}, measured ? 0.7 : 1,
                            signals_);
    p.keep_limits = true;
    return {puma(), p};
  }
  SimulatedArmSettings settings(const Values& start, double payload, double stop_margin) const {
    SimulatedArmSettings s;
    s.signals = signals_;
    s.plant.brake_torque = {100, 200, 90, 0, 0, 0};
    s.plant.static_ratio = 1.3;
    s.plant.stop_margin = stop_margin;
    s.payload.mass = payload;
    s.start = start;
    return s;
  }

  std::vector<JointSignals> signals_;
  SimulatedArm arm_;
  ga_controllers::ControlLaw law_;
  Values tau_;
};

}  // namespace ga_hardware::test

#endif  // PUMA_CELL_HPP_
