// SPDX-License-Identifier: Apache-2.0

// Planner plugin that plans nothing: first in the list of a pipeline's planners, it refuses goals that
// no planner can reach, at once and with the reason in the response.

#include <exception>
#include <memory>
#include <moveit/planning_interface/planning_interface.hpp>
#include <moveit/planning_scene/planning_scene.hpp>
#include <pluginlib/class_list_macros.hpp>

#include "join.hpp"
#include "moveit/goal_state.hpp"

namespace ga_motion {

namespace {

using moveit::core::MoveItErrorCode;

constexpr const char* kName = "CheckGoal";

class GoalCheck final : public planning_interface::PlanningContext {
 public:
  explicit GoalCheck(const std::string& group) : PlanningContext(kName, group) {}

  void solve(planning_interface::MotionPlanResponse& res) override { res.error_code = verdict(); }
  void solve(planning_interface::MotionPlanDetailedResponse& res) override {
    res.error_code = verdict();
  }
  bool terminate() override { return true; }
  void clear() override {}

 private:
  MoveItErrorCode verdict() const {
    MoveItErrorCode code;
    try {
      code = goal_state(*planning_scene_, request_).code;
    } catch (const std::exception& error) {
      code = MoveItErrorCode(MoveItErrorCode::INVALID_GOAL_CONSTRAINTS,
                             join("the goal cannot be checked: ", error.what()));
    }
    code.source = kName;
    if (code == MoveItErrorCode::UNDEFINED) code.val = MoveItErrorCode::SUCCESS;
    if (!code) RCLCPP_ERROR(rclcpp::get_logger("ga_motion.check_goal"), "%s", code.message.c_str());
    return code;
  }
};

}  // namespace

class CheckGoal final : public planning_interface::PlannerManager {
 public:
  std::string getDescription() const override { return kName; }
  bool canServiceRequest(const planning_interface::MotionPlanRequest& /*req*/) const override {
    return true;
  }
  planning_interface::PlanningContextPtr getPlanningContext(
      const planning_scene::PlanningSceneConstPtr& planning_scene,
      const planning_interface::MotionPlanRequest& req,
      moveit_msgs::msg::MoveItErrorCodes& error_code) const override {
    const auto context = std::make_shared<GoalCheck>(req.group_name);
    context->setPlanningScene(planning_scene);
    context->setMotionPlanRequest(req);
    error_code.val = MoveItErrorCode::SUCCESS;
    return context;
  }
};

}  // namespace ga_motion

PLUGINLIB_EXPORT_CLASS(ga_motion::CheckGoal, planning_interface::PlannerManager)
