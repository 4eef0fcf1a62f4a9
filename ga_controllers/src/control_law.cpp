// SPDX-License-Identifier: Apache-2.0
#include "ga_controllers/control_law.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "cycle.hpp"
#include "decoupled_saturation.hpp"
#include "followed_reference.hpp"
#include "friction_feedforward.hpp"
#include "hand_guiding.hpp"
#include "law_parameters.hpp"
#include "measured_arm.hpp"
#include "model_correction.hpp"
#include "payload_blend.hpp"
#include "rest_latch.hpp"
#include "state_observer.hpp"
#include "torque_limiter.hpp"

namespace ga_controllers {

using ga_dynamics::Chain;

namespace {

/// After a cycle longer than kLateCycle [s] and kLateRatio times the previous one, the law restarts
/// at the measured state, as after a change of law: the old torque has moved the arm meanwhile.
constexpr double kLateCycle = 0.05, kLateRatio = 2;
constexpr double kLongestCycle = 1;  ///< s
/// A measured position farther from the observed one than a joint without a faster limit moves at
/// kJumpSpeed [rad/s] in kJumpTime [s] is an encoder glitch. It is ignored for kJumpCycles; then the
/// observer restarts there.
constexpr double kJumpTime = 0.05, kJumpSpeed = 10;
constexpr int kJumpCycles = 3;
/// Velocity limits; a measured velocity beyond is not believed after the observer has started.
constexpr double kFastestStart = 3;
/// Velocity limits; a measured velocity that differs by more, and by more than kPushes times the torque
/// limit explains, both from the previous and from the observed one is not believed either. At most
/// kFarthest of the limit.
constexpr double kVelocityJump = 0.1, kPushes = 4, kFarthest = 0.5;
/// Share of the torque limit that the disturbance estimate may use: an arm that presses on an
/// obstacle must not use all of it.
constexpr double kDisturbanceShare = 0.5;
/// Cycles between updates of the inertia matrix that jumps of the reference are judged with. The
/// configuration hardly changes within this time.
constexpr int kInertiaCycles = 20;
/// After a start the observer has to find the disturbance. Until then the measured velocity counts,
/// with a share that decays like the observer's error: three equal time constants [s].
constexpr double kObserverStart = 0.0125, kObserved = 15;

/// The share of the measured velocity at a time after the start, in time constants.
double measured_share(double x) noexcept {
  return x < kObserved ? (1 + x * (1 + x / 2)) * std::exp(-x) : 0;
}

/// Consecutive cycles for which the state of a moving arm may stay the same.
constexpr int kOldCycles = 10;
/// rad, rad/s; larger values are not a state of an arm.
constexpr double kMaxMagnitude = 1e6;
/// Bound of the disturbance estimate: times the acceleration at the torque limit, and rad/s².
constexpr double kMostDisturbance = 5, kLargestDisturbance = 1e6;
/// Relative difference from which on the observer takes the commanded torque, not the wanted one.
constexpr double kTorqueDifference = 1e-6;
/// Torque terms that terms() computes.
constexpr std::size_t kTerms = 6;

}  // namespace

std::string to_string(LawStatus status) {
  switch (status) {
    case LawStatus::kOk:
      return "ok";
    case LawStatus::kReferenceHeld:
      return "the reference is not finite: holding the last valid position";
    case LawStatus::kStateHeld:
      return "the measured state is not finite: compensating gravity at the last valid position";
    case LawStatus::kError:
      return "non-finite inputs for error_cycles consecutive updates";
  }
  return "unknown";
}

struct ControlLaw::Impl {
  Impl(const Chain& chain, const LawParameters& parameters)
      : setting(chain, parameters),
        blend_enabled(parameters.blend_time > 0),
        error_cycles(parameters.error_cycles),
        arm(chain, torque_limits(chain, parameters)),
        payload(chain, parameters.blend_time),
        reference(chain, parameters, arm),
        friction(parameters, arm),
        hand(parameters, arm),
        observer(arm.size()),
        latch(parameters, arm.size()),
        integral_limit(parameters.integral_limit),
        saturation(arm.size()),
        output(arm.torque_limit, handover_limits(chain, parameters),
               torque_rate_limits(chain, parameters), parameters.blend_time),
        v(arm.size()),
        measured_q(arm.size()),
        measured_qd(arm.size()),
        wanted(arm.size()),
        factor(arm.size() * arm.size()),
        subtracted(arm.size()),
        balanced(arm.size()),
        no_torque(arm.size(), std::numeric_limits<double>::quiet_NaN()),
        start_torque_(arm.size()),
        described(arm.size()),
        found(arm.size()),
        disturbance_torque(arm.size()),
        terms(kTerms * arm.size()),
        terms_inertia(arm.size() * arm.size()) {
    for (std::size_t i = 0; i < arm.size(); ++i) tune_observer(i);
    if (parameters.adaptation.enabled) {
      correction = std::make_unique<ModelCorrection>(chain, parameters, arm.torque_limit);
    }
    if (parameters.payload.mass > 0) {
      payload.set(parameters.payload);
      payload.start(false, arm);
      reference.set_payload(payload.present());
    }
  }

