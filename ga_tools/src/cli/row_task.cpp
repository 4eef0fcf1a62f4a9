// SPDX-License-Identifier: Apache-2.0
#include "cli/row_task.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <stdexcept>

#include "ga_dynamics/pose.hpp"
#include "ga_motion/state_file.hpp"

namespace ga_tools::cli {

using namespace ga_dynamics;
using namespace ga_motion;
namespace {

/// d11, d12, …; from ten joints on d1_1, for d111 would be two things.
std::vector<std::string> matrix_columns(int n) {
  const std::string separator = n < 10 ? "" : "_";
  std::vector<std::string> names;
  for (int row = 1; row <= n; ++row) {
    for (int column = 1; column <= n; ++column) {
      names.push_back("d" + std::to_string(row) + separator + std::to_string(column));
    }
  }
  return names;
}

RowTask link_pose_task(Dynamics& dynamics) {
  RowTask task{{"q"}, {}, {}};
  for (const ChainLink& link : dynamics.chain().links()) {
    for (const char* const part : {".x", ".y", ".z", ".qx", ".qy", ".qz", ".qw"}) {
      task.outputs.push_back(csv_field(link.name + part));
    }
  }
  const auto poses = std::make_shared<std::vector<Pose>>(dynamics.chain().links().size());
  task.evaluate = [&dynamics, poses](std::span<const double> in, std::span<double> out) {
    dynamics.link_poses(in, *poses);
    double* to = out.data();
    for (const Pose& pose : *poses) {
      to = std::copy(pose.translation.begin(), pose.translation.end(), to);
      const std::array<double, 4> quaternion = quaternion_of(pose.rotation);
      to = std::copy(quaternion.begin(), quaternion.end(), to);
    }
  };
  return task;
}

}  // namespace

RowTask make_row_task(Command command, Dynamics& dynamics) {
  using In = std::span<const double>;
  using Out = std::span<double>;
  Dynamics* const d = &dynamics;
  const int joints = dynamics.size();
  const auto n = static_cast<std::size_t>(joints);
  switch (command) {
    case Command::kInverse:
      return {{"q", "qd", "qdd"}, joint_columns("tau", joints), [d, n](In in, Out out) {
                d->inverse_dynamics(in.first(n), in.subspan(n, n), in.last(n), out);
              }};
    case Command::kForward:
      return {{"q", "qd", "tau"}, joint_columns("qdd", joints), [d, n](In in, Out out) {
                const bool sound =
                    d->forward_dynamics(in.first(n), in.subspan(n, n), in.last(n), out);
                // what follows from a singular inertia matrix is no number (stream_rows.cpp)
                if (!sound)
                  std::fill(out.begin(), out.end(), std::numeric_limits<double>::quiet_NaN());
              }};
    case Command::kInertia:
      return {{"q"}, matrix_columns(joints), [d](In in, Out out) { d->inertia_matrix(in, out); }};
    case Command::kBias:
      return {{"q", "qd"}, joint_columns("tau", joints), [d, n](In in, Out out) {
                d->bias(in.first(n), in.last(n), out);
              }};
    case Command::kGravity:
      return {{"q"}, joint_columns("tau", joints), [d](In in, Out out) { d->gravity(in, out); }};
    case Command::kKinematics:
      return link_pose_task(dynamics);
    case Command::kInfo:
    case Command::kExperiments:
    case Command::kDone:
      break;
  }
  throw std::logic_error("make_row_task: the command has no rows");
}

}  // namespace ga_tools::cli
