// SPDX-License-Identifier: Apache-2.0

// The `ga` command: its options, and the exit code of what it runs.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <map>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "cli/description.hpp"
#include "cli/experiments.hpp"
#include "cli/output.hpp"
#include "cli/rows.hpp"
#include "ga_motion/state_file.hpp"
#include "ga_tools/commands.hpp"

namespace {

using namespace ga_dynamics;
using namespace ga_motion;
using namespace ga_tools;
using namespace ga_tools::cli;

constexpr int kExitFailure = 1;   // the machine's fault: disk full, out of memory
constexpr int kExitBadInput = 2;  // the fault of arguments, description or states

constexpr const char* kStatesHelp =
    "\n"
    "States are comma-separated, one per line, in rad, m, s, N m and N. If the first line has no\n"
    "numbers it is a header: columns are found by name, others are ignored with a note. Names are\n"
    "q1… or the joints' own: elbow, velocity_elbow, acceleration_elbow, effort_elbow. Without a\n"
    "header the columns must be exactly those above. # starts a comment. Results have 17\n"
    "significant digits. A bad line stops the command with its number and exit code 2, after the\n"
    "results of the lines before it.\n"
    "\n";

constexpr const char* kExperimentsHelp =
    "\n"
    "Needs no file and takes a few seconds. Processing times are ratios, medians of alternating\n"
    "runs; all other numbers are the same every time.\n"
    "\n"
    "Examples:\n"
    "  ga experiments\n"
    "  ga experiments --only mata-table5\n"
    "  ga experiments --only mata-line --only provenzano-table2 > lines.txt\n"
    "  ga experiments --list";

/// Everything that options set.
struct Settings {
  RobotArguments robot;
  bool quiet = false;
  InfoOptions info;
  bool json = false;
  std::string states;
  DynamicsOptions dynamics;
  std::vector<std::string> only;  ///< names of experiments; empty: all
  bool list = false;
};

void report(const std::string& message) {
  std::fprintf(stderr, "ga: %s\n", printable(message).c_str());
}

void run_info(const Settings& settings) {
  const Description description = describe_robot(settings.robot);
  print(settings.json ? info_json(description)
                      : info_text(description, {settings.info.list_minimal, settings.quiet}));
}

void run_rows(const RowCommand& command, Settings& settings) {
  if (command.kinematics) settings.robot.chain.allow_missing_inertia = true;
  const Chain chain = load_chain(settings.robot);
  if (!settings.quiet) {
    for (const std::string& warning : chain.warnings()) report("warning: " + warning);
  }
  Dynamics dynamics(chain, settings.dynamics);
  std::vector<std::string> joints;
  for (const ChainJoint& joint : chain.joints()) joints.push_back(joint.name);
  stream_rows(command.make_task(dynamics), joints, settings.states, !settings.quiet);
}

void add_robot_options(CLI::App& app, Settings& to) {
  const char* const group = "Robot";
  RobotArguments& robot = to.robot;
  app.add_option("robot", robot.urdf, "The robot's description")
      ->required()
      ->option_text("ROBOT.urdf REQUIRED");
  add_chain_options(app, robot.chain, group);
  app.add_option("--payload", robot.payload, "Point mass, kg and m, in the tip link's frame")
      ->expected(4)
      ->option_text("MASS X Y Z")
      ->group(group);
  app.add_option("--snap", robot.snap,
                 "Angles this close to a multiple of 90° count as exact (default: 5e-14)")
      ->option_text("RAD")
      ->group(group);
  app.add_flag("--quiet", to.quiet, "No warnings and no progress");
}

void add_dynamics_options(CLI::App& app, DynamicsOptions& to) {
  static const std::map<std::string, Method> kMethods{{"tensor", Method::kTensor},
                                                      {"vector", Method::kVector},
                                                      {"dalembert", Method::kDalembert},
                                                      {"mlc", Method::kMinimal}};
  app.add_option_function<std::string>(
         "--method",
         [&to](const std::string& name) {
           const auto found = kMethods.find(name);
           if (found == kMethods.end()) {
             throw InputError("--method " + name +
                              ": no such method; give tensor, vector, dalembert or mlc");
           }
           to.method = found->second;
         },
         "Gibbs–Appell tensor or vector form, closed d'Alembert\n"
         "equations, or minimal linear combinations (default: tensor)")
      ->option_text("tensor|vector|dalembert|mlc");
  app.add_flag_callback(
      "--drives", [&to] { to.drives = Drives::kAll; },
      "Add the drives' armature and friction to the rigid bodies");
}

void add_info_command(CLI::App& app, Settings& to) {
  CLI::App* const command = app.add_subcommand(
      "info",
      "Describe the robot: tree, branches, the chosen chain and why, what is missing for torques, "
      "joints, modified-DH table, inertias, minimal parameters, operation counts");
  add_robot_options(*command, to);
  command->add_flag("--minimal", to.info.list_minimal, "List the minimal parameters");
  command->add_flag("--json", to.json, "For programs: everything as JSON (doc/info_json.md)");
  command->footer(
      "Examples:\n"
      "  ga info robot.urdf\n"
      "  ga info robot.urdf --minimal\n"
      "  ga info robot.urdf --json | jq .chain.joints\n"
      "  ga info robot.urdf --base shoulder --tip wrist --freeze all");
  command->callback([&to] { run_info(to); });
}

void add_row_command(CLI::App& app, const RowCommand& row_command, Settings& to) {
  CLI::App* const command = app.add_subcommand(row_command.name, row_command.description);
  add_robot_options(*command, to);
  command->add_option("--states", to.states, "CSV file of states; - for standard input")
      ->required()
      ->option_text("FILE REQUIRED");
  if (!row_command.kinematics) add_dynamics_options(*command, to.dynamics);
  command->footer(std::string(row_command.columns) + kStatesHelp + "Examples:\n" +
                  row_command.examples);
  command->callback([&row_command, &to] { run_rows(row_command, to); });
}

void add_experiments_command(CLI::App& app, Settings& to) {
  CLI::App* const command = app.add_subcommand(
      "experiments", "Repeat the papers' experiments: our numbers beside the printed ones");
  command->add_option("--only", to.only, "Run only this experiment; repeatable (default: all)")
      ->allow_extra_args(false)
      ->option_text("NAME");
  command->add_flag("--list", to.list, "List the experiments and run none");
  command->add_flag("--quiet", to.quiet, "No progress");
  command->footer("Experiments:\n" + experiments_list() + kExperimentsHelp);
  command->callback([&to] {
    if (to.list) return print(experiments_list());
    run_experiments(to.only, to.quiet);
  });
}

/// CLI11 takes -.5 for an option, but not -0.5.
std::vector<std::string> readable_numbers(int argc, const char* const* argv) {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  for (std::string& argument : arguments) {
    const bool number = argument.size() > 2 && argument.starts_with("-.") &&
                        std::isdigit(static_cast<unsigned char>(argument[2])) != 0;
    if (number) argument.insert(1, "0");
  }
  return arguments;
}

/// The message for arguments that do not fit.
std::string usage_error(const CLI::App& app, const std::vector<std::string>& arguments,
                        const CLI::ParseError& error) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (!chosen.empty()) {
    return std::string(error.what()) + " (ga " + chosen.back()->get_name() + " --help)";
  }
  std::string names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return (arguments.empty() ? "no command" : "'" + arguments.front() + "' is not a command") +
         "; give one of " + names + " (ga --help)";
}

