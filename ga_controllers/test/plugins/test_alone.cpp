// SPDX-License-Identifier: Apache-2.0

// A controller without a predecessor, for every law: lifecycle, parameters, state, bad inputs.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "counted_update.hpp"
#include "ga_controllers/control_law.hpp"
#include "operator.hpp"

namespace test {
namespace {

using rclcpp::Parameter;

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
    const Values start = arm.q();
    ASSERT_TRUE(bench.activate(arm));
    bench.cycles(arm, 2000);
    EXPECT_LT(arm.distance(start), 1e-4);
  }
}

TEST(Alone, AnArmThatWasNotDrivenDoesNotSag) {
  // Hardware may report NaN or zero for joints that are not driven.
  for (const double undriven : {std::nan(""), 0.0}) {
    Arm arm(puma());
    for (const auto& handle : arm.effort) std::ignore = handle->set_value(undriven);
    Bench bench(kLaw, puma());
    ASSERT_TRUE(bench.configure());
    const Values start = arm.q();
    ASSERT_TRUE(bench.activate(arm));
    for (int k = 0; k < 500; ++k) {
      bench.cycle(arm);
      ASSERT_LT(arm.distance(start), 1e-4);
    }
  }
}

TEST(Alone, ContinuesTheTorqueOfThePreviousController) {
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

/// The description of hardware with effort states; of the drives it keeps only the armature.
std::string with_effort_states(std::string urdf) {
  const auto chain = ga_dynamics::Chain::from_urdf_text(urdf);
  const std::size_t begin = urdf.find("<ros2_control");
  if (begin != std::string::npos) urdf.erase(begin, urdf.find("</robot>") - begin);
  std::string block =
      "<ros2_control name=\"arm\" type=\"system\"><hardware><plugin>arm</plugin></hardware>";
  for (const auto& joint : chain.joints()) {
    block += "<joint name=\"" + joint.name +
             "\"><command_interface name=\"effort\"/><state_interface name=\"effort\"/>" +
             "<param name=\"armature\">" + std::to_string(joint.drive.armature) +
             "</param></joint>";
  }
  return urdf.insert(urdf.find("</robot>"), block + "</ros2_control>");
}

TEST(Alone, ContinuesTheEffortStateIfTheCommandWasZeroed) {
  // The stock effort controllers zero their commands on deactivation, here with a payload.
  const std::string urdf = with_effort_states(puma());
  for (const bool driven : {true, false}) {
    Arm arm(urdf);
    arm.drive(Values(arm.size(), 0.0));
    const Values gravity = arm.torque();
    Values expected = gravity;
    for (std::size_t i = 0; i < arm.size(); ++i) {
      if (driven) expected[i] += 0.1 * arm.limit(i);
      std::ignore = arm.effort[i]->set_value(0.0);
    }
    arm.add_effort_state(driven ? expected : Values(arm.size(), 0.0));
    Bench bench(kLaw, urdf);
    ASSERT_TRUE(bench.configure());
    ASSERT_EQ(bench.controller->state_interface_configuration().names.size(), 3 * arm.size());
    ASSERT_TRUE(bench.activate(arm));
    ASSERT_TRUE(bench.update());
    for (std::size_t i = 0; i < arm.size(); ++i) {
      EXPECT_NEAR(arm.torque()[i], expected[i], 0.002 * arm.limit(i)) << driven << ", joint " << i;
    }
  }
}

/// An arm that the hardware drives with gravity's torque plus shares of the limits, while it keeps
/// that torque for the next controller: the commands are erased.
struct KeptTorque {
  explicit KeptTorque(const std::string& urdf) : arm(urdf) {
    arm.drive(Values(arm.size(), 0.0));
    gravity = arm.torque();
    arm.add_effort_state(gravity);
    erase(ga_controllers::kept_torque());
  }
  void erase(double command) {
    for (const auto& handle : arm.effort) std::ignore = handle->set_value(command);
  }
  void show(double share) {
    for (std::size_t i = 0; i < arm.size(); ++i) {
      std::ignore = arm.effort_state[i]->set_value(gravity[i] + share * arm.limit(i));
    }
  }
  void expect_torque(double share, double tolerance) const {
    for (std::size_t i = 0; i < arm.size(); ++i) {
      EXPECT_NEAR(arm.torque()[i], gravity[i] + share * arm.limit(i), tolerance * arm.limit(i))
          << "joint " << i;
    }
  }

  Arm arm;
  Values gravity;
};

TEST(Alone, ContinuesTheTorqueThatTheHardwareKeeps) {
  const std::string urdf = with_effort_states(puma());
  KeptTorque kept(urdf);
  kept.show(0.1);
  Bench bench(kLaw, urdf);
  ASSERT_TRUE(bench.configure());
  ASSERT_TRUE(bench.activate(kept.arm));
  ASSERT_TRUE(bench.update());
  kept.expect_torque(0.1, 0.002);
}

TEST(Alone, StartsAgainIfTheKeptTorqueChangesBeforeItsFirstCycle) {
  const std::string urdf = with_effort_states(puma());
  for (const bool commanded : {true, false}) {  // at the activation
    KeptTorque kept(urdf);
    kept.show(0.1);
    if (commanded) {
      for (std::size_t i = 0; i < kept.arm.size(); ++i) {
        std::ignore = kept.arm.effort[i]->set_value(kept.gravity[i] + 0.1 * kept.arm.limit(i));
      }
    }
    Bench bench(kLaw, urdf);
    ASSERT_TRUE(bench.configure());
    ASSERT_TRUE(bench.activate(kept.arm));
    kept.erase(ga_controllers::kept_torque());
    kept.show(-0.05);  // the hardware has held the arm meanwhile
    ASSERT_TRUE(bench.update());
    kept.expect_torque(-0.05, 0.002);
    kept.show(0.3);
    kept.erase(ga_controllers::kept_torque());
    ASSERT_TRUE(bench.update());
    kept.expect_torque(-0.05, 0.02);  // only in the first cycle
  }
}

TEST(Alone, OtherErasedCommandsAreNotADrivenArm) {
  const std::string urdf = with_effort_states(puma());
  KeptTorque kept(urdf);
  kept.erase(std::nan(""));
  for (const auto& handle : kept.arm.effort_state) std::ignore = handle->set_value(0.01);
  Bench bench(kLaw, urdf);
  ASSERT_TRUE(bench.configure());
  ASSERT_TRUE(bench.activate(kept.arm));
  ASSERT_TRUE(bench.update());
  kept.expect_torque(0, 0.02);
}

TEST(Alone, LeavesItsTorqueForTheNextController) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  ASSERT_TRUE(bench.activate(arm));
  bench.cycles(arm, 10);
  const Values torque = arm.torque();
  bench.deactivate();
  EXPECT_EQ(arm.torque(), torque);
  for (const auto& reference : bench.references) {
    EXPECT_TRUE(std::isnan(reference->get_optional().value())) << reference->get_name();
  }
}

