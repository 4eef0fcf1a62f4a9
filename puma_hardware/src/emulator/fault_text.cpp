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
    {"pcl818-lost", CardFault::kMissing818, false},
    {"pcl726-lost", CardFault::kMissing726, false},
    {"pcl833a-lost", CardFault::kMissing833a, false},
    {"pcl833b-lost", CardFault::kMissing833b, false}};

}  // namespace

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
