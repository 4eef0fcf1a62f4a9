// SPDX-License-Identifier: Apache-2.0
#include "ga_tools/chain_arguments.hpp"

#include <algorithm>

#include "ga_dynamics/chain_selection.hpp"

namespace ga_tools {

using namespace ga_dynamics;

ChainOptions chain_options(const ChainArguments& arguments) {
  ChainOptions options;
  options.base = arguments.base;
  options.tip = arguments.tip;
  options.strict = arguments.strict;
  options.allow_missing_inertia = arguments.allow_missing_inertia;
  if (!arguments.gravity.empty()) {
    if (arguments.gravity.size() != options.gravity.size()) {
      throw DescriptionError("--gravity: " + std::to_string(arguments.gravity.size()) +
                             " numbers; give three, x y z");
    }
    std::copy_n(arguments.gravity.begin(), options.gravity.size(), options.gravity.begin());
  }
  for (const std::string& argument : arguments.freeze) add_frozen(argument, options);
  return options;
}

}  // namespace ga_tools
