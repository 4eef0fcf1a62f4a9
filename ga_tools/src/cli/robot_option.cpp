// SPDX-License-Identifier: Apache-2.0
#include "cli/robot_option.hpp"

#include <stdexcept>

namespace ga_tools {

std::filesystem::path RobotOption::file() const {
  if (!given.empty()) return given;
  if (program.urdf.empty()) {
    throw std::runtime_error("no robot; give its description with --urdf FILE");
  }
  return share_folder(program.package) / program.urdf;
}

void add_robot_option(CLI::App& command, const Program& program, RobotOption& to) {
  to.program = program;
  if (program.urdf.empty()) {
    command.add_option("robot", to.given, "The robot's description")
        ->required()
        ->option_text("ROBOT.urdf REQUIRED");
    return;
  }
  command.add_option("--urdf", to.given, "Description of the arm" + default_robot(program))
      ->type_name("FILE");
}

std::string robot_example(const Program& program) {
  return program.urdf.empty() ? " robot.urdf" : "";
}

std::string default_robot(const Program& program) {
  if (program.urdf.empty()) return "";
  return " (default: " + std::filesystem::path(program.urdf).filename().string() + ")";
}

}  // namespace ga_tools
