// SPDX-License-Identifier: Apache-2.0
#include "emulator/fault_text.hpp"

#include <algorithm>

#include "ga_hardware/simulated_arm.hpp"

namespace puma_hardware::emulator {
namespace {

constexpr ga_hardware::NamedFault<CardFault> kFaults[] = {
    {"thermal", CardFault::kThermal, true},
    {"encoder-jump", CardFault::kEncoderJump, true},
    {"encoder-frozen", CardFault::kEncoderFrozen, true},
    {"encoder-stuck-bit", CardFault::kEncoderStuckBit, true},
    {"index-lost", CardFault::kIndexLost, true},
    {"amplifier-dead", CardFault::kAmplifierDead, true},
    {"pot-open", CardFault::kPotOpen, true},
    {"pot-stuck", CardFault::kPotStuck, true},
    {"power-lost", CardFault::kPowerLost, false},
    {"ad-stuck", CardFault::kAdStuck, false},
    {"ad-slow", CardFault::kSlowAd, false},
    {"ad-wrong-channel", CardFault::kAdWrongChannel, false},
    {"pcl818-lost", CardFault::kMissing818, false},
    {"pcl726-lost", CardFault::kMissing726, false},
    {"pcl833a-lost", CardFault::kMissing833a, false},
    {"pcl833b-lost", CardFault::kMissing833b, false}};

const char* meaning(CardFault fault) {
  switch (fault) {
    case CardFault::kThermal:
      return "the motor's thermal switch opens";
    case CardFault::kEncoderJump:
      return "the counter jumps by 4096 counts, once";
    case CardFault::kEncoderFrozen:
      return "the counter does not count";
    case CardFault::kEncoderStuckBit:
      return "bit 3 of the count reads 1";
    case CardFault::kIndexLost:
      return "index pulses do not arrive";
    case CardFault::kAmplifierDead:
      return "the amplifier has no supply: no torque";
    case CardFault::kPotOpen:
      return "the potentiometer reads 0 V";
    case CardFault::kPotStuck:
      return "the potentiometer keeps its value";
    case CardFault::kPowerLost:
      return "the emergency stop is pressed: no arm power";
    case CardFault::kAdStuck:
      return "no conversion ends";
    case CardFault::kSlowAd:
      return "conversions take 1000 times as long";
    case CardFault::kAdWrongChannel:
      return "samples carry another channel's number";
    case CardFault::kMissing818:
    case CardFault::kMissing726:
    case CardFault::kMissing833a:
    case CardFault::kMissing833b:
      break;
  }
  return "the card no longer answers";
}

}  // namespace

std::string card_fault_help() {
  std::string text;
  for (const auto& [name, fault, of_joint] : kFaults) {
    text +=
        "  " + std::string(name) + (of_joint ? ":JOINT" : "") + "\n      " + meaning(fault) + "\n";
  }
  return text;
}

std::string card_fault_names() { return ga_hardware::fault_names(kFaults); }

void inject_by_name(EmulatedCards& cards, const std::string& text, const ArmSettings& settings) {
  if (text.empty()) {
    cards.clear_faults();
    return;
  }
  const auto& joints = settings.joints;
  const auto [fault, joint] = ga_hardware::parse_fault(
      text, kFaults, joints, joints.front().name + " … " + joints.back().name);
  cards.inject(fault, std::max(joint, 0));
}

}  // namespace puma_hardware::emulator
