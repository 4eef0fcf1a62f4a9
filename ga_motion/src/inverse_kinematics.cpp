// SPDX-License-Identifier: Apache-2.0

// What all inverse kinematics share.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ga_dynamics/algorithm/check_arguments.hpp"
#include "ga_dynamics/algorithm/linear.hpp"
#include "ga_motion/kinematics.hpp"
#include "join.hpp"

namespace ga_motion {

using namespace ga_dynamics;
namespace {

using V = Vec3<double>;
using M = Mat3<double>;

constexpr double kPi = std::numbers::pi;
constexpr double kLimitSlack = 1e-9;    // rad, m: limits are written with a handful of digits
constexpr double kNotARotation = 1e-6;  // deviation of R Rᵀ from 1

}  // namespace

bool is_pose(const Pose& pose) noexcept {
  const M r = to_mat(pose.rotation);
  const V third = cross(r.r0, r.r1) - r.r2, p = to_vec(pose.translation);
  const double errors[] = {
      dot(r.r0, r.r0) - 1, dot(r.r1, r.r1) - 1, dot(r.r0, r.r1), third.x, third.y, third.z};
  for (const double error : errors) {
    if (!(std::abs(error) <= kNotARotation)) return false;
  }
  return std::isfinite(p.x + p.y + p.z);
}

std::string describe(const IkResult& result, const Chain& chain) {
  const double value = result.value;
  switch (result.status) {
    case IkStatus::kOk:
      return "solved";
    case IkStatus::kShoulderSingular:
      return join("shoulder singularity: wrist point ", value, " of the reach from axis 1");
    case IkStatus::kElbowSingular:
      return join("elbow singularity: upper arm and forearm in line, |sin| = ", value);
    case IkStatus::kWristSingular:
      return join("wrist singularity: axes 4 and 6 in line, |sin q5| = ", value);
    case IkStatus::kSingular:
      return join("singularity: least over largest singular value of the Jacobian = ", value);
    case IkStatus::kOutOfReach:
      return join("out of reach: wrist point ", std::abs(value), " m too ",
                  value > 0 ? "far from" : "near to", result.joint == 0 ? " axis 1" : " axis 2");
    case IkStatus::kOutsideLimits: {
      if (result.joint < 0 || result.joint >= chain.size())
        throw std::invalid_argument(join("describe: joint index ", result.joint, " of a chain of ",
                                         chain.size(), " joints; give the chain of the result"));
      const ChainJoint& joint = chain.joints()[static_cast<std::size_t>(result.joint)];
      return join("joint '", joint.name, "' at ", value, ", outside its limits ",
                  joint.limits.goal_lower(), " to ", joint.limits.goal_upper(),
                  joint.revolute() ? " rad" : " m");
    }
    case IkStatus::kNotFound:
      return join("out of reach, or not found: best attempt ", value, " m or rad off");
    case IkStatus::kInvalidPose:
      break;
  }
  return "not a pose: a value is not finite, or the matrix is no rotation";
}

InverseKinematics::InverseKinematics(const Chain& chain)
    : dynamics_(std::make_shared<Dynamics>(chain)) {}
InverseKinematics::~InverseKinematics() = default;

void InverseKinematics::forward(std::span<const double> q, Pose& pose) const {
  require_size("InverseKinematics::forward", "q", q.size(), chain().joints().size());
  dynamics_->link_pose(q, chain().tip_index(), pose);
}

void InverseKinematics::jacobian(std::span<const double> q, std::span<double> jacobian) const {
  const std::size_t n = chain().joints().size();
  require_size("InverseKinematics::jacobian", "q", q.size(), n);
  require_size("InverseKinematics::jacobian", "jacobian", jacobian.size(), 6 * n);
  dynamics_->jacobian(q, chain().tip_index(), jacobian);
}

void InverseKinematics::velocity_product(std::span<const double> q, std::span<const double> qd,
                                         std::span<double> acceleration) const {
  constexpr const char* kName = "InverseKinematics::velocity_product";
  const std::size_t n = chain().joints().size();
  require_size(kName, "q", q.size(), n), require_size(kName, "qd", qd.size(), n);
  require_size(kName, "acceleration", acceleration.size(), 6);
  dynamics_->velocity_product(q, qd, chain().tip_index(), acceleration);
}

IkResult InverseKinematics::wrap(std::span<const double> seed, bool keep_limits,
                                 std::span<double> q) const noexcept {
  IkResult result;
  double worst = kLimitSlack;
  for (std::size_t i = 0; i < chain().joints().size(); ++i) {
    const JointLimits& limits = chain().joints()[i].limits;
    const auto excess = [&](double value) {
      return std::max(limits.goal_lower() - value, value - limits.goal_upper());
    };
    if (chain().joints()[i].revolute()) {
      q[i] = seed[i] + std::remainder(q[i] - seed[i], 2 * kPi);
      if (keep_limits && excess(q[i]) > kLimitSlack) {
        // The lowest equivalent above the lower limit and the highest below the upper one.
        const double turns_up = std::ceil((limits.goal_lower() - kLimitSlack - q[i]) / (2 * kPi));
        const double turns_down =
            std::floor((limits.goal_upper() + kLimitSlack - q[i]) / (2 * kPi));
        const double turns = q[i] < limits.goal_lower() ? turns_up : turns_down;
        if (const double moved = q[i] + 2 * kPi * turns; excess(moved) <= kLimitSlack) q[i] = moved;
      }
    }
    if (excess(q[i]) > worst) {
      worst = excess(q[i]);
      result = {IkStatus::kOutsideLimits, static_cast<int>(i), q[i]};
    }
  }
  return result;
}

}  // namespace ga_motion
