// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <memory>

#include "cli/arm_session.hpp"
#include "cli/commands.hpp"
#include "ga_motion/trajectory.hpp"
#include "ga_tools/payload_estimate.hpp"

namespace puma_hardware::cli {
namespace {

constexpr double kSettle = 0.5;  ///< s at the end of the motion

struct Settings {
  ArmOptions arm;
  bool unguarded = false;
};

void run(const Settings& settings) {
  ArmSession session(settings.arm, settings.unguarded, {});
  const ga_dynamics::Chain& chain = session.robot().chain();
  std::array<double, 6> start{}, rates{};
  ga_motion::make_motion("line", chain)->sample(0, start, rates, rates);
  const ga_tools::PayloadMotion motion(chain, start);
  const CalibrationTable table = session.robot().calibration();
  ask(settings.arm,
      "Every joint moves by a few motor turns for the calibration, then the arm moves to the start of "
      "'line', and the wrist moves slowly for about 45 s. Is the way free? Emergency stop in your "
      "hand?");
  ga_motion::Recording recording;
  const bool done = session.run([&](ArmLoop& loop) {
    return loop.calibrate_and_follow(table, motion.trajectory(), kSettle, &recording);
  });
  if (!done) throw CLI::RuntimeError(1);
  const auto estimate = ga_tools::estimate_payload(chain, motion.samples(recording));
  std::printf("%s", estimate.text().c_str());
}

}  // namespace

void add_estimate_payload_command(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand(
      "estimate-payload",
      "Drive the arm through its cards: calibrate, move the wrist slowly for about 45 s, and estimate "
      "mass and center of mass of the payload from the torques\n"
      "Examples: puma estimate-payload --fast\n          puma estimate-payload --io ports "
      "--calibration arm.json");
  add_robot_options(*command, settings->arm);
  add_drive_options(*command, settings->arm);
  command->add_flag("--no-guard", settings->unguarded,
                    "Run without a guard process: never with the amplifiers connected");
  command->callback([settings] { run(*settings); });
}

}  // namespace puma_hardware::cli
