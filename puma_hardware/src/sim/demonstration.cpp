// SPDX-License-Identifier: Apache-2.0
#include "sim/demonstration.hpp"

#include <algorithm>
#include <cstdio>
#include <random>
#include <stdexcept>

#include "sim/motion.hpp"

namespace puma_hardware::sim {

using ga_controllers::JointGains;
using ga_controllers::LawKind;
using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using ga_dynamics::DhJoint;
using ga_dynamics::Plant;
using ga_dynamics::Trajectory;

namespace {

struct LawName {
  const char* id;
  const char* label;
  LawKind kind;
};
constexpr LawName kLaws[] = {{"integral", "Tracking with integral", LawKind::kTrackingIntegral},
                             {"tracking", "Tracking", LawKind::kTracking},
                             {"ptp", "Point to point", LawKind::kPointToPoint},
                             {"hold", "Gravity hold", LawKind::kGravityHold}};

Chain read_chain(const std::filesystem::path& urdf) {
  try {
    return Chain::from_urdf_file(urdf);
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("--urdf ") + error.what());
  }
}

/// The arm as it is: payload and inertia errors that the laws do not know of.
Chain real_arm(const Chain& chain, const DemonstrationOptions& options) {
  std::mt19937 random(options.seed);
  std::uniform_real_distribution<double> error(-options.mismatch, options.mismatch);
  std::vector<DhJoint> rows;
  for (const ChainJoint& joint : chain.joints()) {
    DhJoint row{joint.type, joint.dh, joint.body, joint.drive, joint.limits, joint.name};
    row.body.mass *= 1 + error(random);
    const double scale = 1 + error(random);
    for (double& entry : row.body.inertia) entry *= scale;
    rows.push_back(row);
  }
  if (options.payload > 0) {
    ga_dynamics::LinkInertia& last = rows[static_cast<std::size_t>(chain.tip().body) - 1].body;
    last = ga_dynamics::lump(last,
                             ga_dynamics::transformed(chain.tip().pose, {options.payload, {}, {}}));
  }
  return Chain::from_dh(rows, chain.gravity_in_frame0());
}

[[noreturn]] void refuse(const char* option, const std::string& value, const std::string& remedy) {
  throw std::runtime_error(std::string(option) + " " + value + ": " + remedy);
}

void in_range(const char* option, double value, double low, double high, const char* unit) {
  if (value >= low && value <= high) return;
  char text[64], remedy[96];
  std::snprintf(text, sizeof text, "%g", value);
  std::snprintf(remedy, sizeof remedy, "give %g to %g%s", low, high, unit);
  refuse(option, text, remedy);
}

void check(const DemonstrationOptions& o) {
  in_range("--rate", o.rate, 50, 20000, " Hz");
  in_range("--bandwidth", o.bandwidth, 0.1, 500, " rad/s");
  in_range("--damping", o.damping, 0.05, 5, "");
  in_range("--friction", o.friction, 0, 1, ", the share that is fed forward");
  in_range("--payload", o.payload, 0, 100, " kg");
  in_range("--mismatch", 100 * o.mismatch, 0, 99, " %");
  in_range("--noise", o.noise, 0, 0.1, " rad");
  in_range("--settle", o.settle_time, 0.1, 1000, " s");
  in_range("--stiction", o.stiction, 1, 10, ", break-away over Coulomb friction");
  if (o.laws.empty())
    refuse("--law", "''", "give at least one of integral, tracking, ptp, hold, pd");
  for (auto law = o.laws.begin(); law != o.laws.end(); ++law) {
    if (std::find(o.laws.begin(), law, *law) != law) refuse("--law", *law, "give it once");
  }
}

/// Those of bandwidth and damping, but for what is given by itself.
std::vector<JointGains> gains_of(const DemonstrationOptions& o, std::size_t n) {
  std::vector<JointGains> gains(n, ga_controllers::gains_from_bandwidth(o.bandwidth, o.damping));
  const auto replace = [&](const char* option, const std::vector<double>& given,
                           double JointGains::*gain) {
    if (given.empty()) return;
    if (given.size() != 1 && given.size() != n) {
      refuse(option, "with " + std::to_string(given.size()) + " values",
             "give one, or one for each of the " + std::to_string(n) + " joints");
    }
    for (std::size_t i = 0; i < n; ++i) {
      gains[i].*gain = given[given.size() == 1 ? 0 : i];
      in_range(option, gains[i].*gain, 0, 1e9, "");
    }
  };
  replace("--kp", o.kp, &JointGains::kp);
  replace("--kd", o.kd, &JointGains::kd);
  replace("--ki", o.ki, &JointGains::ki);
  return gains;
}

LawUnderTest make_law(const std::string& id, const Chain& chain,
                      const DemonstrationOptions& options, const std::vector<JointSignals>& signals,
                      std::span<const double> start, std::string& label) {
  const std::vector<JointGains> gains = gains_of(options, chain.joints().size());
  if (id == "pd") {
    label = "Joint PD, no model";
    return independent_pd(chain, gains, start);
  }
  for (const LawName& law : kLaws) {
    if (id != law.id) continue;
    label = law.label;
    return computed_torque(chain, law_parameters(law.kind, gains, options.friction, signals));
  }
  refuse("--law", id, "unknown; give integral, tracking, ptp, hold or pd");
}

}  // namespace

