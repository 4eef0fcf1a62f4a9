// SPDX-License-Identifier: Apache-2.0
#ifndef GRIPPER_HPP_
#define GRIPPER_HPP_

#include <vector>

#include "ga_dynamics/urdf_model.hpp"

namespace ga_dynamics {

/// For every joint, whether it belongs to a gripper (chain.hpp says what that is).
std::vector<bool> gripper_joints(const UrdfModel& model);

}  // namespace ga_dynamics

#endif  // GRIPPER_HPP_
