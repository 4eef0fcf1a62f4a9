// SPDX-License-Identifier: Apache-2.0

// A controller that no other one precedes: life, set-points of the topic, parameters, state, bad
// inputs.

#include <gtest/gtest.h>
#include <rcutils/logging.h>

#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <thread>

#include "bench.hpp"
#include "counting_allocator.hpp"

namespace test {
namespace {

using ga_controllers::Reference;
using rclcpp::Parameter;
using StateMessage = control_msgs::msg::DynamicJointState;
using trajectory_msgs::msg::JointTrajectory;

JointTrajectory message(const ga_dynamics::Chain& chain, const Values& q, const Values& qd = {},
                        const Values& qdd = {}) {
  JointTrajectory message;
  for (const auto& joint : chain.joints()) message.joint_names.push_back(joint.name);
  message.points.resize(1);
  message.points[0].positions = q;
  message.points[0].velocities = qd;
  message.points[0].accelerations = qdd;
  return message;
}

/// A node beside the controller's.
class Operator {
 public:
  explicit Operator(Bench& bench) : bench_(bench), node_(std::make_shared<rclcpp::Node>("user")) {
    const std::string name = bench.controller->get_node()->get_name();
    publisher_ = node_->create_publisher<JointTrajectory>("/" + name + "/reference", 10);
    subscription_ = node_->create_subscription<StateMessage>(
        "/" + name + "/controller_state", 10,
        [this](const StateMessage& received) { states.push_back(received); });
    executor_.add_node(node_);
  }
  /// Waits until `done`; false after ten seconds.
  bool wait(const std::function<bool()>& done) {
    for (int k = 0; k < 2000 && !done(); ++k) {
      bench_.spin_some();
      executor_.spin_some();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return done();
  }
  bool connect() {
    return wait([this] { return publisher_->get_subscription_count() > 0; });
  }
  /// Sends it and lets the controller's node take it in.
  void send(const JointTrajectory& what) {
    publisher_->publish(what);
    for (int k = 0; k < 20; ++k) {
      bench_.spin_some();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  std::vector<StateMessage> states;

 private:
  Bench& bench_;
  rclcpp::Node::SharedPtr node_;
  rclcpp::Publisher<JointTrajectory>::SharedPtr publisher_;
  rclcpp::Subscription<StateMessage>::SharedPtr subscription_;
  rclcpp::executors::SingleThreadedExecutor executor_;
};

double value(const StateMessage& state, std::size_t joint, const std::string& name) {
  const auto& values = state.interface_values.at(joint);
  for (std::size_t k = 0; k < values.interface_names.size(); ++k) {
    if (values.interface_names[k] == name) return values.values.at(k);
  }
  ADD_FAILURE() << "no value '" << name << "'";
  return std::nan("");
}

/// What the nodes have said.
std::string said;
void hear(const rcutils_log_location_t*, int, const char*, rcutils_time_point_value_t,
          const char* format, va_list* arguments) {
  char line[1000];
  va_list copy;
  va_copy(copy, *arguments);
  std::vsnprintf(line, sizeof(line), format, copy);
  va_end(copy);
  said += line;
}

const LawKind kLaw = law_under_test();
const bool kTakesReferences = kLaw != LawKind::kGravityHold;

TEST(Alone, ClaimsEffortAndReadsPositionAndVelocity) {
  Bench bench(kLaw, scara());
  ASSERT_TRUE(bench.configure());
  const std::vector<std::string> effort{"shoulder/effort", "elbow/effort", "quill/effort",
                                        "wrist/effort"};
  EXPECT_EQ(bench.controller->command_interface_configuration().names, effort);
  const auto states = bench.controller->state_interface_configuration().names;
  ASSERT_EQ(states.size(), 8u);
  EXPECT_EQ(states[2], "quill/position");
  EXPECT_EQ(states[6], "quill/velocity");
}

TEST(Alone, HoldsTheArmWhereItIsActivated) {
  for (const std::string& urdf : {puma(), scara(), seven_joints()}) {
    Arm arm(urdf);
    Bench bench(kLaw, urdf);
    ASSERT_TRUE(bench.configure());
    const Values start(arm.plant.q().begin(), arm.plant.q().end());
    ASSERT_TRUE(bench.activate(arm));
    bench.cycles(arm, 2000);
    EXPECT_LT(arm.distance(start), 1e-4);
  }
}

TEST(Alone, AnArmThatNothingDroveDoesNotSag) {
  // Hardware may show undriven torques as NaN or as zero.
  for (const double undriven : {std::nan(""), 0.0}) {
    Arm arm(puma());
    for (const auto& handle : arm.effort) std::ignore = handle->set_value(undriven);
    Bench bench(kLaw, puma());
    ASSERT_TRUE(bench.configure());
    const Values start(arm.plant.q().begin(), arm.plant.q().end());
    ASSERT_TRUE(bench.activate(arm));
    for (int k = 0; k < 500; ++k) {
      bench.cycle(arm);
      ASSERT_LT(arm.distance(start), 1e-4);
    }
  }
}

TEST(Alone, GoesOnFromTheTorqueOfTheControllerBefore) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  const Motion at(arm.chain, 0.4);
  arm.put(at.q, at.qd);
  arm.drive(at.qdd);
  ASSERT_TRUE(bench.activate(arm));
  EXPECT_LT(bench.cycle(arm), 1e-9);
  EXPECT_LT(bench.cycles(arm, 300), 0.01);
  bench.cycles(arm, 4000);
  EXPECT_LT(arm.speed(), 1e-3);
}

TEST(Alone, LeavesItsTorqueToTheNextController) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 10);
  const Values torque = arm.torque();
  bench.deactivate();
  EXPECT_EQ(arm.torque(), torque);
  for (const auto& reference : bench.references) {
    const bool position = reference->get_interface_name() == "position";
    const double left = reference->get_optional().value();
    EXPECT_TRUE(position ? std::isnan(left) : left == 0) << reference->get_name();
  }
}

TEST(Alone, FollowsSetPointsOfTheTopic) {
  Arm arm(scara());
  Bench bench(kLaw, scara());
  ASSERT_TRUE(bench.configure());
  Operator user(bench);
  if (!kTakesReferences) {
    EXPECT_EQ(bench.controller->get_node()->count_subscribers("/controller/reference"), 0u);
    return;
  }
  ASSERT_TRUE(user.connect());
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 10);
  JointTrajectory goal = message(arm.chain, {0.5, -0.4, 0.15, 1});
  std::swap(goal.joint_names[0], goal.joint_names[2]);
  std::swap(goal.points[0].positions[0], goal.points[0].positions[2]);
  user.send(goal);
  EXPECT_LT(bench.cycles(arm, 4000), 0.01);
  EXPECT_LT(arm.distance({0.5, -0.4, 0.15, 1}), 1e-3) << "a resting set-point cannot become stale";
  bench.deactivate();
  arm.put({0, 0, 0.1, 0}, Values(4, 0.0));
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 1000);
  EXPECT_LT(arm.distance({0, 0, 0.1, 0}), 1e-3) << "an old set-point was followed";
}

