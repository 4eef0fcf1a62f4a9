// SPDX-License-Identifier: Apache-2.0
#include "cli/robot.hpp"

#include <algorithm>

namespace ga_tools::cli {

using namespace ga_dynamics;

LinkInertia payload_of(const RobotArguments& arguments) {
  LinkInertia payload;
  if (arguments.payload.empty()) return payload;
  payload.mass = arguments.payload[0];
  std::copy_n(arguments.payload.begin() + 1, 3, payload.com.begin());
  return payload;
}

Chain load_chain(const RobotArguments& arguments) {
  ChainOptions options = chain_options(arguments.chain);
  options.snap = arguments.snap;
  const Chain chain = Chain::from_urdf_file(arguments.urdf, options);
  if (arguments.payload.empty()) return chain;
  return chain.with_payload(payload_of(arguments));
}

}  // namespace ga_tools::cli
