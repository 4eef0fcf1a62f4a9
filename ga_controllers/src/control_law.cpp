// SPDX-License-Identifier: Apache-2.0
#include "ga_controllers/control_law.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "fading.hpp"
#include "ga_dynamics/cholesky.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "reference_guard.hpp"

namespace ga_controllers {

using ga_dynamics::Chain;
using ga_dynamics::Drive;
using ga_dynamics::Drives;
using ga_dynamics::Dynamics;

namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
/// A reference that jumps far enough to step a torque by this share of its limit is smoothed; the
/// way to it then costs about `kShareOfSmoothing` of the limit, and `kSlewOfSmoothing` of it per
/// second.
constexpr double kJump = 0.01, kShareOfSmoothing = 0.25, kSlewOfSmoothing = 3;
/// Meanwhile the friction that is fed forward changes by no more than this share of the limit per
/// second: the velocity may turn round within a cycle. The end, in units of 1/decay, is where no
/// velocity is left that friction would show.
constexpr double kSlewOfFriction = 2, kEndOfSmoothing = 15;
/// After a cycle longer than this [s] the arm is where its torque has taken it meanwhile: the law
/// goes on from there, as after a change.
constexpr double kLateCycle = 0.05;

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("ControlLaw: " + what);
}

bool all_finite(std::span<const double> values, std::size_t n) {
  // A sum of n finite values is finite for any position, velocity or torque of an arm.
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += values[i] * 0;
  return sum == 0;
}

void check(const Chain& chain, const LawParameters& p) {
  const std::size_t n = chain.joints().size();
  const auto sized = [&](std::size_t size, const char* name, bool may_be_empty, bool may_be_one) {
    if (size == n || (may_be_empty && size == 0) || (may_be_one && size == 1)) return;
    refuse(std::string(name) + " has " + std::to_string(size) + " values for " + std::to_string(n) +
           " joints");
  };
  sized(p.gains.size(), "gains", false, true);
  sized(p.torque_limit.size(), "torque_limit", true, false);
  sized(p.torque_rate_limit.size(), "torque_rate_limit", true, false);
  for (const JointGains& g : p.gains) {
    for (const double v : {g.kp, g.kd, g.ki}) {
      if (!(v >= 0) || !std::isfinite(v)) refuse("gains must be finite and not negative");
    }
  }
  for (const double v : p.torque_limit) {
    if (!(v > 0)) refuse("torque_limit must be positive");
  }
  for (const double v : p.torque_rate_limit) {
    if (!(v > 0)) refuse("torque_rate_limit must be positive");
  }
  if (!(p.friction >= 0 && p.friction <= 1)) refuse("friction must be between 0 and 1");
  if (!(p.friction_velocity > 0)) refuse("friction_velocity must be positive");
  if (!(p.integral_dead_band >= 0)) refuse("integral_dead_band must not be negative");
  if (!(p.integral_limit >= 0)) refuse("integral_limit must not be negative");
  if (!(p.blend_time >= 0) || !std::isfinite(p.blend_time))
    refuse("blend_time must be finite and not negative");
  if (p.error_cycles < 1) refuse("error_cycles must be at least 1");
}

}  // namespace

JointGains gains_from_bandwidth(double bandwidth, double damping) {
  if (!(bandwidth > 0 && damping > 0) ||
      !std::isfinite(bandwidth * bandwidth * bandwidth * damping)) {
    throw std::invalid_argument(
        "gains_from_bandwidth: bandwidth and damping must be positive and finite");
  }
  return {bandwidth * bandwidth, 2 * damping * bandwidth, bandwidth * bandwidth * bandwidth / 4};
}

std::string to_string(LawStatus status) {
  switch (status) {
    case LawStatus::kOk:
      return "ok";
    case LawStatus::kReferenceHeld:
      return "the reference is not finite: holding the last valid position";
    case LawStatus::kStateHeld:
      return "the measured state is not finite: holding gravity at the last valid position";
    case LawStatus::kError:
      return "non-finite inputs for too many cycles";
  }
  return "unknown";
}

