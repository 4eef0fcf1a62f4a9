// SPDX-License-Identifier: Apache-2.0
#include "sim/report_data.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "sim/visuals.hpp"

namespace puma_hardware::sim {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using ga_dynamics::Dynamics;
using ga_dynamics::Pose;
using nlohmann::json;

namespace {

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
