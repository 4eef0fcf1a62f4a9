// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
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
constexpr double kExact = 1e-9;          // rad, m: deviation from the structure
constexpr double kSingular = 1e-7;       // measure; square roots of rounding errors are below
constexpr double kUndetermined = 1e-10;  // measure: the pose no longer tells a joint's angle
constexpr double kRounding = 1e-12;  // m, over the reach: a pose at the end of the reach is in it

double squared_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/// In the order of solve().
std::size_t place(const PumaBranch& branch) {
  return (branch.arm < 0 ? 4u : 0u) + (branch.elbow < 0 ? 2u : 0u) + (branch.wrist < 0 ? 1u : 0u);
}

int sign(double value) { return value < 0 ? -1 : 1; }

}  // namespace

PumaKinematics::PumaKinematics(const Chain& chain)
    : InverseKinematics(chain), geometry_(make_geometry(chain)) {}

std::unique_ptr<InverseKinematics> PumaKinematics::clone() const {
  return std::make_unique<PumaKinematics>(*this);
}

PumaKinematics::Geometry PumaKinematics::make_geometry(const Chain& chain) {
  const auto require = [&](bool fits, const auto&... parts) {
    if (fits) return;
    throw KinematicsError(join("not an arm of the PUMA's structure: ", parts...,
                               "; use NumericKinematics for this arm"));
  };
  require(chain.size() == 6, chain.size(), " joints instead of 6");
  const std::vector<ChainJoint>& joints = chain.joints();
  const auto sine_of_right_angle = [&](std::size_t i) {
    const DhParameters& dh = joints[i].dh;
    require(std::abs(std::abs(dh.alpha) - kPi / 2) <= kExact && std::abs(dh.beta) <= kExact,
            "axis ", i + 1, " ('", joints[i].name, "') is twisted by ", dh.alpha,
            " rad against axis ", i, ", not by ±pi/2 to 1e-9 rad");
    return sign(dh.alpha);
  };
  const auto require_zero = [&](double length, std::size_t i, const char* name, const char* what) {
    require(std::abs(length) <= kExact, name, " of joint '", joints[i].name, "' is ", length,
            " m, not 0: ", what);
  };
  for (const ChainJoint& joint : joints)
    require(joint.revolute(), "joint '", joint.name, "' is prismatic");
  const DhParameters& third = joints[2].dh;
  require((std::abs(third.alpha) <= kExact || std::abs(third.alpha) >= kPi - kExact) &&
              std::abs(third.beta) <= kExact,
          "axis 3 ('", joints[2].name, "') is not parallel to axis 2 to 1e-9 rad (twist ",
          third.alpha, " and ", third.beta, " rad)");
  Geometry g;
  g.s2 = sine_of_right_angle(1);
  g.c3 = std::abs(third.alpha) < 1 ? 1 : -1;
  g.s34 = g.c3 * sine_of_right_angle(3);
  g.s5 = sine_of_right_angle(4);
  g.end = sine_of_right_angle(5) == g.s5 ? -1 : 1;
  require_zero(joints[4].dh.a, 4, "a", "axes 4 and 5 must meet");
  require_zero(joints[5].dh.a, 5, "a", "axes 5 and 6 must meet");
  require_zero(joints[4].dh.d, 4, "d", "axes 4, 5 and 6 must meet in one point");
  // In the plane of upper arm and forearm, across axis 2: the elbow is at [a3, 0], the wrist point
  // at forearm·[cos, sin](forearm_angle + c3·theta3) from it.
  const DhParameters& fourth = joints[3].dh;
  g.a2 = joints[1].dh.a, g.a3 = third.a;
  g.forearm = std::hypot(fourth.a, fourth.d);
  g.forearm_angle = std::atan2(-g.s34 * fourth.d, fourth.a);
  g.side = -g.s2 * (joints[1].dh.d + g.c3 * third.d);
  g.reach = std::abs(g.a2) + std::abs(g.a3) + g.forearm + std::abs(g.side);
  require(std::abs(g.a3) > kExact, "the upper arm (a of joint '", joints[2].name,
          "') has no length");
  require(g.forearm > kExact, "the forearm (a and d of joint '", joints[3].name,
          "') has no length");
  for (std::size_t i = 0; i < 6; ++i) g.theta[i] = joints[i].dh.theta;
  g.tool = chain.tip().pose;
  g.tool.translation[2] += joints[5].dh.d;
  return g;
}

