// SPDX-License-Identifier: Apache-2.0
// line_waypoints URDF RATE: the straight line of the paper on PC-based control of a PUMA, as joint
// motion. CSV without a header: first the diagonal of the inertia matrix at the start (n values),
// then rows of time [s], q, qd and qdd [rad, s], RATE per second.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numbers>
#include <span>
#include <vector>

#include "ga_dynamics/cartesian_line.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/puma_kinematics.hpp"

namespace {

void print(std::span<const double> values, char end) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::printf("%.12g%c", values[i], i + 1 < values.size() ? ',' : end);
  }
}

void run(const char* urdf, double rate) {
  using namespace ga_dynamics;
  const Chain chain = Chain::from_urdf_file(urdf);
  constexpr double kDegree = std::numbers::pi / 180;
  const Matrix3 hand = rotation_zyz(45 * kDegree, 60 * kDegree, 90 * kDegree);
  const CartesianLine line({hand, {0.6, 0.175, 0.25}}, {hand, {0.018, 0.757, 0}}, 0.1, 0.25);
  const std::size_t n = chain.joints().size();
  std::vector<double> q(n), qd(n), qdd(n), inertia(n * n), diagonal(n);
  // The paper does not give the branch; this one keeps clear of all limits.
  const auto motion = make_cartesian_line(PumaKinematics(chain), line, PumaBranch{1, 1, -1});

  motion->sample(0, q, qd, qdd);
  Dynamics(chain, {.drives = Drives::kArmature}).inertia_matrix(q, inertia);
  for (std::size_t i = 0; i < n; ++i) diagonal[i] = inertia[i * (n + 1)];
  print(diagonal, '\n');

  const auto rows = static_cast<long>(std::ceil(motion->duration() * rate - 1e-6));
  for (long k = 0; k <= rows; ++k) {
    const double t = std::fmin(static_cast<double>(k) / rate, motion->duration());
    motion->sample(t, q, qd, qdd);
    print(std::span(&t, 1), ',');
    print(q, ',');
    print(qd, ',');
    print(qdd, '\n');
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || std::atof(argv[2]) <= 0) {
    std::fprintf(stderr, "usage: line_waypoints URDF RATE\n");
    return 2;
  }
  try {
    run(argv[1], std::atof(argv[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "line_waypoints: %s\n", error.what());
    return 1;
  }
  return 0;
}
