// SPDX-License-Identifier: Apache-2.0
#include "arm/calibration_posture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numbers>
#include <utility>

#include "arm/calibration_builder.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace puma_hardware {

namespace {

using Six = std::array<double, 6>;

constexpr double kPotSupply = 5;        // V
constexpr double kPotOffCenter = 0.75;  ///< V by which a potentiometer may sit off the middle
constexpr double kPotAtStop = 0.05;     ///< V from the ends of its supply
/// Of the sweep's speed: otherwise it accelerates.
constexpr double kSteady = 0.2;
constexpr int kLeastSamples = 5;  ///< of a bin in each direction
constexpr std::size_t kLeastPlaces = 8;

// Standard deviations of what the fit does not know.
constexpr double kTorqueNoise = 0.5;    ///< N m of a place
constexpr double kPositionPrior = 0.5;  ///< rad
constexpr double kMassPrior = 0.2;      ///< of gravity, as a share
constexpr double kFrictionPrior = 0.1;  ///< of the friction
constexpr int kIterations = 8;
constexpr double kStep = 1e-4;  ///< of the numerical derivatives

constexpr double kLeastGravity = 0.3;  ///< of the friction
constexpr double kSeen = 0.1;          ///< rad, standard deviation
constexpr double kSurelyWrong = 0.07;  ///< rad
constexpr double kSureDeviations = 2.5;

/// Solves A x = b in place, A symmetric and positive definite, row by row; x in b.
void solve(std::vector<double>& a, std::vector<double>& b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t row = i + 1; row < n; ++row) {
      const double share = a[row * n + i] / a[i * n + i];
      for (std::size_t k = i; k < n; ++k) a[row * n + k] -= share * a[i * n + k];
      b[row] -= share * b[i];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
}

}  // namespace

std::string pot_contradiction(const ArmSettings& settings, const Six& position, const Six& volts) {
  for (std::size_t i = 0; i < 6; ++i) {
    const JointSettings& joint = settings.joints[i];
    // At its stop it only says that the joint is further.
    if (volts[i] < kPotAtStop || volts[i] > kPotSupply - kPotAtStop) continue;
    const double per_rad =
        joint.pot_direction * joint.pot_volts_per_rev * joint.gear_ratio / (2 * std::numbers::pi);
    const double at_lower = volts[i] + per_rad * (joint.lower - position[i]),
                 at_upper = volts[i] + per_rad * (joint.upper - position[i]);
    const double spare = std::abs(kPotSupply - std::abs(at_upper - at_lower)) / 2;
    const double off = std::abs((at_lower + at_upper) / 2 - kPotSupply / 2) - spare;
    if (off <= kPotOffCenter) continue;
    char text[320];
    std::snprintf(
        text, sizeof text,
        "%s: its potentiometer reads %.2f V at the stated %.4f rad, so that it would read "
        "%.2f to %.2f V over the joint's range; it has 0 to 5 V. The joint seems to stand "
        "about %.2f rad from there",
        joint.name.c_str(), volts[i], position[i], std::min(at_lower, at_upper),
        std::max(at_lower, at_upper),
        std::abs(((at_lower + at_upper) / 2 - kPotSupply / 2) / per_rad));
    return text;
  }
  return "";
}

GravityLog::GravityLog(const ArmSettings& settings) : settings_(settings) {
  for (auto& bins : bins_) bins.resize(kBins);
}

void GravityLog::add(const ArmReading& reading) noexcept {
  for (std::size_t i = 0; i < 6; ++i) {
    const JointSettings& joint = settings_.joints[i];
    const double speed = std::abs(reading.qd[i]) / Sweep::speed_of(joint);
    if (!(std::abs(speed - 1) < kSteady)) continue;
    const double share = (reading.q[i] - joint.lower) / (joint.upper - joint.lower);
    if (!(share >= 0 && share < 1)) continue;
    Bin& bin = bins_[i][static_cast<std::size_t>(share * kBins)];
    const std::size_t direction = reading.qd[i] > 0 ? 1 : 0;
    for (std::size_t k = 0; k < 6; ++k) bin.q[k] += reading.q[k];
    bin.torque[direction] += reading.torque[i];
    ++bin.samples[direction];
  }
}

std::vector<GravityPlace> GravityLog::places() const {
  std::vector<GravityPlace> found;
  for (std::size_t i = 0; i < 6; ++i) {
    for (const Bin& bin : bins_[i]) {
      const auto [down, up] = bin.samples;
      if (down < kLeastSamples || up < kLeastSamples) continue;
      GravityPlace place;
      place.joint = i;
      for (std::size_t k = 0; k < 6; ++k) place.q[k] = bin.q[k] / (down + up);
      place.torque = 0.5 * (bin.torque[0] / down + bin.torque[1] / up);
      found.push_back(place);
    }
  }
  return found;
}

