// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CLI__COMMAND_LINE_HPP_
#define GA_DYNAMICS__CLI__COMMAND_LINE_HPP_

#include <string>
#include <vector>

#include "cli/robot.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace ga_tools::cli {

using ga_dynamics::Method;

enum class Command {
  kInfo,
  kInverse,
  kForward,
  kInertia,
  kBias,
  kGravity,
  kKinematics,
  kExperiments,
  kDone  ///< it has run
};

struct CommandLine {
  Command command = Command::kInfo;
  RobotArguments robot;
  std::string states;
  Method method = Method::kTensor;
  bool drives = false;
  bool list_minimal = false;
  bool json = false;
  bool quiet = false;
  std::vector<std::string> only;  ///< names of experiments; empty: all
  std::string answer;             ///< help or version: not empty means print it and do nothing else
};

/// Throws InputError.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace ga_tools::cli

#endif  // GA_DYNAMICS__CLI__COMMAND_LINE_HPP_
