// SPDX-License-Identifier: Apache-2.0
#include "ga_controllers/control_law.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "ga_dynamics/cholesky.hpp"
#include "ga_dynamics/dynamics.hpp"

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
constexpr double kJump = 0.01, kShareOfSmoothing = 0.25, kSlewOfSmoothing = 5;

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
        inertia(n * n),
        q_ref_used(n),
        qd_ref_used(n),
        qdd_ref_used(n),
        v(n),
        offset(n),
        last(n),
        cut(n),
        friction(n),
        terms(kTerms * n) {
    for (std::size_t i = 0; i < n; ++i) {
      drives[i] = chain.joints()[i].drive;
      limit[i] =
          given.torque_limit.empty() ? chain.joints()[i].limits.effort : given.torque_limit[i];
      lower[i] = chain.joints()[i].limits.lower;
      upper[i] = chain.joints()[i].limits.upper;
      if (!given.torque_rate_limit.empty()) rate_limit[i] = given.torque_rate_limit[i];
    }
  }

  bool takes_reference() const { return parameters.kind != LawKind::kGravityHold; }
  bool takes_rates() const {
    return parameters.kind == LawKind::kTracking || parameters.kind == LawKind::kTrackingIntegral;
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
      } else if (qd_ref[i] != 0) {
        // As far as the arm runs while its velocity fades, so that it need not come back.
        q = std::clamp(q + qd_ref[i] * parameters.blend_time, std::min(q, lower[i]),
                       std::max(q, upper[i]));
      }
      // What the accelerations explain is no jump: a trajectory may step its acceleration.
      const double speed_up = (std::abs(qdd_ref[i]) + std::abs(qdd)) * dt;
      const double dq = std::abs(q - q_ref[i] - (qd_ref[i] + qd) / 2 * dt) - speed_up * dt;
      const double dqd = std::abs(qd - qd_ref[i]) - speed_up;
      const double dv = gains[i].kp * std::max(dq, 0.0) + gains[i].kd * std::max(dqd, 0.0);
      if (inertia[i * n + i] * dv > kJump * limit[i]) jumped = true;
      q_ref[i] = q;
      qd_ref[i] = qd;
      qdd_ref[i] = qdd;
    }
    return good || none;
  }

  /// After a change the reference starts at the arm and moves over to the given one, as a
  /// critically damped motion: a law that is switched on far from its reference does not jump at
  /// it. Slower for larger errors, so that a quarter of the joint's torque is enough.
  void fade_from_arm() {
    dynamics.inertia_matrix(q_valid, inertia);
    since_change = 0;
    for (std::size_t i = 0; i < n; ++i) {
      Fading& f = fading[i];
      const bool fades = takes_reference() && parameters.blend_time > 0;
      f.error = fades ? q_valid[i] - q_ref[i] : 0;
      f.rate = fades ? qd_valid[i] - qd_ref[i] : 0;
      f.bend = 0;
      f.decay = 1 / (fades ? parameters.blend_time : 1);
      const double available =
          kShareOfSmoothing * limit[i] / (inertia[i * n + i] * std::abs(f.error) + 1e-12);
      if (available < f.decay * f.decay) f.decay = std::sqrt(available);
    }
  }
  /// After a jump the reference goes on from where it was, with its velocity and acceleration, and
  /// swings over to the new one within the bandwidth and the torque: three equal real poles, the
  /// acceleration peaks at 0.23 decay² error or 0.8 decay rate, its derivative at decay³ error or
  /// 3 decay² rate.
  void fade_from_reference(double dt) {
    dynamics.inertia_matrix(q_valid, inertia);
    since_change = 0;
    for (std::size_t i = 0; i < n; ++i) {
      Fading& f = fading[i];
      const double qdd = qdd_ref_used[i], qd = qd_ref_used[i] + qdd * dt;
      f.error = q_ref_used[i] + (qd_ref_used[i] + qd) / 2 * dt - q_ref[i];
      f.rate = qd - qd_ref[i];
      const double strength = limit[i] / (inertia[i * n + i] + 1e-12);
      const double torque = kShareOfSmoothing * strength, slew = kSlewOfSmoothing * strength;
      const double error = std::abs(f.error) + 1e-12, rate = std::abs(f.rate) + 1e-12;
      f.decay = std::min({std::max(1 / parameters.blend_time, std::sqrt(gains[i].kp)),
                          std::sqrt(torque / (0.23 * error)), torque / (0.8 * rate),
                          std::cbrt(slew / error), std::sqrt(slew / (3 * rate))});
      f.bend = (qdd - qdd_ref[i] + 2 * f.decay * f.rate + f.decay * f.decay * f.error) / 2;
    }
  }
  void fade_reference(double dt) {
    if (jumped && !changed && parameters.blend_time > 0) fade_from_reference(dt);
    std::copy(q_ref.begin(), q_ref.end(), q_ref_used.begin());
    std::copy(qd_ref.begin(), qd_ref.end(), qd_ref_used.begin());
    std::copy(qdd_ref.begin(), qdd_ref.end(), qdd_ref_used.begin());
    if (changed) fade_from_arm();
    jumped = false;
    const double t = since_change;
    for (std::size_t i = 0; i < n; ++i) {
      // What is left: e = (error + slope t + bend t²) exp(−decay t), and its derivatives.
      const Fading& f = fading[i];
      if (f.decay * t > 40) continue;
      const double shrink = std::exp(-f.decay * t), slope = f.rate + f.decay * f.error;
      const double left = (f.error + (slope + f.bend * t) * t) * shrink;
      const double left_rate = (slope + 2 * f.bend * t) * shrink - f.decay * left;
      q_ref_used[i] += left;
      qd_ref_used[i] += left_rate;
      qdd_ref_used[i] +=
          (2 * f.bend - f.decay * (slope + 2 * f.bend * t)) * shrink - f.decay * left_rate;
    }
    since_change += dt;
  }

  double friction_torque(std::size_t i, double rate) const {
    const Drive& d = drives[i];
    const double coulomb = rate > 0 ? d.coulomb_positive : d.coulomb_negative;
    return parameters.friction *
           (d.viscous * rate + coulomb * std::tanh(rate / parameters.friction_velocity));
  }

  /// Integrates e, but not while its effect is cut off by a limit, nor rounding noise at rest.
  void integrate(std::size_t i, double e, double dt) {
    // The followed reference: after a change it moves although the given one may rest. One that
    // moves by less than the dead band in a second rests, unless it is turning back; and so does
    // one that is so slow that its friction is no longer fed forward in full.
    const double band = parameters.integral_dead_band;
    const bool at_goal = std::abs(e) < band;
    const double slow =
        std::max(band, parameters.friction > 0 ? 2 * parameters.friction_velocity : 0);
    const bool resting = std::abs(qd_ref_used[i]) <= slow && std::abs(qdd_ref_used[i]) <= 10 * slow;
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

  /// Fades the difference to the torque before the last change, then limits size and rate.
  void finish(std::span<double> tau, double dt) {
    const double fade = parameters.blend_time > 0 ? std::exp(-dt / parameters.blend_time) : 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double possible = std::clamp(tau[i], -limit[i], limit[i]);
      if (std::isnan(last[i])) last[i] = possible;  // nothing drove the joint before
      offset[i] = changed ? last[i] - possible : offset[i] * fade;
      const double reach = rate_limit[i] * dt;
      double given = std::clamp(possible + offset[i], -limit[i], limit[i]);
      if (reach < kNone) given = std::clamp(given, last[i] - reach, last[i] + reach);
      const double wanted = tau[i] + offset[i];
      cut[i] = wanted > given ? 1 : wanted < given ? -1 : 0;
      tau[i] = last[i] = given;
    }
    changed = changed && !located;
  }

  enum class Rest {
    kMoving,  ///< the reference moves
    kBeside,  ///< it rests, the joint is outside of the dead band
    kAtGoal
  };

  /// What is left of the difference between arm and reference at the last change.
  struct Fading {
    double error = 0, rate = 0;  ///< at the change
    double decay = 1;            ///< 1/s
    double bend = 0;             ///< of the part that grows with t², for a continuous acceleration
  };
  static constexpr std::size_t kTerms = 6;

  LawParameters parameters;
  std::size_t n;
  Dynamics dynamics;
  std::vector<JointGains> gains;
  std::vector<Drive> drives;
  std::vector<double> limit, rate_limit, lower, upper;
  std::vector<double> q_ref, qd_ref, qdd_ref;  ///< as used last
  std::vector<double> q_valid, qd_valid;       ///< last finite measurement
  std::vector<double> sum;
  std::vector<Rest> rests;
  std::vector<char> settled;  ///< rest_torque is of this rest
  std::vector<int> push;      ///< where the integral pushed last: +1, −1; 0: not in this rest
  std::vector<double> rest_torque;          ///< when the reference came to rest
  std::vector<double> pushed;               ///< what the law has added since, up to the friction
  std::vector<double> torque_step, factor;  ///< scratch of forget_pushes()
  std::vector<Fading> fading;
  std::vector<double> inertia;
  std::vector<double> q_ref_used, qd_ref_used, qdd_ref_used;
  std::vector<double> v, offset, last;
  std::vector<int> cut;          ///< +1 where the upper limit cuts, −1 where the lower one does
  std::vector<double> friction;  ///< fed forward in the last update
  std::vector<double> terms;     ///< scratch of ControlLaw::terms()
  bool changed = false, jumped = false;
  bool located = true;     ///< since start() there was a valid state, or there was no start()
  bool state_lost = true;  ///< the last update had no valid state: gravity is all there is
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
    m.last[i] = std::isfinite(last_torque[i]) ? std::clamp(last_torque[i], -m.limit[i], m.limit[i])
                                              : std::numeric_limits<double>::quiet_NaN();
    m.cut[i] = 0;
    m.settled[i] = false;
  }
  m.changed = true;
  m.located = known;
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
  m.state_lost = !state_known;
  if (!state_known) {
    if (m.located) {
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
    for (std::size_t i = 0; m.parameters.friction > 0 && i < m.n; ++i) {
      m.friction[i] = m.friction_torque(i, m.takes_rates() ? m.qd_ref_used[i] : m.qd_valid[i]);
      tau[i] += m.friction[i];
    }
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
