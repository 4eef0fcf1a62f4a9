// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>

#include "ga_dynamics/algorithm/check_arguments.hpp"
#include "ga_motion/kinematics.hpp"
#include "join.hpp"
#include "pose_search.hpp"

namespace ga_motion {

using namespace ga_dynamics;
namespace {

using RowMajor = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kPi = std::numbers::pi;
constexpr double kSingular = 1e-7;  // measure
constexpr double kNear = 0.5;       // rad, m: a solution so near to the seed is the nearest
constexpr int kEnough = 8;          // solutions to choose from
constexpr double kAngleWeights[] = {0.3, 0.03, 3};  // PoseSearch::Options, tried in turn

/// By one-sided Jacobi rotations, which Eigen's decompositions would do as well, but not without
/// allocating. Leaves the rows orthogonal to each other.
double least_over_largest_singular_value(RowMajor& m) {
  constexpr int kMostSweeps = 30;
  bool rotated = true;
  for (int sweep = 0; rotated && sweep < kMostSweeps; ++sweep) {
    rotated = false;
    for (Eigen::Index i = 0; i < 6; ++i) {
      for (Eigen::Index k = i + 1; k < 6; ++k) {
        const double a = m.row(i).squaredNorm(), b = m.row(k).squaredNorm();
        const double product = m.row(i).dot(m.row(k));
        if (std::abs(product) <= 1e-15 * std::sqrt(a * b)) continue;
        rotated = true;
        const double cot = (b - a) / (2 * product);  // of twice the angle
        const double tan = std::copysign(1 / (std::abs(cot) + std::hypot(1, cot)), cot);
        const double cos = 1 / std::hypot(1, tan);
        m.applyOnTheLeft(i, k, Eigen::JacobiRotation<double>(cos, -tan * cos));
      }
    }
  }
  Eigen::Matrix<double, 6, 1> values = m.rowwise().norm();
  std::sort(values.data(), values.data() + 6, std::greater<>());
  return values(std::min<Eigen::Index>(6, m.cols()) - 1) / values(0);
}

}  // namespace

struct NumericKinematics::Impl {
  Impl(const Chain& chain, const NumericOptions& wanted)
      : options(wanted),
        search(chain),
        jacobian(6, chain.size()),
        seed(chain.joints().size()),
        start(seed.size()),
        trial(seed.size()),
        best(seed.size()) {}

