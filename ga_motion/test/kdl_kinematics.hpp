// SPDX-License-Identifier: Apache-2.0
#ifndef KDL_KINEMATICS_HPP_
#define KDL_KINEMATICS_HPP_

// Inverse kinematics by Orocos KDL's Levenberg–Marquardt search: the reference that
// NumericKinematics is compared with. Newton's steps, restarts and limits are those of a careful
// user of KDL.

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <kdl/chainiksolverpos_lma.hpp>
#include <limits>
#include <memory>
#include <numbers>
#include <random>
#include <vector>

#include "ga_dynamics/dynamics.hpp"
#include "ga_motion/kinematics.hpp"

namespace ga_motion::test {

class KdlKinematics final : public InverseKinematics {
 public:
  KdlKinematics(const Chain& chain, int restarts) : InverseKinematics(chain), restarts_(restarts) {
    kdl_.addSegment(KDL::Segment(KDL::Joint(KDL::Joint::None), to_kdl(chain.frame0())));
    for (const ga_dynamics::ChainJoint& joint : chain.joints()) {
      ga_dynamics::DhParameters before = joint.dh, behind;
      before.theta = before.d = 0;
      behind.theta = joint.dh.theta, behind.d = joint.dh.d;
      kdl_.addSegment(
          KDL::Segment(KDL::Joint(KDL::Joint::None), to_kdl(ga_dynamics::dh_pose(before))));
      kdl_.addSegment(
          KDL::Segment(KDL::Joint(joint.revolute() ? KDL::Joint::RotZ : KDL::Joint::TransZ),
                       to_kdl(ga_dynamics::dh_pose(behind))));
      length_ += std::abs(joint.dh.a) + std::abs(joint.dh.d);
    }
    kdl_.addSegment(KDL::Segment(KDL::Joint(KDL::Joint::None), to_kdl(chain.tip().pose)));
    const auto& tool = chain.tip().pose.translation;
    length_ = std::max(length_ + std::hypot(tool[0], tool[1], tool[2]), 1e-3);
    Eigen::Matrix<double, 6, 1> weights;
    weights << 1, 1, 1, 0.3 * length_, 0.3 * length_, 0.3 * length_;
    search_ = std::make_unique<KDL::ChainIkSolverPos_LMA>(kdl_, weights, 1e-6 * length_, 200);
  }

  std::unique_ptr<InverseKinematics> clone() const override {
    return std::make_unique<KdlKinematics>(chain(), restarts_);
  }
  bool closed_form() const noexcept override { return false; }

  IkResult nearest(const Pose& pose, std::span<const double> seed,
                   std::span<double> q) const override {
    const auto n = static_cast<std::size_t>(size());
    const std::vector<double> origin(seed.begin(), seed.end());
    std::vector<double> trial = origin, best(n);
    double least = std::numeric_limits<double>::infinity();
    std::mt19937 random(1);
    int found = 0;
    for (int start = 0; start <= restarts_ && found < 8; ++start) {
      for (std::size_t i = 0; start > 0 && i < n; ++i) {
        const ga_dynamics::JointLimits& limits = chain().joints()[i].limits;
        const double span = chain().joints()[i].revolute() ? std::numbers::pi : length_;
        const double low = std::max(limits.lower, std::min(origin[i], limits.upper) - span);
        const double high = std::min(limits.upper, std::max(origin[i], limits.lower) + span);
        trial[i] = std::uniform_real_distribution<double>(low, high)(random);
      }
      for (int round = 0; round < 2 && attempt(pose, trial) <= 1e-10; ++round) {
        if (wrap(origin, true, trial).usable()) {
          double distance = 0, largest = 0;
          for (std::size_t i = 0; i < n; ++i) {
            distance += (trial[i] - origin[i]) * (trial[i] - origin[i]);
            largest = std::max(largest, std::abs(trial[i] - origin[i]));
          }
          if (distance < least) least = distance, best = trial;
          ++found;
          if (start == 0 && largest < 0.5) start = restarts_;
          break;
        }
        for (std::size_t i = 0; i < n; ++i) {
          const ga_dynamics::JointLimits& limits = chain().joints()[i].limits;
          trial[i] = std::clamp(trial[i], limits.lower, limits.upper);
        }
      }
    }
    if (found == 0) return {IkStatus::kNotFound, -1, 0};
    std::copy(best.begin(), best.end(), q.begin());
    return {};
  }
  IkResult follow(const Pose& pose, std::span<const double> seed,
                  std::span<double> q) const override {
    return nearest(pose, seed, q);
  }
  Singularity singularity(std::span<const double>) const override { return {}; }
  int branch_number(std::span<const double>) const override { return 0; }

 private:
  static KDL::Frame to_kdl(const Pose& pose) {
    const auto& r = pose.rotation;
    const auto& t = pose.translation;
    return {KDL::Rotation(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]),
            KDL::Vector(t[0], t[1], t[2])};
  }

  double attempt(const Pose& pose, std::vector<double>& q) const {
    const auto n = static_cast<unsigned>(q.size());
    KDL::JntArray start(n), end(n);
    for (unsigned i = 0; i < n; ++i) start(i) = q[i];
    search_->CartToJnt(start, to_kdl(pose), end);
    for (unsigned i = 0; i < n; ++i) q[i] = end(i);
    return improve(pose, q);
  }

  /// Newton's steps while they help; the remaining error.
  double improve(const Pose& pose, std::vector<double>& q) const {
    Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor> jac(6, size());
    std::vector<double> trial = q;
    double best = std::numeric_limits<double>::infinity();
    for (int step = 0; step < 20; ++step) {
      Pose now;
      forward(trial, now);
      ga_dynamics::Matrix3 turn{};
      for (std::size_t i = 0; i < 9; ++i) {
        for (std::size_t k = 0; k < 3; ++k)
          turn[i] += pose.rotation[i / 3 * 3 + k] * now.rotation[i % 3 * 3 + k];
      }
      const ga_dynamics::Vector3 angle = ga_dynamics::rotation_vector(turn);
      Eigen::Matrix<double, 6, 1> error;
      for (int i = 0; i < 3; ++i) {
        const auto k = static_cast<std::size_t>(i);
        error(i) = pose.translation[k] - now.translation[k];
        error(3 + i) = angle[k];
      }
      const double largest = error.cwiseAbs().maxCoeff();
      if (!(largest < best)) break;
      best = largest;
      q = trial;
      jacobian(trial, std::span<double>(jac.data(), static_cast<std::size_t>(jac.size())));
      const Eigen::VectorXd change = jac.completeOrthogonalDecomposition().solve(error);
      for (std::size_t i = 0; i < trial.size(); ++i)
        trial[i] += change(static_cast<Eigen::Index>(i));
    }
    return best;
  }

  int restarts_;
  double length_ = 0;  // m
  KDL::Chain kdl_;
  std::unique_ptr<KDL::ChainIkSolverPos_LMA> search_;
};

}  // namespace ga_motion::test

#endif  // KDL_KINEMATICS_HPP_
