// SPDX-License-Identifier: Apache-2.0
#include "study/demonstration.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <stdexcept>

#include "ga_motion/trajectory.hpp"
#include "study/arm_check.hpp"

namespace ga_tools {

using ga_hardware::law_parameters;
using ga_hardware::signals_of;
using ga_motion::choose_motion;
using ga_motion::Motion;

using ga_controllers::JointGains;
using ga_controllers::LawKind;
using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using ga_dynamics::DhJoint;
using ga_motion::Trajectory;

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

Chain read_chain(const DemonstrationOptions& options) {
  try {
    return Chain::from_urdf_file(options.urdf, options.chain);
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("--urdf ") + error.what());
  }
}

/// At random, so far as the mismatch goes.
std::vector<BodyError> body_errors(const DemonstrationOptions& options, std::size_t bodies) {
  std::mt19937 random(options.seed);
  std::uniform_real_distribution<double> error(-options.mismatch, options.mismatch);
  std::vector<BodyError> errors(bodies);
  for (BodyError& body : errors) {
    body.mass = 1 + error(random);
    body.inertia = 1 + error(random);
  }
  return errors;
}

/// The arm as it is: payload and inertia errors that the laws do not know of.
Chain real_arm(const Chain& chain, double payload, const std::vector<BodyError>& errors) {
  std::vector<DhJoint> rows;
  for (const ChainJoint& joint : chain.joints()) {
    DhJoint row{joint.type, joint.dh, joint.body, joint.drive, joint.limits, joint.name};
    row.body.mass *= errors[rows.size()].mass;
    for (double& entry : row.body.inertia) entry *= errors[rows.size()].inertia;
    rows.push_back(row);
  }
  if (payload > 0) {
    ga_dynamics::LinkInertia& last = rows[static_cast<std::size_t>(chain.tip().body) - 1].body;
    last = ga_dynamics::lump(last, ga_dynamics::transformed(chain.tip().pose, {payload, {}, {}}));
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
  for (auto law = o.laws.begin(); law != o.laws.end(); ++law) {
    const bool known = *law == "pd" || std::any_of(std::begin(kLaws), std::end(kLaws),
                                                   [&](const LawName& l) { return *law == l.id; });
    if (!known) refuse("--law", *law, "unknown; give integral, tracking, ptp, hold or pd");
    if (std::find(o.laws.begin(), law, *law) != law) refuse("--law", *law, "give it once");
  }
}

/// Every cycle is recorded: some hundred bytes each.
void check_cycles(const DemonstrationOptions& o, double duration) {
  constexpr double kMost = 2e6;
  const double cycles = (duration + o.settle_time) * o.rate;
  if (cycles <= kMost) return;
  char remedy[160];
  if (duration * o.rate > kMost) {
    std::snprintf(remedy, sizeof remedy,
                  "%.6g s of motion are %.3g cycles of %g Hz, more than the %g that a run may "
                  "have; give a shorter motion or lower --rate",
                  duration, duration * o.rate, o.rate, kMost);
    refuse("--trajectory", o.trajectory, remedy);
  }
  std::snprintf(
      remedy, sizeof remedy,
      "%.3g cycles of %g Hz are more than the %g that a run may have; lower --settle or --rate",
      cycles, o.rate, kMost);
  refuse("--settle", std::to_string(o.settle_time), remedy);
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

/// One of those that check() has let through.
LawUnderTest make_law(const std::string& id, const Demonstration& d, double friction,
                      const PdGains& pd, std::string& label) {
  const auto* const law = std::find_if(std::begin(kLaws), std::end(kLaws),
                                       [&](const LawName& l) { return id == l.id; });
  if (law == std::end(kLaws)) {
    label = "Joint PD, no model";
    return independent_pd(d.chain, pd);
  }
  label = law->label;
  return computed_torque(d.chain, law_parameters(law->kind, d.gains, friction, d.signals));
}

/// Joint positions along a motion, the first at its start.
std::vector<std::vector<double>> postures_of(const Trajectory& motion) {
  constexpr std::size_t kCount = 40;
  std::vector<std::vector<double>> all(kCount + 1);
  std::vector<double> qd(static_cast<std::size_t>(motion.size())), qdd(qd.size());
  for (std::size_t k = 0; k <= kCount; ++k) {
    all[k].resize(qd.size());
    motion.sample(motion.duration() * static_cast<double>(k) / kCount, all[k], qd, qdd);
  }
  return all;
}

/// Those asked for, or the usual ones: without laws that would stop far from the goal.
std::vector<std::string> laws_of(const DemonstrationOptions& options, const PdGains& pd,
                                 Demonstration& d) {
  if (!options.laws.empty()) return options.laws;
  constexpr double kMost = 0.05;  // rad, m
  std::vector<std::string> laws = {"integral", "tracking"};
  const auto add = [&](const char* id, const char* name, double error, std::size_t joint_index,
                       const char* cause) {
    if (error <= kMost) {
      laws.emplace_back(id);
      return;
    }
    const ChainJoint& joint = d.chain.joints()[joint_index];
    char text[224];
    std::snprintf(text, sizeof text,
                  "%s is left out: %s joint '%s' %.2g %s (give it with --law %s)", name, cause,
                  joint.name.c_str(), error,
                  joint.revolute() ? "rad from its reference" : "m from its reference", id);
    d.notes.emplace_back(text);
  };
  add("ptp", "the point-to-point law", pd.stuck, pd.sticking, "friction could stop");
  add("pd", "the joint PD for comparison", pd.sag, pd.sagging, "gravity would draw");
  return laws;
}

/// "joint1, joint2", or "all joints".
std::string names_of(const Chain& chain, const std::function<bool(std::size_t)>& included) {
  std::string names;
  bool all = true;
  for (std::size_t i = 0; i < chain.joints().size(); ++i) {
    if (included(i)) {
      names += (names.empty() ? "" : ", ") + chain.joints()[i].name;
    } else {
      all = false;
    }
  }
  return all ? "all joints" : names;
}

/// What the description does not say, and what is taken instead.
void note_missing_data(Demonstration& d, bool ideal) {
  const auto& joints = d.chain.joints();
  const auto note = [&](const std::string& names, const char* what) {
    if (!names.empty()) d.notes.push_back(names + ": " + what);
  };
  if (!ideal) {
    note(names_of(d.chain, [&](std::size_t i) { return !(d.signals[i].counts_per_rad > 0); }),
         "no encoder in the description (encoder_counts_per_rev, gear_ratio); position sensors are "
         "ideal");
    note(names_of(d.chain, [&](std::size_t i) { return !(d.signals[i].torque_per_volt > 0); }),
         "no amplifier in the description (torque_per_volt); torque outputs are ideal");
  }
  note(names_of(d.chain,
                [&](std::size_t i) {
                  const ga_dynamics::Drive& drive = joints[i].drive;
                  return drive.viscous == 0 && drive.coulomb_positive == 0 &&
                         drive.coulomb_negative == 0;
                }),
       "no friction in the description; simulated without any");
  note(names_of(d.chain, [&](std::size_t i) { return !std::isfinite(joints[i].limits.effort); }),
       "no torque limit in the description; the motors give any torque");
}

}  // namespace

bool Demonstration::ok() const {
  return std::all_of(results.begin(), results.end(), [](const LawResult& r) {
    return r.comparison || !r.verdict || r.verdict->ok();
  });
}

Demonstration demonstrate(const DemonstrationOptions& options,
                          const std::function<void(double, const std::string&)>& progress) {
  check(options);
  Demonstration d{read_chain(options), 0, {}, {}, {}, {}, {}, {}, {}};
  d.notes = d.chain.warnings();
  const std::size_t n = d.chain.joints().size();
  d.gains = gains_of(options, n);
  d.signals = options.ideal ? std::vector<JointSignals>(n) : signals_of(d.chain);
  for (JointSignals& s : d.signals) s.noise = options.noise;
  d.body_errors = body_errors(options, n);
  note_missing_data(d, options.ideal);
  const Chain arm = real_arm(d.chain, options.payload, d.body_errors);
  // At any posture will do: what moves nothing at one moves nothing at all, but for rare
  // exceptions.
  check_inertia(arm, d.chain, std::vector<double>(n, 0.1));
  const Motion motion = choose_motion(options.trajectory, d.chain);
  const Trajectory& trajectory = *motion.trajectory;
  d.motion = motion.description;
  d.duration = trajectory.duration();
  check_cycles(options, d.duration);
  const std::vector<std::vector<double>> postures = postures_of(trajectory);
  check_inertia(arm, d.chain, postures.front());
  const PdGains pd = pd_gains(d.chain, d.gains, postures);
  d.laws = laws_of(options, pd, d);
  LoopOptions loop;
  loop.rate = options.rate;
  loop.settle_time = options.settle_time;
  ga_hardware::SimulatedArmSettings settings = settings_for(trajectory, loop);
  settings.actual = arm;
  settings.plant.static_ratio = options.stiction;
  settings.signals = d.signals;
  settings.seed = options.seed;
  for (std::size_t k = 0; k < d.laws.size(); ++k) {
    ga_hardware::SimulatedArm simulated(d.chain, settings);
    LawResult result;
    result.id = d.laws[k];
    result.comparison = options.laws.empty() && result.id == "pd";
    LawUnderTest law = make_law(result.id, d, options.friction, pd, result.label);
    const auto count = static_cast<double>(d.laws.size());
    result.recording = run_loop(simulated, d.chain, trajectory, law, loop, [&](double share) {
      if (progress) progress((static_cast<double>(k) + share) / count, result.label);
    });
    result.metrics = measure(result.recording, d.chain, d.duration);
    result.verdict = judge(result.recording, d.chain, d.duration, d.signals, result.id != "hold");
    d.results.push_back(std::move(result));
  }
  if (progress) progress(1, "done");
  return d;
}

std::string table_text(const Demonstration& d) {
  std::string text;
  char line[256];
  const auto number = [](double value, const char* format) {
    char cell[32];
    std::snprintf(cell, sizeof cell, std::isfinite(value) ? format : "-", value);
    return std::string(cell);
  };
  const auto add = [&](const char* law, const std::string(&cells)[8], const char* state) {
    std::snprintf(line, sizeof line, "%-24s %9s %9s %9s %9s %9s %9s %8s %9s  %s\n", law,
                  cells[0].c_str(), cells[1].c_str(), cells[2].c_str(), cells[3].c_str(),
                  cells[4].c_str(), cells[5].c_str(), cells[6].c_str(), cells[7].c_str(), state);
    text += line;
  };
  add("", {"joint rms", "joint max", "tool rms", "tool max", "final", "hunting", "torque", "law"},
      "");
  add("law", {"mrad", "mrad", "mm", "mm", "mrad", "mrad", "% limit", "us/cycle"}, "state");
  for (const LawResult& r : d.results) {
    const Metrics& m = r.metrics;
    // A recording of another program's loop does not tell its time.
    const double law = r.recording.update_time_mean;
    add(r.label.c_str(),
        {number(1e3 * m.joint_rms, "%.4f"), number(1e3 * m.joint_max, "%.4f"),
         number(1e3 * m.tool_rms, "%.4f"), number(1e3 * m.tool_max, "%.4f"),
         number(1e3 * m.final_error, "%.4f"), number(1e3 * m.final_motion, "%.4f"),
         number(100 * m.torque_use, "%.1f"), law > 0 ? number(1e6 * law, "%.2f") : "-"},
        r.verdict ? to_string(r.verdict->state).c_str() : "-");
  }
  for (const LawResult& r : d.results) {
    if (r.verdict && !r.verdict->ok()) text += r.label + ": " + describe(*r.verdict) + "\n";
  }
  return text;
}

}  // namespace ga_tools
