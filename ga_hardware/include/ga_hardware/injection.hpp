// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__INJECTION_HPP_
#define GA_HARDWARE__INJECTION_HPP_

// Faults of a simulated arm on request, by the names that the arm over the cards takes as well.
// What only cards have (potentiometers, index pulses, conversions) has no name here.

#include <string>
#include <string_view>

#include "ga_dynamics/chain.hpp"
#include "ga_hardware/safety_machine.hpp"

namespace ga_hardware {

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

}  // namespace ga_hardware

#endif  // GA_HARDWARE__INJECTION_HPP_
