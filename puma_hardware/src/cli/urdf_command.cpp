// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/arm_options.hpp"
#include "cli/commands.hpp"
#include "cli/parameters.hpp"

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

void add_urdf_command(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  const auto add = [&](const char* name, const std::function<void()>& callback) {
    CLI::App* command = app.add_subcommand(
        name,
        "Check the settings of an arm and print its URDF description with them: one file for the "
        "commands, the guard and the controller manager\n"
        "Example: puma urdf --settings my_arm.yaml > my_arm.urdf");
    add_description_options(*command, settings->arm);
    command->add_option("--default", settings->defaults,
                        "Setting used unless the description, the file or --set has it; "
                        "repeatable");
    command->add_option("--plugin", settings->plugin, "Replaces the description's plugin");
    command->callback(callback);
    return command;
  };
  add("urdf", [settings] { run(*settings); });
  // Deprecated, removed in the next release: `ros2 run puma_bringup describe` is something else.
  add("describe", [settings] {
    std::fprintf(stderr, "puma: `puma describe` is deprecated; use `puma urdf`\n");
    run(*settings);
  })->group("");
}

}  // namespace puma_hardware::cli
