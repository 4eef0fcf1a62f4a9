// SPDX-License-Identifier: Apache-2.0
#include "ga_tools/commands.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "ga_motion/trajectory.hpp"
#include "report/report_document.hpp"
#include "report/report_writer.hpp"
#include "study/demonstration.hpp"
#include "study/provenance.hpp"
#include "study/recorded_runs.hpp"
#include "study/report_data.hpp"

namespace ga_tools {
namespace {

namespace fs = std::filesystem;

void write_page(const std::string& data, const fs::path& file) {
  write_report(data, share_folder("ga_tools") / "report", file);
}

struct SimSettings {
  DemonstrationOptions options;
  RobotOption robot;
  ChainArguments chain;
  std::string folder;
};

void show_progress(double share_done, const std::string& what) {
  if (isatty(STDERR_FILENO) == 0) return;
  constexpr std::size_t kWidth = 40;
  const auto done = static_cast<std::size_t>(share_done * kWidth);
  std::fprintf(stderr, "\r[%s%s] %3.0f %% %-26s", std::string(done, '#').c_str(),
               std::string(kWidth - done, ' ').c_str(), 100 * share_done, what.c_str());
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

void run_sim(SimSettings settings) {
  DemonstrationOptions& options = settings.options;
  options.chain = chain_options(settings.chain);
  options.urdf = settings.robot.file();
  const fs::path folder = settings.folder;
  OutputFolder output(folder);
  const auto result = demonstrate(options, show_progress, [&](const Demonstration& d) {
    std::printf("robot: %s, %s to %s, %d joints\nmotion: %s\n", options.urdf.filename().c_str(),
                d.chain.base().name.c_str(), d.chain.tip().name.c_str(), d.chain.size(),
                d.motion.c_str());
    for (const std::string& line : texts_of(d.stability)) std::printf("%s\n", line.c_str());
    for (const std::string& note : d.notes) std::printf("note: %s\n", note.c_str());
    std::fflush(stdout);
  });
  output.keep();
  std::printf("%s", table_text(result).c_str());
  const std::string data = report_data(result, options).dump();
  write_data(data, folder / "data.json");
  write_page(data, folder / "report.html");
  std::printf("report: %s\n", fs::absolute(folder / "report.html").c_str());
  if (!result.ok()) throw CLI::RuntimeError(1);
}

struct ReportSettings {
  RobotOption robot;
  std::string data, output = "report.html", command;
  ChainArguments chain;
};

std::string remedy(const ReportSettings& settings) {
  return "give a JSON file written by `" + settings.robot.program.name +
         " sim`, or one as described in ga_tools/report/README.md";
}

/// The report's data from runs that were recorded elsewhere.
std::string data_of_recordings(const nlohmann::json& recorded, const ReportSettings& settings) {
  const std::filesystem::path urdf = settings.robot.file();
  const auto chain = ga_dynamics::Chain::from_urdf_file(urdf, chain_options(settings.chain));
  const Demonstration runs = recorded_runs(recorded, chain);
  std::printf("%s", table_text(runs).c_str());
  const std::vector<double>& time = runs.results.front().recording.time;
  const double rate = static_cast<double>(time.size() - 1) / (time.back() - time.front());
  const ReportTexts texts{recorded.value("title", "Recorded runs"),
                          recorded.value("subtitle", settings.data),
                          recorded.value("generated", "")};
  nlohmann::json data = report_data(runs, urdf, texts, rate, false);
  data["made_with"] = provenance(chain, urdf, settings.command);
  return data.dump();
}

void run_report(const ReportSettings& settings) {
  std::ifstream in(settings.data, std::ios::binary);
  if (!in) throw std::runtime_error(settings.data + ": cannot be read; " + remedy(settings));
  const std::string json{std::istreambuf_iterator<char>(in), {}};
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (parsed.is_discarded()) {
    throw std::runtime_error(settings.data + ": is not valid JSON; " + remedy(settings));
  }
  if (parsed.is_object() && parsed.contains("recordings")) {
    write_page(data_of_recordings(parsed, settings), settings.output);
    return;
  }
  try {
    check_report_document(parsed);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(settings.data + ": " + error.what() + "; " + remedy(settings));
  }
  write_page(json, settings.output);
}

struct MotionSettings {
  RobotOption robot;
  ChainArguments chain;
  std::string trajectory = "line";
  double rate = 50;
};

void run_motion(const MotionSettings& settings) {
  const auto chain =
      ga_dynamics::Chain::from_urdf_file(settings.robot.file(), chain_options(settings.chain));
  const auto motion = ga_motion::make_motion(settings.trajectory, chain);
  std::printf("t");
  for (const char* prefix : {"", "velocity_", "acceleration_"}) {
    for (const auto& joint : chain.joints()) std::printf(",%s%s", prefix, joint.name.c_str());
  }
  std::printf("\n");
  const std::size_t n = chain.joints().size();
  std::vector<double> values(3 * n);
  const std::span<double> all(values);
  const double duration = motion->duration();
  const long last = static_cast<long>(std::ceil(duration * settings.rate));
  for (long k = 0; k <= last; ++k) {
    const double t = std::min(static_cast<double>(k) / settings.rate, duration);
    motion->sample(t, all.first(n), all.subspan(n, n), all.last(n));
    std::printf("%.9g", t);
    for (const double value : values) std::printf(",%.12g", value);
    std::printf("\n");
  }
}

}  // namespace

void add_disturbances(CLI::App& group, ga_hardware::Disturbances& to,
                      std::span<const std::string_view> only) {
  for (const ga_hardware::DisturbanceOption& option : ga_hardware::disturbance_options()) {
    std::string name = option.name;
    if (!only.empty() && std::find(only.begin(), only.end(), name) == only.end()) continue;
    std::replace(name.begin(), name.end(), '_', '-');
    std::string meaning = option.meaning;
    meaning.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(meaning.front())));
    char initial[32];
    std::snprintf(initial, sizeof initial, "%g", to.*option.value / option.scale);
    group
        .add_option_function<double>(
            "--" + name,
            [&to, &option](const double& value) { to.*option.value = value * option.scale; },
            meaning)
        ->type_name("FLOAT")
        ->default_str(initial);
  }
}

