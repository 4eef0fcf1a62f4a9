// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "urdf_parts.hpp"

namespace ga_dynamics::urdf {
namespace {

/// Below it the direction is round-off, not intent.
constexpr double kZeroAxis = 1e-6;
/// "0.7071 0.7071 0" is meant as a unit vector; "1 1 0" deserves a word.
constexpr double kUnitTolerance = 1e-3;

UrdfJointType read_type(const Element& element, const std::string& owner) {
  using enum UrdfJointType;
  constexpr std::array<std::pair<std::string_view, UrdfJointType>, 6> kTypes{
      {{"revolute", kRevolute},
       {"continuous", kContinuous},
       {"prismatic", kPrismatic},
       {"fixed", kFixed},
       {"floating", kFloating},
       {"planar", kPlanar}}};
  const std::string text = required_text(element, "type", owner);
  const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&text](const auto& known) { return known.first == text; });
  if (found == kTypes.end()) {
    fail(owner, element.GetLineNum(),
         "type " + quote(text) +
             " is unknown; use revolute, continuous, prismatic, fixed, floating or planar");
  }
  return found->second;
}

bool has_range(UrdfJointType type) {
  return type == UrdfJointType::kRevolute || type == UrdfJointType::kPrismatic;
}

Vector3 read_axis(const Element& element, UrdfJointType type, const std::string& owner,
                  const Report& report) {
  constexpr Vector3 kDefault{1, 0, 0};  // URDF's, for a joint without <axis>
  // Exporters write "0 0 0" or nothing into fixed joints; it has no meaning there, and urdfdom ignores it.
  const bool uses_axis = type != UrdfJointType::kFixed && type != UrdfJointType::kFloating;
  const Element* const axis_element =
      uses_axis ? only_child(element, "axis", owner, report) : nullptr;
  if (axis_element == nullptr) {
    return kDefault;
  }
  const int line = axis_element->GetLineNum();
  const std::string text = required_text(*axis_element, "xyz", owner);
  Vector3 axis = optional_vector(*axis_element, "xyz", owner).value_or(kDefault);

  // Divided by the largest first: the squares of 1e200 or 1e-200 are not numbers to add.
  const double largest = std::max({std::abs(axis[0]), std::abs(axis[1]), std::abs(axis[2])});
  if (largest < kZeroAxis) {
    report.fault(
        owner, line,
        "axis " + quote(text) + " is zero; give the direction of motion, like xyz=\"0 0 1\"");
    return kDefault;
  }
  for (double& component : axis) {
    component /= largest;
  }
  const double scaled_norm = std::hypot(axis[0], axis[1], axis[2]);
  for (double& component : axis) {
    component /= scaled_norm;
  }
  const double norm = scaled_norm * largest;
  if (std::abs(norm - 1) > kUnitTolerance) {
    report.warn(owner, line,
                "axis " + quote(text) + " is not a unit vector (norm " + to_text(norm) +
                    ") and was normalized; write xyz=\"" + to_text(axis[0]) + " " +
                    to_text(axis[1]) + " " + to_text(axis[2]) + "\"");
  }
  return axis;
}

void read_limit(const Element& element, const std::string& owner, UrdfJoint& joint,
                const Report& report) {
  const Element* const limit = only_child(element, "limit", owner, report);
  if (limit == nullptr) {
    if (has_range(joint.type)) {
      report.warn(
          owner, element.GetLineNum(),
          "has no <limit>, so its range, velocity and effort are unknown; add <limit lower=\"\" "
          "upper=\"\" velocity=\"\" effort=\"\"/>, or make it continuous");
    }
    return;
  }
  joint.velocity = optional_number(*limit, "velocity", owner);
  joint.effort = optional_number(*limit, "effort", owner);
  const std::optional<double> lower = optional_number(*limit, "lower", owner);
  const std::optional<double> upper = optional_number(*limit, "upper", owner);
  if (!has_range(joint.type)) {
    return;
  }
  if (!lower && !upper) {
    // URDF's defaults would lock the joint at zero, which is never intended.
    report.warn(
        owner, limit->GetLineNum(),
        "<limit> has neither lower nor upper, so the range is unknown; add them, or make the joint "
        "continuous");
    return;
  }
  joint.lower = lower.value_or(0);  // URDF: "defaults to 0"
  joint.upper = upper.value_or(0);
  if (*joint.lower > *joint.upper) {
    report.fault(owner, limit->GetLineNum(),
                 "lower limit " + to_text(*joint.lower) + " is above the upper limit " +
                     to_text(*joint.upper) + (lower && upper ? "" : " (0 where absent)") +
                     "; swap or correct them");
    joint.lower = joint.upper = std::nullopt;
  }
}

