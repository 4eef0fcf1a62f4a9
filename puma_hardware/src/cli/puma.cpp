// SPDX-License-Identifier: Apache-2.0

// The `puma` command.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "report/report_writer.hpp"
#include "sim/demonstration.hpp"

namespace {

namespace fs = std::filesystem;
using puma_hardware::sim::DemonstrationOptions;

/// Folders installed with this program: PREFIX/lib/puma_hardware/puma or PREFIX/bin/puma.
fs::path share(const std::string& package) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  for (fs::path at = program.parent_path(); at.has_relative_path(); at = at.parent_path()) {
    for (const fs::path& prefix : {at, at / package}) {
      if (fs::exists(prefix / "share" / package)) return prefix / "share" / package;
    }
  }
  throw std::runtime_error("share/" + package + " is not installed above " + program.string());
}

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

int simulate(DemonstrationOptions options, const fs::path& folder) {
  if (options.urdf.empty()) options.urdf = share("puma_description") / "urdf/puma560.urdf";
  const auto result = puma_hardware::sim::demonstrate(options, show_progress);
  std::printf("%s", table_text(result).c_str());
  fs::create_directories(folder);
  const fs::path report = folder / "report.html";
  puma::write_report(report_data(result, options).dump(), share("puma_hardware") / "report",
                     report);
  std::printf("report: %s\n", fs::absolute(report).c_str());
  return 0;
}

int report(const fs::path& data, const fs::path& output) {
  std::ifstream in(data, std::ios::binary);
  if (!in) throw std::runtime_error(data.string() + ": cannot be read");
  const std::string json{std::istreambuf_iterator<char>(in), {}};
  puma::write_report(json, share("puma_hardware") / "report", output);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Drives and simulates a PUMA arm"};
  app.require_subcommand(1);

  DemonstrationOptions options;
  std::string folder = "puma_sim";
  double mismatch_percent = 0;
  CLI::App* sim = app.add_subcommand(
      "sim",
      "Simulate the arm under computed-torque control and write a report\nExample: puma sim "
      "--law integral --law pd --payload 2.5");
  sim->add_option("--urdf", options.urdf, "Robot (default: the PUMA 560)");
  sim->add_option("--law", options.laws, "integral, tracking, ptp, hold, pd; repeatable");
  sim->add_option("--trajectory", options.trajectory, "line, quintic, ramp or spline");
  sim->add_option("--bandwidth", options.bandwidth, "rad/s");
  sim->add_option("--damping", options.damping, "damping ratio");
  sim->add_option("--friction", options.friction, "share of the friction fed forward, 0 to 1");
  sim->add_option("--payload", options.payload, "kg at the tool, unknown to the laws");
  sim->add_option("--mismatch", mismatch_percent, "% error of masses and inertias");
  sim->add_option("--rate", options.rate, "Hz");
  sim->add_option("--noise", options.noise, "rad, on the positions");
  sim->add_flag("--ideal", options.ideal, "No encoder counts, no DAC steps");
  sim->add_option("--seed", options.seed, "The same seed gives the same numbers");
  sim->add_option("--output", folder, "Folder for the report");

  std::string data, output = "report.html";
  CLI::App* write = app.add_subcommand(
      "report",
      "Write a report from recorded data\nExample: puma report DATA.json --output report.html");
  write->add_option("data", data, "JSON")->required();
  write->add_option("--output", output, "HTML file");

  try {
    app.parse(argc, argv);
    options.mismatch = mismatch_percent / 100;
    return sim->parsed() ? simulate(options, folder) : report(data, output);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "puma: %s\n", error.what());
    return 2;
  }
}
