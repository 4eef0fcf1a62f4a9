// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CLI__INFO_HPP_
#define GA_DYNAMICS__CLI__INFO_HPP_

#include <string>

#include "ga_dynamics/chain.hpp"

namespace ga_dynamics::cli {

struct InfoOptions {
  std::string title;          ///< what the robot is called, e.g. its file
  bool list_minimal = false;  ///< names and values, not only their number
  bool quiet = false;         ///< without the chain's warnings
};

/// All that a person may want to know of the chain, as text.
std::string info_text(const Chain& chain, const InfoOptions& options);

}  // namespace ga_dynamics::cli

#endif  // GA_DYNAMICS__CLI__INFO_HPP_
