// SPDX-License-Identifier: Apache-2.0
#include "study/demonstration.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "ga_motion/trajectory.hpp"
#include "study/arm_check.hpp"
#include "study/option_check.hpp"

namespace ga_tools {

using ga_hardware::law_parameters;
using ga_hardware::signals_of;
using ga_motion::choose_motion;
using ga_motion::Motion;

using ga_controllers::JointGains;
using ga_controllers::LawKind;
using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using ga_motion::Trajectory;

namespace {

struct LawName {
  const char* id;
  const char* label;
  LawKind kind;
};
struct ControllerName {
  const char* id;
  const char* label;
  JointController kind;
};
constexpr ControllerName kControllers[] = {
    {"pd", "Joint PD, no model", JointController::kPd},
    {"pd-gravity", "Joint PD with gravity", JointController::kPdGravity},
    {"pid", "Joint PID, no model", JointController::kPid}};

constexpr LawName kLaws[] = {{"integral", "Tracking with integral", LawKind::kTrackingIntegral},
                             {"tracking", "Tracking", LawKind::kTracking},
                             {"ptp", "Point to point", LawKind::kPointToPoint},
                             {"hold", "Gravity hold", LawKind::kGravityHold}};

/// The entry of a table with this id; null: none.
template <class Name, std::size_t N>
const Name* named(const Name (&table)[N], const std::string& id) {
  const auto* const found =
      std::find_if(std::begin(table), std::end(table), [&](const Name& n) { return id == n.id; });
  return found == std::end(table) ? nullptr : found;
}

/// Each law is known and given once.
void check_laws(const DemonstrationOptions& o) {
  for (auto law = o.laws.begin(); law != o.laws.end(); ++law) {
    if (named(kLaws, *law) == nullptr && named(kControllers, *law) == nullptr) {
      refuse("--law", *law, "unknown; give integral, tracking, ptp, hold, pd, pd-gravity or pid");
    }
    if (std::find(o.laws.begin(), law, *law) != law) refuse("--law", *law, "give it once");
  }
}

Chain read_chain(const DemonstrationOptions& options) {
  try {
    return Chain::from_urdf_file(options.urdf, options.chain);
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("--urdf ") + error.what());
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

/// One of those that check() has let through.
LawUnderTest make_law(const std::string& id, const Demonstration& d,
                      const DemonstrationOptions& options, std::string& label) {
  const ga_dynamics::Payload& payload = options.known_payload;
  if (const ControllerName* const controller = named(kControllers, id)) {
    label = controller->label;
    return joint_controller(controller->kind,
                            payload.mass > 0 ? d.chain.with_payload(payload) : d.chain,
                            d.joint_gains);
  }
  const LawName* const law = named(kLaws, id);
  label = law->label;
  ga_controllers::LawParameters parameters =
      law_parameters(law->kind, d.gains, options.friction, d.signals);
  parameters.payload = payload;
  parameters.keep_path = true;
  parameters.adaptation.enabled = options.adapt;
  // The resonance of elastic drives limits the loop.
  if (!options.uncertainty.resonance.empty()) parameters.adaptation.inertia_ratio = 1;
  return computed_torque(d.chain, parameters);
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
std::vector<std::string> laws_of(const DemonstrationOptions& options, Demonstration& d) {
  const JointControllerGains& pd = d.joint_gains;
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
  laws.insert(laws.end(), {"pd-gravity", "pid"});
  return laws;
}

/// Laws with the same loop share a line.
std::vector<StabilityLine> check_stability_of(const Demonstration& d,
                                              const ga_controllers::Uncertainty& uncertainty,
                                              double rate) {
  std::vector<StabilityLine> lines;
  std::vector<LawKind> kinds;
  for (const std::string& id : d.laws) {
    const LawName* const law = named(kLaws, id);
    if (law == nullptr) continue;
    const auto integrates = [](LawKind kind) {
      return kind == LawKind::kTrackingIntegral || kind == LawKind::kGravityHold;
    };
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](LawKind kind) {
      return integrates(kind) == integrates(law->kind);
    });
    if (same != kinds.end()) {
      lines[static_cast<std::size_t>(same - kinds.begin())].laws.push_back(id);
      continue;
    }
    kinds.push_back(law->kind);
    lines.push_back(
        {{id}, ga_controllers::check_law(d.chain, law->kind, d.gains, rate, uncertainty)});
  }
  return lines;
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
                          const std::function<void(double, const std::string&)>& progress,
                          const std::function<void(const Demonstration&)>& started) {
  check_options(options);
  check_laws(options);
  Demonstration d{read_chain(options), 0, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  d.notes = d.chain.warnings();
  const std::size_t n = d.chain.joints().size();
  d.gains = gains_of(options, n);
  d.signals = options.ideal ? std::vector<JointSignals>(n) : signals_of(d.chain);
  for (JointSignals& s : d.signals) s.noise = options.noise;
  d.errors = ga_hardware::draw_errors(options.disturbances, n, options.seed);
  note_missing_data(d, options.ideal);
  ga_dynamics::LinkInertia payload{options.payload, {}, {}};
  std::copy(options.payload_com.begin(), options.payload_com.end(), payload.com.begin());
  const Chain arm = ga_hardware::actual_arm(d.chain, d.errors, payload);
  const ga_controllers::Uncertainty uncertainty =
      uncertainty_of(options.uncertainty, assumed_uncertainty(options.disturbances, payload));
  // All laws have the same gains: the observer of those without integral action is the faster one.
  const bool integral =
      !options.laws.empty() &&
      std::all_of(options.laws.begin(), options.laws.end(),
                  [](const std::string& id) { return id == "integral" || id == "hold"; });
  if (options.uncertainty.fit_resonance &&
      fit_resonance(integral ? LawKind::kTrackingIntegral : LawKind::kTracking, uncertainty,
                    d.gains))
    d.notes.emplace_back("the gains are lowered to fit the resonance of the drives");
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
  d.joint_gains = joint_controller_gains(d.chain, d.gains, postures, options.rate);
  d.laws = laws_of(options, d);
  d.stability = check_stability_of(d, uncertainty, options.rate);
  for (std::string& warning : warnings_of(d.stability)) d.notes.push_back(std::move(warning));
  if (started) started(d);
  LoopOptions loop;
  loop.rate = options.rate;
  loop.settle_time = options.settle_time;
  ga_hardware::SimulatedArmSettings settings = settings_for(trajectory, loop);
  settings.payload = payload;
  settings.known_payload = options.known_payload;
  settings.disturbances = options.disturbances;
  settings.errors = d.errors;
  settings.signals = d.signals;
  settings.seed = options.seed;
  for (std::size_t k = 0; k < d.laws.size(); ++k) {
    ga_hardware::SimulatedArm simulated(d.chain, settings);
    LawResult result;
    result.id = d.laws[k];
    result.comparison = options.laws.empty() && named(kControllers, result.id) != nullptr;
    LawUnderTest law = make_law(result.id, d, options, result.label);
    const auto count = static_cast<double>(d.laws.size());
    result.recording = run_loop(simulated, d.chain, trajectory, law, loop, [&](double share) {
      if (progress) progress((static_cast<double>(k) + share) / count, result.label);
    });
    const double duration = result.recording.duration(d.duration);
    result.metrics = measure(result.recording, d.chain, duration);
    if (!result.recording.ended) {
      result.monitors =
          monitor(result.recording, d.chain, duration, d.signals, result.recording.disturbance);
    }
    result.verdict = judge(result.recording, d.chain, duration, d.signals, result.id != "hold");
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
  const auto add = [&](const char* law, const std::string(&cells)[12], const char* state) {
    std::snprintf(line, sizeof line, "%-24s", law);
    text += line;
    for (const std::string& cell : cells) {
      std::snprintf(line, sizeof line, " %9s", cell.c_str());
      text += line;
    }
    text += "  " + std::string(state) + "\n";
  };
  add("",
      {"joint rms", "joint max", "tool rms", "tool max", "final", "hunting", "torque", "chatter",
       "saturated", "model err", "oscillat.", "law"},
      "");
  add("law",
      {"mrad", "mrad", "mm", "mm", "mrad", "mrad", "% limit", "% limit", "% time", "% limit",
       "mrad", "us/cycle"},
      "state");
  for (const LawResult& r : d.results) {
    const Metrics& m = r.metrics;
    // A recording of another program's loop does not tell its time.
    const double law = r.recording.update_time_mean;
    add(r.label.c_str(),
        {number(1e3 * m.joint_rms, "%.4f"), number(1e3 * m.joint_max, "%.4f"),
         number(1e3 * m.tool_rms, "%.4f"), number(1e3 * m.tool_max, "%.4f"),
         number(1e3 * m.final_error, "%.4f"), number(1e3 * m.final_motion, "%.4f"),
         number(100 * m.torque_use, "%.1f"), number(100 * m.chatter, "%.3f"),
         number(100 * m.saturation, "%.1f"), number(100 * m.model_error, "%.2f"),
         number(1e3 * m.oscillation, "%.3f"), law > 0 ? number(1e6 * law, "%.2f") : "-"},
        r.verdict ? to_string(r.verdict->state).c_str() : "-");
  }
  for (const LawResult& r : d.results) {
    const double duration = r.recording.duration(d.duration);
    if (!(r.recording.slowest < 1)) continue;
    std::snprintf(line, sizeof line,
                  "%s: the motion takes %.3f s, %.2f times as long, on the same path: a torque or "
                  "velocity limit was reached\n",
                  r.label.c_str(), duration, duration / d.duration);
    text += line;
  }
  for (const LawResult& r : d.results) {
    if (r.verdict && !r.verdict->ok()) text += r.label + ": " + describe(*r.verdict) + "\n";
  }
  return text;
}

}  // namespace ga_tools
