// SPDX-License-Identifier: Apache-2.0
#include "reference_input.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace ga_controllers {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A reference that does not change for kHeld [s] at velocities below kRest [rad/s, m/s] is at rest,
/// whatever its acceleration: a trajectory controller repeats the last point of its trajectory, which
/// may have one, and accepts velocities of up to 1.2e-7 there. kHeld is longer than the period of a
/// slow predecessor, which repeats its first point as well.
constexpr double kHeld = 0.02, kRest = 1e-6;

}  // namespace

void ReferenceInput::configure(std::size_t joints, double timeout, int error_cycles) {
  timeout_ = timeout;
  error_cycles_ = error_cycles;
  for (auto* values : {&q_, &qd_, &qdd_}) values->assign(joints, kNan);
  zeros_.assign(joints, 0.0);
  set_point_ = SetPoint(joints);
  messages_.set(set_point_);
  last_message_ = 0;
}

void ReferenceInput::offer(SetPoint set_point) {
  // Incremented first: a set-point that arrives during activation is dropped rather than taken for
  // a new one.
  set_point.sequence = ++last_message_;
  messages_.set(set_point);
}

void ReferenceInput::activate(const Interfaces& interfaces) {
  invalidate(interfaces);
  messages_before_activation_ = last_message_;
  has_reference_ = had_reference_ = at_rest_ = false;
  unchanged_for_ = 0;
  bad_cycles_ = 0;
}

void ReferenceInput::invalidate(const Interfaces& interfaces) {
  for (const auto& interface : interfaces) std::ignore = interface->set_value(kNan);
  for (auto* values : {&q_, &qd_, &qdd_}) std::fill(values->begin(), values->end(), kNan);
  has_ = {true, false, false};
}

void ReferenceInput::follow_set_point(double period, Notices& notices) {
  set_point_age_ += std::max(period, 0.0);
  messages_.try_get([this](const SetPoint& message) {
    if (message.sequence <= std::max(messages_before_activation_, set_point_.sequence)) return;
    set_point_ = message;
    set_point_age_ = 0;
  });
  has_reference_ = set_point_.sequence > messages_before_activation_;
  at_rest_ = false;
  if (!has_reference_) return;
  has_ = {true, set_point_.has_velocity, set_point_.has_acceleration};
  if (set_point_age_ > timeout_ && !set_point_.rests()) {
    has_reference_ = false;
    notices.note(Notice::kReferenceStale);
    return;
  }
  // Extrapolate: messages arrive less often than cycles.
  const double t = set_point_age_;
  for (std::size_t i = 0; i < q_.size(); ++i) {
    q_[i] = set_point_.q[i] + (set_point_.qd[i] + set_point_.qdd[i] * t / 2) * t;
    qd_[i] = set_point_.qd[i] + set_point_.qdd[i] * t;
    qdd_[i] = set_point_.qdd[i];
  }
}

bool ReferenceInput::read(const Interfaces& interfaces, double dt, Notices& notices) {
  const std::size_t n = q_.size();
  std::vector<double>* const kinds[] = {&q_, &qd_, &qdd_};
  has_reference_ = true;
  bool same = true, slow = true;
  for (std::size_t k = 0; k < has_.size(); ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      double& value = (*kinds[k])[i];
      const double now = interfaces[k * n + i]->get_optional().value_or(value);
      const bool finite = std::isfinite(now);
      same = same && (now == value || (!finite && !has_[k]));
      slow = slow && (k != 1 || !(std::abs(now) > kRest));
      value = now;
      // Velocities and accelerations count from the first finite one on.
      has_[k] = has_[k] || finite;
      if (finite || !has_[k]) continue;
      has_reference_ = false;
      notices.set_joint(i);
    }
  }
  if (!has_reference_) {
    notices.note(Notice::kReferenceNotFinite);
    // No error before the predecessor's first reference.
    if (had_reference_) bad_cycles_ = std::min(bad_cycles_ + 1, error_cycles_);
    return bad_cycles_ < error_cycles_;
  }
  had_reference_ = true;
  bad_cycles_ = 0;
  unchanged_for_ = same ? unchanged_for_ + dt : 0;
  at_rest_ = slow && unchanged_for_ > kHeld;
  if (!slow && unchanged_for_ > timeout_) {
    has_reference_ = false;
    notices.note(Notice::kReferenceStale);
  }
  return true;
}

}  // namespace ga_controllers
