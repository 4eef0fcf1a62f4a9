// SPDX-License-Identifier: Apache-2.0

// `time`: the fastest motion along a path. `check`: does a motion keep the limits? `limits`: what
// the limits are, accelerations included.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/number.hpp"
#include "ga_motion/state_file.hpp"
#include "ga_motion/time_parameterization.hpp"
#include "ga_tools/commands.hpp"
#include "study/motion_files.hpp"

namespace ga_tools {
namespace {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using ga_motion::ActiveLimit;
using ga_motion::JointUse;
using ga_motion::LimitUse;
using ga_motion::MotionSamples;
using ga_motion::SampledTiming;
using ga_motion::TimingLimits;

/// The arm, with what both commands take of it.
struct ArmSettings {
  RobotOption robot;
  ChainArguments chain;
  double payload = 0;
  std::vector<double> payload_com;

  Chain load() const {
    const auto bare = Chain::from_urdf_file(robot.file(), chain_options(chain));
    return bare.with_payload(ga_dynamics::make_payload(payload, payload_com, {}));
  }
};

void add_arm(CLI::App& command, const Program& program, ArmSettings& to) {
  add_robot_option(command, program, to.robot);
  command.add_option("--payload", to.payload, "At the tool, kg")
      ->check(number_range(0, ga_dynamics::kLargestPayload))
      ->capture_default_str();
  command
      .add_option("--payload-com", to.payload_com, "Its center of mass in the tip link's frame, m")
      ->type_name("X,Y,Z")
      ->delimiter(',')
      ->expected(3)
      ->check(finite_number());
  add_chain_options(command, to.chain);
}

std::vector<std::string> names_of(const Chain& chain) {
  std::vector<std::string> names;
  for (const ChainJoint& joint : chain.joints()) names.push_back(joint.name);
  return names;
}

/// Calls that throw std::invalid_argument "function: message": without the function. `reserve`: what
/// has been taken off the torque limits that a message may name.
template <class Call>
auto in_plain_words(const std::string& file, const Call& call, double reserve = 0) {
  const auto message = [](const std::string& what) {
    const std::size_t colon = what.find(": ");
    return colon == std::string::npos ? what : what.substr(colon + 2);
  };
  try {
    return call();
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error(file + ": " + message(error.what()));
  } catch (const ga_motion::TimingError& error) {
    std::string text = file + ": " + error.what();
    if (reserve > 0 && error.flaw() != ga_motion::TimingFlaw::kPosition) {
      text += "; the limit is what --reserve " + ga_dynamics::number_text(reserve, 4) +
              " leaves, a smaller one leaves more";
    }
    throw std::runtime_error(text);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(file + ": " + error.what());
  }
}

TimingLimits limits_with_torque(const Chain& chain) {
  TimingLimits limits = ga_motion::limits_of(chain);
  for (std::size_t i = 0; i < limits.torque.size(); ++i) {
    if (limits.torque[i] > 0 && std::isfinite(limits.torque[i])) continue;
    throw std::runtime_error(
        chain.joints()[i].name +
        " has no effort limit; give its <limit> in the description one above zero");
  }
  return limits;
}

void print_note(const FileSamples& samples) {
  if (!samples.note.empty()) std::fprintf(stderr, "note: %s\n", samples.note.c_str());
}

// --- time ---

struct TimeSettings {
  ArmSettings arm;
  std::string path, output = "timed.csv";
  double velocity_scale = 1, reserve = 0, ramp = 0.02, rate = 200, merge = 0;
  int intervals = 1000;
  bool no_fit = false;
};

/// s, with constant acceleration limits that are safe wherever the arm is; 0: there are none.
double safe_duration(const Chain& chain, const TimingLimits& limits,
                     const std::shared_ptr<const ga_motion::Path>& path, int intervals,
                     std::vector<double>& accelerations) {
  accelerations = ga_motion::safe_accelerations(chain, limits);
  if (accelerations.empty()) return 0;
  TimingLimits constant = limits;
  constant.acceleration = accelerations;
  constant.torque.assign(limits.torque.size(), std::numeric_limits<double>::infinity());
  constant.torque_rate = constant.torque;
  ga_motion::PathTimer timer(chain, constant, {.intervals = intervals});
  return timer.time(path).trajectory->duration();
}

void print_comparison(const Chain& chain, const TimingLimits& limits,
                      const std::shared_ptr<const ga_motion::Path>& path, int intervals,
                      double optimum) {
  for (std::size_t i = 0; i < limits.velocity.size(); ++i) {
    if (std::isfinite(limits.velocity[i])) continue;
    std::printf("no comparison to constant acceleration limits: %s has no velocity limit\n",
                chain.joints()[i].name.c_str());
    return;
  }
  std::vector<double> accelerations;
  const double safe = safe_duration(chain, limits, path, intervals, accelerations);
  if (safe == 0) {
    std::printf("no constant acceleration limits keep the torque limits at every posture\n");
    return;
  }
  std::printf("with constant acceleration limits that keep the torque limits everywhere (");
  for (std::size_t i = 0; i < accelerations.size(); ++i) {
    std::printf("%s%.3g", i == 0 ? "" : ", ", accelerations[i]);
  }
  std::printf("): %.4g s, %.2f times as long as %.4g s\n", safe, safe / optimum, optimum);
}

/// Which limit the motion reaches from when to when, before it is slowed down for its samples; shorter
/// parts than 1 % of it are left out.
void print_active(const Chain& chain, const SampledTiming& result) {
  constexpr double kReached = 0.98, kShort = 0.01;
  const std::vector<double>& time = result.timing.time;
  const auto key = [&](std::size_t k) {
    const ActiveLimit& limit = result.active[k];
    if (limit.use < kReached) return std::string("none (torque ramps)");
    return std::string(ga_motion::name_of(limit.kind)) + " of " +
           chain.joints()[static_cast<std::size_t>(limit.joint)].name;
  };
  std::printf("limits reached%s:\n", result.stretch > 1 ? " before it is slowed down" : "");
  for (std::size_t k = 0; k < result.active.size();) {
    const std::string name = key(k);
    std::size_t end = k + 1;
    while (end < result.active.size() && key(end) == name) ++end;
    if (time[end] - time[k] >= kShort * time.back()) {
      const double length = result.timing.s.back();
      std::printf("  %7.3f to %7.3f s  (%3.0f to %3.0f %% of the path)  %s\n", time[k], time[end],
                  100 * result.timing.s[k] / length, 100 * result.timing.s[end] / length,
                  name.c_str());
    }
    k = end;
  }
}

void print_use(const Chain& chain, const TimingLimits& limits, const LimitUse& use) {
  std::printf("%-16s %10s %9s %8s %10s %9s\n", "joint", "torque", "of limit", "at, s", "velocity",
              "of limit");
  for (std::size_t i = 0; i < use.joints.size(); ++i) {
    const JointUse& joint = use.joints[i];
    const auto share = [](double value, double limit) {
      if (std::isinf(limit)) return std::string("-");
      char text[32];
      std::snprintf(text, sizeof text, "%.1f %%", 100 * value);
      return std::string(text);
    };
    std::printf("%-16s %10.4g %9s %8.3f %10.4g %9s\n", chain.joints()[i].name.c_str(),
                joint.torque.value, share(joint.torque.share, limits.torque[i]).c_str(),
                joint.torque.time, joint.velocity.value,
                share(joint.velocity.share, limits.velocity[i]).c_str());
  }
}

std::string csv_of(const Chain& chain, const MotionSamples& samples) {
  std::string text = "t";
  for (const char* prefix : {"", "velocity_", "acceleration_", "effort_"}) {
    for (const ChainJoint& joint : chain.joints()) {
      text += "," + ga_motion::csv_field(prefix + joint.name);
    }
  }
  text += "\n";
  ga_dynamics::Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kAll});
  std::vector<double> tau(chain.joints().size());
  for (std::size_t k = 0; k < samples.times.size(); ++k) {
    dynamics.inverse_dynamics(samples.q[k], samples.qd[k], samples.qdd[k], tau);
    text += ga_dynamics::number_text(samples.times[k], 12);
    for (const std::vector<double>& values : {samples.q[k], samples.qd[k], samples.qdd[k], tau}) {
      for (const double value : values) text += "," + ga_dynamics::number_text(value, 12);
    }
    text += "\n";
  }
  return text;
}