void add_sim_command(CLI::App& app, const Program& program) {
  const auto settings = std::make_shared<SimSettings>();
  settings->folder = program.name + "_sim";
  DemonstrationOptions& options = settings->options;
  options.command = program.command_line;
  CLI::App* command = app.add_subcommand(
      "sim",
      "Simulate an arm under several control laws, one after another: print a table, write a "
      "report (report.html) and its data (data.json). Exit code 1 if a run diverges, loses its "
      "reference or oscillates; the joint PD counts only if requested with --law");
  const std::string sim = program.name + " sim" + robot_example(program);
  command->footer("Examples:\n  " + sim + "\n  " + sim +
                  " --law integral --law pd --payload 2.5 --output heavy\n  " + sim +
                  " --law tracking --bandwidth 60 --kp 3600,3600,3600,2500,2500,2500\n  " + sim +
                  " --trajectory via.csv   (lines of time and one position per joint)");
  const auto section = [command](const char* name) { return command->add_option_group(name); };

  CLI::App* what = section("Simulation");
  what->add_option(
          "--law", options.laws,
          "integral, tracking, ptp (point to point), hold (gravity); joint by joint: pd, pid "
          "(both without a model), pd-gravity; repeatable (default: all but hold)")
      ->type_name("NAME")
      ->delimiter(',');
  what->add_option(
          "--trajectory", options.trajectory,
          "line (straight tool path), ramp, spline, quintic (all joints), a CSV file of via points, "
          "or auto: line if reachable, else a motion of all joints")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  add_robot_option(program.urdf.empty() ? *command : *what, program, settings->robot);
  what->add_option("--settle", options.settle_time, "Time at the goal after the motion, s")
      ->capture_default_str();
  what->add_option("--rate", options.rate, "Control rate, Hz")->capture_default_str();

  CLI::App* gains = section("Gains");
  gains->add_option("--bandwidth", options.bandwidth, "rad/s")->capture_default_str();
  gains->add_option("--damping", options.damping, "Damping ratio")->capture_default_str();
  const auto add_gain = [gains](const char* name, std::vector<double>& to, const char* unit) {
    gains
        ->add_option(name, to,
                     std::string(unit) +
                         ", overrides bandwidth and damping: one value, or one "
                         "per joint")
        ->delimiter(',');
  };
  add_gain("--kp", options.kp, "1/s^2");
  add_gain("--kd", options.kd, "1/s");
  add_gain("--ki", options.ki, "1/s^3");
  gains->add_option("--friction", options.friction, "Fraction of the friction fed forward, 0 to 1")
      ->capture_default_str();

  gains->add_flag("--adapt", options.adapt,
                  "The tracking laws estimate errors of masses, payload and friction in motion");

  add_known_payload(*section("Payload known to the laws"), options.known_payload);
  CLI::App* unknown = section("Disturbances unknown to the laws");
  unknown
      ->add_option("--payload", options.payload,
                   "At the tool, kg; the laws know of it what --known-payload tells")
      ->capture_default_str();
  unknown
      ->add_option("--payload-com", options.payload_com,
                   "Its center of mass in the tip link's frame, m")
      ->type_name("X,Y,Z")
      ->delimiter(',');
  add_disturbances(*unknown, options.disturbances);
  unknown->add_option("--noise", options.noise, "Position noise before the encoders, rad")
      ->capture_default_str();
  unknown->add_flag("--ideal", options.ideal, "No encoder and DAC quantization");
  unknown->add_option("--seed", options.seed, "Seed of the random numbers")->capture_default_str();

  add_uncertainty_options(*command, options.uncertainty);
  add_chain_options(*command, settings->chain);
  command->add_option("--output", settings->folder, "Folder for the report")
      ->type_name("FOLDER")
      ->capture_default_str();
  command->callback([settings] { run_sim(*settings); });
}