TEST(Alone, GoesOnBetweenMovingSetPointsAndStopsWhenTheyStop) {
  if (!kTakesReferences) GTEST_SKIP() << "this law takes no reference";
  Arm arm(scara());
  Bench bench(kLaw, scara());
  ASSERT_TRUE(bench.configure());
  Operator user(bench);
  ASSERT_TRUE(user.connect());
  arm.put({0, 0, 0.1, 0}, Values(4, 0.0));
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 10);
  double change = 0;
  for (int k = 0; k < 40; ++k) {  // 50 Hz
    const double t = 0.02 * k;
    user.send(message(arm.chain, {0.3 * t, -0.2 * t, 0.1, 0.5 * t}, {0.3, -0.2, 0, 0.5}));
    change = std::max(change, bench.cycles(arm, 20));
  }
  if (tracks(kLaw)) {
    EXPECT_NEAR(arm.plant.qd()[0], 0.3, 0.03);
  }
  change = std::max(change, bench.cycles(arm, 3000));
  EXPECT_LT(change, 0.01);
  EXPECT_LT(arm.speed(), 1e-3);
  // It runs on for reference_timeout and while its velocity fades.
  EXPECT_LT(arm.plant.q()[0], 0.3 * (0.8 + 0.1 + 0.2) + 0.01);
}