void run(int argc, const char* const* argv) {
  Settings settings;
  CLI::App app("Dynamics of serial robot arms from their URDF, by the Gibbs–Appell equations.\n",
               "ga");
  app.require_subcommand(1);
  app.set_version_flag("--version", "ga " GA_VERSION);
  app.footer(
      "Examples:\n"
      "  ga info robot.urdf\n"
      "  ga id robot.urdf --states motion.csv > torques.csv\n"
      "  ga experiments\n"
      "  ga id --help");
  app.get_formatter()->column_width(38);
  add_info_command(app, settings);
  for (const RowCommand& command : row_commands()) add_row_command(app, command, settings);
  add_experiments_command(app, settings);
  const Program program{.name = "ga", .command_line = ga_tools::command_line("ga", argc, argv)};
  add_sim_command(app, program);
  add_estimate_payload_command(app, program);
  add_motion_command(app, program);
  add_time_command(app, program);
  add_check_command(app, program);
  add_limits_command(app, program);
  add_report_command(app, program);

  const std::vector<std::string> arguments = readable_numbers(argc, argv);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    print(app.help());
  } catch (const CLI::CallForVersion& version) {
    print(std::string(version.what()) + "\n");
  } catch (const CLI::RuntimeError&) {
    throw;
  } catch (const CLI::ParseError& error) {
    throw InputError(usage_error(app, arguments, error));
  }
  // sim, motion and report write through the C library.
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return;
  throw OutputError("cannot write to standard output: " +
                    (flushed ? "earlier output is lost" : std::generic_category().message(errno)));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
    return 0;
  } catch (const ReaderGone&) {
    return 0;
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const OutputError& error) {
    report(error.what());
    return kExitFailure;
  } catch (const std::bad_alloc&) {
    report("out of memory");
    return kExitFailure;
  } catch (const std::exception& error) {
    report(error.what());
    return kExitBadInput;
  }
}
