// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CHAIN_SELECTION_HPP_
#define GA_DYNAMICS__CHAIN_SELECTION_HPP_

// Which joints of a description form the chain.
//
// The default chain runs from the root link along the branch with the most actuated joints, and
// ends before the gripper. A gripper is told from the tree alone: branches that carry nothing but
// mimic joints, and parallel fingers, which are two or more branches on one body with fewer joints
// each than there are between the root and that body.
//
// Units: SI. Real-time: not for the control path; everything here allocates.

#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_dynamics {

/// A branch of the tree that a chain can end at.
struct ChainBranch {
  int tip = 0;           ///< link index
  int joints = 0;        ///< actuated joints between the base and the tip
  std::string choose{};  ///< the options that choose it, to paste: "--tip left_hand --freeze all"
};

/// What has to be decided before forces can be computed.
struct ChainQuestion {
  std::string text;         ///< names the elements, the reason and the options to give
  std::vector<int> joints;  ///< joint indices: frozen at 0, they leave nothing to decide
};

struct ChainSelection {
  int base = 0, tip = 0;    ///< link indices
  std::vector<int> joints;  ///< actuated joints from base to tip, indices
  std::string reason;       ///< why this tip: "the longest branch: 7 actuated joints, …"

  /// Every branch behind the base, most joints first; the gripper's fingers are not among them.
  std::vector<ChainBranch> branches;

  // Moving joints off the chain, behind the base. What is frozen by name is in none of them.
  std::vector<int> gripper;    ///< taken as fixed at 0
  std::vector<int> on_base;    ///< carried by the base: no influence on the chain's forces
  std::vector<int> dependent;  ///< the chain's forces depend on their positions: a question

  Pose base_in_root;  ///< with the frozen joints in between at their positions

  std::vector<ChainQuestion> questions;
  std::vector<std::string> warnings;
};

/// Selects a chain and reports what is undecided instead of throwing: an ambiguous tip (the first
/// one is taken), moving joints between root and base, mimic, floating and planar joints on the
/// chain, joints off it that its forces depend on, no actuated joint at all (`joints` is empty).
/// Throws DescriptionError for options that do not fit the description: unknown base, tip or frozen
/// joints, a tip that is not behind the base.
ChainSelection survey_chain(const UrdfModel& model, const ChainOptions& options);

/// The same, but throws DescriptionError with the first question, if there is any.
ChainSelection select_chain(const UrdfModel& model, const ChainOptions& options);

/// Reads an argument of --freeze into the options: `JOINT`, `JOINT=POSITION` [rad, m], or `all` for
/// every moving joint off the chain. Throws DescriptionError.
void add_frozen(const std::string& argument, ChainOptions& options);

}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__CHAIN_SELECTION_HPP_
