// SPDX-License-Identifier: Apache-2.0
#include "robots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <rclcpp/rclcpp.hpp>
#include <sstream>

namespace test {

bool tracks(LawKind kind) {
  return kind == LawKind::kTracking || kind == LawKind::kTrackingIntegral;
}

std::string name_of(LawKind kind) {
  switch (kind) {
    case LawKind::kPointToPoint:
      return "PointToPointController";
    case LawKind::kTracking:
      return "TrackingController";
    case LawKind::kTrackingIntegral:
      return "TrackingIntegralController";
    case LawKind::kHandGuiding:
      return "HandGuidingController";
    case LawKind::kGravityHold:
    case LawKind::kGravityCompensation:  // has no controller of its own
      break;
  }
  return "GravityHoldController";
}

namespace {
std::string read_file(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}
}  // namespace

std::string puma() { return read_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf"); }
std::string scara() { return read_file(std::string(GA_ROBOTS) + "/scara.urdf"); }
std::string seven_joints() { return read_file(std::string(GA_ROBOTS) + "/seven_joints.urdf"); }

Motion::Motion(const ga_dynamics::Chain& chain, double t) {
  for (std::size_t i = 0; i < chain.joints().size(); ++i) {
    const auto& limits = chain.joints()[i].limits;
    const bool limited = std::isfinite(limits.upper - limits.lower);
    const double middle = limited ? (limits.lower + limits.upper) / 2 : 0;
    const double a = limited ? std::min(0.3, 0.2 * (limits.upper - limits.lower)) : 0.3;
    const double w = 1 + 0.2 * static_cast<double>(i), phase = w * t + static_cast<double>(i);
    q.push_back(middle + a * std::sin(phase));
    qd.push_back(a * w * std::cos(phase));
    qdd.push_back(-a * w * w * std::sin(phase));
  }
}

trajectory_msgs::msg::JointTrajectory message(const ga_dynamics::Chain& chain, const Values& q,
                                              const Values& qd, const Values& qdd) {
  trajectory_msgs::msg::JointTrajectory message;
  for (const auto& joint : chain.joints()) message.joint_names.push_back(joint.name);
  message.points.resize(1);
  message.points[0].positions = q;
  message.points[0].velocities = qd;
  message.points[0].accelerations = qdd;
  return message;
}

}  // namespace test

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  rclcpp::init(argc, argv);
  const int result = RUN_ALL_TESTS();
  rclcpp::shutdown();
  return result;
}
