// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CLI__DESCRIPTION_HPP_
#define GA_DYNAMICS__CLI__DESCRIPTION_HPP_

// A robot as `ga info` shows it, whether its torques can be computed or not.

#include <optional>
#include <string>
#include <vector>

#include "cli/robot.hpp"
#include "ga_dynamics/chain_selection.hpp"

namespace ga_tools::cli {

using ga_dynamics::Chain;
using ga_dynamics::ChainOptions;
using ga_dynamics::ChainSelection;
using ga_dynamics::UrdfModel;

/// What keeps `ga id` and the others from computing torques.
struct Missing {
  std::string kind;     ///< "description", "choice" or "inertia"
  std::string message;  ///< names the elements and the remedy
};

struct Description {
  std::string file;
  UrdfModel model;
  ChainOptions options;
  ChainSelection selection;
  std::optional<Chain> chain;  ///< joints in question are at 0, missing inertias are zero
  std::vector<std::string> warnings;
  std::vector<Missing> missing;
  std::vector<std::string> not_given;  ///< what a simulation then takes as ideal, for people
};

/// What a joint is to the chain.
enum class JointRole {
  kFixed,      ///< in the description
  kFrozen,     ///< by an option
  kChain,      ///< moves, as a joint of the chain
  kGripper,    ///< taken as fixed at 0
  kOnBase,     ///< off the chain, carried by its base: no influence on its forces
  kUndecided,  ///< one of Missing's messages asks about it
  kOutside,    ///< not behind the base
};

/// "chain", "gripper", …
const char* name_of(JointRole role);

/// For every joint of the model.
std::vector<JointRole> joint_roles(const Description& description);

/// Throws InputError and DescriptionError: for a file that cannot be read as a tree of links, and
/// for options that do not fit it.
Description describe_robot(const RobotArguments& arguments);

}  // namespace ga_tools::cli

#endif  // GA_DYNAMICS__CLI__DESCRIPTION_HPP_
