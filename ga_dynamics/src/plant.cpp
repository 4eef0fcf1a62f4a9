// SPDX-License-Identifier: Apache-2.0
#include "ga_dynamics/plant.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "ga_dynamics/algorithm/cholesky.hpp"
#include "ga_dynamics/algorithm/dormand_prince.hpp"
#include "least_constraint.hpp"

namespace ga_dynamics {
namespace {

/// A stop counts as reached this near to it, relative to its position where that is above 1.
constexpr double kStopTolerance = 1e-12;
/// Nearer than this to a stop, rad or m, it is worth a closer look.
constexpr double kNearStop = 1e-6;

/// rad/s or m/s: joints at stops that move more slowly are taken for resting there when one of them
/// is hit.
constexpr double kRestSpeed = 1e-5;
constexpr Restraint kHeldFast{Restraint::kRigid, Restraint::kRigid};

struct Joint {
  JointLimits limits;
  Drive drive;
  double brake_torque = 0;
  bool brake = false;
  bool locked = false;  ///< held by friction, brake or a stop
  int direction = 0;    ///< of sliding, while not locked
};

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument("Plant: " + what); }

/// std::isfinite as one comparison: it is asked in every stage of the integration.
bool is_finite(double x) { return std::abs(x) <= std::numeric_limits<double>::max(); }

bool all_finite(std::span<const double> values) {
  bool all = true;
  for (const double x : values) all &= is_finite(x);
  return all;
}

std::string shown(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

std::string name_of(const Chain& chain, std::size_t joint) {
  return "joint '" + chain.joints()[joint].name + "'";
}

void check(const Chain& chain, const PlantOptions& options) {
  if (!(options.sub_step > 0 && options.sub_step <= 0.1)) refuse("sub_step must be in (0, 0.1] s");
  if (!(options.tolerance > 0)) refuse("tolerance must be positive");
  if (!(options.static_ratio >= 1 && std::isfinite(options.static_ratio))) {
    refuse("static_ratio is " + shown(options.static_ratio) + "; give 1 or more");
  }
  if (!(options.impact_duration >= 0 && options.impact_duration <= 0.1)) {
    refuse("impact_duration is " + shown(options.impact_duration) + " s; give 0 to 0.1 s");
  }
  if (!options.brake_torque.empty() && options.brake_torque.size() != chain.joints().size()) {
    refuse("brake_torque must have one value per joint, or none");
  }
  for (std::size_t i = 0; i < options.brake_torque.size(); ++i) {
    const double torque = options.brake_torque[i];
    if (!(torque >= 0 && std::isfinite(torque))) {
      refuse(name_of(chain, i) + ": brake torque is " + shown(torque) +
             "; give 0 (no brake) or a positive torque");
    }
  }
}

}  // namespace

struct Plant::Impl {
  using State = std::vector<double>;  // q, then qd

  Impl(const Chain& chain, const PlantOptions& given)
      : options(given),
        n(chain.joints().size()),
        dynamics(chain, {.drives = Drives::kArmature}),
        joints(n),
        adaptive(2 * n, given.tolerance),
        state(2 * n),
        acceleration(n),
        command(n),
        net(n),
        inertia(n * n),
        bias(n),
        zero(n),
        reduced(n * n),
        right(n),
        load(n),
        solution(n),
        free(n),
        restraints(n),
        slips(n),
        least_constraint(n),
        start(2 * n),
        trial(2 * n) {
    for (auto& stage : stages) stage.resize(2 * n);
    for (std::size_t i = 0; i < n; ++i) {
      joints[i].limits = chain.joints()[i].limits;
      joints[i].drive = chain.joints()[i].drive;
      if (!options.friction) {
        joints[i].drive = {};
        joints[i].drive.armature = chain.joints()[i].drive.armature;
      }
      if (!options.brake_torque.empty()) joints[i].brake_torque = options.brake_torque[i];
    }
  }

  std::span<const double> positions(const State& x) const { return {x.data(), n}; }
  std::span<const double> rates(const State& x) const { return {x.data() + n, n}; }