  void tune_observer(std::size_t joint) noexcept {
    // Laws that do not subtract the disturbance estimate it, too: the velocity is better for it.
    JointGains gains = setting.gains[joint];
    if (!setting.integrates()) gains.ki = 0;
    const double bandwidth = observer_bandwidth(gains);
    observer.set_joint(joint, bandwidth, largest_disturbance(joint));
    latch.set_standstill(joint, bandwidth);
  }

  /// rad/s², with the last inertia.
  double largest_disturbance(std::size_t joint) const noexcept {
    return std::min(kMostDisturbance * arm.max_acceleration(joint), kLargestDisturbance);
  }
  void update_inertia() noexcept {
    arm.update_inertia();
    for (std::size_t i = 0; i < arm.size(); ++i) observer.set_limit(i, largest_disturbance(i));
  }

  /// True if there is one value per joint and an arm can have them all. A number like 1e300, from a
  /// corrupted message, would leave infinities behind in what the law remembers.
  bool plausible(std::span<const double> values) const noexcept {
    if (values.size() < arm.size()) return false;
    bool all = true;
    for (std::size_t i = 0; i < arm.size(); ++i) all &= std::abs(values[i]) <= kMaxMagnitude;
    return all;
  }

  /// Starts a cycle. When the measured state is lost or recovered, the torque is blended: the part
  /// beyond gravity compensation (motion, payload) fades out, and fades in again on recovery.
  Cycle begin_cycle(bool state_known, double dt) noexcept {
    const bool had_state = has_state && !state_lost;
    const bool state_transition = blend_enabled && (state_known ? holding_last_state : had_state);
    holding_last_state = !state_known && (holding_last_state || had_state);
    state_lost = !state_known;
    if (dt > kLateCycle && dt > kLateRatio * last_dt && updated && blend_enabled) {
      changed = restart_observer = true;
    }
    last_dt = dt;
    updated = true;
    return {dt, changed, state_transition, output.last()};
  }

  void follow(const Cycle& cycle) noexcept {
    const bool jumped = reference.advance(cycle, setting, friction, arm);
    for (std::size_t i = 0; i < arm.size(); ++i) {
      if (cycle.changed) friction.begin(i, reference.blend_acceleration(i, arm, setting));
      if (jumped) friction.blend(i, reference.blend_acceleration(i, arm, setting));
      if (reference.near(i)) friction.settle(i);
    }
  }

  /// rad/s², the largest disturbance that a law with integral action subtracts.
  double most_compensated(std::size_t i) const noexcept {
    const double ki = setting.gains[i].ki;
    if (!(ki > 0)) return 0;
    return std::min(ki * integral_limit, kDisturbanceShare * arm.max_acceleration(i));
  }

