// SPDX-License-Identifier: Apache-2.0
#include "report/report_document.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace ga_tools {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& path, const std::string& problem) {
  throw std::runtime_error("'" + path + "' " + problem);
}

/// Throws naming all of the keys that `object` lacks.
void require(const json& object, const std::string& path, const std::vector<std::string>& keys) {
  if (!object.is_object()) fail(path, "is not an object");
  std::vector<std::string> missing;
  for (const std::string& key : keys) {
    if (!object.contains(key)) missing.push_back((path.empty() ? "" : path + ".") + key);
  }
  if (missing.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (i > 0) names += i + 1 < missing.size() ? ", " : " and ";
    names += "'" + missing[i] + "'";
  }
  throw std::runtime_error(names + (missing.size() == 1 ? " is missing" : " are missing"));
}

const json& list(const json& object, const std::string& path, const char* key, std::size_t least) {
  const json& values = object[key];
  const std::string name = path + (path.empty() ? "" : ".") + key;
  if (!values.is_array() || values.size() < least) {
    fail(name, least == 0 ? "must be a list" : "must have one entry or more");
  }
  return values;
}

/// Numbers, and null for gaps.
bool is_column(const json& values, std::size_t size) {
  return values.is_array() && values.size() == size &&
         std::all_of(values.begin(), values.end(),
                     [](const json& value) { return value.is_number() || value.is_null(); });
}

void check_columns(const json& run, const std::string& path, const char* key, std::size_t columns,
                   std::size_t samples) {
  const json& values = run[key];
  if (values.is_array() && values.size() == columns &&
      std::all_of(values.begin(), values.end(),
                  [&](const json& column) { return is_column(column, samples); })) {
    return;
  }
  fail(path + "." + key, "must have " + std::to_string(columns) + " lists of " +
                             std::to_string(samples) + " numbers, as many as 'time'");
}

void check_frames(const json& run, const std::string& path, std::size_t links) {
  const std::string name = path + ".frames";
  require(run["frames"], name, {"time", "poses"});
  const json& times = list(run["frames"], name, "time", 1);
  const json& poses = list(run["frames"], name, "poses", 0);
  if (times.size() != poses.size()) fail(name, "must have as many poses as times");
  for (std::size_t k = 0; k < poses.size(); ++k) {
    if (is_column(poses[k], 7 * links)) continue;
    fail(name + ".poses[" + std::to_string(k) + "]", "must have " + std::to_string(7 * links) +
                                                         " numbers, 7 for each of the " +
                                                         std::to_string(links) + " links");
  }
}

void check_reference(const json& run, const std::string& path, const json& runs) {
  const json& id = run["reference_run"];
  const auto found = std::find_if(runs.begin(), runs.end(), [&](const json& other) {
    return other.is_object() && other.contains("id") && other["id"] == id &&
           other.contains("q_ref") && other.contains("tool_ref");
  });
  if (found != runs.end()) return;
  fail(path + ".reference_run",
       "names " + (id.is_string() ? "'" + id.get<std::string>() + "'" : id.dump()) +
           ", which is not a run with 'q_ref' and 'tool_ref'");
}

void check_run(const json& run, const std::string& path, const json& runs, std::size_t joints,
               std::size_t links) {
  require(run, path, {"id", "label", "time", "q", "tau", "tool", "frames"});
  const std::size_t samples = list(run, path, "time", 1).size();
  check_columns(run, path, "q", joints, samples);
  check_columns(run, path, "tau", joints, samples);
  check_columns(run, path, "tool", 3, samples);
  if (run.contains("reference_run")) {
    check_reference(run, path, runs);
  } else {
    require(run, path, {"q_ref", "tool_ref"});
    check_columns(run, path, "q_ref", joints, samples);
    check_columns(run, path, "tool_ref", 3, samples);
  }
  if (run.contains("error")) check_columns(run, path, "error", joints, samples);
  check_frames(run, path, links);
}

}  // namespace

void check_report_document(const json& data) {
  if (!data.is_object()) throw std::runtime_error("the data are not a JSON object");
  require(data, "", {"title", "robot", "runs"});
  const json& robot = data["robot"];
  require(robot, "robot", {"joints", "links"});
  const std::size_t joints = list(robot, "robot", "joints", 1).size();
  const std::size_t links = list(robot, "robot", "links", 0).size();
  const json& runs = list(data, "", "runs", 1);
  for (std::size_t k = 0; k < runs.size(); ++k) {
    check_run(runs[k], "runs[" + std::to_string(k) + "]", runs, joints, links);
  }
}

}  // namespace ga_tools
