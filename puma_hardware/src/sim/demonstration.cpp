// SPDX-License-Identifier: Apache-2.0
#include "sim/demonstration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>
#include <stdexcept>

#include "ga_dynamics/cartesian_line.hpp"
#include "sim/visuals.hpp"

namespace puma_hardware::sim {

using ga_controllers::LawKind;
using ga_controllers::LawParameters;
using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using ga_dynamics::DhJoint;
using ga_dynamics::Dynamics;
using ga_dynamics::Plant;
using ga_dynamics::Pose;
using ga_dynamics::Trajectory;
using nlohmann::json;

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

std::unique_ptr<Trajectory> make_motion(const std::string& name, const Chain& chain) {
  using namespace ga_dynamics;
  if (name == "line") {
    // The straight line of the paper on PC-based control of a PUMA, §4: 0.86 m at 0.1 m/s, the tool
    // turned by (45°, 60°, 90°) about z, y', z''. The branch is not given there; this one keeps
    // clear of all limits.
    constexpr double kDegree = std::numbers::pi / 180;
    const Matrix3 hand = rotation_zyz(45 * kDegree, 60 * kDegree, 90 * kDegree);
    const CartesianLine line({hand, {0.6, 0.175, 0.25}}, {hand, {0.018, 0.757, 0}}, 0.1, 0.25);
    const PumaKinematics kinematics(chain);
    std::string reasons;
    for (const int arm : {1, -1}) {
      for (const int elbow : {1, -1}) {
        for (const int wrist : {1, -1}) {
          try {
            return make_cartesian_line(kinematics, line, PumaBranch{arm, elbow, wrist});
          } catch (const KinematicsError& error) {
            reasons = error.what();
          }
        }
      }
    }
    throw std::runtime_error("trajectory line: no branch of the arm can follow it; the last: " +
                             reasons);
  }
  // Joint motions between a quarter and three quarters of the joints' ranges.
  std::vector<double> start, goal, middle;
  for (const ChainJoint& joint : chain.joints()) {
    const double low = std::max(joint.limits.lower, -2.0), high = std::min(joint.limits.upper, 2.0);
    start.push_back(low + 0.35 * (high - low));
    goal.push_back(low + 0.65 * (high - low));
    middle.push_back(low + 0.40 * (high - low));
  }
  if (name == "quintic") return make_quintic(start, goal, 3);
  if (name == "ramp") return make_timed_ramp(start, goal, 3, 0.3);
  if (name == "spline") {
    const double times[] = {0, 1.5, 3};
    const std::vector<double> points[] = {start, middle, goal};
    return make_cubic_spline(times, points);
  }
  throw std::runtime_error("trajectory " + name + ": unknown; give line, quintic, ramp or spline");
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

void check(const DemonstrationOptions& o) {
  const auto refuse = [](const std::string& what) { throw std::runtime_error(what); };
  if (!(o.rate >= 50 && o.rate <= 20000)) refuse("rate: give 50 to 20000 Hz");
  if (!(o.bandwidth > 0 && o.bandwidth <= 500)) refuse("bandwidth: give 0 to 500 rad/s");
  if (!(o.damping > 0 && o.damping <= 5)) refuse("damping: give 0 to 5");
  if (!(o.friction >= 0 && o.friction <= 1)) refuse("friction: give a share between 0 and 1");
  if (!(o.payload >= 0 && o.payload <= 100)) refuse("payload: give 0 to 100 kg");
  if (!(o.mismatch >= 0 && o.mismatch < 1)) refuse("mismatch: give 0 to 99 %");
  if (!(o.noise >= 0 && o.noise < 0.1)) refuse("noise: give 0 to 0.1 rad");
  if (o.laws.empty()) refuse("law: give at least one of integral, tracking, ptp, hold, pd");
}

LawUnderTest make_law(const std::string& id, const Chain& chain,
                      const DemonstrationOptions& options, const std::vector<JointSignals>& signals,
                      std::span<const double> start, std::string& label) {
  if (id == "pd") {
    label = "Joint PD, no model";
    return independent_pd(chain, options.bandwidth, options.damping, start);
  }
  for (const LawName& law : kLaws) {
    if (id != law.id) continue;
    label = law.label;
    LawParameters p;
    p.kind = law.kind;
    p.gains = {ga_controllers::gains_from_bandwidth(options.bandwidth, options.damping)};
    p.friction = options.friction;
    double coarsest = 0;
    for (const JointSignals& s : signals) {
      if (s.counts_per_rad > 0) coarsest = std::max(coarsest, 1 / s.counts_per_rad);
    }
    p.integral_dead_band = 1.2 * coarsest;
    return computed_torque(chain, p);
  }
  throw std::runtime_error("law " + id + ": unknown; give integral, tracking, ptp, hold or pd");
}

double rounded(double value, double unit) { return std::round(value / unit) * unit; }

json rounded(const std::vector<double>& values, std::size_t every, int digits) {
  const double scale = std::pow(10.0, digits);
  json list = json::array();
  for (std::size_t k = 0; k < values.size(); k += every)
    list.push_back(std::round(values[k] * scale) / scale);
  return list;
}

/// x, y, z, qx, qy, qz, qw
void append_pose(const Pose& pose, json& to) {
  const auto& r = pose.rotation;
  std::array<double, 4> q{};
  const double trace = r[0] + r[4] + r[8];
  if (trace > 0) {
    const double s = 2 * std::sqrt(trace + 1);
    q = {(r[7] - r[5]) / s, (r[2] - r[6]) / s, (r[3] - r[1]) / s, s / 4};
  } else {
    const std::size_t i = r[0] > r[4] && r[0] > r[8] ? 0
                          : r[4] > r[8]              ? 1
                                                     : 2,
                      j = (i + 1) % 3, k = (i + 2) % 3;
    const double s = 2 * std::sqrt(1 + r[4 * i] - r[4 * j] - r[4 * k]);
    q[i] = s / 4;
    q[j] = (r[3 * j + i] + r[3 * i + j]) / s;
    q[k] = (r[3 * k + i] + r[3 * i + k]) / s;
    q[3] = (r[3 * k + j] - r[3 * j + k]) / s;
  }
  for (const double v : pose.translation) to.push_back(rounded(v, 1e-5));
  for (const double v : q) to.push_back(rounded(v, 1e-5));
}

json frames_of(const Recording& r, const Chain& chain, std::size_t every) {
  Dynamics dynamics(chain);
  std::vector<Pose> poses(chain.links().size());
  std::vector<double> q(chain.joints().size());
  json times = json::array(), all = json::array();
  for (std::size_t k = 0; k < r.time.size(); k += every) {
    for (std::size_t i = 0; i < q.size(); ++i) q[i] = r.q[i][k];
    dynamics.link_poses(q, poses);
    json frame = json::array();
    for (const Pose& pose : poses) append_pose(pose, frame);
    times.push_back(rounded(r.time[k], 1e-4));
    all.push_back(frame);
  }
  return {{"time", times}, {"poses", all}};
}

}  // namespace

Demonstration demonstrate(const DemonstrationOptions& options,
                          const std::function<void(double, const std::string&)>& progress) {
  check(options);
  Demonstration d{Chain::from_urdf_file(options.urdf), 0, {}, {}};
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
  loop.settle_time = options.payload > 0 || options.mismatch > 0 ? 4 : 1;
  const Chain arm = real_arm(d.chain, options);
  for (std::size_t k = 0; k < options.laws.size(); ++k) {
    Plant plant(arm);
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
  char line[256];
  std::snprintf(line, sizeof line, "%-24s %9s %9s %9s %9s %9s %9s %8s %9s\n", "", "joint rms",
                "joint max", "tool rms", "tool max", "final", "hunting", "torque", "law");
  text += line;
  std::snprintf(line, sizeof line, "%-24s %9s %9s %9s %9s %9s %9s %8s %9s\n", "law", "mrad", "mrad",
                "mm", "mm", "mrad", "mrad", "% limit", "us/cycle");
  text += line;
  for (const LawResult& r : d.results) {
    const Metrics& m = r.metrics;
    std::snprintf(line, sizeof line, "%-24s %9.4f %9.4f %9.4f %9.4f %9.4f %9.4f %8.1f %9.2f\n",
                  r.label.c_str(), 1e3 * m.joint_rms, 1e3 * m.joint_max, 1e3 * m.tool_rms,
                  1e3 * m.tool_max, 1e3 * m.final_error, 1e3 * m.final_motion, 100 * m.torque_use,
                  1e6 * r.recording.update_time_mean);
    text += line;
  }
  return text;
}

json report_data(const Demonstration& d, const DemonstrationOptions& options) {
  json data;
  std::vector<std::string> notes = d.notes;
  const auto visuals = read_visuals(options.urdf, notes);
  json links = json::array(), joints = json::array();
  for (const auto& link : d.chain.links()) {
    links.push_back(
        {{"name", link.name},
         {"visuals", visuals.contains(link.name) ? visuals.at(link.name) : json::array()}});
  }
  for (const ChainJoint& joint : d.chain.joints()) {
    json item{{"name", joint.name}, {"unit", joint.revolute() ? "rad" : "m"}};
    if (std::isfinite(joint.limits.effort)) item["effort_limit"] = joint.limits.effort;
    if (std::isfinite(joint.limits.lower)) item["lower"] = joint.limits.lower;
    if (std::isfinite(joint.limits.upper)) item["upper"] = joint.limits.upper;
    joints.push_back(item);
  }
  data["robot"] = {{"name", options.urdf.stem().string()}, {"joints", joints}, {"links", links}};
  data["title"] = "Computed-torque control in simulation";
  char text[200];
  std::snprintf(
      text, sizeof text,
      "%s along \"%s\": %.2f s, %.0f Hz, bandwidth %.0f rad/s, payload %.2f kg, mismatch %.0f %%",
      options.urdf.stem().c_str(), options.trajectory.c_str(), d.duration, options.rate,
      options.bandwidth, options.payload, 100 * options.mismatch);
  data["subtitle"] = text;
  data["generated"] = "seed " + std::to_string(options.seed);
  data["notes"] = notes;
  const char* const colors[] = {"#1f77b4", "#2ca02c", "#ff7f0e", "#d62728", "#9467bd"};
  json runs = json::array(), rows = json::array();
  for (std::size_t k = 0; k < d.results.size(); ++k) {
    const LawResult& r = d.results[k];
    const auto every = static_cast<std::size_t>(std::max(1.0, std::round(options.rate / 200)));
    const auto every_frame = static_cast<std::size_t>(std::max(1.0, std::round(options.rate / 50)));
    json run{{"id", r.id},
             {"label", r.label},
             {"color", colors[k % 5]},
             {"time", rounded(r.recording.time, every, 4)}};
    for (std::size_t i = 0; i < d.chain.joints().size(); ++i) {
      std::vector<double> error(r.recording.q[i].size());
      for (std::size_t t = 0; t < error.size(); ++t)
        error[t] = r.recording.q[i][t] - r.recording.q_ref[i][t];
      run["q"].push_back(rounded(r.recording.q[i], every, 6));
      run["q_ref"].push_back(rounded(r.recording.q_ref[i], every, 6));
      run["error"].push_back(rounded(error, every, 8));
      run["tau"].push_back(rounded(r.recording.tau[i], every, 3));
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      run["tool"].push_back(rounded(r.recording.tool[axis], every, 6));
      run["tool_ref"].push_back(rounded(r.recording.tool_ref[axis], every, 6));
    }
    run["frames"] = frames_of(r.recording, d.chain, every_frame);
    runs.push_back(run);
    const Metrics& m = r.metrics;
    rows.push_back({{"run", r.id},
                    {"joint_rms", 1e3 * m.joint_rms},
                    {"joint_max", 1e3 * m.joint_max},
                    {"tool_rms", 1e3 * m.tool_rms},
                    {"tool_max", 1e3 * m.tool_max},
                    {"final", 1e3 * m.final_error},
                    {"torque", 100 * m.torque_use},
                    {"time", 1e6 * r.recording.update_time_mean}});
  }
  data["runs"] = runs;
  const auto column = [](const char* key, const char* label, const char* unit, int digits) {
    return json{{"key", key}, {"label", label}, {"unit", unit}, {"digits", digits}};
  };
  data["table"] = {
      {"columns",
       {column("joint_rms", "Joint error, RMS", "mrad", 3),
        column("joint_max", "Joint error, largest", "mrad", 3),
        column("tool_rms", "Tool error, RMS", "mm", 3),
        column("tool_max", "Tool error, largest", "mm", 3),
        column("final", "Error at rest", "mrad", 3), column("torque", "Torque used", "%", 1),
        column("time", "Law, per cycle", "µs", 2)}},
      {"rows", rows}};
  return data;
}

}  // namespace puma_hardware::sim
