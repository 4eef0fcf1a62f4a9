// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/robot_option.hpp"
#include "ga_motion/motion.hpp"
#include "ga_tools/chain_arguments.hpp"
#include "ga_tools/commands.hpp"

namespace ga_tools {
namespace {

struct Settings {
  RobotOption robot;
  ChainArguments chain;
  std::string trajectory = "line";
  double rate = 50;
};

void run(const Settings& settings) {
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

void add_motion_command(CLI::App& app, const Program& program) {
  const auto settings = std::make_shared<Settings>();
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
  command->add_option("--rate", settings->rate, "Lines a second")
      ->check(number_range(1.0, 10000.0))
      ->capture_default_str();
  command->callback([settings] { run(*settings); });
}

}  // namespace ga_tools
