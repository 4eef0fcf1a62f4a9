// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "cli/arm_session.hpp"
#include "cli/commands.hpp"
#include "ga_tools/commands.hpp"

namespace puma_hardware::cli {
namespace {

struct Settings {
  ArmOptions arm;
  bool build = false, unguarded = false, overwrite = false;
  std::vector<double> at, low, high;
};

/// Soft, for slow motions of an arm whose position is not yet known.
constexpr LawChoice kCalibrationLaw{ga_controllers::LawKind::kTrackingIntegral, 20, 1, 0.8};

std::array<double, 6> six(const std::vector<double>& values) {
  std::array<double, 6> result{};
  std::copy_n(values.begin(), 6, result.begin());
  return result;
}

int failed() { throw CLI::RuntimeError(1); }

void build(const Settings& settings) {
  const std::string file = calibration_file(settings.arm);
  if (file.empty()) throw std::runtime_error("--calibration: name the file to write");
  if (std::filesystem::exists(file) && !settings.overwrite) {
    throw std::runtime_error("--calibration " + file + ": exists; give --overwrite to replace it");
  }
  ArmSession session(settings.arm, settings.unguarded, kCalibrationLaw);
  const ArmSettings& arm = session.arm().settings();
  std::vector<double> at = settings.at;
  if (at.empty() && session.robot().arm() != nullptr) {
    const auto q = session.robot().arm()->plant().q();
    at.assign(q.begin(), q.end());
  }
  if (at.empty()) {
    throw std::runtime_error("--at: give the six present joint angles [rad]");
  }
  std::array<double, 6> low{}, high{};
  for (std::size_t i = 0; i < 6; ++i) {
    const double margin = arm.safety.soft_limit_margin * 1.5;
    const auto& joint = arm.joints[i];
    low[i] =
        settings.low.empty() ? std::max(joint.lower + margin, joint.soft_lower) : settings.low[i];
    high[i] =
        settings.high.empty() ? std::min(joint.upper - margin, joint.soft_upper) : settings.high[i];
  }
  CalibrationBuilder builder(arm);
  const bool done = session.run([&](ArmLoop& loop) {
    if (const LoopEnd end = loop.watch(0.1); end != LoopEnd::kDone) return end;
    session.arm().set_position(six(at));
    return loop.sweep(builder, low, high);
  });
  if (!done) failed();
  const CalibrationTable table = builder.finish();
  save_calibration(file, table, arm);
  for (std::size_t i = 0; i < 6; ++i) {
    const JointTable& joint = table.joints[i];
    std::printf("%-8s %3zu index pulses, %.3f to %.3f V\n", arm.joints[i].name.c_str(),
                joint.entries.size(), joint.lowest_volts(), joint.highest_volts());
  }
  std::printf("calibration: %s\n", std::filesystem::absolute(file).c_str());
}

void calibrate(const Settings& settings) {
  ArmSession session(settings.arm, settings.unguarded, kCalibrationLaw);
  const CalibrationTable table = session.robot().calibration();
  if (!session.run([&](ArmLoop& loop) { return loop.calibrate(table); })) failed();
  const ArmReading& reading = session.arm().reading();
  std::printf("calibrated; the arm is at");
  for (const double q : reading.q) std::printf(" %.5f", q);
  std::printf(" rad\n");
  if (session.robot().arm() == nullptr) return;
  double worst = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    worst = std::max(worst, std::abs(reading.q[i] - session.robot().arm()->plant().q()[i]));
  }
  std::printf("its true position is within %.3f mrad of that\n", worst * 1e3);
}

}  // namespace

void add_calibrate_command(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand(
      "calibrate",
      "Find the arm's position by small motions of each joint; with --build, sweep the joints and "
      "write the table for this\n"
      "Examples: puma calibrate --io ports --calibration arm.json\n          puma calibrate "
      "--build "
      "--io ports --calibration arm.json --at 0 -1.5708 1.5708 0 0 0");
  add_robot_options(*command, settings->arm);
  add_drive_options(*command, settings->arm);
  command->add_flag("--build", settings->build, "Build the table");
  command->add_option("--at", settings->at, "--build: present position, rad")
      ->expected(6)
      ->check(ga_tools::finite_number());
  command->add_option("--low", settings->low, "--build: low ends of the sweep, rad")
      ->expected(6)
      ->check(ga_tools::finite_number());
  command->add_option("--high", settings->high, "--build: high ends, rad")
      ->expected(6)
      ->check(ga_tools::finite_number());
  command->add_flag("--overwrite", settings->overwrite, "--build: replace the file");
  command->add_flag("--no-guard", settings->unguarded,
                    "Run without a guard process: never with the amplifiers connected");
  command->callback([settings] { settings->build ? build(*settings) : calibrate(*settings); });
}

}  // namespace puma_hardware::cli
