// SPDX-License-Identifier: Apache-2.0
#include "set_point.hpp"

#include <algorithm>
#include <cmath>

#include "reference_governor.hpp"

namespace ga_controllers {

namespace {

std::string count(const char* what, std::size_t is, std::size_t should) {
  return std::to_string(is) + " " + what + " where " + std::to_string(should) + " are expected";
}

}  // namespace

bool SetPoint::rests() const noexcept {
  const auto zero = [](double value) { return value == 0; };
  return std::all_of(qd.begin(), qd.end(), zero) && std::all_of(qdd.begin(), qdd.end(), zero);
}

std::string read_set_point(const trajectory_msgs::msg::JointTrajectory& message,
                           const ga_dynamics::Chain& chain, SetPoint& set_point) {
  const std::size_t n = chain.joints().size();
  if (message.points.size() != 1) {
    return count("points", message.points.size(), 1) +
           " (a trajectory goes to joint_trajectory_controller)";
  }
  const auto& point = message.points.front();
  if (point.time_from_start.sec != 0 || point.time_from_start.nanosec != 0) {
    return "time_from_start is not zero (a set-point is followed at once; a trajectory goes to "
           "joint_trajectory_controller)";
  }
  if (!point.effort.empty()) return "effort is given, but the torque comes from the model";
  if (message.joint_names.size() != n) return count("joint names", message.joint_names.size(), n);
  if (point.positions.size() != n) return count("positions", point.positions.size(), n);
  for (const auto& [rates, name] : {std::pair(&point.velocities, "velocities"),
                                    std::pair(&point.accelerations, "accelerations")}) {
    if (!rates->empty() && rates->size() != n) return count(name, rates->size(), n) + ", or none";
  }
  set_point.has_velocity = !point.velocities.empty();
  set_point.has_acceleration = !point.accelerations.empty();
  std::vector<bool> seen(n, false);
  for (std::size_t k = 0; k < n; ++k) {
    const std::string& name = message.joint_names[k];
    const auto found = std::find_if(chain.joints().begin(), chain.joints().end(),
                                    [&](const auto& joint) { return joint.name == name; });
    if (found == chain.joints().end()) return "there is no joint '" + name + "'";
    const auto i = static_cast<std::size_t>(found - chain.joints().begin());
    if (seen[i]) return "joint '" + name + "' is named twice";
    seen[i] = true;
    set_point.q[i] = point.positions[k];
    set_point.qd[i] = point.velocities.empty() ? 0 : point.velocities[k];
    set_point.qdd[i] = point.accelerations.empty() ? 0 : point.accelerations[k];
    if (!std::isfinite(set_point.q[i]) || !std::isfinite(set_point.qd[i]) ||
        !std::isfinite(set_point.qdd[i])) {
      return "a value of joint '" + name + "' is not finite";
    }
    const auto& limits = found->limits;
    const double lower = limits.goal_lower(), upper = limits.goal_upper();
    if (set_point.q[i] < lower || set_point.q[i] > upper) {
      return "joint '" + name + "': position " + std::to_string(set_point.q[i]) +
             " is outside its limits " + std::to_string(lower) + " … " + std::to_string(upper);
    }
    if (std::abs(set_point.qd[i]) > speed_limit(limits)) {
      return "joint '" + name + "': velocity " + std::to_string(set_point.qd[i]) +
             " is above its limit " + std::to_string(limits.velocity);
    }
  }
  return {};
}

}  // namespace ga_controllers
