// SPDX-License-Identifier: Apache-2.0
#include "cli/robot.hpp"

#include <algorithm>

#include "cli/errors.hpp"
#include "cli/number.hpp"

namespace ga_dynamics::cli {
namespace {

void add_frozen(const std::string& argument, ChainOptions& options) {
  if (argument == "all") {
    options.freeze_off_chain = true;
    return;
  }
  const std::string::size_type equals = argument.rfind('=');
  const std::string joint = argument.substr(0, equals);
  double position = 0;
  if (equals != std::string::npos && !is_number(argument.substr(equals + 1), position)) {
    throw InputError("--freeze " + argument + ": '" + argument.substr(equals + 1) +
                     "' is not a position; give rad or m");
  }
  if (!options.freeze.emplace(joint, position).second) {
    throw InputError("--freeze " + argument + ": joint '" + joint +
                     "' is frozen twice; give one position");
  }
}

}  // namespace

Chain load_chain(const RobotArguments& arguments) {
  ChainOptions options;
  options.base = arguments.base;
  options.tip = arguments.tip;
  options.strict = arguments.strict;
  options.allow_missing_inertia = arguments.allow_missing_inertia;
  options.snap = arguments.snap;
  if (!arguments.gravity.empty()) {
    std::copy_n(arguments.gravity.begin(), 3, options.gravity.begin());
  }
  for (const std::string& argument : arguments.freeze) add_frozen(argument, options);

  const Chain chain = Chain::from_urdf_file(arguments.urdf, options);
  if (arguments.payload.empty()) return chain;
  LinkInertia payload;
  payload.mass = arguments.payload[0];
  std::copy_n(arguments.payload.begin() + 1, 3, payload.com.begin());
  return chain.with_payload(payload);
}

}  // namespace ga_dynamics::cli
