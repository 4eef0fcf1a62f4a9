// SPDX-License-Identifier: Apache-2.0
#include "ga_motion/cartesian_line.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "ga_dynamics/algorithm/check_arguments.hpp"
#include "join.hpp"
#include "spline_line.hpp"

namespace ga_motion {

using namespace ga_dynamics;
namespace {

constexpr double kEdge = 1e-9;           // s, as in trajectory.cpp
constexpr double kSameTurn = 1e-6;       // rad
constexpr double kPointDistance = 1e-3;  // m
constexpr double kPointStep = 0.02;      // rad, m: largest joint motion from point to point
constexpr std::size_t kMostPoints = 1 << 16;

using Vector6 = Eigen::Matrix<double, 6, 1>;

/// Throws, with the place on the line.
[[noreturn]] void refuse(const CartesianLine& line, double way, const IkResult& result,
                         const std::string& what, const std::string& remedy) {
  const Vector3 at = line.pose(way).translation;
  throw KinematicsError(join("line: ", way, " m of ", line.length(), " m from its start, tool at [",
                             at[0], " ", at[1], " ", at[2], "] m: ", what, "; ", remedy),
                        result);
}

const char* remedy_for(const IkResult& result) {
  switch (result.status) {
    case IkStatus::kOutsideLimits:
      return "move or shorten the line, or start it from another branch or turn";
    case IkStatus::kShoulderSingular:
    case IkStatus::kElbowSingular:
    case IkStatus::kWristSingular:
    case IkStatus::kSingular:
      return "move or turn the line away from it, or lower singularity_margin";
    default:
      return "move the line to where the arm can reach it";
  }
}

/// Joint rates that move the tool along the line by 1 m; of several, the least.
Eigen::VectorXd rates(const InverseKinematics& kinematics, const CartesianLine& line,
                      std::span<const double> q) {
  const auto n = static_cast<Eigen::Index>(kinematics.size());
  Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor> jacobian(6, n);
  kinematics.jacobian(q, std::span<double>(jacobian.data(), static_cast<std::size_t>(6 * n)));
  const Vector3& u = line.direction();
  Vector6 twist;
  twist << u[0], u[1], u[2], 0, 0, 0;
  return jacobian.completeOrthogonalDecomposition().solve(twist);
}

std::vector<double> moved(std::vector<double> q, double way, const Eigen::VectorXd& rate) {
  for (std::size_t i = 0; i < q.size(); ++i) q[i] += way * rate(static_cast<Eigen::Index>(i));
  return q;
}

/// Joint values at points evenly along the line.
using Points = std::vector<std::vector<double>>;

/// Solutions from point to point, or nothing where two are farther apart than kPointStep or on
/// different branches.
std::optional<Points> trace(const InverseKinematics& kinematics, const CartesianLine& line,
                            const std::vector<double>& start, std::size_t steps, double margin) {
  const double h = line.length() / static_cast<double>(steps);
  const int branch = kinematics.branch_number(start);
  Points points{start};
  points.reserve(steps + 1);
  for (std::size_t k = 0; k <= steps; ++k) {
    const double way = k < steps ? static_cast<double>(k) * h : line.length();
    if (k > 0) {
      const std::vector<double>& last = points.back();
      const std::vector<double> half = moved(last, 0.5 * h, rates(kinematics, line, last));
      std::vector<double> q = moved(last, h, rates(kinematics, line, half));
      const IkResult result = kinematics.follow(line.pose(way), q, q);
      if (!result.usable() && result.status != IkStatus::kOutsideLimits)
        refuse(line, way, result, describe(result, kinematics.chain()), remedy_for(result));
      std::size_t fastest = 0;
      for (std::size_t i = 0; i < q.size(); ++i) {
        if (!(std::abs(q[i] - last[i]) <= std::abs(q[fastest] - last[fastest]))) fastest = i;
      }
      const double step = std::abs(q[fastest] - last[fastest]);
      if (!(step <= kPointStep) || kinematics.branch_number(q) != branch) {
        if (2 * steps <= kMostPoints) return std::nullopt;
        const bool same = kinematics.branch_number(q) == branch;
        refuse(
            line, way, result,
            join("joint '", kinematics.chain().joints()[fastest].name, "' jumps from ",
                 last[fastest], " to ", q[fastest], same ? "" : ", to another branch of the arm"),
            "move the line, or divide it where the branch may change");
      }
      if (result.status == IkStatus::kOutsideLimits)
        refuse(line, way, result, describe(result, kinematics.chain()), remedy_for(result));
      points.push_back(std::move(q));
    }
    const Singularity near = kinematics.singularity(points.back());
    if (near.measure < margin) {
      const IkResult result{near.kind, -1, near.measure};
      refuse(line, way, result, describe(result, kinematics.chain()), remedy_for(result));
    }
  }
  return points;
}

/// On its way out of reach the arm comes to a singularity: the reach is the thing to name. A search
/// cannot tell.
void check_reach(const InverseKinematics& kinematics, const CartesianLine& line,
                 const std::vector<double>& start, std::size_t steps) {
  std::vector<double> q(start.size());
  for (std::size_t k = 0; k <= steps; ++k) {
    const double way = line.length() * static_cast<double>(k) / static_cast<double>(steps);
    const IkResult result = kinematics.follow(line.pose(way), start, q);
    if (result.status == IkStatus::kOutOfReach)
      refuse(line, way, result, describe(result, kinematics.chain()), remedy_for(result));
  }
}

/// The inverse kinematics solved at every sample.
class ExactLine final : public Trajectory {
 public:
  ExactLine(const InverseKinematics& kinematics, const CartesianLine& line, Points points)
      : kinematics_(kinematics.clone()), line_(line), points_(std::move(points)) {}