PostureEstimate estimate_posture(const ga_dynamics::Chain& chain,
                                 const std::vector<GravityPlace>& places) {
  ga_dynamics::Dynamics dynamics(chain);
  const auto gravity_at = [&dynamics](const Six& q) {
    Six gravity;
    dynamics.gravity(q, gravity);
    return gravity;
  };
  // A joint that gravity turns, and enough places of it.
  PostureEstimate estimate;
  Six most{};
  std::array<std::size_t, 6> count{};
  for (const GravityPlace& place : places) {
    most[place.joint] = std::max(most[place.joint], std::abs(gravity_at(place.q)[place.joint]));
    ++count[place.joint];
  }
  std::vector<std::size_t> joints;
  for (std::size_t i = 0; i < 6; ++i) {
    const ga_dynamics::Drive& drive = chain.joints()[i].drive;
    const double friction = std::min(drive.coulomb_positive, drive.coulomb_negative);
    if (count[i] < kLeastPlaces || most[i] <= kLeastGravity * friction) continue;
    joints.push_back(i);
  }
  const std::size_t m = joints.size(), n = 3 * m;
  if (m == 0) return estimate;

  // Of each joint: the error of its position, of the size of its gravity, of its friction.
  std::vector<double> x(n, 0.0), prior(n);
  for (std::size_t k = 0; k < m; ++k) {
    const ga_dynamics::Drive& drive = chain.joints()[joints[k]].drive;
    prior[3 * k] = kPositionPrior;
    prior[3 * k + 1] = kMassPrior;
    prior[3 * k + 2] =
        std::max(0.1, kFrictionPrior * 0.5 * (drive.coulomb_positive + drive.coulomb_negative));
  }
  const auto expected = [&](const GravityPlace& place, std::size_t k,
                            const std::vector<double>& at) {
    const ga_dynamics::Drive& drive = chain.joints()[place.joint].drive;
    Six q = place.q;
    for (std::size_t j = 0; j < m; ++j) q[joints[j]] += at[3 * j];
    return (1 + at[3 * k + 1]) * gravity_at(q)[place.joint] +
           0.5 * (drive.coulomb_positive - drive.coulomb_negative) + at[3 * k + 2];
  };
  std::vector<double> normal(n * n), right(n), slope(n);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    std::fill(normal.begin(), normal.end(), 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      normal[i * n + i] = 1 / (prior[i] * prior[i]);
      right[i] = -x[i] / (prior[i] * prior[i]);
    }
    for (const GravityPlace& place : places) {
      const auto at = std::find(joints.begin(), joints.end(), place.joint);
      if (at == joints.end()) continue;
      const auto k = static_cast<std::size_t>(at - joints.begin());
      const double now = expected(place, k, x);
      for (std::size_t i = 0; i < n; ++i) {
        std::vector<double> beside = x;
        beside[i] += kStep;
        slope[i] = (expected(place, k, beside) - now) / kStep / kTorqueNoise;
      }
      for (std::size_t i = 0; i < n; ++i) {
        right[i] += slope[i] * (place.torque - now) / kTorqueNoise;
        for (std::size_t j = 0; j < n; ++j) normal[i * n + j] += slope[i] * slope[j];
      }
    }
    std::vector<double> matrix = normal, step = right;
    solve(matrix, step);
    for (std::size_t i = 0; i < n; ++i) x[i] += step[i];
  }
  for (std::size_t k = 0; k < m; ++k) {
    std::vector<double> matrix = normal, unit(n, 0.0);
    unit[3 * k] = 1;
    solve(matrix, unit);
    estimate.error[joints[k]] = x[3 * k];
    estimate.deviation[joints[k]] = std::sqrt(unit[3 * k]);
    estimate.seen[joints[k]] = estimate.deviation[joints[k]] < kSeen;
  }
  return estimate;
}

std::string PostureEstimate::contradiction(const ArmSettings& settings) const {
  std::string text;
  for (std::size_t i = 0; i < 6; ++i) {
    if (!seen[i] || std::abs(error[i]) < std::max(kSurelyWrong, kSureDeviations * deviation[i])) {
      continue;
    }
    char part[120];
    std::snprintf(part, sizeof part, "%s%s stands about %.2f rad (%.0f degrees) from there",
                  text.empty() ? "" : ", ", settings.joints[i].name.c_str(), error[i],
                  error[i] * 180 / std::numbers::pi);
    text += part;
  }
  return text;
}

}  // namespace puma_hardware