struct PumaKinematics::ArmAngles {
  double theta1, theta2, theta3;
  IkResult result;
};

void PumaKinematics::solve_unwrapped(const Pose& pose, std::span<const double> seed,
                                     std::span<PumaSolution, 8> solutions) const {
  const Geometry& g = geometry_;
  for (std::size_t i = 0; i < 8; ++i) {
    solutions[i].branch = {(i & 4) != 0 ? -1 : 1, (i & 2) != 0 ? -1 : 1, (i & 1) != 0 ? -1 : 1};
    solutions[i].q.fill(std::numeric_limits<double>::quiet_NaN());
    solutions[i].result = {is_pose(pose) ? IkStatus::kOutOfReach : IkStatus::kInvalidPose, -1, 0};
  }
  if (solutions[0].result.status == IkStatus::kInvalidPose) return;

  const M r0 = to_mat(chain().frame0().rotation);
  const M rotation = transposed(r0) * (to_mat(pose.rotation) * transposed(to_mat(g.tool.rotation)));
  const V wrist =
      transposed_times(r0, to_vec(pose.translation) - to_vec(chain().frame0().translation)) -
      rotation * to_vec(g.tool.translation);
  const Matrix3 frame6 = to_array(rotation);

  const double radius = std::hypot(wrist.x, wrist.y), miss = radius - std::abs(g.side);
  if (miss < -kRounding * g.reach) {
    for (PumaSolution& s : solutions) s.result = {IkStatus::kOutOfReach, 0, miss};
    return;
  }
  const double along = std::sqrt(std::max(miss, 0.0) * (radius + std::abs(g.side)));
  const double far = std::abs(g.a3) + g.forearm, near = std::abs(std::abs(g.a3) - g.forearm);
  for (std::size_t i = 0; i < 8; i += 2) {
    const PumaBranch& branch = solutions[i].branch;
    ArmAngles arm;
    const double x = -g.s2 * branch.arm * along;  // the wrist point in frame 1 is [x, side, z]
    arm.theta1 = radius > kUndetermined * g.reach
                     ? std::atan2(wrist.y, wrist.x) - std::atan2(g.side, x)
                     : seed[0] + g.theta[0];
    const double u = x - g.a2, v = g.s2 * wrist.z, distance = std::hypot(u, v);
    const double excess = distance > far ? distance - far : std::min(distance - near, 0.0);
    if (std::abs(excess) > kRounding * g.reach) {
      solutions[i].result = solutions[i + 1].result = {IkStatus::kOutOfReach, 2, excess};
      continue;
    }
    const double scale = 1 / (2 * g.a3 * g.forearm);
    const double cosine = scale * (distance * distance - g.a3 * g.a3 - g.forearm * g.forearm);
    const double sine_squared =
        (far - distance) * (far + distance) * (distance - near) * (distance + near);
    const double sine = branch.elbow * g.c3 * scale * std::sqrt(std::max(sine_squared, 0.0));
    const double elbow = std::atan2(sine, cosine);
    arm.theta3 = g.c3 * (elbow - g.forearm_angle);
    arm.theta2 = distance > kUndetermined * g.reach
                     ? std::atan2(v, u) - std::atan2(g.forearm * std::sin(elbow),
                                                     g.a3 + g.forearm * std::cos(elbow))
                     : seed[1] + g.theta[1];
    if (along < kSingular * g.reach) {
      arm.result = {IkStatus::kShoulderSingular, 0, along / g.reach};
    } else if (std::abs(sine) < kSingular) {
      arm.result = {IkStatus::kElbowSingular, 2, std::abs(sine)};
    }
    solve_wrist(arm, frame6, seed, std::span<PumaSolution, 2>(&solutions[i], 2));
  }
}

