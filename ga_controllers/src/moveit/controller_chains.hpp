// SPDX-License-Identifier: Apache-2.0
#ifndef MOVEIT__CONTROLLER_CHAINS_HPP_
#define MOVEIT__CONTROLLER_CHAINS_HPP_

// Chains of controllers at a controller manager: which there are, which one is to move the arm, and
// what has to be switched for it. A chain begins with a controller that takes trajectories, the head;
// behind it are the controllers whose references it commands, down to the hardware.

#include <stdexcept>
#include <string>
#include <vector>

namespace ga_controllers {

/// What the controller manager says of a controller.
struct ControllerInfo {
  std::string name, type, state;  ///< state: "active", "inactive", "unconfigured", …
  std::vector<std::string>
      required;  ///< command interfaces: "joint1/effort", "law/joint1/position"
  std::vector<std::string> claimed = {};  ///< those of them that it has

  bool active() const { return state == "active"; }
};

struct ControllerChain {
  std::vector<std::string> controllers;  ///< the head first
  std::vector<std::string> joints;       ///< that the head commands
  bool active = false;                   ///< all of its controllers are
  bool law_active = false;               ///< all but the head, of which there are some

  const std::string& head() const { return controllers.front(); }
  bool overlaps(const ControllerChain& other) const;
};

/// The chains whose heads have one of these types and are configured.
std::vector<ControllerChain> find_chains(const std::vector<ControllerInfo>& controllers,
                                         const std::vector<std::string>& head_types);

/// Whether the chain is the one to move its joints. Active chains are. Without an active chain for its
/// joints the one whose law is active, then one of `defaults`, then the only one.
bool is_preferred(const ControllerChain& chain, const std::vector<ControllerChain>& all,
                  const std::vector<std::string>& defaults);

struct ControllerSwitch {
  std::vector<std::string> activate, deactivate;
};

/// What cannot be switched, and why.
class SwitchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What makes the chains with these heads active: their inactive controllers, those next to the
/// hardware first; against them every controller that has one of their interfaces, and whatever
/// commands that. Controllers of `protected_types` are not deactivated. Throws SwitchError, naming the
/// controller and the remedy.
ControllerSwitch plan_switch(const std::vector<ControllerInfo>& controllers,
                             const std::vector<ControllerChain>& chains,
                             const std::vector<std::string>& activate,
                             const std::vector<std::string>& deactivate,
                             const std::vector<std::string>& protected_types);

}  // namespace ga_controllers

#endif  // MOVEIT__CONTROLLER_CHAINS_HPP_
