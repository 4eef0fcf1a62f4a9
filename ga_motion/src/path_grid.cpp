// SPDX-License-Identifier: Apache-2.0
#include "path_grid.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>

#include "join.hpp"

namespace ga_motion {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;

namespace {

constexpr double kMerge = 1e-9;  // of the length: closer points are one
/// Where no joint has a velocity limit: the path in a microsecond.
constexpr double kLargestX = 1e12;

}  // namespace

std::string torque_text(const ChainJoint& joint, double torque) {
  return join(torque, joint.revolute() ? " N m" : " N");
}

PathGrid::PathGrid(const Chain& chain, const TimingLimits& limits, bool friction)
    : dynamics_(chain, {.drives = ga_dynamics::Drives::kArmature}),
      limits_(limits),
      friction_(friction),
      n_(chain.joints().size()),
      stride_((n_ + 1) / 2 * 2),
      zero_(n_, 0.0) {
  for (std::size_t i = 0; i < n_; ++i) {
    torque_inverse_.push_back(1 / limits.torque[i]);
    velocity_inverse_.push_back(1 / limits.velocity[i]);
    acceleration_inverse_.push_back(1 / limits.acceleration[i]);
    torque_limited_ = torque_limited_ || std::isfinite(limits.torque[i]);
    acceleration_limited_ = acceleration_limited_ || std::isfinite(limits.acceleration[i]);
    const ga_dynamics::Drive drive = friction ? chain.joints()[i].drive : ga_dynamics::Drive{};
    coulomb_positive_.push_back(drive.coulomb_positive * torque_inverse_[i]);
    coulomb_negative_.push_back(drive.coulomb_negative * torque_inverse_[i]);
    viscous_.push_back(drive.viscous * torque_inverse_[i]);
  }
  viscous_.resize(stride_, 0.0);
  acceleration_inverse_.resize(stride_, 0.0);
}

void PathGrid::place(const Path& path, int intervals, std::span<const double> more) {
  length_ = path.length();
  place_points(path, intervals, more);
  sample_all(path);
  if (friction_) insert_reversals(path);
  bound_velocities();
  if (!torque_limited_) return;
  evaluate_torques(path);
  evaluate_coulomb();
}

void PathGrid::place_points(const Path& path, int intervals, std::span<const double> also) {
  s.clear();
  for (int k = 0; k <= intervals; ++k) s.push_back(static_cast<double>(k) / intervals);
  std::vector<double> more = path.breaks();
  for (double& point : more) point /= length_;
  more.insert(more.end(), also.begin(), also.end());
  if (more.empty()) return;
  std::sort(more.begin(), more.end());
  // Breaks replace the equidistant points that they coincide with.
  std::vector<double> merged;
  std::size_t next = 0;
  for (const double point : s) {
    while (next < more.size() && more[next] < point + kMerge) {
      const double at = more[next++];
      const bool inside = at > kMerge && at < 1 - kMerge;
      if (inside && at - merged.back() > kMerge) merged.push_back(at);
    }
    if (merged.empty() || point - merged.back() > kMerge) merged.push_back(point);
  }
  s = std::move(merged);
}

void PathGrid::sample(const Path& path, std::size_t point) {
  const std::size_t at = point * stride_;
  const std::span<double> position(&q_[at], n_), first(&dq[at], n_), second(&ddq[at], n_);
  path.sample(point + 1 == s.size() ? length_ : s[point] * length_, position, first, second);
  bool regular = true;
  for (std::size_t i = 0; i < n_; ++i) {
    first[i] *= length_;
    second[i] *= length_ * length_;
    regular = regular && std::isfinite(first[i]) && std::isfinite(second[i]) &&
              position[i] >= limits_.lower[i] && position[i] <= limits_.upper[i];
  }
  if (regular) return;
  for (std::size_t i = 0; i < n_; ++i) {
    if (std::isfinite(position[i]) && std::isfinite(first[i]) && std::isfinite(second[i])) continue;
    throw std::invalid_argument(join("PathTimer::time: ", chain().joints()[i].name, " is at ",
                                     position[i], " with the derivatives ", first[i], " and ",
                                     second[i], " at ", path.place(s[point] * length_),
                                     "; give a finite path"));
  }
  for (std::size_t i = 0; i < n_; ++i) {
    const bool inside = position[i] >= limits_.lower[i] && position[i] <= limits_.upper[i];
    if (!inside) refuse_position(path, point, i, position[i]);
  }
}

void PathGrid::refuse_position(const Path& path, std::size_t point, std::size_t joint,
                               double position) const {
  const ChainJoint& at = chain().joints()[joint];
  const double place = s[point] * length_;
  throw TimingError(
      TimingFlaw::kPosition, static_cast<int>(joint), place, position,
      join(at.name, " is at ", position, at.revolute() ? " rad" : " m", " at ", path.place(place),
           "; its limits are ", limits_.lower[joint], " and ", limits_.upper[joint],
           ": move the path, or give more points where the curve leaves the line between them"));
}

void PathGrid::sample_all(const Path& path) {
  q_.assign(s.size() * stride_, 0.0);
  dq.assign(s.size() * stride_, 0.0);
  ddq.assign(s.size() * stride_, 0.0);
  for (std::size_t point = 0; point < s.size(); ++point) sample(path, point);
  double fastest = 0;
  for (const double value : dq) fastest = std::max(fastest, std::abs(value));
  if (!(fastest > 0)) {
    throw std::invalid_argument("PathTimer::time: no joint moves along the path; give another one");
  }
  still_ = 1e-12 * fastest;
}

/// A joint whose first derivative changes its sign between two points reverses there.
void PathGrid::insert_reversals(const Path& path) {
  std::vector<double> found, position(n_), first(n_), second(n_);
  for (std::size_t k = 0; k + 1 < s.size(); ++k) {
    for (std::size_t i = 0; i < n_; ++i) {
      const double before = dq[k * stride_ + i], behind = dq[(k + 1) * stride_ + i];
      if (before * behind >= 0) continue;
      double low = s[k], high = s[k + 1];
      while (high - low > 0.1 * kMerge) {
        const double middle = 0.5 * (low + high);
        path.sample(middle * length_, position, first, second);
        (first[i] * before > 0 ? low : high) = middle;
      }
      const double root = 0.5 * (low + high);
      if (root - s[k] > kMerge && s[k + 1] - root > kMerge) found.push_back(root);
    }
  }
  if (found.empty()) return;
  s.insert(s.end(), found.begin(), found.end());
  std::sort(s.begin(), s.end());
  const auto close = [](double x, double y) { return y - x <= kMerge; };
  s.erase(std::unique(s.begin(), s.end(), close), s.end());
  sample_all(path);
}

void PathGrid::bound_velocities() {
  velocity_bound.resize(s.size());
  for (std::size_t point = 0; point < s.size(); ++point) {
    double largest = 0;  // 1 / ṡ
    for (std::size_t i = 0; i < n_; ++i) {
      largest = std::max(largest, std::abs(dq[point * stride_ + i]) * velocity_inverse_[i]);
    }
    velocity_bound[point] = std::min(1 / (largest * largest), kLargestX);
  }
}

void PathGrid::evaluate_torques(const Path& path) {
  const std::size_t size = s.size() * stride_;
  a.resize(size), b.resize(size), c.resize(size);
  double largest = 0;
  for (std::size_t point = 0; point < s.size(); ++point) {
    const std::size_t at = point * stride_;
    const std::span<double> to_a(&a[at], n_), to_b(&b[at], n_), to_c(&c[at], n_);
    const std::span<const double> first(&dq[at], n_), second(&ddq[at], n_);
    const std::span<const double> position(&q_[at], n_);
    dynamics_.gravity(position, to_c);
    dynamics_.inverse_dynamics(position, zero_, first, to_a);
    dynamics_.inverse_dynamics(position, first, second, to_b);
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      to_a[i] = (to_a[i] - to_c[i]) * torque_inverse_[i];
      to_b[i] = (to_b[i] - to_c[i]) * torque_inverse_[i];
      to_c[i] *= torque_inverse_[i];
      largest = std::max(largest, std::abs(to_a[i]));
      sum += to_a[i] + to_b[i] + to_c[i];
    }
    if (!std::isfinite(sum)) {
      throw std::invalid_argument(join("PathTimer::time: the torques at ",
                                       path.place(s[point] * length_),
                                       " are not finite; check the units of the path"));
    }
    for (std::size_t i = n_; i < stride_; ++i) a[at + i] = b[at + i] = c[at + i] = 0;
  }
  tiny_ = 1e-13 * largest;
}

void PathGrid::evaluate_coulomb() {
  coulomb.assign(intervals() * stride_, 0.0);
  if (!friction_) return;
  for (std::size_t k = 0; k < intervals(); ++k) {
    for (std::size_t i = 0; i < n_; ++i) {
      const std::size_t at = k * stride_ + i;
      const double sum = dq[at] + dq[at + stride_];
      coulomb[at] = sum > still_ ? coulomb_positive_[i] : sum < -still_ ? -coulomb_negative_[i] : 0;
    }
  }
}

}  // namespace ga_motion
