// SPDX-License-Identifier: Apache-2.0
#include "puma_hardware/emulator/emulated_arm.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <stdexcept>

#include "puma_hardware/arm/transmission.hpp"

namespace puma_hardware::emulator {

using ga_dynamics::Chain;
using ga_dynamics::Plant;
using ga_dynamics::PlantOptions;

namespace {

constexpr double kPotSupply = 5;  // V
using Six = std::array<double, 6>;

PlantOptions with_brakes(const Chain& chain, const ArmSettings& settings, PlantOptions options) {
  if (chain.size() != 6) {
    throw std::invalid_argument("the emulated arm has six joints, this chain " +
                                std::to_string(chain.size()));
  }
  if (options.brake_torque.empty()) {
    for (const JointSettings& joint : settings.joints) {
      options.brake_torque.push_back(joint.brake ? 1.5 * joint.max_torque : 0);
    }
  }
  return options;
}

}  // namespace

struct EmulatedArm::Impl {
  Impl(const Chain& chain, const ArmSettings& arm_settings, EmulatedCards& the_cards,
       const EmulatedArmOptions& the_options)
      : settings(arm_settings),
        options(the_options),
        transmission(arm_settings),
        cards(the_cards),
        plant(chain, with_brakes(chain, arm_settings, the_options.plant)),
        random(the_options.seed),
        noise(0, std::max(the_options.pot_noise, 0.0)),
        cards_ns(the_cards.now_ns()) {
    if (!(options.pot_noise >= 0)) {
      throw std::invalid_argument("the emulated arm's pot_noise is " +
                                  std::to_string(options.pot_noise) + " V; give 0 or more");
    }
    const Six rest{};
    plant.reset(options.start, rest);
    Six middle{};
    for (std::size_t i = 0; i < 6; ++i) {
      middle[i] = (settings.joints[i].lower + settings.joints[i].upper) / 2;
    }
    transmission.joints_to_drive(middle, drive_at_middle);
    measure();
    for (int joint = 0; joint < 6; ++joint) {
      cards.place_encoder(joint, counts[static_cast<std::size_t>(joint)]);
    }
    switch_power();
    set_inputs();
  }

  void switch_power() noexcept {
    const Pcl726Settings& wiring = settings.cards.pcl726;
    powered = wiring.power_output < 0 || cards.digital_output(wiring.power_output);
    const bool released =
        powered && (wiring.brake_output < 0 || cards.digital_output(wiring.brake_output));
    for (int joint = 0; joint < 6; ++joint) {
      plant.set_brake(joint, settings.joints[static_cast<std::size_t>(joint)].brake && !released);
    }
  }

  void measure() noexcept {
    Six exact{};
    transmission.joints_to_counts(plant.q(), exact);
    for (std::size_t i = 0; i < 6; ++i) counts[i] = std::llround(exact[i]);
  }

  void set_inputs() noexcept {
    Six drive{};
    transmission.joints_to_drive(plant.q(), drive);
    for (int joint = 0; joint < 6; ++joint) {
      const auto i = static_cast<std::size_t>(joint);
      const JointSettings& s = settings.joints[i];
      cards.set_encoder(joint, counts[i], static_cast<int>(s.counts_per_rev),
                        options.index_phase[i]);
      const double turns = (drive[i] - drive_at_middle[i]) * s.gear_ratio / (2 * std::numbers::pi) +
                           options.pot_offset_turns[i];
      const double volts = kPotSupply / 2 + s.pot_direction * s.pot_volts_per_rev * turns;
      cards.set_pot_volts(joint, std::clamp(volts + noise(random), 0.0, kPotSupply));
      truth.q[i] = plant.q()[i];
      truth.qd[i] = plant.qd()[i];
      truth.brake[i] = plant.brake(joint);
    }
    truth.time = plant.time();
    truth.powered = powered;
    cards.publish(truth);
  }

  bool advance(double dt) {
    if (!(dt > 0)) dt = 0;
    switch_power();
    for (int joint = 0; joint < 6; ++joint) {
      const auto i = static_cast<std::size_t>(joint);
      const JointSettings& s = settings.joints[i];
      const double volts = std::clamp(cards.output_volts(joint), -s.max_voltage, s.max_voltage);
      drive_torque[i] = powered ? s.voltage_direction * s.torque_per_volt * volts : 0;
    }
    Six torque{};
    transmission.drive_to_joint_torque(drive_torque, torque);
    const bool moved = plant.step(torque, dt);
    if (moved) measure();
    cards.advance_to(cards_ns + std::llround(dt * 1e9));
    cards_ns = cards.now_ns();
    if (moved) set_inputs();
    return moved;
  }

  const ArmSettings settings;
  const EmulatedArmOptions options;
  const Transmission transmission;
  EmulatedCards& cards;
  Plant plant;
  std::mt19937 random;
  std::normal_distribution<double> noise;
  std::int64_t cards_ns;  ///< on the cards' clock when the last step ended
  Six drive_at_middle{}, drive_torque{};
  std::array<std::int64_t, 6> counts{};
  bool powered = false;
  ArmTruth truth;
};

EmulatedArm::EmulatedArm(const Chain& chain, const ArmSettings& settings, EmulatedCards& cards,
                         const EmulatedArmOptions& options)
    : impl_(std::make_unique<Impl>(chain, settings, cards, options)) {}
EmulatedArm::~EmulatedArm() = default;

bool EmulatedArm::advance(double dt) { return impl_->advance(dt); }
Plant& EmulatedArm::plant() noexcept { return impl_->plant; }
bool EmulatedArm::powered() const noexcept { return impl_->powered; }
std::span<const double> EmulatedArm::drive_torque() const noexcept { return impl_->drive_torque; }
std::span<const std::int64_t> EmulatedArm::counts() const noexcept { return impl_->counts; }

}  // namespace puma_hardware::emulator
