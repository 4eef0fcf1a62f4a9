// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/arm_session.hpp"
#include "cli/commands.hpp"
#include "ga_motion/trajectory.hpp"
#include "ga_tools/closed_loop.hpp"
#include "ga_tools/commands.hpp"

namespace puma_hardware::cli {
namespace {

using ga_controllers::LawKind;

struct Settings {
  ArmOptions arm;
  std::string law = "integral", trajectory;
  double bandwidth = 40, damping = 1, friction = 1, settle = 2;
  ga_dynamics::Payload payload;
  bool unguarded = false;
  std::string output;
  ga_tools::UncertaintyArguments uncertainty;
};

LawKind kind_of(const std::string& law) {
  if (law == "integral") return LawKind::kTrackingIntegral;
  if (law == "tracking") return LawKind::kTracking;
  return LawKind::kPointToPoint;
}

void print_result(const ga_motion::Recording& recording, const ga_dynamics::Chain& chain,
                  double duration) {
  const ga_tools::Metrics m = ga_tools::measure(recording, chain, duration);
  std::printf("joint error: %.3f mrad RMS, %.3f mrad maximum\n", m.joint_rms * 1e3,
              m.joint_max * 1e3);
  std::printf("tool path error: %.3f mm RMS, %.3f mm maximum\n", m.tool_rms * 1e3,
              m.tool_max * 1e3);
  std::printf("at rest: %.3f mrad off the goal, moving %.3f mrad\n", m.final_error * 1e3,
              m.final_motion * 1e3);
  if (std::isfinite(m.torque_use)) {
    std::printf("maximum torque: %.0f %% of its limit\n", m.torque_use * 100);
  }
}

/// Prints the stability check of the law. Throws std::runtime_error if its gains are refused.
void check_stability(const ga_dynamics::Chain& chain, const LawChoice& law, double rate,
                     const ga_controllers::Uncertainty& uncertainty) {
  const auto check = ga_controllers::check_law(chain, law.kind, law.all_gains(), rate, uncertainty);
  std::printf("%s\n", check.summary.c_str());
  for (const std::string& warning : check.warnings) {
    std::fprintf(stderr, "puma: warning: stability: %s\n", warning.c_str());
  }
  if (!check.accepted()) {
    throw std::runtime_error("--bandwidth " + std::to_string(law.bandwidth) + ": " + check.refusal);
  }
}

/// What the motion does, for the person who answers for it.
std::string shown(const std::string& name, const ga_motion::Trajectory& motion,
                  const ga_dynamics::Chain& chain) {
  constexpr double kStep = 0.01;  // s
  const std::size_t n = chain.joints().size();
  std::vector<double> q(n), qd(n), qdd(n);
  std::vector<double> low(n, 1e9), high(n, -1e9), fastest(n, 0.0);
  for (double t = 0; t <= motion.duration() + kStep; t += kStep) {
    motion.sample(std::min(t, motion.duration()), q, qd, qdd);
    for (std::size_t i = 0; i < n; ++i) {
      low[i] = std::min(low[i], q[i]);
      high[i] = std::max(high[i], q[i]);
      fastest[i] = std::max(fastest[i], std::abs(qd[i]));
    }
  }
  char line[200];
  std::string text =
      "Every joint moves by a few motor turns for the calibration, then the arm moves to the start of "
      "'" +
      name + "' at a quarter of its speed, and follows it:\n";
  for (std::size_t i = 0; i < n; ++i) {
    const double limit = chain.joints()[i].limits.velocity;
    std::snprintf(line, sizeof line,
                  "  %-8s %8.4f to %8.4f rad, up to %.2f rad/s (%.0f %% of %g)\n",
                  chain.joints()[i].name.c_str(), low[i], high[i], fastest[i],
                  100 * fastest[i] / limit, limit);
    text += line;
  }
  std::snprintf(line, sizeof line,
                "%.1f s. Is the way free, also to the start? Emergency stop in your hand?",
                motion.duration());
  return text + line;
}

/// Writes what a run was and did: recording.csv, cycle_times.txt and run.txt.
class RunFiles {
 public:
  /// Throws std::runtime_error if the folder cannot be written.
  explicit RunFiles(const std::string& folder) : folder_(folder) {
    if (folder_.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    // Files of an earlier run stay until there is something to replace them.
    const std::filesystem::path path = std::filesystem::path(folder_) / "run.txt";
    const bool is_new = !std::filesystem::exists(path, error);
    if (!std::ofstream(path, std::ios::app)) {
      throw std::runtime_error("--output: cannot write " + path.string());
    }
    if (is_new) std::filesystem::remove(path, error);
  }
  void write(const char* name, const std::string& text) const {
    if (folder_.empty()) return;
    const std::filesystem::path path = std::filesystem::path(folder_) / name;
    std::ofstream file(path);
    file << text;
    if (!file.flush()) throw std::runtime_error("--output: cannot write " + path.string());
  }
  void write(const ga_motion::Recording& recording, const ga_dynamics::Chain& chain) const {
    if (folder_.empty()) return;
    std::ostringstream text;
    text.precision(9);
    text << "t";
    for (const char* what : {"q_ref", "q", "qd", "tau"}) {
      for (const auto& joint : chain.joints()) text << "," << what << "_" << joint.name;
    }
    text << "\n";
    for (std::size_t k = 0; k < recording.time.size(); ++k) {
      text << recording.time[k];
      for (const auto* values : {&recording.q_ref, &recording.q, &recording.qd, &recording.tau}) {
        for (const auto& joint : *values) text << "," << joint[k];
      }
      text << "\n";
    }
    write("recording.csv", text.str());
  }

 private:
  std::string folder_;
};

void run(const Settings& settings) {
  if (bus_of(settings.arm) == Bus::kPorts && settings.trajectory.empty()) {
    calibration_file(settings.arm);  // named first
    throw std::runtime_error(
        "--trajectory: name the motion of the real arm, a slow one of your own at first: a CSV file "
        "of via points");
  }
  const std::string name = settings.trajectory.empty() ? "line" : settings.trajectory;
  const RunFiles files(settings.output);
  ga_controllers::Uncertainty assumed;
  assumed.delay = 1;  // the DACs hold a torque until the next cycle
  const auto uncertainty = ga_tools::uncertainty_of(settings.uncertainty, assumed);
  LawChoice law{kind_of(settings.law), settings.bandwidth, settings.damping, settings.friction,
                settings.payload};
  if (settings.uncertainty.fit_resonance) {
    law.gains.assign(6, law.all_gains().front());
    ga_tools::fit_resonance(law.kind, uncertainty, law.gains);
  }
  ArmSession session(settings.arm, settings.unguarded, law);
  const ga_dynamics::Chain& chain = session.robot().chain();
  check_stability(chain, law, settings.arm.rate, uncertainty);
  const auto motion = ga_motion::make_motion(name, chain);
  ask(settings.arm, shown(name, *motion, chain));
  const CalibrationTable table = session.robot().calibration();
  ga_motion::Recording recording;
  const bool done = session.run([&](ArmLoop& loop) {
    return loop.calibrate_and_follow(table, *motion, settings.settle, &recording);
  });
  files.write(recording, chain);
  files.write("cycle_times.txt", session.histogram());
  files.write("run.txt", "motion: " + name + "\nlaw: " + settings.law +
                             "\nrate: " + std::to_string(settings.arm.rate) +
                             " Hz\nended: " + (done ? "done" : session.ended()) + "\n");
  if (!recording.time.empty() && recording.time.back() > motion->duration()) {
    ga_tools::trace_tool(recording, chain);
    const bool truth = session.robot().arm() != nullptr;
    std::printf("errors of the %s position:\n", truth ? "true (emulated)" : "measured (encoders)");
    print_result(recording, chain, motion->duration());
  }
  std::printf("%s", session.histogram().c_str());
  if (!done) throw CLI::RuntimeError(1);
}

}  // namespace

void add_run_command(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand(
      "run",
      "Drive the arm through its cards: calibrate, follow a trajectory, stop\n"
      "Examples: puma run --fast\n          puma run --io ports --calibration arm.json --law "
      "tracking --trajectory quintic");
  add_robot_options(*command, settings->arm);
  add_drive_options(*command, settings->arm);
  add_disturbance_options(*command, settings->arm);
  command->add_option("--law", settings->law, "Control law")
      ->check(CLI::IsMember({"integral", "tracking", "ptp"}))
      ->capture_default_str();
  command->add_option(
      "--trajectory", settings->trajectory,
      "line, quintic, ramp, spline, or a CSV file of via points (default: line, a path "
      "of 0.86 m; with --io ports it has to be named)");
  command->add_option("--output", settings->output,
                      "Folder for recording, cycle times and the end of the run");
  command->add_option("--bandwidth", settings->bandwidth, "Of the law, rad/s")
      ->check(ga_tools::number_range(0.1, 500.0))
      ->capture_default_str();
  command->add_option("--damping", settings->damping, "Damping ratio")
      ->check(ga_tools::number_range(0.05, 5.0))
      ->capture_default_str();
  command->add_option("--friction", settings->friction, "Share of friction in the feed-forward")
      ->check(ga_tools::number_range(0.0, 1.0))
      ->capture_default_str();
  ga_tools::add_known_payload(*command, settings->payload);
  command->add_option("--settle", settings->settle, "Time at the goal, s")
      ->check(ga_tools::number_range(0.1, 1000.0))
      ->capture_default_str();
  ga_tools::add_uncertainty_options(*command, settings->uncertainty);
  command->add_flag("--no-guard", settings->unguarded,
                    "Run without a guard process: never with the amplifiers connected");
  command->callback([settings] { run(*settings); });
}

}  // namespace puma_hardware::cli
