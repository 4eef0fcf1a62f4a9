// SPDX-License-Identifier: Apache-2.0
#include "ga_tools/payload_estimate.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "ga_dynamics/dynamics.hpp"

namespace ga_tools {

using ga_dynamics::Chain;

namespace {

constexpr int kUnknowns = 4;  ///< mass and first moments
/// m, makes a first moment comparable with a mass.
constexpr double kLength = 0.1;
/// Of the largest eigenvalue of the normal matrix: directions with smaller ones are not identified.
constexpr double kRank = 1e-6;
/// Square of an unknown's part in those directions from which on it is not identified.
constexpr double kPart = 1e-6;

using Unknowns = Eigen::Matrix<double, kUnknowns, 1>;
using Normal = Eigen::Matrix<double, kUnknowns, kUnknowns>;

void check(const Chain& chain, std::span<const PostureTorque> samples) {
  const std::size_t n = chain.joints().size();
  for (const PostureTorque& sample : samples) {
    double sum = 0;
    for (const double v : sample.q) sum += v;
    for (const double v : sample.torque) sum += v;
    if (sample.q.size() != n || sample.torque.size() != n || !std::isfinite(sum)) {
      throw std::invalid_argument(
          "estimate_payload: a sample has values that are not finite, or not " + std::to_string(n) +
          " positions and torques");
    }
  }
  if (samples.size() * n <= static_cast<std::size_t>(kUnknowns)) {
    throw std::invalid_argument("estimate_payload: " + std::to_string(samples.size() * n) +
                                " torques for 4 unknowns; measure more postures");
  }
}

/// Torques of 1 kg at the tip's origin, and of a first moment of kLength kg m along each axis.
Eigen::MatrixXd regressor(ga_dynamics::Dynamics& dynamics, const std::vector<double>& q) {
  const std::size_t n = q.size();
  std::vector<double> without(n), with(n), center(n);
  Eigen::MatrixXd columns(static_cast<Eigen::Index>(n), kUnknowns);
  dynamics.set_payload({});
  dynamics.gravity(q, without);
  for (int k = 0; k < kUnknowns; ++k) {
    ga_dynamics::Payload unit{1, {}, {}};
    if (k > 0) unit.com[static_cast<std::size_t>(k) - 1] = kLength;
    dynamics.set_payload(unit);
    dynamics.gravity(q, with);
    if (k == 0) center = with;
    for (std::size_t i = 0; i < n; ++i) {
      columns(static_cast<Eigen::Index>(i), k) = with[i] - (k == 0 ? without[i] : center[i]);
    }
  }
  return columns;
}

double weight(const ga_dynamics::JointLimits& limits) {
  return std::isfinite(limits.effort) && limits.effort > 0 ? 1 / limits.effort : 1;
}

}  // namespace

PayloadEstimate estimate_payload(const Chain& chain, std::span<const PostureTorque> samples) {
  check(chain, samples);
  const std::size_t n = chain.joints().size();
  ga_dynamics::Dynamics dynamics(chain);
  const auto rows = static_cast<Eigen::Index>(samples.size() * n);
  Eigen::MatrixXd a(rows, kUnknowns);
  Eigen::VectorXd b(rows), unit(rows);
  std::vector<double> gravity(n);
  Eigen::Index row = 0;
  for (const PostureTorque& sample : samples) {
    const Eigen::MatrixXd columns = regressor(dynamics, sample.q);
    dynamics.set_payload({});
    dynamics.gravity(sample.q, gravity);
    for (std::size_t i = 0; i < n; ++i, ++row) {
      const double w = weight(chain.joints()[i].limits);
      a.row(row) = w * columns.row(static_cast<Eigen::Index>(i));
      b(row) = w * (sample.torque[i] - gravity[i]);
      unit(row) = 1 / w;
    }
  }
  const Eigen::SelfAdjointEigenSolver<Normal> eigen(Normal(a.transpose() * a));
  const Unknowns values = eigen.eigenvalues();
  Normal inverse = Normal::Zero();
  Unknowns lost = Unknowns::Zero();
  int rank = 0;
  for (int k = 0; k < kUnknowns; ++k) {
    const Unknowns v = eigen.eigenvectors().col(k);
    if (values(k) > kRank * values(kUnknowns - 1) && values(k) > 0) {
      inverse += v * v.transpose() / values(k);
      ++rank;
    } else {
      lost += v.cwiseAbs2();
    }
  }
  const Unknowns x = inverse * (a.transpose() * b);
  const Eigen::VectorXd rest = b - a * x;
  const double variance = rest.squaredNorm() / static_cast<double>(rows - rank);
  PayloadEstimate estimate;
  estimate.residual = std::sqrt(rest.cwiseProduct(unit).squaredNorm() / static_cast<double>(rows));
  estimate.mass_identified = lost(0) < kPart;
  if (estimate.mass_identified) {
    estimate.payload.mass = x(0);
    estimate.mass_deviation = std::sqrt(variance * inverse(0, 0));
  }
  for (int k = 1; k < kUnknowns; ++k) {
    const auto axis = static_cast<std::size_t>(k) - 1;
    // A center of mass needs a mass that differs from zero.
    if (!(lost(k) < kPart) || !(estimate.payload.mass > 2 * estimate.mass_deviation)) continue;
    const double com = kLength * x(k) / x(0);
    Unknowns slope = Unknowns::Zero();  // of com
    slope(0) = -com / x(0);
    slope(k) = kLength / x(0);
    estimate.com_identified[axis] = true;
    estimate.payload.com[axis] = com;
    estimate.com_deviation[axis] = std::sqrt(variance * slope.dot(inverse * slope));
  }
  return estimate;
}

std::string PayloadEstimate::text() const {
  char line[160];
  std::string result, missing;
  if (mass_identified) {
    std::snprintf(line, sizeof line, "mass: %.3f kg, standard deviation %.3f kg\n", payload.mass,
                  mass_deviation);
    result += line;
  } else {
    missing = "mass";
  }
  for (std::size_t k = 0; k < com_identified.size(); ++k) {
    if (com_identified[k]) {
      std::snprintf(line, sizeof line, "center of mass, %c: %.1f mm, standard deviation %.1f mm\n",
                    "xyz"[k], 1e3 * payload.com[k], 1e3 * com_deviation[k]);
      result += line;
    } else {
      missing += std::string(missing.empty() ? "" : ", ") + "center of mass along " + "xyz"[k];
    }
  }
  if (!missing.empty()) {
    result += "not identified: " + missing +
              "; gravity shows it in none of these postures, or there is no payload\n";
  }
  std::snprintf(line, sizeof line, "residual torque: %.3f N m RMS\n", residual);
  return result + line;
}

// --- the motion

namespace {

constexpr double kTurn = 0.5;       ///< rad, of the wrist joints
constexpr double kSweep = 0.05;     ///< rad to both sides of a posture, all joints
constexpr double kPrismatic = 0.2;  ///< m per rad, for prismatic joints
constexpr double kSweepTime = 1.5;  ///< s
constexpr double kWindow = 0.15;    ///< s to both sides of the posture
constexpr double kSpeed = 0.3;      ///< of the velocity limits
constexpr double kShortest = 1;     ///< s
constexpr std::size_t kWristJoints = 3;
constexpr double kPeak = 1.875;  ///< peak over mean velocity of a quintic

}  // namespace

class PayloadMotion::Path : public ga_motion::Trajectory {
 public:
  struct Pass {
    std::size_t posture;
    double time;  ///< s, when it is passed
  };

