// SPDX-License-Identifier: Apache-2.0
#include "ga_motion/trajectory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>

#include "ga_dynamics/algorithm/check_arguments.hpp"

namespace ga_motion {

using namespace ga_dynamics;
namespace {

constexpr double kEdge = 1e-9;  // s: a clock that sums up its steps misses the end by less

/// Time within the motion, and whether the motion is under way then.
struct Clamped {
  double t;
  bool moving;
};

Clamped clamp_time(double t, double duration) {
  if (!(t >= 0)) return {0, t >= -kEdge};
  if (t > duration) return {duration, t <= duration + kEdge};
  return {t, true};
}

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

std::string number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

void check_finite(const char* maker, const char* argument, std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      refuse(std::string(maker) + ": " + argument + "[" + std::to_string(i) + "] is " +
             number(values[i]) + "; give a finite number");
    }
  }
}

void check_size(const char* maker, const char* argument, std::size_t size, std::size_t expected) {
  if (size != expected) {
    refuse(std::string(maker) + ": " + argument + " has " + std::to_string(size) + " values for " +
           std::to_string(expected) + " joints; give one per joint");
  }
}

void check_ends(const char* maker, std::span<const double> start, std::span<const double> goal) {
  if (start.empty()) refuse(std::string(maker) + ": start is empty; give one value per joint");
  check_size(maker, "goal", goal.size(), start.size());
  check_finite(maker, "start", start);
  check_finite(maker, "goal", goal);
}

void check_duration(const char* maker, double duration) {
  if (!(duration > 0) || !std::isfinite(duration)) {
    refuse(std::string(maker) + ": duration " + number(duration) +
           " s; give a finite time above zero");
  }
}

/// Share of the way done, with its derivatives [1/s, 1/s²].
struct Progress {
  double value, rate, acceleration;
};

/// Constant rate between two parabolic blends.
struct RampProfile {
  double duration, blend, rate;

  Progress at(double t) const {
    if (t < blend) return {0.5 * rate * t * t / blend, rate * t / blend, rate / blend};
    const double left = duration - t;
    if (left < blend)
      return {1 - 0.5 * rate * left * left / blend, rate * left / blend, -rate / blend};
    // From the nearer end, so that both are met exactly.
    return {t < left ? rate * (t - 0.5 * blend) : 1 - rate * (left - 0.5 * blend), rate, 0};
  }
};

/// Fifth-order polynomial, at rest at both ends.
struct QuinticProfile {
  double duration;

  Progress at(double t) const {
    // From the nearer end, so that both are met exactly.
    const bool second_half = t > 0.5 * duration;
    const double x = (second_half ? duration - t : t) / duration;
    const double value = x * x * x * (10 + x * (-15 + 6 * x));
    const double rate = 30 * x * x * (1 - x) * (1 - x) / duration;
    const double acceleration = 60 * x * (1 - x) * (1 - 2 * x) / (duration * duration);
    return {second_half ? 1 - value : value, rate, second_half ? -acceleration : acceleration};
  }
};

/// All joints in proportion along the straight line from start to goal.
template <class Profile>
class PointToPoint final : public Trajectory {
 public:
  PointToPoint(std::span<const double> start, std::span<const double> goal, const Profile& profile)
      : start_(start.begin(), start.end()), goal_(goal.begin(), goal.end()), profile_(profile) {}

  int size() const noexcept override { return static_cast<int>(start_.size()); }
  double duration() const noexcept override { return profile_.duration; }
  void sample(double t, std::span<double> q, std::span<double> qd,
              std::span<double> qdd) const override {
    require_sample_sizes(start_.size(), q.size(), qd.size(), qdd.size());
    const Clamped at = clamp_time(t, profile_.duration);
    Progress p = profile_.duration > 0 ? profile_.at(at.t) : Progress{1, 0, 0};
    if (!at.moving) p.rate = p.acceleration = 0;
    for (std::size_t i = 0; i < start_.size(); ++i) {
      const double way = goal_[i] - start_[i];
      q[i] = p.value < 0.5 ? start_[i] + p.value * way : goal_[i] - (1 - p.value) * way;
      qd[i] = p.rate * way;
      qdd[i] = p.acceleration * way;
    }
  }

 private:
  std::vector<double> start_, goal_;
  Profile profile_;
};

class Hold final : public Trajectory {
 public:
  Hold(std::span<const double> q, double duration) : q_(q.begin(), q.end()), duration_(duration) {}

  int size() const noexcept override { return static_cast<int>(q_.size()); }
  double duration() const noexcept override { return duration_; }
  void sample(double, std::span<double> q, std::span<double> qd,
              std::span<double> qdd) const override {
    require_sample_sizes(q_.size(), q.size(), qd.size(), qdd.size());
    for (std::size_t i = 0; i < q_.size(); ++i) q[i] = q_[i], qd[i] = 0, qdd[i] = 0;
  }

 private:
  std::vector<double> q_;
  double duration_;
};

