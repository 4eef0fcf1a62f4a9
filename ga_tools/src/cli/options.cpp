// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace ga_tools {

namespace fs = std::filesystem;

ChainOptions chain_options(const ChainArguments& arguments) {
  ChainOptions options;
  options.base = arguments.base;
  options.tip = arguments.tip;
  options.strict = arguments.strict;
  options.allow_missing_inertia = arguments.allow_missing_inertia;
  if (!arguments.gravity.empty()) {
    if (arguments.gravity.size() != options.gravity.size()) {
      throw ga_dynamics::DescriptionError("--gravity: " + std::to_string(arguments.gravity.size()) +
                                          " numbers; give three, x y z");
    }
    std::ranges::copy(arguments.gravity, options.gravity.begin());
  }
  for (const std::string& argument : arguments.freeze) add_frozen(argument, options);
  return options;
}

void add_chain_options(CLI::App& app, ChainArguments& to, const std::string& group) {
  app.add_option("--base", to.base, "First link of the chain (default: the root)")
      ->option_text("LINK")
      ->group(group);
  app.add_option("--tip", to.tip,
                 "Last link (default: end of the longest chain of joints,\nbefore its gripper)")
      ->option_text("LINK")
      ->group(group);
  app.add_option("--freeze", to.freeze,
                 "Treat the joint as fixed, at 0 or at the position in rad or m;\n"
                 "repeatable. all: every joint off the chain, at 0")
      ->allow_extra_args(false)
      ->option_text("JOINT[=POSITION]")
      ->group(group);
  app.add_option("--gravity", to.gravity, "m/s², in the root link's frame (default: 0 0 -9.81)")
      ->expected(3)
      ->option_text("X Y Z")
      ->group(group);
  app.add_flag("--allow-missing-inertia", to.allow_missing_inertia,
               "Treat moving links without <inertial> as massless")
      ->group(group);
  app.add_flag("--strict", to.strict, "Treat warnings about the description as errors")
      ->group(group);
}

void add_uncertainty_options(CLI::App& app, UncertaintyArguments& to, const std::string& group) {
  const auto add = [&](const char* name, std::optional<double>& value, const char* meaning,
                       double low, double high) {
    app.add_option(name, value, meaning)
        ->type_name("FLOAT")
        ->check(number_range(low, high))
        ->group(group);
  };
  add("--uncertainty-payload", to.payload,
      "Largest unknown payload, kg (default: the simulated one)", 0, 1000);
  add("--uncertainty-payload-radius", to.payload_radius,
      "Its radius of gyration about the tip link's origin, m (default: 0.05)", 0, 10);
  add("--uncertainty-mass", to.mass, "Error of masses and inertias, part of 1 (default: 0.2)", 0,
      0.99);
  add("--uncertainty-armature-low", to.armature_low,
      "Smallest rotor inertia over the description's (default: 0.5)", 0.01, 1);
  add("--uncertainty-armature-high", to.armature_high,
      "Largest rotor inertia over the description's (default: 2)", 1, 100);
  app.add_option("--uncertainty-delay", to.delay,
                 "Cycles between measurement and torque (default: the simulated ones)")
      ->check(number_range(0, 10))
      ->group(group);
  app.add_option(
         "--uncertainty-resonance", to.resonance,
         "Resonance of the drives, motor and link free, Hz: one value,\nor one per joint; 0: "
         "rigid (default: the simulated one)")
      ->delimiter(',')
      ->check(number_range(0, 10000))
      ->group(group);
  app.add_flag("--fit-resonance", to.fit_resonance,
               "Lower the gains until bandwidth and observer bandwidth together are\n0.23 of the "
               "resonance: Ki first, then all")
      ->group(group);
}

std::string command_line(const std::string& program, int argc, const char* const* argv) {
  std::string line = program;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    const bool plain = !argument.empty() && std::ranges::all_of(argument, [](unsigned char c) {
      return std::isalnum(c) != 0 || std::strchr("-_=+,./:@%", c) != nullptr;
    });
    line += ' ';
    if (plain) {
      line += argument;
      continue;
    }
    line += '\'';
    for (const char c : argument) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

fs::path share_folder(const std::string& package) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  for (fs::path at = program.parent_path(); at.has_relative_path(); at = at.parent_path()) {
    for (const fs::path& prefix : {at, at / package}) {
      if (fs::exists(prefix / "share" / package)) return prefix / "share" / package;
    }
  }
  throw std::runtime_error("share/" + package + " is not installed above " + program.string() +
                           "; install " + package + " beside it");
}

CLI::Option* add_known_payload(CLI::App& command, ga_dynamics::Payload& payload) {
  return command
      .add_option_function<std::string>(
          "--known-payload",
          [&payload](const std::string& text) {
            try {
              payload = ga_dynamics::parse_payload(text);
            } catch (const std::invalid_argument& error) {
              throw CLI::ValidationError("--known-payload", error.what());
            }
          },
          "Payload that the laws know: kg, its center of mass in the tip link's frame, m, and its "
          "inertia about that, kg m^2")
      ->type_name("MASS[,X,Y,Z[,IXX,IXY,IXZ,IYY,IYZ,IZZ]]");
}

CLI::Validator number_range(double low, double high) {
  char range[64], description[64];
  std::snprintf(range, sizeof range, "%.9g to %.9g", low, high);
  std::snprintf(description, sizeof description, "in [%.9g - %.9g]", low, high);
  const auto check = [low, high, remedy = std::string(range)](const std::string& input) {
    double value = 0;
    const bool number = CLI::detail::lexical_cast(input, value);
    if (number && value >= low && value <= high) return std::string();
    return "'" + input + "' is out of range; give " + remedy;
  };
  return {check, description};
}

CLI::Validator finite_number() {
  const auto check = [](const std::string& input) {
    double value = 0;
    const bool number = CLI::detail::lexical_cast(input, value);
    if (number && std::isfinite(value)) return std::string();
    return "'" + input + "' is not a finite number; give one";
  };
  return {check, ""};
}

fs::path RobotOption::file() const {
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
  return " (default: " + fs::path(program.urdf).filename().string() + ")";
}

OutputFolder::OutputFolder(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  for (fs::path missing = whole; !missing.empty() && !fs::exists(missing, error);
       missing = missing.parent_path()) {
    // "a/b/" has an empty name at its end.
    if (missing.has_filename()) created_.push_back(missing);
  }
  fs::create_directories(path, error);
  std::string problem;
  if (error || !fs::is_directory(path)) {
    problem = "cannot create the folder" + (error ? " (" + error.message() + ")" : std::string());
  } else if (::access(path.c_str(), W_OK | X_OK) != 0) {
    problem = "folder is not writable (" + std::generic_category().message(errno) + ")";
  }
  if (problem.empty()) return;
  remove_created();
  throw std::runtime_error("--output " + path.string() + ": " + problem + "; name another one");
}

OutputFolder::~OutputFolder() { remove_created(); }

void OutputFolder::remove_created() {
  std::error_code ignored;
  // remove() leaves folders that are not empty.
  for (const fs::path& folder : created_) fs::remove(folder, ignored);
  created_.clear();
}

}  // namespace ga_tools