  Path(const Chain& chain, std::span<const double> start) : chain_(chain) {
    const std::size_t n = chain.joints().size();
    at_.assign(start.begin(), start.end());
    if (start.size() != n) {
      throw std::invalid_argument("PayloadMotion: give one position per joint");
    }
    begin_ = at_;
    std::size_t posture = 0;
    pass(at_, posture++);
    const std::vector<double> home(start.begin(), start.end());
    for (std::size_t i = n - std::min(n, kWristJoints); i < n; ++i) {
      for (const double direction : {1.0, -1.0}) {
        std::vector<double> q = home;
        q[i] = turned(i, home[i], direction * kTurn);
        if (std::abs(q[i] - home[i]) > 0) pass(q, posture++);
      }
    }
    move(home);
  }

  int size() const noexcept override { return static_cast<int>(begin_.size()); }
  double duration() const noexcept override { return duration_; }
  void sample(double t, std::span<double> q, std::span<double> qd,
              std::span<double> qdd) const override {
    t = t >= 0 ? std::min(t, duration_) : 0;
    std::size_t k = 0;
    while (k + 1 < legs_.size() && t > legs_[k].begin + legs_[k].time) ++k;
    const Leg& leg = legs_[k];
    const double s = (t - leg.begin) / leg.time;
    const double p = s * s * s * (10 + s * (6 * s - 15));
    const double v = 30 * s * s * (1 - s) * (1 - s) / leg.time;
    const double a = 60 * s * (1 - s) * (1 - 2 * s) / (leg.time * leg.time);
    for (std::size_t i = 0; i < begin_.size(); ++i) {
      const double distance = leg.to[i] - leg.from[i];
      q[i] = leg.from[i] + p * distance;
      qd[i] = v * distance;
      qdd[i] = a * distance;
    }
  }

