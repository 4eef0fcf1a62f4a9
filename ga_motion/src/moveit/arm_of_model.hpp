// SPDX-License-Identifier: Apache-2.0
#ifndef MOVEIT__ARM_OF_MODEL_HPP_
#define MOVEIT__ARM_OF_MODEL_HPP_

// The arm of a MoveIt robot model as a chain of ga_dynamics.

#include <moveit/robot_model/robot_model.hpp>
#include <string>

#include "ga_dynamics/chain.hpp"

namespace ga_motion {

/// The description with the position and velocity bounds of the robot model, which may be tighter
/// (joint_limits.yaml). `text`: the description the model was made from, or empty; without it drives
/// have the friction of <dynamics> alone and no rotor inertia. Throws DescriptionError.
ga_dynamics::UrdfModel description_of(const moveit::core::RobotModel& model,
                                      const std::string& text);

}  // namespace ga_motion

#endif  // MOVEIT__ARM_OF_MODEL_HPP_
