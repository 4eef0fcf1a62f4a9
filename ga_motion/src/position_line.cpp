// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "ga_motion/cartesian_line.hpp"
#include "spline_line.hpp"

namespace ga_motion {

using ga_dynamics::ChainJoint;
using ga_dynamics::Pose;
using ga_dynamics::Vector3;

namespace {

constexpr double kAccuracy = 1e-12;  // m, of a point on the line
constexpr double kDeviation = 1e-6;  // m, between two points
constexpr double kPointStep = 0.05;  // rad, m of a joint from point to point
constexpr double kLeastDexterity = 0.02;
constexpr std::size_t kFewPoints = 64, kMostPoints = 4096;

using Symmetric = std::array<double, 9>;

/// Rows of the translational Jacobian, and J Jᵀ.
struct Translation {
  std::vector<double> rows;  // 3·n
  Symmetric product{};

  Translation(const InverseKinematics& kinematics, std::span<const double> q) {
    const auto n = static_cast<std::size_t>(kinematics.size());
    std::vector<double> jacobian(6 * n);
    kinematics.jacobian(q, jacobian);
    rows.assign(jacobian.begin(), jacobian.begin() + static_cast<std::ptrdiff_t>(3 * n));
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t b = 0; b < 3; ++b) {
        for (std::size_t k = 0; k < n; ++k) product[3 * a + b] += rows[a * n + k] * rows[b * n + k];
      }
    }
  }

  /// The least joint motion that moves the tool by `way`: Jᵀ (J Jᵀ)⁻¹ way.
  std::vector<double> joints_for(const Vector3& way) const {
    const Symmetric& m = product;
    const auto minor = [&m](std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
      return m[a] * m[d] - m[b] * m[c];
    };
    const double c0 = minor(4, 5, 7, 8), c1 = -minor(3, 5, 6, 8), c2 = minor(3, 4, 6, 7);
    const double determinant = m[0] * c0 + m[1] * c1 + m[2] * c2;
    const std::array<double, 9> inverse{c0, -minor(1, 2, 7, 8), minor(1, 2, 4, 5),
                                        c1, minor(0, 2, 6, 8),  -minor(0, 2, 3, 5),
                                        c2, -minor(0, 1, 6, 7), minor(0, 1, 3, 4)};
    const std::size_t n = rows.size() / 3;
    std::vector<double> result(n);
    for (std::size_t a = 0; a < 3; ++a) {
      double force = 0;
      for (std::size_t b = 0; b < 3; ++b) force += inverse[3 * a + b] * way[b] / determinant;
      for (std::size_t k = 0; k < n; ++k) result[k] += rows[a * n + k] * force;
    }
    return result;
  }

  /// Eigenvalues of J Jᵀ, largest first, by Jacobi's rotations.
  std::array<double, 3> eigenvalues() const {
    Symmetric m = product;
    for (int sweep = 0; sweep < 30; ++sweep) {
      for (const auto& [p, q] : {std::pair<std::size_t, std::size_t>{0, 1}, {0, 2}, {1, 2}}) {
        if (m[3 * p + q] == 0) continue;
        const double angle = 0.5 * std::atan2(2 * m[3 * p + q], m[3 * q + q] - m[3 * p + p]);
        const double c = std::cos(angle), s = std::sin(angle);
        for (std::size_t k = 0; k < 3; ++k) {
          const double mp = m[3 * k + p], mq = m[3 * k + q];
          m[3 * k + p] = c * mp - s * mq, m[3 * k + q] = s * mp + c * mq;
        }
        for (std::size_t k = 0; k < 3; ++k) {
          const double mp = m[3 * p + k], mq = m[3 * q + k];
          m[3 * p + k] = c * mp - s * mq, m[3 * q + k] = s * mp + c * mq;
        }
      }
    }
    std::array<double, 3> values{m[0], m[4], m[8]};
    std::sort(values.begin(), values.end(), std::greater<>());
    return values;
  }

  double dexterity() const {
    const auto values = eigenvalues();
    return values[0] > 0 ? std::sqrt(std::max(values[2], 0.0) / values[0]) : 0;
  }
};

