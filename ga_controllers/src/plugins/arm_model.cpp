// SPDX-License-Identifier: Apache-2.0
#include "arm_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/number.hpp"
#include "law_parameters.hpp"
#include "live_payload.hpp"

namespace ga_controllers {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using law_controller::Params;

namespace {

Chain read_chain(const std::string& robot_description, const Params& p) {
  if (robot_description.empty()) {
    throw std::invalid_argument(
        "there is no robot description: the controller manager must have received one on "
        "~/robot_description before it loads this controller");
  }
  ga_dynamics::ChainOptions options;
  options.base = p.base;
  options.tip = p.tip;
  options.gravity = {p.gravity[0], p.gravity[1], p.gravity[2]};
  options.freeze_off_chain = true;
  options.spelling = ga_dynamics::OptionSpelling::kParameters;
  for (const std::string& joint : p.freeze) ga_dynamics::add_frozen(joint, options);
  return Chain::from_urdf_text(robot_description, options);
}

/// The joint's torque_rate_limit in <ros2_control>, or infinity.
double rate_limit(const ChainJoint& joint) {
  const auto found = joint.parameters.find("torque_rate_limit");
  if (found == joint.parameters.end()) return std::numeric_limits<double>::infinity();
  const std::string& text = found->second;
  double value = 0;
  if (!ga_dynamics::is_number(text, value) || !(value > 0)) {
    throw std::invalid_argument("joint '" + joint.name + "': torque_rate_limit '" + text +
                                "' in <ros2_control> is not a positive number");
  }
  return value;
}

}  // namespace

ArmModel::ArmModel(const std::string& robot_description, const Params& p)
    : chain(read_chain(robot_description, p)) {
  has_effort_state = true;
  for (const ChainJoint& joint : chain.joints()) {
    joints.push_back(joint.name);
    has_effort_state = has_effort_state && joint.state_interfaces.count("effort") > 0;
    if (p.torque_limit.empty() && !std::isfinite(effort_limit(joint.limits))) {
      throw std::invalid_argument("joint '" + joint.name +
                                  "' has no effort limit (zero counts as none): give the "
                                  "description's <limit> tag an effort attribute, or set the "
                                  "parameter torque_limit");
    }
  }
  if (!p.joints.empty() && p.joints.size() != joints.size()) {
    throw std::invalid_argument("parameter joints names " + std::to_string(p.joints.size()) +
                                " joints, but the chain from '" + chain.base().name + "' to '" +
                                chain.tip().name + "' has " + std::to_string(joints.size()) +
                                ": change joints, base or tip");
  }
  for (const std::string& name : p.joints.empty() ? joints : p.joints) {
    const auto found = std::find(joints.begin(), joints.end(), name);
    if (found == joints.end()) {
      throw std::invalid_argument("parameter joints: '" + name + "' is not on the chain from '" +
                                  chain.base().name + "' to '" + chain.tip().name + "'");
    }
    listed.push_back(static_cast<std::size_t>(found - joints.begin()));
  }
}

std::vector<double> ArmModel::spread(const std::vector<double>& values,
                                     const char* parameter) const {
  const std::size_t n = joints.size();
  if (values.size() != 1 && values.size() != n) {
    throw std::invalid_argument("parameter " + std::string(parameter) + " has " +
                                std::to_string(values.size()) + " values; give one for all or " +
                                std::to_string(n) + ", one per joint");
  }
  std::vector<double> spread(n);
  for (std::size_t k = 0; k < n; ++k) spread[listed[k]] = values[values.size() == 1 ? 0 : k];
  return spread;
}

std::vector<JointGains> ArmModel::gains(const Params& p) const {
  const std::vector<double> bandwidth = spread(p.gains.bandwidth, "gains.bandwidth");
  const std::vector<double> damping = spread(p.gains.damping, "gains.damping");
  std::vector<JointGains> gains;
  for (std::size_t i = 0; i < joints.size(); ++i) {
    gains.push_back(gains_from_bandwidth(bandwidth[i], damping[i]));
  }
  const auto replace = [&](const std::vector<double>& given, const char* name,
                           double JointGains::*member) {
    if (given.empty()) return;
    const std::vector<double> values = spread(given, name);
    for (std::size_t i = 0; i < gains.size(); ++i) gains[i].*member = values[i];
  };
  replace(p.gains.kp, "gains.kp", &JointGains::kp);
  replace(p.gains.kd, "gains.kd", &JointGains::kd);
  replace(p.gains.ki, "gains.ki", &JointGains::ki);
  if (!p.uncertainty.fit_gains) return gains;
  if (p.uncertainty.resonance.empty()) {
    throw std::invalid_argument(
        "parameter uncertainty.fit_gains needs the resonance of the drives: set "
        "uncertainty.resonance");
  }
  const std::vector<double> resonance = spread(p.uncertainty.resonance, "uncertainty.resonance");
  for (std::size_t i = 0; i < gains.size(); ++i) {
    gains[i] = gains_for_resonance(fitted_kind, gains[i], resonance[i]);
  }
  return gains;
}

Uncertainty ArmModel::uncertainty(const Params& p, bool declared) const {
  Uncertainty u;
  u.model = {.payload = p.uncertainty.payload,
             .payload_radius = p.uncertainty.payload_radius,
             .mass = p.uncertainty.mass,
             .armature_low = p.uncertainty.armature_low,
             .armature_high = p.uncertainty.armature_high};
  u.delay = static_cast<int>(p.uncertainty.delay);
  if (!p.uncertainty.resonance.empty())
    u.resonance = spread(p.uncertainty.resonance, "uncertainty.resonance");
  u.declared = declared;
  return u;
}

LawParameters ArmModel::law(LawKind kind, const Params& p) const {
  LawParameters law;
  law.kind = kind;
  law.gains = gains(p);
  for (const ChainJoint& joint : chain.joints()) {
    law.torque_limit.push_back(effort_limit(joint.limits));
    law.torque_rate_limit.push_back(rate_limit(joint));
  }
  if (!p.torque_limit.empty()) {
    const std::vector<double> own = spread(p.torque_limit, "torque_limit");
    for (std::size_t i = 0; i < own.size(); ++i) {
      law.torque_limit[i] = std::min(law.torque_limit[i], own[i]);
    }
  }
  if (!p.torque_rate_limit.empty()) {
    const std::vector<double> own = spread(p.torque_rate_limit, "torque_rate_limit");
    for (std::size_t i = 0; i < own.size(); ++i) {
      law.torque_rate_limit[i] = std::min(law.torque_rate_limit[i], own[i]);
    }
  }
  law.friction = p.friction;
  law.friction_velocity = p.friction_velocity;
  law.integral_dead_band = p.integral_dead_band;
  law.integral_limit = p.integral_limit;
  law.blend_time = p.blend_time;
  law.payload = payload_of(p);
  law.keep_limits = true;
  law.keep_path = p.keep_path;
  law.look_ahead = p.look_ahead;
  law.adaptation = {.enabled = p.adaptation.enabled,
                    .mass = p.adaptation.mass,
                    .com = p.adaptation.com,
                    .payload_mass = p.adaptation.payload_mass,
                    .payload_offset = p.adaptation.payload_offset,
                    .friction = p.adaptation.friction,
                    .armature = p.adaptation.armature};
  // The resonance of elastic drives limits the loop: their feedback keeps the described inertia.
  const auto elastic = [](double resonance) { return resonance > 0; };
  if (std::any_of(p.uncertainty.resonance.begin(), p.uncertainty.resonance.end(), elastic)) {
    law.adaptation.inertia_ratio = 1;
  }
  law.hand_guiding = {p.hand_guiding.friction_uncertainty,
                      p.hand_guiding.dead_zone,
                      p.hand_guiding.damping,
                      p.hand_guiding.speed,
                      p.hand_guiding.limit_zone,
                      p.hand_guiding.limit_torque};
  law.error_cycles = static_cast<int>(p.error_cycles);
  return law;
}

}  // namespace ga_controllers
