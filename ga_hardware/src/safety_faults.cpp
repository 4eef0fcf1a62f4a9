// SPDX-License-Identifier: Apache-2.0

// Names of states, faults and reactions; the reaction to each fault; its message.

#include <cstdio>

#include "ga_hardware/safety_machine.hpp"

namespace ga_hardware {

namespace {

struct FaultRow {
  Fault fault;
  const char* name;
  Reaction reaction;
  bool spoils_calibration;
  const char* message;  ///< printf format of value and threshold
};

constexpr FaultRow kFaults[] = {
    {Fault::kNone, "none", Reaction::kNone, false, ""},
    {Fault::kThermal, "thermal", Reaction::kRampDown, false, "the thermal switch has opened"},
    {Fault::kEncoderJump, "encoder-jump", Reaction::kCut, true,
     "the encoder counts moved at %.3g rad/s, plausible up to %.3g"},
    {Fault::kEncoderFrozen, "encoder-frozen", Reaction::kCut, true,
     "the encoder counts do not change under torque: %.3g, allowed %.3g (motor revolutions by the "
     "potentiometer, or N m for too long without one)"},
    {Fault::kPotMismatch, "pot-mismatch", Reaction::kCut, true,
     "potentiometer and encoder differ by %.3g motor revolutions, allowed %.3g"},
    {Fault::kOverspeed, "overspeed", Reaction::kCut, false, "%.3g rad/s, allowed %.3g"},
    {Fault::kSoftLimit, "soft-limit", Reaction::kLimit, false, "at %.4g rad, soft limit %.4g"},
    {Fault::kHardLimit, "hard-limit", Reaction::kCut, false, "at %.4g rad, limit %.4g"},
    {Fault::kAdTimeout, "ad-timeout", Reaction::kRampDown, false,
     "%.0f consecutive A/D conversions failed, allowed fewer than %.0f"},
    {Fault::kCommandTimeout, "command-timeout", Reaction::kHold, false,
     "the last command is %.3g s old, allowed %.3g"},
    {Fault::kTorqueNotFinite, "torque-not-finite", Reaction::kRampDown, false,
     "the commanded torque is %.3g N m, limit %.3g"},
    {Fault::kTorqueExcessive, "torque-excessive", Reaction::kRampDown, false,
     "%.4g N m commanded, fault threshold %.4g"},
    {Fault::kDeadlineMissed, "deadline-missed", Reaction::kRampDown, false,
     "too many late cycles, the last took %.3g s, allowed %.3g"},
    {Fault::kCardLost, "card-lost", Reaction::kCut, true, "no response from the card at address "},
    {Fault::kGuardLost, "guard-lost", Reaction::kRampDown, false,
     "the guard process does not respond"},
    {Fault::kGuardCut, "guard-cut", Reaction::kCut, false,
     "the guard has cut the outputs: this process was late by more than the guard's timeout"},
    {Fault::kClaimLost, "claim-lost", Reaction::kRampDown, false,
     "the lock or heartbeat files of this arm in /dev/shm were removed or replaced while it was driven: "
     "another program could drive it at once. logind does so at the end of a session unless its "
     "RemoveIPC=no"},
    {Fault::kPowerLost, "power-lost", Reaction::kCut, false,
     "the arm-power input has shown no power for %.3g s, allowed %.3g; was the emergency stop pressed?"},
    {Fault::kPowerStuck, "power-stuck", Reaction::kCut, false,
     "the arm-power input shows power for %.3g s although it is switched off, allowed %.3g: a welded "
     "contact, a broken wire or a short circuit of the input, or the wrong polarity?"},
    {Fault::kStall, "stall", Reaction::kRampDown, false,
     "%.3g N m do not move the joint, stall from %.3g N m: an obstacle, a closed brake, no power?"},
    {Fault::kFollowingError, "following-error", Reaction::kRampDown, false,
     "%.3g rad from its reference, allowed %.3g: an obstacle, a closed brake, no power?"},
    {Fault::kEmergencyStop, "emergency-stop", Reaction::kCut, false, "requested"},
};

const FaultRow& row(Fault fault) noexcept { return kFaults[static_cast<std::size_t>(fault)]; }

constexpr bool in_order() {
  for (std::size_t k = 0; k < std::size(kFaults); ++k) {
    if (kFaults[k].fault != static_cast<Fault>(k)) return false;
  }
  return std::size(kFaults) == static_cast<std::size_t>(Fault::kEmergencyStop) + 1;
}
static_assert(in_order());

}  // namespace

const char* to_string(SafetyState state) noexcept {
  constexpr const char* kNames[] = {"off", "ready", "calibrating", "calibrated", "active", "fault"};
  return kNames[static_cast<std::size_t>(state)];
}

const char* to_string(Reaction reaction) noexcept {
  constexpr const char* kNames[] = {"none", "limit", "hold", "ramp down", "cut"};
  return kNames[static_cast<std::size_t>(reaction)];
}

const char* to_string(Fault fault) noexcept { return row(fault).name; }
Reaction reaction_to(Fault fault) noexcept { return row(fault).reaction; }
bool spoils_calibration(Fault fault) noexcept { return row(fault).spoils_calibration; }

std::string describe(const FaultRecord& record, const std::string& joint) {
  if (record.fault == Fault::kNone) return "no fault";
  std::string text;
  if (record.joint >= 0) text = joint + ": ";
  char message[320];
  std::snprintf(message, sizeof message, row(record.fault).message, record.value, record.threshold);
  text += std::string(to_string(record.fault)) + ": " + message;
  if (record.fault != Fault::kCardLost) return text;
  std::snprintf(message, sizeof message, "%#x", static_cast<unsigned>(record.value));
  return text + message;
}

}  // namespace ga_hardware
