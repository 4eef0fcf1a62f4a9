// SPDX-License-Identifier: Apache-2.0
#ifndef PUMA_MODEL_HPP_
#define PUMA_MODEL_HPP_

// The PUMA 560 as MoveIt sees it, and the plugins of this package as MoveIt loads them.

#include <srdfdom/model.h>
#include <urdf_parser/urdf_parser.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <moveit/robot_model/robot_model.hpp>
#include <pluginlib/class_loader.hpp>
#include <rclcpp/rclcpp.hpp>
#include <string>

namespace ga_motion::test {

inline std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline const std::string kPumaSrdf = R"(<robot name="puma560">
  <group name="arm"><chain base_link="base_link" tip_link="tool0"/></group>
  <group name="flange"><chain base_link="base_link" tip_link="link6"/></group>
  <group name="shoulder"><joint name="joint1"/><joint name="joint2"/><joint name="joint3"/></group>
  <disable_collisions link1="base_link" link2="link1" reason="Adjacent"/>
  <disable_collisions link1="base_link" link2="link2" reason="Never"/>
  <disable_collisions link1="link1" link2="link2" reason="Adjacent"/>
  <disable_collisions link1="link1" link2="link3" reason="Never"/>
  <disable_collisions link1="link2" link2="link3" reason="Adjacent"/>
  <disable_collisions link1="link2" link2="link4" reason="Never"/>
  <disable_collisions link1="link3" link2="link4" reason="Adjacent"/>
  <disable_collisions link1="link3" link2="link5" reason="Never"/>
  <disable_collisions link1="link3" link2="link6" reason="Never"/>
  <disable_collisions link1="link4" link2="link5" reason="Adjacent"/>
  <disable_collisions link1="link4" link2="link6" reason="Never"/>
  <disable_collisions link1="link5" link2="link6" reason="Adjacent"/>
</robot>)";

inline moveit::core::RobotModelPtr model_of(const std::string& urdf_text,
                                            const std::string& srdf_text) {
  const auto urdf = ::urdf::parseURDF(urdf_text);
  const auto srdf = std::make_shared<srdf::Model>();
  if (!urdf || !srdf->initString(*urdf, srdf_text)) throw std::runtime_error("no model");
  return std::make_shared<moveit::core::RobotModel>(urdf, srdf);
}

inline moveit::core::RobotModelPtr puma_model() { return model_of(text_of(PUMA_URDF), kPumaSrdf); }

/// A node as move_group's: it has the description as a parameter.
inline rclcpp::Node::SharedPtr make_node(const std::string& urdf_text) {
  rclcpp::NodeOptions options;
  options.parameter_overrides({{"robot_description", urdf_text}});
  options.automatically_declare_parameters_from_overrides(true);
  return std::make_shared<rclcpp::Node>("test_moveit", options);
}

/// As MoveIt loads it.
template <class Base>
std::shared_ptr<Base> load(const std::string& base, const std::string& name) {
  // Never destroyed: it needs static objects of class_loader, which may be destroyed before it.
  static auto* const loader = new pluginlib::ClassLoader<Base>("moveit_core", base);
  return loader->createSharedInstance(name);
}

}  // namespace ga_motion::test

#endif  // PUMA_MODEL_HPP_
