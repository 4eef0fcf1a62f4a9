// SPDX-License-Identifier: Apache-2.0
#include "sim/motion.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <vector>

#include "ga_dynamics/cartesian_line.hpp"
#include "sim/via_points.hpp"

namespace puma_hardware::sim {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using ga_dynamics::Trajectory;

namespace {

/// The straight line of the paper on PC-based control of a PUMA, §4: 0.86 m at 0.1 m/s, the tool
/// turned by (45°, 60°, 90°) about z, y', z''. The branch is not given there; the first one that
/// keeps clear of all limits is taken. Null if the arm is not built like the PUMA, too small or too
/// weak.
std::unique_ptr<Trajectory> papers_line(const Chain& chain) {
  using namespace ga_dynamics;
  constexpr double kDegree = std::numbers::pi / 180;
  const Matrix3 hand = rotation_zyz(45 * kDegree, 60 * kDegree, 90 * kDegree);
  const CartesianLine line({hand, {0.6, 0.175, 0.25}}, {hand, {0.018, 0.757, 0}}, 0.1, 0.25);
  std::unique_ptr<PumaKinematics> kinematics;
  try {
    kinematics = std::make_unique<PumaKinematics>(chain);
  } catch (const KinematicsError&) {
    return nullptr;
  }
  for (const int arm : {1, -1}) {
    for (const int elbow : {1, -1}) {
      for (const int wrist : {1, -1}) {
        try {
          auto motion = make_cartesian_line(*kinematics, line, PumaBranch{arm, elbow, wrist});
          if (within_torque_limits(chain, *motion)) return motion;
        } catch (const KinematicsError&) {
          continue;  // the next branch
        }
      }
    }
  }
  return nullptr;
}

std::optional<Motion> make_line(const Chain& chain) {
  if (auto papers = papers_line(chain)) {
    return Motion{std::move(papers),
                  "straight line of the tool, 0.86 m at 0.1 m/s, of the papers' experiments"};
  }
  return find_line(chain);
}

std::unique_ptr<Trajectory> make_from_file(const std::string& file, const Chain& chain) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("--trajectory " + file + ": the file cannot be read");
  std::vector<std::string> names;
  for (const ChainJoint& joint : chain.joints()) names.push_back(joint.name);
  try {
    const ViaPoints via = read_via_points(in, names);
    if (!via.note.empty()) {
      std::fprintf(stderr, "puma: note: --trajectory %s: %s\n", file.c_str(), via.note.c_str());
    }
    return ga_dynamics::make_cubic_spline(via.times, via.points);
  } catch (const std::exception& error) {
    throw std::runtime_error("--trajectory " + file + ": " + error.what());
  }
}

/// A motion beyond a limit would be a test of the simulated stops.
void check_limits(const Trajectory& motion, const Chain& chain, const std::string& name) {
  constexpr double kStep = 1e-3;  // s
  const std::size_t n = chain.joints().size();
  std::vector<double> q(n), qd(n), qdd(n);
  for (double t = 0; t < motion.duration() + kStep; t += kStep) {
    motion.sample(t, q, qd, qdd);
    for (std::size_t i = 0; i < n; ++i) {
      const ChainJoint& joint = chain.joints()[i];
      if (q[i] >= joint.limits.lower && q[i] <= joint.limits.upper) continue;
      char text[160];
      std::snprintf(text, sizeof text, ": %s is at %.4g after %.3f s; its limits are %.4g and %.4g",
                    joint.name.c_str(), q[i], t, joint.limits.lower, joint.limits.upper);
      throw std::runtime_error("--trajectory " + name + text);
    }
  }
}

Motion make_any(const std::string& name, const Chain& chain) {
  if (name == "line" || name == "auto") {
    if (std::optional<Motion> line = make_line(chain)) return std::move(*line);
    if (name == "auto") return find_joint_motion(chain);
    throw std::runtime_error(
        "--trajectory line: no straight line of the tool was found that the " +
        std::to_string(chain.size()) +
        " joints can follow within their limits; give quintic, or a file of via points");
  }
  if (name.ends_with(".csv") || std::filesystem::exists(name)) {
    return {make_from_file(name, chain), "third-order polynomials through the points of " + name};
  }
  // Between 35 % and 65 % of the joints' usable ranges.
  std::vector<double> start, goal, middle;
  double duration = 3;
  for (const ChainJoint& joint : chain.joints()) {
    const auto [low, high] = usable_range(joint);
    start.push_back(low + 0.35 * (high - low));
    goal.push_back(low + 0.65 * (high - low));
    middle.push_back(low + 0.40 * (high - low));
    // 3.5: more than the peak over the mean speed of any of the three.
    duration = std::max(duration, 3.5 * (goal.back() - start.back()) / joint.limits.velocity);
  }
  const std::string text = "all joints from 35 % to 65 % of their ranges, ";
  if (name == "quintic") {
    return {ga_dynamics::make_quintic(start, goal, duration), text + "fifth-order polynomial"};
  }
  if (name == "ramp") {
    return {ga_dynamics::make_timed_ramp(start, goal, duration, 0.1 * duration),
            text + "constant speed with parabolic blends"};
  }
  if (name == "spline") {
    const double times[] = {0, 0.5 * duration, duration};
    const std::vector<double> points[] = {start, middle, goal};
    return {ga_dynamics::make_cubic_spline(times, points), text + "third-order polynomials"};
  }
  throw std::runtime_error(
      "--trajectory " + name +
      ": unknown; give auto, line, quintic, ramp, spline or a file of via points");
}

}  // namespace

Motion choose_motion(const std::string& name, const Chain& chain) {
  Motion motion = make_any(name, chain);
  check_limits(*motion.trajectory, chain, name);
  return motion;
}

std::unique_ptr<Trajectory> make_motion(const std::string& name, const Chain& chain) {
  return choose_motion(name, chain).trajectory;
}

}  // namespace puma_hardware::sim