TEST(Alone, NewGainsMakeNoStep) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  Operator user(bench);
  const Values rest = Motion(arm.chain, 0.2).q;
  arm.put(rest);
  ASSERT_TRUE(user.start(arm));
  Values far = rest;
  for (double& q : far) q += 0.3;
  user.send(message(arm.chain, far));
  bench.cycles(arm, 250);
  const auto node = bench.controller->get_node();
  ASSERT_TRUE(node->set_parameter(Parameter("gains.bandwidth", Values{60})).successful);
  EXPECT_LT(bench.cycles(arm, 1), 0.01);
  const double to = bench.cycles(arm, 300);
  user.send(message(arm.chain, rest));
  bench.cycles(arm, 250);
  // With the old Ki, the observer would be too fast for this update rate.
  const auto soft = node->set_parameters_atomically(
      {Parameter("gains.kp", Values{9, 8, 7, 6, 5, 4}), Parameter("gains.ki", Values{5})});
  ASSERT_TRUE(soft.successful) << soft.reason;
  EXPECT_LT(bench.cycles(arm, 1), 0.01);
  const double fro = bench.cycles(arm, 300);
  RecordProperty("step_bandwidth", std::to_string(to));
  RecordProperty("step_kp", std::to_string(fro));
  // Point to point damps the measured velocity: with twice the Kd a fast arm is braked hard.
  EXPECT_LT(to, kLaw == LawKind::kPointToPoint ? 0.05 : 0.01);
  EXPECT_LT(fro, kLaw == LawKind::kPointToPoint ? 0.025 : 0.01);
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

TEST(Alone, GainsThatAreUnstableAreRefused) {
  const Parameter slow("uncertainty.delay", 4), fast("gains.bandwidth", Values{200});
  Bench refused(kLaw, puma(), {slow, fast});
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(refused.configure());
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("unstable even with an exact model. Remedy: "), std::string::npos) << log;
  Bench bench(kLaw, puma(), {slow, Parameter("gains.bandwidth", Values{20})});
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(bench.configure());
  const std::string summary = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(summary.find("stability: stable for rho "), std::string::npos) << summary;
  EXPECT_NE(summary.find("closed-loop bandwidth "), std::string::npos) << summary;
  const auto node = bench.controller->get_node();
  const auto result = node->set_parameter(fast);
  EXPECT_FALSE(result.successful);
  EXPECT_NE(result.reason.find("stability check: these gains are unstable"), std::string::npos)
      << result.reason;
  EXPECT_EQ(node->get_parameter("gains.bandwidth").as_double_array(), Values{20}) << "they stay";
  EXPECT_TRUE(node->set_parameter(Parameter("gains.bandwidth", Values{22})).successful);
}

