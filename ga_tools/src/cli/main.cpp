// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/errors.hpp"
#include "cli/experiments.hpp"
#include "cli/info.hpp"
#include "cli/output.hpp"
#include "cli/stream_rows.hpp"

namespace {

using namespace ga_dynamics;
using namespace ga_motion;
using namespace ga_tools;
using namespace ga_tools::cli;

void tell(const std::string& message) {
  std::fprintf(stderr, "ga: %s\n", printable(message).c_str());
}

void print(std::string_view text) {
  Output output;
  output.put(text);
  output.close();
}

void run(const CommandLine& line) {
  if (line.command == Command::kDone && line.answer.empty()) return;
  if (!line.answer.empty()) return print(line.answer);
  if (line.command == Command::kExperiments) return run_experiments(line.only, line.quiet);
  RobotArguments robot = line.robot;
  if (line.command == Command::kKinematics) robot.chain.allow_missing_inertia = true;
  if (line.command == Command::kInfo) {
    const Description description = describe_robot(robot);
    return print(line.json ? info_json(description)
                           : info_text(description, {line.list_minimal, line.quiet}));
  }
  const Chain chain = load_chain(robot);
  if (!line.quiet) {
    for (const std::string& warning : chain.warnings()) tell("warning: " + warning);
  }
  Dynamics dynamics(chain,
                    {.method = line.method, .drives = line.drives ? Drives::kAll : Drives::kNone});
  const RowTask task = make_row_task(line.command, dynamics);
  std::vector<std::string> joints;
  for (const ChainJoint& joint : chain.joints()) joints.push_back(joint.name);
  stream_rows(task, joints, line.states, !line.quiet);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse_command_line(argc, argv));
    return 0;
  } catch (const ReaderGone&) {
    return 0;
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const InputError& error) {
    tell(error.what());
    return kExitBadInput;
  } catch (const DescriptionError& error) {
    tell(error.what());
    return kExitBadInput;
  } catch (const std::bad_alloc&) {
    tell("out of memory");
    return kExitFailure;
  } catch (const std::exception& error) {
    tell(error.what());
    return kExitFailure;
  }
}
