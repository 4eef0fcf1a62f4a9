// SPDX-License-Identifier: Apache-2.0
#include "score/laws.hpp"

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

template <JointController kKind>
LawUnderTest joint_by_joint(const LawSetup& s) {
  return joint_controller(kKind, s.model,
                          joint_controller_gains(s.model, s.gains, s.postures, s.rate), s.held);
}

constexpr ScoreLaw kLaws[] = {
    {"integral", "tracking with integral", model_based<LawKind::kTrackingIntegral>},
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
