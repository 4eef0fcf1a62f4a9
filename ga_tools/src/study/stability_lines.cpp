// SPDX-License-Identifier: Apache-2.0
#include "study/stability_lines.hpp"

#include <algorithm>
#include <cmath>

namespace ga_tools {

using ga_controllers::LawCheck;
using ga_controllers::Uncertainty;
using nlohmann::json;

Uncertainty assumed_uncertainty(const ga_hardware::Disturbances& d,
                                const ga_dynamics::LinkInertia& payload) {
  Uncertainty u;
  u.model.payload = payload.mass;
  const double offset = std::hypot(payload.com[0], payload.com[1], payload.com[2]);
  u.model.payload_radius = std::hypot(u.model.payload_radius, offset);
  u.model.mass = std::max(u.model.mass, d.mismatch);
  u.model.armature_low = std::min(u.model.armature_low, std::max(0.01, 1 - d.armature_error));
  u.model.armature_high = std::max(u.model.armature_high, 1 + d.armature_error);
  u.delay = static_cast<int>(std::min(d.delay, 10.0));
  if (d.elastic_frequency > 0) u.resonance = {d.elastic_frequency};
  return u;
}

std::vector<std::string> texts_of(std::span<const StabilityLine> lines) {
  std::vector<std::string> texts;
  for (const StabilityLine& line : lines) {
    std::string laws;
    for (const std::string& law : line.laws) laws += (laws.empty() ? "" : ", ") + law;
    const std::string begin = "stability", &summary = line.check.summary;
    texts.push_back(begin + " of " + laws + summary.substr(std::min(begin.size(), summary.size())));
    if (!line.check.accepted())
      texts.push_back("warning: a controller would refuse " + laws + ": " + line.check.refusal);
  }
  return texts;
}

std::vector<std::string> warnings_of(std::span<const StabilityLine> lines) {
  std::vector<std::string> all;
  for (const StabilityLine& line : lines) {
    for (const std::string& warning : line.check.warnings) {
      const std::string text = "stability: " + warning;
      if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
    }
  }
  return all;
}

json json_of(std::span<const StabilityLine> lines) {
  const auto range = [](double lower, double upper) {
    return json{lower, std::isfinite(upper) ? json(upper) : json(nullptr)};
  };
  json all = json::array();
  for (const StabilityLine& line : lines) {
    const auto& report = line.check.report;
    json item{{"laws", line.laws},
              {"verdict", to_string(report.verdict)},
              {"accepted", line.check.accepted()},
              {"stable_rho", range(report.stable.lower, report.stable.upper)},
              {"rho", range(report.rho_low, report.rho_high)},
              {"bandwidth", report.bandwidth},
              {"warnings", line.check.warnings}};
    if (!line.check.accepted()) item["refusal"] = line.check.refusal;
    all.push_back(item);
  }
  return all;
}

}  // namespace ga_tools
