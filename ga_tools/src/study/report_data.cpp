// SPDX-License-Identifier: Apache-2.0
#include "study/report_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "ga_dynamics/urdf_model.hpp"
#include "report/version.hpp"
#include "study/provenance.hpp"
#include "study/stick_figure.hpp"
#include "study/visuals.hpp"

namespace ga_tools {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using ga_dynamics::Dynamics;
using ga_dynamics::Pose;
using nlohmann::json;

namespace {

/// Divides by a power of ten: multiplying by its inverse would print 0.30000000000000004.
double rounded(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::round(value * scale) / scale;
}

json rounded(const std::vector<double>& values, std::size_t every, int digits) {
  json list = json::array();
  for (std::size_t k = 0; k < values.size(); k += every) {
    list.push_back(rounded(values[k], digits));
  }
  return list;
}

/// x, y, z, qx, qy, qz, qw
void append_pose(const Pose& pose, json& to) {
  for (const double v : pose.translation) to.push_back(rounded(v, 5));
  for (const double v : ga_dynamics::quaternion_of(pose.rotation)) to.push_back(rounded(v, 5));
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
    times.push_back(rounded(r.time[k], 4));
    all.push_back(frame);
  }
  return {{"time", times}, {"poses", all}};
}

json robot_of(const Chain& chain, const std::filesystem::path& urdf,
              std::vector<std::string>& notes) {
  std::vector<std::string> missing;
  std::map<std::string, json> visuals = read_visuals(urdf, missing);
  const auto in_chain = [&](const std::string& name) {
    return std::ranges::any_of(chain.links(), [&](const auto& link) { return link.name == name; });
  };
  std::erase_if(visuals, [&](const auto& link) { return !in_chain(link.first); });
  auto figure = stick_figure(chain, visuals);
  if (!figure.empty()) {
    notes.push_back("Links without a shape that can be shown are drawn as a stick figure.");
    for (auto& [link, shapes] : figure) visuals[link] = std::move(shapes);
  }
  for (const std::string& note : missing) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
  json links = json::array(), joints = json::array();
  for (const auto& link : chain.links()) {
    links.push_back(
        {{"name", link.name},
         {"visuals", visuals.contains(link.name) ? visuals.at(link.name) : json::array()}});
  }
  for (const ChainJoint& joint : chain.joints()) {
    json item{{"name", joint.name}, {"unit", joint.revolute() ? "rad" : "m"}};
    if (std::isfinite(joint.limits.effort)) item["effort_limit"] = joint.limits.effort;
    if (std::isfinite(joint.limits.lower)) item["lower"] = joint.limits.lower;
    if (std::isfinite(joint.limits.upper)) item["upper"] = joint.limits.upper;
    joints.push_back(item);
  }
  return {{"name", urdf.stem().string()}, {"joints", joints}, {"links", links}};
}

json events_of(const LawResult& result, const Chain& chain, double duration) {
  const RunRecording& r = result.recording;
  json events = json::array();
  if (!r.ended) {
    const double stretched = r.duration(duration);
    std::string text = "the motion ends";
    if (r.slowest < 1) {
      char more[64];
      std::snprintf(more, sizeof more, ", %.2f times as long as planned", stretched / duration);
      text += more;
    }
    events.push_back({{"t", rounded(stretched, 3)}, {"text", text}});
  }
  if (result.verdict && !result.verdict->ok()) {
    events.push_back({{"t", rounded(result.verdict->time, 3)},
                      {"text", to_string(result.verdict->state) + ": " + result.verdict->reason}});
  }
  for (std::size_t i = 0; i < r.tau.size(); ++i) {
    // Quantization by the DAC keeps the torque slightly below its limit.
    const double limit = 0.999 * chain.joints()[i].limits.effort;
    const auto met = std::find_if(r.tau[i].begin(), r.tau[i].end(),
                                  [&](double tau) { return std::abs(tau) >= limit; });
    if (met == r.tau[i].end()) continue;
    const double t = r.time[static_cast<std::size_t>(met - r.tau[i].begin())];
    events.push_back(
        {{"t", rounded(t, 3)}, {"text", chain.joints()[i].name + " reaches its torque limit"}});
  }
  std::sort(events.begin(), events.end(),
            [](const json& a, const json& b) { return a["t"] < b["t"]; });
  return events;
}

json run_of(const LawResult& result, const Demonstration& d, double rate, bool one_reference) {
  // 200 samples and 50 poses per second: more would not be visible.
  const auto every = static_cast<std::size_t>(std::max(1.0, std::round(rate / 200)));
  const auto every_frame = static_cast<std::size_t>(std::max(1.0, std::round(rate / 50)));
  const Recording& r = result.recording;
  json run{{"id", result.id}, {"label", result.label}, {"time", rounded(r.time, every, 4)}};
  // A run that ended early has a shorter reference than the others.
  const LawResult& source = d.results.front();
  const bool first = !one_reference || &result == &source || r.q_ref != source.recording.q_ref;
  for (std::size_t i = 0; i < r.q.size(); ++i) {
    std::vector<double> error(r.q[i].size());
    for (std::size_t t = 0; t < error.size(); ++t) error[t] = r.q[i][t] - r.q_ref[i][t];
    run["q"].push_back(rounded(r.q[i], every, 6));
    run["error"].push_back(rounded(error, every, 8));
    run["tau"].push_back(rounded(r.tau[i], every, 2));
    if (first) run["q_ref"].push_back(rounded(r.q_ref[i], every, 6));
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    run["tool"].push_back(rounded(r.tool[axis], every, 6));
    if (first) run["tool_ref"].push_back(rounded(r.tool_ref[axis], every, 6));
  }
  if (!first) run["reference_run"] = source.id;
  run["frames"] = frames_of(r, d.chain, every_frame);
  run["events"] = events_of(result, d.chain, d.duration);
  for (std::size_t i = 0; i < result.monitors.size(); ++i) {
    const ga_controllers::JointMonitor& m = result.monitors[i];
    run["monitors"].push_back({{"joint", d.chain.joints()[i].name},
                               {"oscillation", m.oscillation},
                               {"torque_oscillation", m.torque_oscillation},
                               {"frequency", m.frequency},
                               {"chatter", m.chatter},
                               {"saturation", m.saturation},
                               {"model_error", m.model_error},
                               {"model_error_ratio", m.model_error_ratio}});
  }
  if (result.verdict) run["verdict"] = {{"state", to_string(result.verdict->state)}};
  if (result.verdict && !result.verdict->ok()) {
    run["verdict"]["joint"] = d.chain.joints()[result.verdict->joint].name;
    run["verdict"]["time"] = result.verdict->time;
    run["verdict"]["reason"] = result.verdict->reason;
  }
  return run;
}

json table_of(const Demonstration& d) {
  const auto column = [](const char* key, const char* label, const char* unit, int digits,
                         const char* better) {
    return json{
        {"key", key}, {"label", label}, {"unit", unit}, {"digits", digits}, {"better", better}};
  };
  json rows = json::array();
  for (const LawResult& r : d.results) {
    const Metrics& m = r.metrics;
    rows.push_back({{"run", r.id},
                    {"joint_rms", 1e3 * m.joint_rms},
                    {"joint_max", 1e3 * m.joint_max},
                    {"tool_rms", 1e3 * m.tool_rms},
                    {"tool_max", 1e3 * m.tool_max},
                    {"final", 1e3 * m.final_error},
                    {"hunting", 1e3 * m.final_motion},
                    {"torque", 100 * m.torque_use},
                    {"chatter", 100 * m.chatter},
                    {"saturation", 100 * m.saturation},
                    {"model_error", 100 * m.model_error},
                    {"oscillation", 1e3 * m.oscillation},
                    {"stretch", r.recording.duration(d.duration) / d.duration},
                    {"time", 1e6 * r.recording.update_time_mean}});
    if (r.verdict) rows.back()["state"] = to_string(r.verdict->state);
  }
  json columns{column("joint_rms", "Joint error, RMS", "mrad", 3, "lower"),
               column("joint_max", "Joint error, max", "mrad", 3, "lower"),
               column("tool_rms", "Tool error, RMS", "mm", 3, "lower"),
               column("tool_max", "Tool error, max", "mm", 3, "lower"),
               column("final", "Error at rest", "mrad", 3, "lower"),
               column("hunting", "Motion at rest", "mrad", 3, "none"),
               column("torque", "Torque used", "% of limit", 1, "none"),
               column("chatter", "Torque change per cycle, RMS", "% of limit", 3, "lower"),
               column("saturation", "Torque saturated", "% of time", 1, "none"),
               column("model_error", "Model error, RMS", "% of limit", 2, "none"),
               column("oscillation", "Oscillation at rest", "mrad", 3, "none")};
  const bool timed = std::any_of(d.results.begin(), d.results.end(), [](const LawResult& r) {
    return r.recording.update_time_mean > 0;
  });
  const bool stretched = std::any_of(d.results.begin(), d.results.end(),
                                     [](const LawResult& r) { return r.recording.slowest < 1; });
  if (stretched) columns.push_back(column("stretch", "Duration over plan", "", 2, "lower"));
  if (timed) columns.push_back(column("time", "Law, per cycle", "µs", 2, "none"));
  const bool judged = std::any_of(d.results.begin(), d.results.end(),
                                  [](const LawResult& r) { return r.verdict.has_value(); });
  if (judged) columns.insert(columns.begin(), column("state", "State", "", 0, "none"));
  return {{"columns", columns}, {"rows", rows}};
}

}  // namespace

json report_data(const Demonstration& d, const std::filesystem::path& urdf,
                 const ReportTexts& texts, double rate, bool one_reference) {
  std::vector<std::string> notes = d.notes;
  json data{{"title", texts.title},         {"subtitle", texts.subtitle},
            {"generated", texts.generated}, {"robot", robot_of(d.chain, urdf, notes)},
            {"runs", json::array()},        {"table", table_of(d)}};
  data["notes"] = notes;
  for (const LawResult& result : d.results) {
    data["runs"].push_back(run_of(result, d, rate, one_reference));
  }
  return data;
}

json report_data(const Demonstration& d, const DemonstrationOptions& options) {
  char text[256];
  std::snprintf(text, sizeof text, "%s, %.2f s at %.0f Hz: ", options.urdf.stem().c_str(),
                d.duration, options.rate);
  json data =
      report_data(d, options.urdf,
                  {"Computed-torque control in simulation", text + d.motion,
                   std::string("ga_tools ") + version() + ", seed " + std::to_string(options.seed)},
                  options.rate, true);
  data["made_with"] = provenance(d, options);
  data["stability"] = json_of(d.stability);
  return data;
}

}  // namespace ga_tools
