// SPDX-License-Identifier: Apache-2.0
#include "ga_motion/time_parameterization.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "join.hpp"
#include "path_grid.hpp"
#include "reachability.hpp"
#include "timed_path.hpp"
#include "torque_rate.hpp"

namespace ga_motion {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;

namespace {

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw std::invalid_argument(join("PathTimer: ", parts...));
}

void check_limits(const Chain& chain, const TimingLimits& limits) {
  const std::pair<const char*, const std::vector<double>*> all[] = {
      {"lower", &limits.lower},       {"upper", &limits.upper},
      {"velocity", &limits.velocity}, {"acceleration", &limits.acceleration},
      {"torque", &limits.torque},     {"torque_rate", &limits.torque_rate}};
  for (const auto& [name, values] : all) {
    if (values->size() == chain.joints().size()) continue;
    refuse("limits.", name, " has ", values->size(), " values for ", chain.size(),
           " joints; give one per joint");
  }
  for (std::size_t i = 0; i < chain.joints().size(); ++i) {
    const std::string& joint = chain.joints()[i].name;
    if (!(limits.lower[i] <= limits.upper[i])) {
      refuse(joint, ": position limits ", limits.lower[i], " and ", limits.upper[i],
             "; give a lower and an upper one");
    }
    for (std::size_t kind = 2; kind < std::size(all); ++kind) {
      const double value = (*all[kind].second)[i];
      if (value > 0) continue;
      refuse(joint, ": ", all[kind].first, " limit is ", value,
             "; give a number above zero, or infinity for none");
    }
    if (std::isinf(limits.torque[i]) && !std::isinf(limits.torque_rate[i])) {
      refuse(joint, ": a torque rate limit without a torque limit; give both");
    }
    if (std::isinf(limits.torque[i]) && std::isinf(limits.acceleration[i])) {
      refuse(joint,
             ": neither a torque nor an acceleration limit; add the effort to its <limit> in the "
             "description, or give an acceleration limit");
    }
  }
}

void check_options(const TimingOptions& options) {
  if (options.intervals >= 10 && options.intervals <= 100000) return;
  refuse("options.intervals is ", options.intervals, "; give 10 to 100000");
}

}  // namespace

TimingLimits limits_of(const Chain& chain) {
  TimingLimits limits;
  for (const ChainJoint& joint : chain.joints()) {
    limits.lower.push_back(joint.limits.goal_lower());
    limits.upper.push_back(joint.limits.goal_upper());
    limits.velocity.push_back(joint.limits.velocity);
    limits.torque.push_back(joint.limits.effort);
  }
  limits.acceleration.assign(limits.torque.size(), std::numeric_limits<double>::infinity());
  limits.torque_rate = limits.acceleration;
  return limits;
}

const char* name_of(LimitKind kind) {
  switch (kind) {
    case LimitKind::kVelocity:
      return "velocity";
    case LimitKind::kAcceleration:
      return "acceleration";
    case LimitKind::kTorque:
      break;
  }
  return "torque";
}

struct PathTimer::Impl {
  Impl(const Chain& chain, const TimingLimits& limits, const TimingOptions& with)
      : options(with), grid(chain, limits, with.friction) {
    for (const double rate : limits.torque_rate) bounded_rate = bounded_rate || std::isfinite(rate);
  }

  /// The largest share of its limit that a motor needs somewhere along the path.
  struct Load {
    double share = 0;
    std::size_t point = 0, joint = 0;
  };
  Load gravity_load() const;
  /// Of all points, or of those that need momentum.
  Load slow_load(bool momentum = false) const;
  void check_gravity(const Path& path) const;
  void check_stops(const Path& path) const;
  [[noreturn]] void refuse_start(const Path& path) const;
  [[noreturn]] void refuse_load(const Path& path, TimingFlaw flaw, const Load& load) const;
  bool solve_once();
  std::vector<ActiveLimit> active_limits() const;
  double change() const;
  /// s, of an interval.
  double time_step(std::size_t k) const {
    return 2 * (grid.s[k + 1] - grid.s[k]) / (std::sqrt(x[k]) + std::sqrt(x[k + 1]));
  }
  std::vector<double> points_in_time() const;
  void bound_rates(const Path& path);
  std::vector<double> points_around_stops() const;
  bool solve_on_grid();
  void solve(const Path& path, std::vector<double> added);
  Timing timing(std::shared_ptr<const Path> path) const;