TEST(Alone, AFarSetPointIsApproachedWithinTheVelocityLimits) {
  if (!kTakesReferences) GTEST_SKIP() << "this law takes no reference";
  Arm arm(puma());
  Bench bench(kLaw, puma(), {Parameter("gains.bandwidth", Values{40})});
  ASSERT_TRUE(bench.configure());
  Operator user(bench);
  ASSERT_TRUE(user.connect());
  const Values start{-1, -1.9, 0.6, -1, -0.7, -1}, rest(6, 0.0);
  arm.put(start, rest);
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 10);
  Values far = start;
  for (std::size_t i = 0; i < 6; ++i) far[i] += i == 4 ? 1.4 : 2;
  user.send(message(arm.chain, far));
  double fastest = 0;
  for (int k = 0; k < 5000; ++k) {
    ASSERT_LT(bench.cycle(arm), 0.01);
    for (std::size_t i = 0; i < 6; ++i) {
      fastest =
          std::max(fastest, std::abs(arm.plant.qd()[i]) / arm.chain.joints()[i].limits.velocity);
    }
    if (k != 200) continue;
    // On the way the state tells the set-point as it was given, beside what is followed.
    ASSERT_TRUE(user.wait([&] {
      bench.cycles(arm, 1);
      return !user.states.empty() && value(user.states.back(), 1, "reference.position") == far[1];
    }));
    EXPECT_LT(value(user.states.back(), 1, "followed.position"), far[1] - 0.1);
  }
  EXPECT_LT(fastest, 1.03);
  EXPECT_GT(fastest, 0.8);
  EXPECT_LT(arm.distance(far), 1e-3);
}

TEST(Alone, ASetPointThatIsTooOldOrTooEarlyIsRefused) {
  if (!kTakesReferences) GTEST_SKIP() << "this law takes no reference";
  Arm arm(scara());
  Bench bench(kLaw, scara());
  ASSERT_TRUE(bench.configure());
  Operator user(bench);
  ASSERT_TRUE(user.connect());
  const Values start{0, 0, 0.1, 0};
  arm.put(start, Values(4, 0.0));
  said.clear();
  rcutils_logging_set_output_handler(hear);
  user.send(message(arm.chain, {0.5, 0, 0.1, 0}));
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 200);
  EXPECT_LT(arm.distance(start), 1e-4);
  EXPECT_NE(said.find("not active"), std::string::npos) << said;
  JointTrajectory old = message(arm.chain, {0.5, 0, 0.1, 0}, {0.1, 0, 0, 0});
  old.header.stamp = bench.controller->get_node()->now() - rclcpp::Duration::from_seconds(60);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // one refusal a second is said
  user.send(old);
  rcutils_logging_set_output_handler(rcutils_logging_console_output_handler);
  bench.cycles(arm, 200);
  EXPECT_LT(arm.distance(start), 1e-4);
  EXPECT_NE(said.find("header.stamp"), std::string::npos) << said;
  old.header.stamp = bench.controller->get_node()->now();
  user.send(old);
  bench.cycles(arm, 200);
  EXPECT_GT(arm.distance(start), 1e-3);
}

TEST(Alone, ARefusedSetPointMovesNothing) {
  if (!kTakesReferences) GTEST_SKIP() << "this law takes no reference";
  Arm arm(scara());
  Bench bench(kLaw, scara());
  ASSERT_TRUE(bench.configure());
  Operator user(bench);
  ASSERT_TRUE(user.connect());
  arm.put({0, 0, 0.1, 0}, Values(4, 0.0));
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 10);
  JointTrajectory bad = message(arm.chain, {0.5, 0.5, 0.15, 0.5});
  bad.joint_names[0] = "nobody";
  user.send(bad);
  user.send(message(arm.chain, {NAN, 0.5, 0.15, 0.5}));
  bench.cycles(arm, 500);
  EXPECT_LT(arm.distance({0, 0, 0.1, 0}), 1e-4);
  user.send(message(arm.chain, {0.1, 0, 0.1, 0}));
  bench.cycles(arm, 3000);
  EXPECT_LT(arm.distance({0.1, 0, 0.1, 0}), 1e-3);
}