TEST(Alone, AnUncertaintyThatIsDeclaredIsEnforcedAndAnAssumedOneIsNot) {
  // An unknown payload of 2 kg is many times what the wrist moves without rotor inertias.
  EXPECT_TRUE(Bench(kLaw, seven_joints()).configure());
  const bool integrates = kLaw == LawKind::kTrackingIntegral || kLaw == LawKind::kGravityHold;
  if (!integrates) return;
  EXPECT_FALSE(Bench(kLaw, seven_joints(), {Parameter("uncertainty.payload", 2.0)}).configure());
  // Masses of this size are in the default uncertainty; declared, they are enforced too.
  const Parameter gains("gains.bandwidth", Values{150});
  EXPECT_TRUE(Bench(kLaw, puma(), {gains}).configure());
  EXPECT_FALSE(Bench(kLaw, puma(), {gains, Parameter("uncertainty.mass", 0.2)}).configure());
}

TEST(Alone, GainsAreFittedToAResonance) {
  const Parameter resonance("uncertainty.resonance", Values{40});
  const Parameter gains("gains.bandwidth", Values{40});
  EXPECT_FALSE(Bench(kLaw, puma(), {gains, resonance}).configure());
  EXPECT_TRUE(Bench(kLaw, puma(), {gains, resonance, Parameter("uncertainty.fit_gains", true)})
                  .configure());
  EXPECT_FALSE(Bench(kLaw, puma(), {Parameter("uncertainty.fit_gains", true)}).configure());
  const Parameter two("uncertainty.resonance", Values{40, 50});
  EXPECT_FALSE(Bench(kLaw, puma(), {two}).configure());
}

TEST(Alone, AnOscillationIsPublishedAndReported) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  Operator user(bench);
  ASSERT_TRUE(bench.configure());
  ASSERT_TRUE(bench.activate(arm));
  const double start = arm.q()[2];
  double t = 0;
  const auto swing = [&](int cycles) {
    for (int k = 0; k < cycles; ++k, t += kDt) {
      const double phase = 2 * M_PI * 5 * t;
      std::ignore = arm.position[2]->set_value(start + 2e-3 * std::sin(phase));
      std::ignore = arm.velocity[2]->set_value(2e-3 * 2 * M_PI * 5 * std::cos(phase));
      ASSERT_TRUE(bench.update());
    }
  };
  ::testing::internal::CaptureStderr();
  swing(2000);
  const bool received = user.wait([&] {
    swing(20);
    bench.spin_some();
    return !user.states.empty() && value(user.states.back(), 2, "monitor.oscillation") > 0;
  });
  // The notices are logged by a timer.
  for (int k = 0; k < 15; ++k) {
    swing(20);
    bench.spin_some();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(received);
  const StateMessage& state = user.states.back();
  EXPECT_NEAR(value(state, 2, "monitor.oscillation"), 4e-3, 2e-4);
  EXPECT_NEAR(value(state, 2, "monitor.frequency"), 5, 0.2);
  EXPECT_EQ(value(state, 1, "monitor.oscillation"), 0);
  for (const char* name :
       {"torque_oscillation", "chatter", "saturation", "model_error", "model_error_ratio"}) {
    EXPECT_TRUE(std::isfinite(value(state, 2, std::string("monitor.") + name))) << name;
  }
  const std::size_t first = log.find("joint 'joint3' oscillates at rest, by 4 mrad (mm) at 5 Hz");
  EXPECT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("oscillates at rest", first + 20), std::string::npos) << "once\n" << log;
}

TEST(Alone, AFailedInitializationNamesTheParameter) {
  const Parameter faulty[] = {
      Parameter("gains.bandwidth", Values{-1}), Parameter("gains.bandwidth", "fast"),
      Parameter("gains.damping", Values{}),     Parameter("gravity", Values{0, -9.81}),
      Parameter("torque_limit", Values{10, 0}), Parameter("friction", 2.0),
      Parameter("friction", Values{0.5}),       Parameter("error_cycles", 0),
      Parameter("blend_time", "slow")};
  for (const Parameter& parameter : faulty) {
    const auto controller = make_controller(kLaw);
    controller_interface::ControllerInterfaceParams params;
    params.controller_name = "controller";
    params.robot_description = puma();
    params.update_rate = params.controller_manager_update_rate = 1000;
    params.node_options = controller->define_custom_node_options();
    params.node_options.parameter_overrides({parameter});
    ::testing::internal::CaptureStderr();
    const auto result = controller->init(params);
    const std::string log = ::testing::internal::GetCapturedStderr();
    const std::string what = parameter.get_name() + ": " + parameter.value_to_string();
    EXPECT_EQ(result, controller_interface::return_type::ERROR) << what;
    const std::size_t message = log.find("cannot be initialized: ");
    ASSERT_NE(message, std::string::npos) << what << ": " << log;
    EXPECT_NE(log.find("'" + parameter.get_name() + "'", message), std::string::npos) << log;
  }
}

