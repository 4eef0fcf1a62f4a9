// SPDX-License-Identifier: Apache-2.0
#include "moveit/motor_torques.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <moveit/robot_model/robot_model.hpp>
#include <moveit/robot_state/robot_state.hpp>
#include <set>

#include "join.hpp"
#include "moveit/arm_of_model.hpp"

namespace ga_motion {

namespace {

using moveit::core::MoveItErrorCode;

struct Range {
  double lowest, highest;
};

/// A parameter with its default; read from the node each time, so that it may be changed meanwhile.
template <class Value>
struct Parameter {
  const char* name;
  Value fallback;
  const char* description;
};

const Parameter<double> kMass{"payload.mass", 0.0, "payload at the tip link, kg"};
const Parameter<std::vector<double>> kCom{
    "payload.com",
    {},
    "center of mass of the payload in the tip link's frame, m: x, y, z; or none"};
const Parameter<std::vector<double>> kInertia{
    "payload.inertia",
    {},
    "inertia of the payload about its center of mass, kg m²: ixx, ixy, ixz, iyy, iyz, izz; or none"};
const Parameter<std::string> kTip{"tip", "",
                                  "tip link of the arm; empty: that of the planning group"};
const Parameter<double> kReserve{"torque_reserve", 0.1,
                                 "share of the torque limits that is kept for feedback"};
const Parameter<double> kRamp{"torque_ramp", 0.02,
                              "least time from no torque to the limit, s; 0: torques may jump"};
const Parameter<double> kPeriod{"sample_period", 0.005, "time between trajectory points, s"};
const Parameter<double> kPathTolerance{
    "path_tolerance", 0.1,
    "distance of rounded corners from the planned path, rad or m per joint; less where that would "
    "collide; 0: a spline through all way-points"};
const Parameter<double> kRepeatTolerance{
    "repeat_tolerance", 0.001,
    "way-points that repeat the one before to this, rad or m, are left out"};
const Parameter<bool> kAccelerations{"use_acceleration_limits", false,
                                     "keep the acceleration limits of the robot model as well"};
const Parameter<int> kIntervals{"intervals", 500, "grid intervals along the path"};
const Parameter<double> kCheckTolerance{
    "check_tolerance", kTorqueTolerance,
    "excess of a torque over its limit that passes, as a share"};
const Parameter<bool> kWarnOnly{"warn_only", false,
                                "warn of torques over the limits, but let them pass"};

template <class Value>
void declare(rclcpp::Node& node, const std::string& prefix, const Parameter<Value>& parameter) {
  const std::string name = prefix + parameter.name;
  if (node.has_parameter(name)) return;
  rcl_interfaces::msg::ParameterDescriptor descriptor;
  descriptor.description = parameter.description;
  node.declare_parameter(name, parameter.fallback, descriptor);
}

template <class Value>
Value read(const rclcpp::Node& node, const std::string& prefix, const Parameter<Value>& parameter) {
  const std::string name = prefix + parameter.name;
  try {
    return static_cast<Value>(node.get_parameter(name).get_value<Value>());
  } catch (const rclcpp::exceptions::InvalidParameterTypeException& error) {
    // An empty list in a file has no type.
    if (node.get_parameter(name).get_type() == rclcpp::ParameterType::PARAMETER_NOT_SET)
      return parameter.fallback;
    throw SettingError(join("parameter ", error.what()));
  }
}

double read(const rclcpp::Node& node, const std::string& prefix, const Parameter<double>& parameter,
            const Range& range) {
  rclcpp::Parameter given;
  const bool integer = node.get_parameter(prefix + parameter.name, given) &&
                       given.get_type() == rclcpp::ParameterType::PARAMETER_INTEGER;
  const double value =
      integer ? static_cast<double>(given.as_int()) : read(node, prefix, parameter);
  if (value >= range.lowest && value <= range.highest) return value;
  throw SettingError(join("parameter ", prefix, parameter.name, " is ", value, "; give ",
                          range.lowest, " to ", range.highest));
}

using moveit::core::JointModelGroup;

std::size_t shared_joints(const JointModelGroup& of, const JointModelGroup& with) {
  const auto& joints = with.getActiveJointModels();
  return static_cast<std::size_t>(std::count_if(
      joints.begin(), joints.end(),
      [&](const moveit::core::JointModel* joint) { return of.hasJointModel(joint->getName()); }));
}

bool is_chain(const JointModelGroup& group) {
  return group.isChain() && group.isSingleDOFJoints() && !group.getActiveJointModels().empty();
}

/// Is the chain at the end of one with more joints, which moves it?
bool is_carried(const JointModelGroup& chain) {
  const auto* const root = chain.getActiveJointModels().front()->getParentLinkModel();
  const auto& groups = chain.getParentModel().getJointModelGroups();
  return root != nullptr && std::any_of(groups.begin(), groups.end(), [&](const auto* other) {
           return is_chain(*other) &&
                  other->getActiveJointModels().size() > chain.getActiveJointModels().size() &&
                  other->isLinkUpdated(root->getName()) && shared_joints(*other, chain) == 0;
         });
}

bool is_arm(const JointModelGroup& group) {
  return is_chain(group) && !group.isEndEffector() && !is_carried(group);
}

/// The arm with the most joints of the group; among those, the one with the most joints, preferably
/// the group itself. Null if none has any.
const JointModelGroup* arm_group_of(const JointModelGroup& group) {
  const JointModelGroup* best = nullptr;
  std::size_t most = 0, longest = 0;
  for (const JointModelGroup* candidate : group.getParentModel().getJointModelGroups()) {
    if (!is_arm(*candidate)) continue;
    const std::size_t shared = shared_joints(*candidate, group);
    const std::size_t length = candidate->getActiveJointModels().size();
    if (shared == 0 || shared < most || (shared == most && length < longest)) continue;
    if (shared == most && length == longest && candidate != &group) continue;
    best = candidate, most = shared, longest = length;
  }
  return best;
}

/// The moving joints that are not between the root and the tip, where they are in the state.
std::map<std::string, double> loads_of(const moveit::core::RobotState& state,
                                       const moveit::core::LinkModel* tip) {
  std::set<const moveit::core::JointModel*> chain;
  for (const auto* link = tip; link != nullptr; link = link->getParentLinkModel())
    chain.insert(link->getParentJointModel());
  std::map<std::string, double> loads;
  for (const moveit::core::JointModel* joint : state.getRobotModel()->getJointModels()) {
    if (joint->getVariableCount() != 1 || chain.count(joint) > 0) continue;
    const double position = state.getVariablePosition(joint->getName());
    loads[joint->getName()] = std::isfinite(position) ? position : 0;
  }
  return loads;
}

/// Arguments refused as "function: message": without the function.
std::string without_function(const std::string& what) {
  const std::size_t colon = what.find(": ");
  return colon == std::string::npos || what.find(' ') < colon ? what : what.substr(colon + 2);
}

}  // namespace

bool ArmColumns::any() const {
  return std::find(in_group.begin(), in_group.end(), true) != in_group.end();
}

rclcpp::Logger TorqueAdapter::logger() const {
  return node_->get_logger().get_child(getDescription());
}

void TorqueAdapter::initialize(const rclcpp::Node::SharedPtr& node,
                               const std::string& parameter_namespace) {
  node_ = node;
  prefix_ = (parameter_namespace.empty() ? "" : parameter_namespace + ".") + "torque_limits.";
  for (const auto& parameter :
       {kMass, kReserve, kRamp, kPeriod, kPathTolerance, kRepeatTolerance, kCheckTolerance}) {
    declare(*node_, prefix_, parameter);
  }
  for (const auto& parameter : {kCom, kInertia}) declare(*node_, prefix_, parameter);
  for (const auto& parameter : {kAccelerations, kWarnOnly}) declare(*node_, prefix_, parameter);
  declare(*node_, prefix_, kTip);
  declare(*node_, prefix_, kIntervals);
}

TorqueSettings TorqueAdapter::settings() const {
  TorqueSettings s;
  const auto number = [&](const Parameter<double>& parameter, double lowest, double highest) {
    return read(*node_, prefix_, parameter, {lowest, highest});
  };
  try {
    s.payload =
        ga_dynamics::make_payload(number(kMass, 0, ga_dynamics::kLargestPayload),
                                  read(*node_, prefix_, kCom), read(*node_, prefix_, kInertia));
  } catch (const std::invalid_argument& error) {
    throw SettingError(join("parameter ", prefix_, "payload: ", error.what()));
  }
  s.tip = read(*node_, prefix_, kTip);
  s.torque_reserve = number(kReserve, 0, 0.95);
  s.torque_ramp = number(kRamp, 0, 10);
  s.sample_period = number(kPeriod, 1e-4, 1);
  s.path_tolerance = number(kPathTolerance, 0, 10);
  s.repeat_tolerance = number(kRepeatTolerance, 0, 1);
  s.check_tolerance = number(kCheckTolerance, 0, 10);
  s.use_acceleration_limits = read(*node_, prefix_, kAccelerations);
  s.warn_only = read(*node_, prefix_, kWarnOnly);
  s.intervals = read(*node_, prefix_, kIntervals);
  if (s.intervals < 10 || s.intervals > 100000)
    throw SettingError(
        join("parameter ", prefix_, kIntervals.name, " is ", s.intervals, "; give 10 to 100000"));
  return s;
}

std::optional<ga_dynamics::Chain> TorqueAdapter::arm_of(
    const robot_trajectory::RobotTrajectory& trajectory, const TorqueSettings& settings) const {
  const moveit::core::RobotModel& model = *trajectory.getRobotModel();
  ga_dynamics::ChainOptions options{.tip = settings.tip,
                                    .spelling = ga_dynamics::OptionSpelling::kParameters};
  const auto& groups = model.getJointModelGroups();
  if (settings.tip.empty() && trajectory.getGroup() != nullptr &&
      std::any_of(groups.begin(), groups.end(), [](const auto* group) { return is_arm(*group); })) {
    const JointModelGroup* const arm = arm_group_of(*trajectory.getGroup());
    if (arm == nullptr) return std::nullopt;
    const moveit::core::LinkModel* const tip = arm->getLinkModels().back();
    options.tip = tip->getName();
    options.freeze = loads_of(trajectory.getFirstWayPoint(), tip);
    options.freeze_off_chain = true;
  }
  std::string text;
  if (!node_->get_parameter("robot_description", text) || text.empty()) {
    RCLCPP_WARN_ONCE(logger(),
                     "no parameter robot_description: rotor inertia is left out, and friction that "
                     "<dynamics> does not have");
  }
  return ga_dynamics::Chain::from_model(description_of(model, text), options)
      .with_payload(settings.payload);
}

void TorqueAdapter::adapt(const planning_scene::PlanningSceneConstPtr& planning_scene,
                          const planning_interface::MotionPlanRequest& req,
                          planning_interface::MotionPlanResponse& res) const {
  const auto fail = [&](int code, const std::string& message) {
    res.error_code = MoveItErrorCode(code, message, getDescription());
    RCLCPP_ERROR(logger(), "%s", message.c_str());
  };
  if (!res.trajectory || res.trajectory->empty())
    return fail(MoveItErrorCode::INVALID_MOTION_PLAN, "the planner gave no path");
  try {
    const TorqueSettings read = settings();
    if (const auto arm = arm_of(*res.trajectory, read)) {
      work(*planning_scene, req, res, read, *arm);
    } else {
      work_without_arm(req, res);
    }
  } catch (const TimingError& error) {
    fail(MoveItErrorCode::INVALID_MOTION_PLAN, error.what());
  } catch (const std::invalid_argument& error) {
    fail(MoveItErrorCode::INVALID_MOTION_PLAN, without_function(error.what()));
  } catch (const std::exception& error) {
    fail(MoveItErrorCode::FAILURE, error.what());
  }
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<std::string> joints_of(const robot_trajectory::RobotTrajectory& trajectory) {
  const auto* const group = trajectory.getGroup();
  std::vector<std::string> names;
  for (const auto* joint :
       group ? group->getActiveJointModels() : trajectory.getRobotModel()->getActiveJointModels())
    names.push_back(joint->getName());
  return names;
}

ArmColumns columns_of(const robot_trajectory::RobotTrajectory& trajectory,
                      const ga_dynamics::Chain& arm) {
  const moveit::core::RobotModel& model = *trajectory.getRobotModel();
  const std::vector<std::string> active = joints_of(trajectory);
  ArmColumns columns;
  for (const ga_dynamics::ChainJoint& joint : arm.joints()) {
    columns.variables.push_back(static_cast<int>(model.getVariableIndex(joint.name)));
    columns.in_group.push_back(std::find(active.begin(), active.end(), joint.name) != active.end());
  }
  for (const std::string& name : active) {
    const auto same = [&](const auto& of_arm) { return of_arm.name == name; };
    if (std::none_of(arm.joints().begin(), arm.joints().end(), same))
      columns.others.push_back(name);
  }
  return columns;
}

std::vector<std::vector<double>> positions_of(const robot_trajectory::RobotTrajectory& trajectory,
                                              const ArmColumns& columns) {
  std::vector<std::vector<double>> points(trajectory.getWayPointCount());
  for (std::size_t k = 0; k < points.size(); ++k) {
    for (const int variable : columns.variables)
      points[k].push_back(trajectory.getWayPoint(k).getVariablePosition(variable));
  }
  return points;
}

TimingLimits torque_limits_of(const ga_dynamics::Chain& arm) {
  TimingLimits limits = limits_of(arm);
  for (std::size_t i = 0; i < limits.torque.size(); ++i) {
    if (limits.torque[i] > 0 && std::isfinite(limits.torque[i])) continue;
    throw SettingError(join("joint '", arm.joints()[i].name,
                            "' has no effort limit; give its <limit> in the description one above "
                            "zero"));
  }
  return limits;
}

}  // namespace ga_motion
