// SPDX-License-Identifier: Apache-2.0
#ifndef JOINT_MOTION_HPP_
#define JOINT_MOTION_HPP_

#include <cmath>

#include "dh_frames.hpp"

namespace ga_dynamics {

/// The child link's frame in the parent link's, with a frozen joint at its position [rad, m].
inline LPose child_in_parent(const UrdfJoint& joint, double position) {
  const LPose origin = to_long(joint.origin);
  if (position == 0) return origin;
  const LVec axis{joint.axis[0], joint.axis[1], joint.axis[2]};
  if (joint.type == UrdfJointType::kPrismatic) {
    return compose(origin, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, position * axis});
  }
  const Long s = std::sin(static_cast<Long>(position)),
             v = 1 - std::cos(static_cast<Long>(position));
  const auto& [x, y, z] = axis;
  return compose(origin, {{{1 - v * (y * y + z * z), v * x * y - s * z, v * x * z + s * y},
                           {v * x * y + s * z, 1 - v * (x * x + z * z), v * y * z - s * x},
                           {v * x * z - s * y, v * y * z + s * x, 1 - v * (x * x + y * y)}},
                          {0, 0, 0}});
}

}  // namespace ga_dynamics

#endif  // JOINT_MOTION_HPP_