struct ControlLaw::Impl {
  Impl(const Chain& chain, const LawParameters& given)
      : parameters(given),
        n(chain.joints().size()),
        dynamics(chain, {.drives = Drives::kArmature}),
        gains(given.gains.size() == n ? given.gains
                                      : std::vector<JointGains>(n, given.gains.front())),
        drives(n),
        limit(n, kNone),
        rate_limit(n, kNone),
        lower(n),
        upper(n),
        velocity(n),
        q_ref(n),
        qd_ref(n),
        qdd_ref(n),
        q_valid(n),
        qd_valid(n),
        sum(n),
        rests(n),
        settled(n),
        push(n),
        rest_torque(n),
        pushed(n),
        torque_step(n),
        factor(n * n),
        fading(n),
        to_go(n),
        braking(n),
        swings(n),
        slews(n),
        inertia(n * n),
        q_ref_used(n),
        qd_ref_used(n),
        qdd_ref_used(n),
        v(n),
        offset(n),
        last(n),
        excess(n),
        fed(n),
        cut(n),
        friction(n),
        terms(kTerms * n) {
    for (std::size_t i = 0; i < n; ++i) {
      drives[i] = chain.joints()[i].drive;
      limit[i] =
          given.torque_limit.empty() ? chain.joints()[i].limits.effort : given.torque_limit[i];
      lower[i] = chain.joints()[i].limits.lower;
      upper[i] = chain.joints()[i].limits.upper;
      velocity[i] = speed_limit(chain.joints()[i].limits);
      if (!given.torque_rate_limit.empty()) rate_limit[i] = given.torque_rate_limit[i];
    }
    if (given.keep_limits) guard = std::make_unique<ReferenceGuard>(chain, limit);
  }

  bool takes_reference() const { return parameters.kind != LawKind::kGravityHold; }
  bool takes_rates() const {
    return parameters.kind == LawKind::kTracking || parameters.kind == LawKind::kTrackingIntegral;
  }

  bool is_jump(std::size_t i, double dq, double dqd) const {
    const double dv = gains[i].kp * std::abs(dq) + gains[i].kd * std::abs(dqd);
    return inertia[i * n + i] * dv > kJump * limit[i];
  }

  /// The reference as the law uses it: the given one, or a rest near the last valid one. The
  /// torque limits and the inertia at the last change tell what a jump is.
  bool take_reference(const Reference& r, double dt) {
    const bool none = r.q.empty();
    const bool good = !none && all_finite(r.q, n) &&
                      (!takes_rates() || (all_finite(r.qd, n) && all_finite(r.qdd, n)));
    const bool rates = good && r.qd.size() >= n && r.qdd.size() >= n && all_finite(r.qd, n) &&
                       all_finite(r.qdd, n);
    for (std::size_t i = 0; i < n; ++i) {
      double q = q_ref[i];
      const double qd = rates ? r.qd[i] : 0, qdd = rates ? r.qdd[i] : 0;
      if (good) {
        q = r.q[i];
      } else if (!holds) {
        // One that cannot be followed is given up for what is.
        const bool left = guard && guard->has_left(i);
        const double rate = left ? qd_ref_used[i] : qd_ref[i];
        if (left) q = q_ref_used[i];
        // As far as the arm runs while its velocity fades, so that it need not come back.
        q = std::clamp(q + rate * parameters.blend_time, std::min(q, lower[i]),
                       std::max(q, upper[i]));
      }
      // What the accelerations explain is no jump: a trajectory may step its acceleration.
      const double speed_up = (std::abs(qdd_ref[i]) + std::abs(qdd)) * dt;
      const double dq = std::abs(q - q_ref[i] - (qd_ref[i] + qd) / 2 * dt) - speed_up * dt;
      const double dqd = std::abs(qd - qd_ref[i]) - speed_up;
      if (is_jump(i, std::max(dq, 0.0), std::max(dqd, 0.0))) jumped = true;
      q_ref[i] = q;
      qd_ref[i] = qd;
      qdd_ref[i] = qdd;
    }
    holds = !good;
    return good || none;
  }