  /// A step to the new payload, from the commanded acceleration and its torque.
  void blend_payload(const Cycle& cycle, std::span<double> tau) noexcept {
    const bool estimates = setting.takes_reference();
    for (std::size_t i = 0; i < arm.size(); ++i) {
      subtracted[i] = setting.integrates() ? most_compensated(i) : 0;
      balanced[i] = estimates ? kDisturbanceShare * arm.max_acceleration(i)
                              : std::numeric_limits<double>::infinity();
    }
    // The payload is balanced in the described model, whatever the adaptation has found.
    if (correction) {
      arm.dynamics.inverse_dynamics(arm.q, arm.qd, v, described);
      for (std::size_t i = 0; i < arm.size(); ++i) found[i] = tau[i] - described[i];
    }
    const std::span<double> torque = correction ? std::span<double>(described) : tau;
    payload.advance(cycle, {subtracted, balanced, estimates}, v, torque, observer, arm);
    reference.set_payload(payload.present());
    if (!correction) return;
    correction->set_payload(payload.present());
    for (std::size_t i = 0; i < arm.size(); ++i) tau[i] = described[i] + found[i];
  }

  /// 1/s; none for a latched joint that stands, all for one that moves twice as fast.
  double damping(std::size_t i) const noexcept {
    const double moves = std::abs(arm.qd[i]) / latch.standstill(i) - 1;  // NaN, ∞: no dead band
    const double share = moves <= 1 ? std::max(moves, latch.feedback(i)) : 1;
    return share * setting.gains[i].kd;
  }

  /// Computes v by the formulas at the top of control_law.hpp.
  void command_acceleration() noexcept {
    const Motion& r = reference.followed();
    const std::span<const double> d = observer.disturbance();
    for (std::size_t i = 0; i < v.size(); ++i) {
      const JointGains& g = setting.gains[i];
      const double q = arm.q[i], qd = arm.qd[i], e = q - r.q[i];
      // Limited here and not in the observer, whose position and velocity would be wrong otherwise.
      const double most = most_compensated(i);
      const double compensated = std::clamp(d[i], -most, most);
      switch (setting.kind) {
        case LawKind::kGravityCompensation:
          v[i] = -g.kd * qd;
          break;
        case LawKind::kHandGuiding:
          v[i] = 0;
          break;
        case LawKind::kPointToPoint:
          v[i] = -g.kd * qd - g.kp * e;
          break;
        case LawKind::kTracking:
          v[i] = r.qdd[i] - g.kd * (qd - r.qd[i]) - g.kp * e;
          break;
        case LawKind::kTrackingIntegral:
        case LawKind::kGravityHold:
          v[i] = (latch.latched(i) ? 0 : r.qdd[i]) - latch.feedback(i) * g.kp * e -
                 damping(i) * (qd - r.qd[i]) - compensated;
          break;
      }
    }
  }

  /// Feed-forward torque of a reference that starts to accelerate from rest in this cycle; empty
  /// otherwise. It must not be blended in, or the arm would leave the path at its start.
  std::span<const double> start_torque(const Cycle& cycle) noexcept {
    if (!cycle.changed || state_lost || !reference.starts_from_rest(setting, arm)) return {};
    const std::size_t n = arm.size();
    for (std::size_t i = 0; i < n; ++i) {
      start_torque_[i] = 0;
      for (std::size_t j = 0; j < n; ++j) {
        start_torque_[i] += arm.inertia[i * n + j] * reference.followed().qdd[j];
      }
    }
    return start_torque_;
  }