  TimingOptions options;
  bool bounded_rate = false;
  PathGrid grid;
  Reachability passes;
  std::vector<double> x, profile;
};

PathTimer::Impl::Load PathTimer::Impl::gravity_load() const {
  Load load;
  if (!grid.torque_limited()) return load;
  for (std::size_t point = 0; point < grid.s.size(); ++point) {
    for (std::size_t i = 0; i < grid.joints(); ++i) {
      const double share = std::abs(grid.c[point * grid.stride() + i]);
      if (share > load.share) load = {share, point, i};
    }
  }
  return load;
}

/// Gravity and Coulomb friction: the load of a slow motion.
PathTimer::Impl::Load PathTimer::Impl::slow_load(bool momentum) const {
  Load load;
  if (!grid.torque_limited()) return load;
  for (std::size_t k = 0; k < grid.intervals(); ++k) {
    for (std::size_t i = 0; i < grid.joints(); ++i) {
      const double coulomb = grid.coulomb[k * grid.stride() + i];
      for (const std::size_t point : {k, k + 1}) {
        if (momentum && !(passes.low(point) > 0)) continue;
        const double share = std::abs(grid.c[point * grid.stride() + i] + coulomb);
        if (share > load.share) load = {share, point, i};
      }
    }
  }
  return load;
}

void PathTimer::Impl::refuse_load(const Path& path, TimingFlaw flaw, const Load& load) const {
  const ChainJoint& joint = grid.chain().joints()[load.joint];
  const double limit = grid.limits().torque[load.joint];
  const double place = grid.s[load.point] * path.length(), torque = load.share * limit;
  const std::string needs =
      join(joint.name, " needs ", torque_text(joint, torque),
           flaw == TimingFlaw::kGravity ? " to hold the arm at rest at "
                                        : " against gravity and Coulomb friction at ",
           path.place(place), "; its torque limit is ", torque_text(joint, limit));
  const char* const consequence =
      flaw == TimingFlaw::kNoStop
          ? ": the arm passes only with momentum, and could not go on after a stop; "
      : flaw == TimingFlaw::kNoMotion ? ": too little is left to move the arm; "
                                      : ": ";
  const char* const more = flaw == TimingFlaw::kNoMotion ? ", or give more intervals" : "";
  throw TimingError(flaw, static_cast<int>(load.joint), place, torque,
                    join(needs, consequence, "choose another path or a lighter payload", more));
}

/// No speed leads from the start to the end.
void PathTimer::Impl::refuse_start(const Path& path) const {
  const Load load = slow_load();
  refuse_load(path, load.share > 1 ? TimingFlaw::kFriction : TimingFlaw::kNoMotion, load);
}

void PathTimer::Impl::check_gravity(const Path& path) const {
  const Load load = gravity_load();
  if (load.share > 1) refuse_load(path, TimingFlaw::kGravity, load);
}

/// A place that needs momentum: an arm that stopped there, where its motors hold it, could not go on.
void PathTimer::Impl::check_stops(const Path& path) const {
  if (slow_load().share <= 1) return;
  for (std::size_t point = 0; point < grid.s.size(); ++point) {
    if (!(passes.low(point) > 0)) continue;
    const Load load = slow_load(true);
    refuse_load(path, TimingFlaw::kNoStop, load.share > 1 ? load : slow_load());
  }
}

/// x from the rows about `profile`; false if there is none.
bool PathTimer::Impl::solve_once() {
  x.clear();
  passes.set_rows(grid, profile);
  if (passes.backward() >= 0 || passes.low(0) > 0) return false;
  passes.forward(x);
  for (std::size_t k = 0; k < grid.intervals(); ++k) {
    if (!(x[k] + x[k + 1] > 0)) return false;
  }
  return true;
}