TEST(Alone, NewGainsMakeNoStep) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  Operator user(bench);
  const Motion at(arm.chain, 0.2);
  if (kTakesReferences) {
    ASSERT_TRUE(user.connect());
  }
  arm.put(at.q, Values(6, 0.0));
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 10);
  const Values rest = at.q;
  Values far = rest;
  for (double& q : far) q += 0.3;
  if (kTakesReferences) user.send(message(arm.chain, far));
  bench.cycles(arm, 250);
  const auto node = bench.controller->get_node();
  ASSERT_TRUE(node->set_parameter(Parameter("gains.bandwidth", Values{60})).successful);
  // Point to point damps the arm's own velocity: with twice the Kd a fast arm is braked hard.
  const double allowed = kLaw == LawKind::kPointToPoint ? 0.05 : 0.01;
  EXPECT_LT(bench.cycles(arm, 1), 0.01);
  EXPECT_LT(bench.cycles(arm, 300), allowed);
  if (kTakesReferences) user.send(message(arm.chain, rest));
  bench.cycles(arm, 250);
  ASSERT_TRUE(node->set_parameter(Parameter("gains.kp", Values{9, 8, 7, 6, 5, 4})).successful);
  EXPECT_LT(bench.cycles(arm, 1), 0.01);
  EXPECT_LT(bench.cycles(arm, 300), allowed);
  const auto refused = [&](const Parameter& parameter, const std::string& reason) {
    const auto result = node->set_parameter(parameter);
    EXPECT_FALSE(result.successful) << parameter.get_name();
    EXPECT_NE(result.reason.find(reason), std::string::npos) << result.reason;
  };
  refused(Parameter("gains.bandwidth", Values{60, 50}), "one per joint");
  refused(Parameter("gains.bandwidth", Values{}), "");
  refused(Parameter("gains.kd", Values{NAN}), "not finite");
  refused(Parameter("gains.bandwidth", Values{-1}), "");
  refused(Parameter("gains.bandwidth", Values{1e6}), "");
  refused(Parameter("blend_time", 1.0), "");
  EXPECT_LT(bench.cycle(arm), 0.01);
}

TEST(Alone, NewGainsAreUsed) {
  // The torque that answers a small push grows with Kd, which all laws have.
  const auto answer = [](double kd) {
    Arm arm(puma());
    Bench bench(kLaw, puma());
    EXPECT_TRUE(bench.configure());
    EXPECT_TRUE(bench.activate(arm));
    bench.cycles(arm, 5);
    EXPECT_TRUE(
        bench.controller->get_node()->set_parameter(Parameter("gains.kd", Values{kd})).successful);
    bench.cycles(arm, 1500);
    const Values before = arm.torque();
    for (const auto& velocity : arm.velocity) std::ignore = velocity->set_value(0.01);
    EXPECT_TRUE(bench.update());
    return before[0] - arm.torque()[0];
  };
  EXPECT_NEAR(answer(80) / answer(20), 4, 0.1);
}

TEST(Alone, AStateThatIsNotFiniteIsBridgedThenAnError) {
  Arm arm(puma());
  Bench bench(kLaw, puma(), {Parameter("error_cycles", 5)});
  ASSERT_TRUE(bench.configure());
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 500);
  Values gravity(6);
  ga_dynamics::Dynamics(arm.chain).gravity(arm.plant.q(), gravity);
  std::ignore = arm.position[3]->set_value(std::nan(""));
  for (int k = 0; k < 5; ++k) {
    EXPECT_EQ(bench.update(), k < 4);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(arm.torque()[i], gravity[i], 1e-3);
  }
  arm.write_states();
  EXPECT_TRUE(bench.update()) << "good again";
}

