// SPDX-License-Identifier: Apache-2.0
#include "measured_arm.hpp"

#include <utility>

#include "reference_governor.hpp"

namespace ga_controllers {

MeasuredArm::MeasuredArm(const ga_dynamics::Chain& chain, std::vector<double> given_torque_limit)
    : dynamics(chain, {.drives = ga_dynamics::Drives::kArmature}),
      torque_limit(std::move(given_torque_limit)),
      q(chain.joints().size()),
      qd(chain.joints().size()),
      inertia(chain.joints().size() * chain.joints().size()) {
  for (const auto& joint : chain.joints()) {
    drives.push_back(joint.drive);
    limits.push_back(joint.limits);
    limits.back().velocity = speed_limit(joint.limits);
  }
}

}  // namespace ga_controllers