void add_report_command(CLI::App& app, const Program& program) {
  const auto settings = std::make_shared<ReportSettings>();
  settings->command = program.command_line;
  CLI::App* report = app.add_subcommand(
      "report", "Write the report of recorded data as one self-contained HTML file");
  report->footer("Example:\n  " + program.name + " report " + program.name +
                 "_sim/data.json --output report.html");
  report
      ->add_option(
          "data", settings->data,
          "JSON written by the sim command, or {\"recordings\": …}\n(ga_tools/report/README.md)")
      ->type_name("FILE")
      ->required();
  report->add_option("--output", settings->output, "HTML file")
      ->type_name("FILE")
      ->capture_default_str();
  settings->robot.program = program;
  report
      ->add_option("--urdf", settings->robot.given,
                   "Robot that was recorded" + default_robot(program))
      ->type_name("FILE");
  add_chain_options(*report, settings->chain);
  report->callback([settings] { run_report(*settings); });
}

void add_motion_command(CLI::App& app, const Program& program) {
  const auto settings = std::make_shared<MotionSettings>();
  CLI::App* command = app.add_subcommand(
      "motion",
      "Print a motion as CSV: time, positions, velocities and accelerations of the joints");
  command->footer("Example:\n  " + program.name + " motion" + robot_example(program) +
                  " --trajectory line --rate 100 > line.csv");
  command
      ->add_option("--trajectory", settings->trajectory,
                   "line, quintic, ramp, spline, or a CSV file of via points")
      ->capture_default_str();
  add_robot_option(*command, program, settings->robot);
  add_chain_options(*command, settings->chain);
  command->add_option("--rate", settings->rate, "Lines per second")
      ->check(number_range(1.0, 10000.0))
      ->capture_default_str();
  command->callback([settings] { run_motion(*settings); });
}

}  // namespace ga_tools
