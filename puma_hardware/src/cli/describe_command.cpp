// SPDX-License-Identifier: Apache-2.0
#include "cli/describe_command.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/arm_options.hpp"
#include "cli/hardware_parameters.hpp"

namespace puma_hardware::cli {
namespace {

struct Settings {
  ArmOptions arm;
  std::vector<std::string> defaults;
  std::string plugin;
};

void run(const Settings& settings) {
  const std::string text =
      with_hardware_parameters(description_of(settings.arm), settings_of(settings.arm),
                               assigned(settings.defaults), settings.plugin);
  const DescribedArm arm = described_arm(text, hardware_parameters(text));
  static_cast<void>(ArmSettings::from(arm.chain, arm.parameters));
  std::printf("%s", text.c_str());
}

}  // namespace

void add_describe_command(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand(
      "describe",
      "Check the settings of an arm and print its description with them: what the commands, the "
      "guard and the controller manager read is then one file\n"
      "Example: puma describe --settings my_arm.yaml > my_arm.urdf");
  add_description_options(*command, settings->arm);
  command->add_option("--default", settings->defaults,
                      "A setting, unless the description or the others give it; repeatable");
  command->add_option("--plugin", settings->plugin, "In place of the description's plugin");
  command->callback([settings] { run(*settings); });
}

}  // namespace puma_hardware::cli
