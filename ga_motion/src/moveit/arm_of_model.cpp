// SPDX-License-Identifier: Apache-2.0
#include "moveit/arm_of_model.hpp"

#include <algorithm>
#include <limits>

#include "ga_dynamics/urdfdom.hpp"

namespace ga_motion {

namespace {

void tighten(const moveit::core::VariableBounds& bounds, ga_dynamics::UrdfJoint& joint) {
  if (bounds.position_bounded_ && joint.lower && joint.upper) {
    joint.soft_lower = std::max(joint.soft_lower.value_or(*joint.lower), bounds.min_position_);
    joint.soft_upper = std::min(joint.soft_upper.value_or(*joint.upper), bounds.max_position_);
  }
  if (bounds.velocity_bounded_) {
    const double velocity = std::min(bounds.max_velocity_, -bounds.min_velocity_);
    if (velocity > 0) {
      joint.velocity =
          std::min(joint.velocity.value_or(std::numeric_limits<double>::infinity()), velocity);
    }
  }
}

}  // namespace

ga_dynamics::UrdfModel description_of(const moveit::core::RobotModel& model,
                                      const std::string& text) {
  ga_dynamics::UrdfModel description = text.empty() ? ga_dynamics::read_urdfdom(*model.getURDF())
                                                    : ga_dynamics::read_urdf_text(text);
  for (ga_dynamics::UrdfJoint& joint : description.joints) {
    if (!model.hasJointModel(joint.name)) continue;
    const auto& bounds = model.getJointModel(joint.name)->getVariableBounds();
    if (bounds.size() == 1) tighten(bounds[0], joint);
  }
  return description;
}

}  // namespace ga_motion
