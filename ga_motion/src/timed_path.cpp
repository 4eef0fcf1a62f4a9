// SPDX-License-Identifier: Apache-2.0
#include "timed_path.hpp"

#include <algorithm>
#include <utility>

#include "ga_dynamics/algorithm/check_arguments.hpp"

namespace ga_motion {

namespace {
constexpr double kEdge = 1e-9;  // s, as in trajectory.cpp
}

TimedPath::TimedPath(std::shared_ptr<const Path> path, std::vector<double> s,
                     std::vector<double> speed, std::vector<double> time)
    : path_(std::move(path)), s_(std::move(s)), speed_(std::move(speed)), time_(std::move(time)) {}

void TimedPath::sample(double t, std::span<double> q, std::span<double> qd,
                       std::span<double> qdd) const {
  const auto n = static_cast<std::size_t>(path_->size());
  ga_dynamics::require_sample_sizes(n, q.size(), qd.size(), qdd.size());
  // At its end the motion is over: a controller that interpolates between samples comes to rest.
  const bool moving = t >= -kEdge && t < time_.back() - kEdge;
  if (!moving) {
    path_->sample(t > 0 ? s_.back() : 0, q, qd, qdd);
    std::fill_n(qd.begin(), n, 0.0);
    std::fill_n(qdd.begin(), n, 0.0);
    return;
  }
  t = std::max(t, 0.0);
  const auto next = std::upper_bound(time_.begin() + 1, time_.end() - 1, t);
  const auto i = static_cast<std::size_t>(next - time_.begin()) - 1;
  const double u = (speed_[i + 1] - speed_[i]) / (time_[i + 1] - time_[i]);
  const double elapsed = t - time_[i];
  const double speed = speed_[i] + u * elapsed;
  const double s = s_[i] + elapsed * (speed_[i] + 0.5 * u * elapsed);
  path_->sample(std::min(s, s_[i + 1]), q, qd, qdd);
  for (std::size_t k = 0; k < n; ++k) {
    qdd[k] = qd[k] * u + qdd[k] * speed * speed;
    qd[k] *= speed;
  }
}

}  // namespace ga_motion
