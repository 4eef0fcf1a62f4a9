// SPDX-License-Identifier: Apache-2.0
#include "study/recorded_runs.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace ga_tools {

using nlohmann::json;

namespace {

template <class T>
T member(const json& run, const std::string& name, const char* key) {
  try {
    return run.at(key).get<T>();
  } catch (const json::exception&) {
    throw std::runtime_error("recording '" + name + "': '" + key +
                             "' is missing or has the wrong type");
  }
}

/// The index of each of the chain's joints in the recording's lists.
std::vector<std::size_t> order_of(const json& run, const std::string& name,
                                  const ga_dynamics::Chain& chain) {
  std::vector<std::size_t> order;
  std::vector<std::string> names;
  for (const auto& joint : chain.joints()) names.push_back(joint.name);
  const auto given =
      run.contains("joints") ? member<std::vector<std::string>>(run, name, "joints") : names;
  for (const std::string& joint : names) {
    const auto found = std::find(given.begin(), given.end(), joint);
    if (found == given.end()) {
      throw std::runtime_error("recording '" + name + "': 'joints' does not name " + joint);
    }
    order.push_back(static_cast<std::size_t>(found - given.begin()));
  }
  return order;
}

std::vector<std::vector<double>> per_joint(const json& run, const std::string& name,
                                           const char* key, const std::vector<std::size_t>& order,
                                           std::size_t samples) {
  const std::size_t joints = order.size();
  const auto values = member<std::vector<std::vector<double>>>(run, name, key);
  const bool fits =
      values.size() == joints &&
      std::all_of(values.begin(), values.end(), [&](const auto& v) { return v.size() == samples; });
  if (!fits) {
    throw std::runtime_error("recording '" + name + "': '" + key + "' must have " +
                             std::to_string(joints) + " lists of " + std::to_string(samples) +
                             " numbers");
  }
  std::vector<std::vector<double>> ordered;
  for (const std::size_t i : order) ordered.push_back(values.at(i));
  return ordered;
}

LawResult result_of(const json& run, const ga_dynamics::Chain& chain, double& duration) {
  LawResult result;
  result.id = member<std::string>(run, "?", "id");
  result.label = member<std::string>(run, result.id, "label");
  duration = member<double>(run, result.id, "duration");
  Recording& r = result.recording;
  r.time = member<std::vector<double>>(run, result.id, "time");
  const bool increases =
      std::adjacent_find(r.time.begin(), r.time.end(), std::greater_equal<>()) == r.time.end();
  if (r.time.size() < 2 || !increases) {
    throw std::runtime_error("recording '" + result.id +
                             "': 'time' must have two or more increasing numbers");
  }
  if (!(duration > 0 && duration <= r.time.back())) {
    throw std::runtime_error("recording '" + result.id +
                             "': 'duration' must be positive and within the time");
  }
  const std::vector<std::size_t> order = order_of(run, result.id, chain);
  r.q = per_joint(run, result.id, "q", order, r.time.size());
  r.q_ref = per_joint(run, result.id, "q_ref", order, r.time.size());
  r.tau = per_joint(run, result.id, "tau", order, r.time.size());
  trace_tool(r, chain);
  result.metrics = measure(r, chain, duration);
  return result;
}

}  // namespace

Demonstration recorded_runs(const json& data, const ga_dynamics::Chain& chain) {
  Demonstration d{chain, 0, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  const auto runs = member<std::vector<json>>(data, "?", "recordings");
  if (runs.empty()) throw std::runtime_error("'recordings' has no run");
  for (const json& run : runs) {
    double duration = 0;
    d.results.push_back(result_of(run, chain, duration));
    d.duration = std::max(d.duration, duration);
  }
  return d;
}

}  // namespace ga_tools
