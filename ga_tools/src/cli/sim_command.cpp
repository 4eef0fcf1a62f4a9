// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/output_folder.hpp"
#include "cli/robot_option.hpp"
#include "ga_tools/chain_arguments.hpp"
#include "ga_tools/commands.hpp"
#include "report/report_writer.hpp"
#include "study/demonstration.hpp"
#include "study/report_data.hpp"

namespace ga_tools {
namespace {

namespace fs = std::filesystem;

struct Settings {
  DemonstrationOptions options;
  RobotOption robot;
  ChainArguments chain;
  double mismatch_percent = 0;
  std::string folder;
};

void show_progress(double share_done, const std::string& what) {
  if (isatty(STDERR_FILENO) == 0) return;
  constexpr int kWidth = 40;
  const int done = static_cast<int>(share_done * kWidth);
  std::fprintf(stderr, "\r[%s%s] %3.0f %% %-26s",
               std::string(static_cast<std::size_t>(done), '#').c_str(),
               std::string(static_cast<std::size_t>(kWidth - done), ' ').c_str(), 100 * share_done,
               what.c_str());
  if (share_done >= 1) std::fprintf(stderr, "\n");
}

void write_data(const std::string& data, const fs::path& file) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << data << '\n';
  out.close();
  if (!out) {
    throw std::runtime_error("--output " + file.parent_path().string() + ": cannot write " +
                             file.filename().string() + " there; name another folder");
  }
}

void run(Settings settings) {
  DemonstrationOptions& options = settings.options;
  options.mismatch = settings.mismatch_percent / 100;
  options.chain = chain_options(settings.chain);
  options.urdf = settings.robot.file();
  const fs::path folder = settings.folder;
  OutputFolder output(folder);
  const auto result = demonstrate(options, show_progress);
  output.keep();
  std::printf("robot: %s, %s to %s, %d joints\nmotion: %s\n", options.urdf.filename().c_str(),
              result.chain.base().name.c_str(), result.chain.tip().name.c_str(),
              result.chain.size(), result.motion.c_str());
  for (const std::string& note : result.notes) std::printf("note: %s\n", note.c_str());
  std::printf("%s", table_text(result).c_str());
  const std::string data = report_data(result, options).dump();
  write_data(data, folder / "data.json");
  write_report(data, share_folder("ga_tools") / "report", folder / "report.html");
  std::printf("report: %s\n", fs::absolute(folder / "report.html").c_str());
  if (!result.ok()) throw CLI::RuntimeError(1);
}

}  // namespace

void add_sim_command(CLI::App& app, const Program& program) {
  const auto settings = std::make_shared<Settings>();
  settings->folder = program.name + "_sim";
  DemonstrationOptions& options = settings->options;
  options.command = program.command_line;
  CLI::App* command = app.add_subcommand(
      "sim",
      "Simulate an arm under several control laws, one after another: print a table, write a "
      "report (report.html) and its data (data.json). Exit code 1 if a run diverges, loses its "
      "reference or oscillates; the joint PD counts only if it is named with --law");
  const std::string sim = program.name + " sim" + robot_example(program);
  command->footer("Examples:\n  " + sim + "\n  " + sim +
                  " --law integral --law pd --payload 2.5 --output heavy\n  " + sim +
                  " --law tracking --bandwidth 60 --kp 3600,3600,3600,2500,2500,2500\n  " + sim +
                  " --trajectory via.csv   (lines of time and one position per joint)");
  const auto section = [command](const char* name) { return command->add_option_group(name); };

  CLI::App* what = section("What is simulated");
  what->add_option("--law", options.laws,
                   "integral, tracking, ptp (point to point), hold (gravity), pd (joint by joint, "
                   "without a model); repeatable (default: integral, tracking, ptp, pd)")
      ->type_name("NAME")
      ->delimiter(',');
  what->add_option(
          "--trajectory", options.trajectory,
          "line (straight, of the tool), ramp, spline, quintic (of all joints), a CSV file "
          "of via points, or auto: line, else a motion of all joints")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  add_robot_option(program.urdf.empty() ? *command : *what, program, settings->robot);
  what->add_option("--settle", options.settle_time, "Time at the goal after the motion, s")
      ->capture_default_str();
  what->add_option("--rate", options.rate, "Of the loop, Hz")->capture_default_str();

  CLI::App* gains = section("Gains");
  gains->add_option("--bandwidth", options.bandwidth, "rad/s")->capture_default_str();
  gains->add_option("--damping", options.damping, "Damping ratio")->capture_default_str();
  const auto add_gain = [gains](const char* name, std::vector<double>& to, const char* unit) {
    gains
        ->add_option(name, to,
                     std::string(unit) +
                         ", in place of that of bandwidth and damping: one, or one "
                         "per joint")
        ->delimiter(',');
  };
  add_gain("--kp", options.kp, "1/s^2");
  add_gain("--kd", options.kd, "1/s");
  add_gain("--ki", options.ki, "1/s^3");
  gains->add_option("--friction", options.friction, "Share of the friction fed forward, 0 to 1")
      ->capture_default_str();

  CLI::App* unknown = section("What the laws do not know");
  unknown->add_option("--payload", options.payload, "At the tool, kg")->capture_default_str();
  unknown
      ->add_option("--mismatch", settings->mismatch_percent,
                   "Error of every mass and inertia, at random, up to so many %")
      ->capture_default_str();
  unknown->add_option("--stiction", options.stiction, "Break-away over Coulomb friction")
      ->capture_default_str();
  unknown->add_option("--noise", options.noise, "Of the positions before the encoders, rad")
      ->capture_default_str();
  unknown->add_flag("--ideal", options.ideal, "No encoder counts, no DAC steps");
  unknown->add_option("--seed", options.seed, "The same seed gives the same numbers")
      ->capture_default_str();

  add_chain_options(*command, settings->chain);
  command->add_option("--output", settings->folder, "Folder for the report")
      ->type_name("FOLDER")
      ->capture_default_str();
  command->callback([settings] { run(*settings); });
}

}  // namespace ga_tools
