// SPDX-License-Identifier: Apache-2.0
#include "emulator/fault_text.hpp"

#include <stdexcept>

namespace puma_hardware::emulator {
namespace {

struct Named {
  const char* name;
  CardFault fault;
  bool of_joint;
};

constexpr Named kFaults[] = {{"thermal", CardFault::kThermal, true},
                             {"encoder-jump", CardFault::kEncoderJump, true},
                             {"encoder-frozen", CardFault::kEncoderFrozen, true},
                             {"encoder-stuck-bit", CardFault::kEncoderStuckBit, true},
                             {"index-lost", CardFault::kIndexLost, true},
                             {"pot-open", CardFault::kPotOpen, true},
                             {"pot-stuck", CardFault::kPotStuck, true},
                             {"ad-stuck", CardFault::kAdStuck, false},
                             {"ad-slow", CardFault::kSlowAd, false},
                             {"pcl818-lost", CardFault::kMissing818, false},
                             {"pcl726-lost", CardFault::kMissing726, false},
                             {"pcl833a-lost", CardFault::kMissing833a, false},
                             {"pcl833b-lost", CardFault::kMissing833b, false}};

}  // namespace

std::string card_fault_names() {
  std::string all;
  for (const Named& named : kFaults) {
    all += (all.empty() ? "" : ", ") + std::string(named.name) + (named.of_joint ? ":JOINT" : "");
  }
  return all;
}

void inject_by_name(EmulatedCards& cards, const std::string& text, const ArmSettings& settings) {
  if (text.empty()) {
    cards.clear_faults();
    return;
  }
  const std::size_t colon = text.find(':');
  const std::string joint = colon == std::string::npos ? "" : text.substr(colon + 1);
  for (const Named& named : kFaults) {
    if (text.substr(0, colon) != named.name || named.of_joint == joint.empty()) continue;
    if (!named.of_joint) {
      cards.inject(named.fault);
      return;
    }
    for (std::size_t i = 0; i < 6; ++i) {
      if (settings.joints[i].name != joint) continue;
      cards.inject(named.fault, static_cast<int>(i));
      return;
    }
    throw std::invalid_argument("fault '" + text + "': there is no joint '" + joint + "'; give " +
                                settings.joints[0].name + " … " + settings.joints[5].name);
  }
  throw std::invalid_argument("fault '" + text + "' is unknown; give one of " + card_fault_names() +
                              ", or nothing for none");
}

}  // namespace puma_hardware::emulator
