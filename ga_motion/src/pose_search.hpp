// SPDX-License-Identifier: Apache-2.0
#ifndef POSE_SEARCH_HPP_
#define POSE_SEARCH_HPP_

#include <Eigen/Dense>
#include <span>

#include "ga_motion/kinematics.hpp"

namespace ga_motion {

/// A Levenberg–Marquardt search for joint values that give a pose. Construction allocates, solving
/// does not.
class PoseSearch {
 public:
  explicit PoseSearch(const Chain& chain);

  struct Options {
    /// 1 rad of orientation error counts as much as this share of the arm's length. From one start,
    /// searches with different weights end in different local minima.
    double angle_weight = 0.3;
    bool keep_limits = false;  ///< q starts within the joints' limits and stays there
  };
  /// Moves q to a local minimum of the pose error, to rounding; returns the largest error left, m or
  /// rad.
  double solve(const InverseKinematics& kinematics, const Pose& goal, const Options& options,
               std::span<double> q);

  double arm_length() const noexcept { return arm_length_; }  ///< m

 private:
  using Vector6 = Eigen::Matrix<double, 6, 1>;
  Vector6 error_at(const InverseKinematics& kinematics, const Pose& goal, double weight,
                   const Eigen::VectorXd& q) const;
  void linearize(const InverseKinematics& kinematics, const Vector6& error, double weight,
                 bool keep_limits);

  Eigen::VectorXd lower_, upper_, q_, trial_, step_;
  Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor> jacobian_;
  double arm_length_ = 0;
};

}  // namespace ga_motion

#endif  // POSE_SEARCH_HPP_