  std::size_t index(int joint) const {
    if (joint < 0 || static_cast<std::size_t>(joint) >= n) {
      throw std::out_of_range("Plant: joint " + std::to_string(joint) +
                              " of an arm with joints 0 to " + std::to_string(n - 1));
    }
    return static_cast<std::size_t>(joint);
  }
  void check_size(std::span<const double> values, const char* what) const {
    if (values.size() != n) {
      refuse(std::string(what) + " has " + std::to_string(values.size()) + " values; the arm has " +
             std::to_string(n) + " joints");
    }
  }

  /// Friction torque while sliding in the positive or the negative direction; magnitudes.
  double sliding_friction(const Joint& j, int direction) const {
    return j.drive.coulomb(direction) + (j.brake ? j.brake_torque : 0);
  }
  bool braked(const Joint& j) const { return j.brake && j.brake_torque > 0; }
  bool has_dry_friction(const Joint& j) const {
    return j.drive.coulomb_positive > 0 || j.drive.coulomb_negative > 0 || braked(j);
  }
  bool at_upper_stop(std::size_t i) const {
    return options.stops && state[i] >= joints[i].limits.upper;
  }
  bool at_lower_stop(std::size_t i) const {
    return options.stops && state[i] <= joints[i].limits.lower;
  }

  void fail(PlantFault what, std::size_t joint = 0, double value = 0) {
    if (fault != PlantFault::kNone) return;
    fault = what;
    fault_joint = joint;
    fault_value = value;
  }

  bool lost() const {
    return fault == PlantFault::kSingularInertia || fault == PlantFault::kDiverged;
  }

  /// Nothing can be computed from state x: because of its inertia, or because x is absurd.
  void fail_to_accelerate(const State& x) {
    dynamics.inertia_matrix(positions(x), reduced);
    const bool usable = all_finite(x) && all_finite(reduced);
    std::fill(right.begin(), right.end(), 0.0);
    cholesky_solve(static_cast<int>(n), reduced.data(), right.data());
    bool singular = false;  // the diagonal holds the inverse pivots
    for (std::size_t i = 0; i < n; ++i) {
      const double inverse = reduced[i * n + i];
      singular = singular || !(is_finite(inverse) && inverse > 0);
    }
    fail(usable && singular ? PlantFault::kSingularInertia : PlantFault::kDiverged);
  }

  void refuse_torque(std::span<const double> given) {
    for (std::size_t i = 0; i < n; ++i) {
      if (std::isfinite(given[i])) continue;
      fail(PlantFault::kTorqueNotFinite, i, given[i]);
      net[i] = 0;
    }
  }

  /// Motor torque, limited, less the friction of the sliding joints, into `net`.
  void set_net_torque(const State& x, double t) {
    if (torque != nullptr) (*torque)(t, positions(x), rates(x), command);
    const double* const given = torque != nullptr ? command.data() : constant.data();
    bool finite = true;
    for (std::size_t i = 0; i < n; ++i) {
      const Joint& j = joints[i];
      double motor = given[i];
      finite &= is_finite(motor);
      if (options.torque_limits) motor = std::clamp(motor, -j.limits.effort, j.limits.effort);
      net[i] = motor - j.drive.viscous * x[n + i];
      if (!j.locked && j.direction != 0) {
        net[i] -= j.direction * sliding_friction(j, j.direction);
      }
    }
    if (!finite) refuse_torque({given, n});
  }

  /// Accelerations for the modes as they are; locked joints have none.
  void accelerate(const State& x, double t, std::span<double> qdd) {
    set_net_torque(x, t);
    if (!any_locked) {
      if (!dynamics.forward_dynamics(positions(x), rates(x), net, qdd)) fail_to_accelerate(x);
      return;
    }
    dynamics.inertia_matrix(positions(x), inertia);
    dynamics.inverse_dynamics(positions(x), rates(x), zero, bias);
    solve_free(qdd);
  }

