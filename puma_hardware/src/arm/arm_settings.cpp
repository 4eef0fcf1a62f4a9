// SPDX-License-Identifier: Apache-2.0
#include "puma_hardware/arm/arm_settings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

namespace puma_hardware {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;

namespace {

/// Read by ga_dynamics for the model and by the controllers; the arm itself has no use for them.
constexpr const char* kModelParameters[] = {"armature", "viscous_friction",
                                            "coulomb_friction_positive",
                                            "coulomb_friction_negative", "torque_rate_limit"};

struct Range {
  double low, high;
  bool open_low;  ///< low itself is refused
};
constexpr Range kPositive{0, 1e9, true};

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

/// `what` begins the message, e.g. "joint 'joint2': parameter gear_ratio".
double number(const std::string& text, const std::string& what, const Range& range) {
  const std::string_view digits = trimmed(text);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  const bool inside = std::isfinite(value) && value <= range.high &&
                      (range.open_low ? value > range.low : value >= range.low);
  if (whole && inside && !digits.empty()) return value;
  throw CardError(what + " is '" + text + "'; give a number " +
                  (range.open_low ? "greater than " : "of at least ") + std::to_string(range.low) +
                  " and at most " + std::to_string(range.high));
}

int whole_number(const std::string& text, const std::string& what, const Range& range) {
  const double value = number(text, what, range);
  if (value == std::round(value)) return static_cast<int>(value);
  throw CardError(what + " is '" + text + "'; give a whole number");
}

int direction(const std::string& text, const std::string& what) {
  const std::string_view word = trimmed(text);
  if (word == "1" || word == "+1") return 1;
  if (word == "-1") return -1;
  throw CardError(what + " is '" + text + "'; give 1 or -1");
}

bool truth(const std::string& text, const std::string& what) {
  const std::string_view word = trimmed(text);
  if (word == "true" || word == "True" || word == "1") return true;
  if (word == "false" || word == "False" || word == "0") return false;
  throw CardError(what + " is '" + text + "'; give true or false");
}

/// The parameters of one joint; remembers which were asked for.
class JointParameters {
 public:
  explicit JointParameters(const ChainJoint& joint) : joint_(joint) {
    known_.assign(std::begin(kModelParameters), std::end(kModelParameters));
  }

  const std::string* find(const char* name) {
    known_.emplace_back(name);
    const auto found = joint_.parameters.find(name);
    return found == joint_.parameters.end() ? nullptr : &found->second;
  }
  const std::string& require(const char* name) {
    if (const std::string* text = find(name)) return *text;
    throw CardError(what(name) + " is missing; give it in the <ros2_control> tag");
  }
  std::string what(const std::string& name) const {
    return "joint '" + joint_.name + "': parameter " + name;
  }
  double positive(const char* name) { return number(require(name), what(name), kPositive); }
  double coupling(const char* name) {
    return number(require(name), what(name) + " (0: none)", {-10, 10, false});
  }
  void refuse_unknown() const {
    for (const auto& [name, text] : joint_.parameters) {
      if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
        throw CardError(what(name) + " is unknown to this arm; correct its name or remove it");
      }
    }
  }

