// SPDX-License-Identifier: Apache-2.0
// Faults of the simulated arm, by name.

#include <stdexcept>

#include "ga_hardware/simulated_arm.hpp"

namespace ga_hardware {

namespace {

struct Named {
  const char* name;
  Fault fault;
  bool of_joint;
};
/// A simulated arm has no separate cards: each name stands for all of them.
constexpr Named kFaults[] = {{"thermal", Fault::kThermal, true},
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

std::string injection_names() {
  std::string all;
  for (const Named& named : kFaults) {
    all += (all.empty() ? "" : ", ") + std::string(named.name) + (named.of_joint ? ":JOINT" : "");
  }
  return all;
}

Injection parse_injection(std::string_view text, const ga_dynamics::Chain& chain) {
  if (text.empty()) return {};
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::string joint(colon == std::string_view::npos ? "" : text.substr(colon + 1));
  for (const Named& named : kFaults) {
    if (name != named.name || named.of_joint == joint.empty()) continue;
    if (!named.of_joint) return {named.fault, -1};
    for (std::size_t i = 0; i < chain.joints().size(); ++i) {
      if (chain.joints()[i].name == joint) return {named.fault, static_cast<int>(i)};
    }
    throw std::invalid_argument("fault '" + std::string(text) + "': there is no joint '" + joint +
                                "'; give one of the chain, e.g. " + std::string(name) + ":" +
                                chain.joints()[0].name);
  }
  throw std::invalid_argument("fault '" + std::string(text) + "' is unknown; give one of " +
                              injection_names() + ", or nothing for none");
}

}  // namespace ga_hardware
