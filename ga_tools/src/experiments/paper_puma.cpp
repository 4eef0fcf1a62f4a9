// SPDX-License-Identifier: Apache-2.0
#include "experiments/paper_puma.hpp"

#include <numbers>
#include <vector>

namespace ga_tools::experiments {

using namespace ga_dynamics;
namespace {

constexpr double kDegree = std::numbers::pi / 180;

/// Moments of inertia of a uniform body over its mass, m².
Vector3 box(double x, double y, double z) {
  return {(y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12};
}
Vector3 cylinder_along_y(double radius, double length) {
  const double across = radius * radius / 4 + length * length / 12;
  return {across, radius * radius / 2, across};
}
Vector3 cylinder_along_z(double radius, double length) {
  const Vector3 y = cylinder_along_y(radius, length);
  return {y[0], y[2], y[1]};
}

struct Row {
  double alpha, a, d;   // degrees, m: Table 5
  double mass;          // kg: Table 6
  Vector3 com;          // m: Table 7
  Vector3 per_mass;     // m²: our uniform bodies
  double lower, upper;  // degrees: the 560's
};

}  // namespace

Chain make_chain(const PaperPuma& options) {
  const double sign = options.signs == OffsetSigns::kOnTheLinks ? 1 : -1;
  const Row rows[] = {
      {0, 0, 0, 10.521, {0, -0.054, 0}, cylinder_along_y(0.105, 0.292), -160, 160},
      {-90, 0, 0, 15.781, {0.1398, 0, 0.1491}, box(0.65, 0.2, 0.104), -223, 43},
      {0,
       0.432,
       sign * 0.15,
       8.767,
       {-0.00032, -0.197, 0},
       cylinder_along_y(0.055, 0.46),
       -40,
       240},
      {90, -0.02, sign * 0.433, 1.052, {0, 0, -0.057}, cylinder_along_z(0.043, 0.09), -130, 180},
      {-90, 0, 0, 1.052, {0, -0.007, 0}, cylinder_along_z(0.035, 0.07), -100, 100},
      {90, 0, 0, 0.351, {0, 0, 0.0372}, cylinder_along_z(0.0315, 0.038), -266, 266},
  };
  std::vector<DhJoint> joints;
  for (const Row& row : rows) {
    DhJoint joint;
    joint.dh = {.alpha = row.alpha * kDegree, .a = row.a, .d = row.d};
    joint.body.mass = row.mass;
    joint.body.com = row.com;
    for (std::size_t i = 0; i < 3; ++i) {
      joint.body.inertia[4 * i] = options.inertia_scale * row.mass * row.per_mass[i];
    }
    if (options.limits) {
      joint.limits.lower = row.lower * kDegree;
      joint.limits.upper = row.upper * kDegree;
    }
    joints.push_back(joint);
  }
  return Chain::from_dh(joints);
}

}  // namespace ga_tools::experiments