TEST(Alone, NewGainsAreUsed) {
  // The torque against a displacement within a cycle grows with Kd, which all laws have.
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
    std::ignore = arm.position[0]->set_value(arm.plant.q()[0] + 1e-4);
    EXPECT_TRUE(bench.update());
    return before[0] - arm.torque()[0];
  };
  const double ratio = answer(80) / answer(20);
  RecordProperty("ratio", std::to_string(ratio));
  EXPECT_GT(ratio, 1.3);
}

TEST(Alone, ANonFiniteStateIsToleratedThenAnError) {
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

TEST(Alone, IsNotActivatedWithoutAState) {
  Arm arm(puma());
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  std::ignore = arm.velocity[2]->set_value(std::nan(""));
  EXPECT_FALSE(bench.activate(arm));
  // Only the fallback may continue the torque of a failed controller.
  arm.drive(Values(6, 0.0));
  EXPECT_EQ(bench.activate(arm), kLaw == LawKind::kGravityHold);
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
  // Messages are lost until publisher and subscription are matched.
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
  EXPECT_NEAR(value(state, 0, "torque.gravity"), gravity[2], 2e-3) << "at the estimated position";
}

TEST(Alone, PerJointParametersFollowTheListOfJoints) {
  Arm arm(puma());
  const std::vector<std::string> order{"joint6", "joint5", "joint4", "joint3", "joint2", "joint1"};
  Bench listed(kLaw, puma(),
               {Parameter("joints", order), Parameter("gains.kd", Values{75, 70, 65, 60, 55, 50})});
  Bench plain(kLaw, puma(), {Parameter("gains.kd", Values{50, 55, 60, 65, 70, 75})}, "plain");
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

TEST(Alone, IsNotConfiguredWithInvalidParameters) {
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

TEST(Alone, TakesThePositionOfAMovingMountFromFreeze) {
  // Gravity is given in the root link's frame: the position of a hinge below the base matters.
  std::string hinged = scara();
  hinged.insert(hinged.find("<link name=\"base_link\"/>"),
                "<link name=\"world\"/><joint name=\"hinge\" type=\"continuous\"><parent "
                "link=\"world\"/><child link=\"base_link\"/><axis xyz=\"0 1 0\"/></joint>");
  const auto configured = [&](const std::vector<std::string>& freeze) {
    std::vector<Parameter> parameters{Parameter("base", "base_link")};
    if (!freeze.empty()) parameters.emplace_back("freeze", freeze);
    Bench bench(kLaw, hinged, parameters);
    return bench.configure();
  };
  EXPECT_FALSE(configured({}));
  EXPECT_FALSE(configured({"hinge=up"}));
  EXPECT_TRUE(configured({"hinge=0.5"}));
}

TEST(Alone, AllocatesNothing) {
  Arm arm(puma(), true);
  Bench bench(kLaw, puma(), {Parameter("state_publish_rate", 1000.0), Parameter("friction", 1.0)});
  Operator user(bench);
  ASSERT_TRUE(bench.configure() && user.connect() && bench.activate(arm));
  const auto node = bench.controller->get_node();
  long allocations = 0;
  std::chrono::duration<double, std::micro> spent{0};
  for (int k = 0; k < 10000; ++k) {
    if (k % 1000 == 500) {
      node->set_parameter(Parameter("gains.bandwidth", Values(k % 2000 < 1000 ? 6 : 1, 40.0)));
      const Motion goal(arm.chain, k * kDt);
      user.send(message(arm.chain, goal.q, goal.qd, goal.qdd));
    }
    if (k % 3000 == 7) {
      std::ignore = arm.position[1]->set_value(std::nan(""));
    } else {
      arm.write_states();
    }
    const auto start = std::chrono::steady_clock::now();
    const bool good = counted_update(bench, allocations);
    spent += std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(good);
    arm.step();
  }
  EXPECT_EQ(allocations, 0);
  RecordProperty("microseconds_per_update", std::to_string(spent.count() / 10000));
}

}  // namespace
}  // namespace test
