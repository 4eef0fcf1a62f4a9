// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cli/arm_options.hpp"
#include "cli/commands.hpp"
#include "emulator/emulated_cards.hpp"
#include "emulator/fault_text.hpp"
#include "ga_hardware/parameter_text.hpp"
#include "ga_tools/commands.hpp"

namespace puma_hardware::cli {
namespace {

struct Settings {
  ArmOptions arm;
  std::vector<std::string> inject;
  bool clear = false;
  std::string hand_power, hand_brakes;
  std::vector<std::string> turn;
  double wait = 0;
  double after = 0;
};

/// Waits until the robot is there and its simulated time advances: the shared memory of a killed
/// emulator remains until the next one replaces it.
void wait_for_robot(const std::string& name, const CardSettings& cards, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  double last = std::numeric_limits<double>::infinity();
  std::string problem;
  while (Clock::now() < deadline) {
    try {
      const double time = emulator::EmulatedCards::open_shared(name, cards)->truth().time;
      if (time > last) return;
      last = time;
      problem = "its simulated time does not advance; restart the emulator";
    } catch (const std::runtime_error& error) {
      problem = error.what();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::fprintf(stderr, "puma cell: '%s' is not ready after %g s: %s\n", name.c_str(), seconds,
               problem.c_str());
  throw CLI::RuntimeError(1);
}

/// Joints that a person turns: name and rad, alternately. Throws std::runtime_error.
void turn(emulator::EmulatedCards& cards, const std::vector<std::string>& words,
          const ArmSettings& arm) {
  if (!words.empty() && cards.truth().powered) {
    throw std::runtime_error("--turn: the arm is powered; nobody turns it by hand");
  }
  for (std::size_t k = 0; k + 1 < words.size(); k += 2) {
    int joint = 0;
    while (joint < 6 && arm.joints[static_cast<std::size_t>(joint)].name != words[k]) ++joint;
    double rad = 0;
    if (joint == 6 || !ga_hardware::read_number(words[k + 1], rad) || std::abs(rad) > 6.3) {
      throw std::runtime_error("--turn " + words[k] + " " + words[k + 1] +
                               ": give a joint and an angle of up to 6.3 rad, as joint4 0.1");
    }
    cards.turn_by_hand(joint, rad);
  }
}

void run(const Settings& settings) {
  const DescribedArm described = described_arm(settings.arm);
  const ArmSettings arm =
      ArmSettings::from(described.chain, with_emulated_wiring(described.parameters));
  if (settings.wait > 0) wait_for_robot(settings.arm.cell, arm.cards, settings.wait);
  const auto cards = emulator::EmulatedCards::open_shared(settings.arm.cell, arm.cards);
  if (settings.clear) cards->clear_faults();
  for (const std::string& fault : settings.inject) {
    emulator::inject_by_name(*cards, fault, arm);
  }

  turn(*cards, settings.turn, arm);
  if (!settings.hand_power.empty() || !settings.hand_brakes.empty()) {
    if (!settings.hand_power.empty() && !arm.manual_power) {
      throw std::runtime_error("--hand-power " + settings.hand_power +
                               ": only with the setting manual_power: true");
    }
    const auto given = [](const std::string& word, const char* on, bool before) {
      return word.empty() ? before : word == on;
    };
    cards->set_hand_switches(given(settings.hand_power, "on", cards->hand_power()),
                             given(settings.hand_brakes, "open", cards->hand_brakes_open()));
  }

  std::this_thread::sleep_for(std::chrono::duration<double>(settings.after));
  const emulator::ArmTruth truth = cards->truth();
  nlohmann::ordered_json state;
  for (int joint = 0; joint < 6; ++joint) state["volts"].push_back(cards->output_volts(joint));
  state["outputs_changed_ns"] = cards->last_output_change_ns();
  state["now_ns"] = cards->now_ns();
  const int relay = arm.cards.pcl726.power_output;
  state["power_output"] = relay >= 0 && cards->digital_output(relay);
  state["powered"] = truth.powered;
  state["brakes"] = truth.brake;
  state["q"] = truth.q;
  state["qd"] = truth.qd;
  state["time"] = truth.time;
  state["illegal_accesses"] = cards->illegal_access_count();
  std::printf("%s\n", state.dump().c_str());
}

}  // namespace

void add_cell_command(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand(
      "cell",
      "Show the state of a robot of `puma emulate` as JSON, or inject faults: the cards' outputs "
      "and the true position of the arm\n"
      "Examples: puma cell demo\n          puma cell demo --inject thermal:joint2\n          puma "
      "cell demo --clear\n          puma cell demo --wait 10");
  command->add_option("name", settings->arm.cell, "Name of the robot")->required();
  command->add_option("--inject", settings->inject, "Faults until --clear, see below; repeatable");
  command->footer("Faults, of a joint as thermal:joint2:\n" + emulator::card_fault_help());
  command->add_flag("--clear", settings->clear, "Clear all faults first");
  command
      ->add_option("--turn", settings->turn,
                   "Turn joints by hand, at 0.3 rad/s, with arm power off: joint4 0.1; repeatable")
      ->type_size(2)
      ->type_name("JOINT RAD");
  command
      ->add_option("--hand-power", settings->hand_power,
                   "With manual_power: the person's switch of arm power")
      ->check(CLI::IsMember({"on", "off"}));
  command
      ->add_option("--hand-brakes", settings->hand_brakes,
                   "A person's brake release, with or without arm power: nothing holds the joints")
      ->check(CLI::IsMember({"open", "closed"}));
  command
      ->add_option("--wait", settings->wait,
                   "Time to wait until the robot is there and runs, s; exit code 1 if it does not")
      ->check(ga_tools::number_range(0.0, 3600.0));
  command
      ->add_option(
          "--after", settings->after,
          "Delay before the state is read, s; if the robot ends earlier, its last state is "
          "shown")
      ->check(ga_tools::number_range(0.0, 3600.0));
  add_description_options(*command, settings->arm);
  command->callback([settings] { run(*settings); });
}

}  // namespace puma_hardware::cli
