// SPDX-License-Identifier: Apache-2.0
#include "motion_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace ga_motion {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;

namespace {

template <class... Values>
[[noreturn]] void refuse(const std::string& source, const char* format, const Values&... values) {
  char text[320];
  std::snprintf(text, sizeof text, format, values...);
  throw std::runtime_error(source + ": " + text);
}

struct Sample {
  explicit Sample(std::size_t joints) : q(joints), qd(joints), qdd(joints) {}
  double t = 0;
  std::vector<double> q, qd, qdd;
};

/// Compares one sample after another with the limits.
class LimitCheck {
 public:
  LimitCheck(const Trajectory& motion, const Chain& chain, const std::string& source)
      : motion_(motion),
        joints_(chain.joints()),
        source_(source),
        last_(joints_.size()),
        now_(joints_.size()),
        peak_(joints_.size()) {
    read(0, now_);
  }

  /// Looks at time t, and between the time before and t where a velocity has its extreme there:
  /// exact if the motion is one third-order polynomial between the two.
  void advance(double t) {
    std::swap(last_, now_);
    read(t, now_);
    for (std::size_t i = 0; i < joints_.size(); ++i) {
      const double a = last_.qdd[i], b = now_.qdd[i];
      if ((a < 0 && b > 0) || (a > 0 && b < 0)) {
        read(last_.t + (t - last_.t) * (a / (a - b)), peak_);
      }
    }
  }

  /// How many times faster than its limit a joint is at most; 0 where no joint has a limit.
  double excess() const { return excess_; }
  const ChainJoint& joint() const { return joints_[fastest_]; }
  double velocity() const { return velocity_; }
  double time() const { return time_; }

 private:
  void read(double t, Sample& to) {
    to.t = t;
    motion_.sample(t, to.q, to.qd, to.qdd);
    for (std::size_t i = 0; i < joints_.size(); ++i) {
      const auto& limits = joints_[i].limits;
      if (!(to.q[i] >= limits.goal_lower() && to.q[i] <= limits.goal_upper())) {
        refuse(source_, "%s is at %.4g after %.6g s; its limits are %.4g and %.4g",
               joints_[i].name.c_str(), to.q[i], t, limits.goal_lower(), limits.goal_upper());
      }
      const double velocity = std::abs(to.qd[i]), excess = velocity / limits.velocity;
      if (excess > excess_) excess_ = excess, fastest_ = i, velocity_ = velocity, time_ = t;
    }
  }

  const Trajectory& motion_;
  const std::vector<ChainJoint>& joints_;
  const std::string& source_;
  Sample last_, now_, peak_;
  double excess_ = 0, velocity_ = 0, time_ = 0;
  std::size_t fastest_ = 0;
};

}  // namespace

void check_motion(const Motion& motion, const Chain& chain, const std::string& source) {
  const Trajectory& trajectory = *motion.trajectory;
  if (!(trajectory.duration() <= kLongestMotion)) {
    refuse(
        source,
        "the motion takes %.6g s; the longest may take %g s: give a shorter one (times are in s)",
        trajectory.duration(), kLongestMotion);
  }
  std::vector<double> knots = motion.knots;
  if (knots.empty()) knots = {0, trajectory.duration()};
  LimitCheck check(trajectory, chain, source);
  for (std::size_t k = 1; k < knots.size(); ++k) {
    constexpr double kStep = 1e-3, kLeast = 8;  // s; samples from knot to knot
    const double length = knots[k] - knots[k - 1];
    const double count = std::max(kLeast, std::ceil(length / kStep));
    for (double i = 1; i < count; ++i) check.advance(knots[k - 1] + length * (i / count));
    check.advance(knots[k]);
  }
  constexpr double kRounding = 1e-6;  // motions that are made to reach a limit
  if (check.excess() <= 1 + kRounding) return;
  const ChainJoint& joint = check.joint();
  const char* const unit = joint.revolute() ? "rad" : "m";
  char remedy[96] = "give a slower motion";
  if (!motion.knots.empty()) {
    // From rest to rest through the same points, velocities go with one over the times.
    std::snprintf(remedy, sizeof remedy, "multiply the times by %.4g or more",
                  1.001 * check.excess());
  }
  refuse(source, "%s moves at %.4g %s/s after %.6g s; its velocity limit is %.4g %s/s; %s",
         joint.name.c_str(), check.velocity(), unit, check.time(), joint.limits.velocity, unit,
         remedy);
}

}  // namespace ga_motion