void write(const std::string& text, const std::string& file) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) throw std::runtime_error("--output " + file + ": cannot be written; name another file");
}

void run_time(const TimeSettings& settings) {
  const Chain chain = settings.arm.load();
  const FileSamples points = read_way_points(settings.path, names_of(chain));
  print_note(points);
  TimingLimits limits = limits_with_torque(chain);
  for (std::size_t i = 0; i < limits.torque.size(); ++i) {
    limits.torque[i] *= 1 - settings.reserve;
    limits.velocity[i] *= settings.velocity_scale;
    if (settings.ramp > 0) limits.torque_rate[i] = limits.torque[i] / settings.ramp;
  }
  const ga_motion::TimingOptions options{.intervals = settings.intervals};
  constexpr int kQuick = 2000;
  if (settings.ramp > 0 && settings.intervals > kQuick) {
    std::fprintf(
        stderr,
        "note: %d intervals with torque ramps can take minutes; with 1000 the motion is longer by "
        "about 0.04 %%\n",
        settings.intervals);
  }
  const auto way_points =
      settings.merge > 0 ? ga_motion::without_repeats(points.q, settings.merge) : points.q;
  const auto [path, result] = in_plain_words(
      settings.path,
      [&] {
        auto through = ga_motion::make_spline_path(way_points);
        SampledTiming timed = ga_motion::time_and_sample(chain, limits, options, through,
                                                         settings.rate, !settings.no_fit);
        return std::pair(std::move(through), std::move(timed));
      },
      settings.reserve);
  write(csv_of(chain, result.samples), settings.output);
  const double duration = result.timing.trajectory->duration();
  std::printf("path: spline through %zu way-points of %s\nduration: %.6g s\n", way_points.size(),
              settings.path.c_str(), duration);
  TimingLimits free = limits;
  free.torque_rate.assign(free.torque.size(), std::numeric_limits<double>::infinity());
  ga_motion::PathTimer fastest(chain, free, options);
  const double optimum = fastest.time(path).trajectory->duration();
  std::printf("without torque ramps and samples: %.6g s", optimum);
  if (!settings.no_fit) {
    std::printf("; samples keep the limits with %.1f %% of torque and %.1f %% of velocity",
                100 * result.torque_share, 100 * result.velocity_share);
    if (result.stretch > 1) {
      std::printf(", slowed down by %.1f %%", 100 * (result.stretch - 1));
    }
  }
  std::printf("\n");
  print_comparison(chain, limits, path, settings.intervals, optimum);
  print_active(chain, result);
  print_use(chain, limits, result.use);
  std::printf("%zu samples, %.4g ms apart: %s\n", result.samples.times.size(),
              1e3 * result.samples.times[1], settings.output.c_str());
}

