// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__CONTROLLERS_HPP_
#define GA_CONTROLLERS__PLUGINS__CONTROLLERS_HPP_

// The controllers that pluginlib loads, one per law.

#include "law_controller.hpp"

namespace ga_controllers {

class PointToPointController : public LawController {
 public:
  PointToPointController() : LawController(LawKind::kPointToPoint) {}
};

class TrackingController : public LawController {
 public:
  TrackingController() : LawController(LawKind::kTracking) {}
};

class TrackingIntegralController : public LawController {
 public:
  TrackingIntegralController() : LawController(LawKind::kTrackingIntegral) {}
};

class GravityHoldController : public LawController {
 public:
  GravityHoldController() : LawController(LawKind::kGravityHold) {}
};

class HandGuidingController : public LawController {
 public:
  HandGuidingController() : LawController(LawKind::kHandGuiding) {}
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__CONTROLLERS_HPP_