  /// D_ff q̈_f = (net − bias)_f for the joints that are not locked.
  void solve_free(std::span<double> qdd) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
      qdd[i] = 0;
      if (!joints[i].locked) free[count++] = i;
    }
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b <= a; ++b) reduced[a * count + b] = inertia[free[a] * n + free[b]];
      right[a] = net[free[a]] - bias[free[a]];
    }
    cholesky_solve(static_cast<int>(count), reduced.data(), right.data());
    for (std::size_t a = 0; a < count; ++a) qdd[free[a]] = right[a];
  }

  void update_any_locked() {
    any_locked = std::any_of(joints.begin(), joints.end(), [](const Joint& j) { return j.locked; });
  }

  /// At rest a joint with dry friction sticks and a joint at a stop is held; release() lets go of
  /// those that are overloaded.
  void find_modes() {
    for (std::size_t i = 0; i < n; ++i) {
      Joint& j = joints[i];
      const double qd = state[n + i];
      const bool dry = has_dry_friction(j);
      j.locked = qd == 0 && (dry || at_upper_stop(i) || at_lower_stop(i));
      j.direction = !dry || qd == 0 ? 0 : qd > 0 ? 1 : -1;
    }
    update_any_locked();
  }

  /// What joint i is restrained by at a stop, beside `friction`.
  Restraint with_stops(std::size_t i, Restraint friction) const {
    if (at_upper_stop(i)) friction.against_positive = Restraint::kRigid;
    if (at_lower_stop(i)) friction.against_negative = Restraint::kRigid;
    return friction;
  }

  /// Lets go of locked joints whose friction or stop cannot hold them. Leaves the accelerations at
  /// this instant in `acceleration`.
  void release(double t) {
    set_net_torque(state, t);
    dynamics.inertia_matrix(positions(state), inertia);
    dynamics.inverse_dynamics(positions(state), rates(state), zero, bias);
    for (std::size_t i = 0; i < n; ++i) {
      const Joint& j = joints[i];
      load[i] = net[i] - bias[i];
      slips[i] = false;
      restraints[i] = {};
      if (j.locked) {
        restraints[i] = with_stops(i, {options.static_ratio * sliding_friction(j, 1),
                                       options.static_ratio * sliding_friction(j, -1)});
      }
    }
    // A joint that breaks away slides under less friction than held it, and may take others along.
    for (bool again = true; again;) {
      if (!least_constraint.solve(inertia, load, restraints, acceleration)) {
        fail_to_accelerate(state);
        return;
      }
      again = false;
      for (std::size_t i = 0; options.static_ratio > 1 && i < n; ++i) {
        const Joint& j = joints[i];
        if (!j.locked || slips[i] || acceleration[i] == 0) continue;
        slips[i] = again = true;
        restraints[i] = with_stops(i, {sliding_friction(j, 1), sliding_friction(j, -1)});
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      Joint& j = joints[i];
      if (!j.locked || acceleration[i] == 0) continue;
      j.locked = false;
      j.direction = !has_dry_friction(j) ? 0 : acceleration[i] > 0 ? 1 : -1;
    }
    update_any_locked();
  }

  /// Momentum D qd into `load`.
  void set_momentum() {
    dynamics.inertia_matrix(positions(state), inertia);
    for (std::size_t i = 0; i < n; ++i) {
      load[i] = 0;
      for (std::size_t k = 0; k < n; ++k) load[i] += inertia[i * n + k] * state[n + k];
    }
  }

  /// Sliding joints that came to rest stick. They overshot within the sub-step: the impulse of
  /// their friction takes that back, without a change of the other joints' momenta.
  void stick() {
    for (std::size_t attempt = 0; attempt < n; ++attempt) {
      bool any = false;
      for (std::size_t i = 0; i < n; ++i) {
        Joint& j = joints[i];
        if (j.locked || j.direction == 0 || state[n + i] * j.direction > 0) continue;
        j.locked = any = true;
      }
      if (!any) return;
      set_momentum();
      for (std::size_t i = 0; i < n; ++i) {
        restraints[i] = joints[i].locked ? kHeldFast : with_stops(i, {});
      }
      if (!least_constraint.solve(inertia, load, restraints, rates_of_state())) {
        fail_to_accelerate(state);
        return;
      }
    }
  }

  std::span<double> rates_of_state() { return {state.data() + n, n}; }

  double kinetic_energy(std::span<const double> qd) const {
    double twice = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) twice += qd[i] * inertia[i * n + k] * qd[k];
    }
    return twice / 2;
  }

  /// Velocities after the impact, if a joint moves into its stop.
  ///
  /// Two joints at their stops can knock each other off in turn, ever more gently, infinitely often
  /// in finite time. Below kRestSpeed that ends: the joints at stops come to rest together.
  void impact() {
    double speed = 0;  // of the fastest joint that moves into its stop
    for (std::size_t i = 0; i < n; ++i) {
      if (at_upper_stop(i)) speed = std::max(speed, state[n + i]);
      if (at_lower_stop(i)) speed = std::max(speed, -state[n + i]);
    }
    if (speed == 0) return;
    set_momentum();
    for (std::size_t i = 0; i < n; ++i) {
      const Joint& j = joints[i];
      const double qd = state[n + i];
      Restraint friction;
      if (qd == 0 && has_dry_friction(j)) {
        const double seconds = options.impact_duration * options.static_ratio;
        friction = {seconds * sliding_friction(j, 1), seconds * sliding_friction(j, -1)};
      }
      const bool rests =
          (at_upper_stop(i) || at_lower_stop(i)) && speed < kRestSpeed && std::abs(qd) < kRestSpeed;
      restraints[i] = rests || (qd == 0 && braked(j)) ? kHeldFast : with_stops(i, friction);
    }
    if (!least_constraint.solve(inertia, load, restraints, solution)) {
      fail_to_accelerate(state);
      return;
    }
    ++impacts;
    impact_loss += kinetic_energy(rates(state)) - kinetic_energy(solution);
    std::copy(solution.begin(), solution.end(), rates_of_state().begin());
  }

  /// How far a joint is beyond its stop, the farthest; negative: all are within.
  double beyond_stops() const {
    double farthest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n; ++i) {
      if (joints[i].locked) continue;
      const JointLimits& limits = joints[i].limits;
      farthest = std::max({farthest, state[i] - limits.upper, limits.lower - state[i]});
    }
    return farthest;
  }

  void put_on_stops() {
    for (std::size_t i = 0; i < n; ++i) {
      const JointLimits& limits = joints[i].limits;
      const double near_upper = kStopTolerance * std::max(1.0, std::abs(limits.upper));
      const double near_lower = kStopTolerance * std::max(1.0, std::abs(limits.lower));
      if (state[i] > limits.upper - near_upper && state[n + i] > 0) state[i] = limits.upper;
      if (state[i] < limits.lower + near_lower && state[n + i] < 0) state[i] = limits.lower;
      state[i] = std::clamp(state[i], limits.lower, limits.upper);
    }
  }

  void derivative(const State& x, State& dx, double t) {
    std::copy(x.begin() + static_cast<std::ptrdiff_t>(n), x.end(), dx.begin());
    accelerate(x, t, std::span<double>(dx.data() + n, n));
  }

  /// The first stage does not depend on h: integrating again from the same state keeps it.
  void runge_kutta(double t, double h) {
    constexpr double kPart[] = {0, 0.5, 0.5, 1};
    if (!have_first_stage) derivative(state, stages[0], t);
    have_first_stage = true;
    for (std::size_t s = 1; s < 4; ++s) {
      for (std::size_t i = 0; i < 2 * n; ++i) trial[i] = state[i] + kPart[s] * h * stages[s - 1][i];
      derivative(trial, stages[s], t + kPart[s] * h);
    }
    for (std::size_t i = 0; i < 2 * n; ++i) {
      state[i] += h / 6 * (stages[0][i] + 2 * stages[1][i] + 2 * stages[2][i] + stages[3][i]);
    }
  }

  void dormand_prince(double t, double h) {
    const auto rates = [this](const State& x, State& dx, double at) { derivative(x, dx, at); };
    if (!adaptive.integrate(rates, state, t, h)) {
      std::fill(state.begin(), state.end(), std::numeric_limits<double>::quiet_NaN());
    }
  }

  void integrate(double t, double h) {
    if (options.integrator == Integrator::kRungeKutta4) {
      runge_kutta(t, h);
    } else {
      dormand_prince(t, h);
    }
  }

  /// A joint passes its stop within h: goes back to `start` and on to the first impact. Returns the
  /// time to it. Bracketed regula falsi (Illinois), as the depth is nearly linear in time.
  double go_to_first_impact(double t, double h, double depth_at_end) {
    double early = 0, late = h, depth_late = depth_at_end;
    std::swap(state, start);
    double depth_early = beyond_stops();
    std::swap(state, start);
    double reached = h;
    int side = 0;
    for (int k = 0; k < 60 && late - early > 1e-12 * h; ++k) {
      double share = depth_early < 0 ? depth_early / (depth_early - depth_late) : 0.5;
      if (!(share > 0 && share < 1)) share = 0.5;
      reached = early + share * (late - early);
      std::copy(start.begin(), start.end(), state.begin());
      integrate(t, reached);
      const double depth = beyond_stops();
      if (!std::isfinite(depth)) return reached;  // the caller looks at the state
      if (depth > 0) {
        late = reached;
        depth_late = depth;
        if (side > 0) depth_early /= 2;
        side = 1;
        if (depth < kStopTolerance) return reached;
      } else {
        early = reached;
        depth_early = depth;
        if (side < 0) depth_late /= 2;
        side = -1;
      }
    }
    if (reached != late) {
      std::copy(start.begin(), start.end(), state.begin());
      integrate(t, late);
    }
    return late;
  }

  /// False on a fault. Impacts divide the sub-step. More than these are taken at its end, not where
  /// they occur.
  bool sub_step(double h) {
    const double begin = time;
    double done = 0;
    std::size_t divisions = 40;
    const auto count = static_cast<std::ptrdiff_t>(n);
    for (bool last = false; !last;) {
      find_modes();
      have_first_stage = any_locked;
      if (any_locked) {
        release(begin + done);
        if (fault != PlantFault::kNone) return false;
        std::copy(state.begin() + count, state.end(), stages[0].begin());
        std::copy(acceleration.begin(), acceleration.end(), stages[0].begin() + count);
      }
      std::copy(state.begin(), state.end(), start.begin());
      double piece = h - done;
      integrate(begin + done, piece);
      last = true;
      const double depth = options.stops ? beyond_stops() : -Restraint::kRigid;
      if (depth > 0 && divisions > 0 && fault == PlantFault::kNone) {
        const double until = go_to_first_impact(begin + done, piece, depth);
        last = until >= piece;
        piece = until;
        --divisions;
      }
      if (fault == PlantFault::kNone && !all_finite(state)) fail(PlantFault::kDiverged);
      if (fault != PlantFault::kNone) {
        std::copy(start.begin(), start.end(), state.begin());
        return false;
      }
      done += piece;
      time = last ? begin + h : begin + done;
      stick();
      if (depth > -kNearStop) {
        put_on_stops();
        impact();
      }
      if (fault != PlantFault::kNone) return false;
    }
    return true;
  }

  bool advance(double dt) {
    if (!(dt >= 0 && std::isfinite(dt))) {
      refuse("dt is " + shown(dt) + " s; give a finite time that is not negative");
    }
    if (lost()) return false;
    fault = PlantFault::kNone;
    const auto count = static_cast<long>(std::ceil(dt / options.sub_step - 1e-9));
    const double h = dt / static_cast<double>(std::max(count, 1L));
    impact();  // of velocities that reset() was given
    bool going = fault == PlantFault::kNone;
    for (long k = 0; going && k < count; ++k) going = sub_step(h);
    if (going) {
      find_modes();
      if (any_locked) {
        release(time);
      } else {
        accelerate(state, time, acceleration);
      }
    }
    if (lost()) {  // whoever does not ask shall see it
      std::fill(state.begin(), state.end(), std::numeric_limits<double>::quiet_NaN());
    }
    return fault == PlantFault::kNone;
  }

  PlantOptions options;
  std::size_t n;
  Dynamics dynamics;
  std::vector<Joint> joints;
  DormandPrince adaptive;
  State state;
  std::vector<double> acceleration, command, net, inertia, bias, zero, reduced, right, load,
      solution;
  std::vector<std::size_t> free;
  std::vector<Restraint> restraints;
  std::vector<char> slips;
  LeastConstraint least_constraint;
  State start;  ///< of the piece of a sub-step that is being integrated
  State stages[4], trial;
  bool have_first_stage = false;  ///< stages[0] is the derivative at `start`
  bool any_locked = false;
  double time = 0;
  long impacts = 0;
  double impact_loss = 0;
  PlantFault fault = PlantFault::kNone;
  std::size_t fault_joint = 0;
  double fault_value = 0;
  // of the step that is being taken: either
  const TorqueFunction* torque = nullptr;
  std::span<const double> constant;
};

