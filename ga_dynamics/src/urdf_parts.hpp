// SPDX-License-Identifier: Apache-2.0

/// The parts of reading a URDF, in the order in which the reader runs them.
#ifndef URDF_PARTS_HPP_
#define URDF_PARTS_HPP_

#include <string>

#include "urdf_xml.hpp"

namespace ga_dynamics::urdf {

/// <inertial>, checked for what a rigid body can have.
UrdfInertial read_inertial(const Element& inertial, const std::string& owner, const Report& report);

/// One <joint>, all but its indices and the <ros2_control> part of its drive.
UrdfJoint read_joint(const Element& element, const Report& report);

/// Velocity and effort limits that are not positive stand for "not given" in many descriptions:
/// takes them away, with one warning for each kind.
void drop_empty_limits(UrdfModel& model, const Report& report);

/// Resolves names to indices and proves that the links form one tree.
void connect_tree(UrdfModel& model, const std::string& owner, int line, const Report& report);

/// The joints' <dynamics>, and what <ros2_control> says over it.
void read_dynamics(const Element& joint_element, const std::string& owner, UrdfJoint& joint,
                   const Report& report);
void apply_ros2_control(const Element& robot, UrdfModel& model, const Report& report);

}  // namespace ga_dynamics::urdf

#endif  // URDF_PARTS_HPP_
