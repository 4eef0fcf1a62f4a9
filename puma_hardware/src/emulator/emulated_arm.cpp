// SPDX-License-Identifier: Apache-2.0
#include "emulator/emulated_arm.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include "arm/transmission.hpp"

namespace puma_hardware::emulator {

using ga_dynamics::Chain;
using ga_dynamics::Plant;
using ga_dynamics::PlantOptions;

namespace {

constexpr double kPotSupply = 5;    // V
constexpr double kHandSpeed = 0.3;  // rad/s of a joint that a person turns
using Six = std::array<double, 6>;

PlantOptions with_brakes(const Chain& chain, const ArmSettings& settings, PlantOptions options,
                         double stiction) {
  if (chain.size() != 6) {
    throw std::invalid_argument("the emulated arm has six joints, this chain " +
                                std::to_string(chain.size()));
  }
  options.static_ratio = std::max(options.static_ratio, stiction);
  if (options.brake_torque.empty()) {
    for (const JointSettings& joint : settings.joints) {
      options.brake_torque.push_back(joint.brake ? 1.5 * joint.max_torque : 0);
    }
  }
  return options;
}

Chain actual_arm(const Chain& chain, const EmulatedArmOptions& options) {
  if (options.payload == 0 && options.disturbances == ga_hardware::Disturbances{}) return chain;
  return ga_hardware::actual_arm(
      chain, ga_hardware::draw_errors(options.disturbances, chain.joints().size(), options.seed),
      {options.payload, {}, {}});
}

/// A contact that follows its coil late.
class Contact {
 public:
  explicit Contact(double delay) : delay_(delay) {}
  bool follow(bool coil, double time) noexcept {
    if (coil != coil_) since_ = time;
    coil_ = coil;
    if (time - since_ >= delay_) closed_ = coil;
    return closed_;
  }

 private:
  double delay_, since_ = 0;
  bool coil_ = false, closed_ = false;
};

/// Voltage of a potentiometer, which sits on the motor, from the motor's counts.
class Potentiometers {
 public:
  Potentiometers(const ArmSettings& settings, const Transmission& transmission,
                 const EmulatedArmOptions& options)
      : settings_(settings), offset_turns_(options.pot_offset_turns) {
    Six middle{};
    for (std::size_t i = 0; i < 6; ++i) {
      middle[i] = (settings.joints[i].lower + settings.joints[i].upper) / 2;
    }
    transmission.joints_to_counts(middle, counts_at_middle_);
  }

  double volts(std::size_t joint, double count) const noexcept {
    const JointSettings& s = settings_.joints[joint];
    const double turns =
        s.encoder_direction * (count - counts_at_middle_[joint]) / s.counts_per_rev +
        offset_turns_[joint];
    return kPotSupply / 2 + s.pot_direction * s.pot_volts_per_rev * turns;
  }

 private:
  const ArmSettings& settings_;
  Six offset_turns_, counts_at_middle_{};
};

}  // namespace

CalibrationTable emulated_calibration(const ArmSettings& settings,
                                      const EmulatedArmOptions& options) {
  const Transmission transmission(settings);
  const Potentiometers pots(settings, transmission, options);
  const auto [low, high] = count_range(settings);
  CalibrationTable table;
  for (std::size_t i = 0; i < 6; ++i) {
    const double per_rev = settings.joints[i].counts_per_rev, phase = options.index_phase[i];
    const auto last = std::llround(std::floor((high[i] - phase) / per_rev));
    for (auto turn = std::llround(std::ceil((low[i] - phase) / per_rev)); turn <= last; ++turn) {
      const double count = phase + static_cast<double>(turn) * per_rev;
      const double volts = pots.volts(i, count);
      // Beyond its supply a potentiometer saturates.
      if (volts > 0 && volts < kPotSupply) {
        table.joints[i].entries.push_back({std::llround(count), volts});
      }
    }
  }
  table.validate(settings);
  return table;
}

struct EmulatedArm::Impl {
  Impl(const Chain& chain, const ArmSettings& arm_settings, EmulatedCards& the_cards,
       const EmulatedArmOptions& the_options)
      : settings(arm_settings),
        options(the_options),
        transmission(arm_settings),
        pots(settings, transmission, options),
        cards(the_cards),
        plant(actual_arm(chain, the_options), with_brakes(chain, arm_settings, the_options.plant,
                                                          the_options.disturbances.stiction)),
        random(the_options.seed),
        noise(0, std::max(the_options.pot_noise, 0.0)),
        cards_ns(the_cards.now_ns()) {
    if (!(options.pot_noise >= 0)) {
      throw std::invalid_argument("the emulated arm's pot_noise is " +
                                  std::to_string(options.pot_noise) + " V; give 0 or more");
    }
    const Six rest{};
    plant.reset(options.start, rest);
    measure();
    for (int joint = 0; joint < 6; ++joint) {
      cards.place_encoder(joint, counts[static_cast<std::size_t>(joint)]);
    }
    switch_power();
    set_inputs();
  }

