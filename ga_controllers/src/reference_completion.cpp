// SPDX-License-Identifier: Apache-2.0
#include "reference_completion.hpp"

#include <algorithm>
#include <cmath>

namespace ga_controllers {

namespace {

/// A spline is followed up to this share of the acceleration at the torque limit, and up to a rate
/// of this many limits per second.
constexpr double kSplineAcceleration = 0.5, kSplineRate = 20;
constexpr double kLongestHold = 0.05;  ///< s
/// Share of the last change of velocity in the estimated acceleration; the rest is the estimate
/// before. It filters noise.
constexpr double kNewest = 0.5;
constexpr double kShortestCycle = 1e-9;  ///< s
/// rad/s; a slower sample that repeats is at rest, whatever its acceleration: trajectory controllers
/// repeat the last point of a trajectory, with an acceleration and a velocity of a rounding error.
constexpr double kRest = 1e-6;

}  // namespace

ReferenceCompletion::ReferenceCompletion(std::size_t joints)
    : motion_(joints), sample_(joints), spline_(joints) {}

void ReferenceCompletion::reset() noexcept {
  spline_.reset();
  rough_cycles_ = 0;
  held_for_ = 0;
  has_sample_ = estimated_ = false;
}

void ReferenceCompletion::take(const Reference& r, double dt,
                               std::span<const double> velocity_limit,
                               std::span<const double> acceleration_limit) noexcept {
  if (r.qd.empty()) {
    has_sample_ = estimated_ = false;
    take_positions(r.q, dt, velocity_limit, acceleration_limit);
  } else {
    spline_.reset();
    rough_cycles_ = 0;
    take_sample(r, dt);
  }
}

void ReferenceCompletion::take_positions(std::span<const double> q, double dt,
                                         std::span<const double> velocity_limit,
                                         std::span<const double> acceleration_limit) noexcept {
  const std::size_t n = motion_.q.size();
  spline_.update(q, dt);
  rough_cycles_ = std::max(rough_cycles_ - 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const auto [position, velocity, acceleration] = spline_.state(i);
    motion_.q[i] = position;
    motion_.qd[i] = velocity;
    motion_.qdd[i] = acceleration;
    const bool smooth = std::abs(velocity) <= velocity_limit[i] &&
                        std::abs(acceleration) <= kSplineAcceleration * acceleration_limit[i] &&
                        std::abs(spline_.jerk(i)) <= kSplineRate * acceleration_limit[i];
    if (!smooth) rough_cycles_ = spline_.memory();
  }
  if (rough_cycles_ == 0) return;
  for (std::size_t i = 0; i < n; ++i) {
    motion_.q[i] = q[i];
    motion_.qd[i] = motion_.qdd[i] = 0;
  }
}

bool ReferenceCompletion::repeats(const Reference& r) const noexcept {
  bool moves = false, same = has_sample_;
  for (std::size_t i = 0; i < sample_.q.size() && same; ++i) {
    same = r.q[i] == sample_.q[i] && r.qd[i] == sample_.qd[i] &&
           (estimated_ || r.qdd[i] == sample_.qdd[i]);
    moves = moves || std::abs(r.qd[i]) > kRest;
  }
  return same && moves;
}

void ReferenceCompletion::take_sample(const Reference& r, double dt) noexcept {
  const std::size_t n = sample_.q.size();
  if (r.qdd.empty() != estimated_) has_sample_ = false;
  estimated_ = r.qdd.empty();
  held_for_ += dt;
  if (!repeats(r)) {
    for (std::size_t i = 0; i < n; ++i) {
      const bool first = !has_sample_ || !(held_for_ > kShortestCycle);
      const double change = first ? 0 : (r.qd[i] - sample_.qd[i]) / held_for_;
      const double before = has_sample_ ? sample_.qdd[i] : 0;
      sample_.qdd[i] = estimated_ ? before + kNewest * (change - before) : r.qdd[i];
      sample_.q[i] = r.q[i];
      sample_.qd[i] = r.qd[i];
    }
    has_sample_ = true;
    held_for_ = 0;
  }
  const double t = held_for_ <= kLongestHold ? held_for_ : 0;
  for (std::size_t i = 0; i < n; ++i) {
    motion_.qdd[i] = sample_.qdd[i];
    motion_.qd[i] = sample_.qd[i] + sample_.qdd[i] * t;
    motion_.q[i] = sample_.q[i] + (sample_.qd[i] + sample_.qdd[i] * t / 2) * t;
  }
}

}  // namespace ga_controllers