// --- check ---

struct CheckSettings {
  ArmSettings arm;
  std::string trajectory;
  double tolerance = 100 * ga_motion::kTorqueTolerance;  // %
  bool json = false;
};

/// What a joint exceeds; empty: nothing.
std::vector<std::string> excesses(const ChainJoint& joint, const JointUse& use,
                                  const TimingLimits& limits, std::size_t i, double tolerance) {
  std::vector<std::string> found;
  const char* const unit = joint.revolute() ? "rad" : "m";
  const auto add = [&](const char* format, auto... values) {
    char text[256];
    std::snprintf(text, sizeof text, format, values...);
    found.push_back(joint.name + text);
  };
  if (use.torque.share > 1 + tolerance) {
    add(": torque %.4g %s after %.6g s, %.1f %% of its limit %.4g, beyond it for %.3g s",
        use.torque.value, joint.revolute() ? "N m" : "N", use.torque.time, 100 * use.torque.share,
        limits.torque[i], use.torque.time_over);
  }
  if (use.velocity.share > 1 + tolerance) {
    add(": velocity %.4g %s/s after %.6g s, %.1f %% of its limit %.4g, beyond it for %.3g s",
        use.velocity.value, unit, use.velocity.time, 100 * use.velocity.share, limits.velocity[i],
        use.velocity.time_over);
  }
  if (use.position.share > 1 + 1e-6) {
    add(": position %.4g %s after %.6g s, %.3g beyond its limits %.4g and %.4g for %.3g s",
        use.position.value, unit, use.position.time, use.position.share - 1, limits.lower[i],
        limits.upper[i], use.position.time_over);
  }
  return found;
}

nlohmann::json json_of(const ga_motion::PeakUse& peak, double limit) {
  nlohmann::json json{{"value", peak.value}, {"time", peak.time}, {"time_over", peak.time_over}};
  json["limit"] = std::isfinite(limit) ? nlohmann::json(limit) : nlohmann::json();
  json["share"] = std::isfinite(limit) ? nlohmann::json(peak.share) : nlohmann::json();
  return json;
}

nlohmann::json json_of(const Chain& chain, const TimingLimits& limits, const LimitUse& use,
                       const std::vector<std::string>& exceeded) {
  nlohmann::json joints = nlohmann::json::array();
  const auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
  };
  for (std::size_t i = 0; i < use.joints.size(); ++i) {
    const JointUse& joint = use.joints[i];
    nlohmann::json torque = json_of(joint.torque, limits.torque[i]);
    torque["saturated"] = joint.saturated;
    joints.push_back({{"name", chain.joints()[i].name},
                      {"torque", torque},
                      {"velocity", json_of(joint.velocity, limits.velocity[i])},
                      {"position",
                       {{"value", joint.position.value},
                        {"time", joint.position.time},
                        {"time_over", joint.position.time_over},
                        {"lower", number(limits.lower[i])},
                        {"upper", number(limits.upper[i])},
                        {"excess", std::max(joint.position.share - 1, 0.0)}}}});
  }
  return {{"duration", use.duration},
          {"within_limits", exceeded.empty()},
          {"exceeded", exceeded},
          {"joints", joints}};
}

