// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CLI__ROBOT_HPP_
#define GA_DYNAMICS__CLI__ROBOT_HPP_

// The robot as the command line gives it.

#include <string>
#include <vector>

#include "ga_tools/chain_arguments.hpp"

namespace ga_tools::cli {

using ga_dynamics::Chain;
using ga_dynamics::ChainOptions;
using ga_dynamics::LinkInertia;

struct RobotArguments {
  std::string urdf;
  ChainArguments chain;
  std::vector<double> payload;  ///< empty: none; else mass x y z
  double snap = ChainOptions{}.snap;
};

/// The body at the tip; without mass where none is given.
LinkInertia payload_of(const RobotArguments& arguments);

/// Throws InputError and DescriptionError.
Chain load_chain(const RobotArguments& arguments);

}  // namespace ga_tools::cli

#endif  // GA_DYNAMICS__CLI__ROBOT_HPP_
