// SPDX-License-Identifier: Apache-2.0
#ifndef SAFETY_FIXTURE_HPP_
#define SAFETY_FIXTURE_HPP_

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_hardware/safety_machine.hpp"

namespace ga_hardware {

constexpr double kPeriod = 1e-3;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// An arm for the tests.
struct Arm {
  std::vector<SafetyJoint> joints;
  std::vector<std::string> names;
  SafetySettings safety = {};
  bool brakes_wired = true;

  SafetyMachine machine() const { return {joints, safety, brakes_wired, kPeriod}; }
  std::string describe(const FaultRecord& record) const {
    const auto joint = static_cast<std::size_t>(record.joint);
    return ga_hardware::describe(record, joint < names.size() ? names[joint] : "");
  }
};

inline Arm puma() {
  Arm arm;
  const auto chain = ga_dynamics::Chain::from_urdf_file(PUMA_URDF);
  for (const auto& joint : chain.joints()) {
    const auto& limits = joint.limits;
    arm.joints.push_back({limits.lower, limits.upper, limits.velocity, limits.effort});
    arm.names.push_back(joint.name);
  }
  return arm;
}

/// An arm in the middle of its range that moves slowly at 10 % of its torque.
inline SafetyInputs healthy(const Arm& s) {
  SafetyInputs in;
  in.period = kPeriod;
  for (std::size_t i = 0; i < s.joints.size(); ++i) {
    in.q[i] = 0.5 * (s.joints[i].lower + s.joints[i].upper);
    in.qd[i] = in.count_speed[i] = 0.1 * s.joints[i].max_speed;
    in.torque_command[i] = 0.1 * s.joints[i].max_torque;
    in.hold_torque[i] = 0.05 * s.joints[i].max_torque;
    in.pot_fresh[i] = true;
  }
  return in;
}

inline bool zero(const SafetyOutputs& out) {
  for (const double torque : out.torque) {
    if (torque != 0) return false;
  }
  return true;
}

class SafetyTest : public ::testing::Test {
 protected:
  Arm settings_ = puma();
  SafetyMachine machine_ = settings_.machine();
  SafetyInputs in_ = healthy(settings_);

  void activate() {
    ASSERT_TRUE(machine_.open());
    ASSERT_TRUE(machine_.calibrated());
    ASSERT_TRUE(machine_.activate());
    run(5);
    ASSERT_EQ(machine_.state(), SafetyState::kActive);
  }
  SafetyOutputs run(int cycles) {
    SafetyOutputs out;
    for (int k = 0; k < cycles; ++k) out = machine_.update(in_);
    return out;
  }
  void expect_passed(const SafetyOutputs& out) const {
    EXPECT_EQ(out.torque, in_.torque_command);
    EXPECT_TRUE(out.power);
    EXPECT_TRUE(out.brakes_released);
  }
  void expect_cut(const SafetyOutputs& out) const {
    EXPECT_TRUE(zero(out));
    EXPECT_FALSE(out.power);
    EXPECT_FALSE(out.brakes_released);
  }
};

}  // namespace ga_hardware

#endif  // SAFETY_FIXTURE_HPP_
