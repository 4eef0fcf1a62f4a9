// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "ga_dynamics/dynamics.hpp"
#include "ga_motion/cartesian_line.hpp"
#include "ga_motion/kinematics.hpp"
#include "ga_motion/trajectory.hpp"

namespace ga_motion {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using ga_dynamics::Dynamics;
using ga_dynamics::Pose;
using ga_dynamics::Vector3;

namespace {

constexpr std::size_t kPostures = 300;  // looked at
constexpr std::size_t kBest = 8;        // of them, tried as the middle of a line
constexpr double kInner = 0.7;          // share of the usable ranges in which they are
constexpr double kTorqueShare = 0.9;    // of the torque limits that a motion may ask for
constexpr double kGravityShare = 0.7;   // … that gravity may ask for
constexpr double kLeastDexterity = 0.03;
constexpr double kSpeed = 0.1;      // m/s
constexpr double kBlend = 0.25;     // s
constexpr double kShortest = 0.01;  // m
/// Kept clear of position limits without soft limits inside: where the hardware limits the torque
/// (0.035 rad or m, at most 5 % of the range) and what the law overshoots.
constexpr double kClearance = 0.05, kClearanceShare = 0.07;

struct Clearance {
  double lower, upper;
};
Clearance clear_limits(const ChainJoint& joint) {
  const double lower = joint.limits.lower, upper = joint.limits.upper;
  const double margin = std::min(kClearance, kClearanceShare * (upper - lower));
  return {std::max(joint.limits.goal_lower(), lower + margin),
          std::min(joint.limits.goal_upper(), upper - margin)};
}

/// Largest share of its limit that a joint's torque takes at this state.
double torque_share(Dynamics& dynamics, std::span<const double> q, std::span<const double> qd,
                    std::span<const double> qdd) {
  std::vector<double> tau(q.size());
  dynamics.inverse_dynamics(q, qd, qdd, tau);
  double share = 0;
  for (std::size_t i = 0; i < tau.size(); ++i) {
    share = std::max(share, std::abs(tau[i]) / dynamics.chain().joints()[i].limits.effort);
  }
  return share;
}

double gravity_share(Dynamics& dynamics, std::span<const double> q) {
  const std::vector<double> rest(q.size());
  return torque_share(dynamics, q, rest, rest);
}

double torque_share(Dynamics& dynamics, const Trajectory& motion) {
  constexpr int kSamples = 200;
  const auto n = static_cast<std::size_t>(motion.size());
  std::vector<double> q(n), qd(n), qdd(n);
  double share = 0;
  for (int k = 0; k <= kSamples; ++k) {
    motion.sample(motion.duration() * k / kSamples, q, qd, qdd);
    share = std::max(share, torque_share(dynamics, q, qd, qdd));
  }
  return share;
}

/// The middle of the ranges, and postures at random about it.
std::vector<std::vector<double>> postures(const Chain& chain) {
  std::mt19937 random(1);
  std::vector<std::vector<double>> all(kPostures);
  for (std::size_t k = 0; k < all.size(); ++k) {
    for (const ChainJoint& joint : chain.joints()) {
      const Range r = usable_range(joint);
      const double middle = 0.5 * (r.low + r.high), half = 0.5 * kInner * (r.high - r.low);
      // As std::uniform_real_distribution, which is not the same in every library.
      const double part = k == 0 ? 0 : 2 * (static_cast<double>(random()) / 4294967296.0) - 1;
      all[k].push_back(middle + part * half);
    }
  }
  return all;
}

struct Posture {
  std::vector<double> q;
  double score = 0;
};

/// The best by `dexterity`, those that gravity does not overload, best first.
template <class Dexterity>
std::vector<Posture> best_postures(const Chain& chain, const Dexterity& dexterity) {
  Dynamics dynamics(chain);
  std::vector<Posture> best;
  for (std::vector<double>& q : postures(chain)) {
    const double score = dexterity(q);
    if (score < kLeastDexterity || gravity_share(dynamics, q) > kGravityShare) continue;
    best.push_back({std::move(q), score});
  }
  std::stable_sort(best.begin(), best.end(),
                   [](const Posture& a, const Posture& b) { return a.score > b.score; });
  if (best.size() > kBest) best.resize(kBest);
  return best;
}

/// m: half of the diagonal of the box that the tool reaches.
double reach_of(const InverseKinematics& kinematics) {
  Vector3 low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
  for (const std::vector<double>& q : postures(kinematics.chain())) {
    Pose pose;
    kinematics.forward(q, pose);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], pose.translation[axis]);
      high[axis] = std::max(high[axis], pose.translation[axis]);
    }
  }
  return 0.5 * std::hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
}

