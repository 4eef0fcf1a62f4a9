// SPDX-License-Identifier: Apache-2.0
#include "stability_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "loop_matrix.hpp"

namespace ga_controllers {

using ga_dynamics::Chain;

namespace {

constexpr double kMargin = 1.5;  // in rho
constexpr int kPostures = 128;
constexpr double kExamplePayload = 1;     // kg, to show what a missing rotor inertia costs
constexpr double kSmallestFactor = 0.02;  // of the bandwidth, in the search for a remedy

Chain with_payload(const Chain& chain, double mass, double radius) {
  if (mass == 0) return chain;
  const double moment = mass * radius * radius;
  return chain.with_payload({mass, {0, 0, 0}, {moment, 0, 0, 0, moment, 0, 0, 0, moment}});
}

bool same(const LoopSettings& a, const LoopSettings& b) {
  return a.gains.kp == b.gains.kp && a.gains.kd == b.gains.kd &&
         a.observer_bandwidth == b.observer_bandwidth;
}

std::vector<LoopSettings> distinct(const std::vector<LoopSettings>& loops) {
  std::vector<LoopSettings> result;
  for (const LoopSettings& loop : loops) {
    if (std::none_of(result.begin(), result.end(), [&](const auto& r) { return same(r, loop); }))
      result.push_back(loop);
  }
  return result;
}

/// Empty if one of them is.
StableRange common_range(const std::vector<LoopSettings>& loops) {
  StableRange common{0, std::numeric_limits<double>::infinity()};
  for (const LoopSettings& loop : distinct(loops)) {
    const StableRange range = stable_range(loop);
    common = {std::max(common.lower, range.lower), std::min(common.upper, range.upper)};
  }
  return common;
}

std::vector<LoopSettings> scaled(std::vector<LoopSettings> loops, double factor) {
  for (LoopSettings& loop : loops) {
    loop.gains.kp *= factor * factor;
    loop.gains.kd *= factor;
    loop.observer_bandwidth *= factor;
  }
  return loops;
}

double smallest_kp(const std::vector<LoopSettings>& loops) {
  double kp = std::numeric_limits<double>::infinity();
  for (const LoopSettings& loop : loops) kp = std::min(kp, loop.gains.kp);
  return kp;
}

}  // namespace

bool has_stiffness(const std::vector<LoopSettings>& loops) { return smallest_kp(loops) > 0; }

StabilityCheck::StabilityCheck(const Chain& chain, std::vector<LoopSettings> loops,
                               const ModelUncertainty& uncertainty)
    : chain_(chain),
      u_(uncertainty),
      loops_(std::move(loops)),
      arm_(chain, with_payload(chain, u_.payload, u_.payload_radius)),
      heavy_(corner(true, true, true)),
      light_(corner(false, false, false)),
      equal_(distinct(loops_).size() == 1),
      gravity_(has_stiffness(loops_)) {
  found_.loops = loops_;
}

StabilityReport StabilityCheck::run(const std::vector<double>& resonance,
                                    const std::vector<Posture>& given) {
  postures_ = given;
  for (Posture& q : spread_postures(chain_, kPostures)) postures_.push_back(std::move(q));
  find_ratios();
  check_ratios();
  check_complete_arm();
  if (gravity_) check_gravity();
  if (found_.too_high || found_.too_low || found_.unstable_model) find_bandwidth();
  if (found_.too_low && u_.payload > 0) find_payload();
  check_elasticity(resonance);
  check_armature();
  describe(report_, u_, found_);
  return report_;
}

RealArm StabilityCheck::corner(bool payload, bool mass, bool armature) const {
  RealArm real{payload ? 1.0 : 0.0, mass ? 1 + u_.mass : 1 - u_.mass, arm_.armature()};
  for (double& value : real.armature) value *= armature ? u_.armature_high : u_.armature_low;
  return real;
}

void StabilityCheck::worsen(StabilityVerdict verdict) {
  report_.verdict = std::max(report_.verdict, verdict);
}

// A heavier real arm, in the sense of quadratic forms, has smaller eigenvalues rho, all of them: the
// heaviest and the lightest corner bound rho, also for independent errors of the links.
void StabilityCheck::find_ratios() {
  const LargestAt low = largest(
      chain_, postures_, [&](std::span<const double> q) { return -arm_.lowest(q, heavy_).rho; });
  const LargestAt high = largest(
      chain_, postures_, [&](std::span<const double> q) { return arm_.highest(q, light_).rho; });
  report_.rho_low = -low.value;
  report_.rho_high = high.value;
  report_.posture_low = low.posture;
  report_.posture_high = high.posture;
  report_.joint_low = chain_.joints()[arm_.lowest(low.posture, heavy_).joint].name;
  report_.joint_high = chain_.joints()[arm_.highest(high.posture, light_).joint].name;
}

void StabilityCheck::check_ratios() {
  report_.stable = common_range(loops_);
  found_.unstable_model = report_.stable.empty();
  if (found_.unstable_model) return worsen(StabilityVerdict::kUnstable);
  report_.bandwidth = std::numeric_limits<double>::infinity();
  for (const LoopSettings& loop : distinct(loops_))
    report_.bandwidth = std::min(report_.bandwidth, closed_loop_bandwidth(loop));
  found_.too_low = report_.rho_low < kMargin * report_.stable.lower;
  found_.too_high = report_.rho_high * kMargin > report_.stable.upper;
  if (found_.too_low || found_.too_high) worsen(StabilityVerdict::kMarginal);
  const bool inside =
      report_.rho_low > report_.stable.lower && report_.rho_high < report_.stable.upper;
  if (equal_ && !inside) worsen(StabilityVerdict::kUnstable);
}

/// `margin`: factor on rho that should be stable, too.
void StabilityCheck::check_exactly(const Posture& q, const RealArm& real, double margin) {
  LinearPlant plant = arm_.linearized(q, real, loops_[0].period, gravity_);
  const double radius = spectral_radius(loops_, plant);
  report_.radius = std::max(report_.radius, radius);
  if (!(radius < kStableRadius)) return worsen(StabilityVerdict::kUnstable);
  // The margin of equal loops is known from their stable range.
  if (equal_ || report_.verdict != StabilityVerdict::kStable) return;
  plant.ratio = margin * plant.ratio;
  plant.stiffness = margin * plant.stiffness;
  if (!(spectral_radius(loops_, plant) < kStableRadius)) worsen(StabilityVerdict::kMarginal);
}

void StabilityCheck::check_complete_arm() {
  check_exactly(report_.posture_low, heavy_, 1 / kMargin);
  check_exactly(report_.posture_high, light_, kMargin);
  for (int k = 1; k < 7 && !equal_; ++k) {
    const RealArm real = corner((k & 1) != 0, (k & 2) != 0, (k & 4) != 0);
    check_exactly(report_.posture_low, real, 1 / kMargin);
    check_exactly(report_.posture_high, real, kMargin);
  }
}

void StabilityCheck::check_gravity() {
  const LargestAt soft = largest(chain_, postures_, [&](std::span<const double> q) {
    return -std::min(arm_.gravity_stiffness(q, heavy_), arm_.gravity_stiffness(q, light_));
  });
  softening_ = soft.value;
  if (smallest_kp(loops_) > kMargin * softening_) return;
  found_.stiff_bandwidth = std::sqrt(kMargin * softening_);
  worsen(StabilityVerdict::kMarginal);
  check_exactly(soft.posture, heavy_, 1);
  check_exactly(soft.posture, light_, 1);
}

bool StabilityCheck::stable_with_margin(double factor) const {
  const std::vector<LoopSettings> loops = scaled(loops_, factor);
  const StableRange range = common_range(loops);
  return !range.empty() && report_.rho_low >= kMargin * range.lower &&
         report_.rho_high * kMargin <= range.upper &&
         (!gravity_ || smallest_kp(loops) > kMargin * softening_);
}

/// The largest factor on the bandwidths that is stable with a margin.
void StabilityCheck::find_bandwidth() {
  double low = 0, high = 1;
  for (double factor = 0.95; factor > kSmallestFactor && low == 0; factor *= 0.85)
    (stable_with_margin(factor) ? low : high) = factor;
  for (int i = 0; i < 8 && low > 0; ++i) {
    const double middle = 0.5 * (low + high);
    (stable_with_margin(middle) ? low : high) = middle;
  }
  report_.bandwidth_factor = low;
}

/// The largest payload that is stable with a margin, in the posture of the smallest rho.
void StabilityCheck::find_payload() {
  RealArm real = heavy_;
  const auto enough = [&](double payload) {
    real.payload = payload;
    return arm_.lowest(report_.posture_low, real).rho >= kMargin * report_.stable.lower;
  };
  if (!enough(0)) return;
  double low = 0, high = 1;
  for (int i = 0; i < 16; ++i) {
    const double middle = 0.5 * (low + high);
    (enough(middle) ? low : high) = middle;
  }
  found_.payload = low * u_.payload;
}

void StabilityCheck::check_elasticity(const std::vector<double>& resonance) {
  for (std::size_t i = 0; i < loops_.size() && !resonance.empty(); ++i) {
    const double f = resonance[resonance.size() == 1 ? 0 : i];
    const double sum = design_bandwidth(loops_[i].gains) + loops_[i].observer_bandwidth;
    const double ratio = f > 0 ? sum / (2 * std::numbers::pi * f) : 0;
    if (ratio <= kElasticRecommended) continue;
    const bool refused = ratio > kElasticLimit;
    worsen(refused ? StabilityVerdict::kUnstable : StabilityVerdict::kMarginal);
    report_.bandwidth_factor = std::min(report_.bandwidth_factor, kElasticRecommended / ratio);
    report_.warnings.push_back(
        "joint " + chain_.joints()[i].name + ": bandwidth plus observer bandwidth is " +
        number(sum) + " rad/s, " + number(ratio) + " of the drive's resonance of " + number(f) +
        " Hz; " + (refused ? "at most " + number(kElasticLimit) + " is accepted, " : "") +
        number(kElasticRecommended) + " is recommended: lower their sum to " +
        number(kElasticRecommended * 2 * std::numbers::pi * f) + " rad/s");
  }
}

void StabilityCheck::check_armature() {
  for (const auto& joint : chain_.joints()) {
    if (joint.revolute() && joint.drive.armature == 0)
      found_.without_armature.push_back(joint.name);
  }
  if (found_.without_armature.empty()) return;
  double rho = report_.rho_low, payload = u_.payload;
  if (payload == 0) {
    payload = kExamplePayload;
    UncertainArm example(chain_, with_payload(chain_, payload, u_.payload_radius));
    rho = -largest(chain_, postures_, [&](std::span<const double> q) {
             return -example.lowest(q, heavy_).rho;
           }).value;
  }
  report_.warnings.push_back(
      "no rotor inertia (parameter armature) of " + list(found_.without_armature) +
      " in the description; 0 is assumed. With an unknown payload of " + number(payload) +
      " kg, rho falls to " + number(rho) + " (stable above " + number(report_.stable.lower) +
      "). Declare the rotor inertias, seen at the joint: motor inertia times gear ratio squared");
}

}  // namespace ga_controllers