  /// Computes the unlimited torque of the law at the measured state.
  void drive(const Cycle& cycle, std::span<double> tau) noexcept {
    const bool integrates = setting.integrates();
    if (!setting.takes_reference()) reference.take_measured(arm, cycle.dt);
    follow(cycle);
    if (integrates) latch.advance(reference, cycle.dt, observer, arm);
    command_acceleration();
    if (cycle.changed && correction) correction->restart(setting, arm, friction);
    if (setting.hand_guided()) {
      hand.torque(cycle, arm, tau);
    } else if (correction && setting.takes_rates()) {
      correction->torque(cycle, v, reference.followed(), arm, tau);
    } else {
      arm.dynamics.inverse_dynamics(arm.q, arm.qd, v, tau);
    }
    // In hand guiding a payload waits: nothing would balance a wrong one.
    if (payload.active() && !setting.hand_guided()) blend_payload(cycle, tau);
    if (friction.enabled() && !setting.hand_guided()) {
      const Motion& r = reference.followed();
      if (setting.takes_rates()) {
        friction.add(cycle, r.qd, r.qdd, tau);
      } else {
        friction.add(cycle, arm.qd, {}, tau);
      }
    }
    if (integrates) latch.settle(tau, friction.torque(), cycle.dt, observer, arm);
    std::copy_n(tau.begin(), arm.size(), wanted.begin());
    saturation.apply(arm, tau);
  }

  /// Computes the torque without a measured state: gravity compensation at the last valid position,
  /// or the previous torque if there is none.
  void hold(const Cycle& cycle, std::span<double> tau) noexcept {
    if (has_state) {
      if (setting.takes_reference()) follow(cycle);
      (correction && setting.takes_rates() ? correction->dynamics() : arm.dynamics)
          .gravity(arm.q, tau);
      return;
    }
    for (std::size_t i = 0; i < arm.size(); ++i) {
      const double before = cycle.torque_before[i];
      tau[i] = std::isfinite(before) ? before : 0;
    }
  }

  /// Estimates the state from the measured one.
  void observe(std::span<const double> q, std::span<const double> qd, double dt) noexcept {
    if (setting.kind == LawKind::kGravityCompensation || setting.hand_guided()) {
      // A person moves the arm, too. Gravity compensation: its torque need not be the one that drives the arm.
      std::copy_n(q.begin(), arm.size(), arm.q.begin());
      std::copy_n(qd.begin(), arm.size(), arm.qd.begin());
      restart_observer = true;
      return;
    }
    if (restart_observer) {
      for (std::size_t i = 0; i < arm.size(); ++i) measured_qd[i] = possible_velocity(i, qd[i]);
      observer.reset(q, measured_qd);
      restart_observer = false;
      observed_time = 0;
      jumps = 0;
    } else if (is_old(q, qd) || is_jump(q, dt)) {
      observer.predict(dt);
    } else {
      jumps = 0;
      observer.update(q, dt);
      observed_time += dt;
    }
    const double measured = measured_share(observed_time / kObserverStart);
    for (std::size_t i = 0; i < arm.size(); ++i) {
      const double observed = observer.velocity()[i];
      arm.q[i] = observer.position()[i];
      arm.qd[i] = observed;
      if (measured > 0) arm.qd[i] += measured * (believed_velocity(i, qd[i], dt) - observed);
    }
    std::copy_n(q.begin(), arm.size(), measured_q.begin());
    std::copy_n(qd.begin(), arm.size(), measured_qd.begin());
  }

  double possible_velocity(std::size_t i, double measured) const noexcept {
    const double most = kFastestStart * std::min(arm.limits[i].velocity, kJumpSpeed);
    return std::clamp(measured, -most, most);
  }

  /// The measured velocity, or the observed one if that is a single wrong sample.
  double believed_velocity(std::size_t i, double measured, double dt) const noexcept {
    const double fastest = std::min(arm.limits[i].velocity, kJumpSpeed);
    const double pushed = kPushes * arm.max_acceleration(i) * dt;
    const double near = std::min(kVelocityJump * fastest + pushed, kFarthest * fastest);
    const double observed = observer.velocity()[i], velocity = possible_velocity(i, measured);
    const bool lasts = std::abs(velocity - measured_qd[i]) <= near;
    return lasts || std::abs(velocity - observed) <= near ? velocity : observed;
  }