Vector3 difference(const Vector3& a, const Vector3& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
double size_of(const Vector3& v) { return std::hypot(v[0], v[1], v[2]); }

/// From q to where the tool is at `goal`.
void approach(const InverseKinematics& kinematics, const Vector3& goal, std::vector<double>& q) {
  const std::vector<double> before = q;
  for (int step = 0; step < 10; ++step) {
    Pose now;
    kinematics.forward(q, now);
    const Vector3 error = difference(goal, now.translation);
    if (step > 0 && size_of(error) < kAccuracy) break;
    const Translation translation(kinematics, q);
    if (translation.dexterity() < kLeastDexterity)
      throw KinematicsError("position line: it comes to a singularity; move it");
    const std::vector<double> change = translation.joints_for(error);
    for (std::size_t i = 0; i < q.size(); ++i) q[i] += change[i];
    if (step == 9)
      throw KinematicsError("position line: no joint values found for a point; move the line");
  }
  for (std::size_t i = 0; i < q.size(); ++i) {
    const ChainJoint& joint = kinematics.chain().joints()[i];
    if (!(q[i] >= joint.limits.goal_lower() && q[i] <= joint.limits.goal_upper())) {
      throw KinematicsError("position line: joint '" + joint.name +
                            "' leaves its limits; move the line");
    }
    if (!(std::abs(q[i] - before[i]) <= kPointStep)) {
      throw KinematicsError("position line: joint '" + joint.name + "' jumps; move the line");
    }
  }
}

/// Joint values at points evenly along the line, from its middle to both ends.
std::vector<std::vector<double>> trace(const InverseKinematics& kinematics,
                                       const PositionLine& line, std::size_t steps) {
  Pose middle;
  kinematics.forward(line.middle, middle);
  std::vector<std::vector<double>> points(steps + 1);
  const std::size_t half = steps / 2;
  points[half] = line.middle;
  for (const int side : {-1, 1}) {
    for (std::size_t k = 1; k <= half; ++k) {
      const double way = side * line.length * static_cast<double>(k) / static_cast<double>(steps);
      Vector3 goal = middle.translation;
      for (std::size_t axis = 0; axis < 3; ++axis) goal[axis] += way * line.direction[axis];
      const std::size_t at = side < 0 ? half - k : half + k;
      points[at] = points[side < 0 ? at + 1 : at - 1];
      approach(kinematics, goal, points[at]);
    }
  }
  return points;
}

/// Largest distance of the tool from the line, half-way between the points.
double deviation(const InverseKinematics& kinematics, const PositionLine& line,
                 const Vector3& start, const Trajectory& over_way, std::size_t steps) {
  const auto n = static_cast<std::size_t>(kinematics.size());
  std::vector<double> q(n), unused(n);
  double worst = 0;
  for (std::size_t k = 0; k < steps; ++k) {
    const double way = line.length * (static_cast<double>(k) + 0.5) / static_cast<double>(steps);
    over_way.sample(way, q, unused, unused);
    Pose pose;
    kinematics.forward(q, pose);
    Vector3 error = difference(pose.translation, start);
    for (std::size_t axis = 0; axis < 3; ++axis) error[axis] -= way * line.direction[axis];
    worst = std::max(worst, size_of(error));
  }
  return worst;
}

void check_velocities(const InverseKinematics& kinematics, const Trajectory& motion) {
  const auto n = static_cast<std::size_t>(kinematics.size());
  std::vector<double> q(n), qd(n), qdd(n);
  constexpr int kSamples = 500;
  for (int k = 0; k <= kSamples; ++k) {
    motion.sample(motion.duration() * k / kSamples, q, qd, qdd);
    for (std::size_t i = 0; i < n; ++i) {
      const ChainJoint& joint = kinematics.chain().joints()[i];
      if (std::abs(qd[i]) <= joint.limits.velocity) continue;
      throw KinematicsError("position line: joint '" + joint.name +
                            "' exceeds its velocity limit; lower the speed");
    }
  }
}

}  // namespace

double position_dexterity(const InverseKinematics& kinematics, std::span<const double> q) {
  return Translation(kinematics, q).dexterity();
}

std::unique_ptr<Trajectory> make_position_line(const InverseKinematics& kinematics,
                                               const PositionLine& line) {
  Pose start;
  for (std::size_t steps = kFewPoints; steps <= kMostPoints; steps *= 2) {
    const auto points = trace(kinematics, line, steps);
    std::vector<double> ways(points.size());
    for (std::size_t k = 0; k < ways.size(); ++k) {
      ways[k] = line.length * static_cast<double>(k) / static_cast<double>(steps);
    }
    auto spline = make_cubic_spline(
        ways, points, Translation(kinematics, points.front()).joints_for(line.direction),
        Translation(kinematics, points.back()).joints_for(line.direction));
    kinematics.forward(points.front(), start);
    if (deviation(kinematics, line, start.translation, *spline, steps) > kDeviation) continue;
    Pose from = start, to;
    from.rotation = to.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      to.translation[axis] = from.translation[axis] + line.length * line.direction[axis];
    }
    auto motion = std::make_unique<SplineLine>(CartesianLine(from, to, line.speed, line.blend_time),
                                               std::move(spline));
    check_velocities(kinematics, *motion);
    return motion;
  }
  throw KinematicsError(
      "position line: the joints turn too fast between its points; move the line");
}

}  // namespace ga_motion