void PumaKinematics::solve_wrist(const ArmAngles& arm, const Matrix3& rotation,
                                 std::span<const double> seed,
                                 std::span<PumaSolution, 2> solutions) const noexcept {
  const Geometry& g = geometry_;
  const M r = to_mat(rotation);
  // m = Rx(alpha4)ᵀ {3}R_6 = Rz(theta4) Ry(bend) Rz(end·theta6), half a turn about x behind it
  // where alpha5 = alpha6.
  const double c1 = std::cos(arm.theta1), s1 = std::sin(arm.theta1);
  const double angle23 = arm.theta2 + g.c3 * arm.theta3;
  const double c = std::cos(angle23), s = std::sin(angle23);
  const V x1 = c1 * r.r0 + s1 * r.r1, y1 = c1 * r.r1 - s1 * r.r0;
  M m{c * x1 + (g.s2 * s) * r.r2, static_cast<double>(-g.s2 * g.s34) * y1,
      (g.s34 * s) * x1 - (g.s2 * g.s34 * c) * r.r2};
  for (V* row : {&m.r0, &m.r1, &m.r2}) row->y *= g.end, row->z *= g.end;

  const double sine = std::hypot(m.r0.z, m.r1.z);
  for (PumaSolution& to : solutions) {
    const double bend_sign = -g.s5 * g.end * to.branch.wrist;
    const double theta4 = sine > kUndetermined ? std::atan2(bend_sign * m.r1.z, bend_sign * m.r0.z)
                                               : seed[3] + g.theta[3];
    // The other two follow from the value taken for theta4: its error then does no harm.
    const double c4 = std::cos(theta4), s4 = std::sin(theta4);
    const double bend = std::atan2(c4 * m.r0.z + s4 * m.r1.z, m.r2.z);
    const double theta6 = g.end * std::atan2(c4 * m.r1.x - s4 * m.r0.x, c4 * m.r1.y - s4 * m.r0.y);
    to.q = {arm.theta1, arm.theta2, arm.theta3, theta4, -g.s5 * bend, theta6};
    for (std::size_t i = 0; i < 6; ++i) to.q[i] -= g.theta[i];
    to.result = arm.result;
    if (arm.result.status == IkStatus::kOk && sine < kSingular)
      to.result = {IkStatus::kWristSingular, 4, sine};
  }
}

void PumaKinematics::solve(const Pose& pose, std::span<const double> seed,
                           std::span<PumaSolution, 8> solutions) const {
  require_size("PumaKinematics::solve", "seed", seed.size(), 6);
  solve_unwrapped(pose, seed, solutions);
  for (PumaSolution& s : solutions) {
    if (!s.result.usable()) continue;
    const IkResult wrapped = wrap(seed, true, s.q);
    if (!wrapped.usable()) s.result = wrapped;
  }
}

void PumaKinematics::solve(const Pose& pose, std::span<const double> seed, const PumaBranch& branch,
                           PumaSolution& solution) const {
  std::array<PumaSolution, 8> all;
  solve(pose, seed, all);
  solution = all[place(branch)];
}

std::vector<std::array<double, 6>> PumaKinematics::solve_all(const Pose& pose,
                                                             std::span<const double> seed) const {
  require_size("PumaKinematics::solve_all", "seed", seed.size(), 6);
  std::array<PumaSolution, 8> branches;
  solve(pose, seed, branches);
  std::vector<std::array<double, 6>> found;
  for (const PumaSolution& branch : branches) {
    if (!branch.result.usable()) continue;
    const std::size_t first = found.size();
    found.push_back(branch.q);
    for (std::size_t i = 0; i < 6; ++i) {
      const JointLimits& limits = chain().joints()[i].limits;
      const double lower = limits.goal_lower(), upper = limits.goal_upper();
      if (!std::isfinite(upper - lower)) continue;
      for (std::size_t k = found.size(); k-- > first;) {
        const std::array<double, 6> nearest = found[k];
        const auto add = [&](double value) {
          found.push_back(nearest);
          found.back()[i] = value;
        };
        for (double q = nearest[i] + 2 * kPi; q <= upper; q += 2 * kPi) add(q);
        for (double q = nearest[i] - 2 * kPi; q >= lower; q -= 2 * kPi) add(q);
      }
    }
  }
  std::stable_sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
    return squared_distance(a, seed) < squared_distance(b, seed);
  });
  // Branches meet at singularities.
  constexpr double kSame = 1e-6;
  std::vector<std::array<double, 6>> different;
  for (const auto& q : found) {
    const auto same = [&](const auto& other) {
      return std::equal(q.begin(), q.end(), other.begin(),
                        [](double a, double b) { return std::abs(a - b) < kSame; });
    };
    if (std::none_of(different.begin(), different.end(), same)) different.push_back(q);
  }
  return different;
}

