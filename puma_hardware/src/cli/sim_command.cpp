// SPDX-License-Identifier: Apache-2.0
#include "cli/sim_command.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/share_folder.hpp"
#include "report/report_writer.hpp"
#include "sim/demonstration.hpp"
#include "sim/report_data.hpp"

namespace puma_hardware::cli {
namespace {

namespace fs = std::filesystem;

struct Settings {
  sim::DemonstrationOptions options;
  double mismatch_percent = 0;
  std::string folder = "puma_sim";
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

void run(Settings settings) {
  sim::DemonstrationOptions& options = settings.options;
  options.mismatch = settings.mismatch_percent / 100;
  if (options.urdf.empty()) options.urdf = share_folder("puma_description") / "urdf/puma560.urdf";
  const auto result = sim::demonstrate(options, show_progress);
  std::printf("%s", table_text(result).c_str());
  fs::create_directories(settings.folder);
  const fs::path report = fs::path(settings.folder) / "report.html";
  write_report(report_data(result, options).dump(), share_folder("puma_hardware") / "report",
               report);
  std::printf("report: %s\n", fs::absolute(report).c_str());
}

}  // namespace

void add_sim_command(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  sim::DemonstrationOptions& options = settings->options;
  CLI::App* command = app.add_subcommand(
      "sim",
      "Simulate the arm under computed-torque control and write a report\nExample: puma sim "
      "--law integral --law pd --payload 2.5");
  command->add_option("--urdf", options.urdf, "Robot (default: the PUMA 560)");
  command->add_option("--law", options.laws, "integral, tracking, ptp, hold, pd; repeatable");
  command->add_option("--trajectory", options.trajectory, "line, quintic, ramp or spline");
  command->add_option("--bandwidth", options.bandwidth, "rad/s");
  command->add_option("--damping", options.damping, "damping ratio");
  command->add_option("--friction", options.friction, "share of the friction fed forward, 0 to 1");
  command->add_option("--payload", options.payload, "kg at the tool, unknown to the laws");
  command->add_option("--mismatch", settings->mismatch_percent, "% error of masses and inertias");
  command->add_option("--rate", options.rate, "Hz");
  command->add_option("--noise", options.noise, "rad, on the positions");
  command->add_flag("--ideal", options.ideal, "No encoder counts, no DAC steps");
  command->add_option("--seed", options.seed, "The same seed gives the same numbers");
  command->add_option("--output", settings->folder, "Folder for the report");
  command->callback([settings] { run(*settings); });
}

}  // namespace puma_hardware::cli
