// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numbers>
#include <stdexcept>
#include <string>

#include "arm/calibration_posture.hpp"
#include "arm/calibrator.hpp"
#include "cli/arm_session.hpp"
#include "cli/commands.hpp"
#include "ga_tools/commands.hpp"

namespace puma_hardware::cli {
namespace {

struct Settings {
  ArmOptions arm;
  bool build = false, unguarded = false, overwrite = false, trust_position = false;
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

constexpr double kDegree = 0.017453292519943295;
/// Motor turns that the sweep of a joint needs: for pulses enough, and runs up to them.
constexpr double kLeastTurns = 6;
/// rad between the joints and the sweep: less than on a motion, for the model may be wrong.
constexpr const char* kSweepError = "0.08";

/// The ends of the sweep.
struct Ranges {
  std::array<double, 6> low{}, high{};
};

std::string angles(double low, double high) {
  char text[96];
  std::snprintf(text, sizeof text, "%.4g to %.4g rad (%.1f to %.1f degrees)", low, high,
                low / kDegree, high / kDegree);
  return text;
}

/// Throws std::runtime_error naming option, joint, value and range.
void check_angle(const char* option, const JointSettings& joint, double value, double low,
                 double high) {
  if (value >= low && value <= high) return;
  char number[120];
  std::snprintf(number, sizeof number, ": %s = %g is outside of ", joint.name.c_str(), value);
  std::string text = option + std::string(number) + angles(low, high);
  if (value * kDegree >= low && value * kDegree <= high && std::abs(value) > 3.2) {
    std::snprintf(number, sizeof number, "; were these degrees? In rad it is %.4f",
                  value * kDegree);
    text += number;
  }
  throw std::runtime_error(text);
}

Ranges ranges_of(const Settings& settings, const ArmSettings& arm, const std::vector<double>& at) {
  Ranges ranges;
  for (std::size_t i = 0; i < 6; ++i) {
    const double margin = arm.safety.soft_limit_margin * 1.5;
    const auto& joint = arm.joints[i];
    const double least = std::max(joint.lower + margin, joint.soft_lower);
    const double most = std::min(joint.upper - margin, joint.soft_upper);
    const double low = settings.low.empty() ? least : settings.low[i];
    const double high = settings.high.empty() ? most : settings.high[i];
    check_angle("--at", joint, at[i], joint.lower, joint.upper);
    check_angle("--low", joint, low, least, most);
    check_angle("--high", joint, high, least, most);
    const double turns = (high - low) * joint.gear_ratio / (2 * std::numbers::pi);
    if (!(turns >= kLeastTurns)) {
      char text[200];
      std::snprintf(
          text, sizeof text,
          "--low %g, --high %g: %s sweeps %.1f turns of its motor, at least %g are needed "
          "(%.1f degrees); give a wider range",
          low, high, joint.name.c_str(), turns, kLeastTurns, kLeastTurns * 360 / joint.gear_ratio);
      throw std::runtime_error(text);
    }
    ranges.low[i] = low;
    ranges.high[i] = high;
  }
  return ranges;
}

std::string shown(const Ranges& ranges, const ArmSettings& arm, const std::vector<double>& at) {
  std::string text = "One joint after the other moves to its low end, its high end and back:\n";
  double time = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    char line[200];
    const double way = std::abs(at[i] - ranges.low[i]) + (ranges.high[i] - ranges.low[i]) +
                       std::abs(ranges.high[i] - at[i]);
    time += way / Sweep::speed_of(arm.joints[i]);
    std::snprintf(line, sizeof line, "  %-8s stands at %8.4f rad (%6.1f degrees), sweeps %s\n",
                  arm.joints[i].name.c_str(), at[i], at[i] / kDegree,
                  angles(ranges.low[i], ranges.high[i]).c_str());
    text += line;
  }
  char line[240];
  std::snprintf(
      line, sizeof line,
      "About %.0f s, at four turns of a motor per second. Stands the arm exactly there, and "
      "is the way free, also of the arm itself?",
      time);
  return text + line;
}

constexpr const char* kTrust = "; --trust-at goes on nevertheless";

/// Throws CLI::RuntimeError if gravity says that the arm stands elsewhere.
void compare_posture(const PostureEstimate& posture, const ArmSettings& arm, bool trusted) {
  const std::string wrong = posture.contradiction(arm);
  if (!wrong.empty()) {
    std::fprintf(stderr,
                 "puma: by the torque against gravity along the sweep, %s. Does the arm "
                 "stand where --at says? Else its masses or a payload differ from the description. "
                 "%s%s\n",
                 wrong.c_str(),
                 trusted ? "The table is written all the same" : "No table was written",
                 trusted ? "" : kTrust);
    if (!trusted) failed();
  }
  std::string seen, unseen;
  for (std::size_t i = 0; i < 6; ++i) {
    std::string& to = posture.seen[i] ? seen : unseen;
    to += (to.empty() ? "" : ", ") + arm.joints[i].name;
    if (!posture.seen[i]) continue;
    char text[40];
    std::snprintf(text, sizeof text, " to %.2f rad", 2 * posture.deviation[i]);
    to += text;
  }
  std::printf("--at compared with gravity: %s; not visible: %s\n",
              seen.empty() ? "no joint" : seen.c_str(), unseen.c_str());
}

void build(Settings settings) {
  const std::string file = calibration_file(settings.arm);
  if (file.empty()) throw std::runtime_error("--calibration: name the file to write");
  check_writable(file);
  if (std::filesystem::exists(file) && !settings.overwrite) {
    throw std::runtime_error("--calibration " + file + ": exists; give --overwrite to replace it");
  }
  if (!emulated(settings.arm) && (settings.low.empty() || settings.high.empty())) {
    throw std::runtime_error(
        "--low and --high: give the six ends of the sweep, which the arm can reach without touching "
        "anything");
  }
  // Where the arm does not stand where --at says, the law pushes it: noticed early.
  settings.arm.set.insert(settings.arm.set.begin(),
                          std::string("safety.following_error=") + kSweepError);
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
  const Ranges ranges = ranges_of(settings, arm, at);
  ask(settings.arm, shown(ranges, arm, at));
  CalibrationBuilder builder(arm);
  const bool done = session.run([&](ArmLoop& loop) {
    if (const LoopEnd end = loop.watch(0.1); end != LoopEnd::kDone) return end;
    const std::string wrong = pot_contradiction(arm, six(at), session.arm().reading().pot_volts);
    if (!wrong.empty() && !settings.trust_position) {
      throw std::runtime_error(wrong + ". Does the arm stand where --at says? Nothing has moved" +
                               kTrust);
    }
    session.arm().set_position(six(at));
    return loop.sweep(builder, ranges.low, ranges.high);
  });
  if (!done) {
    if (session.arm().safety().state() == SafetyState::kFault) {
      std::fprintf(stderr,
                   "puma: does the arm stand where --at says? A wrong angle gives the wrong torque "
                   "against gravity, and the sweep ends beyond its range. No table was written\n");
    }
    failed();
  }
  const CalibrationTable table = builder.finish();
  compare_posture(estimate_posture(session.robot().chain(), builder.gravity()), arm,
                  settings.trust_position);
  save_calibration(file, table, arm);
  for (std::size_t i = 0; i < 6; ++i) {
    const JointTable& joint = table.joints[i];
    std::printf("%-8s %3zu index pulses, %.3f to %.3f V\n", arm.joints[i].name.c_str(),
                joint.entries.size(), joint.lowest_volts(), joint.highest_volts());
  }
  std::printf("calibration: %s\n", std::filesystem::absolute(file).c_str());
}

/// What a calibration moves, for the person who answers for it.
std::string shown(const ArmSettings& arm) {
  const CalibrationOptions options;
  std::string text = "One joint after the other moves towards the middle of its range and back:\n";
  double time = options.measure_time;
  for (const JointSettings& joint : arm.joints) {
    char line[120];
    const double way = options.turns * 2 * std::numbers::pi / joint.gear_ratio;
    time += 2 * (options.turns / options.turns_per_second + options.settle_time);
    std::snprintf(line, sizeof line, "  %-8s by %.3f rad (%.0f degrees), up to %.2f rad/s\n",
                  joint.name.c_str(), way, way / kDegree,
                  options.turns_per_second * 2 * std::numbers::pi / joint.gear_ratio);
    text += line;
  }
  char line[120];
  std::snprintf(line, sizeof line, "About %.0f s. Is the way free? Emergency stop in your hand?",
                time);
  return text + line;
}

void calibrate(const Settings& settings) {
  ArmSession session(settings.arm, settings.unguarded, kCalibrationLaw);
  const CalibrationTable table = session.robot().calibration();
  ask(settings.arm, shown(session.arm().settings()));
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
  command->add_flag("--trust-at", settings->trust_position,
                    "--build: go on although potentiometers or gravity contradict --at");
  command->add_flag("--no-guard", settings->unguarded,
                    "Run without a guard process: never with the amplifiers connected");
  command->callback([settings] { settings->build ? build(*settings) : calibrate(*settings); });
}

}  // namespace puma_hardware::cli
