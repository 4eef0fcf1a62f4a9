// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/errors.hpp"
#include "cli/experiments.hpp"
#include "ga_tools/commands.hpp"

namespace ga_tools::cli {

using namespace ga_dynamics;
using namespace ga_motion;
namespace {

struct CommandHelp {
  Command command;
  const char* name;
  const char* description;
  const char* columns;  ///< in and out
  const char* examples;
};

constexpr CommandHelp kCommands[] = {
    {Command::kInfo, "info",
     "Describe the robot: tree, branches to choose from, the chain and why, what torques lack, "
     "joints, modified-DH table, inertias, minimal parameters, operation counts",
     "",
     "  ga info robot.urdf\n"
     "  ga info robot.urdf --minimal\n"
     "  ga info robot.urdf --json | jq .chain.joints\n"
     "  ga info robot.urdf --base shoulder --tip wrist --freeze all"},
    {Command::kInverse, "id", "Inverse dynamics: joint torques from the motion",
     "Reads q1…qn,qd1…qdn,qdd1…qddn; writes tau1…taun.",
     "  ga id robot.urdf --states motion.csv > torques.csv\n"
     "  ga id robot.urdf --states motion.csv --method mlc --drives\n"
     "  echo 0,0,0,0,0,0,0,0,0 | ga id three_joints.urdf --states -"},
    {Command::kForward, "fd", "Forward dynamics: joint accelerations from the torques",
     "Reads q1…qn,qd1…qdn,tau1…taun; writes qdd1…qddn.",
     "  ga fd robot.urdf --states torques.csv > accelerations.csv\n"
     "  ga fd robot.urdf --states torques.csv --payload 2.5 0 0 0.1"},
    {Command::kInertia, "inertia", "Inertia matrix D(q)",
     "Reads q1…qn; writes d11,d12,…,dnn row by row (d1_1,d1_2,… from ten joints on).",
     "  ga inertia robot.urdf --states poses.csv\n"
     "  echo 0,1.57 | ga inertia two_joints.urdf --states - --drives"},
    {Command::kBias, "bias", "Torques of velocity and gravity, C(q,qd) + G(q)",
     "Reads q1…qn,qd1…qdn; writes tau1…taun.",
     "  ga bias robot.urdf --states motion.csv\n"
     "  ga bias robot.urdf --states motion.csv --gravity 0 0 0"},
    {Command::kGravity, "gravity", "Torques that hold the robot at rest, G(q)",
     "Reads q1…qn; writes tau1…taun.",
     "  ga gravity robot.urdf --states poses.csv\n"
     "  ga gravity hanging.urdf --states poses.csv --gravity 0 0 9.81"},
    {Command::kKinematics, "fk", "Forward kinematics: the pose of every link in the base frame",
     "Reads q1…qn; writes <link>.x,.y,.z,.qx,.qy,.qz,.qw for every link: metres, and a unit\n"
     "quaternion with qw >= 0. Links without inertia are fine here.",
     "  ga fk robot.urdf --states poses.csv\n"
     "  echo 0,1.57 | ga fk two_joints.urdf --states -"},
};

constexpr const char* kStatesHelp =
    "\n"
    "States are comma-separated, one per line, in rad, m, s, N m and N. A first line without\n"
    "numbers is a header: columns are found by name and others are ignored, with a note. Names "
    "are\n"
    "q1… or the joints' own: elbow, velocity_elbow, acceleration_elbow, effort_elbow. Without a\n"
    "header the columns are as above, and no others. # begins a comment. Results have 17\n"
    "significant digits. A bad line ends the work with its number and exit code 2, after the\n"
    "results of the lines before it.\n"
    "\n";

constexpr const char* kExperimentsName = "experiments";
constexpr const char* kExperimentsExamples =
    "\n"
    "It needs no file and takes a few seconds. Processing times are given as ratios, medians of "
    "runs\n"
    "taken in turn; all other numbers are the same every time.\n"
    "\n"
    "Examples:\n"
    "  ga experiments\n"
    "  ga experiments --only mata-table5\n"
    "  ga experiments --only mata-line --only provenzano-table2 > lines.txt\n"
    "  ga experiments --list";

constexpr const char* kOverviewExamples =
    "Examples:\n"
    "  ga info robot.urdf\n"
    "  ga id robot.urdf --states motion.csv > torques.csv\n"
    "  ga experiments\n"
    "  ga id --help";

void add_robot_options(CLI::App& app, CommandLine& to) {
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
                 "Angles this near to a multiple of 90° count as exact (default: 5e-14)")
      ->option_text("RAD")
      ->group(group);
  app.add_flag("--quiet", to.quiet, "No warnings and no progress");
}

void add_state_options(CLI::App& app, Command command, CommandLine& to) {
  app.add_option("--states", to.states, "CSV file of states; - for standard input")
      ->required()
      ->option_text("FILE REQUIRED");
  if (command == Command::kKinematics) return;
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
  app.add_flag("--drives", to.drives, "Add the drives' armature and friction to the rigid bodies");
}

void add_experiments_command(CLI::App& app, CommandLine& to, bool& list) {
  CLI::App* const command = app.add_subcommand(
      kExperimentsName, "Run the papers' experiments again: our numbers beside the printed ones");
  command
      ->add_option("--only", to.only, "Run only this experiment; repeatable (default: all of them)")
      ->allow_extra_args(false)
      ->option_text("NAME");
  command->add_flag("--list", list, "List the experiments' names, and run none");
  command->add_flag("--quiet", to.quiet, "No progress");
  command->footer("Experiments:\n" + experiments_list() + kExperimentsExamples);
  command->callback([&to] { to.command = Command::kExperiments; });
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

[[noreturn]] void fail(const CLI::App& app, const std::vector<std::string>& arguments,
                       const CLI::ParseError& error) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (chosen.empty()) {
    std::string names;
    for (const CommandHelp& help : kCommands) {
      names += std::string(help.name) + ", ";
    }
    names += kExperimentsName;
    if (arguments.empty()) throw InputError("no command; give one of " + names + " (ga --help)");
    throw InputError("'" + arguments.front() + "' is no command; give one of " + names +
                     " (ga --help)");
  }
  throw InputError(std::string(error.what()) + " (ga " + chosen.back()->get_name() + " --help)");
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine result;
  CLI::App app("Dynamics of serial robot arms from their URDF, by the Gibbs–Appell equations.\n",
               "ga");
  app.require_subcommand(1);
  app.set_version_flag("--version", "ga " GA_VERSION);
  app.footer(kOverviewExamples);
  app.get_formatter()->column_width(38);
  for (const CommandHelp& help : kCommands) {
    CLI::App* const command = app.add_subcommand(help.name, help.description);
    add_robot_options(*command, result);
    if (help.command == Command::kInfo) {
      command->add_flag("--minimal", result.list_minimal, "List the minimal parameters");
      command->add_flag("--json", result.json,
                        "For programs: everything as JSON (doc/info_json.md)");
    } else {
      add_state_options(*command, help.command, result);
    }
    const bool has_states = help.command != Command::kInfo;
    command->footer(help.columns + std::string(has_states ? kStatesHelp : "") + "Examples:\n" +
                    help.examples);
    command->callback([&result, id = help.command] { result.command = id; });
  }
  bool list = false;
  add_experiments_command(app, result, list);
  const Program program{.name = "ga", .command_line = ga_tools::command_line("ga", argc, argv)};
  for (const auto add : {add_sim_command, add_motion_command, add_report_command}) {
    add(app, program);
    CLI::App* const command = app.get_subcommands({}).back();
    command->parse_complete_callback([&result] { result.command = Command::kDone; });
  }

  const std::vector<std::string> arguments = readable_numbers(argc, argv);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    result.answer = app.help();
  } catch (const CLI::CallForVersion& version) {
    result.answer = std::string(version.what()) + "\n";
  } catch (const CLI::RuntimeError&) {
    throw;
  } catch (const CLI::ParseError& error) {
    fail(app, arguments, error);
  }
  if (list) result.answer = experiments_list();
  return result;
}

}  // namespace ga_tools::cli