IkResult PumaKinematics::nearest(const Pose& pose, std::span<const double> seed,
                                 std::span<double> q) const {
  require_size("PumaKinematics::nearest", "seed", seed.size(), 6);
  require_size("PumaKinematics::nearest", "q", q.size(), 6);
  std::array<PumaSolution, 8> all;
  solve(pose, seed, all);
  const PumaSolution* best = nullptr;
  // Without a usable one the reason is that of the branch that got farthest.
  const auto rank = [&](const PumaSolution& s) {
    const bool placed = s.result.usable() || s.result.status == IkStatus::kOutsideLimits;
    return std::pair(s.result.usable() ? 0
                     : placed          ? 1
                                       : 2,
                     placed ? squared_distance(s.q, seed) : std::abs(s.result.value));
  };
  for (const PumaSolution& s : all) {
    if (best == nullptr || rank(s) < rank(*best)) best = &s;
  }
  if (best->result.usable()) std::copy(best->q.begin(), best->q.end(), q.begin());
  return best->result;
}

IkResult PumaKinematics::follow(const Pose& pose, std::span<const double> seed,
                                std::span<double> q) const {
  require_size("PumaKinematics::follow", "seed", seed.size(), 6);
  require_size("PumaKinematics::follow", "q", q.size(), 6);
  std::array<PumaSolution, 8> all;
  solve_unwrapped(pose, seed, all);
  PumaSolution best = all[0];
  double least = std::numeric_limits<double>::infinity();
  for (PumaSolution& s : all) {
    if (!s.result.usable()) continue;
    const IkResult wrapped = wrap(seed, false, s.q);
    if (!wrapped.usable()) s.result = wrapped;
    if (const double distance = squared_distance(s.q, seed); distance < least)
      least = distance, best = s;
  }
  if (least < std::numeric_limits<double>::infinity())
    std::copy(best.q.begin(), best.q.end(), q.begin());
  return best.result;
}

PumaKinematics::Posture PumaKinematics::posture(std::span<const double> q) const {
  const Geometry& g = geometry_;
  const double theta2 = q[1] + g.theta[1], elbow = g.forearm_angle + g.c3 * (q[2] + g.theta[2]);
  return {g.a2 + g.a3 * std::cos(theta2) + g.forearm * std::cos(theta2 + elbow), std::sin(elbow),
          std::sin(q[4] + g.theta[4])};
}

PumaBranch PumaKinematics::branch_of(std::span<const double> q) const {
  require_size("PumaKinematics::branch_of", "q", q.size(), 6);
  const Posture p = posture(q);
  return {-geometry_.s2 * sign(p.along), geometry_.c3 * sign(geometry_.a3) * sign(p.elbow_sine),
          geometry_.end * sign(p.wrist_sine)};
}

int PumaKinematics::branch_number(std::span<const double> q) const {
  require_size("PumaKinematics::branch_number", "q", q.size(), 6);
  return static_cast<int>(place(branch_of(q)));
}

Singularity PumaKinematics::singularity(std::span<const double> q) const {
  require_size("PumaKinematics::singularity", "q", q.size(), 6);
  const Posture p = posture(q);
  return std::min({Singularity{IkStatus::kShoulderSingular, std::abs(p.along) / geometry_.reach},
                   Singularity{IkStatus::kElbowSingular, std::abs(p.elbow_sine)},
                   Singularity{IkStatus::kWristSingular, std::abs(p.wrist_sine)}},
                  [](const auto& a, const auto& b) { return a.measure < b.measure; });
}

}  // namespace ga_motion
