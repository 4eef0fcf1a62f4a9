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

/// With everything that is undecided at 0 and everything that is missing zero.
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
      all ? "no link that the joints move has an <inertial> with more than zeros in it: this is a "
            "description of the kinematics only, and torques need masses; add them"
          : (links.size() == 1 ? "link " : "links ") + quoted_list(links) +
                ": no <inertial> or only zeros in it, here or in a link fixed to it; torques need "
                "masses: add them";
  if (arguments.allow_missing_inertia) {
    to.warnings.push_back(std::move(message));
    return;
  }
  message += ", or treat the links as massless with --allow-missing-inertia";
  to.missing.push_back({"inertia", std::move(message)});
}

void find_not_given(Description& to) {
  const auto joints_without = [&to](auto given) {
    std::vector<std::string> names;
    for (const int index : to.selection.joints) {
      const UrdfJoint& joint = to.model.joints[at(index)];
      if (!given(joint)) names.push_back(joint.name);
    }
    return names;
  };
  const auto tell = [&](const std::string& what, const std::vector<std::string>& joints) {
    if (joints.empty()) return;
    const bool all = joints.size() == to.selection.joints.size();
    to.not_given.push_back(what + ": " +
                           (all ? "no joint has any" : "missing at " + quoted_list(joints)));
  };
  tell("effort limits",
       joints_without([](const UrdfJoint& joint) { return joint.effort.has_value(); }));
  tell("velocity limits",
       joints_without([](const UrdfJoint& joint) { return joint.velocity.has_value(); }));
  tell("position limits", joints_without([](const UrdfJoint& joint) {
         return joint.type == UrdfJointType::kContinuous || joint.lower.has_value();
       }));
  tell("friction", joints_without([](const UrdfJoint& joint) { return joint.friction_given; }));
  tell("rotor inertia (armature)",
       joints_without([](const UrdfJoint& joint) { return joint.armature_given; }));
}

}  // namespace

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
  to.options = chain_options(arguments.chain);
  to.options.snap = arguments.snap;
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
    to.missing.push_back({"description", error.what()});  // its tree can be shown all the same
    return to;
  }
  find_missing_inertia(arguments.chain, to);
  find_not_given(to);
  if (!arguments.payload.empty()) {
    to.chain = to.chain->with_payload(payload_of(arguments));
  }
  return to;
}

}  // namespace ga_tools::cli
