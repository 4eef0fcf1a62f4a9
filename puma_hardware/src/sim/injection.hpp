// SPDX-License-Identifier: Apache-2.0
#ifndef SIM__INJECTION_HPP_
#define SIM__INJECTION_HPP_

// Faults of a simulated arm on request, by the names that the arm over the cards takes as well.
// What only cards have (potentiometers, index pulses, conversions) has no name here.

#include <string>
#include <string_view>

#include "ga_dynamics/chain.hpp"
#include "puma_hardware/arm/safety_machine.hpp"

namespace puma_hardware::sim {

/// Lasts until injected no more, but an encoder jumps once.
struct Injection {
  Fault fault = Fault::kNone;
  int joint = -1;
};

/// All names, for help texts: "thermal:JOINT, …".
std::string injection_names();
/// "thermal:joint2", "encoder-jump:joint1", "encoder-frozen:joint1", "deadline-missed",
/// "emergency-stop", "card-lost" or the name of any lost card, or "" for none. A joint is needed
/// where one is shown. Throws std::invalid_argument with what is known.
Injection parse_injection(std::string_view text, const ga_dynamics::Chain& chain);

}  // namespace puma_hardware::sim

#endif  // SIM__INJECTION_HPP_