  Fading::Bounds bounds(std::size_t i, double decay) const {
    return {decay, kShareOfSmoothing * strength(i), kSlewOfSmoothing * strength(i),
            std::max(velocity[i] - std::abs(qd_ref[i]), velocity[i] / 10)};
  }
  /// After a change the reference starts at the arm and moves over to the given one: a law that is
  /// switched on far from its reference does not jump at it.
  void fade_from_arm() {
    dynamics.inertia_matrix(q_valid, inertia);
    since_change = 0;
    const bool fades = takes_reference() && parameters.blend_time > 0;
    if (fades) estimate_braking();
    for (std::size_t i = 0; i < n; ++i) {
      fading[i].stop();
      slews[i] = swings[i] = false;
      if (!fades) continue;
      const Fading::State left{q_valid[i] - q_ref[i], qd_valid[i] - qd_ref[i],
                               braking[i] != 0 ? braking[i] - qdd_ref[i] : 0};
      fading[i].start(left, bounds(i, 1.5 / parameters.blend_time));
      swings[i] = turns_friction(i);
    }
    if (guard && fades) guard->begin(q_valid, qd_valid, braking);
  }
  double strength(std::size_t i) const { return limit[i] / (inertia[i * n + i] + 1e-12); }
  /// Is the way to the given reference so lively that friction would change faster than it may?
  bool turns_friction(std::size_t i) const {
    const Fading& f = fading[i];
    const double acceleration =
        f.decay * std::max(0.23 * f.decay * std::abs(f.error), 0.8 * std::abs(f.rate));
    const double coulomb = std::max(drives[i].coulomb_positive, drives[i].coulomb_negative);
    return parameters.friction * coulomb * acceleration >
           kSlewOfFriction * limit[i] * parameters.friction_velocity;
  }
  /// The deceleration that the torque before the change gives to joints that brake ahead of a
  /// position limit: a reference that began without would need the way for it again. Elsewhere, and
  /// where it would speed the joint up, the estimate is not needed and may be a payload or friction
  /// that the model does not know.
  void estimate_braking() {
    std::fill(braking.begin(), braking.end(), 0.0);
    if (!guard || !all_finite(last, n)) return;
    dynamics.bias(q_valid, qd_valid, braking);
    for (std::size_t i = 0; i < n; ++i) {
      braking[i] = last[i] - braking[i] - friction_torque(i, qd_valid[i]);
    }
    std::copy(inertia.begin(), inertia.end(), factor.begin());
    ga_dynamics::cholesky_solve(static_cast<int>(n), factor.data(), braking.data());
    for (std::size_t i = 0; i < n; ++i) {
      const bool needed = guard->must_brake(i, q_valid[i], qd_valid[i], strength(i));
      const double most = needed ? strength(i) / 2 : 0, ahead = std::copysign(1.0, qd_valid[i]);
      braking[i] = ahead * std::clamp(ahead * braking[i], -most, 0.0);
    }
  }
  /// After a jump the reference goes on from where it was, with its velocity and acceleration, and
  /// swings over to the new one.
  void fade_from_reference(double dt) {
    dynamics.inertia_matrix(q_valid, inertia);
    since_change = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double qdd = qdd_ref_used[i], qd = qd_ref_used[i] + qdd * dt;
      const Fading::State left{q_ref_used[i] + (qd_ref_used[i] + qd) / 2 * dt - q_ref[i],
                               qd - qd_ref[i], qdd - qdd_ref[i]};
      fading[i].start(left, bounds(i, std::max(1 / parameters.blend_time, std::sqrt(gains[i].kp))));
      swings[i] = swings[i] || turns_friction(i);
    }
  }
  void fade_reference(double dt) {
    since_change += dt;
    if (jumped && !changed && parameters.blend_time > 0) fade_from_reference(dt);
    std::copy(q_ref.begin(), q_ref.end(), q_ref_used.begin());
    std::copy(qd_ref.begin(), qd_ref.end(), qd_ref_used.begin());
    std::copy(qdd_ref.begin(), qdd_ref.end(), qdd_ref_used.begin());
    if (changed) fade_from_arm();
    jumped = false;
    for (std::size_t i = 0; i < n; ++i) {
      to_go[i] = 0;
      if (fading[i].over(since_change)) continue;
      const Fading::State left = fading[i].at(since_change);
      to_go[i] = std::abs(left.q);
      q_ref_used[i] += left.q;
      qd_ref_used[i] += left.qd;
      qdd_ref_used[i] += left.qdd;
    }
    if (guard && takes_reference()) {
      departure = guard->keep(q_valid, dt, {q_ref_used, qd_ref_used, qdd_ref_used});
    }
  }

  double friction_torque(std::size_t i, double rate) const {
    const Drive& d = drives[i];
    const double coulomb = rate > 0 ? d.coulomb_positive : d.coulomb_negative;
    return parameters.friction *
           (d.viscous * rate + coulomb * std::tanh(rate / parameters.friction_velocity));
  }

  /// Adds the friction that is fed forward. After a change it begins with as much of it as the
  /// torque before shows, so that a law goes on with the friction of the one before.
  void feed_friction(std::span<double> tau, double dt) {
    for (std::size_t i = 0; i < n; ++i) {
      const double wanted = friction_torque(i, takes_rates() ? qd_ref_used[i] : qd_valid[i]);
      if (changed && parameters.blend_time > 0 && !std::isnan(last[i])) {
        fed[i] = std::clamp(last[i] - tau[i], std::min(wanted, 0.0), std::max(wanted, 0.0));
        slews[i] = fed[i] != wanted;
      } else if ((slews[i] || swings[i]) && !changed) {
        const double reach = kSlewOfFriction * limit[i] * dt;
        fed[i] = std::clamp(wanted, fed[i] - reach, fed[i] + reach);
        slews[i] = fed[i] != wanted;
        swings[i] = swings[i] && fading[i].decay * since_change < kEndOfSmoothing;
      } else {
        fed[i] = wanted;
      }
      friction[i] = fed[i];
      tau[i] += fed[i];
    }
  }

  /// Integrates e, but not while its effect is cut off by a limit, nor rounding noise at rest.
  void integrate(std::size_t i, double e, double dt) {
    // The followed reference: after a change it moves although the given one may rest. One that
    // moves by less than the dead band in a second rests, unless it is turning back or has yet to
    // set out; and so does one that is so slow that its friction is no longer fed forward in full.
    const double band = parameters.integral_dead_band;
    const bool at_goal = std::abs(e) < band;
    const double slow =
        std::max(band, parameters.friction > 0 ? 2 * parameters.friction_velocity : 0);
    const bool resting = std::abs(qd_ref_used[i]) <= slow &&
                         std::abs(qdd_ref_used[i]) <= 10 * slow && to_go[i] <= slow;
    rests[i] = !resting ? Rest::kMoving : at_goal ? Rest::kAtGoal : Rest::kBeside;
    if (rests[i] == Rest::kAtGoal) return;
    push[i] = e < 0 ? 1 : -1;
    // The integral's torque has the sign of −e: pushing further into the limit that cuts the
    // torque?
    if (cut[i] != 0 && cut[i] * e < 0) return;
    sum[i] = std::clamp(sum[i] + e * dt, -parameters.integral_limit, parameters.integral_limit);
  }

  /// What the integral has added in a rest was against stiction, and the next motion's friction is
  /// fed forward: kept, it would hold the joint back, or push it, until it is integrated away
  /// again.
  void forget_pushes() {
    bool any = false;
    for (std::size_t i = 0; i < n; ++i) {
      const bool leaves = settled[i] && rests[i] == Rest::kMoving;
      torque_step[i] = leaves && gains[i].ki > 0 ? pushed[i] : 0;
      any = any || torque_step[i] != 0;
      if (leaves) settled[i] = false;
    }
    if (!any) return;
    dynamics.inertia_matrix(q_valid, factor);
    ga_dynamics::cholesky_solve(static_cast<int>(n), factor.data(), torque_step.data());
    for (std::size_t i = 0; i < n; ++i) {
      if (gains[i].ki > 0) sum[i] += torque_step[i] / gains[i].ki;
    }
  }

  void command_acceleration(double dt) {
    fade_reference(dt);
    if (parameters.kind == LawKind::kTrackingIntegral) {
      for (std::size_t i = 0; i < n; ++i) integrate(i, q_valid[i] - q_ref_used[i], dt);
      forget_pushes();
    }
    for (std::size_t i = 0; i < n; ++i) {
      const JointGains& g = gains[i];
      const double e = q_valid[i] - q_ref_used[i];
      switch (parameters.kind) {
        case LawKind::kGravityHold:
          v[i] = -g.kd * qd_valid[i];
          break;
        case LawKind::kPointToPoint:
          v[i] = -g.kd * qd_valid[i] - g.kp * e;
          break;
        case LawKind::kTracking:
          v[i] = qdd_ref_used[i] - g.kd * (qd_valid[i] - qd_ref_used[i]) - g.kp * e;
          break;
        case LawKind::kTrackingIntegral:
          v[i] = qdd_ref_used[i] - g.kd * (qd_valid[i] - qd_ref_used[i]) - g.kp * e - g.ki * sum[i];
          break;
      }
    }
  }

  /// While the reference rests, the integral pushes a joint that sticks beside its goal until it
  /// breaks away; that takes more torque than to slide on (Stribeck), so the joint would shoot past
  /// the goal, stick, be pushed back, and hunt for ever. Within the dead band the law therefore
  /// takes back what it has added since the reference came to rest, up to the Coulomb friction:
  /// friction brakes the joint there and then holds it with torque to spare both ways.
  void relax(std::span<double> tau) {
    for (std::size_t i = 0; i < n; ++i) {
      if (rests[i] == Rest::kMoving) continue;
      if (!settled[i]) {
        settled[i] = true;
        rest_torque[i] = tau[i] - friction[i];
        push[i] = rests[i] == Rest::kAtGoal ? 0 : push[i];
      }
      const double added = (tau[i] - friction[i] - rest_torque[i]) * push[i];
      const double coulomb = push[i] > 0 ? drives[i].coulomb_positive : drives[i].coulomb_negative;
      pushed[i] = push[i] * std::clamp(added, 0.0, parameters.friction * coulomb);
      if (rests[i] != Rest::kAtGoal) continue;
      tau[i] -= pushed[i];
      friction[i] -= pushed[i];
    }
  }

  /// Fades the difference to the torque before the last change, then limits size and rate. A torque
  /// beyond the limit that was taken over goes back to it as the difference fades.
  void finish(std::span<double> tau, double dt) {
    const double fade = parameters.blend_time > 0 ? std::exp(-dt / parameters.blend_time) : 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double possible = std::clamp(tau[i], -limit[i], limit[i]);
      if (std::isnan(last[i])) last[i] = possible;  // nothing drove the joint before
      if (changed) excess[i] = std::max(std::abs(last[i]) - limit[i], 0.0);
      offset[i] = changed || takes_over ? last[i] - possible : offset[i] * fade;
      const double reach = rate_limit[i] * dt, most = limit[i] + excess[i];
      double given = std::clamp(possible + offset[i], -most, most);
      if (reach < kNone) given = std::clamp(given, last[i] - reach, last[i] + reach);
      const double wanted = tau[i] + offset[i];
      cut[i] = wanted > given ? 1 : wanted < given ? -1 : 0;
      tau[i] = last[i] = given;
      excess[i] *= fade;
    }
    changed = changed && !located;
    takes_over = false;
  }

  enum class Rest {
    kMoving,  ///< the reference moves
    kBeside,  ///< it rests, the joint is outside of the dead band
    kAtGoal
  };

  static constexpr std::size_t kTerms = 6;

  LawParameters parameters;
  std::size_t n;
  Dynamics dynamics;
  std::vector<JointGains> gains;
  std::vector<Drive> drives;
  std::vector<double> limit, rate_limit, lower, upper, velocity;
  std::vector<double> q_ref, qd_ref, qdd_ref;  ///< as used last
  std::vector<double> q_valid, qd_valid;       ///< last finite measurement
  std::vector<double> sum;
  std::vector<Rest> rests;
  std::vector<char> settled;  ///< rest_torque is of this rest
  std::vector<int> push;      ///< where the integral pushed last: +1, −1; 0: not in this rest
  std::vector<double> rest_torque;          ///< when the reference came to rest
  std::vector<double> pushed;               ///< what the law has added since, up to the friction
  std::vector<double> torque_step, factor;  ///< scratch of forget_pushes() and estimate_braking()
  std::vector<Fading> fading;
  std::vector<double> to_go;    ///< rad, between the followed reference and the given one
  std::vector<double> braking;  ///< rad/s², at the last change
  std::vector<char> swings;     ///< the followed reference, over to the given one
  std::vector<char> slews;      ///< the friction that is fed forward is still on its way
  std::vector<double> inertia;
  std::vector<double> q_ref_used, qd_ref_used, qdd_ref_used;
  std::vector<double> v, offset, last;
  std::vector<double> excess;             ///< of a torque beyond the limit that was taken over
  std::vector<double> fed;                ///< of the friction, before relax()
  std::unique_ptr<ReferenceGuard> guard;  ///< if limits are to be kept
  Departure departure;
  std::vector<int> cut;          ///< +1 where the upper limit cuts, −1 where the lower one does
  std::vector<double> friction;  ///< fed forward in the last update
  std::vector<double> terms;     ///< scratch of ControlLaw::terms()
  bool changed = false, jumped = false;
  bool drives_arm = false;  ///< there was an update
  bool holds = false;       ///< there is no valid reference: the hold is decided on
  bool takes_over = false;  ///< the torque goes on from the last one, the reference as it was
  bool bridges = false;     ///< the state was valid and is not now
  bool located = true;      ///< since start() there was a valid state, or there was no start()
  bool state_lost = true;   ///< the last update had no valid state: gravity is all there is
  double since_change = 0;
  int bad_cycles = 0;
};