  NumericOptions options;
  PoseSearch search;
  RowMajor jacobian;
  std::vector<double> seed, start, trial, best;
};

NumericKinematics::NumericKinematics(const Chain& chain, const NumericOptions& options)
    : InverseKinematics(chain) {
  if (!(options.accuracy >= 1e-13 && options.accuracy <= 1e-3))
    throw KinematicsError(join("NumericKinematics: accuracy ", options.accuracy,
                               "; give a number from 1e-13 to 1e-3 (m and rad)"));
  if (options.restarts < 0)
    throw KinematicsError(
        join("NumericKinematics: ", options.restarts, " restarts; give zero or more"));
  impl_ = std::make_unique<Impl>(chain, options);
}
NumericKinematics::~NumericKinematics() = default;

std::unique_ptr<InverseKinematics> NumericKinematics::clone() const {
  return std::make_unique<NumericKinematics>(chain(), impl_->options);
}

IkResult NumericKinematics::checked(std::span<const double> q, IkResult result) const {
  if (!result.usable()) return result;
  const Singularity near = singularity(q);
  return near.measure < kSingular ? IkResult{IkStatus::kSingular, -1, near.measure} : result;
}

IkResult NumericKinematics::attempt(const Pose& pose) const {
  IkResult result{IkStatus::kNotFound, -1, std::numeric_limits<double>::infinity()};
  std::vector<double>& q = impl_->trial;
  for (const double weight : kAngleWeights) {
    q = impl_->start;
    // Once more from the nearest point within the limits, if the first solution is beyond them.
    for (const bool keep_limits : {false, true}) {
      const double error = impl_->search.solve(*this, pose, {weight, keep_limits}, q);
      if (!(error <= impl_->options.accuracy)) {
        if (result.status == IkStatus::kNotFound) result.value = std::min(result.value, error);
        break;
      }
      const IkResult wrapped = wrap(impl_->seed, true, q);
      if (wrapped.usable()) return wrapped;
      result = wrapped;
      for (std::size_t i = 0; i < q.size(); ++i) {
        const JointLimits& limits = chain().joints()[i].limits;
        q[i] = std::clamp(q[i], limits.goal_lower(), limits.goal_upper());
      }
    }
  }
  return result;
}

IkResult NumericKinematics::nearest(const Pose& pose, std::span<const double> seed,
                                    std::span<double> q) const {
  const auto n = static_cast<std::size_t>(size());
  require_size("NumericKinematics::nearest", "seed", seed.size(), n);
  require_size("NumericKinematics::nearest", "q", q.size(), n);
  if (!is_pose(pose)) return {IkStatus::kInvalidPose, -1, 0};
  auto& [options, search, jacobian, origin, start, trial, best] = *impl_;
  std::copy_n(seed.begin(), n, origin.begin());
  start = origin;
  IkResult result{IkStatus::kNotFound, -1, std::numeric_limits<double>::infinity()};
  double least = std::numeric_limits<double>::infinity();
  std::mt19937 random(options.random_seed);
  int found = 0;
  for (int k = 0; k <= options.restarts && found < kEnough; ++k) {
    for (std::size_t i = 0; k > 0 && i < n; ++i) {
      const JointLimits& limits = chain().joints()[i].limits;
      const double span = chain().joints()[i].revolute() ? kPi : search.arm_length();
      const double low =
          std::max(limits.goal_lower(), std::min(origin[i], limits.goal_upper()) - span);
      const double high =
          std::min(limits.goal_upper(), std::max(origin[i], limits.goal_lower()) + span);
      start[i] = std::uniform_real_distribution<double>(low, high)(random);
    }
    const IkResult tried = attempt(pose);
    if (!tried.usable()) {
      const bool closer = tried.status != IkStatus::kNotFound || tried.value < result.value;
      if (result.status == IkStatus::kNotFound && closer) result = tried;
      continue;
    }
    double squares = 0, largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
      squares += (trial[i] - origin[i]) * (trial[i] - origin[i]);
      largest = std::max(largest, std::abs(trial[i] - origin[i]));
    }
    if (squares < least) least = squares, best = trial;
    ++found;
    if (k == 0 && largest < kNear) break;
  }
  if (found == 0) return result;
  std::copy(best.begin(), best.end(), q.begin());
  return checked(q, {});
}

IkResult NumericKinematics::follow(const Pose& pose, std::span<const double> seed,
                                   std::span<double> q) const {
  const auto n = static_cast<std::size_t>(size());
  require_size("NumericKinematics::follow", "seed", seed.size(), n);
  require_size("NumericKinematics::follow", "q", q.size(), n);
  if (!is_pose(pose)) return {IkStatus::kInvalidPose, -1, 0};
  std::copy_n(seed.begin(), n, impl_->seed.begin());
  std::vector<double>& trial = impl_->trial;
  double least = std::numeric_limits<double>::infinity();
  for (const double weight : kAngleWeights) {
    trial = impl_->seed;
    least = std::min(least, impl_->search.solve(*this, pose, {weight, false}, trial));
    if (least <= impl_->options.accuracy) break;
  }
  if (!(least <= impl_->options.accuracy)) return {IkStatus::kNotFound, -1, least};
  const IkResult result = wrap(impl_->seed, false, trial);
  std::copy(trial.begin(), trial.end(), q.begin());
  return checked(q, result);
}

Singularity NumericKinematics::singularity(std::span<const double> q) const {
  require_size("NumericKinematics::singularity", "q", q.size(), chain().joints().size());
  RowMajor& jac = impl_->jacobian;
  jacobian(q, std::span<double>(jac.data(), static_cast<std::size_t>(jac.size())));
  const double length = impl_->search.arm_length();
  jac.topRows(3) /= length;
  for (Eigen::Index i = 0; i < jac.cols(); ++i) {
    if (!chain().joints()[static_cast<std::size_t>(i)].revolute()) jac.col(i) *= length;
  }
  return {IkStatus::kSingular, least_over_largest_singular_value(jac)};
}

int NumericKinematics::branch_number(std::span<const double> q) const {
  require_size("NumericKinematics::branch_number", "q", q.size(), chain().joints().size());
  if (size() != 6) return 0;
  Eigen::Matrix<double, 6, 6, Eigen::RowMajor> jac;
  jacobian(q, std::span<double>(jac.data(), 36));
  return jac.determinant() < 0 ? -1 : 1;
}

}  // namespace ga_motion
