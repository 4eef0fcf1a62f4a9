// SPDX-License-Identifier: Apache-2.0
#ifndef PLUGINS__SIM_SYSTEM_HPP_
#define PLUGINS__SIM_SYSTEM_HPP_

// puma_hardware/PumaSimSystem: ga_hardware/SimSystem under the name that it had before.

#include "ga_hardware/arm_system.hpp"

namespace puma_hardware {

class PumaSimSystem : public ga_hardware::SimSystem {};

}  // namespace puma_hardware

#endif  // PLUGINS__SIM_SYSTEM_HPP_