/// Soft limits. Those beyond the hard limits end there, with a warning: such descriptions exist, and
/// urdfdom accepts them.
void read_soft_limits(const Element& element, const std::string& owner, UrdfJoint& joint,
                      const Report& report) {
  const Element* const safety = only_child(element, "safety_controller", owner, report);
  if (safety == nullptr) return;
  const int line = safety->GetLineNum();
  const double lower = optional_number(*safety, "soft_lower_limit", owner).value_or(0);
  const double upper = optional_number(*safety, "soft_upper_limit", owner).value_or(0);
  if (lower == 0 && upper == 0) return;  // URDF: both default to 0
  const std::string range = to_text(lower) + " … " + to_text(upper);
  if (!has_range(joint.type)) {
    report.warn(owner, line,
                "soft limits " + range +
                    " belong to revolute and prismatic joints and are not used; remove them from "
                    "<safety_controller>");
    return;
  }
  if (!(lower < upper)) {
    report.fault(owner, line,
                 "soft_lower_limit " + to_text(lower) + " is not below soft_upper_limit " +
                     to_text(upper) + " (0 where absent); correct <safety_controller>");
    return;
  }
  const double lowest = joint.lower.value_or(lower), highest = joint.upper.value_or(upper);
  if (!(lower < highest && upper > lowest)) {
    report.fault(owner, line,
                 "soft limits " + range + " are outside the limits " + to_text(lowest) + " … " +
                     to_text(highest) + "; correct <safety_controller> or <limit>");
    return;
  }
  if (lower < lowest || upper > highest) {
    report.warn(owner, line,
                "soft limits " + range + " exceed the limits " + to_text(lowest) + " … " +
                    to_text(highest) +
                    ", which count; give soft_lower_limit and soft_upper_limit inside of them");
  }
  joint.soft_lower = std::max(lower, lowest);
  joint.soft_upper = std::min(upper, highest);
}

std::string read_link_reference(const Element& element, const char* end, const std::string& owner,
                                const Report& report) {
  return required_text(required_child(element, end, owner, report), "link", owner);
}

/// "joints 'a' (line 3: 0), 'b' (line 9: -1)"
struct EmptyLimits {
  static constexpr std::size_t kMostNamed = 8;
  std::size_t count = 0;
  std::string joints{};

  void add(const UrdfJoint& joint, double value) {
    if (count < kMostNamed) {
      joints += (count == 0 ? "" : ", ") + quote(joint.name) + " (line " +
                std::to_string(joint.line) + ": " + to_text(value) + ")";
    }
    ++count;
  }
  std::string owner(const std::string& kind) const {
    const std::string more =
        count > kMostNamed ? " and " + std::to_string(count - kMostNamed) + " more" : "";
    return "<limit> " + kind + " of " + (count == 1 ? "joint " : "joints ") + joints + more;
  }
};

}  // namespace

UrdfJoint read_joint(const Element& element, const Report& report) {
  UrdfJoint joint;
  joint.line = element.GetLineNum();
  joint.name = required_text(element, "name", "joint");
  const std::string owner = "joint " + quote(joint.name);
  joint.type = read_type(element, owner);
  joint.parent_link = read_link_reference(element, "parent", owner, report);
  joint.child_link = read_link_reference(element, "child", owner, report);
  if (joint.parent_link == joint.child_link) {
    fail(owner, joint.line,
         "parent and child are both link " + quote(joint.parent_link) +
             "; name two different links");
  }
  joint.origin = read_origin(element, owner, report);
  joint.axis = read_axis(element, joint.type, owner, report);
  read_limit(element, owner, joint, report);
  read_soft_limits(element, owner, joint, report);
  read_dynamics(element, owner, joint, report);
  if (const Element* const mimic = only_child(element, "mimic", owner, report)) {
    joint.mimic = true;
    joint.mimic_of = required_text(*mimic, "joint", owner);
  }
  return joint;
}

void drop_empty_limits(UrdfModel& model, const Report& report) {
  EmptyLimits efforts, velocities;
  for (UrdfJoint& joint : model.joints) {
    const auto drop = [&joint](std::optional<double>& limit, EmptyLimits& found) {
      if (!limit || *limit > 0) return;
      if (joint.type != UrdfJointType::kFixed) found.add(joint, *limit);
      limit.reset();
    };
    drop(joint.effort, efforts);
    drop(joint.velocity, velocities);
  }
  if (efforts.count > 0) {
    report.warn(efforts.owner("effort"),
                "not positive, and taken as not given; give the true limit in N m or N: "
                "ros2_control's own limiter, where it is enabled, takes 0 as no torque at all");
  }
  if (velocities.count > 0) {
    report.warn(velocities.owner("velocity"),
                "not positive, and taken as not given; give the true limit in rad/s or m/s");
  }
}

}  // namespace ga_dynamics::urdf