Demonstration demonstrate(const DemonstrationOptions& options,
                          const std::function<void(double, const std::string&)>& progress) {
  check(options);
  Demonstration d{read_chain(options.urdf), 0, {}, {}};
  const std::unique_ptr<Trajectory> motion = make_motion(options.trajectory, d.chain);
  d.duration = motion->duration();
  const std::size_t n = d.chain.joints().size();
  std::vector<double> start(n), rest(n), none(n);
  motion->sample(0, start, rest, none);
  LoopOptions loop;
  loop.rate = options.rate;
  loop.seed = options.seed;
  loop.signals = options.ideal ? std::vector<JointSignals>(n) : signals_of(d.chain);
  for (JointSignals& s : loop.signals) s.noise = options.noise;
  loop.settle_time = options.settle_time;
  const Chain arm = real_arm(d.chain, options);
  for (std::size_t k = 0; k < options.laws.size(); ++k) {
    Plant plant(arm, {.static_ratio = options.stiction});
    LawResult result;
    result.id = options.laws[k];
    LawUnderTest law = make_law(result.id, d.chain, options, loop.signals, start, result.label);
    const auto count = static_cast<double>(options.laws.size());
    result.recording = run_loop(plant, d.chain, *motion, law, loop, [&](double share) {
      if (progress) progress((static_cast<double>(k) + share) / count, result.label);
    });
    result.metrics = measure(result.recording, d.chain, d.duration);
    d.results.push_back(std::move(result));
  }
  if (progress) progress(1, "done");
  return d;
}

std::string table_text(const Demonstration& d) {
  std::string text;
  char line[256], time[32];
  std::snprintf(line, sizeof line, "%-24s %9s %9s %9s %9s %9s %9s %8s %9s\n", "", "joint rms",
                "joint max", "tool rms", "tool max", "final", "hunting", "torque", "law");
  text += line;
  std::snprintf(line, sizeof line, "%-24s %9s %9s %9s %9s %9s %9s %8s %9s\n", "law", "mrad", "mrad",
                "mm", "mm", "mrad", "mrad", "% limit", "us/cycle");
  text += line;
  for (const LawResult& r : d.results) {
    const Metrics& m = r.metrics;
    // A recording of another program's loop does not tell it.
    std::snprintf(time, sizeof time, r.recording.update_time_mean > 0 ? "%.2f" : "-",
                  1e6 * r.recording.update_time_mean);
    std::snprintf(line, sizeof line, "%-24s %9.4f %9.4f %9.4f %9.4f %9.4f %9.4f %8.1f %9s\n",
                  r.label.c_str(), 1e3 * m.joint_rms, 1e3 * m.joint_max, 1e3 * m.tool_rms,
                  1e3 * m.tool_max, 1e3 * m.final_error, 1e3 * m.final_motion, 100 * m.torque_use,
                  time);
    text += line;
  }
  return text;
}

}  // namespace puma_hardware::sim
