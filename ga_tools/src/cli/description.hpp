// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__DESCRIPTION_HPP_
#define CLI__DESCRIPTION_HPP_

// The robot that the command line names, and its description as `ga info` shows it.

#include <optional>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_tools/commands.hpp"

namespace ga_tools::cli {

using ga_dynamics::Chain;
using ga_dynamics::ChainOptions;
using ga_dynamics::ChainSelection;
using ga_dynamics::UrdfModel;

struct RobotArguments {
  std::string urdf;
  ChainArguments chain;
  std::vector<double> payload;  ///< empty: none; else mass x y z
  double snap = ChainOptions{}.snap;
};

/// Throws InputError and DescriptionError.
Chain load_chain(const RobotArguments& arguments);

/// A reason why `ga id` and the other commands cannot compute torques.
struct Missing {
  std::string kind;     ///< "description", "choice" or "inertia"
  std::string message;  ///< names the elements and the remedy
};

struct Description {
  std::string file;
  UrdfModel model;
  ChainOptions options;
  ChainSelection selection;
  std::optional<Chain> chain;  ///< undecided joints are at 0, missing inertias are zero
  std::vector<std::string> warnings;
  std::vector<Missing> missing;
  std::vector<std::string> not_given;  ///< optional values that a simulation takes as ideal
};

/// The role of a joint in the chain.
enum class JointRole {
  kFixed,      ///< in the description
  kFrozen,     ///< by an option
  kChain,      ///< moves, as a joint of the chain
  kGripper,    ///< taken as fixed at 0
  kOnBase,     ///< off the chain, carried by its base: no influence on its forces
  kUndecided,  ///< one of Missing's messages asks about it
  kOutside,    ///< not distal to the base
};

/// "chain", "gripper", …
const char* name_of(JointRole role);
/// As in the URDF: "revolute", …
const char* name_of(ga_dynamics::UrdfJointType type);

/// For every joint of the model.
std::vector<JointRole> joint_roles(const Description& description);

/// Throws InputError and DescriptionError for a file that is not a tree of links, and for options
/// that do not fit it.
Description describe_robot(const RobotArguments& arguments);

/// Arms with more joints are shown without minimal parameters and operation counts: the record of
/// an operation-by-operation count grows with n³.
inline constexpr int kMostJointsCounted = 60;

struct InfoOptions {
  bool list_minimal = false;  ///< names and values, not only their number
  bool quiet = false;         ///< without the warnings
};

/// The robot and its chain as text.
std::string info_text(const Description& description, const InfoOptions& options);

/// The same for programs (doc/info_json.md), with all links and joints of the description.
std::string info_json(const Description& description);

}  // namespace ga_tools::cli

#endif  // CLI__DESCRIPTION_HPP_
