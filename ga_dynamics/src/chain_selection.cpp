// SPDX-License-Identifier: Apache-2.0
#include "chain_selection.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace ga_dynamics {
namespace {

const UrdfLink& link_at(const UrdfModel& model, int i) {
  return model.links[static_cast<std::size_t>(i)];
}
const UrdfJoint& joint_at(const UrdfModel& model, int i) {
  return model.joints[static_cast<std::size_t>(i)];
}

/// One degree of freedom, given by the user's q.
bool moves(const UrdfJoint& joint) {
  return joint.type == UrdfJointType::kRevolute || joint.type == UrdfJointType::kContinuous ||
         joint.type == UrdfJointType::kPrismatic;
}

bool frozen(const UrdfJoint& joint, const ChainOptions& options) {
  return options.freeze.contains(joint.name);
}

std::string describe(const UrdfJoint& joint) {
  return "joint '" + joint.name + "' (line " + std::to_string(joint.line) + ")";
}

int required_link(const UrdfModel& model, const std::string& name, const char* role) {
  const int found = find_link(model, name);
  if (found >= 0) return found;
  std::string known;
  for (const UrdfLink& link : model.links) {
    if (known.size() > 200) {
      known += ", …";
      break;
    }
    known += (known.empty() ? "" : ", ") + link.name;
  }
  throw DescriptionError(std::string(role) + " link '" + name +
                         "' is not in the description; its links are: " + known);
}

/// Number of moving joints from `base` down to every link; -1 outside the base's subtree.
std::vector<int> actuated_depth(const UrdfModel& model, const ChainOptions& options, int base) {
  std::vector<int> depth(model.links.size(), -1);
  std::vector<int> open{base};
  depth[static_cast<std::size_t>(base)] = 0;
  while (!open.empty()) {
    const int link = open.back();
    open.pop_back();
    for (const int index : link_at(model, link).child_joints) {
      const UrdfJoint& joint = joint_at(model, index);
      const bool counts = moves(joint) && !joint.mimic && !frozen(joint, options);
      depth[static_cast<std::size_t>(joint.child)] =
          depth[static_cast<std::size_t>(link)] + (counts ? 1 : 0);
      open.push_back(joint.child);
    }
  }
  return depth;
}

/// The end of the chain with the most moving joints. Links fixed behind the last joint are followed
/// while there is but one way to go.
int default_tip(const UrdfModel& model, const ChainOptions& options, int base) {
  const std::vector<int> depth = actuated_depth(model, options, base);
  const int most = *std::max_element(depth.begin(), depth.end());
  std::vector<int> ends;  // child links of the last moving joints
  for (const UrdfJoint& joint : model.joints) {
    if (most == 0 || depth[static_cast<std::size_t>(joint.child)] != most) continue;
    if (depth[static_cast<std::size_t>(joint.parent)] == most - 1) ends.push_back(joint.child);
  }
  if (ends.empty()) {
    throw DescriptionError("the description has no moving joint behind link '" +
                           link_at(model, base).name + "'; a chain needs at least one");
  }
  if (ends.size() > 1) {
    std::string names;
    for (const int end : ends)
      names += (names.empty() ? "'" : ", '") + link_at(model, end).name + "'";
    throw DescriptionError("the chain is ambiguous: " + std::to_string(ends.size()) +
                           " branches have " + std::to_string(most) +
                           " moving joints, ending at links " + names + "; name the tip link");
  }
  int tip = ends.front();
  while (link_at(model, tip).child_joints.size() == 1) {
    const UrdfJoint& joint = joint_at(model, link_at(model, tip).child_joints.front());
    if (joint.type != UrdfJointType::kFixed) break;
    tip = joint.child;
  }
  return tip;
}

void check_on_chain(const UrdfJoint& joint) {
  const std::string where = describe(joint);
  if (joint.type == UrdfJointType::kFloating || joint.type == UrdfJointType::kPlanar) {
    throw DescriptionError(
        where + ": " + (joint.type == UrdfJointType::kFloating ? "floating" : "planar") +
        " joints have more than one degree of freedom; choose a base link behind it, or replace it "
        "by revolute and prismatic joints");
  }
  if (joint.mimic) {
    throw DescriptionError(
        where + ": it mimics joint '" + joint.mimic_of +
        "', and coupled joints are not a serial chain; remove <mimic>, freeze the joint, or choose "
        "a tip link before it");
  }
}

/// Joints outside of the base's subtree move nothing of the chain and are nobody's business here.
void check_off_chain(const UrdfModel& model, const ChainOptions& options, int base,
                     const std::set<int>& on_chain) {
  if (options.freeze_off_chain) return;
  std::vector<int> open{base};
  while (!open.empty()) {
    const int link = open.back();
    open.pop_back();
    for (const int index : link_at(model, link).child_joints) {
      const UrdfJoint& joint = joint_at(model, index);
      open.push_back(joint.child);
      if (joint.type == UrdfJointType::kFixed || on_chain.contains(index) ||
          frozen(joint, options)) {
        continue;
      }
      throw DescriptionError(
          describe(joint) +
          ": it moves and is not on the chain; freeze it (by name at a position, or all joints off "
          "the chain at zero), or choose another base or tip link");
    }
  }
}

void check_freeze(const UrdfModel& model, const ChainOptions& options) {
  for (const auto& [name, position] : options.freeze) {
    const int found = find_joint(model, name);
    if (found < 0)
      throw DescriptionError("joint '" + name + "', to be frozen, is not in the description");
    const UrdfJoint& joint = joint_at(model, found);
    if (!std::isfinite(position)) {
      throw DescriptionError(describe(joint) +
                             ": the position to freeze it at is not finite; give rad or m");
    }
    if (!moves(joint) && position != 0) {
      throw DescriptionError(describe(joint) +
                             ": it can only be frozen at 0, having no single position");
    }
  }
}

}  // namespace

ChainSelection select_chain(const UrdfModel& model, const ChainOptions& options) {
  check_freeze(model, options);
  ChainSelection selection;
  selection.base = options.base.empty() ? model.root : required_link(model, options.base, "base");
  selection.tip = options.tip.empty() ? default_tip(model, options, selection.base)
                                      : required_link(model, options.tip, "tip");
  std::set<int> on_chain;
  int link = selection.tip;
  while (link != selection.base) {
    const int index = link_at(model, link).parent_joint;
    if (index < 0) {
      throw DescriptionError("tip link '" + link_at(model, selection.tip).name +
                             "' is not behind base link '" + link_at(model, selection.base).name +
                             "'; exchange them or choose others");
    }
    const UrdfJoint& joint = joint_at(model, index);
    if (joint.type != UrdfJointType::kFixed && !frozen(joint, options)) {
      check_on_chain(joint);
      selection.joints.push_back(index);
      on_chain.insert(index);
    }
    link = joint.parent;
  }
  std::reverse(selection.joints.begin(), selection.joints.end());
  if (selection.joints.empty()) {
    throw DescriptionError("no moving joint between base link '" +
                           link_at(model, selection.base).name + "' and tip link '" +
                           link_at(model, selection.tip).name + "'; choose links further apart");
  }
  check_off_chain(model, options, selection.base, on_chain);
  return selection;
}

}  // namespace ga_dynamics
