// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <string>

#include "ga_tools/closed_loop.hpp"

namespace ga_tools {

using ga_controllers::JointGains;
using ga_controllers::Uncertainty;

Uncertainty uncertainty_of(const UncertaintyArguments& a, const Uncertainty& assumed) {
  Uncertainty u = assumed;
  const Uncertainty usual;
  u.model.mass = std::max(u.model.mass, usual.model.mass);
  u.model.armature_low = std::min(u.model.armature_low, usual.model.armature_low);
  u.model.armature_high = std::max(u.model.armature_high, usual.model.armature_high);
  const auto take = [&u](const auto& given, auto& to) {
    if (!given) return;
    to = *given;
    u.declared = true;
  };
  take(a.payload, u.model.payload);
  take(a.payload_radius, u.model.payload_radius);
  take(a.mass, u.model.mass);
  take(a.armature_low, u.model.armature_low);
  take(a.armature_high, u.model.armature_high);
  take(a.delay, u.delay);
  // Not an uncertainty by itself: its limit holds, declared or not.
  if (!a.resonance.empty()) u.resonance = a.resonance;
  return u;
}

bool fit_resonance(ga_controllers::LawKind kind, const Uncertainty& u,
                   std::vector<JointGains>& gains) {
  const std::size_t n = gains.size(), given = u.resonance.size();
  if (given == 0) {
    throw std::runtime_error(
        "--fit-resonance: there is no resonance; give --uncertainty-resonance HZ");
  }
  if (given != 1 && given != n) {
    throw std::runtime_error("--uncertainty-resonance with " + std::to_string(given) +
                             " values: give one, or one for each of the " + std::to_string(n) +
                             " joints");
  }
  bool changed = false;
  for (std::size_t i = 0; i < n; ++i) {
    const JointGains fitted =
        ga_controllers::gains_for_resonance(kind, gains[i], u.resonance[given == 1 ? 0 : i]);
    changed = changed || !(fitted == gains[i]);
    gains[i] = fitted;
  }
  return changed;
}

}  // namespace ga_tools
