// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__SIM_SYSTEM_HPP_
#define GA_HARDWARE__SIM_SYSTEM_HPP_

// ga_hardware/SimSystem: a simulated arm as ros2_control hardware. Any serial arm with an effort
// command per joint. arm_system.hpp describes lifecycle and interfaces, doc/sim_system.md parameters
// and faults. When active, the drives have power.

#include <memory>

#include "ga_hardware/arm_system.hpp"

namespace ga_hardware {

class SimSystem : public ArmSystem {
 public:
  SimSystem();

 private:
  std::unique_ptr<ArmBackend> make_arm() override;
};

}  // namespace ga_hardware

#endif  // GA_HARDWARE__SIM_SYSTEM_HPP_
