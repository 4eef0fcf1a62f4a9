// SPDX-License-Identifier: Apache-2.0
#include "runtime/robot.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace puma_hardware {

namespace {

constexpr const char* kPowerOutput = "pcl726.power_output";
constexpr int kEmulatedPowerOutput = 2;  ///< the first choice
/// s for another process to finish creating its cards. Short, because ros2_control waits meanwhile.
constexpr double kPatience = 0.1;

constexpr std::array kPluginParameters{"base",
                                       "tip",
                                       "freeze",
                                       "freeze_off_chain",
                                       "gravity",
                                       "io",
                                       "cell",
                                       "guard",
                                       "guard_timeout",
                                       "observer_feed",
                                       "initial_positions",
                                       "seed",
                                       "payload_mass",
                                       "simulated_time",
                                       "real_time_factor"};

constexpr int kBlock = 0x10;  ///< ports; bases are multiples of it

std::string port_text(const char* format, int port) {
  char text[32];
  std::snprintf(text, sizeof text, format, static_cast<unsigned>(port));
  return text;
}

ProcessLock lock(const std::string& name, const std::string& what) {
  if (auto taken = ProcessLock::take(name)) return std::move(*taken);
  throw CardError(what + ": " + ProcessLock::holder(name).text() +
                  " has opened this arm; two programs must not drive it at once. Stop that one "
                  "first");
}

}  // namespace

std::string cards_name(Bus bus, const std::string& cell, const CardSettings& settings) {
  return bus == Bus::kPorts ? port_text("ports-%03X", settings.pcl726.base) : cell;
}

CardClaim::CardClaim(Bus bus, const std::string& cell, const CardSettings& settings) {
  if (bus == Bus::kShared) locks_.push_back(lock("cards-" + cell, "emulated cards '" + cell + "'"));
  if (bus != Bus::kPorts) return;
  for (const PortWindow& window : settings.windows()) {
    for (int port = window.base; port < window.base + window.size; port += kBlock) {
      locks_.push_back(
          lock(port_text("ports-%03X", port), window.card + " at " + port_text("0x%X", port)));
    }
  }
}

bool CardClaim::present() const noexcept {
  return std::all_of(locks_.begin(), locks_.end(),
                     [](const ProcessLock& taken) { return taken.present(); });
}

emulator::EmulatedArmOptions default_emulated_arm() {
  emulator::EmulatedArmOptions options;
  options.start = {0, -1.5, 1.5, 0, 0, 0};
  options.index_phase = {137, 411, 620, 88, 903, 254};
  return options;
}

bool concerns_plugin(const std::string& parameter) {
  const auto& emulated = emulator::kEmulatedDisturbances;
  return std::find(kPluginParameters.begin(), kPluginParameters.end(), parameter) !=
             kPluginParameters.end() ||
         std::find(std::begin(emulated), std::end(emulated), parameter) != std::end(emulated);
}

Parameters with_emulated_wiring(Parameters parameters) {
  ga_hardware::ParameterText text("hardware", {parameters.begin(), parameters.end()});
  const bool by_hand = text.flag("manual_power", false);
  if (by_hand || parameters.contains(kPowerOutput)) return parameters;
  const Pcl726Settings otherwise;
  const auto [tool, other_tool] = text.wholes("pcl726.tool_output", otherwise.tool_output);
  const int brake = text.whole("pcl726.brake_output", otherwise.brake_output);
  const int watchdog = text.whole("pcl726.watchdog_output", otherwise.watchdog_output);
  int output = kEmulatedPowerOutput;
  while (output == tool || output == other_tool || output == brake || output == watchdog) ++output;
  parameters.emplace(kPowerOutput, std::to_string(output));
  return parameters;
}

std::string emulated_wiring_note(const Parameters& parameters) {
  if (parameters.contains(kPowerOutput)) return "";
  const Parameters wired = with_emulated_wiring(parameters);
  const auto output = wired.find(kPowerOutput);
  if (output == wired.end()) return "";
  return "the emulated arm has a power relay on digital output " + output->second +
         ", the settings have none: with --io ports this arm would not be powered. Give "
         "pcl726.power_output, or manual_power: true";
}

Robot::Robot(const ga_dynamics::Chain& chain, const Parameters& parameters, Bus bus,
             const std::string& cell, const emulator::EmulatedArmOptions& emulated)
    : chain_(chain),
      settings_(ArmSettings::from(
          chain, bus == Bus::kPorts ? parameters : with_emulated_wiring(parameters))),
      bus_(bus),
      cell_(cell),
      emulated_(emulated) {
  switch (bus) {
    case Bus::kPorts: {
      if (const std::string why = settings_.relaxed_limit(); !why.empty()) throw CardError(why);
      auto ports = std::make_unique<LinuxPortIo>(settings_.cards);
      ports_ = ports.get();
      io_ = std::move(ports);
      break;
    }
    case Bus::kShared: {
      auto cards = emulator::EmulatedCards::open_shared(cell, settings_.cards, kPatience);
      cards_ = cards.get();
      io_ = std::move(cards);
      break;
    }
    case Bus::kPrivate: {
      auto cards = std::make_unique<emulator::EmulatedCards>(settings_.cards);
      cards_ = cards.get();
      io_ = std::move(cards);
      arm_ = std::make_unique<emulator::EmulatedArm>(chain_, settings_, *cards_, emulated);
      break;
    }
  }
}

CalibrationTable Robot::calibration() const {
  if (!settings_.calibration_file.empty()) {
    return load_calibration(settings_.calibration_file, settings_);
  }
  if (bus_ != Bus::kPorts)
    return emulator::emulated_calibration(settings_, emulated_, cards_->behavior());
  throw CardError(
      "the hardware has no parameter calibration_file; give it the table that `puma calibrate "
      "--build` wrote");
}

void Robot::enter_thread() {
  if (ports_ != nullptr) ports_->grant_to_this_thread();
}

}  // namespace puma_hardware
