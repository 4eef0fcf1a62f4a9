// SPDX-License-Identifier: Apache-2.0
#include "pose_search.hpp"

#include <algorithm>
#include <cmath>

#include "ga_dynamics/algorithm/linear.hpp"

namespace ga_motion {

using namespace ga_dynamics;
namespace {

constexpr int kMostSteps = 200;
constexpr int kWindow = 10;         // steps, after which the error must have fallen
constexpr double kStalled = 0.99;   // of the squared error, over the window
constexpr double kLongestStep = 2;  // rad, m
constexpr double kLeastDamping = 1e-3;
constexpr double kRounding = 1e-12;  // of the arm's length: a step that fails here is the last

std::span<const double> span_of(const Eigen::VectorXd& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

}  // namespace

PoseSearch::PoseSearch(const Chain& chain)
    : lower_(chain.size()),
      upper_(chain.size()),
      q_(chain.size()),
      trial_(chain.size()),
      step_(chain.size()),
      jacobian_(6, chain.size()) {
  const Vector3& tool = chain.tip().pose.translation;
  arm_length_ = std::hypot(tool[0], tool[1], tool[2]);
  for (Eigen::Index i = 0; i < q_.size(); ++i) {
    const ChainJoint& joint = chain.joints()[static_cast<std::size_t>(i)];
    lower_(i) = joint.limits.goal_lower(), upper_(i) = joint.limits.goal_upper();
    arm_length_ += std::abs(joint.dh.a) + std::abs(joint.dh.d);
  }
  arm_length_ = std::max(arm_length_, 1e-3);
}

PoseSearch::Vector6 PoseSearch::error_at(const InverseKinematics& kinematics, const Pose& goal,
                                         double weight, const Eigen::VectorXd& q) const {
  Pose now;
  kinematics.forward(span_of(q), now);
  const Vector3 angle =
      rotation_vector(to_array(to_mat(goal.rotation) * transposed(to_mat(now.rotation))));
  const Vector3 &to = goal.translation, &from = now.translation;
  Vector6 error;
  error << to[0] - from[0], to[1] - from[1], to[2] - from[2], weight * angle[0], weight * angle[1],
      weight * angle[2];
  return error;
}

void PoseSearch::linearize(const InverseKinematics& kinematics, const Vector6& error, double weight,
                           bool keep_limits) {
  kinematics.jacobian(span_of(q_), {jacobian_.data(), static_cast<std::size_t>(jacobian_.size())});
  jacobian_.bottomRows<3>() *= weight;
  for (Eigen::Index i = 0; keep_limits && i < q_.size(); ++i) {
    const double slope = jacobian_.col(i).dot(error);
    const bool blocked = (q_(i) <= lower_(i) && slope < 0) || (q_(i) >= upper_(i) && slope > 0);
    if (blocked) jacobian_.col(i).setZero();
  }
}

double PoseSearch::solve(const InverseKinematics& kinematics, const Pose& goal,
                         const Options& options, std::span<double> q) {
  const double weight = options.angle_weight * arm_length_;
  q_ = Eigen::Map<const Eigen::VectorXd>(q.data(), q_.size());
  Vector6 error = error_at(kinematics, goal, weight, q_);
  double cost = error.squaredNorm(), before_window = cost;
  double damping = 1, growth = 2;
  Eigen::Matrix<double, 6, 6> normal;
  bool moved = true;
  for (int k = 1; k <= kMostSteps && cost > 0; ++k) {
    if (moved) {
      linearize(kinematics, error, weight, options.keep_limits);
      normal = jacobian_.lazyProduct(jacobian_.transpose());
    }
    // Damping that falls with the squared error keeps the convergence quadratic, for redundant arms
    // and arms with fewer than six joints as well (Yamashita and Fukushima 2001).
    Eigen::Matrix<double, 6, 6> damped = normal;
    damped.diagonal().array() += damping * cost + 1e-15 * normal.trace();
    const Vector6 weighted = damped.ldlt().solve(error);
    step_ = jacobian_.transpose().lazyProduct(weighted);
    const double longest = step_.cwiseAbs().maxCoeff();
    if (longest > kLongestStep) step_ *= kLongestStep / longest;
    trial_ = q_ + step_;
    if (options.keep_limits) {
      trial_ = trial_.cwiseMax(lower_).cwiseMin(upper_);
      step_ = trial_ - q_;
    }
    const Vector6 trial_error = error_at(kinematics, goal, weight, trial_);
    const double trial_cost = trial_error.squaredNorm();
    moved = trial_cost < cost;
    if (moved) {
      // Nielsen's rule: less damping the better the linear model predicts the error.
      const double predicted = cost - (error - jacobian_.lazyProduct(step_)).squaredNorm();
      const double gain = 2 * (cost - trial_cost) / predicted - 1;
      damping = std::max(damping * std::max(1.0 / 3, 1 - gain * gain * gain), kLeastDamping);
      growth = 2;
      q_ = trial_, error = trial_error, cost = trial_cost;
    } else {
      if (cost < kRounding * kRounding * arm_length_ * arm_length_) break;
      damping *= growth, growth *= 2;
    }
    if (k % kWindow == 0) {
      if (cost > kStalled * before_window) break;
      before_window = cost;
    }
  }
  Eigen::Map<Eigen::VectorXd>(q.data(), q_.size()) = q_;
  error.tail<3>() /= weight;
  return error.cwiseAbs().maxCoeff();
}

}  // namespace ga_motion
