// SPDX-License-Identifier: Apache-2.0

// The motions of the law score that choose_motion() does not have.

#include <cmath>
#include <numbers>
#include <string_view>

#include "score/scenario.hpp"

namespace ga_tools::score {

using ga_dynamics::Chain;
using ga_motion::Trajectory;

namespace {

/// Where motions of the PUMA start that have no points of their own.
const std::vector<double> kStart{0, -1, 1, 0, 0.4, 0};

std::vector<double> start_of_line(const Chain& chain) {
  const auto line = ga_motion::make_motion("line", chain);
  std::vector<double> q(chain.joints().size()), rates(q.size());
  line->sample(0, q, rates, rates);
  return q;
}

/// All joints swing by the amplitude beside the start and back, beginning and ending at rest.
class Sine : public Trajectory {
 public:
  Sine(std::vector<double> start, double amplitude, double frequency, int periods)
      : start_(std::move(start)),
        amplitude_(amplitude),
        omega_(2 * std::numbers::pi * frequency),
        duration_(periods / frequency) {}
  int size() const noexcept override { return static_cast<int>(start_.size()); }
  double duration() const noexcept override { return duration_; }
  void sample(double t, std::span<double> q, std::span<double> qd,
              std::span<double> qdd) const override {
    const bool moves = t >= 0 && t <= duration_;
    const double phase = omega_ * (moves ? t : 0);
    for (std::size_t i = 0; i < start_.size(); ++i) {
      q[i] = start_[i] + amplitude_ * (1 - std::cos(phase));
      qd[i] = moves ? amplitude_ * omega_ * std::sin(phase) : 0;
      qdd[i] = moves ? amplitude_ * omega_ * omega_ * std::cos(phase) : 0;
    }
  }

 private:
  std::vector<double> start_;
  double amplitude_, omega_, duration_;
};

/// At rest, then at rest elsewhere: the reference jumps at the end of the motion.
class Step : public Trajectory {
 public:
  Step(std::vector<double> start, std::vector<double> goal, double time)
      : start_(std::move(start)), goal_(std::move(goal)), time_(time) {}
  int size() const noexcept override { return static_cast<int>(start_.size()); }
  double duration() const noexcept override { return time_; }
  void sample(double t, std::span<double> q, std::span<double> qd,
              std::span<double> qdd) const override {
    const std::vector<double>& at = t < time_ ? start_ : goal_;
    for (std::size_t i = 0; i < at.size(); ++i) q[i] = at[i], qd[i] = 0, qdd[i] = 0;
  }

 private:
  std::vector<double> start_, goal_;
  double time_;
};

/// A motion at a multiple of its speed.
class Faster : public Trajectory {
 public:
  Faster(std::unique_ptr<Trajectory> motion, double factor)
      : motion_(std::move(motion)), factor_(factor) {}
  int size() const noexcept override { return motion_->size(); }
  double duration() const noexcept override { return motion_->duration() / factor_; }
  void sample(double t, std::span<double> q, std::span<double> qd,
              std::span<double> qdd) const override {
    motion_->sample(factor_ * t, q, qd, qdd);
    for (double& v : qd) v *= factor_;
    for (double& a : qdd) a *= factor_ * factor_;
  }

 private:
  std::unique_ptr<Trajectory> motion_;
  double factor_;
};

/// The quintic of choose_motion() in another time, or back from its goal.
std::unique_ptr<Trajectory> quintic(const Chain& chain, double duration, bool back = false) {
  const auto usual = ga_motion::make_motion("quintic", chain);
  const std::size_t n = chain.joints().size();
  std::vector<double> start(n), goal(n), rates(n);
  usual->sample(0, start, rates, rates);
  usual->sample(usual->duration(), goal, rates, rates);
  return back ? ga_motion::make_quintic(goal, start, duration)
              : ga_motion::make_quintic(start, goal, duration);
}

/// From one point to another, by a cubic polynomial.
std::unique_ptr<Trajectory> cubic(const std::vector<double>& from, const std::vector<double>& to,
                                  double duration) {
  const double times[] = {0, duration};
  const std::vector<double> points[] = {from, to};
  return ga_motion::make_cubic_spline(times, points);
}

}  // namespace

std::unique_ptr<Trajectory> motion_of(const Scenario& scenario, const Chain& chain) {
  const std::string_view name = scenario.motion;
  if (name == "quintic-1.5") return quintic(chain, 1.5);
  if (name == "quintic-0.8") return quintic(chain, 0.8);
  if (name == "sine") return std::make_unique<Sine>(start_of_line(chain), 0.05, 0.2, 2);
  if (name == "rest") return ga_motion::make_hold(start_of_line(chain), 5);
  if (name == "step") {
    std::vector<double> goal = kStart;
    for (double& q : goal) q += 0.5;
    return std::make_unique<Step>(kStart, goal, 0.5);
  }
  if (name == "fast-line") {
    return std::make_unique<Faster>(ga_motion::make_motion("line", chain), 8);
  }
  if (name == "fast") return cubic(kStart, {0.9, -0.6, 1, 0, 0.4, 0}, 0.4);
  if (name == "med") return cubic(kStart, {0.9, -0.6, 1.3, 0.3, 0.4, 0}, 1);
  if (name == "stretched") {
    return cubic({-1.2, -0.3, 1.5, 0.6, -0.5, 1}, {-0.7, -0.5, 1.7, 0.2, -0.9, 0.5}, 1.2);
  }
  if (name == "folded") {
    return cubic({1.5, -1.8, 0.3, -0.8, 1, -1}, {1.2, -1.4, 0.8, -0.5, 0.7, -2}, 1);
  }
  if (name == "small-sine") {
    return std::make_unique<Sine>(std::vector<double>{0.7, -1.2, 0.6, 1, -0.8, 2}, 0.03, 0.5, 3);
  }
  if (name == "quintic-back") return quintic(chain, 2, true);
  return ga_motion::make_motion(std::string(name), chain);
}

}  // namespace ga_tools::score
