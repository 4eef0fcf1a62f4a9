// SPDX-License-Identifier: Apache-2.0

// Which messages are valid set-points and which are rejected.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "set_point.hpp"

namespace {

using ga_controllers::read_set_point;
using ga_controllers::SetPoint;
using ga_dynamics::Chain;
using trajectory_msgs::msg::JointTrajectory;

TEST(SetPoint, IsRefusedWithAReason) {
  const Chain chain = Chain::from_urdf_file(std::string(GA_ROBOTS) + "/scara.urdf");
  JointTrajectory good;
  good.joint_names = {"shoulder", "elbow", "quill", "wrist"};
  good.points.resize(1);
  good.points[0].positions = {0, 0, 0.1, 0};
  good.points[0].velocities = good.points[0].accelerations = {0.1, 0.1, 0.1, 0.1};
  const auto refusal = [&](const std::function<void(JointTrajectory&)>& spoil) {
    JointTrajectory bad = good;
    spoil(bad);
    SetPoint set_point(4);
    return read_set_point(bad, chain, set_point);
  };
  const auto names = [](const std::string& text, const std::string& what) {
    return text.find(what) != std::string::npos;
  };
  EXPECT_EQ(refusal([](JointTrajectory&) {}), "");
  std::vector<ga_dynamics::DhJoint> rows;
  for (const auto& joint : chain.joints())
    rows.push_back({joint.type, joint.dh, joint.body, joint.drive, joint.limits, joint.name});
  rows[0].limits.soft_upper = -0.1;
  SetPoint beyond(4);
  EXPECT_PRED2(names, read_set_point(good, Chain::from_dh(rows), beyond), "outside its limits")
      << "the soft ones count";
  EXPECT_EQ(refusal([](JointTrajectory& m) { m.points[0].velocities.clear(); }), "");
  EXPECT_PRED2(names, refusal([](JointTrajectory& m) { m.points.clear(); }), "points");
  EXPECT_PRED2(names, refusal([](JointTrajectory& m) { m.points.resize(2); }), "points");
  EXPECT_PRED2(names, refusal([](JointTrajectory& m) { m.joint_names[1] = "knee"; }), "'knee'");
  EXPECT_PRED2(names, refusal([](JointTrajectory& m) { m.joint_names[1] = "quill"; }), "twice");
  EXPECT_PRED2(names, refusal([](JointTrajectory& m) { m.joint_names.pop_back(); }), "joint names");
  EXPECT_PRED2(names, refusal([](JointTrajectory& m) { m.points[0].positions.pop_back(); }),
               "positions");
  EXPECT_PRED2(names, refusal([](JointTrajectory& m) { m.points[0].velocities.resize(3); }),
               "velocities");
  EXPECT_PRED2(names, refusal([](JointTrajectory& m) { m.points[0].accelerations.resize(5); }),
               "accelerations");
  EXPECT_PRED2(names, refusal([](JointTrajectory& m) { m.points[0].positions[2] = NAN; }),
               "'quill' is not finite");
  EXPECT_PRED2(names, refusal([](JointTrajectory& m) { m.points[0].velocities[3] = INFINITY; }),
               "'wrist' is not finite");
  EXPECT_PRED2(names, refusal([](JointTrajectory& m) { m.points[0].positions[2] = 0.3; }),
               "outside its limits");
  EXPECT_PRED2(names, refusal([](JointTrajectory& m) { m.points[0].velocities[0] = 7; }),
               "above its limit");
  EXPECT_PRED2(names, refusal([](JointTrajectory& m) { m.points[0].effort.resize(4); }), "effort");
  EXPECT_PRED2(names, refusal([](JointTrajectory& m) { m.points[0].time_from_start.sec = 1; }),
               "time_from_start");
}

TEST(SetPoint, IsMappedByName) {
  const Chain chain = Chain::from_urdf_file(std::string(GA_ROBOTS) + "/scara.urdf");
  JointTrajectory message;
  message.joint_names = {"quill", "wrist", "shoulder", "elbow"};
  message.points.resize(1);
  message.points[0].positions = {0.1, 4, 1, 2};
  message.points[0].velocities = {0.3, 0.4, 0.1, 0.2};
  SetPoint set_point(4);
  ASSERT_EQ(read_set_point(message, chain, set_point), "");
  EXPECT_EQ(set_point.q, (std::vector<double>{1, 2, 0.1, 4}));
  EXPECT_EQ(set_point.qd, (std::vector<double>{0.1, 0.2, 0.3, 0.4}));
  EXPECT_EQ(set_point.qdd, std::vector<double>(4, 0.0));
  EXPECT_FALSE(set_point.rests());
}

}  // namespace
