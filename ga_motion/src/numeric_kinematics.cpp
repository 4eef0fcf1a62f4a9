// SPDX-License-Identifier: Apache-2.0
#include "ga_motion/numeric_kinematics.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <kdl/chain.hpp>
#include <kdl/chainiksolverpos_lma.hpp>
#include <limits>
#include <numbers>
#include <random>
#include <sstream>

#include "ga_dynamics/algorithm/linear.hpp"
#include "ga_dynamics/check_arguments.hpp"
#include "ga_motion/quaternion.hpp"

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

KDL::Frame to_kdl(const Pose& pose) {
  const Matrix3& r = pose.rotation;
  const Vector3& t = pose.translation;
  return {KDL::Rotation(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]),
          KDL::Vector(t[0], t[1], t[2])};
}

/// m and rad from one pose to another, in the base's axes. KDL's own difference takes turns below
/// 1e-6 rad for none.
Eigen::Matrix<double, 6, 1> pose_difference(const Pose& from, const Pose& to) {
  const Vector3 turn =
      rotation_vector(to_array(to_mat(to.rotation) * transposed(to_mat(from.rotation))));
  const V way = to_vec(to.translation) - to_vec(from.translation);
  return {way.x, way.y, way.z, turn[0], turn[1], turn[2]};
}

