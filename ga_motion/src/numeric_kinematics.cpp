// SPDX-License-Identifier: Apache-2.0
#include "ga_motion/numeric_kinematics.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <sstream>

#include "ga_dynamics/algorithm/linear.hpp"
#include "ga_dynamics/check_arguments.hpp"
#include "pose_search.hpp"

namespace ga_motion {

using namespace ga_dynamics;
namespace {

using V = Vec3<double>;
using M = Mat3<double>;
using RowMajor = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kPi = std::numbers::pi;
constexpr double kLimitSlack = 1e-9;    // rad, m: limits are written with a handful of digits
constexpr double kNotARotation = 1e-6;  // deviation of R Rᵀ from 1
constexpr double kSingular = 1e-7;      // measure
constexpr double kNear = 0.5;           // rad, m: a solution so near to the seed is the nearest
constexpr int kEnough = 8;              // solutions to choose from
constexpr double kAngleWeights[] = {0.3, 0.03, 3};  // PoseSearch::Options, tried in turn

V to_vec(const Vector3& v) { return {v[0], v[1], v[2]}; }
Vector3 to_array(const V& v) { return {v.x, v.y, v.z}; }
M to_mat(const Matrix3& m) { return {{m[0], m[1], m[2]}, {m[3], m[4], m[5]}, {m[6], m[7], m[8]}}; }
Matrix3 to_array(const M& m) {
  return {m.r0.x, m.r0.y, m.r0.z, m.r1.x, m.r1.y, m.r1.z, m.r2.x, m.r2.y, m.r2.z};
}
V third_column(const M& m) { return {m.r0.z, m.r1.z, m.r2.z}; }

template <class... Parts>
std::string join(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

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
                  joint.limits.lower, " to ", joint.limits.upper, joint.revolute() ? " rad" : " m");
    }
    case IkStatus::kNotFound:
      return join("out of reach, or not found: best attempt ", value, " m or rad off");
    case IkStatus::kInvalidPose:
      break;
  }
  return "not a pose: a value is not finite, or the matrix is no rotation";
}

struct InverseKinematics::Frame {
  M r;
  V p;
};

InverseKinematics::InverseKinematics(const Chain& chain) : chain_(chain) {
  for (const ChainJoint& joint : chain_.joints()) {
    DhParameters fixed = joint.dh;
    fixed.theta = fixed.d = 0;
    steps_.push_back({dh_pose(fixed), joint.dh.theta, joint.dh.d, joint.revolute()});
  }
}
InverseKinematics::~InverseKinematics() = default;

void InverseKinematics::advance(const Step& step, double q, Frame& frame) noexcept {
  frame.p = frame.p + frame.r * to_vec(step.fixed.translation);
  const M turned = frame.r * to_mat(step.fixed.rotation);
  const double angle = step.theta + (step.revolute ? q : 0);
  const double c = std::cos(angle), s = std::sin(angle);
  const auto spin = [&](const V& row) {
    return V{c * row.x + s * row.y, c * row.y - s * row.x, row.z};
  };
  frame.r = {spin(turned.r0), spin(turned.r1), spin(turned.r2)};
  frame.p = frame.p + (step.d + (step.revolute ? 0 : q)) * third_column(frame.r);
}

void InverseKinematics::forward(std::span<const double> q, Pose& pose) const {
  require_size("InverseKinematics::forward", "q", q.size(), steps_.size());
  Frame frame{to_mat(chain_.frame0().rotation), to_vec(chain_.frame0().translation)};
  for (std::size_t i = 0; i < steps_.size(); ++i) advance(steps_[i], q[i], frame);
  const Pose& tip = chain_.tip().pose;
  pose.translation = to_array(frame.p + frame.r * to_vec(tip.translation));
  pose.rotation = to_array(frame.r * to_mat(tip.rotation));
}

void InverseKinematics::jacobian(std::span<const double> q, std::span<double> jacobian) const {
  const std::size_t n = steps_.size();
  require_size("InverseKinematics::jacobian", "q", q.size(), n);
  require_size("InverseKinematics::jacobian", "jacobian", jacobian.size(), 6 * n);
  Pose tool;
  forward(q, tool);
  const V tip = to_vec(tool.translation);
  Frame frame{to_mat(chain_.frame0().rotation), to_vec(chain_.frame0().translation)};
  for (std::size_t i = 0; i < n; ++i) {
    advance(steps_[i], q[i], frame);
    const V axis = third_column(frame.r);
    const V linear = steps_[i].revolute ? cross(axis, tip - frame.p) : axis;
    const V angular = steps_[i].revolute ? axis : V{};
    jacobian[i] = linear.x, jacobian[n + i] = linear.y, jacobian[2 * n + i] = linear.z;
    jacobian[3 * n + i] = angular.x, jacobian[4 * n + i] = angular.y;
    jacobian[5 * n + i] = angular.z;
  }
}

void InverseKinematics::velocity_product(std::span<const double> q, std::span<const double> qd,
                                         std::span<double> acceleration) const {
  constexpr const char* kName = "InverseKinematics::velocity_product";
  require_size(kName, "q", q.size(), steps_.size()),
      require_size(kName, "qd", qd.size(), steps_.size());
  require_size(kName, "acceleration", acceleration.size(), 6);
  Frame frame{to_mat(chain_.frame0().rotation), to_vec(chain_.frame0().translation)};
  V w, dw, a;  // angular velocity and acceleration of the link, acceleration of its last point
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const V before = frame.p, foot = before + frame.r * to_vec(steps_[i].fixed.translation);
    advance(steps_[i], q[i], frame);
    a = a + cross(dw, foot - before) + cross(w, cross(w, foot - before));
    const V rate = qd[i] * third_column(frame.r);
    if (steps_[i].revolute) {
      dw = dw + cross(w, rate);
      w = w + rate;
    } else {
      a = a + 2.0 * cross(w, rate);
    }
    a = a + cross(dw, frame.p - foot) + cross(w, cross(w, frame.p - foot));
  }
  const V tool = frame.r * to_vec(chain_.tip().pose.translation);
  a = a + cross(dw, tool) + cross(w, cross(w, tool));
  const double result[] = {a.x, a.y, a.z, dw.x, dw.y, dw.z};
  std::copy(std::begin(result), std::end(result), acceleration.begin());
}

IkResult InverseKinematics::wrap(std::span<const double> seed, bool keep_limits,
                                 std::span<double> q) const noexcept {
  IkResult result;
  double worst = kLimitSlack;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const JointLimits& limits = chain_.joints()[i].limits;
    const auto excess = [&](double value) {
      return std::max(limits.lower - value, value - limits.upper);
    };
    if (steps_[i].revolute) {
      q[i] = seed[i] + std::remainder(q[i] - seed[i], 2 * kPi);
      if (keep_limits && excess(q[i]) > kLimitSlack) {
        // The lowest equivalent above the lower limit and the highest below the upper one.
        const double turns_up = std::ceil((limits.lower - kLimitSlack - q[i]) / (2 * kPi));
        const double turns_down = std::floor((limits.upper + kLimitSlack - q[i]) / (2 * kPi));
        const double turns = q[i] < limits.lower ? turns_up : turns_down;
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
        q[i] = std::clamp(q[i], limits.lower, limits.upper);
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
      const double low = std::max(limits.lower, std::min(origin[i], limits.upper) - span);
      const double high = std::min(limits.upper, std::max(origin[i], limits.lower) + span);
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
