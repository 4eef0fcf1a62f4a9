// SPDX-License-Identifier: Apache-2.0
#include "score/laws.hpp"

#include <algorithm>
#include <stdexcept>

namespace ga_tools::score {

namespace {

using ga_controllers::LawKind;

template <LawKind kKind>
LawUnderTest model_based(const LawSetup& s) {
  ga_controllers::LawParameters p = ga_hardware::law_parameters(kKind, s.gains, 1, s.signals);
  p.keep_limits = s.keep_limits;
  p.keep_path = s.keep_path;
  return computed_torque(s.model, p, s.held);
}

LawUnderTest adaptive(const LawSetup& s) {
  ga_controllers::LawParameters p =
      ga_hardware::law_parameters(LawKind::kTrackingIntegral, s.gains, 1, s.signals);
  p.keep_limits = s.keep_limits;
  p.keep_path = s.keep_path;
  // Arms that are described without rotor inertias cannot adapt (row 11).
  p.adaptation.enabled = std::all_of(s.model.joints().begin(), s.model.joints().end(),
                                     [](const auto& joint) { return joint.drive.armature > 0; });
  if (s.fits_resonance) p.adaptation.inertia_ratio = 1;
  return computed_torque(s.model, p, s.held);
}

template <JointController kKind>
LawUnderTest joint_by_joint(const LawSetup& s) {
  std::vector<ga_controllers::JointGains> gains = s.gains;
  for (auto& g : gains) g.kd *= s.pid.damping;
  JointControllerGains tuned = joint_controller_gains(s.model, gains, s.postures, s.rate);
  for (double& ki : tuned.ki) ki *= s.pid.integral / PidTuning{}.integral;
  return joint_controller(kKind, s.model, tuned, s.held);
}

constexpr ScoreLaw kLaws[] = {
    {"integral", "tracking with integral", model_based<LawKind::kTrackingIntegral>},
    {"adaptive", "tracking with integral and adaptation", adaptive},
    {"tracking", "tracking", model_based<LawKind::kTracking>},
    {"pd", "joint PD", joint_by_joint<JointController::kPd>},
    {"pd-gravity", "joint PD with gravity", joint_by_joint<JointController::kPdGravity>},
    {"pid", "joint PID", joint_by_joint<JointController::kPid>},
};

}  // namespace

std::span<const ScoreLaw> score_laws() noexcept { return kLaws; }

const ScoreLaw& score_law(const std::string& id) {
  std::string all;
  for (const ScoreLaw& law : kLaws) {
    if (id == law.id) return law;
    all += (all.empty() ? "" : ", ") + std::string(law.id);
  }
  throw std::invalid_argument("law '" + id + "' is unknown; give " + all);
}

}  // namespace ga_tools::score
