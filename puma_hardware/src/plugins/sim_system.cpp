// SPDX-License-Identifier: Apache-2.0
#include "plugins/sim_system.hpp"

#include "pluginlib/class_list_macros.hpp"

PLUGINLIB_EXPORT_CLASS(puma_hardware::PumaSimSystem, hardware_interface::SystemInterface)
