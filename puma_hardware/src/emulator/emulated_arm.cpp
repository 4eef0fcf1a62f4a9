// SPDX-License-Identifier: Apache-2.0
#include "emulator/emulated_arm.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

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

/// The amplifiers: torque that follows its command late, and with the lag of their current.
class Amplifiers {
 public:
  explicit Amplifiers(const ga_hardware::Disturbances& disturbances)
      : lag_(disturbances.lag), queue_(static_cast<std::size_t>(disturbances.delay)) {}

  /// Begins a step after which this torque is commanded; `driven`: joints with a live amplifier.
  void begin(const Six& command, const std::array<bool, 6>& driven, double time) noexcept {
    begin_ = time;
    target_ = command;
    if (!queue_.empty()) {
      std::swap(target_, queue_[oldest_]);
      oldest_ = (oldest_ + 1) % queue_.size();
    }
    for (std::size_t i = 0; i < 6; ++i) {
      if (!driven[i]) from_[i] = target_[i] = 0;
    }
    if (!lags()) from_ = target_;
  }
  void end(double dt) noexcept {
    for (std::size_t i = 0; i < 6; ++i) from_[i] = at(i, begin_ + dt);
  }
  bool lags() const noexcept { return lag_ > 0; }
  const Six& now() const noexcept {
    return from_;
  }  ///< at the beginning, or after end() at the end
  double at(std::size_t joint, double time) const noexcept {
    if (!lags()) return target_[joint];
    return target_[joint] + (from_[joint] - target_[joint]) * std::exp((begin_ - time) / lag_);
  }

 private:
  double lag_, begin_ = 0;
  std::vector<Six> queue_;  ///< commands of the last steps, a ring
  std::size_t oldest_ = 0;
  Six target_{}, from_{};
};

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
                                      const EmulatedArmOptions& options,
                                      const CardBehavior& behavior) {
  const Transmission transmission(settings);
  const Potentiometers pots(settings, transmission, options);
  const auto [low, high] = count_range(settings);
  CalibrationTable table;
  for (std::size_t i = 0; i < 6; ++i) {
    // The count that the card latches in positive motion.
    const bool at_end =
        (settings.joints[i].encoder_direction > 0) == (behavior.index_latch == Latch::kFollow);
    const double per_rev = settings.joints[i].counts_per_rev;
    const double phase = options.index_phase[i] + (at_end ? behavior.index_width : 0);
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
        amplifiers(the_options.disturbances),
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
    const bool open = wiring.brake_output >= 0 ? cards.digital_output(wiring.brake_output)
                                               : !settings.manual_brakes();
    const bool by_power = brake_relay.follow(powered && open, now()) && powered;
    const bool released = by_power || cards.hand_brakes_open();
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

  /// A person turns joints; the others move on.
  void turn_by_hand(double dt) noexcept {
    if (plant.fault() != ga_dynamics::PlantFault::kNone) return;
    Six q, qd;
    std::copy_n(plant.qd().begin(), 6, qd.begin());
    bool turned = false;
    for (int joint = 0; joint < 6; ++joint) {
      const auto i = static_cast<std::size_t>(joint);
      const double by = cards.take_turn(joint, kHandSpeed * dt);
      q[i] = std::clamp(plant.q()[i] + by, settings.joints[i].lower, settings.joints[i].upper);
      if (by != 0) qd[i] = 0;
      turned = turned || by != 0;
    }
    if (!turned) return;
    time_before_reset = now();
    plant.reset(q, qd);
    switch_power();
    measure();
  }

  bool step_constant(double dt) {
    torque_at(plant.time(), joint_torque);
    return plant.step(joint_torque, dt);
  }

  void torque_at(double time, std::span<double> torque) noexcept {
    Six drive;
    for (std::size_t i = 0; i < 6; ++i) drive[i] = amplifiers.at(i, time);
    transmission.drive_to_joint_torque(drive, torque);
  }

  bool advance(double dt) {
    if (!(dt > 0)) dt = 0;
    turn_by_hand(dt);
    switch_power();
    std::array<bool, 6> driven{};
    Six command{};
    for (int joint = 0; joint < 6; ++joint) {
      const auto i = static_cast<std::size_t>(joint);
      const JointSettings& s = settings.joints[i];
      const double volts = std::clamp(cards.output_volts(joint), -s.max_voltage, s.max_voltage);
      driven[i] = powered && !cards.amplifier_dead(joint);
      command[i] = driven[i] ? s.voltage_direction * s.torque_per_volt * volts : 0;
    }
    amplifiers.begin(command, driven, plant.time());
    const bool moved = amplifiers.lags() ? plant.step(lagging, dt) : step_constant(dt);
    amplifiers.end(dt);
    drive_torque = amplifiers.now();
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
  Amplifiers amplifiers;
  const ga_dynamics::TorqueFunction lagging =
      [this](double time, std::span<const double>, std::span<const double>,
             std::span<double> torque) { torque_at(time, torque); };
  Contact power_relay{options.relay_time}, brake_relay{options.brake_time};
  std::mt19937 random;
  std::normal_distribution<double> noise;
  std::int64_t cards_ns;         ///< on the cards' clock when the last step ended
  double time_before_reset = 0;  ///< s; the plant's time starts again
  Six exact{};                   ///< counts of the motors, with fractions
  Six drive_torque{}, joint_torque{};
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