/// x on the grid as it is; false if there is none.
bool PathTimer::Impl::solve_on_grid() {
  profile = grid.velocity_bound;
  for (double& value : profile) value *= 0.5;
  // Far from its tangent, viscous friction is overestimated: about a slower profile, less so at rest.
  constexpr int kSlower = 15;
  for (int attempt = 0; !solve_once(); ++attempt) {
    if (!grid.friction() || attempt == kSlower) return false;
    for (double& value : profile) value /= 16;
  }
  if (!grid.friction() || !grid.torque_limited()) return true;
  // Where x changes by the share c, the tangent is off by c²/8 of the viscous friction, and the next
  // change is about c².
  constexpr double kEnough = 0.04;
  constexpr int kMost = 10;
  for (int step = 0; step < kMost && change() > kEnough; ++step) {
    std::swap(profile, x);
    if (!solve_once()) {
      std::swap(profile, x);
      return true;
    }
  }
  return true;
}

/// Points in the intervals on either side of a point that is much slower than both of its neighbors.
/// The fastest x of a point may leave no other than 0 for the next one: the arm would brake with full
/// torque, stop, and start again. It cannot within shorter intervals.
std::vector<double> PathTimer::Impl::points_around_stops() const {
  constexpr double kSlower = 0.01, kShortest = 1e-7;
  std::vector<double> points;
  for (std::size_t k = 1; k + 1 < x.size(); ++k) {
    const double slower = std::min(x[k - 1], x[k + 1]), faster = std::max(x[k - 1], x[k + 1]);
    const bool stop = x[k] < kSlower * slower || (x[k] == 0 && slower == 0 && faster > 0);
    if (!stop) continue;
    for (const std::size_t left : {k - 1, k}) {
      const double way = grid.s[left + 1] - grid.s[left];
      if (way < kShortest) continue;
      for (const double part : {0.25, 0.5, 0.75}) points.push_back(grid.s[left] + part * way);
    }
  }
  return points;
}

/// x on a grid with the points `added`, and with more where it would stop in mid-path.
void PathTimer::Impl::solve(const Path& path, std::vector<double> added) {
  constexpr int kMostRounds = 6;
  for (int round = 0;; ++round) {
    const bool solved = solve_on_grid();
    if (!solved && slow_load().share > 1) refuse_start(path);
    const std::vector<double> more = points_around_stops();
    if (more.empty() || round == kMostRounds) {
      if (!solved) refuse_start(path);
      return;
    }
    added.insert(added.end(), more.begin(), more.end());
    grid.place(path, options.intervals, added);
  }
}

/// The largest relative change of x from the profile that its rows are made for, but for the slow
/// parts, where the rows do not depend on it.
double PathTimer::Impl::change() const {
  const double slow = Reachability::kSlow * *std::max_element(x.begin(), x.end());
  double largest = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (x[k] <= slow && profile[k] <= slow) continue;
    largest = std::max(largest, std::abs(x[k] - profile[k]) / (x[k] + profile[k]));
  }
  return 2 * largest;
}

/// Points that divide the intervals of the profile evenly in time, so that the torque, nearly constant
/// within an interval, can follow its bound; and more at both ends, where from rest with a bounded
/// rate the time goes with the third root of the way.
std::vector<double> PathTimer::Impl::points_in_time() const {
  double full = std::numeric_limits<double>::infinity();  // s, for the whole torque
  for (std::size_t i = 0; i < grid.joints(); ++i) {
    const double rate = grid.limits().torque_rate[i];
    if (std::isfinite(rate)) full = std::min(full, grid.limits().torque[i] / rate);
  }
  double duration = 0;
  for (std::size_t k = 0; k < grid.intervals(); ++k) duration += time_step(k);
  constexpr double kStepsPerRamp = 10, kMostPerInterval = 3;
  const double step =
      std::max(full / kStepsPerRamp, duration / (kMostPerInterval * options.intervals));
  std::vector<double> points;
  for (std::size_t k = 0; k < grid.intervals(); ++k) {
    const double time = time_step(k), way = grid.s[k + 1] - grid.s[k];
    const int parts = static_cast<int>(std::ceil(time / step));
    const double speed = std::sqrt(x[k]), u = (x[k + 1] - x[k]) / (2 * way);
    for (int part = 1; part < parts; ++part) {
      const double elapsed = time * part / parts;
      points.push_back(grid.s[k] + elapsed * (speed + 0.5 * u * elapsed));
    }
  }
  for (int halving = 1; halving <= 10; ++halving) {
    const double way = std::ldexp(1.0 / options.intervals, -halving);
    points.push_back(way);
    points.push_back(1 - way);
  }
  return points;
}

