// SPDX-License-Identifier: Apache-2.0

// Time-optimal path parameterization under torque limits along random paths: what it saves compared
// with constant acceleration limits, how well it keeps the limits, what bounded torque rates and
// samples cost, how a simulated arm tracks the result, and the computing time.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_hardware/arm_model.hpp"
#include "ga_motion/time_parameterization.hpp"
#include "ga_tools/closed_loop.hpp"

namespace {

using ga_dynamics::Chain;
using ga_motion::Path;
using ga_motion::PathTimer;
using ga_motion::Timing;
using ga_motion::TimingLimits;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum class Kind { kLong, kShort };

/// Five way-points: of long paths anywhere in the middle 85 % of the joints' ranges, of short ones
/// within 0.4 rad of a posture there. The curve through them stays within the ranges.
std::vector<std::shared_ptr<const Path>> random_paths(const TimingLimits& limits, Kind kind,
                                                      int count) {
  std::mt19937_64 random(kind == Kind::kLong ? 1 : 2);
  // The same numbers with every standard library.
  const auto uniform = [&random](double low, double high) {
    return low + (high - low) * static_cast<double>(random() >> 11U) * 0x1p-53;
  };
  const std::size_t n = limits.lower.size();
  std::vector<std::shared_ptr<const Path>> paths;
  while (paths.size() < static_cast<std::size_t>(count)) {
    std::vector<std::vector<double>> points(5, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) {
      const double low = limits.lower[i], high = limits.upper[i], edge = 0.075 * (high - low);
      const double middle = uniform(low + edge, high - edge);
      for (auto& point : points) {
        point[i] =
            kind == Kind::kLong ? uniform(low + edge, high - edge) : middle + uniform(-0.4, 0.4);
      }
    }
    auto path = ga_motion::make_spline_path(points, std::vector<double>{0, 0.25, 0.5, 0.75, 1});
    std::vector<double> q(n), first(n), second(n);
    bool inside = true;
    for (int k = 0; k <= 200; ++k) {
      path->sample(k / 200.0, q, first, second);
      for (std::size_t i = 0; i < n; ++i) {
        inside = inside && q[i] > limits.lower[i] && q[i] < limits.upper[i];
      }
    }
    if (inside) paths.push_back(std::move(path));
  }
  return paths;
}

struct Summary {
  double sum = 0, least = kInfinity, most = -kInfinity;
  int count = 0;
  void add(double value) {
    sum += value, ++count;
    least = std::min(least, value), most = std::max(most, value);
  }
  double mean() const { return sum / count; }
};

void print(const char* what, const Summary& s, const char* unit = "") {
  std::printf("  %-58s %8.4g%s (%.4g to %.4g)\n", what, s.mean(), unit, s.least, s.most);
}

/// The largest torque over its limit, ten times finer than the grid.
double finest_torque(const Timing& timing, const Chain& chain, const TimingLimits& limits) {
  std::vector<double> times;
  for (std::size_t k = 0; k + 1 < timing.time.size(); ++k) {
    for (int part = 0; part < 10; ++part) {
      times.push_back(timing.time[k] + (timing.time[k + 1] - timing.time[k]) * (part + 0.5) / 10);
    }
  }
  const auto use = limit_use(chain, limits, *timing.trajectory, 1, times);
  double most = 0;
  for (const auto& joint : use.joints) most = std::max(most, joint.torque.share);
  return most;
}

double share_at_limit(const PathTimer& timer, const Timing& timing) {
  const auto active = timer.active_limits();
  double share = 0;
  for (std::size_t k = 0; k < active.size(); ++k) {
    if (active[k].use >= 0.98) share += timing.s[k + 1] - timing.s[k];
  }
  return share / timing.s.back();
}

void compare(const Chain& chain, Kind kind, int count) {
  const TimingLimits limits = ga_motion::limits_of(chain);
  TimingLimits constant = limits;
  constant.acceleration = safe_accelerations(chain, limits);
  constant.torque.assign(limits.torque.size(), kInfinity);
  PathTimer timer(chain, limits), safe(chain, constant);
  Summary gain, torque, share;
  int refused = 0;
  for (const auto& path : random_paths(limits, kind, count)) {
    try {
      const Timing timing = timer.time(path);
      gain.add(safe.time(path).trajectory->duration() / timing.trajectory->duration());
      torque.add(finest_torque(timing, chain, limits));
      share.add(100 * share_at_limit(timer, timing));
    } catch (const ga_motion::TimingError&) {
      ++refused;
    }
  }
  print("constant safe accelerations, duration over the optimum", gain);
  print("largest torque over its limit, 10 times finer", torque);
  print("share of the path with a limit at 98 %", share, " %");
  if (refused > 0) std::printf("  %d paths refused\n", refused);
}

void price_of_ramps(const Chain& chain, Kind kind, int count) {
  TimingLimits limits = ga_motion::limits_of(chain);
  PathTimer free(chain, limits);
  for (const double ramp : {0.005, 0.02, 0.05}) {
    for (std::size_t i = 0; i < limits.torque.size(); ++i) {
      limits.torque_rate[i] = limits.torque[i] / ramp;
    }
    PathTimer timer(chain, limits);
    Summary price, torque;
    for (const auto& path : random_paths(limits, kind, count)) {
      const Timing timing = timer.time(path);
      const double fastest = free.time(path).trajectory->duration();
      price.add(100 * (timing.trajectory->duration() / fastest - 1));
      torque.add(finest_torque(timing, chain, limits));
    }
    char text[80];
    std::snprintf(text, sizeof text, "full torque in %g ms, longer by", 1e3 * ramp);
    print(text, price, " %");
    print("  largest torque over its limit", torque);
  }
}

struct Tracking {
  double error = 0;  ///< rad, largest along the motion
  double apart = 0;  ///< the same without 0.1 s after each reversal of a joint
  double stretch = 1;
  bool ok = false;
};

Tracking track(const Chain& chain, const ga_motion::Trajectory& motion,
               const ga_hardware::Disturbances& disturbances, unsigned seed) {
  const ga_tools::LoopOptions loop;
  ga_hardware::SimulatedArmSettings settings = ga_tools::settings_for(motion, loop);
  settings.disturbances = disturbances;
  settings.seed = seed;
  settings.signals = ga_hardware::signals_of(chain);
  settings.errors = ga_hardware::draw_errors(disturbances, chain.joints().size(), seed);
  ga_hardware::SimulatedArm arm(chain, settings);
  ga_controllers::LawParameters parameters = ga_hardware::law_parameters(
      ga_controllers::LawKind::kTrackingIntegral, {ga_controllers::gains_from_bandwidth(40, 1)}, 1,
      settings.signals);
  parameters.keep_path = true;
  ga_tools::LawUnderTest law = ga_tools::computed_torque(chain, parameters);
  const auto run = ga_tools::run_loop(arm, chain, motion, law, loop);
  Tracking result;
  const double duration = run.duration(motion.duration());
  result.ok = judge(run, chain, duration, settings.signals, true).ok();
  result.stretch = duration / motion.duration();
  for (std::size_t i = 0; i < run.q.size(); ++i) {
    double reversed = -1;
    for (std::size_t k = 0; k < run.time.size(); ++k) {
      if (k > 1 &&
          (run.q_ref[i][k] - run.q_ref[i][k - 1]) * (run.q_ref[i][k - 1] - run.q_ref[i][k - 2]) <
              0) {
        reversed = run.time[k];
      }
      const double error = std::abs(run.q[i][k] - run.q_ref[i][k]);
      result.error = std::max(result.error, error);
      if (run.time[k] > reversed + 0.1 || reversed < 0) {
        result.apart = std::max(result.apart, error);
      }
    }
  }
  return result;
}

void track_paths(const Chain& chain, Kind kind, int count, double reserve) {
  TimingLimits limits = ga_motion::limits_of(chain);
  for (std::size_t i = 0; i < limits.torque.size(); ++i) {
    limits.torque[i] *= 1 - reserve;
    limits.torque_rate[i] = limits.torque[i] / 0.02;
  }
  const auto paths = random_paths(limits, kind, count);
  ga_hardware::Disturbances perturbed;
  perturbed.mismatch = 0.2;
  perturbed.friction_error = 0.2;
  for (const double rate : {200.0, 100.0}) {
    std::vector<ga_motion::SampledTiming> plans;
    for (const auto& path : paths) {
      plans.push_back(ga_motion::time_and_sample(chain, limits, {}, path, rate));
    }
    for (const bool exact : {true, false}) {
      Summary error, apart, stretch;
      int within = 0, failed = 0;
      for (std::size_t k = 0; k < plans.size(); ++k) {
        const Tracking t =
            track(chain, *plans[k].samples.interpolated(),
                  exact ? ga_hardware::Disturbances{} : perturbed, static_cast<unsigned>(k + 1));
        error.add(1e3 * t.error), apart.add(1e3 * t.apart), stretch.add(t.stretch);
        within += t.error <= 2e-3 ? 1 : 0;
        failed += t.ok ? 0 : 1;
      }
      std::printf("  %s, samples %g ms apart, reserve %g %%: %d of %zu within 2 mrad%s\n",
                  exact ? "exact model" : "masses and friction off by up to 20 %", 1e3 / rate,
                  100 * reserve, within, paths.size(), failed > 0 ? ", some failed" : "");
      print("  largest joint error", error, " mrad");
      print("  later than 0.1 s after a reversal", apart, " mrad");
      print("  duration over the plan", stretch);
      std::fflush(stdout);
    }
  }
}

template <class Call>
double fastest(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void measure_time(const Chain& chain) {
  const TimingLimits limits = ga_motion::limits_of(chain);
  const auto paths = random_paths(limits, Kind::kShort, 10);
  PathTimer without(chain, limits, {.friction = false}), with(chain, limits);
  ga_dynamics::Dynamics dynamics(chain, {.drives = ga_dynamics::Drives::kArmature});
  const std::size_t n = limits.torque.size();
  std::vector<double> q(n, 0.1), qd(n, 0.5), qdd(n, 1.0), tau(n);
  double least[2] = {0, 0}, reference = kInfinity;
  for (const auto& path : paths) {
    double best[2] = {kInfinity, kInfinity};
    for (int round = 0; round < 25; ++round) {
      best[0] = std::min(best[0], fastest([&] { without.time(path); }));
      best[1] = std::min(best[1], fastest([&] { with.time(path); }));
      reference = std::min(reference, fastest([&] {
                             for (int k = 0; k < 1000; ++k) {
                               q[0] += 1e-6;
                               dynamics.inverse_dynamics(q, qd, qdd, tau);
                             }
                           }));
    }
    least[0] += best[0] / static_cast<double>(paths.size());
    least[1] += best[1] / static_cast<double>(paths.size());
  }
  std::printf("  1000 intervals: %.2f times 1000 inverse dynamics, with friction %.2f times\n",
              least[0] / reference, least[1] / reference);
  std::printf(
      "  on this machine, if nothing else runs: %.2f ms, %.2f ms; inverse dynamics %.0f ns\n",
      1e3 * least[0], 1e3 * least[1], 1e6 * reference);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times random paths of an arm by motor torque.", "bench_timing");
  std::string urdf;
  int paths = 50, tracked = 10;
  app.add_option("robot", urdf, "The robot's description")->required();
  app.add_option("--paths", paths, "Of each kind, long and short")->check(CLI::Range(1, 10000));
  app.add_option("--tracked", tracked, "Of each kind, on the simulated arm")
      ->check(CLI::Range(0, 10000));
  CLI11_PARSE(app, argc, argv);
  try {
    const Chain empty = Chain::from_urdf_file(urdf);
    const Chain loaded = empty.with_payload({2.5, {0, 0, 0}, {}});
    for (const Kind kind : {Kind::kLong, Kind::kShort}) {
      const char* const name = kind == Kind::kLong ? "long" : "short";
      std::printf("%d %s paths\n", paths, name);
      compare(empty, kind, paths);
      std::printf("%d %s paths, 2.5 kg\n", paths, name);
      compare(loaded, kind, paths);
      std::printf("%d %s paths, bounded torque rates\n", std::min(paths, 20), name);
      price_of_ramps(empty, kind, std::min(paths, 20));
      if (tracked == 0) continue;
      std::printf("%d %s paths, followed by the simulated arm, full torque in 20 ms\n", tracked,
                  name);
      track_paths(empty, kind, tracked, 0.1);
    }
    std::printf("computing time\n");
    measure_time(empty);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_timing: %s\n", error.what());
    return 2;
  }
}