/// Sideways, forward, up, and the diagonals between them.
std::vector<Vector3> directions() {
  std::vector<Vector3> all;
  for (const auto& v : std::initializer_list<Vector3>{{0, 1, 0},
                                                      {1, 0, 0},
                                                      {0, 0, 1},
                                                      {1, 1, 0},
                                                      {1, -1, 0},
                                                      {0, 1, 1},
                                                      {0, 1, -1},
                                                      {1, 0, 1},
                                                      {1, 0, -1}}) {
    const double size = std::hypot(v[0], v[1], v[2]);
    all.push_back({v[0] / size, v[1] / size, v[2] / size});
  }
  return all;
}

Vector3 moved(Vector3 from, const Vector3& direction, double way) {
  for (std::size_t axis = 0; axis < 3; ++axis) from[axis] += way * direction[axis];
  return from;
}

bool keeps_clear(const Chain& chain, const Trajectory& motion) {
  constexpr int kSamples = 200;
  std::vector<double> q(chain.joints().size()), unused(q.size());
  for (int k = 0; k <= kSamples; ++k) {
    motion.sample(motion.duration() * k / kSamples, q, unused, unused);
    for (std::size_t i = 0; i < q.size(); ++i) {
      const Clearance limits = clear_limits(chain.joints()[i]);
      if (q[i] < limits.lower || q[i] > limits.upper) return false;
    }
  }
  return true;
}

std::string line_text(const Trajectory& motion, const InverseKinematics& kinematics, double length,
                      double speed, const char* how) {
  std::vector<double> q(static_cast<std::size_t>(motion.size())), unused(q.size());
  Pose from, to;
  motion.sample(0, q, unused, unused);
  kinematics.forward(q, from);
  motion.sample(motion.duration(), q, unused, unused);
  kinematics.forward(q, to);
  const Vector3 &a = from.translation, &b = to.translation;
  char text[320];
  std::snprintf(text, sizeof text,
                "straight line of the tool, %.3g m at %.3g m/s from (%.3f, %.3f, %.3f) to (%.3f, "
                "%.3f, %.3f), %s",
                length, speed, a[0], a[1], a[2], b[0], b[1], b[2], how);
  return text;
}

/// Tries lines about the best postures, long ones first. `make` gives a motion or throws
/// KinematicsError.
template <class Make>
std::optional<Motion> first_line(const InverseKinematics& kinematics,
                                 const std::vector<Posture>& best, const char* how,
                                 const Make& make) {
  Dynamics dynamics(kinematics.chain(), {.drives = ga_dynamics::Drives::kAll});
  const double reach = reach_of(kinematics);
  for (const double share : {0.5, 0.3, 0.15, 0.05}) {
    const double length = share * reach;
    if (length < kShortest) break;
    const double speed = std::min(kSpeed, 0.25 * length);
    for (const Posture& posture : best) {
      for (const Vector3& direction : directions()) {
        try {
          std::unique_ptr<Trajectory> motion = make(posture.q, direction, length, speed);
          if (!keeps_clear(kinematics.chain(), *motion)) continue;
          if (torque_share(dynamics, *motion) > kTorqueShare) continue;
          std::string text = line_text(*motion, kinematics, length, speed, how);
          return Motion{std::move(motion), std::move(text)};
        } catch (const KinematicsError&) {
          continue;  // the next one
        }
      }
    }
  }
  return std::nullopt;
}

std::unique_ptr<InverseKinematics> kinematics_of(const Chain& chain) {
  try {
    return std::make_unique<PumaKinematics>(chain);
  } catch (const KinematicsError&) {
    // A search from close by finds its solution at once, or there is none on this branch.
    return std::make_unique<NumericKinematics>(chain, NumericOptions{.restarts = 0});
  }
}