  int size() const noexcept override { return 6; }
  double duration() const noexcept override { return line_.duration(); }
  void sample(double t, std::span<double> q, std::span<double> qd,
              std::span<double> qdd) const override {
    require_sample_sizes(6, q.size(), qd.size(), qdd.size());
    const CartesianLine::Travel travel = line_.travel(t);
    // The points tell the branch and the whole turns.
    const double place = travel.way / line_.length() * static_cast<double>(points_.size() - 1);
    const std::size_t before = std::min(static_cast<std::size_t>(place), points_.size() - 2);
    const double share = place - static_cast<double>(before);
    for (std::size_t i = 0; i < 6; ++i)
      q[i] = points_[before][i] + share * (points_[before + 1][i] - points_[before][i]);
    kinematics_->follow(line_.pose(travel.way), q, q);

    Eigen::Matrix<double, 6, 6, Eigen::RowMajor> jacobian;
    kinematics_->jacobian(q, std::span<double>(jacobian.data(), 36));
    const Eigen::PartialPivLU<Eigen::Matrix<double, 6, 6>> inverse(jacobian);
    const Vector3& u = line_.direction();
    Vector6 twist;
    twist << u[0], u[1], u[2], 0, 0, 0;
    const Vector6 rate = inverse.solve(travel.rate * twist);
    std::copy(rate.data(), rate.data() + 6, qd.begin());
    Vector6 product;
    kinematics_->velocity_product(q, qd, std::span<double>(product.data(), 6));
    const Vector6 acceleration = inverse.solve(travel.acceleration * twist - product);
    std::copy(acceleration.data(), acceleration.data() + 6, qdd.begin());
  }

