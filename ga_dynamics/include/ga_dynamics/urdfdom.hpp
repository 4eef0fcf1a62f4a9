// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__URDFDOM_HPP_
#define GA_DYNAMICS__URDFDOM_HPP_

// A Chain from a robot that urdfdom has read; link the target ga_dynamics::urdfdom.
//
// The model is checked like a text (urdf_model.hpp). What a urdf::ModelInterface does not carry:
// - <ros2_control>, and with it armature and asymmetric friction: give DriveDescription.
// - the order of the text: branches come in the order of their names.
// - whether both position limits were 0 or not given: they count as not given.
//
// Units: SI. Allocates; throws DescriptionError.

#include <urdf_model/model.h>

#include <map>
#include <string>
#include <string_view>

#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/number.hpp"

namespace ga_dynamics {

/// The drives of a robot, beside its urdf::ModelInterface. Both empty: the <dynamics> of its joints.
struct DriveDescription {
  std::string_view ros2_control = {};          ///< text of the <ros2_control> elements
  std::map<std::string, Drive> by_joint = {};  ///< by joint name; overrides the text
};

namespace detail {

inline std::string xml_attribute(const char* name, std::string_view value) {
  std::string text = std::string(" ") + name + "=\"";
  for (const char c : value) {
    if (c == '&') {
      text += "&amp;";
    } else if (c == '<') {
      text += "&lt;";
    } else if (c == '"') {
      text += "&quot;";
    } else {
      text += c;
    }
  }
  return text + "\"";
}

inline std::string xml_attribute(const char* name, double value) {
  return xml_attribute(name, number_text(value, kExactDigits));
}

/// Without a rotation, which rpy would round: set_rotations() adds it.
inline std::string origin_element(const ::urdf::Pose& pose) {
  const ::urdf::Vector3& p = pose.position;
  return "<origin" +
         xml_attribute("xyz", number_text(p.x, kExactDigits) + " " +
                                  number_text(p.y, kExactDigits) + " " +
                                  number_text(p.z, kExactDigits)) +
         "/>";
}

inline std::string link_element(const ::urdf::Link& link) {
  std::string text = "<link" + xml_attribute("name", link.name) + ">";
  if (link.inertial) {
    const ::urdf::Inertial& i = *link.inertial;
    text += "<inertial>" + origin_element(i.origin) + "<mass" + xml_attribute("value", i.mass) +
            "/><inertia" + xml_attribute("ixx", i.ixx) + xml_attribute("ixy", i.ixy) +
            xml_attribute("ixz", i.ixz) + xml_attribute("iyy", i.iyy) +
            xml_attribute("iyz", i.iyz) + xml_attribute("izz", i.izz) + "/></inertial>";
  }
  return text + "</link>";
}

inline const char* joint_type(const ::urdf::Joint& joint) {
  switch (joint.type) {
    case ::urdf::Joint::REVOLUTE:
      return "revolute";
    case ::urdf::Joint::CONTINUOUS:
      return "continuous";
    case ::urdf::Joint::PRISMATIC:
      return "prismatic";
    case ::urdf::Joint::FLOATING:
      return "floating";
    case ::urdf::Joint::PLANAR:
      return "planar";
    case ::urdf::Joint::FIXED:
      return "fixed";
    default:
      return "unknown";
  }
}

inline std::string joint_element(const ::urdf::Joint& joint) {
  std::string text = "<joint" + xml_attribute("name", joint.name) +
                     xml_attribute("type", joint_type(joint)) + "><parent" +
                     xml_attribute("link", joint.parent_link_name) + "/><child" +
                     xml_attribute("link", joint.child_link_name) + "/>" +
                     origin_element(joint.parent_to_joint_origin_transform) + "<axis" +
                     xml_attribute("xyz", number_text(joint.axis.x, kExactDigits) + " " +
                                              number_text(joint.axis.y, kExactDigits) + " " +
                                              number_text(joint.axis.z, kExactDigits)) +
                     "/>";
  if (joint.limits) {
    const ::urdf::JointLimits& limits = *joint.limits;
    text += "<limit" + xml_attribute("effort", limits.effort) +
            xml_attribute("velocity", limits.velocity);
    if (limits.lower != 0 || limits.upper != 0)
      text += xml_attribute("lower", limits.lower) + xml_attribute("upper", limits.upper);
    text += "/>";
  }
  if (joint.safety) {
    text += "<safety_controller" +
            xml_attribute("soft_lower_limit", joint.safety->soft_lower_limit) +
            xml_attribute("soft_upper_limit", joint.safety->soft_upper_limit) +
            xml_attribute("k_position", joint.safety->k_position) +
            xml_attribute("k_velocity", joint.safety->k_velocity) + "/>";
  }
  if (joint.dynamics) {
    text += "<dynamics" + xml_attribute("damping", joint.dynamics->damping) +
            xml_attribute("friction", joint.dynamics->friction) + "/>";
  }
  if (joint.mimic) text += "<mimic" + xml_attribute("joint", joint.mimic->joint_name) + "/>";
  return text + "</joint>";
}

inline Matrix3 rotation_of(const ::urdf::Rotation& q) {
  const double x = q.x, y = q.y, z = q.z, w = q.w;
  const double s = 2 / (x * x + y * y + z * z + w * w);
  return {1 - s * (y * y + z * z), s * (x * y - z * w),     s * (x * z + y * w),
          s * (x * y + z * w),     1 - s * (x * x + z * z), s * (y * z - x * w),
          s * (x * z - y * w),     s * (y * z + x * w),     1 - s * (x * x + y * y)};
}

inline void set_rotations(const ::urdf::ModelInterface& from, UrdfModel& to) {
  for (UrdfJoint& joint : to.joints) {
    joint.origin.rotation =
        rotation_of(from.joints_.at(joint.name)->parent_to_joint_origin_transform.rotation);
  }
  for (UrdfLink& link : to.links) {
    if (!link.inertial) continue;
    link.inertial->origin.rotation =
        rotation_of(from.links_.at(link.name)->inertial->origin.rotation);
  }
}

/// There is no text whose lines a message could name.
inline std::string without_lines(std::string message) {
  for (std::size_t at; (at = message.find(" (line ")) != std::string::npos;)
    message.erase(at, message.find(')', at) + 1 - at);
  return message;
}

}  // namespace detail

/// The description as plain data, checked as by read_urdf_text().
inline UrdfModel read_urdfdom(const ::urdf::ModelInterface& robot,
                              const DriveDescription& drives = {},
                              const UrdfReadOptions& options = {}) {
  std::string text = "<robot" + detail::xml_attribute("name", robot.getName()) + ">";
  for (const auto& [name, link] : robot.links_) text += detail::link_element(*link);
  for (const auto& [name, joint] : robot.joints_) text += detail::joint_element(*joint);
  text += std::string(drives.ros2_control) + "</robot>";
  try {
    UrdfModel model = read_urdf_text(text, options);
    detail::set_rotations(robot, model);
    for (const auto& [name, drive] : drives.by_joint) {
      const int index = find_joint(model, name);
      if (index < 0) {
        throw DescriptionError("drive of joint '" + name +
                               "': the robot has no such joint; correct the name");
      }
      UrdfJoint& joint = model.joints[static_cast<std::size_t>(index)];
      joint.armature = drive.armature, joint.viscous_friction = drive.viscous;
      joint.coulomb_positive = drive.coulomb_positive;
      joint.coulomb_negative = drive.coulomb_negative;
      joint.armature_given = joint.friction_given = true;
    }
    for (auto* list : {&model.warnings, &model.faults}) {
      for (std::string& message : *list) message = detail::without_lines(std::move(message));
    }
    return model;
  } catch (const DescriptionError& error) {
    throw DescriptionError(detail::without_lines(error.what()));
  }
}

inline Chain chain_from_urdfdom(const ::urdf::ModelInterface& robot,
                                const ChainOptions& options = {},
                                const DriveDescription& drives = {}) {
  return Chain::from_model(read_urdfdom(robot, drives, {.strict = options.strict}), options);
}

}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__URDFDOM_HPP_
