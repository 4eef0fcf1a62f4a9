// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <unordered_map>

#include "urdf_parts.hpp"

namespace ga_dynamics::urdf {
namespace {

enum Parameter : std::size_t {
  kArmature,
  kViscous,
  kCoulomb,
  kCoulombPositive,
  kCoulombNegative,
  kParameterCount
};

constexpr std::array<std::string_view, kParameterCount> kParameterNames{
    "armature", "viscous_friction", "coulomb_friction", "coulomb_friction_positive",
    "coulomb_friction_negative"};

struct Given {
  double value;
  int line;
};
using Drive = std::array<std::optional<Given>, kParameterCount>;

std::string negative(const std::string& what, double value) {
  return what + " is negative (" + to_text(value) + "); give its magnitude, zero or more";
}

void read_parameter(const Element& element, const std::string& owner, Drive& drive) {
  const std::string name = required_text(element, "name", owner);
  const auto found = std::find(kParameterNames.begin(), kParameterNames.end(), name);
  if (found == kParameterNames.end()) {
    return;  // the hardware's own
  }
  const std::string what = "<param> " + name;
  const int line = element.GetLineNum();
  const double value = number_inside(element, what, owner);
  if (value < 0) {
    fail(owner, line, negative(what, value));
  }
  std::optional<Given>& given = drive[static_cast<std::size_t>(found - kParameterNames.begin())];
  if (given && given->value != value) {
    fail(owner, line,
         what + " is " + to_text(value) + " here but " + to_text(given->value) + " at line " +
             std::to_string(given->line) + "; keep one of them");
  }
  given = Given{value, line};
}

void apply(const Drive& drive, UrdfJoint& joint) {
  const auto set = [&drive](Parameter parameter, double& target) {
    if (drive[parameter]) {
      target = drive[parameter]->value;
    }
  };
  for (std::size_t i = 0; i < drive.size(); ++i) {
    if (drive[i]) (i == kArmature ? joint.armature_given : joint.friction_given) = true;
  }
  set(kArmature, joint.armature);
  set(kViscous, joint.viscous_friction);
  set(kCoulomb, joint.coulomb_positive);
  set(kCoulomb, joint.coulomb_negative);
  set(kCoulombPositive, joint.coulomb_positive);  // after the common value: the special one wins
  set(kCoulombNegative, joint.coulomb_negative);
}

}  // namespace

void read_dynamics(const Element& joint_element, const std::string& owner, UrdfJoint& joint,
                   const Report& report) {
  const Element* const dynamics = only_child(joint_element, "dynamics", owner, report);
  if (dynamics == nullptr) {
    return;
  }
  const auto read = [&](const char* attribute) {
    const std::optional<double> value = optional_number(*dynamics, attribute, owner);
    joint.friction_given = joint.friction_given || value;
    if (value && *value < 0) {
      report.fault(owner, dynamics->GetLineNum(),
                   negative("<dynamics> " + std::string(attribute), *value));
      return 0.0;
    }
    return value.value_or(0);
  };
  joint.viscous_friction = read("damping");
  joint.coulomb_positive = joint.coulomb_negative = read("friction");
}

void apply_ros2_control(const Element& robot, UrdfModel& model, const Report& report) {
  std::unordered_map<std::string_view, std::size_t> joint_index;
  for (std::size_t i = 0; i < model.joints.size(); ++i) {
    joint_index.emplace(model.joints[i].name, i);
  }
  // A joint may stand in several blocks; they are merged before any is applied.
  std::unordered_map<std::size_t, Drive> drives;
  for (auto* block = robot.FirstChildElement("ros2_control"); block != nullptr;
       block = block->NextSiblingElement("ros2_control")) {
    for (auto* element = block->FirstChildElement("joint"); element != nullptr;
         element = element->NextSiblingElement("joint")) {
      const std::string name = required_text(*element, "name", "<ros2_control> joint");
      const std::string owner = "<ros2_control> joint " + quote(name);
      Drive unused;
      Drive* drive = &unused;
      UrdfJoint* joint = nullptr;
      if (const auto found = joint_index.find(name); found != joint_index.end()) {
        drive = &drives[found->second];
        joint = &model.joints[found->second];
      } else {
        report.warn(owner, element->GetLineNum(),
                    "is not a joint of the robot and is ignored; correct the name or remove it");
      }
      for (auto* state = element->FirstChildElement("state_interface");
           joint != nullptr && state != nullptr;
           state = state->NextSiblingElement("state_interface")) {
        if (const char* const text = state->Attribute("name")) joint->state_interfaces.insert(text);
      }
      for (auto* param = element->FirstChildElement("param"); param != nullptr;
           param = param->NextSiblingElement("param")) {
        read_parameter(*param, owner, *drive);
        const char* const text = param->GetText();
        if (joint != nullptr && text != nullptr) {
          joint->parameters.emplace(required_text(*param, "name", owner), text);
        }
      }
    }
  }
  for (const auto& [joint, drive] : drives) {
    apply(drive, model.joints[joint]);
  }
}

}  // namespace ga_dynamics::urdf