class Sequence final : public Trajectory {
 public:
  explicit Sequence(std::vector<std::unique_ptr<Trajectory>> parts) : parts_(std::move(parts)) {
    for (const auto& part : parts_) {
      starts_.push_back(duration_);
      duration_ += part->duration();
    }
  }

  int size() const noexcept override { return parts_.front()->size(); }
  double duration() const noexcept override { return duration_; }
  void sample(double t, std::span<double> q, std::span<double> qd,
              std::span<double> qdd) const override {
    const double within = clamp_time(t, duration_).t;
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), within);
    const auto part = static_cast<std::size_t>(next - starts_.begin()) - 1;
    // Outside of the sequence the part itself must see that it is over.
    parts_[part]->sample(std::isnan(t) ? 0 : t - starts_[part], q, qd, qdd);
  }

 private:
  std::vector<std::unique_ptr<Trajectory>> parts_;
  std::vector<double> starts_;  // s, when each part begins
  double duration_ = 0;
};

}  // namespace

Trajectory::~Trajectory() = default;

std::unique_ptr<Trajectory> make_ramp(std::span<const double> start, std::span<const double> goal,
                                      std::span<const double> speed,
                                      std::span<const double> acceleration) {
  check_ends("make_ramp", start, goal);
  check_size("make_ramp", "speed", speed.size(), start.size());
  check_size("make_ramp", "acceleration", acceleration.size(), start.size());
  check_finite("make_ramp", "speed", speed);
  double rate = std::numeric_limits<double>::infinity(), rate_change = rate;  // 1/s, 1/s²
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (!(speed[i] > 0)) {
      refuse("make_ramp: speed[" + std::to_string(i) + "] is " + number(speed[i]) +
             "; give a number above zero");
    }
    if (!(acceleration[i] > 0)) {
      refuse("make_ramp: acceleration[" + std::to_string(i) + "] is " + number(acceleration[i]) +
             "; give a number above zero, or infinity for a pure ramp");
    }
    const double way = std::abs(goal[i] - start[i]);
    if (way == 0) continue;
    rate = std::min(rate, speed[i] / way);
    rate_change = std::min(rate_change, acceleration[i] / way);
  }
  RampProfile profile{0, 0, 0};
  if (std::isfinite(rate)) {
    rate = std::min(rate, std::sqrt(rate_change));  // short ways: the blends meet in the middle
    profile = {1 / rate + rate / rate_change, rate / rate_change, rate};
  }
  return std::make_unique<PointToPoint<RampProfile>>(start, goal, profile);
}

std::unique_ptr<Trajectory> make_timed_ramp(std::span<const double> start,
                                            std::span<const double> goal, double duration,
                                            double blend_time) {
  check_ends("make_timed_ramp", start, goal);
  check_duration("make_timed_ramp", duration);
  if (!(blend_time >= 0 && blend_time <= 0.5 * duration)) {
    refuse("make_timed_ramp: blend_time " + number(blend_time) +
           " s; give a time from 0 to half of the duration, " + number(0.5 * duration) + " s");
  }
  const RampProfile profile{duration, blend_time, 1 / (duration - blend_time)};
  return std::make_unique<PointToPoint<RampProfile>>(start, goal, profile);
}

std::unique_ptr<Trajectory> make_quintic(std::span<const double> start,
                                         std::span<const double> goal, double duration) {
  check_ends("make_quintic", start, goal);
  check_duration("make_quintic", duration);
  return std::make_unique<PointToPoint<QuinticProfile>>(start, goal, QuinticProfile{duration});
}

std::unique_ptr<Trajectory> make_hold(std::span<const double> q, double duration) {
  check_ends("make_hold", q, q);
  check_duration("make_hold", duration);
  return std::make_unique<Hold>(q, duration);
}

std::unique_ptr<Trajectory> make_sequence(std::vector<std::unique_ptr<Trajectory>> parts,
                                          double position_tolerance) {
  if (parts.empty()) refuse("make_sequence: no parts; give one or more");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string part = "make_sequence: part " + std::to_string(i);
    if (parts[i] == nullptr) refuse(part + " is null; give a trajectory");
    if (parts[i]->size() != parts[0]->size()) {
      refuse(part + " has " + std::to_string(parts[i]->size()) + " joints, part 0 has " +
             std::to_string(parts[0]->size()) + "; give parts for one arm");
    }
  }
  const auto n = static_cast<std::size_t>(parts[0]->size());
  std::vector<double> end(n), begin(n), unused(n);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    parts[i - 1]->sample(parts[i - 1]->duration(), end, unused, unused);
    parts[i]->sample(0, begin, unused, unused);
    for (std::size_t joint = 0; joint < n; ++joint) {
      if (std::abs(end[joint] - begin[joint]) <= position_tolerance) continue;
      refuse("make_sequence: joint " + std::to_string(joint) + " ends part " +
             std::to_string(i - 1) + " at " + number(end[joint]) + " and begins part " +
             std::to_string(i) + " at " + number(begin[joint]) +
             "; begin each part where the last one ends");
    }
  }
  return std::make_unique<Sequence>(std::move(parts));
}

}  // namespace ga_motion