Plant::Plant(const Chain& chain, const PlantOptions& options) {
  check(chain, options);
  impl_ = std::make_unique<Impl>(chain, options);
}
Plant::~Plant() = default;
Plant::Plant(Plant&&) noexcept = default;
Plant& Plant::operator=(Plant&&) noexcept = default;

int Plant::size() const noexcept { return static_cast<int>(impl_->n); }

void Plant::reset(std::span<const double> q, std::span<const double> qd) {
  Impl& m = *impl_;
  m.check_size(q, "q");
  m.check_size(qd, "qd");
  for (std::size_t i = 0; i < m.n; ++i) {
    if (!std::isfinite(q[i]) || !std::isfinite(qd[i])) {
      refuse(name_of(m.dynamics.chain(), i) + ": reset to position " + shown(q[i]) + ", velocity " +
             shown(qd[i]) + "; give finite values");
    }
  }
  for (std::size_t i = 0; i < m.n; ++i) {
    Joint& j = m.joints[i];
    m.state[i] = m.options.stops ? std::clamp(q[i], j.limits.lower, j.limits.upper) : q[i];
    m.state[m.n + i] = qd[i];
    j.locked = false;
    j.direction = 0;
    m.acceleration[i] = 0;
  }
  m.time = 0;
  m.impacts = 0;
  m.impact_loss = 0;
  m.fault = PlantFault::kNone;
}

