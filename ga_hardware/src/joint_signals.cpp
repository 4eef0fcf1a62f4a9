// SPDX-License-Identifier: Apache-2.0
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>

#include "ga_hardware/arm_model.hpp"
#include "ga_hardware/parameter_text.hpp"

namespace ga_hardware {

using ga_controllers::LawParameters;
using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;

namespace {

/// A positive number, or 0 where the parameter is absent.
double parameter(const ChainJoint& joint, const char* name) {
  const auto found = joint.parameters.find(name);
  if (found == joint.parameters.end()) return 0;
  const std::string& text = found->second;
  double value = 0;
  if (read_number(text, value) && value > 0) return value;
  throw std::runtime_error("joint '" + joint.name + "': parameter " + name + " is '" + text +
                           "'; give a positive number");
}

}  // namespace

std::vector<JointSignals> signals_of(const Chain& chain) {
  std::vector<JointSignals> signals;
  for (const ChainJoint& joint : chain.joints()) {
    const double per_turn =
        parameter(joint, "encoder_counts_per_rev") * parameter(joint, "gear_ratio");
    signals.push_back({per_turn / (2 * std::numbers::pi), parameter(joint, "torque_per_volt"), 0});
  }
  return signals;
}

LawParameters law_parameters(ga_controllers::LawKind kind,
                             std::vector<ga_controllers::JointGains> gains, double friction,
                             std::span<const JointSignals> signals) {
  LawParameters p;
  p.kind = kind;
  p.gains = std::move(gains);
  p.friction = friction;
  // The friction feed-forward follows the reference, which is free of noise, so its step may be
  // steep. A wider one lets joints stick before reversals and before the goal.
  p.friction_velocity = 0.0003;
  // These follow the measured velocity: with a steep step, noise would make the torque jump by
  // twice the Coulomb friction.
  const bool measured = kind == ga_controllers::LawKind::kPointToPoint ||
                        kind == ga_controllers::LawKind::kGravityCompensation;
  constexpr double kVelocityNoise =
      200;  // rad/s per rad: three times the noise gain of the observers
  for (const JointSignals& s : signals) {
    if (measured) p.friction_velocity = std::max(p.friction_velocity, kVelocityNoise * s.noise);
    p.hand_guiding.dead_zone = std::max(p.hand_guiding.dead_zone, kVelocityNoise * s.noise);
  }
  // An error of one count cannot be resolved.
  for (const JointSignals& s : signals) {
    if (s.counts_per_rad > 0) {
      p.integral_dead_band = std::max(p.integral_dead_band, 1.2 / s.counts_per_rad);
    }
  }
  return p;
}

}  // namespace ga_hardware
