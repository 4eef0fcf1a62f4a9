// SPDX-License-Identifier: Apache-2.0
#include "arm/arm_settings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unordered_map>
#include <utility>

namespace puma_hardware {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using ga_hardware::ParameterText;

namespace {

/// Read by ga_dynamics for the model and by the controllers; the arm itself has no use for them.
constexpr const char* kModelParameters[] = {"armature", "viscous_friction",
                                            "coulomb_friction_positive",
                                            "coulomb_friction_negative", "torque_rate_limit"};
constexpr const char* kRequiredParameters[] = {"gear_ratio",        "encoder_counts_per_rev",
                                               "encoder_direction", "torque_per_volt",
                                               "voltage_direction", "max_voltage"};
constexpr double kHuge = 1e9;
/// s for a person to close the brakes.
constexpr double kManualStopTime = 10;
/// Of a joint's torque limit: what its amplifier gives at its largest voltage.
constexpr double kLeastTorque = 0.2, kMostTorque = 4;
constexpr double kFullScale = 10;  ///< V, of the PCL-726

/// Those that an owner measures, and may give as JOINT.NAME among the hardware parameters.
constexpr const char* kMeasuredParameters[] = {"encoder_direction",
                                               "voltage_direction",
                                               "torque_per_volt",
                                               "max_voltage",
                                               "pot_direction",
                                               "pot_volts_per_rev",
                                               "brake"};

/// A slip of the decimal point, or a value at the motor instead of the joint, would make every torque
/// wrong by that factor.
void check_torque(const std::string& where, const JointSettings& s) {
  const double largest = s.torque_per_volt * std::min(s.max_voltage, kFullScale);
  if (largest >= kLeastTorque * s.max_torque && largest <= kMostTorque * s.max_torque) return;
  char text[320];
  std::snprintf(
      text, sizeof text,
      ": torque_per_volt %g N m/V gives %g N m at %g V, but its <limit> tag has an effort of "
      "%g N m; give between %g and %g times that: the torque at the joint, behind the gear, "
      "per volt at the amplifier",
      s.torque_per_volt, largest, std::min(s.max_voltage, kFullScale), s.max_torque, kLeastTorque,
      kMostTorque);
  throw CardError(where + text);
}

/// `measured`: name and value of those, with the joint's name before the point.
JointSettings read_joint(const ChainJoint& joint, std::size_t index, const Parameters& measured,
                         WristCoupling& coupling) {
  const std::string where = "joint '" + joint.name + "'";
  if (!joint.revolute()) throw CardError(where + " is not revolute");
  std::unordered_map<std::string, std::string> texts{joint.parameters.begin(),
                                                     joint.parameters.end()};
  for (const char* name : kMeasuredParameters) {
    const auto given = measured.find(joint.name + "." + name);
    if (given != measured.end()) texts[name] = given->second;
  }
  ParameterText text(where, std::move(texts));
  for (const char* name : kModelParameters) text.allow(name);
  for (const char* name : kRequiredParameters) text.require(name);
  JointSettings s;
  s.name = joint.name;
  s.gear_ratio = text.number_above("gear_ratio", 0, 0, kHuge);
  s.counts_per_rev = text.whole("encoder_counts_per_rev", 0, 4, 1'000'000);
  s.encoder_direction = text.sign("encoder_direction", 0);
  s.torque_per_volt = text.number_above("torque_per_volt", 0, 0, kHuge);
  s.voltage_direction = text.sign("voltage_direction", 0);
  s.max_voltage = text.number_above("max_voltage", 0, 0, kHuge);
  s.brake = text.flag("brake", s.brake);
  s.pot_volts_per_rev = text.number_above("pot_volts_per_rev", s.pot_volts_per_rev, 0, kHuge);
  s.pot_direction = text.sign("pot_direction", s.pot_direction);
  const auto ratio = [&text](const char* name) {
    text.require(name);  // 0: none
    return text.number(name, 0, -10, 10);
  };
  if (index == 4) coupling.c54 = ratio("coupling_joint4");
  if (index == 5) {
    coupling.c64 = ratio("coupling_joint4");
    coupling.c65 = ratio("coupling_motor5");
  }
  text.refuse_others();

  const auto& limits = joint.limits;
  const std::string limit = where + ": its <limit> tag needs ";
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
  s.soft_lower = limits.goal_lower();
  s.soft_upper = limits.goal_upper();
  s.max_speed = limits.velocity;
  s.max_torque = limits.effort;
  check_torque(where, s);
  return s;
}

SafetySettings read_safety(ParameterText& text) {
  SafetySettings s;
  const auto above = [&text](const char* name, double& value, double least, double most) {
    value = text.number_above(name, value, least, most);
  };
  above("safety.soft_limit_margin", s.soft_limit_margin, 0, 0.5);
  above("safety.overspeed_ratio", s.overspeed_ratio, 0, 2);
  above("safety.jump_ratio", s.jump_ratio, 1, 20);
  s.torque_ratio = text.number("safety.torque_ratio", s.torque_ratio, 1, 10);
  above("safety.pot_tolerance_turns", s.pot_tolerance_turns, 0, 20);
  above("safety.frozen_torque_ratio", s.frozen_torque_ratio, 0, 1);
  above("safety.frozen_time", s.frozen_time, 0, 5);
  above("safety.frozen_turns", s.frozen_turns, 0, 20);
  above("safety.command_timeout", s.command_timeout, 0, 1);
  above("safety.deadline_ratio", s.deadline_ratio, 1, 10);
  s.ramp_time = text.number("safety.ramp_time", s.ramp_time, 0, 2);
  s.hold_time = text.number("safety.hold_time", s.hold_time, 0, 3600);
  above("safety.calibration_speed_ratio", s.calibration_speed_ratio, 0, 1);
  above("safety.stall_torque_ratio", s.stall_torque_ratio, 0, 2);
  above("safety.stall_time", s.stall_time, 0, 10);
  above("safety.following_error", s.following_error, 0, 10);
  above("safety.power_timeout", s.power_timeout, 0, 10);
  s.power_delay = text.number("safety.power_delay", s.power_delay, 0, 5);
  s.brake_delay = text.number("safety.brake_delay", s.brake_delay, 0, 5);
  s.release_time = text.number("safety.release_time", s.release_time, 0, 2);
  s.manual_stop_time = text.number("safety.manual_stop_time", kManualStopTime, 1, 60);
  s.max_missed_deadlines =
      text.whole("safety.max_missed_deadlines", s.max_missed_deadlines, 1, 1000);
  s.max_ad_timeouts = text.whole("safety.max_ad_timeouts", s.max_ad_timeouts, 1, 1000);
  return s;
}

}  // namespace

ArmSettings ArmSettings::from(const Chain& chain, const Parameters& hardware) {
  ArmSettings s;
  if (chain.size() != 6) {
    throw CardError("the arm has six joints, this chain " + std::to_string(chain.size()) +
                    "; choose base and tip so that the chain has six");
  }
  for (std::size_t i = 0; i < 6; ++i) {
    s.joints[i] = read_joint(chain.joints()[i], i, hardware, s.coupling);
  }
  ParameterText text("hardware", {hardware.begin(), hardware.end()});
  for (const JointSettings& joint : s.joints) {
    for (const char* name : kMeasuredParameters) text.allow(joint.name + "." + name);
  }
  s.calibration_file = text.text("calibration_file");
  s.observer_bandwidth = text.number("observer_bandwidth", s.observer_bandwidth, 1, 1000);
  s.safety = read_safety(text);
  for (const JointSettings& joint : s.joints) {
    if (2 * s.safety.soft_limit_margin >= joint.upper - joint.lower) {
      throw CardError("hardware parameter safety.soft_limit_margin leaves joint '" + joint.name +
                      "' no range; make it smaller");
    }
  }
  s.cards = CardSettings::read(text);
  s.manual_power = text.flag("manual_power", s.manual_power);
  text.refuse_others();
  if (s.manual_power && s.cards.pcl726.power_output >= 0) {
    throw CardError("manual_power = true: pcl726.power_output is " +
                    std::to_string(s.cards.pcl726.power_output) +
                    ", so that the program switches the power; give only one of them");
  }
  if (!s.manual_brakes()) s.safety.manual_stop_time = 0;
  return s;
}

std::string ArmSettings::power_refusal() const {
  if (power_controlled()) return "";
  return "pcl726.power_output is -1, not wired: at every stop the torque ends and nothing would close "
         "the brakes, so the arm would fall. Give the digital output of the power relay, or "
         "manual_power: true if a person switches arm power and closes the brakes";
}

std::string ArmSettings::power_warning() const {
  if (cards.pcl726.power_feedback_input >= 0) return "";
  return "pcl726.power_feedback_input is -1, not wired: the emergency stop is noticed only when the arm "
         "no longer follows, and if the power returns before that, the arm jumps. Wire an auxiliary "
         "contact of the main contactor to that input";
}

std::string ArmSettings::relaxed_limit() const {
  const struct {
    const char* name;
    double value, most;
  } limits[] = {{"safety.overspeed_ratio", safety.overspeed_ratio, 1.5},
                {"safety.jump_ratio", safety.jump_ratio, 10},
                {"safety.pot_tolerance_turns", safety.pot_tolerance_turns, 2},
                {"safety.frozen_time", safety.frozen_time, 1},
                {"safety.command_timeout", safety.command_timeout, 0.1},
                {"safety.deadline_ratio", safety.deadline_ratio, 3},
                {"safety.max_missed_deadlines", double(safety.max_missed_deadlines), 20},
                {"safety.max_ad_timeouts", double(safety.max_ad_timeouts), 50},
                {"safety.stall_time", safety.stall_time, 1},
                {"safety.following_error", safety.following_error, 0.5},
                {"safety.power_timeout", safety.power_timeout, 3}};
  for (const auto& limit : limits) {
    if (limit.value <= limit.most) continue;
    char text[240];
    std::snprintf(
        text, sizeof text,
        "hardware parameter %s is %g; on real cards it may be at most %g: larger values are for "
        "emulated arms on computers that stall",
        limit.name, limit.value, limit.most);
    return text;
  }
  return "";
}

SafetyMachine safety_machine(const ArmSettings& settings, double nominal_period) {
  std::array<ga_hardware::SafetyJoint, 6> joints;
  for (std::size_t i = 0; i < 6; ++i) {
    const JointSettings& joint = settings.joints[i];
    joints[i] = {joint.lower,      joint.upper,      joint.max_speed,
                 joint.max_torque, joint.soft_lower, joint.soft_upper};
  }
  // Brakes that a person switches do not follow the power either.
  const bool wired = settings.cards.pcl726.brake_output >= 0 || settings.manual_brakes();
  return {joints, settings.safety, wired, nominal_period};
}

std::string describe(const FaultRecord& record, const ArmSettings& settings) {
  const auto joint = static_cast<std::size_t>(record.joint);
  std::string text =
      describe(record, joint < settings.joints.size() ? settings.joints[joint].name : "");
  const Pcl726Settings& wiring = settings.cards.pcl726;
  if (record.fault == Fault::kCardLost && record.value == wiring.base) {
    text +=
        ": its digital input " + std::to_string(wiring.watchdog_input) +
        " (pcl726.watchdog_input) does not follow its output " +
        std::to_string(wiring.watchdog_output) +
        " (pcl726.watchdog_output); is the wire between them broken, or the card without power?";
  }
  return text;
}

}  // namespace puma_hardware