void run_check(const CheckSettings& settings) {
  const Chain chain = settings.arm.load();
  const FileSamples samples = read_samples(settings.trajectory, names_of(chain));
  if (!settings.json) print_note(samples);
  const TimingLimits limits = limits_with_torque(chain);
  const auto motion = in_plain_words(settings.trajectory, [&] { return samples.interpolated(); });
  constexpr int kFiner = 10;
  const double step = motion->duration() / static_cast<double>(kFiner * (samples.times.size() - 1));
  std::vector<double> rows = samples.times;
  const LimitUse use = in_plain_words(settings.trajectory, [&] {
    return ga_motion::limit_use(chain, limits, *motion, std::min(step, 1e-3), rows);
  });
  for (std::size_t i = 0; i < use.joints.size(); ++i) {
    if (std::isfinite(use.joints[i].torque.value)) continue;
    throw std::runtime_error(settings.trajectory + ": the torque of " + chain.joints()[i].name +
                             " is not finite; check the units");
  }
  std::vector<std::string> exceeded;
  for (std::size_t i = 0; i < use.joints.size(); ++i) {
    const auto found =
        excesses(chain.joints()[i], use.joints[i], limits, i, 0.01 * settings.tolerance);
    exceeded.insert(exceeded.end(), found.begin(), found.end());
  }
  if (settings.json) {
    std::printf("%s\n", json_of(chain, limits, use, exceeded).dump(2).c_str());
  } else {
    std::printf("motion: %zu samples, %.6g s, %s between them\n", samples.times.size(),
                motion->duration(),
                samples.qd.empty()    ? "cubic spline"
                : samples.qdd.empty() ? "third-order polynomials"
                                      : "fifth-order polynomials");
    print_use(chain, limits, use);
    for (const std::string& line : exceeded) std::printf("exceeded: %s\n", line.c_str());
    if (exceeded.empty()) std::printf("within all limits\n");
  }
  if (!exceeded.empty()) throw CLI::RuntimeError(1);
}

// --- limits ---

struct LimitsSettings {
  ArmSettings arm;
  double velocity_scale = 1, reserve = 0;
  bool json = false;
};

void print_json(const Chain& chain, const TimingLimits& limits,
                const std::vector<double>& accelerations) {
  const auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
  };
  nlohmann::json joints = nlohmann::json::array();
  for (std::size_t i = 0; i < accelerations.size(); ++i) {
    joints.push_back({{"name", chain.joints()[i].name},
                      {"lower", number(limits.lower[i])},
                      {"upper", number(limits.upper[i])},
                      {"velocity", limits.velocity[i]},
                      {"acceleration", accelerations[i]},
                      {"torque", limits.torque[i]}});
  }
  std::printf("%s\n", nlohmann::json{{"joints", joints}}.dump(2).c_str());
}

void run_limits(const LimitsSettings& settings) {
  const Chain chain = settings.arm.load();
  TimingLimits limits = limits_with_torque(chain);
  for (std::size_t i = 0; i < limits.torque.size(); ++i) {
    limits.torque[i] *= 1 - settings.reserve;
    limits.velocity[i] *= settings.velocity_scale;
    if (std::isfinite(limits.velocity[i])) continue;
    throw std::runtime_error(
        chain.joints()[i].name +
        " has no velocity limit; give its <limit> in the description one above zero");
  }
  const auto accelerations = ga_motion::safe_accelerations(chain, limits);
  if (accelerations.empty()) {
    throw std::runtime_error(
        "no constant acceleration limits keep the torque limits at every posture: gravity, "
        "friction and fast motion alone exceed one; give a smaller --velocity-scale, --reserve or "
        "--payload");
  }
  if (settings.json) {
    print_json(chain, limits, accelerations);
    return;
  }
  std::printf("%-16s %10s %10s %10s %13s %10s\n", "joint", "lower", "upper", "velocity",
              "acceleration", "torque");
  for (std::size_t i = 0; i < accelerations.size(); ++i) {
    std::printf("%-16s %10.4g %10.4g %10.4g %13.4g %10.4g\n", chain.joints()[i].name.c_str(),
                limits.lower[i], limits.upper[i], limits.velocity[i], accelerations[i],
                limits.torque[i]);
  }
}