ControlLaw::ControlLaw(const Chain& chain, const LawParameters& parameters) {
  check(chain, parameters);
  impl_ = std::make_unique<Impl>(chain, parameters);
}
ControlLaw::~ControlLaw() = default;
ControlLaw::ControlLaw(ControlLaw&&) noexcept = default;
ControlLaw& ControlLaw::operator=(ControlLaw&&) noexcept = default;

int ControlLaw::size() const noexcept { return static_cast<int>(impl_->n); }
LawKind ControlLaw::kind() const noexcept { return impl_->parameters.kind; }

void ControlLaw::start(std::span<const double> q, std::span<const double> qd,
                       std::span<const double> last_torque) noexcept {
  Impl& m = *impl_;
  const bool known = all_finite(q, m.n) && all_finite(qd, m.n);
  for (std::size_t i = 0; i < m.n; ++i) {
    if (known) m.q_valid[i] = m.q_ref[i] = q[i];
    if (known) m.qd_valid[i] = qd[i];
    m.qd_ref[i] = known ? qd[i] : 0;  // without a reference it comes to rest from here
    m.qdd_ref[i] = m.sum[i] = m.offset[i] = 0;
    m.last[i] =
        std::isfinite(last_torque[i]) ? last_torque[i] : std::numeric_limits<double>::quiet_NaN();
    m.excess[i] = 0;
    m.cut[i] = 0;
    m.settled[i] = false;
  }
  m.changed = true;
  m.located = known;
  m.bridges = m.takes_over = m.holds = false;
  m.departure = {};
  m.bad_cycles = 0;
}

