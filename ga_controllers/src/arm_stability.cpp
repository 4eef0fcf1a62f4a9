// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <stdexcept>

#include "ga_controllers/stability.hpp"
#include "loop_matrix.hpp"
#include "stability_check.hpp"
#include "uncertain_arm.hpp"

namespace ga_controllers {

using ga_dynamics::Chain;

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("arm stability: " + what);
}

/// One loop per joint. Throws std::invalid_argument.
std::vector<LoopSettings> joint_loops(const ArmLoop& loop, std::size_t n) {
  const auto sized = [&](std::size_t size, const char* name, bool may_be_empty) {
    if (size == n || size == 1 || (size == 0 && may_be_empty)) return;
    refuse(std::string(name) + " has " + std::to_string(size) + " values for " + std::to_string(n) +
           " joints; give one for all or one per joint");
  };
  sized(loop.gains.size(), "gains", false);
  sized(loop.observer_bandwidth.size(), "observer_bandwidth", false);
  sized(loop.resonance.size(), "resonance", true);
  for (const double f : loop.resonance) {
    if (!(f >= 0) || !std::isfinite(f))
      refuse("resonance is " + std::to_string(f) + "; it must be finite and not negative");
  }
  std::vector<LoopSettings> result;
  for (std::size_t i = 0; i < n; ++i) {
    result.push_back(
        {.gains = loop.gains[loop.gains.size() == 1 ? 0 : i],
         .subtracts_disturbance = loop.subtracts_disturbance,
         .observer_bandwidth = loop.observer_bandwidth[loop.observer_bandwidth.size() == 1 ? 0 : i],
         .period = loop.period,
         .delay = loop.delay});
    check_loop(result.back());
  }
  return result;
}

void check(const ModelUncertainty& u) {
  const auto in_range = [](double value, const char* name, bool good, const char* range) {
    if (good && std::isfinite(value)) return;
    refuse(std::string(name) + " is " + std::to_string(value) + "; it must be " + range);
  };
  in_range(u.payload, "payload", u.payload >= 0, "finite and not negative");
  in_range(u.payload_radius, "payload_radius", u.payload_radius >= 0, "finite and not negative");
  in_range(u.mass, "mass", u.mass >= 0 && u.mass < 1, "at least 0 and less than 1");
  in_range(u.armature_low, "armature_low", u.armature_low > 0 && u.armature_low <= 1,
           "positive and at most 1");
  in_range(u.armature_high, "armature_high", u.armature_high >= 1, "finite and at least 1");
}

}  // namespace

double spectral_radius(const ArmLoop& loop, const Chain& model, const Chain& real,
                       std::span<const double> q) {
  const std::size_t n = model.joints().size();
  if (real.joints().size() != n)
    refuse("real has " + std::to_string(real.joints().size()) + " joints, the model has " +
           std::to_string(n));
  if (q.size() != n)
    refuse("q has " + std::to_string(q.size()) + " values for " + std::to_string(n) + " joints");
  for (const double value : q) {
    if (!std::isfinite(value)) refuse("q is not finite");
  }
  const std::vector<LoopSettings> loops = joint_loops(loop, n);
  UncertainArm arm(model, real);
  RealArm other{1, 1, {}};
  for (const auto& joint : real.joints()) other.armature.push_back(joint.drive.armature);
  return spectral_radius(loops, arm.linearized(q, other, loop.period, has_stiffness(loops)));
}

StabilityReport check_stability(const Chain& model, const ArmLoop& loop,
                                const ModelUncertainty& uncertainty,
                                const std::vector<std::vector<double>>& postures) {
  check(uncertainty);
  for (const Posture& q : postures) {
    if (q.size() != model.joints().size())
      refuse("a posture has " + std::to_string(q.size()) + " values for " +
             std::to_string(model.joints().size()) + " joints");
    for (const double value : q) {
      if (!std::isfinite(value)) refuse("postures: a value is not finite");
    }
  }
  StabilityCheck check(model, joint_loops(loop, model.joints().size()), uncertainty);
  return check.run(loop.resonance, postures);
}

}  // namespace ga_controllers