void Plant::set_brake(int joint, bool on) { impl_->joints[impl_->index(joint)].brake = on; }
bool Plant::brake(int joint) const { return impl_->joints[impl_->index(joint)].brake; }

bool Plant::step(std::span<const double> tau, double dt) {
  impl_->check_size(tau, "tau");
  impl_->torque = nullptr;
  impl_->constant = tau;
  return impl_->advance(dt);
}
bool Plant::step(const TorqueFunction& torque, double dt) {
  impl_->torque = &torque;
  return impl_->advance(dt);
}

PlantFault Plant::fault() const noexcept { return impl_->fault; }
std::string Plant::error() const {
  const Impl& m = *impl_;
  const std::string when = " at t = " + shown(m.time) + " s";
  switch (m.fault) {
    case PlantFault::kNone:
      return {};
    case PlantFault::kTorqueNotFinite:
      return name_of(m.dynamics.chain(), m.fault_joint) + ": torque is " + shown(m.fault_value) +
             when + "; give finite torques";
    case PlantFault::kSingularInertia:
      return "the inertia matrix is singular" + when +
             "; give every joint a link with inertia, or armature";
    case PlantFault::kDiverged:
      return "the simulated motion diverged" + when + "; use a shorter sub_step than " +
             shown(m.options.sub_step) + " s or lower gains";
  }
  return {};
}

double Plant::time() const noexcept { return impl_->time; }
std::span<const double> Plant::q() const noexcept { return impl_->positions(impl_->state); }
std::span<const double> Plant::qd() const noexcept { return impl_->rates(impl_->state); }
std::span<const double> Plant::qdd() const noexcept { return impl_->acceleration; }
bool Plant::held(int joint) const { return impl_->joints[impl_->index(joint)].locked; }
MechanicalEnergy Plant::energy() noexcept {
  return impl_->dynamics.energy(impl_->positions(impl_->state), impl_->rates(impl_->state));
}
long Plant::impacts() const noexcept { return impl_->impacts; }
double Plant::impact_loss() const noexcept { return impl_->impact_loss; }
Dynamics& Plant::dynamics() noexcept { return impl_->dynamics; }

}  // namespace ga_dynamics