TEST(Alone, IsNotActivatedBlindly) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  std::ignore = arm.velocity[2]->set_value(std::nan(""));
  EXPECT_FALSE(bench.activate(arm));
  // The fallback keeps the torque of the one that failed, for a few cycles.
  arm.drive(Values(6, 0.0));
  EXPECT_EQ(bench.activate(arm), kLaw == LawKind::kGravityHold);
  if (kLaw != LawKind::kGravityHold) GTEST_SKIP() << "of the gravity hold alone";
  const Values before = arm.torque();
  for (int k = 0; k < 10; ++k) {
    EXPECT_EQ(bench.update(), k < 9);
    EXPECT_EQ(arm.torque(), before);
  }
}

TEST(Alone, TorquesStayWithinTheLimitsOfDescriptionAndParameters) {
  if (!kTakesReferences) GTEST_SKIP() << "this law takes no reference";
  const std::string urdf = scara();
  Arm arm(urdf);
  Bench bench(kLaw, urdf,
              {Parameter("torque_limit", Values{1000, 2, 1000, 0.5}),
               Parameter("torque_rate_limit", Values{200, 100, 2000, 10}),
               Parameter("gains.bandwidth", Values{80}), Parameter("blend_time", 0.01)});
  ASSERT_TRUE(bench.configure());
  Operator user(bench);
  ASSERT_TRUE(user.connect());
  arm.put({-1, 0, 0.1, 0}, Values(4, 0.0));
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 10);
  user.send(message(arm.chain, {1.5, 1, 0.18, 2}));
  const Values limit{120, 2, 300, 0.5}, rate{200, 100, 2000, 10};
  Values before = arm.torque();
  bool cut = false;
  for (int k = 0; k < 1000; ++k) {
    bench.cycle(arm);
    const Values torque = arm.torque();
    for (std::size_t i = 0; i < 4; ++i) {
      ASSERT_LE(std::abs(torque[i]), limit[i]);
      ASSERT_LE(std::abs(torque[i] - before[i]), rate[i] * kDt + 1e-9);
      cut = cut || std::abs(torque[i]) == limit[i];
    }
    before = torque;
  }
  EXPECT_TRUE(cut);
}

TEST(Alone, PublishesReferenceErrorAndTorqueTerms) {
  Arm arm(puma(), true);
  const std::vector<std::string> order{"joint3", "joint2", "joint1", "joint4", "joint5", "joint6"};
  Bench bench(kLaw, puma(), {Parameter("joints", order), Parameter("friction", 0.5)});
  ASSERT_TRUE(bench.configure());
  Operator user(bench);
  const Motion at(arm.chain, 0.2);
  arm.put(at.q, at.qd);
  ASSERT_TRUE(bench.activate(arm));
  // Until the two have found each other the messages are lost.
  ASSERT_TRUE(user.wait([&] {
    bench.cycles(arm, 10);
    return user.states.size() > 3;
  }));
  const StateMessage& state = user.states.back();
  EXPECT_EQ(state.joint_names, order);
  EXPECT_GT(rclcpp::Time(state.header.stamp).nanoseconds(), 0);
  for (std::size_t k = 0; k < 6; ++k) {
    double sum = 0;
    for (const char* term :
         {"inertia", "coriolis", "gravity", "friction", "feedback", "blend", "limit"}) {
      sum += value(state, k, std::string("torque.") + term);
    }
    EXPECT_NEAR(sum, value(state, k, "torque.total"), 1e-9);
    EXPECT_NEAR(value(state, k, "error.position"),
                value(state, k, "reference.position") - value(state, k, "position"), 1e-12);
    EXPECT_NEAR(value(state, k, "error.velocity"),
                value(state, k, "reference.velocity") - value(state, k, "velocity"), 1e-12);
    EXPECT_TRUE(std::isfinite(value(state, k, "followed.position")));
  }
  Values gravity(6), q;
  for (const std::size_t k : {2u, 1u, 0u, 3u, 4u, 5u}) q.push_back(value(state, k, "position"));
  ga_dynamics::Dynamics(arm.chain).gravity(q, gravity);
  EXPECT_NEAR(value(state, 0, "torque.gravity"), gravity[2], 1e-9);
}

