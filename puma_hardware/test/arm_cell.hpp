// SPDX-License-Identifier: Apache-2.0
#ifndef ARM_CELL_HPP_
#define ARM_CELL_HPP_

// The whole arm for tests: law, PumaArm, emulated cards, simulated arm, on simulated time.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "arm/puma_arm.hpp"
#include "emulator/emulated_arm.hpp"
#include "ga_controllers/control_law.hpp"

namespace puma_hardware {

using Six = std::array<double, 6>;

constexpr double kPeriod = 1e-3;
constexpr int kPowerOutput = 8, kBrakeOutput = 9;

class ArmCell {
 public:
  explicit ArmCell(
      const emulator::EmulatedArmOptions& options, Parameters hardware = {},
      const ga_dynamics::Chain& chain_of_arm = ga_dynamics::Chain::from_urdf_file(PUMA_URDF),
      const emulator::CardBehavior& behavior = {})
      : chain(chain_of_arm),
        settings(ArmSettings::from(chain, with_relays(std::move(hardware)))),
        cards(settings.cards, false, behavior),
        robot(chain, settings, cards, options),
        arm(cards, settings, kPeriod),
        law(chain, tracking()),
        hold(chain, holding()) {
    arm.read(kPeriod);
    arm.write_none();
  }
  ~ArmCell() { expect_legal(); }

  static Parameters with_relays(Parameters hardware) {
    hardware.emplace("pcl726.power_output", std::to_string(kPowerOutput));
    hardware.emplace("pcl726.brake_output", std::to_string(kBrakeOutput));
    return hardware;
  }
  static ga_controllers::LawParameters tracking() {
    ga_controllers::LawParameters p;
    p.gains = {ga_controllers::gains_from_bandwidth(20, 1)};
    p.friction = 0.9;
    return p;
  }
  static ga_controllers::LawParameters holding() {
    ga_controllers::LawParameters p;
    p.kind = ga_controllers::LawKind::kGravityCompensation;
    p.gains = {ga_controllers::gains_from_bandwidth(20, 1)};
    return p;
  }

  /// Calibrated by being told, powered, holding where it is.
  void power_on_here() {
    ASSERT_TRUE(arm.set_position(truth()));
    for (int k = 0; k < 20; ++k) idle();  // until all potentiometers have been compared
    ASSERT_TRUE(arm.power_on());
    start_law();
    reference = truth();
    for (int k = 0; k < 100; ++k) follow(reference);
    ASSERT_EQ(arm.safety().state(), SafetyState::kActive) << why();
  }
  void start_law() {
    const Six rest{}, gravity = holding_torque();  // a law that was not started holds gravity
    law.start(arm.reading().q, rest, gravity);
    hold.start(arm.reading().q, rest, gravity);
  }
  Six truth() {
    Six q;
    std::copy_n(robot.plant().q().begin(), 6, q.begin());
    return q;
  }

  /// One cycle: reads, follows the reference, lets the arm move.
  void follow(const Six& q_ref, const Six& qd_ref = {}, const Six& qdd_ref = {}) {
    read();
    Six torque{};
    law.update(arm.reading().q, arm.reading().qd, {q_ref, qd_ref, qdd_ref}, kPeriod, torque);
    std::copy_n(law.acceleration().begin(), 6, acceleration.begin());
    arm.write(torque, 0, holding_torque());
    robot.advance(kPeriod);
  }
  /// One cycle without a command.
  void idle() {
    read();
    arm.write_none(holding_torque());
    robot.advance(kPeriod);
  }
  void read() { arm.read(kPeriod, acceleration); }
  Six holding_torque() {
    Six torque{};
    hold.update(arm.reading().q, arm.reading().qd, {}, kPeriod, torque);
    return torque;
  }
  bool zero_volts() const {
    for (int joint = 0; joint < 6; ++joint) {
      if (cards.output_volts(joint) != 0) return false;
    }
    return true;
  }
  std::string why() const { return describe(arm.safety().cause(), settings); }
  void expect_legal() const {
    for (const auto& access : cards.illegal_accesses()) {
      ADD_FAILURE() << (access.write ? "write of " : "read of ") << std::hex << access.port << ": "
                    << access.reason;
    }
  }

  ga_dynamics::Chain chain;
  ArmSettings settings;
  emulator::EmulatedCards cards;
  emulator::EmulatedArm robot;
  PumaArm arm;
  ga_controllers::ControlLaw law, hold;
  Six reference{}, acceleration{};
};

/// The potentiometers of the emulated arm without their noise, at every index pulse.
inline CalibrationTable exact_table(const ArmSettings& settings,
                                    const emulator::EmulatedArmOptions& options) {
  const Transmission transmission(settings);
  Six middle, center;
  for (std::size_t i = 0; i < 6; ++i) {
    middle[i] = 0.5 * (settings.joints[i].lower + settings.joints[i].upper);
  }
  transmission.joints_to_counts(middle, center);
  CalibrationTable table;
  for (std::size_t i = 0; i < 6; ++i) {
    const JointSettings& joint = settings.joints[i];
    for (std::int64_t turn = -120; turn <= 120; ++turn) {
      const double count =
          options.index_phase[i] + static_cast<double>(turn) * joint.counts_per_rev;
      const double turns = joint.encoder_direction * (count - center[i]) / joint.counts_per_rev +
                           options.pot_offset_turns[i];
      const double volts = 2.5 + joint.pot_direction * joint.pot_volts_per_rev * turns;
      if (volts < 0 || volts > 5) continue;
      table.joints[i].entries.push_back({static_cast<std::int64_t>(count), volts});
    }
  }
  return table;
}

}  // namespace puma_hardware

#endif  // ARM_CELL_HPP_
