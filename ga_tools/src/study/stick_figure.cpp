// SPDX-License-Identifier: Apache-2.0
#include "study/stick_figure.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ga_dynamics/dynamics.hpp"

namespace ga_tools {

using ga_dynamics::Chain;
using ga_dynamics::ChainLink;
using ga_dynamics::Pose;
using ga_dynamics::Vector3;
using nlohmann::json;

namespace {

const json kBar = {0.75, 0.76, 0.78, 1}, kJoint = {0.28, 0.30, 0.34, 1},
           kTip = {0.85, 0.47, 0.10, 1};

double size_of(const Vector3& v) { return std::hypot(v[0], v[1], v[2]); }

/// A cylinder from the frame's origin to `end`.
json bar_to(const Vector3& end, double radius) {
  const double length = size_of(end);
  // The shortest rotation from z to the direction of the bar; straight down: half a turn about x.
  const double z = end[2] / length, w = std::sqrt(0.5 * (1 + z));
  const double qx = w > 1e-6 ? -end[1] / length / (2 * w) : 1,
               qy = w > 1e-6 ? end[0] / length / (2 * w) : 0;
  return {{"type", "cylinder"},
          {"radius", radius},
          {"length", length},
          {"color", kBar},
          {"pose", {0.5 * end[0], 0.5 * end[1], 0.5 * end[2], qx, qy, 0, w > 1e-6 ? w : 0}}};
}

json ball(double radius, const json& color) {
  return {
      {"type", "sphere"}, {"radius", radius}, {"color", color}, {"pose", {0, 0, 0, 0, 0, 0, 1}}};
}

json cube(double size) {
  return {{"type", "box"},
          {"size", {size, size, size}},
          {"color", kJoint},
          {"pose", {0, 0, 0, 0, 0, 0, 1}}};
}

}  // namespace

std::map<std::string, json> stick_figure(const Chain& chain,
                                         const std::map<std::string, json>& visuals) {
  const auto n = static_cast<std::size_t>(chain.size());
  std::vector<bool> shown(n + 1);
  for (const ChainLink& link : chain.links()) {
    const auto found = visuals.find(link.name);
    if (found != visuals.end() && !found->second.empty())
      shown[static_cast<std::size_t>(link.body)] = true;
  }
  std::map<std::string, json> figure;
  if (std::all_of(shown.begin(), shown.end(), [](bool s) { return s; })) return figure;

  // The link at each joint, and the tip after the last; their poses with all joints at zero.
  std::vector<std::string> at{chain.base().name};
  for (const auto& joint : chain.joints()) at.push_back(joint.link);
  at.push_back(chain.tip().name);
  ga_dynamics::Dynamics dynamics(chain);
  std::vector<Pose> poses(chain.links().size());
  dynamics.link_poses(std::vector<double>(n), poses);
  std::vector<Pose> places;
  for (const std::string& name : at)
    places.push_back(poses[static_cast<std::size_t>(chain.link_index(name))]);
  std::vector<Vector3> ends;  // of each bar, in its own link's frame
  double longest = 0, total = 0;
  for (std::size_t i = 0; i <= n; ++i) {
    ends.push_back(
        ga_dynamics::compose(ga_dynamics::inverse(places[i]), places[i + 1]).translation);
    longest = std::max(longest, size_of(ends.back()));
    total += size_of(ends.back());
  }
  const double radius = std::clamp(0.02 * total, 0.001, std::max(0.1 * longest, 0.001));
  for (std::size_t i = 0; i <= n; ++i) {
    if (shown[i]) continue;
    json shapes = json::array();
    if (size_of(ends[i]) > 1e-4) shapes.push_back(bar_to(ends[i], radius));
    if (i > 0)
      shapes.push_back(chain.joints()[i - 1].revolute() ? ball(1.6 * radius, kJoint)
                                                        : cube(3 * radius));
    figure[at[i]] = shapes;
    if (i == n && chain.tip().name != at[n])
      figure[chain.tip().name] = json::array({ball(1.2 * radius, kTip)});
  }
  return figure;
}

}  // namespace ga_tools
