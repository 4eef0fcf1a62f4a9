// SPDX-License-Identifier: Apache-2.0
#ifndef SCORE__STICTION_HPP_
#define SCORE__STICTION_HPP_

// The stiction study: does an arm hunt at rest, with a break-away friction of up to twice the Coulomb
// friction? Four motions, each with and without an unknown payload, errors of masses and inertias,
// and errors of the friction, on a PUMA with position noise. With three seeds, 96 runs per level.

#include <string>
#include <vector>

#include "score/score.hpp"

namespace ga_tools::score {

/// 32 scenarios for each of the levels 1, 1.5 and 2. Their ids are not rows of the law score.
/// `other_motions`: four motions from other postures, on which no parameter of a law was chosen.
const std::vector<Scenario>& stiction_scenarios(bool other_motions = false);

/// For a terminal: a line per law and level, and one for each run that hunts.
std::string stiction_text(const Score& score);

}  // namespace ga_tools::score

#endif  // SCORE__STICTION_HPP_
