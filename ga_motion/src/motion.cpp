// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <vector>

#include "ga_motion/cartesian_line.hpp"
#include "ga_motion/state_file.hpp"
#include "ga_motion/trajectory.hpp"
#include "motion_limits.hpp"

namespace ga_motion {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;

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

/// What a motion through them needs.
void check_points(const ViaPoints& via) {
  constexpr double kShortest = 1e-9;  // s
  const std::vector<double>& times = via.times;
  const auto number = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g s", value);
    return std::string(text);
  };
  if (times.size() < 2) {
    throw std::runtime_error(
        std::string(times.empty() ? "the file has no via point" : "the file has one via point") +
        "; give two or more: a line each, with the time and a position per joint");
  }
  if (times.front() != 0) {
    throw std::runtime_error("the first point is at " + number(times.front()) + "; begin with 0 s");
  }
  for (std::size_t k = 1; k < times.size(); ++k) {
    if (times[k] - times[k - 1] >= kShortest) continue;
    throw std::runtime_error("point " + std::to_string(k + 1) + " is at " + number(times[k]) +
                             ", after " + number(times[k - 1]) +
                             "; give times that increase by 1 ns or more");
  }
}

Motion make_from_file(const std::string& file, const Chain& chain) {
  if (std::filesystem::is_directory(file)) {
    throw std::runtime_error("--trajectory " + file +
                             ": is a folder; name a CSV file of via points");
  }
  std::ifstream in(file);
  if (!in) throw std::runtime_error("--trajectory " + file + ": the file cannot be read");
  std::vector<std::string> names;
  for (const ChainJoint& joint : chain.joints()) names.push_back(joint.name);
  try {
    ViaPoints via = read_via_points(in, names);
    if (!via.note.empty()) {
      std::fprintf(stderr, "puma: note: --trajectory %s: %s\n", file.c_str(), via.note.c_str());
    }
    check_points(via);
    return {make_cubic_spline(via.times, via.points),
            "third-order polynomials through the points of " + file, std::move(via.times)};
  } catch (const std::exception& error) {
    throw std::runtime_error("--trajectory " + file + ": " + error.what());
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
    return make_from_file(name, chain);
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
    return {make_quintic(start, goal, duration), text + "fifth-order polynomial"};
  }
  if (name == "ramp") {
    return {make_timed_ramp(start, goal, duration, 0.1 * duration),
            text + "constant speed with parabolic blends"};
  }
  if (name == "spline") {
    const double times[] = {0, 0.5 * duration, duration};
    const std::vector<double> points[] = {start, middle, goal};
    return {make_cubic_spline(times, points), text + "third-order polynomials"};
  }
  throw std::runtime_error(
      "--trajectory " + name +
      ": unknown; give auto, line, quintic, ramp, spline or a file of via points");
}

}  // namespace

Motion choose_motion(const std::string& name, const Chain& chain) {
  Motion motion = make_any(name, chain);
  check_motion(motion, chain, "--trajectory " + name);
  return motion;
}

std::unique_ptr<Trajectory> make_motion(const std::string& name, const Chain& chain) {
  return choose_motion(name, chain).trajectory;
}

}  // namespace ga_motion