  void switch_power() noexcept {
    const Pcl726Settings& wiring = settings.cards.pcl726;
    const bool relay = wiring.power_output < 0
                           ? !settings.manual_power || cards.hand_power()
                           : power_relay.follow(cards.digital_output(wiring.power_output), now());
    powered = relay && cards.chain_closed() && watched();
    const bool open = wiring.brake_output >= 0   ? cards.digital_output(wiring.brake_output)
                      : settings.manual_brakes() ? cards.hand_brakes_open()
                                                 : true;
    const bool released = brake_relay.follow(powered && open, now()) && powered;
    if (wiring.power_feedback_input >= 0) {
      cards.set_digital_input(wiring.power_feedback_input,
                              powered == wiring.power_feedback_active_high);
    }
    for (int joint = 0; joint < 6; ++joint) {
      plant.set_brake(joint, settings.joints[static_cast<std::size_t>(joint)].brake && !released);
    }
  }

  /// True while the watchdog output keeps changing, or without one.
  bool watched() const noexcept {
    const int output = settings.cards.pcl726.watchdog_output;
    if (output < 0) return true;
    const std::int64_t changed = cards.digital_output_changed_ns(output);
    return changed != 0 &&
           static_cast<double>(cards.now_ns() - changed) * 1e-9 <= options.watchdog_time;
  }

  void measure() noexcept {
    transmission.joints_to_counts(plant.q(), exact);
    for (std::size_t i = 0; i < 6; ++i) counts[i] = std::llround(exact[i]);
  }

  void set_inputs() noexcept {
    for (int joint = 0; joint < 6; ++joint) {
      const auto i = static_cast<std::size_t>(joint);
      const JointSettings& s = settings.joints[i];
      cards.set_encoder(joint, counts[i], static_cast<int>(s.counts_per_rev),
                        options.index_phase[i]);
      const double volts = pots.volts(i, exact[i]) + noise(random);
      cards.set_pot_volts(joint, std::clamp(volts, 0.0, kPotSupply));
      truth.q[i] = plant.q()[i];
      truth.qd[i] = plant.qd()[i];
      truth.brake[i] = plant.brake(joint);
    }
    truth.time = now();
    truth.powered = powered;
    cards.publish(truth);
  }

  double now() const noexcept { return time_before_reset + plant.time(); }

  /// A person turns joints of an arm at rest.
  void turn_by_hand(double dt) noexcept {
    Six q;
    bool turned = false;
    for (int joint = 0; joint < 6; ++joint) {
      const auto i = static_cast<std::size_t>(joint);
      const double by = cards.take_turn(joint, kHandSpeed * dt);
      q[i] = std::clamp(plant.q()[i] + by, settings.joints[i].lower, settings.joints[i].upper);
      turned = turned || by != 0;
    }
    if (!turned) return;
    time_before_reset = now();
    plant.reset(q, Six{});
    switch_power();
    measure();
  }

  bool advance(double dt) {
    if (!(dt > 0)) dt = 0;
    turn_by_hand(dt);
    switch_power();
    for (int joint = 0; joint < 6; ++joint) {
      const auto i = static_cast<std::size_t>(joint);
      const JointSettings& s = settings.joints[i];
      const double volts = std::clamp(cards.output_volts(joint), -s.max_voltage, s.max_voltage);
      const bool driven = powered && !cards.amplifier_dead(joint);
      drive_torque[i] = driven ? s.voltage_direction * s.torque_per_volt * volts : 0;
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
  const Potentiometers pots;
  EmulatedCards& cards;
  Plant plant;
  Contact power_relay{options.relay_time}, brake_relay{options.brake_time};
  std::mt19937 random;
  std::normal_distribution<double> noise;
  std::int64_t cards_ns;         ///< on the cards' clock when the last step ended
  double time_before_reset = 0;  ///< s; the plant's time starts again
  Six exact{};                   ///< counts of the motors, with fractions
  Six drive_torque{};
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
