// SPDX-License-Identifier: Apache-2.0
#include "controllers.hpp"

#include <pluginlib/class_list_macros.hpp>

PLUGINLIB_EXPORT_CLASS(ga_controllers::PointToPointController,
                       controller_interface::ChainableControllerInterface)
PLUGINLIB_EXPORT_CLASS(ga_controllers::TrackingController,
                       controller_interface::ChainableControllerInterface)
PLUGINLIB_EXPORT_CLASS(ga_controllers::TrackingIntegralController,
                       controller_interface::ChainableControllerInterface)
PLUGINLIB_EXPORT_CLASS(ga_controllers::GravityHoldController,
                       controller_interface::ChainableControllerInterface)
PLUGINLIB_EXPORT_CLASS(ga_controllers::HandGuidingController,
                       controller_interface::ChainableControllerInterface)