  /// True for positions that the arm cannot have reached.
  bool is_jump(std::span<const double> q, double dt) noexcept {
    bool far = false;
    for (std::size_t i = 0; i < arm.size(); ++i) {
      const double fastest = std::min(arm.limits[i].velocity, kJumpSpeed);
      const double way = std::abs(q[i] - observer.position()[i]);
      far = far || !(way <= std::max(kJumpTime, 4 * dt) * fastest);
    }
    if (far && ++jumps > kJumpCycles) restart_observer = true;
    return far;
  }

  /// True if a moving arm has the same state as in the previous cycle, to the last bit: it could not
  /// be read. A joint that stands, with velocity zero, may have the same position for ever.
  bool is_old(std::span<const double> q, std::span<const double> qd) noexcept {
    bool moves = false, same = true;
    for (std::size_t i = 0; i < arm.size() && same; ++i) {
      moves = moves || qd[i] != 0;
      same = q[i] == measured_q[i] && qd[i] == measured_qd[i];
    }
    old_cycles = same && moves && old_cycles < kOldCycles ? old_cycles + 1 : 0;
    return old_cycles > 0;
  }

  /// Solves D x = `vector` in place. False for an arm with a massless joint.
  bool solve(std::span<double> vector) noexcept {
    arm.update_inertia();
    arm.solve_inertia(vector, factor);
    return all_finite(vector, arm.size());
  }

  /// Tells the observer the acceleration of the commanded torque, which may differ from the wanted
  /// one by saturation and blending, and may lack friction that is fed forward later.
  void expect(std::span<const double> tau) noexcept {
    bool differs = false, late = false;
    const std::span<const double> missing = friction.missing();
    for (std::size_t i = 0; i < arm.size(); ++i) {
      const double least = kTorqueDifference * std::min(arm.torque_limit[i], 1e3);
      wanted[i] = tau[i] - wanted[i];
      differs = differs || std::abs(wanted[i]) > least;
      late = late || missing[i] != 0;
      wanted[i] -= missing[i];
    }
    // What friction lacks lasts for some cycles: the last inertia, of 20 cycles ago at most, will do.
    if (differs) arm.update_inertia();
    if (differs || late) arm.solve_inertia(wanted, factor);
    if (!(differs || late) || !all_finite(wanted, arm.size())) {
      observer.expect(v);
      return;
    }
    const std::span<const double> d = observer.disturbance();
    for (std::size_t i = 0; i < arm.size(); ++i) {
      wanted[i] += v[i];
      if (missing[i] == 0) continue;
      // Friction stops a joint, but does not drive it back.
      const double ahead = std::copysign(1.0, missing[i]);
      const bool stands = ahead * observer.velocity()[i] <= latch.standstill(i);
      if (stands && ahead * (wanted[i] + d[i]) < 0) wanted[i] = -d[i];
    }
    observer.expect(wanted);
  }

  /// Passes the cycle to the adaptation, which corrects the model.
  void adapt(const Cycle& cycle, std::span<const double> tau) noexcept {
    for (std::size_t i = 0; i < arm.size(); ++i) {
      subtracted[i] = setting.integrates() ? most_compensated(i) : 0;
    }
    const bool observed = observed_time > kObserved * kObserverStart;
    correction->advance(cycle, {tau, v, subtracted, observed},
                        {setting, arm, reference, friction, observer, latch, payload});
  }

  /// Bumpless transfer of a law with integral action: the torque before the change, as far as it
  /// differs from the law's, balances a disturbance (a payload) that the law does not know yet.
  void take_over() noexcept {
    if (!starting || !setting.integrates() || output.exceeds_limit()) return;
    for (const JointGains& g : setting.gains) {
      if (!(g.ki > 0)) return;
    }
    std::copy_n(output.blend().begin(), arm.size(), wanted.begin());
    if (!solve(wanted)) return;
    for (std::size_t i = 0; i < arm.size(); ++i) observer.add_disturbance(i, -wanted[i]);
    output.end_blend();
  }