void add_scales(CLI::App& command, double& velocity_scale, double& reserve) {
  command.add_option("--velocity-scale", velocity_scale, "Share of the velocity limits")
      ->check(number_range(0.001, 1))
      ->capture_default_str();
  command.add_option("--reserve", reserve, "Share of the torque limits that is kept for feedback")
      ->check(number_range(0, 0.95))
      ->capture_default_str();
}

}  // namespace

void add_time_command(CLI::App& app, const Program& program) {
  const auto settings = std::make_shared<TimeSettings>();
  CLI::App* command = app.add_subcommand(
      "time",
      "Time a path by motor torque: the fastest motion along a spline through way-points that "
      "keeps velocity and torque limits, friction included. Writes it as CSV");
  const std::string name = program.name + " time path.csv" + robot_example(program);
  command->footer(
      "A line of the file is a way-point: one position per joint, rad or m. A first line with names\n"
      "(q1… or the joints') gives the columns their order; other columns are ignored.\n\n"
      "Examples:\n  " +
      name + " --output timed.csv\n  " + name + " --payload 2.5 --reserve 0.1\n  " + program.name +
      " sim" + robot_example(program) + " --trajectory timed.csv");
  command->add_option("path", settings->path, "CSV file of way-points")
      ->required()
      ->option_text("PATH.csv REQUIRED");
  add_arm(*command, program, settings->arm);
  command->add_option("--output", settings->output, "File for the motion")
      ->type_name("FILE")
      ->capture_default_str();
  add_scales(*command, settings->velocity_scale, settings->reserve);
  command
      ->add_option("--torque-ramp", settings->ramp,
                   "Least time from no torque to the limit, s; 0: torques may jump")
      ->check(number_range(0, 10))
      ->capture_default_str();
  command->add_option("--rate", settings->rate, "Samples per second")
      ->check(number_range(1, 10000))
      ->capture_default_str();
  command->add_option("--intervals", settings->intervals, "Of the grid along the path")
      ->check(number_range(10, 10000))
      ->capture_default_str();
  command
      ->add_option("--merge", settings->merge,
                   "Drop way-points that repeat the one before to this many rad or m")
      ->check(number_range(0, 1))
      ->capture_default_str();
  command->add_flag("--no-fit", settings->no_fit,
                    "Do not lower the limits for what happens between samples");
  command->callback([settings] { run_time(*settings); });
}

void add_check_command(CLI::App& app, const Program& program) {
  const auto settings = std::make_shared<CheckSettings>();
  CLI::App* command = app.add_subcommand(
      "check",
      "Check a motion against position, velocity and torque limits, between its samples as well: "
      "exit code 1 if it exceeds one");
  const std::string name = program.name + " check motion.csv" + robot_example(program);
  command->footer(
      "Columns are those of `" + program.name +
      " motion` and `time`: t and the positions, by the joints' names; between\n"
      "samples cubic splines. With velocities, and with accelerations, third and fifth-order\n"
      "polynomials, as the trajectory controller of ros2_control has them.\n\nExamples:\n  " +
      name + "\n  " + name + " --payload 2.5 --json");
  command->add_option("trajectory", settings->trajectory, "CSV file of the motion")
      ->required()
      ->option_text("TRAJECTORY.csv REQUIRED");
  add_arm(*command, program, settings->arm);
  command
      ->add_option("--tolerance", settings->tolerance,
                   "Excess of torques and velocities that passes, %")
      ->check(number_range(0, 100))
      ->capture_default_str();
  command->add_flag("--json", settings->json, "For programs");
  command->callback([settings] { run_check(*settings); });
}

void add_limits_command(CLI::App& app, const Program& program) {
  const auto settings = std::make_shared<LimitsSettings>();
  CLI::App* command = app.add_subcommand(
      "limits",
      "Print the limits of the joints for planners that know no torques: soft position limits, "
      "velocities, and constant accelerations that keep the torque limits at every posture and "
      "velocity, friction included; of all such accelerations those of the largest product");
  const std::string name = program.name + " limits" + robot_example(program);
  command->footer("Units: rad, m, s, N m, N.\n\nExamples:\n  " + name + "\n  " + name +
                  " --velocity-scale 0.9 --reserve 0.1 --json");
  add_arm(*command, program, settings->arm);
  add_scales(*command, settings->velocity_scale, settings->reserve);
  command->add_flag("--json", settings->json, "For programs");
  command->callback([settings] { run_limits(*settings); });
}

}  // namespace ga_tools
