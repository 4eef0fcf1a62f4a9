// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CLI__INFO_HPP_
#define GA_DYNAMICS__CLI__INFO_HPP_

#include <string>

#include "cli/description.hpp"

namespace ga_tools::cli {

struct InfoOptions {
  bool list_minimal = false;  ///< names and values, not only their number
  bool quiet = false;         ///< without the warnings
};

/// All that a person may want to know of the robot and its chain, as text.
std::string info_text(const Description& description, const InfoOptions& options);

/// The same for programs (doc/info_json.md), all links and joints of the description included.
std::string info_json(const Description& description);

}  // namespace ga_tools::cli

#endif  // GA_DYNAMICS__CLI__INFO_HPP_