std::unique_ptr<Trajectory> quintic_about(const Chain& chain, std::span<const double> middle,
                                          double share, double duration) {
  std::vector<double> start, goal;
  for (std::size_t i = 0; i < chain.joints().size(); ++i) {
    const Range r = usable_range(chain.joints()[i]);
    const double half = 0.5 * share * (r.high - r.low);
    start.push_back(std::max(middle[i] - half, r.low));
    goal.push_back(std::min(middle[i] + half, r.high));
    // 1.875: peak speed of a fifth-order polynomial over its mean.
    duration = std::max(duration,
                        1.875 * (goal[i] - start[i]) / (0.8 * chain.joints()[i].limits.velocity));
  }
  return make_quintic(start, goal, duration);
}

}  // namespace

Range usable_range(const ChainJoint& joint) {
  constexpr double kHalf = 2;
  const auto [lower, upper] = clear_limits(joint);
  Range range{std::max(lower, -kHalf), std::min(upper, kHalf)};
  if (range.low < range.high) return range;
  // 0 is not near: about the middle, or from the only limit on.
  const double middle = std::isfinite(lower) && std::isfinite(upper) ? 0.5 * (lower + upper)
                        : std::isfinite(lower)                       ? lower + kHalf
                                                                     : upper - kHalf;
  return {std::max(lower, middle - kHalf), std::min(upper, middle + kHalf)};
}

bool within_torque_limits(const Chain& chain, const Trajectory& motion) {
  Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kAll});
  return torque_share(dynamics, motion) <= kTorqueShare;
}

std::optional<Motion> find_line(const Chain& chain) {
  if (chain.size() < 3) return std::nullopt;
  const std::unique_ptr<InverseKinematics> kinematics = kinematics_of(chain);
  if (chain.size() >= 6) {
    const NumericKinematics numeric(chain);
    const auto best = best_postures(
        chain, [&](const std::vector<double>& q) { return numeric.singularity(q).measure; });
    const char* const how = kinematics->closed_form()
                                ? "orientation kept"
                                : "orientation kept, numeric inverse kinematics";
    auto found = first_line(
        *kinematics, best, how,
        [&](const std::vector<double>& q, const Vector3& direction, double length, double speed) {
          Pose middle;
          kinematics->forward(q, middle);
          Pose from = middle, to = middle;
          from.translation = moved(middle.translation, direction, -0.5 * length);
          to.translation = moved(middle.translation, direction, 0.5 * length);
          return make_cartesian_line(*kinematics, CartesianLine(from, to, speed, kBlend), q,
                                     {.joint_tolerance = 1e-7});
        });
    if (found) return found;
  }
  const auto best = best_postures(
      chain, [&](const std::vector<double>& q) { return position_dexterity(*kinematics, q); });
  return first_line(
      *kinematics, best, "orientation free",
      [&](const std::vector<double>& q, const Vector3& direction, double length, double speed) {
        return make_position_line(*kinematics, {q, direction, length, speed, kBlend});
      });
}

Motion find_joint_motion(const Chain& chain) {
  Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kAll});
  auto candidates = postures(chain);
  std::stable_sort(candidates.begin() + 1, candidates.end(), [&](const auto& a, const auto& b) {
    return gravity_share(dynamics, a) < gravity_share(dynamics, b);
  });
  candidates.resize(std::min<std::size_t>(candidates.size(), 20));
  const auto text = [](const Trajectory& motion, double share) {
    char line[160];
    std::snprintf(
        line, sizeof line,
        "all joints at once, by %.0f %% of their ranges in %.3g s, on a fifth-order polynomial",
        100 * share, motion.duration());
    return std::string(line);
  };
  for (const double share : {0.3, 0.1}) {
    for (const std::vector<double>& middle : candidates) {
      for (const double duration : {3.0, 6.0, 12.0}) {
        auto motion = quintic_about(chain, middle, share, duration);
        if (torque_share(dynamics, *motion) <= kTorqueShare) {
          std::string description = text(*motion, share);
          return {std::move(motion), std::move(description)};
        }
      }
    }
  }
  auto motion = quintic_about(chain, candidates.front(), 0.3, 3);
  std::string description =
      text(*motion, 0.3) + "; every motion tried needs more torque than the limits allow";
  return {std::move(motion), std::move(description)};
}

}  // namespace ga_motion