 private:
  std::unique_ptr<InverseKinematics> kinematics_;
  CartesianLine line_;
  Points points_;
};

std::unique_ptr<Trajectory> spline_through(const InverseKinematics& kinematics,
                                           const CartesianLine& line, const Points& points) {
  std::vector<double> ways(points.size());
  for (std::size_t k = 0; k < ways.size(); ++k)
    ways[k] = line.length() * static_cast<double>(k) / static_cast<double>(ways.size() - 1);
  const Eigen::VectorXd first = rates(kinematics, line, points.front());
  const Eigen::VectorXd last = rates(kinematics, line, points.back());
  const auto n = static_cast<std::size_t>(kinematics.size());
  return make_cubic_spline(ways, points, std::span<const double>(first.data(), n),
                           std::span<const double>(last.data(), n));
}

/// Largest distance of a joint from the solution nearest to the spline, half-way between its knots.
double spline_error(const InverseKinematics& kinematics, const CartesianLine& line,
                    const Trajectory& spline, std::size_t steps) {
  const auto n = static_cast<std::size_t>(kinematics.size());
  std::vector<double> q(n), solution(n), unused(n);
  double worst = 0;
  for (std::size_t k = 0; k < steps; ++k) {
    const double way = line.length() * (static_cast<double>(k) + 0.5) / static_cast<double>(steps);
    spline.sample(way, q, unused, unused);
    const IkResult result = kinematics.follow(line.pose(way), q, solution);
    if (!result.usable())
      refuse(line, way, result, describe(result, kinematics.chain()), remedy_for(result));
    for (std::size_t i = 0; i < n; ++i) worst = std::max(worst, std::abs(solution[i] - q[i]));
  }
  return worst;
}

void check_velocities(const InverseKinematics& kinematics, const CartesianLine& line,
                      const Trajectory& motion, std::size_t steps) {
  const auto n = static_cast<std::size_t>(kinematics.size());
  std::vector<double> q(n), qd(n), qdd(n);
  for (std::size_t k = 0; k <= steps; ++k) {
    const double t = line.duration() * static_cast<double>(k) / static_cast<double>(steps);
    motion.sample(t, q, qd, qdd);
    for (std::size_t i = 0; i < n; ++i) {
      const ChainJoint& joint = kinematics.chain().joints()[i];
      if (std::abs(qd[i]) <= joint.limits.velocity * (1 + 1e-9)) continue;
      const char* const unit = joint.revolute() ? " rad/s" : " m/s";
      refuse(line, line.travel(t).way, {IkStatus::kOutsideLimits, static_cast<int>(i), qd[i]},
             join("joint '", joint.name, "' would move at ", qd[i], unit, ", above its limit of ",
                  joint.limits.velocity, unit),
             "lower the speed, or move the line away from the singularity nearby");
    }
  }
}

}  // namespace

CartesianLine::CartesianLine(const Pose& start, const Pose& end, double speed, double blend_time)
    : start_(start), speed_(speed), blend_(blend_time) {
  if (!is_pose(start)) throw KinematicsError("line: the start is not a pose; give a rotation");
  if (!is_pose(end)) throw KinematicsError("line: the end is not a pose; give a rotation");
  double difference = 0, squares = 0;
  for (std::size_t i = 0; i < 9; ++i)
    difference += std::pow(end.rotation[i] - start.rotation[i], 2);
  if (const double turn = std::sqrt(0.5 * difference); turn > kSameTurn) {
    throw KinematicsError(join("line: the orientations of start and end differ by about ", turn,
                               " rad; give both the same"));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    direction_[i] = end.translation[i] - start.translation[i];
    squares += direction_[i] * direction_[i];
  }
  length_ = std::sqrt(squares);
  if (!(length_ > 0)) throw KinematicsError("line: start and end coincide; give two points");
  for (double& component : direction_) component /= length_;
  if (!(speed > 0 && std::isfinite(speed)))
    throw KinematicsError(join("line: speed ", speed, " m/s; give a number above zero"));
  if (!(blend_time >= 0)) {
    throw KinematicsError(
        join("line: blend time ", blend_time, " s; give zero (full speed ", "throughout) or more"));
  }
  if (speed * blend_time > length_) {
    throw KinematicsError(join("line: its ", length_, " m are shorter than the ",
                               speed * blend_time, " m in which the tool starts and stops at ",
                               speed, " m/s; lower the speed or the blend time"));
  }
  duration_ = length_ / speed_ + blend_;
}

CartesianLine::Travel CartesianLine::travel(double t) const noexcept {
  const bool moving = t >= -kEdge && t <= duration_ + kEdge;
  t = t >= 0 ? std::min(t, duration_) : 0;
  // The way is even about its middle: from the nearer end both ends are met exactly.
  const bool second_half = t > 0.5 * duration_;
  const double from_end = second_half ? duration_ - t : t;
  Travel travel{speed_ * (from_end - 0.5 * blend_), speed_, 0};
  if (from_end < blend_) {
    const double x = from_end / blend_;
    travel.way = speed_ * blend_ * x * x * x * x * (2.5 + x * (-3 + x));
    travel.rate = speed_ * x * x * x * (10 + x * (-15 + 6 * x));
    travel.acceleration = speed_ / blend_ * 30 * x * x * (1 - x) * (1 - x);
  }
  if (second_half) {
    travel.way = length_ - travel.way;
    travel.acceleration = -travel.acceleration;
  }
  if (!moving) travel.rate = travel.acceleration = 0;
  return travel;
}

Pose CartesianLine::pose(double way) const noexcept {
  Pose pose = start_;
  for (std::size_t i = 0; i < 3; ++i) pose.translation[i] += way * direction_[i];
  return pose;
}

std::unique_ptr<Trajectory> make_cartesian_line(const InverseKinematics& kinematics,
                                                const CartesianLine& line,
                                                std::span<const double> seed,
                                                const LineOptions& options) {
  const auto n = static_cast<std::size_t>(kinematics.size());
  if (seed.size() != n) {
    throw KinematicsError(
        join("line: the seed has ", seed.size(), " values for ", n, " joints; give one per joint"));
  }
  std::vector<double> start(n);
  const IkResult result = kinematics.nearest(line.pose(0), seed, start);
  if (!result.usable())
    refuse(line, 0, result, describe(result, kinematics.chain()), remedy_for(result));
  auto steps = static_cast<std::size_t>(
      std::clamp(std::ceil(line.length() / kPointDistance), 64.0, 1.0 * kMostPoints));
  if (kinematics.closed_form()) check_reach(kinematics, line, start, steps);
  for (; true; steps *= 2) {
    std::optional<Points> points =
        trace(kinematics, line, start, steps, options.singularity_margin);
    if (!points) continue;
    std::unique_ptr<Trajectory> motion;
    if (kinematics.closed_form() && n == 6) {
      motion = std::make_unique<ExactLine>(kinematics, line, std::move(*points));
    } else {
      auto spline = spline_through(kinematics, line, *points);
      const double error = spline_error(kinematics, line, *spline, steps);
      if (error > options.joint_tolerance) {
        if (2 * steps <= kMostPoints) continue;
        throw KinematicsError(join("line: the joint values between its ", steps, " points are ",
                                   error, " off; raise joint_tolerance, now ",
                                   options.joint_tolerance));
      }
      motion = std::make_unique<SplineLine>(line, std::move(spline));
    }
    check_velocities(kinematics, line, *motion, steps);
    return motion;
  }
}

std::unique_ptr<Trajectory> make_cartesian_line(const PumaKinematics& kinematics,
                                                const CartesianLine& line, const PumaBranch& branch,
                                                const LineOptions& options) {
  const std::array<double, 6> zero{};
  PumaSolution start;
  kinematics.solve(line.pose(0), zero, branch, start);
  if (!start.result.usable()) {
    refuse(line, 0, start.result, describe(start.result, kinematics.chain()),
           remedy_for(start.result));
  }
  return make_cartesian_line(kinematics, line, start.q, options);
}

}  // namespace ga_motion
