// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CLI__ROBOT_HPP_
#define GA_DYNAMICS__CLI__ROBOT_HPP_

// The robot as the command line gives it.

#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_dynamics::cli {

struct RobotArguments {
  std::string urdf;
  std::string base, tip;
  std::vector<double> gravity;      ///< empty: the default; else x y z
  std::vector<double> payload;      ///< empty: none; else mass x y z
  std::vector<std::string> freeze;  ///< JOINT, JOINT=POSITION or all
  double snap = ChainOptions{}.snap;
  bool strict = false;
  bool allow_missing_inertia = false;
};

/// Throws InputError and DescriptionError.
Chain load_chain(const RobotArguments& arguments);

}  // namespace ga_dynamics::cli

#endif  // GA_DYNAMICS__CLI__ROBOT_HPP_