  LawSetting setting;
  const bool blend_enabled;
  const int error_cycles;
  MeasuredArm arm;
  PayloadBlend payload;
  FollowedReference reference;
  FrictionFeedforward friction;
  HandGuiding hand;
  StateObserver observer;
  RestLatch latch;
  const double integral_limit;  ///< rad s
  DecoupledSaturation saturation;
  TorqueLimiter output;
  std::vector<double> v;
  std::vector<double> measured_q, measured_qd;  ///< of the previous cycle
  std::vector<double> wanted;  ///< N m, before saturation; scratch of expect() and take_over()
  std::vector<double> factor;  ///< scratch of solve()
  std::vector<double> subtracted, balanced;     ///< scratch of blend_payload() and adapt()
  const std::vector<double> no_torque;          ///< NaN: the arm was not driven before
  std::vector<double> start_torque_;            ///< scratch of start_torque()
  std::vector<double> described, found;         ///< scratch of blend_payload()
  std::vector<double> disturbance_torque;       ///< scratch of ControlLaw::disturbance_torque()
  std::unique_ptr<ModelCorrection> correction;  ///< null without adaptation
  std::vector<double> terms, terms_inertia;     ///< scratch of ControlLaw::terms()
  bool changed = false;             ///< a change is pending until an update has a valid state
  bool updated = false;             ///< update() has run
  bool restart_observer = true;     ///< the observed state is not valid
  int jumps = 0;                    ///< consecutive implausible positions
  int old_cycles = 0;               ///< consecutive ones with the same measured state
  bool starting = false;            ///< the pending change is a start
  double observed_time = 0;         ///< s, since the observer was restarted
  bool started = false;             ///< start() was called
  double last_dt = 0;               ///< s, previous cycle
  bool holding_last_state = false;  ///< the state was valid before and is not now
  bool has_state = true;   ///< a valid state was measured since start(); true before start()
  bool state_lost = true;  ///< the last update had no valid state
  int bad_cycles = 0;
  int inertia_age = 0;  ///< cycles
};

ControlLaw::ControlLaw(const Chain& chain, const LawParameters& parameters) {
  check(chain, parameters);
  impl_ = std::make_unique<Impl>(chain, parameters);
}
ControlLaw::~ControlLaw() = default;
ControlLaw::ControlLaw(ControlLaw&&) noexcept = default;
ControlLaw& ControlLaw::operator=(ControlLaw&&) noexcept = default;

int ControlLaw::size() const noexcept { return static_cast<int>(impl_->arm.size()); }
LawKind ControlLaw::kind() const noexcept { return impl_->setting.kind; }

void ControlLaw::start(std::span<const double> q, std::span<const double> qd,
                       std::span<const double> last_torque) noexcept {
  Impl& m = *impl_;
  const std::size_t n = m.arm.size();
  m.has_state = m.plausible(q) && m.plausible(qd);
  if (m.has_state) {
    std::copy_n(q.begin(), n, m.arm.q.begin());
    std::copy_n(qd.begin(), n, m.arm.qd.begin());
  }
  m.payload.start(m.setting.takes_reference(), m.arm);
  m.reference.set_payload(m.payload.present());
  if (m.correction) {
    m.correction->start(m.payload.present(), last_torque, m.arm);
  }
  m.reference.start(q, qd, m.has_state);
  m.latch.clear(m.observer);
  m.observer.clear_disturbance();
  m.restart_observer = m.starting = true;
  m.output.start(last_torque.size() >= n ? last_torque : std::span<const double>(m.no_torque));
  m.started = true;
  m.changed = true;
  m.holding_last_state = false;
  m.bad_cycles = 0;
}

void ControlLaw::change(LawKind kind) noexcept {
  if (kind == impl_->setting.kind) return;
  impl_->setting.kind = kind;
  // Gravity hold holds the arm where it is, not where another law was to take it.
  if (kind == LawKind::kGravityHold && impl_->has_state) {
    impl_->reference.start(impl_->arm.q, impl_->arm.qd, true);
  }
  for (std::size_t i = 0; i < impl_->arm.size(); ++i) impl_->tune_observer(i);
  impl_->latch.clear(impl_->observer);
  impl_->changed = true;
}

bool ControlLaw::change_gains(std::span<const JointGains> gains) noexcept {
  const std::size_t n = impl_->arm.size();
  const bool sound = std::all_of(gains.begin(), gains.end(), usable);
  if (!sound || (gains.size() != 1 && gains.size() != n)) return false;
  for (std::size_t i = 0; i < n; ++i) {
    JointGains& to = impl_->setting.gains[i];
    const JointGains& from = gains[gains.size() == n ? i : 0];
    if (from == to) continue;
    to = from;
    impl_->tune_observer(i);
    impl_->changed = true;
  }
  return true;
}

bool ControlLaw::set_payload(const ga_dynamics::Payload& payload) noexcept {
  if (!impl_->payload.set(payload)) return false;
  if (impl_->correction) impl_->correction->estimator().doubt_payload();
  return true;
}

const ga_dynamics::Payload& ControlLaw::payload() const noexcept {
  return impl_->payload.present();
}

LawStatus ControlLaw::update(std::span<const double> q, std::span<const double> qd,
                             const Reference& reference, double dt,
                             std::span<double> tau) noexcept {
  Impl& m = *impl_;
  const std::size_t n = m.arm.size();
  if (tau.size() < n) return LawStatus::kError;
  const bool state_known = m.plausible(q) && m.plausible(qd);
  dt = dt >= 0 ? std::min(dt, kLongestCycle) : 0;
  if (!m.started) start(q, qd, m.no_torque);
  if (++m.inertia_age >= kInertiaCycles) {
    m.inertia_age = 0;
    if (m.setting.takes_reference() || m.setting.hand_guided()) m.update_inertia();
  }
  const bool reference_taken =
      !m.setting.takes_reference() ||
      m.reference.take(m.setting.kind == LawKind::kGravityHold ? Reference{} : reference, dt,
                       m.setting, m.arm);
  const Cycle cycle = m.begin_cycle(state_known, dt);
  if (state_known) {
    // A law that started without a state holds the first position that it measures.
    if (!m.has_state) m.reference.start(q, qd, true);
    m.has_state = true;
    m.observe(q, qd, dt);
    m.drive(cycle, tau);
  } else {
    m.restart_observer = true;
    m.hold(cycle, tau);
  }
  const bool reference_known =
      reference_taken && !(m.setting.takes_reference() && m.reference.failed());
  m.bad_cycles = state_known && reference_known ? 0 : std::min(m.bad_cycles + 1, m.error_cycles);
  m.output.apply(cycle, tau, m.start_torque(cycle), m.setting, m.arm);
  if (state_known) {
    m.expect(tau);
    if (cycle.changed) m.take_over();
    if (m.correction) m.adapt(cycle, tau);
  }
  m.changed = m.changed && !m.has_state;
  m.starting = m.starting && m.changed;
  if (m.bad_cycles >= m.error_cycles) return LawStatus::kError;
  if (!state_known) return LawStatus::kStateHeld;
  return reference_known ? LawStatus::kOk : LawStatus::kReferenceHeld;
}

std::span<const double> ControlLaw::disturbance() const noexcept {
  return impl_->observer.disturbance();
}
std::span<const double> ControlLaw::disturbance_torque() noexcept {
  Impl& m = *impl_;
  const std::size_t n = m.arm.size();
  const std::span<const double> d = m.observer.disturbance();
  for (std::size_t i = 0; i < n; ++i) {
    m.disturbance_torque[i] = 0;
    for (std::size_t j = 0; j < n; ++j) m.disturbance_torque[i] += m.arm.inertia[i * n + j] * d[j];
  }
  return m.disturbance_torque;
}
std::span<const double> ControlLaw::acceleration() const noexcept { return impl_->v; }
Reference ControlLaw::reference() const noexcept { return impl_->reference.given().view(); }
Reference ControlLaw::followed() const noexcept { return impl_->reference.followed().view(); }
LimitViolation ControlLaw::limit_violation() const noexcept {
  return impl_->reference.limit_violation();
}
TimeScale ControlLaw::time_scale() const noexcept {
  const TimeScaling* scaling = impl_->reference.scaling();
  if (scaling == nullptr) return {};
  return {scaling->rate(), scaling->lag(), scaling->blocked(), scaling->slowed_by_user(),
          scaling->lost()};
}

void ControlLaw::set_speed(double speed) noexcept {
  if (TimeScaling* scaling = impl_->reference.scaling()) scaling->set_speed(speed);
}

AdaptedModel ControlLaw::adapted_model() const noexcept {
  if (!impl_->correction) return {};
  AdaptedModel model = impl_->correction->estimator().estimate();
  model.paused = model.paused || impl_->payload.active();
  return model;
}
void ControlLaw::reset_adaptation() noexcept {
  if (impl_->correction) impl_->correction->estimator().reset();
}

TorqueTerms ControlLaw::terms() noexcept {
  Impl& m = *impl_;
  MeasuredArm& arm = m.arm;
  const std::size_t n = arm.size();
  const auto part = [&](std::size_t k) { return std::span(m.terms).subspan(k * n, n); };
  const auto inertia = part(0), coriolis = part(1), gravity = part(2), friction = part(3),
             feedback = part(4), limit = part(5);
  std::fill(m.terms.begin(), m.terms.end(), 0.0);
  const bool adapted = m.correction && m.setting.takes_rates();
  ga_dynamics::Dynamics& model = adapted ? m.correction->dynamics() : arm.dynamics;
  if (m.has_state) model.gravity(arm.q, gravity);
  if (!m.state_lost) {
    model.bias(arm.q, arm.qd, coriolis);
    model.inertia_matrix(arm.q, m.terms_inertia);
    const std::span<const double> loop =
        adapted ? std::span<const double>(arm.inertia) : std::span<const double>(m.terms_inertia);
    for (std::size_t i = 0; i < n; ++i) {
      coriolis[i] -= gravity[i];
      friction[i] = m.friction.torque()[i];
      for (std::size_t j = 0; j < n; ++j) {
        const double ahead = m.setting.takes_rates() ? m.reference.followed().qdd[j] : 0;
        inertia[i] += m.terms_inertia[i * n + j] * ahead;
        feedback[i] += loop[i * n + j] * (m.v[j] - ahead);
      }
    }
  }
  if (m.setting.hand_guided() && !m.state_lost) {
    std::fill(coriolis.begin(), coriolis.end(), 0.0);
    std::copy(m.hand.friction().begin(), m.hand.friction().end(), friction.begin());
    std::copy(m.hand.feedback().begin(), m.hand.feedback().end(), feedback.begin());
  }
  const std::span<const double> blend = m.output.blend(), total = m.output.last();
  for (std::size_t i = 0; i < n; ++i) {
    limit[i] =
        total[i] - inertia[i] - coriolis[i] - gravity[i] - friction[i] - feedback[i] - blend[i];
  }
  return {inertia, coriolis, gravity, friction, feedback, blend, limit, total};
}

bool ControlLaw::saturated(int joint) const noexcept {
  const auto i = static_cast<std::size_t>(joint);
  return i < impl_->arm.size() && impl_->output.saturation()[i] != 0;
}

namespace {
constexpr std::uint64_t kKeptTorque = 0x7FF8'0000'6B65'7074;  // quiet NaN, "kept"
}  // namespace

double kept_torque() noexcept { return std::bit_cast<double>(kKeptTorque); }
bool is_kept_torque(double command) noexcept {
  return std::bit_cast<std::uint64_t>(command) == kKeptTorque;
}

}  // namespace ga_controllers