void ControlLaw::change(LawKind kind) noexcept {
  if (kind == impl_->parameters.kind) return;
  impl_->parameters.kind = kind;
  std::fill(impl_->sum.begin(), impl_->sum.end(), 0.0);
  std::fill(impl_->settled.begin(), impl_->settled.end(), false);
  impl_->changed = true;
}

void ControlLaw::change_gains(std::span<const JointGains> gains) noexcept {
  for (std::size_t i = 0; i < impl_->n; ++i) {
    JointGains& to = impl_->gains[i];
    const JointGains& from = gains[gains.size() == impl_->n ? i : 0];
    // The integral's part of v stays what it is.
    impl_->sum[i] = from.ki > 0 ? impl_->sum[i] * to.ki / from.ki : 0;
    to = from;
  }
  impl_->changed = true;
}

LawStatus ControlLaw::update(std::span<const double> q, std::span<const double> qd,
                             const Reference& reference, double dt,
                             std::span<double> tau) noexcept {
  Impl& m = *impl_;
  const bool state_known = all_finite(q, m.n) && all_finite(qd, m.n);
  const bool reference_known = !m.takes_reference() || m.take_reference(reference, dt);
  m.bad_cycles =
      state_known && reference_known ? 0 : std::min(m.bad_cycles + 1, m.parameters.error_cycles);
  // What the torque does besides holding gravity (a motion, a payload) fades when the state is
  // lost, and comes back when it is found.
  const bool seen = m.located && !m.state_lost;
  m.takes_over = m.parameters.blend_time > 0 && (state_known ? m.bridges : seen);
  m.bridges = !state_known && (m.bridges || seen);
  m.state_lost = !state_known;
  if (dt > kLateCycle && m.drives_arm && m.parameters.blend_time > 0) m.changed = true;
  m.drives_arm = true;
  if (!state_known) {
    if (m.located) {
      if (m.takes_reference()) m.fade_reference(dt);
      m.dynamics.gravity(m.q_valid, tau);
    } else {
      for (std::size_t i = 0; i < m.n; ++i) tau[i] = std::isfinite(m.last[i]) ? m.last[i] : 0;
    }
    m.finish(tau, dt);
  } else {
    m.located = true;
    std::copy_n(q.begin(), m.n, m.q_valid.begin());
    std::copy_n(qd.begin(), m.n, m.qd_valid.begin());
    if (!m.takes_reference()) {
      std::copy_n(q.begin(), m.n, m.q_ref.begin());
      std::copy_n(qd.begin(), m.n, m.qd_ref.begin());
    }
    m.command_acceleration(dt);
    m.dynamics.inverse_dynamics(m.q_valid, m.qd_valid, m.v, tau);
    if (m.parameters.friction > 0) m.feed_friction(tau, dt);
    if (m.parameters.kind == LawKind::kTrackingIntegral) m.relax(tau);
    m.finish(tau, dt);
  }
  if (m.bad_cycles >= m.parameters.error_cycles) return LawStatus::kError;
  if (!state_known) return LawStatus::kStateHeld;
  return reference_known ? LawStatus::kOk : LawStatus::kReferenceHeld;
}

