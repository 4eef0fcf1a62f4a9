// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cli/arm_options.hpp"
#include "cli/commands.hpp"
#include "emulator/emulated_cards.hpp"
#include "emulator/fault_text.hpp"
#include "ga_tools/commands.hpp"

namespace puma_hardware::cli {
namespace {

struct Settings {
  ArmOptions arm;
  std::vector<std::string> inject;
  bool clear = false;
  double after = 0;
};

void run(const Settings& settings) {
  const DescribedArm described = described_arm(settings.arm);
  const ArmSettings arm =
      ArmSettings::from(described.chain, with_emulated_wiring(described.parameters));
  const auto cards = emulator::EmulatedCards::open_shared(settings.arm.cell, arm.cards);
  if (settings.clear) cards->clear_faults();
  for (const std::string& fault : settings.inject) {
    emulator::inject_by_name(*cards, fault, arm);
  }

  std::this_thread::sleep_for(std::chrono::duration<double>(settings.after));
  const emulator::ArmTruth truth = cards->truth();
  nlohmann::ordered_json told;
  for (int joint = 0; joint < 6; ++joint) told["volts"].push_back(cards->output_volts(joint));
  told["outputs_changed_ns"] = cards->last_output_change_ns();
  told["now_ns"] = cards->now_ns();
  const int relay = arm.cards.pcl726.power_output;
  told["power_output"] = relay >= 0 && cards->digital_output(relay);
  told["powered"] = truth.powered;
  told["brakes"] = truth.brake;
  told["q"] = truth.q;
  told["qd"] = truth.qd;
  told["time"] = truth.time;
  told["illegal_accesses"] = cards->illegal_access_count();
  std::printf("%s\n", told.dump().c_str());
}

}  // namespace

void add_cell_command(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand(
      "cell",
      "Look at a robot that `puma emulate` is, as JSON: the cards' outputs and where the arm "
      "really "
      "is; or break something in it\n"
      "Examples: puma cell demo\n          puma cell demo --inject thermal:joint2\n          puma "
      "cell demo --clear");
  command->add_option("name", settings->arm.cell, "Of the robot")->required();
  command->add_option("--inject", settings->inject, "Faults: " + emulator::card_fault_names());
  command->add_flag("--clear", settings->clear, "Mend everything first");
  command
      ->add_option("--after", settings->after,
                   "s to wait before looking; what the robot was at its end is shown even if it "
                   "ends before")
      ->check(ga_tools::number_range(0.0, 3600.0));
  add_description_options(*command, settings->arm);
  command->callback([settings] { run(*settings); });
}

}  // namespace puma_hardware::cli
