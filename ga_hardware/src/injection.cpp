// SPDX-License-Identifier: Apache-2.0
// Faults of the simulated arm, by name.

#include "ga_hardware/simulated_arm.hpp"

namespace ga_hardware {

namespace {

/// A simulated arm has no separate cards: each name stands for all of them.
constexpr NamedFault<Fault> kFaults[] = {{"thermal", Fault::kThermal, true},
                                         {"encoder-jump", Fault::kEncoderJump, true},
                                         {"encoder-frozen", Fault::kEncoderFrozen, true},
                                         {"pcl818-lost", Fault::kCardLost, false},
                                         {"pcl726-lost", Fault::kCardLost, false},
                                         {"pcl833a-lost", Fault::kCardLost, false},
                                         {"pcl833b-lost", Fault::kCardLost, false},
                                         {"card-lost", Fault::kCardLost, false},
                                         {"deadline-missed", Fault::kDeadlineMissed, false},
                                         {"emergency-stop", Fault::kEmergencyStop, false}};

}  // namespace

std::string injection_names() { return fault_names(kFaults); }

Injection parse_injection(std::string_view text, const ga_dynamics::Chain& chain) {
  if (text.empty()) return {};
  const std::string example(text.substr(0, text.find(':')));
  const auto [fault, joint] =
      parse_fault(std::string(text), kFaults, chain.joints(),
                  "one of the chain, e.g. " + example + ":" + chain.joints()[0].name);
  return {fault, joint};
}

}  // namespace ga_hardware