std::span<const double> ControlLaw::integral() const noexcept { return impl_->sum; }
std::span<const double> ControlLaw::acceleration() const noexcept { return impl_->v; }
Reference ControlLaw::reference() const noexcept {
  return {impl_->q_ref, impl_->qd_ref, impl_->qdd_ref};
}
Reference ControlLaw::followed() const noexcept {
  return {impl_->q_ref_used, impl_->qd_ref_used, impl_->qdd_ref_used};
}

Departure ControlLaw::departure() const noexcept { return impl_->departure; }

TorqueTerms ControlLaw::terms() noexcept {
  Impl& m = *impl_;
  const std::size_t n = m.n;
  const auto part = [&](std::size_t k) { return std::span(m.terms).subspan(k * n, n); };
  const auto inertia = part(0), coriolis = part(1), gravity = part(2), friction = part(3),
             feedback = part(4), limit = part(5);
  std::fill(m.terms.begin(), m.terms.end(), 0.0);
  if (m.located) m.dynamics.gravity(m.q_valid, gravity);
  if (!m.state_lost) {
    m.dynamics.bias(m.q_valid, m.qd_valid, coriolis);
    m.dynamics.inertia_matrix(m.q_valid, m.inertia);
    for (std::size_t i = 0; i < n; ++i) {
      coriolis[i] -= gravity[i];
      friction[i] = m.friction[i];
      for (std::size_t j = 0; j < n; ++j) {
        const double ahead = m.takes_rates() ? m.qdd_ref_used[j] : 0;
        inertia[i] += m.inertia[i * n + j] * ahead;
        feedback[i] += m.inertia[i * n + j] * (m.v[j] - ahead);
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    limit[i] =
        m.last[i] - inertia[i] - coriolis[i] - gravity[i] - friction[i] - feedback[i] - m.offset[i];
  }
  return {inertia, coriolis, gravity, friction, feedback, m.offset, limit, m.last};
}

bool ControlLaw::saturated(int joint) const noexcept {
  return impl_->cut[static_cast<std::size_t>(joint)] != 0;
}

}  // namespace ga_controllers