void PathTimer::Impl::bound_rates(const Path& path) {
  // All points so far: those around stops as well.
  std::vector<double> points = points_in_time();
  points.insert(points.end(), grid.s.begin(), grid.s.end());
  grid.place(path, options.intervals, points);
  solve(path, std::move(points));
  if (!TorqueRateProblem(grid).solve(x)) refuse_start(path);
}

Timing PathTimer::Impl::timing(std::shared_ptr<const Path> path) const {
  Timing result;
  const double length = path->length();
  for (const double s : grid.s) result.s.push_back(s * length);
  for (const double value : x) result.speed.push_back(std::sqrt(value) * length);
  result.time.push_back(0);
  for (std::size_t k = 0; k < grid.intervals(); ++k) {
    const double way = result.s[k + 1] - result.s[k];
    result.time.push_back(result.time[k] + 2 * way / (result.speed[k] + result.speed[k + 1]));
  }
  result.trajectory =
      std::make_unique<TimedPath>(std::move(path), result.s, result.speed, result.time);
  return result;
}

std::vector<ActiveLimit> PathTimer::Impl::active_limits() const {
  std::vector<ActiveLimit> result(x.empty() ? 0 : grid.intervals());
  for (std::size_t k = 0; k < result.size(); ++k) {
    const double u = (x[k + 1] - x[k]) / (2 * (grid.s[k + 1] - grid.s[k]));
    for (const std::size_t point : {k, k + 1}) {
      const double speed = std::sqrt(x[point]);
      for (std::size_t i = 0; i < grid.joints(); ++i) {
        const std::size_t at = point * grid.stride() + i;
        const auto consider = [&](LimitKind kind, double share) {
          if (std::abs(share) <= result[k].use) return;
          result[k] = {kind, static_cast<int>(i), std::abs(share)};
        };
        consider(LimitKind::kVelocity, grid.dq[at] * speed / grid.limits().velocity[i]);
        consider(LimitKind::kAcceleration,
                 (grid.dq[at] * u + grid.ddq[at] * x[point]) / grid.limits().acceleration[i]);
        if (!grid.torque_limited()) continue;
        consider(LimitKind::kTorque, grid.a[at] * u + grid.b[at] * x[point] + grid.c[at] +
                                         grid.coulomb[k * grid.stride() + i] +
                                         grid.viscous()[i] * grid.dq[at] * speed);
      }
    }
  }
  return result;
}

PathTimer::PathTimer(const Chain& chain, const TimingLimits& limits, const TimingOptions& options) {
  check_limits(chain, limits);
  check_options(options);
  impl_ = std::make_unique<Impl>(chain, limits, options);
}

PathTimer::~PathTimer() = default;
PathTimer::PathTimer(PathTimer&&) noexcept = default;
PathTimer& PathTimer::operator=(PathTimer&&) noexcept = default;

std::vector<ActiveLimit> PathTimer::active_limits() const { return impl_->active_limits(); }

Timing PathTimer::time(std::shared_ptr<const Path> path) {
  Impl& impl = *impl_;
  impl.x.clear();
  if (path == nullptr) throw std::invalid_argument("PathTimer::time: path is null; give one");
  if (path->size() != static_cast<int>(impl.grid.joints())) {
    throw std::invalid_argument(join("PathTimer::time: path has ", path->size(),
                                     " joints, the arm ", impl.grid.joints(),
                                     "; give one for this arm"));
  }
  if (!(path->length() > 0 && std::isfinite(path->length()))) {
    throw std::invalid_argument(join("PathTimer::time: path has the length ", path->length(),
                                     "; give a finite one above zero"));
  }
  try {
    impl.grid.place(*path, impl.options.intervals);
    impl.check_gravity(*path);
    impl.solve(*path, {});
    impl.check_stops(*path);
    if (impl.bounded_rate) impl.bound_rates(*path);
  } catch (...) {
    impl.x.clear();
    throw;
  }
  return impl.timing(std::move(path));
}

}  // namespace ga_motion