TEST(Alone, PerJointParametersFollowTheListOfJoints) {
  Arm arm(puma());
  const std::vector<std::string> order{"joint6", "joint5", "joint4", "joint3", "joint2", "joint1"};
  Bench listed(kLaw, puma(),
               {Parameter("joints", order), Parameter("gains.kd", Values{6, 5, 4, 3, 2, 1})});
  Bench plain(kLaw, puma(), {Parameter("gains.kd", Values{1, 2, 3, 4, 5, 6})}, "plain");
  Values torque[2];
  for (Bench* bench : {&listed, &plain}) {
    ASSERT_TRUE(bench->configure());
    const Motion at(arm.chain, 0.2);
    arm.put(at.q, at.qd);
    ASSERT_TRUE(bench->activate(arm));
    ASSERT_TRUE(bench->update());
    torque[bench == &plain] = arm.torque();
    bench->deactivate();
    for (const auto& handle : arm.effort) std::ignore = handle->set_value(std::nan(""));
  }
  for (std::size_t i = 0; i < 6; ++i) EXPECT_DOUBLE_EQ(torque[0][i], torque[1][i]);
}

TEST(Alone, IsNotConfiguredWithWhatCannotWork) {
  const auto refused = [](const std::string& urdf, const std::vector<Parameter>& parameters) {
    Bench bench(kLaw, urdf, parameters);
    return !bench.configure();
  };
  std::string no_limit = scara();
  const std::string effort = " effort=\"120\"";
  no_limit.replace(no_limit.find(effort), effort.size(), "");
  const std::vector<std::string> three{"shoulder", "elbow", "quill"},
      other{"shoulder", "elbow", "quill", "knee"};
  EXPECT_FALSE(refused(scara(), {}));
  EXPECT_TRUE(refused("", {}));
  EXPECT_TRUE(refused("<robot name=\"broken\">", {}));
  EXPECT_TRUE(refused(no_limit, {}));
  EXPECT_TRUE(refused(scara(), {Parameter("tip", "nowhere")}));
  EXPECT_TRUE(refused(scara(), {Parameter("joints", three)}));
  EXPECT_TRUE(refused(scara(), {Parameter("joints", other)}));
  EXPECT_TRUE(refused(scara(), {Parameter("gains.kp", Values{1, 2})}));
  EXPECT_TRUE(refused(scara(), {Parameter("torque_limit", Values{1, 2, 3})}));
  EXPECT_FALSE(refused(scara(), {Parameter("tip", "quill_link"), Parameter("joints", three)}));
}

TEST(Alone, AllocatesNothing) {
  Arm arm(puma(), true);
  Bench bench(kLaw, puma(), {Parameter("state_publish_rate", 1000.0), Parameter("friction", 1.0)});
  ASSERT_TRUE(bench.configure());
  Operator user(bench);
  ASSERT_TRUE(bench.activate(arm));
  if (kTakesReferences) {
    ASSERT_TRUE(user.connect());
  }
  const auto node = bench.controller->get_node();
  const rclcpp::Duration dt = rclcpp::Duration::from_seconds(kDt);
  long allocations = 0;
  std::chrono::duration<double, std::micro> spent{0};
  for (int k = 0; k < 10000; ++k) {
    if (k % 1000 == 500) {
      node->set_parameter(Parameter("gains.bandwidth", Values(k % 2000 < 1000 ? 6 : 1, 40.0)));
      const Motion goal(arm.chain, k * kDt);
      if (kTakesReferences) user.send(message(arm.chain, goal.q, goal.qd, goal.qdd));
    }
    if (k % 3000 == 7) {
      std::ignore = arm.position[1]->set_value(std::nan(""));
    } else {
      arm.write_states();
    }
    bench.now = bench.now + dt;
    const long before = allocations_of_this_thread();
    const auto start = std::chrono::steady_clock::now();
    const auto result = bench.controller->update(bench.now, dt);
    spent += std::chrono::steady_clock::now() - start;
    allocations += allocations_of_this_thread() - before;
    ASSERT_EQ(result, controller_interface::return_type::OK);
    arm.step();
  }
  EXPECT_EQ(allocations, 0);
  RecordProperty("microseconds_per_update", std::to_string(spent.count() / 10000));
}

}  // namespace
}  // namespace test