 private:
  const ChainJoint& joint_;
  std::vector<std::string> known_;
};

JointSettings read_joint(const ChainJoint& joint, std::size_t index, WristCoupling& coupling) {
  JointParameters parameters(joint);
  JointSettings s;
  s.name = joint.name;
  if (!joint.revolute()) throw CardError("joint '" + joint.name + "' is not revolute");
  s.gear_ratio = parameters.positive("gear_ratio");
  s.counts_per_rev = whole_number(parameters.require("encoder_counts_per_rev"),
                                  parameters.what("encoder_counts_per_rev"), {4, 1e6, false});
  s.encoder_direction =
      direction(parameters.require("encoder_direction"), parameters.what("encoder_direction"));
  s.torque_per_volt = parameters.positive("torque_per_volt");
  s.voltage_direction =
      direction(parameters.require("voltage_direction"), parameters.what("voltage_direction"));
  s.max_voltage = parameters.positive("max_voltage");
  if (const auto* text = parameters.find("brake")) {
    s.brake = truth(*text, parameters.what("brake"));
  }
  if (const auto* text = parameters.find("pot_volts_per_rev")) {
    s.pot_volts_per_rev = number(*text, parameters.what("pot_volts_per_rev"), kPositive);
  }
  if (const auto* text = parameters.find("pot_direction")) {
    s.pot_direction = direction(*text, parameters.what("pot_direction"));
  }
  if (index == 4) coupling.c54 = parameters.coupling("coupling_joint4");
  if (index == 5) {
    coupling.c64 = parameters.coupling("coupling_joint4");
    coupling.c65 = parameters.coupling("coupling_motor5");
  }
  parameters.refuse_unknown();

  const auto& limits = joint.limits;
  const std::string limit = "joint '" + joint.name + "': its <limit> tag needs ";
  if (!std::isfinite(limits.lower) || !std::isfinite(limits.upper) ||
      limits.lower >= limits.upper) {
    throw CardError(limit + "lower < upper");
  }
  if (!std::isfinite(limits.velocity) || limits.velocity <= 0) {
    throw CardError(limit + "a positive velocity");
  }
  if (!std::isfinite(limits.effort) || limits.effort <= 0) {
    throw CardError(limit + "a positive effort");
  }
  s.lower = limits.lower;
  s.upper = limits.upper;
  s.max_speed = limits.velocity;
  s.max_torque = limits.effort;
  return s;
}

struct SafetyNumber {
  const char* name;
  double SafetySettings::*field;
  Range range;
};
constexpr SafetyNumber kSafetyNumbers[] = {
    {"safety.soft_limit_margin", &SafetySettings::soft_limit_margin, {0, 0.5, true}},
    {"safety.overspeed_ratio", &SafetySettings::overspeed_ratio, {0, 2, true}},
    {"safety.jump_ratio", &SafetySettings::jump_ratio, {1, 20, true}},
    {"safety.torque_ratio", &SafetySettings::torque_ratio, {1, 10, false}},
    {"safety.pot_tolerance_turns", &SafetySettings::pot_tolerance_turns, {0, 20, true}},
    {"safety.frozen_torque_ratio", &SafetySettings::frozen_torque_ratio, {0, 1, true}},
    {"safety.frozen_time", &SafetySettings::frozen_time, {0, 5, true}},
    {"safety.frozen_turns", &SafetySettings::frozen_turns, {0, 20, true}},
    {"safety.command_timeout", &SafetySettings::command_timeout, {0, 1, true}},
    {"safety.deadline_ratio", &SafetySettings::deadline_ratio, {1, 10, true}},
    {"safety.ramp_time", &SafetySettings::ramp_time, {0, 2, false}},
    {"safety.hold_time", &SafetySettings::hold_time, {0, 3600, false}},
    {"safety.calibration_speed_ratio", &SafetySettings::calibration_speed_ratio, {0, 1, true}},
};

struct SafetyCount {
  const char* name;
  int SafetySettings::*field;
};
constexpr SafetyCount kSafetyCounts[] = {
    {"safety.max_missed_deadlines", &SafetySettings::max_missed_deadlines},
    {"safety.max_ad_timeouts", &SafetySettings::max_ad_timeouts},
};

/// False if the name is none of the safety settings.
bool read_safety(const std::string& name, const std::string& text, SafetySettings& safety) {
  const std::string what = "hardware parameter " + name;
  for (const SafetyNumber& entry : kSafetyNumbers) {
    if (name == entry.name) {
      safety.*entry.field = number(text, what, entry.range);
      return true;
    }
  }
  for (const SafetyCount& entry : kSafetyCounts) {
    if (name == entry.name) {
      safety.*entry.field = whole_number(text, what, {1, 1000, false});
      return true;
    }
  }
  return false;
}

}  // namespace

ArmSettings ArmSettings::from(const Chain& chain, const Parameters& hardware) {
  ArmSettings s;
  if (chain.size() != 6) {
    throw CardError("the arm has six joints, this chain " + std::to_string(chain.size()) +
                    "; choose base and tip so that the chain has six");
  }
  for (std::size_t i = 0; i < 6; ++i) {
    s.joints[i] = read_joint(chain.joints()[i], i, s.coupling);
  }
  for (const auto& [name, text] : hardware) {
    if (name.starts_with("pcl")) continue;
    if (name == "calibration_file") {
      s.calibration_file = text;
    } else if (name == "observer_bandwidth") {
      s.observer_bandwidth = number(text, "hardware parameter " + name, {1, 1000, false});
    } else if (!read_safety(name, text, s.safety)) {
      throw CardError("hardware parameter " + name + " is unknown; correct its name or remove it");
    }
  }
  for (const JointSettings& joint : s.joints) {
    if (2 * s.safety.soft_limit_margin >= joint.upper - joint.lower) {
      throw CardError("hardware parameter safety.soft_limit_margin leaves joint '" + joint.name +
                      "' no range; make it smaller");
    }
  }
  s.cards = CardSettings::from_parameters(hardware);
  return s;
}

SafetyMachine safety_machine(const ArmSettings& settings, double nominal_period) {
  std::array<ga_hardware::SafetyJoint, 6> joints;
  for (std::size_t i = 0; i < 6; ++i) {
    const JointSettings& joint = settings.joints[i];
    joints[i] = {joint.lower, joint.upper, joint.max_speed, joint.max_torque};
  }
  return {joints, settings.safety, settings.cards.pcl726.brake_output >= 0, nominal_period};
}

std::string describe(const FaultRecord& record, const ArmSettings& settings) {
  const auto joint = static_cast<std::size_t>(record.joint);
  return describe(record, joint < settings.joints.size() ? settings.joints[joint].name : "");
}

}  // namespace puma_hardware