  const std::vector<Pass>& passes() const { return passes_; }
  const Chain& chain() const { return chain_; }

 private:
  struct Leg {
    double begin, time;
    std::vector<double> from, to;
  };

  double unit(std::size_t i) const { return chain_.joints()[i].revolute() ? 1 : kPrismatic; }

  /// The position turned by up to `by`, as far as the limits leave room for a sweep.
  double turned(std::size_t i, double from, double by) const {
    const auto& limits = chain_.joints()[i].limits;
    const double room = 1.5 * kSweep * unit(i);
    return std::clamp(from + by * unit(i), std::min(from, limits.lower + room),
                      std::max(from, limits.upper - room));
  }

  void move(const std::vector<double>& to, double least = kShortest) {
    double time = least;
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto& limits = chain_.joints()[i].limits;
      if (to[i] < limits.lower || to[i] > limits.upper) {
        throw std::invalid_argument("joint '" + chain_.joints()[i].name +
                                    "' is too close to its position limit to be moved by " +
                                    std::to_string(kSweep * unit(i)) +
                                    " to both sides; start at another posture");
      }
      if (limits.velocity > 0) {
        time = std::max(time, kPeak * std::abs(to[i] - at_[i]) / (kSpeed * limits.velocity));
      }
    }
    legs_.push_back({duration_, time, at_, to});
    duration_ += time;
    at_ = to;
  }

  void pass(const std::vector<double>& posture, std::size_t index) {
    std::vector<double> low = posture, high = posture;
    for (std::size_t i = 0; i < posture.size(); ++i) {
      low[i] -= kSweep * unit(i), high[i] += kSweep * unit(i);
    }
    move(low);
    for (const auto& to : {high, low}) {
      move(to, kSweepTime);
      passes_.push_back({index, duration_ - 0.5 * legs_.back().time});
    }
  }

  Chain chain_;
  std::vector<double> begin_, at_;
  std::vector<Leg> legs_;
  std::vector<Pass> passes_;
  double duration_ = 0;
};

PayloadMotion::PayloadMotion(const Chain& chain, std::span<const double> start)
    : path_(std::make_unique<Path>(chain, start)) {}
PayloadMotion::~PayloadMotion() = default;

const ga_motion::Trajectory& PayloadMotion::trajectory() const { return *path_; }

std::vector<PostureTorque> PayloadMotion::samples(const ga_motion::Recording& recording) const {
  const auto n = static_cast<std::size_t>(path_->size());
  std::vector<PostureTorque> result;
  if (recording.time.empty() || recording.time.back() < path_->passes().back().time + kWindow) {
    throw std::invalid_argument("the recording ends before the motion does; repeat it");
  }
  for (const Path::Pass& pass : path_->passes()) {
    if (pass.posture == result.size()) {
      result.push_back({std::vector<double>(n), std::vector<double>(n)});
    }
    std::vector<double> q(n), torque(n);
    double count = 0;
    for (std::size_t k = 0; k < recording.time.size(); ++k) {
      if (std::abs(recording.time[k] - pass.time) > kWindow) continue;
      ++count;
      for (std::size_t i = 0; i < n; ++i) {
        q[i] += recording.q[i][k];
        torque[i] += recording.tau[i][k];
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      result.back().q[i] += 0.5 * q[i] / count;  // the mean of both directions
      result.back().torque[i] += 0.5 * torque[i] / count;
    }
  }
  // What Coulomb friction leaves of the mean: its directions may differ.
  for (PostureTorque& sample : result) {
    for (std::size_t i = 0; i < n; ++i) {
      const ga_dynamics::Drive& drive = path_->chain().joints()[i].drive;
      sample.torque[i] -= 0.5 * (drive.coulomb_positive - drive.coulomb_negative);
    }
  }
  return result;
}

}  // namespace ga_tools
