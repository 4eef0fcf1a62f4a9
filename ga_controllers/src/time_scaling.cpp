// SPDX-License-Identifier: Apache-2.0
#include "time_scaling.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "reference_governor.hpp"

namespace ga_controllers {

namespace {

/// Share of the torque limits that a scaled reference may use; the rest is left for the feedback. A
/// position that needs more to be held may use kCreep more than that, up to the limit.
constexpr double kShare = 0.95, kCreep = 0.03;
/// Largest |s''| [1/s²]. Reached only where the reference hardly moves.
constexpr double kLargest = 200;
/// Times that the tangent of √x is improved, and its smallest √x.
constexpr int kTangents = 4;
constexpr double kFlattest = 0.02;
/// While s'' rises, it changes no torque by more than this many limits per second.
constexpr double kRise = 50;
/// s, a joint that begins to move has its friction after this time.
constexpr double kBeginning = 1e-3;
/// Samples that are kept; a power of two. If there are more than a quarter of them, samples are kept half
/// as often, and so on for every further sixteenth, at least every kLongestStep [s]. What is left out
/// may change the path by kThinned [rad/s] times the interval: 0.1 mrad. At 1 kHz they last for 200 s.
constexpr std::size_t kCapacity = 8192;
constexpr double kLongestStep = 0.05, kThinned = 2e-3;
/// Steps of the backward pass per cycle.
constexpr int kPassSteps = 40;
/// A bound that changes less ends the backward pass.
constexpr double kSame = 1e-12;
/// s'' keeps the bound of x up to this many cycles ahead, or as far as s moves at kSlow.
constexpr int kCyclesAhead = 16;
constexpr double kSlow = 0.05;
/// 1/s, change of the user's bound of s'.
constexpr double kSpeedChange = 2;
/// 1/s, s' approaches its bound at this rate, to kArrived.
constexpr double kApproach = 50, kArrived = 1e-6;
/// rad/s and rad/s²; slower samples are at rest.
constexpr double kRestVelocity = 1e-4, kRestAcceleration = 1e-2;
/// rad. While the user slows the reference down, samples at rest that are closer to each other count as
/// the same one: noise of the reference.
constexpr double kRestNoise = 1e-3;
/// rad/s; an arm that is slower starts at the rate that the user wants.
constexpr double kStanding = 2e-3;
/// Relative excess of a limit that passes.
constexpr double kTolerance = 1e-9;
/// s, shortest distance that counts.
constexpr double kShortest = 1e-12;
/// Smallest product of inertia and velocity that counts, of the torque limit.
constexpr double kSmallest = 1e-9;

}  // namespace

TimeScaling::TimeScaling(const ga_dynamics::Chain& chain, std::vector<double> torque_limit,
                         double friction_velocity, double look_ahead)
    : n_(chain.joints().size()),
      dynamics_(chain, {.drives = ga_dynamics::Drives::kArmature}),
      limit_(std::move(torque_limit)),
      friction_velocity_(friction_velocity),
      look_ahead_(look_ahead),
      zero_(n_),
      scratch_(4 * n_),
      state_(3 * n_),
      nodes_(kCapacity),
      data_(kCapacity * kParts * n_) {
  for (const auto& joint : chain.joints()) {
    drives_.push_back(joint.drive);
    velocity_limit_.push_back(speed_limit(joint.limits));
  }
  // Infinity times zero is not a number.
  for (double& limit : limit_) limit = std::min(limit, 1e12);
}

void TimeScaling::reset() noexcept {
  first_ = count_ = pending_ = interrupted_ = 0;
  offset_ = lag_ = acceleration_ = waited_ = 0;
  rate_ = 1;
  blocking_ = -1;
  behind_ = lost_ = resumed_ = false;
}

bool TimeScaling::redirect() noexcept {
  const Values at = state();
  const bool stands = rate_ < kStopped;
  bool possible = cap_ < 1 && behind_;
  for (std::size_t i = 0; i < n_ && !stands; ++i) {
    possible = possible && std::abs(at.qd[i]) <= velocity_limit_[i];
  }
  if (!possible) {
    reset();
    return false;
  }
  if (stands) {
    std::fill(state_.begin() + static_cast<std::ptrdiff_t>(n_), state_.end(), 0.0);
    rate_ = acceleration_ = 0;
  }
  const double rate = rate_, acceleration = acceleration_;
  restart(at);
  evaluate(0);
  rate_ = rate;
  acceleration_ = acceleration;
  behind_ = true;
  waited_ = look_ahead_;
  return true;
}

/// Torque that may be used at a position that needs `static_torque` to be held.
double TimeScaling::torque_bound(std::size_t i, double static_torque) const noexcept {
  const double more = std::abs(static_torque) + kCreep * limit_[i];
  return std::max(kShare * limit_[i], std::min(more, limit_[i]));
}

bool TimeScaling::rests(const Values& sample) const noexcept {
  bool moves = false;
  for (std::size_t i = 0; i < n_; ++i) {
    moves = moves || std::abs(sample.qd[i]) > kRestVelocity ||
            std::abs(sample.qdd[i]) > kRestAcceleration;
  }
  return !moves;
}

/// True if the sample rests, as the newest one does at the same place.
bool TimeScaling::stays(const Values& sample, double step) noexcept {
  if (count_ == 0 || !node(count_ - 1).rests || !rests(sample)) return false;
  const double* q = part(count_ - 1, kQ);
  const double most = cap_ < 1 ? kRestNoise : 2 * kRestVelocity * step;
  bool near = true;
  for (std::size_t i = 0; i < n_; ++i) near = near && std::abs(sample.q[i] - q[i]) <= most;
  return near;
}

void TimeScaling::store(const Values& sample, std::size_t at) noexcept {
  std::copy_n(sample.q.begin(), n_, part(at, kQ));
  std::copy_n(sample.qd.begin(), n_, part(at, kV));
  std::copy_n(sample.qdd.begin(), n_, part(at, kA));
}

/// True if the sample can be followed at s' = 1 and s'' = 0.
bool TimeScaling::feasible(const Values& sample) noexcept {
  const std::span<double> tau(scratch_.data(), n_);
  dynamics_.inverse_dynamics(sample.q, sample.qd, sample.qdd, tau);
  bool within = true;
  for (std::size_t i = 0; i < n_; ++i) {
    const double v = sample.qd[i], rise = std::clamp(v / friction_velocity_, -1.0, 1.0);
    const double needed = tau[i] + drives_[i].viscous * v + drives_[i].coulomb(v) * rise;
    if (std::abs(needed) <= kShare * limit_[i] &&
        std::abs(v) <= velocity_limit_[i] * (1 + kTolerance)) {
      continue;
    }
    within = false;
    limiting_ = i;
  }
  return within;
}

/// The sample becomes the only one, without its coefficients.
void TimeScaling::restart(const Values& sample) noexcept {
  first_ = pending_ = interrupted_ = 0;
  count_ = 1;
  offset_ = lag_ = acceleration_ = 0;
  rate_ = 1;
  blocking_ = -1;
  behind_ = lost_ = resumed_ = false;
  node(0) = {.rests = rests(sample)};
  store(sample, 0);
}

/// Coefficients of the torques at a node.
void TimeScaling::evaluate(std::size_t at) noexcept {
  const std::span<const double> q(part(at, kQ), n_), v(part(at, kV), n_), a(part(at, kA), n_);
  const std::span<double> m(part(at, kM), n_), h(part(at, kH), n_), c(part(at, kC), n_);
  dynamics_.gravity(q, c);
  dynamics_.inverse_dynamics(q, zero_, v, m);
  dynamics_.inverse_dynamics(q, v, a, h);
  Node& to = node(at);
  for (std::size_t i = 0; i < n_; ++i) {
    const double rate = v[i] + (begins(at, i) ? a[i] * kBeginning : 0);
    const double rise = std::clamp(rate / friction_velocity_, -1.0, 1.0);
    m[i] -= c[i];
    h[i] -= c[i];
    c[i] += drives_[i].coulomb(rate) * rise;
    if (std::abs(c[i]) >= limit_[i]) to.blocking = static_cast<int>(i);
  }
  to.own = 0;
  for (int k = 0; k < kTangents && to.blocking < 0; ++k) {
    const double before = to.own;
    to.own = own_bound(at, to.tangent);
    const double tangent = std::max(std::sqrt(to.own), kFlattest);
    if (tangent > 0.9 * to.tangent || to.own < before) break;
    to.tangent = tangent;
  }
  to.bound = to.own;
}

/// True if the joint begins to move there, and does not come to rest.
bool TimeScaling::begins(std::size_t at, std::size_t joint) noexcept {
  if (std::abs(part(at, kV)[joint]) > friction_velocity_) return false;
  return at == 0 || part(at - 1, kV)[joint] * part(at, kA)[joint] >= 0;
}

/// The largest x ≤ 1 at a node for which there is an s'' within all torque limits, and within the
/// velocity limits.
double TimeScaling::own_bound(std::size_t at, double tangent) noexcept {
  const double *v = part(at, kV), *m = part(at, kM);
  double *h = scratch_.data(), *c = h + n_, *limit = c + n_;
  double x = 1;
  bool free = true;
  for (std::size_t i = 0; i < n_; ++i) {
    const double viscous = drives_[i].viscous * v[i];
    limit[i] = torque_bound(i, part(at, kC)[i]);
    h[i] = part(at, kH)[i] + viscous / (2 * tangent);
    c[i] = part(at, kC)[i] + viscous * tangent / 2;
    if (std::abs(v[i]) > velocity_limit_[i] * (1 + kTolerance)) {
      x = std::min(x, velocity_limit_[i] * velocity_limit_[i] / (v[i] * v[i]));
    }
    free = free && std::abs(h[i] + c[i]) <= limit[i];
  }
  if (free) return x;
  // Every joint bounds s'' from both sides by functions linear in x:
  //   −(L + σ(c + h x))/|m| ≤ s'' ≤ (L − σ(c + h x))/|m|,   σ = sign m,
  // The lower bound of each joint must not exceed the upper one of another. Joint n_: |s''| ≤ kLargest.
  for (std::size_t i = 0; i <= n_; ++i) {
    const bool real = i < n_;
    const double mi = real ? std::abs(m[i]) : 1, si = real ? std::copysign(1.0, m[i]) : 1;
    const double hi = real ? si * h[i] : 0;
    const double below = real ? limit[i] + si * c[i] : kLargest;
    for (std::size_t j = 0; j <= n_; ++j) {
      if (j == i) continue;
      const bool other = j < n_;
      const double mj = other ? std::abs(m[j]) : 1, sj = other ? std::copysign(1.0, m[j]) : 1;
      const double hj = other ? sj * h[j] : 0;
      const double above = other ? limit[j] - sj * c[j] : kLargest;
      const double slope = hj * mi - hi * mj, room = above * mi + below * mj;
      if (slope * x > room) x = std::clamp(room / slope, 0.0, x);
    }
  }
  return x;
}

/// The largest x at a node from which the bound of the next node can be kept.
double TimeScaling::bound_before(std::size_t at) noexcept {
  const double *v = part(at, kV), *m = part(at, kM), *h = part(at, kH), *c = part(at, kC);
  const double after = node(at + 1).bound, twice = 2 * node(at).step;
  const double constant = node(at).tangent / 2, linear = 1 / (4 * constant);
  double x = std::min(node(at).own, after + twice * kLargest);
  for (std::size_t i = 0; i < n_; ++i) {
    const double inertia = std::abs(m[i]), sign = std::copysign(1.0, m[i]);
    const double viscous = drives_[i].viscous * v[i], least = c[i] + constant * viscous;
    const double room = after * inertia + twice * (torque_bound(i, c[i]) + sign * least);
    const double slope = inertia - twice * sign * (h[i] + linear * viscous);
    if (slope * x > room) x = std::clamp(room / slope, 0.0, x);
  }
  return x;
}

/// Continues a backward pass; returns the remaining steps.
int TimeScaling::propagate(std::size_t& from, int steps) noexcept {
  for (; steps > 0 && from > 0; --steps) {
    Node& to = node(from - 1);
    const double bound = bound_before(from - 1);
    const bool changes = bound < to.bound - kSame;
    if (changes) {
      to.bound = bound;
      if (to.blocking < 0) to.blocking = node(from).blocking;
    }
    from = changes ? from - 1 : 0;
  }
  return steps;
}

void TimeScaling::propagate() noexcept { propagate(interrupted_, propagate(pending_, kPassSteps)); }

/// True if the sample may replace the newest one, which the path between its neighbors passes closely.
bool TimeScaling::thin_out(const Values& sample, double step, double spacing) noexcept {
  if (count_ < 3 || node(count_ - 1).rests) return false;
  Node& from = node(count_ - 2);
  const double before = from.step, both = before + step, p = before / both, r = 1 - p;
  if (both > std::min(spacing, kLongestStep)) return false;
  // The interpolations with and without the newest sample are cubic on either side of it and differ
  // by cubics that vanish with their slope at the far ends: by these bounds at most.
  double error = 0;
  for (std::size_t i = 0; i < n_; ++i) {
    const double q0 = part(count_ - 2, kQ)[i], v0 = part(count_ - 2, kV)[i];
    const double q1 = sample.q[i], v1 = sample.qd[i];
    const double q =
        r * r * (1 + 2 * p) * q0 + p * p * (1 + 2 * r) * q1 + p * r * both * (r * v0 - p * v1);
    const double v = 6 * p * r * (q1 - q0) / both + r * (1 - 3 * p) * v0 + p * (1 - 3 * r) * v1;
    const double distance = std::abs(q - part(count_ - 1, kQ)[i]);
    const double slope = 4.0 / 27 * std::abs(v - part(count_ - 1, kV)[i]);
    error = std::max({error, from.error + distance + slope * before, distance + slope * step});
  }
  if (!(error <= kThinned * both)) return false;
  from.error = error;
  from.step = both;
  return true;
}

void TimeScaling::append(const Values& sample, double step) noexcept {
  lag_ += step;
  if (lost_) return;
  // The fuller the ring, the longer the steps.
  double spacing = 0;
  for (std::size_t few = nodes_.size() / 4; few < count_; few += nodes_.size() / 16) {
    spacing = std::max(2 * spacing, 2 * step);
  }
  if (!thin_out(sample, step, spacing)) {
    lost_ = count_ + 1 >= nodes_.size();
    if (lost_) return;
    node(count_ - 1).step = step;
    ++count_;
  }
  const std::size_t newest = count_ - 1;
  node(newest) = {.rests = rests(sample)};
  store(sample, newest);
  evaluate(newest);
  if (pending_ > 0) interrupted_ = pending_;
  pending_ = newest;
}

/// Moves s on for a cycle.
void TimeScaling::move(double dt) noexcept {
  double way = std::max((rate_ + acceleration_ * dt / 2) * dt, 0.0);
  rate_ = std::clamp(rate_ + acceleration_ * dt, 0.0, 1.0);
  offset_ += way;
  lag_ -= way;
  while (count_ > 1 && offset_ >= node(0).step - kShortest) {
    offset_ = std::max(offset_ - node(0).step, 0.0);
    first_ = index(1);
    --count_;
    if (pending_ > 0) --pending_;
    if (interrupted_ > 0) --interrupted_;
  }
  if (count_ == 1) offset_ = lag_ = 0;
  lag_ = std::max(lag_, 0.0);
}

void TimeScaling::interpolate(const Values& out) noexcept {
  double *m = scratch_.data(), *h = m + n_, *c = h + n_;
  if (count_ == 1 || offset_ <= 0) {
    std::copy_n(part(0, kQ), n_, out.q.begin());
    std::copy_n(part(0, kV), n_, out.qd.begin());
    std::copy_n(part(0, kA), n_, out.qdd.begin());
    std::copy_n(part(0, kM), n_, m);
    std::copy_n(part(0, kH), n_, h);
    std::copy_n(part(0, kC), n_, c);
    return;
  }
  // Cubic Hermite polynomials of the positions, with the velocities, and of the velocities, with the
  // accelerations, limited so that they are monotone: samples that contradict each other do not become
  // large rates.
  // The rates of the positions may differ from the chord's by what the accelerations explain.
  const double step = node(0).step, p = offset_ / step, r = 1 - p;
  const double a0 = r * r * (1 + 2 * p), a1 = 1 - a0, b0 = p * r * r * step, b1 = -p * p * r * step;
  const auto hermite = [&](double from, double to, double rate0, double rate1) {
    return a0 * from + a1 * to + b0 * rate0 + b1 * rate1;
  };
  const auto bounded = [&](double from, double to, double rate0, double rate1, double more) {
    const double steepest = 3 * (to - from) / step;
    const double low = std::min(steepest, 0.0) - more, high = std::max(steepest, 0.0) + more;
    return hermite(from, to, std::clamp(rate0, low, high), std::clamp(rate1, low, high));
  };
  const auto linear = [&](Part of, std::size_t i) {
    return r * part(0, of)[i] + p * part(1, of)[i];
  };
  for (std::size_t i = 0; i < n_; ++i) {
    const double bend = (std::abs(part(0, kA)[i]) + std::abs(part(1, kA)[i])) * step;
    out.q[i] = bounded(part(0, kQ)[i], part(1, kQ)[i], part(0, kV)[i], part(1, kV)[i], bend);
    out.qd[i] = bounded(part(0, kV)[i], part(1, kV)[i], part(0, kA)[i], part(1, kA)[i], 0);
    out.qdd[i] = linear(kA, i);
    m[i] = linear(kM, i);
    h[i] = linear(kH, i);
    c[i] = linear(kC, i);
  }
}

/// Bound of x at this distance [s] after s.
double TimeScaling::bound_at(double distance) noexcept {
  double from = -offset_;
  for (std::size_t k = 0; k + 1 < count_; ++k) {
    const double step = node(k).step;
    if (distance <= from + step) {
      const double p = std::clamp((distance - from) / std::max(step, kShortest), 0.0, 1.0);
      return (1 - p) * node(k).bound + p * node(k + 1).bound;
    }
    from += step;
  }
  // Beyond the newest sample its velocity changes with its acceleration.
  const double *v = part(count_ - 1, kV), *a = part(count_ - 1, kA);
  double x = node(count_ - 1).bound;
  for (std::size_t i = 0; i < n_; ++i) {
    const double speed = std::abs(v[i] + a[i] * std::max(distance - from, 0.0));
    const double most = velocity_limit_[i];
    if (speed > most) x = std::min(x, most * most / (speed * speed));
  }
  return x;
}

/// Chooses s'' until the next cycle.
void TimeScaling::choose_acceleration(double dt, std::span<const double> velocity) noexcept {
  const double *m = scratch_.data(), *h = m + n_, *c = h + n_;
  const double x = rate_ * rate_;
  double low = -kLargest, high = kLargest;        // with a reserve
  double lowest = -kLargest, highest = kLargest;  // at the torque limits
  double slowest_rise = kLargest / kRise / std::max(dt, kShortest);
  for (std::size_t i = 0; i < n_; ++i) {
    const double inertia = std::max(std::abs(m[i]), kSmallest * limit_[i]);
    const double viscous = drives_[i].viscous * velocity[i] * rate_;
    const double torque = std::copysign(1.0, m[i]) * (c[i] + viscous + h[i] * x);
    const double most = torque_bound(i, c[i]);
    slowest_rise = std::min(slowest_rise, limit_[i] / inertia);
    low = std::max(low, -(most + torque) / inertia);
    high = std::min(high, (most - torque) / inertia);
    lowest = std::max(lowest, -(limit_[i] + torque) / inertia);
    highest = std::min(highest, (limit_[i] - torque) / inertia);
  }
  // Gently to the bounds of the next cycles, to the user's bound and to s' = 1.
  double wanted = (cap_ - rate_) * kApproach;
  if (std::abs(cap_ - rate_) < kArrived && dt > 0) wanted = (cap_ - rate_) / dt;
  for (int k = 1; k <= kCyclesAhead && dt > 0; k *= 2) {
    const double ahead = k * std::max(rate_, kSlow) * dt;
    if (k > 2 && ahead > lag_) break;
    wanted = std::min(wanted, (bound_at(ahead) - x) / (2 * ahead));
  }
  wanted = std::min({wanted, high, acceleration_ + kRise * slowest_rise * dt});
  if (wanted < low) wanted = std::max(wanted, std::min(lowest, low));
  if (lowest > highest) wanted = (lowest + highest) / 2;
  acceleration_ = std::clamp(wanted, -kLargest, kLargest);
  if (dt > 0) acceleration_ = std::clamp(acceleration_, -rate_ / dt, (1 - rate_) / dt);
}

void TimeScaling::advance(double dt, double step, const Values& sample) noexcept {
  sample_rests_ = rests(sample);
  // Nothing moves: the bound changes at once.
  const double change = !behind_ && sample_rests_ ? 1 : kSpeedChange * dt;
  cap_ += std::clamp((lost_ ? 0 : speed_) - cap_, -change, change);
  const bool stays = this->stays(sample, step);
  slowed_by_user_ = cap_ < 1 || (slowed_by_user_ && behind_ && rate_ < 1);
  if (!behind_) {
    const bool from_rest = count_ > 0 && node(0).rests;
    if (from_rest && cap_ < 1 && (stays || step <= 0)) {  // step 0: the sender's time stands, too
      std::copy_n(part(0, kQ), n_, sample.q.begin());
      std::fill(sample.qd.begin(), sample.qd.end(), 0.0);
      std::fill(sample.qdd.begin(), sample.qdd.end(), 0.0);
      return;
    }
    if (stays) {
      store(sample, 0);
      return;
    }
    const bool delays = look_ahead_ > 0 && from_rest && !sample_rests_;
    const bool passes = cap_ >= 1 || (count_ == 0 && sample_rests_);
    if (!delays && passes && feasible(sample)) {
      restart(sample);
      return;
    }
    // The samples become the path. A reference at rest may start at any rate.
    behind_ = true;
    waited_ = delays ? 0 : look_ahead_;
    if (from_rest) {
      evaluate(0);
      append(sample, step);
      propagate();
    } else {
      restart(sample);
      behind_ = true;
      evaluate(0);
      const double slowest = cap_ < 1 ? kStanding : kRestVelocity;
      const bool stands = std::all_of(sample.qd.begin(), sample.qd.end(),
                                      [=](double v) { return std::abs(v) <= slowest; });
      if (stands) rate_ = std::min(std::sqrt(node(0).bound), cap_);
    }
    if (from_rest) rate_ = waited_ < look_ahead_ ? 0 : std::min(std::sqrt(bound_at(step)), cap_);
    acceleration_ = 0;
    if (from_rest) move(dt);
  } else {
    if (stays) {
      store(sample, count_ - 1);
    } else if (step > 0) {
      append(sample, step);
    }
    propagate();
    waited_ += dt;
    if (offset_ <= 0 && node(0).rests && count_ > 1) {
      rate_ = waited_ < look_ahead_ ? 0 : std::min(std::sqrt(bound_at(node(0).step)), cap_);
      acceleration_ = 0;
    }
    move(dt);
  }
  // The newest sample is reached.
  const bool arrived = count_ == 1 && (cap_ >= 1 || step > 0 || stays);
  if (arrived && (node(0).rests || (rate_ >= 1 && cap_ >= 1 && feasible(sample)))) {
    restart(sample);
    return;
  }
  interpolate(sample);
  std::copy_n(sample.q.begin(), n_, state().q.begin());
  std::copy_n(sample.qd.begin(), n_, state().qd.begin());
  std::copy_n(sample.qdd.begin(), n_, state().qdd.begin());
  choose_acceleration(dt, sample.qd);
  blocking_ = count_ > 1 ? node(1).blocking : node(0).blocking;
  for (std::size_t i = 0; i < n_; ++i) {
    sample.qdd[i] = sample.qdd[i] * rate_ * rate_ + sample.qd[i] * acceleration_;
    sample.qd[i] *= rate_;
  }
}

}  // namespace ga_controllers
