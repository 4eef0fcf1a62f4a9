// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "ga_motion/trajectory.hpp"
#include "ga_tools/closed_loop.hpp"
#include "ga_tools/commands.hpp"
#include "ga_tools/payload_estimate.hpp"

namespace ga_tools {
namespace {

struct Settings {
  RobotOption robot;
  ChainArguments chain;
  double payload = 0, mismatch = 0, noise = 0;
  std::vector<double> com;
  unsigned seed = 1;
};

void run(const Settings& settings) {
  const auto chain =
      ga_dynamics::Chain::from_urdf_file(settings.robot.file(), chain_options(settings.chain));
  const std::size_t n = chain.joints().size();
  std::vector<double> start(n), rates(n);
  const auto motion = ga_motion::choose_motion("auto", chain);
  motion.trajectory->sample(0, start, rates, rates);
  const PayloadMotion payload_motion(chain, start);

  const LoopOptions loop;
  ga_hardware::SimulatedArmSettings arm = settings_for(payload_motion.trajectory(), loop);
  arm.payload = ga_dynamics::make_payload(settings.payload, settings.com, {});
  arm.disturbances.mismatch = settings.mismatch / 100;
  arm.seed = settings.seed;
  arm.signals = ga_hardware::signals_of(chain);
  for (JointSignals& s : arm.signals) s.noise = settings.noise;
  arm.errors = ga_hardware::draw_errors(arm.disturbances, n, settings.seed);
  ga_hardware::SimulatedArm simulated(chain, arm);
  LawUnderTest law = computed_torque(
      chain,
      ga_hardware::law_parameters(ga_controllers::LawKind::kTrackingIntegral,
                                  {ga_controllers::gains_from_bandwidth(40, 1)}, 1, arm.signals));
  const RunRecording recording = run_loop(simulated, chain, payload_motion.trajectory(), law, loop);
  if (recording.ended) throw std::runtime_error(describe(*recording.ended));
  std::printf("%s", estimate_payload(chain, payload_motion.samples(recording)).text().c_str());
}

}  // namespace

void add_estimate_payload_command(CLI::App& app, const Program& program) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand(
      "estimate-payload",
      "Estimate mass and center of mass of the payload of a simulated arm from the torques of a "
      "slow motion of its wrist");
  command->footer("Example:\n  " + program.name + " estimate-payload" + robot_example(program) +
                  " --payload 2.5 --payload-com 0,0,0.1");
  add_robot_option(*command, program, settings->robot);
  command->add_option("--payload", settings->payload, "Of the simulated arm, kg")
      ->check(number_range(0, 100))
      ->capture_default_str();
  command
      ->add_option("--payload-com", settings->com, "Its center of mass in the tip link's frame, m")
      ->type_name("X,Y,Z")
      ->delimiter(',')
      ->expected(3);
  command
      ->add_option("--mismatch", settings->mismatch,
                   "Random error of the arm's masses and inertias, up to this many %")
      ->check(number_range(0, 50))
      ->capture_default_str();
  command->add_option("--noise", settings->noise, "Position noise before the encoders, rad")
      ->check(number_range(0, 0.1))
      ->capture_default_str();
  command->add_option("--seed", settings->seed, "Seed of the random numbers")
      ->capture_default_str();
  add_chain_options(*command, settings->chain);
  command->callback([settings] { run(*settings); });
}

}  // namespace ga_tools
