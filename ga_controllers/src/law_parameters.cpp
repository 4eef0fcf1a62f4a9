// SPDX-License-Identifier: Apache-2.0
#include "law_parameters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace ga_controllers {

using ga_dynamics::Chain;

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("ControlLaw: " + what);
}

/// rad/s; a loop of 20 kHz, which no arm has, could use half of it.
constexpr double kFastestLoop = 1e4;
/// Largest damping ratio, and Ki over the third power of the bandwidth.
constexpr double kMostDamping = 5, kMostIntegral = 1;

}  // namespace

bool usable(const JointGains& g) noexcept {
  constexpr double w = kFastestLoop;
  // False for NaN.
  return g.kp >= 0 && g.kp <= w * w && g.kd >= 0 && g.kd <= 2 * kMostDamping * w && g.ki >= 0 &&
         g.ki <= kMostIntegral * w * w * w;
}

double effort_limit(const ga_dynamics::JointLimits& limits) noexcept {
  return limits.effort > 0 ? limits.effort : std::numeric_limits<double>::infinity();
}

void check(const Chain& chain, const LawParameters& p) {
  const std::size_t n = chain.joints().size();
  const auto sized = [&](std::size_t size, const char* name, bool may_be_empty, bool may_be_one) {
    if (size == n || (may_be_empty && size == 0) || (may_be_one && size == 1)) return;
    refuse(std::string(name) + " has " + std::to_string(size) + " values for " + std::to_string(n) +
           " joints");
  };
  sized(p.gains.size(), "gains", false, true);
  sized(p.torque_limit.size(), "torque_limit", true, false);
  sized(p.torque_rate_limit.size(), "torque_rate_limit", true, false);
  for (const JointGains& g : p.gains) {
    if (usable(g)) continue;
    refuse("gains must be finite, not negative and at most 1e8 (kp), 1e5 (kd) and 1e12 (ki), not " +
           std::to_string(g.kp) + ", " + std::to_string(g.kd) + " and " + std::to_string(g.ki));
  }
  for (const double v : p.torque_limit) {
    if (!(v > 0)) refuse("torque_limit must be positive");
  }
  for (const double v : p.torque_rate_limit) {
    if (!(v > 0)) refuse("torque_rate_limit must be positive");
  }
  if (!(p.friction >= 0 && p.friction <= 1)) refuse("friction must be between 0 and 1");
  if (!(p.friction_velocity > 0)) refuse("friction_velocity must be positive");
  if (!(p.integral_dead_band >= 0)) refuse("integral_dead_band must not be negative");
  if (!(p.integral_limit >= 0)) refuse("integral_limit must not be negative");
  if (!(p.blend_time >= 0) || !std::isfinite(p.blend_time))
    refuse("blend_time must be finite and not negative");
  if (!(p.look_ahead >= 0) || !std::isfinite(p.look_ahead))
    refuse("look_ahead must be finite and not negative");
  const HandGuidingParameters& hand = p.hand_guiding;
  if (!(hand.friction_uncertainty >= 0 && hand.friction_uncertainty <= 1))
    refuse("hand_guiding.friction_uncertainty must be between 0 and 1");
  if (!(hand.dead_zone > 0)) refuse("hand_guiding.dead_zone must be positive");
  if (!(hand.damping >= 0) || !std::isfinite(hand.damping))
    refuse("hand_guiding.damping must be finite and not negative");
  if (!(hand.speed > 0 && hand.speed <= 1)) refuse("hand_guiding.speed must be above 0, up to 1");
  if (!(hand.limit_zone > 0) || !std::isfinite(hand.limit_zone))
    refuse("hand_guiding.limit_zone must be finite and positive");
  if (!(hand.limit_torque >= 0 && hand.limit_torque <= 1))
    refuse("hand_guiding.limit_torque must be between 0 and 1");
  const AdaptationParameters& a = p.adaptation;
  // What the random motions of test_adaptation show to be stable.
  struct Range {
    const char* name;
    double value, least, most;
    const char* unit = "";
  };
  for (const auto& [name, value, least, most, unit] :
       {Range{"mass", a.mass, 0, 0.5}, Range{"com", a.com, 0, 0.05, " m"},
        Range{"payload_mass", a.payload_mass, 0, 10, " kg"},
        Range{"payload_offset", a.payload_offset, 0, 0.3, " m"},
        Range{"friction", a.friction, 0, 0.5}, Range{"armature", a.armature, 0, 0.5},
        Range{"inertia_ratio", a.inertia_ratio, 1, 3}}) {
    if (!(value >= least && value <= most)) {
      std::ostringstream flaw;
      flaw << "adaptation." << name << " is " << value << unit << "; it must be between " << least
           << " and " << most << unit;
      refuse(flaw.str());
    }
  }
  for (const auto& joint : chain.joints()) {
    if (!a.enabled || joint.drive.armature > 0) continue;
    refuse("adaptation needs the rotor inertias, which dominate what light joints move; joint '" +
           joint.name + "' has none: give its armature in <ros2_control>");
  }
  if (p.error_cycles < 1) refuse("error_cycles must be at least 1");
  if (const std::string flaw = ga_dynamics::payload_flaw(p.payload); !flaw.empty()) refuse(flaw);
}

std::vector<double> torque_limits(const Chain& chain, const LawParameters& p) {
  if (!p.torque_limit.empty()) return p.torque_limit;
  std::vector<double> limits;
  for (const auto& joint : chain.joints()) limits.push_back(effort_limit(joint.limits));
  return limits;
}

std::vector<double> handover_limits(const Chain& chain, const LawParameters& p) {
  std::vector<double> limits = torque_limits(chain, p);
  for (std::size_t i = 0; i < limits.size(); ++i) {
    limits[i] = std::max(limits[i], effort_limit(chain.joints()[i].limits));
  }
  return limits;
}

std::vector<double> torque_rate_limits(const Chain& chain, const LawParameters& p) {
  if (!p.torque_rate_limit.empty()) return p.torque_rate_limit;
  return std::vector<double>(chain.joints().size(), std::numeric_limits<double>::infinity());
}

LawSetting::LawSetting(const Chain& chain, const LawParameters& p)
    : kind(p.kind),
      gains(p.gains.size() == chain.joints().size()
                ? p.gains
                : std::vector<JointGains>(chain.joints().size(), p.gains.front())) {}

JointGains gains_from_bandwidth(double bandwidth, double damping) {
  if (!(bandwidth > 0 && damping > 0) ||
      !std::isfinite(bandwidth * bandwidth * bandwidth * damping)) {
    throw std::invalid_argument(
        "gains_from_bandwidth: bandwidth and damping must be positive and finite");
  }
  const double w = bandwidth;
  return {w * w, 2 * damping * w, 0.32 * w * w * w};
}

}  // namespace ga_controllers
