// SPDX-License-Identifier: Apache-2.0
#include "cli/description.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace ga_tools::cli {

using namespace ga_dynamics;
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

std::string quoted_list(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == kMost) return text + " and " + std::to_string(names.size() - i) + " more";
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
  }
  return text;
}

bool massless(const LinkInertia& body) { return body.mass == 0 && body.inertia == Matrix3{}; }

ChainOptions options_of(const RobotArguments& arguments) {
  ChainOptions options = chain_options(arguments.chain);
  options.snap = arguments.snap;
  return options;
}

Chain with_payload(Chain chain, const std::vector<double>& payload) {
  if (payload.empty()) return chain;
  return chain.with_payload({payload[0], {payload[1], payload[2], payload[3]}, {}});
}

/// With undecided joints at 0 and missing inertias zero.
Chain chain_to_show(const Description& description) {
  ChainOptions options = description.options;
  options.base = description.model.links[at(description.selection.base)].name;
  options.tip = description.model.links[at(description.selection.tip)].name;
  options.allow_missing_inertia = true;
  for (const ChainQuestion& question : description.selection.questions) {
    for (const int joint : question.joints) {
      options.freeze.emplace(description.model.joints[at(joint)].name, 0);
    }
  }
  UrdfModel model = description.model;
  model.faults.clear();
  return Chain::from_model(model, options);
}

void find_missing_inertia(const ChainArguments& arguments, Description& to) {
  std::vector<std::string> links;
  for (const ChainJoint& joint : to.chain->joints()) {
    if (massless(joint.body)) links.push_back(joint.link);
  }
  if (links.empty()) return;
  const bool all = links.size() == to.chain->joints().size();
  std::string message =
      all ? "no moving link has an <inertial> that is not zero: the description has only "
            "kinematics, and torques need masses; add them"
          : (links.size() == 1 ? "link " : "links ") + quoted_list(links) +
                ": no <inertial>, or only zeros in it, in this link or one fixed to it; torques "
                "need masses: add them";
  if (arguments.allow_missing_inertia) {
    to.warnings.push_back(std::move(message));
    return;
  }
  message += ", or treat the links as massless with --allow-missing-inertia";
  to.missing.push_back({"inertia", std::move(message)});
}

void find_not_given(Description& to) {
  const std::pair<const char*, bool (*)(const UrdfJoint&)> optional[] = {
      {"effort limits", [](const UrdfJoint& joint) { return joint.effort.has_value(); }},
      {"velocity limits", [](const UrdfJoint& joint) { return joint.velocity.has_value(); }},
      {"position limits",
       [](const UrdfJoint& joint) {
         return joint.type == UrdfJointType::kContinuous || joint.lower.has_value();
       }},
      {"friction", [](const UrdfJoint& joint) { return joint.friction_given; }},
      {"rotor inertia (armature)", [](const UrdfJoint& joint) { return joint.armature_given; }},
  };
  for (const auto& [what, given] : optional) {
    std::vector<std::string> without;
    for (const int index : to.selection.joints) {
      const UrdfJoint& joint = to.model.joints[at(index)];
      if (!given(joint)) without.push_back(joint.name);
    }
    if (without.empty()) continue;
    const bool all = without.size() == to.selection.joints.size();
    to.not_given.push_back(what +
                           (all ? ": no joint has any" : ": missing at " + quoted_list(without)));
  }
}

}  // namespace

Chain load_chain(const RobotArguments& arguments) {
  return with_payload(Chain::from_urdf_file(arguments.urdf, options_of(arguments)),
                      arguments.payload);
}

const char* name_of(UrdfJointType type) {
  switch (type) {
    case UrdfJointType::kRevolute:
      return "revolute";
    case UrdfJointType::kContinuous:
      return "continuous";
    case UrdfJointType::kPrismatic:
      return "prismatic";
    case UrdfJointType::kFixed:
      return "fixed";
    case UrdfJointType::kFloating:
      return "floating";
    case UrdfJointType::kPlanar:
      break;
  }
  return "planar";
}

const char* name_of(JointRole role) {
  switch (role) {
    case JointRole::kFixed:
      return "fixed";
    case JointRole::kFrozen:
      return "frozen";
    case JointRole::kChain:
      return "chain";
    case JointRole::kGripper:
      return "gripper";
    case JointRole::kOnBase:
      return "on_base";
    case JointRole::kUndecided:
      return "undecided";
    case JointRole::kOutside:
      break;
  }
  return "outside";
}

std::vector<JointRole> joint_roles(const Description& description) {
  const UrdfModel& model = description.model;
  const ChainSelection& selection = description.selection;
  std::vector<JointRole> roles(model.joints.size(), JointRole::kOutside);
  std::vector<int> open{selection.base};
  while (!open.empty()) {
    const int link = open.back();
    open.pop_back();
    for (const int index : model.links[at(link)].child_joints) {
      open.push_back(model.joints[at(index)].child);
      roles[at(index)] = JointRole::kFrozen;
    }
  }
  const auto set = [&roles](const std::vector<int>& joints, JointRole role) {
    for (const int index : joints) roles[at(index)] = role;
  };
  set(selection.joints, JointRole::kChain);
  set(selection.gripper, JointRole::kGripper);
  set(selection.on_base, JointRole::kOnBase);
  for (const ChainQuestion& question : selection.questions) {
    set(question.joints, JointRole::kUndecided);
  }
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const UrdfJoint& joint = model.joints[i];
    if (description.options.freeze.contains(joint.name)) roles[i] = JointRole::kFrozen;
    if (joint.type == UrdfJointType::kFixed) roles[i] = JointRole::kFixed;
  }
  return roles;
}

Description describe_robot(const RobotArguments& arguments) {
  Description to;
  to.file = arguments.urdf;
  to.options = options_of(arguments);
  const bool strict = arguments.chain.strict;
  to.model = read_urdf_file(arguments.urdf, {.strict = strict, .collect_faults = !strict});
  try {
    to.selection = survey_chain(to.model, to.options);
  } catch (const DescriptionError& error) {
    throw DescriptionError(arguments.urdf + ": " + error.what());
  }
  to.warnings = to.model.warnings;
  to.warnings.insert(to.warnings.end(), to.selection.warnings.begin(), to.selection.warnings.end());
  if (strict && !to.warnings.empty()) {
    throw DescriptionError(arguments.urdf + ": " + to.warnings.front());
  }
  for (const std::string& fault : to.model.faults) to.missing.push_back({"description", fault});
  for (const ChainQuestion& question : to.selection.questions) {
    to.missing.push_back({"choice", question.text});
  }
  if (to.selection.joints.empty()) return to;
  try {
    to.chain = chain_to_show(to);
  } catch (const DescriptionError& error) {
    to.missing.push_back({"description", error.what()});  // the tree can still be shown
    return to;
  }
  find_missing_inertia(arguments.chain, to);
  find_not_given(to);
  to.chain = with_payload(*std::move(to.chain), arguments.payload);
  return to;
}

}  // namespace ga_tools::cli