double largest_difference(std::span<const double> a, std::span<const double> b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
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
  explicit Impl(const Chain& robot, const NumericOptions& wanted) : options(wanted) {
    chain.addSegment(KDL::Segment(KDL::Joint(KDL::Joint::None), to_kdl(robot.frame0())));
    size = length_of(robot.tip().pose);
    for (const ChainJoint& joint : robot.joints()) {
      DhParameters before = joint.dh, behind;
      before.theta = before.d = 0;
      behind.theta = joint.dh.theta, behind.d = joint.dh.d;
      chain.addSegment(KDL::Segment(KDL::Joint(KDL::Joint::None), to_kdl(dh_pose(before))));
      chain.addSegment(
          KDL::Segment(KDL::Joint(joint.revolute() ? KDL::Joint::RotZ : KDL::Joint::TransZ),
                       to_kdl(dh_pose(behind))));
      size += std::abs(joint.dh.a) + std::abs(joint.dh.d);
    }
    chain.addSegment(KDL::Segment(KDL::Joint(KDL::Joint::None), to_kdl(robot.tip().pose)));
    size = std::max(size, 1e-3);
    Eigen::Matrix<double, 6, 1> weights;  // an angle counts as much as the way it moves the tool
    weights << 1, 1, 1, 0.3 * size, 0.3 * size, 0.3 * size;
    search = std::make_unique<KDL::ChainIkSolverPos_LMA>(chain, weights, 1e-6 * size, 200);
  }
  static double length_of(const Pose& pose) {
    return std::hypot(pose.translation[0], pose.translation[1], pose.translation[2]);
  }

  NumericOptions options;
  KDL::Chain chain;
  std::unique_ptr<KDL::ChainIkSolverPos_LMA> search;
  double size = 0;  // m
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

double NumericKinematics::improve(const Pose& pose, std::span<double> q) const {
  const auto n = static_cast<Eigen::Index>(size());
  RowMajor jac(6, n);
  std::vector<double> trial(q.begin(), q.end());
  double best = std::numeric_limits<double>::infinity();
  for (int step = 0; step < 20; ++step) {
    Pose now;
    forward(trial, now);
    const Eigen::Matrix<double, 6, 1> error = pose_difference(now, pose);
    const double largest = error.cwiseAbs().maxCoeff();
    // The error falls quadratically: to rounding, then no further.
    if (!(largest < best)) break;
    best = largest;
    std::copy(trial.begin(), trial.end(), q.begin());
    if (largest == 0) break;
    jacobian(trial, std::span<double>(jac.data(), static_cast<std::size_t>(6 * n)));
    const Eigen::VectorXd change = jac.completeOrthogonalDecomposition().solve(error);
    for (std::size_t i = 0; i < trial.size(); ++i) trial[i] += change(static_cast<Eigen::Index>(i));
  }
  return best;
}

double NumericKinematics::attempt(const Pose& pose, std::span<double> q) const {
  const auto n = static_cast<unsigned>(size());
  KDL::JntArray start(n), end(n);
  for (unsigned i = 0; i < n; ++i) start(i) = q[i];
  impl_->search->CartToJnt(start, to_kdl(pose), end);
  for (unsigned i = 0; i < n; ++i) q[i] = end(i);
  return improve(pose, q);
}

IkResult NumericKinematics::checked(std::span<const double> q, IkResult result) const {
  if (!result.usable()) return result;
  const Singularity near = singularity(q);
  return near.measure < kSingular ? IkResult{IkStatus::kSingular, -1, near.measure} : result;
}

IkResult NumericKinematics::nearest(const Pose& pose, std::span<const double> seed,
                                    std::span<double> q) const {
  const auto n = static_cast<std::size_t>(size());
  require_size("NumericKinematics::nearest", "seed", seed.size(), n);
  require_size("NumericKinematics::nearest", "q", q.size(), n);
  if (!is_pose(pose)) return {IkStatus::kInvalidPose, -1, 0};
  const std::vector<double> origin(seed.begin(), seed.begin() + size());
  std::vector<double> trial = origin, best(n);
  IkResult result{IkStatus::kNotFound, -1, std::numeric_limits<double>::infinity()};
  double least = std::numeric_limits<double>::infinity();
  std::mt19937 random(impl_->options.random_seed);
  int found = 0;
  for (int start = 0; start <= impl_->options.restarts && found < kEnough; ++start) {
    for (std::size_t i = 0; start > 0 && i < n; ++i) {
      const JointLimits& limits = chain().joints()[i].limits;
      const double span = chain().joints()[i].revolute() ? kPi : impl_->size;
      const double low = std::max(limits.lower, std::min(origin[i], limits.upper) - span);
      const double high = std::min(limits.upper, std::max(origin[i], limits.lower) + span);
      trial[i] = std::uniform_real_distribution<double>(low, high)(random);
    }
    // Once more from the nearest point within the limits, if the first solution is beyond them.
    for (int round = 0; round < 2; ++round) {
      const double error = attempt(pose, trial);
      if (error > impl_->options.accuracy) {
        if (result.status == IkStatus::kNotFound) result.value = std::min(result.value, error);
        break;
      }
      const IkResult wrapped = wrap(origin, true, trial);
      if (wrapped.usable()) {
        const double distance = (Eigen::Map<const Eigen::VectorXd>(trial.data(), size()) -
                                 Eigen::Map<const Eigen::VectorXd>(origin.data(), size()))
                                    .norm();
        if (distance < least) least = distance, best = trial;
        ++found;
        break;
      }
      result = wrapped;
      for (std::size_t i = 0; i < n; ++i) {
        const JointLimits& limits = chain().joints()[i].limits;
        trial[i] = std::clamp(trial[i], limits.lower, limits.upper);
      }
    }
    if (found > 0 && start == 0 && largest_difference(best, origin) < kNear) break;
  }
  if (found == 0) return result;
  std::copy(best.begin(), best.end(), q.begin());
  return checked(q, {});
}

IkResult NumericKinematics::follow(const Pose& pose, std::span<const double> seed,
                                   std::span<double> q) const {
  require_size("NumericKinematics::follow", "seed", seed.size(), chain().joints().size());
  require_size("NumericKinematics::follow", "q", q.size(), chain().joints().size());
  if (!is_pose(pose)) return {IkStatus::kInvalidPose, -1, 0};
  const std::vector<double> origin(seed.begin(), seed.begin() + size());
  std::vector<double> trial = origin;
  double error = improve(pose, trial);
  if (error > impl_->options.accuracy) {
    trial = origin;
    error = attempt(pose, trial);
  }
  if (error > impl_->options.accuracy) return {IkStatus::kNotFound, -1, error};
  const IkResult result = wrap(origin, false, trial);
  std::copy(trial.begin(), trial.end(), q.begin());
  return checked(q, result);
}

Singularity NumericKinematics::singularity(std::span<const double> q) const {
  require_size("NumericKinematics::singularity", "q", q.size(), chain().joints().size());
  const auto n = static_cast<Eigen::Index>(size());
  RowMajor jac(6, n);
  jacobian(q, std::span<double>(jac.data(), static_cast<std::size_t>(6 * n)));
  jac.topRows(3) /= impl_->size;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (!chain().joints()[static_cast<std::size_t>(i)].revolute()) jac.col(i) *= impl_->size;
  }
  const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(jac).singularValues();
  return {IkStatus::kSingular, values(values.size() - 1) / values(0)};
}

int NumericKinematics::branch_number(std::span<const double> q) const {
  require_size("NumericKinematics::branch_number", "q", q.size(), chain().joints().size());
  if (size() != 6) return 0;
  Eigen::Matrix<double, 6, 6, Eigen::RowMajor> jac;
  jacobian(q, std::span<double>(jac.data(), 36));
  return jac.determinant() < 0 ? -1 : 1;
}

}  // namespace ga_motion
