// SPDX-License-Identifier: Apache-2.0
#include "ga_dynamics/plant.hpp"

#include <algorithm>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "ga_dynamics/cholesky.hpp"

namespace ga_dynamics {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

enum class Stop { kNone, kLower, kUpper };

struct Joint {
  JointLimits limits;
  Drive drive;
  double brake_torque = 0;
  bool brake = false;
  bool locked = false;  ///< held by friction or a stop
  int direction = 0;    ///< of sliding, while not locked
  Stop stop = Stop::kNone;
};

void check(const Chain& chain, const PlantOptions& options) {
  const auto refuse = [](const std::string& what) {
    throw std::invalid_argument("Plant: " + what);
  };
  if (!(options.sub_step > 0 && options.sub_step <= 0.1)) refuse("sub_step must be in (0, 0.1] s");
  if (!(options.tolerance > 0)) refuse("tolerance must be positive");
  if (!(options.static_ratio >= 1)) refuse("static_ratio must be at least 1");
  if (!options.brake_torque.empty() && options.brake_torque.size() != chain.joints().size()) {
    refuse("brake_torque must have one value per joint, or none");
  }
  for (const double torque : options.brake_torque) {
    if (!(torque >= 0)) refuse("brake torques must not be negative");
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
        state(2 * n),
        acceleration(n),
        command(n),
        net(n),
        inertia(n * n),
        bias(n),
        zero(n),
        reduced(n * n),
        right(n),
        free(n) {
    for (auto& stage : stages) stage.resize(2 * n);
    trial.resize(2 * n);
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

  /// Friction torque while sliding in the positive or the negative direction; magnitudes.
  double sliding_friction(const Joint& j, int direction) const {
    const double coulomb = direction > 0 ? j.drive.coulomb_positive : j.drive.coulomb_negative;
    return coulomb + (j.brake ? j.brake_torque : 0);
  }
  bool has_dry_friction(const Joint& j) const {
    return j.drive.coulomb_positive > 0 || j.drive.coulomb_negative > 0 ||
           (j.brake && j.brake_torque > 0);
  }

  /// Motor torque, limited, less the friction of the sliding joints, into `net`.
  void set_net_torque(const State& x, double t) {
    (*torque)(t, positions(x), rates(x), command);
    for (std::size_t i = 0; i < n; ++i) {
      const Joint& j = joints[i];
      double motor = command[i];
      if (options.torque_limits) motor = std::clamp(motor, -j.limits.effort, j.limits.effort);
      net[i] = motor - j.drive.viscous * x[n + i];
      if (!j.locked && j.direction != 0) {
        net[i] -= j.direction * sliding_friction(j, j.direction);
      }
    }
  }

  /// Accelerations for the modes as they are; locked joints have none.
  void accelerate(const State& x, double t, std::span<double> qdd) {
    set_net_torque(x, t);
    if (!any_locked) {
      dynamics.forward_dynamics(positions(x), rates(x), net, qdd);
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

  /// Lets go of joints whose friction or stop cannot hold them, the most overloaded first.
  void release(double t) {
    update_any_locked();
    for (std::size_t attempt = 0; any_locked && attempt < n; ++attempt) {
      set_net_torque(state, t);
      dynamics.inertia_matrix(positions(state), inertia);
      dynamics.inverse_dynamics(positions(state), rates(state), zero, bias);
      solve_free(acceleration);
      std::size_t worst = n;
      double worst_excess = 0;
      int direction = 0;
      for (std::size_t i = 0; i < n; ++i) {
        if (!joints[i].locked) continue;
        double held_by = bias[i] - net[i];  // what friction and stop have to give
        for (std::size_t k = 0; k < n; ++k) held_by += inertia[i * n + k] * acceleration[k];
        const Joint& j = joints[i];
        const double most_negative =
            j.stop == Stop::kUpper ? -kForever : -options.static_ratio * sliding_friction(j, 1);
        const double most_positive =
            j.stop == Stop::kLower ? kForever : options.static_ratio * sliding_friction(j, -1);
        const double excess = std::max(most_negative - held_by, held_by - most_positive);
        if (excess > worst_excess) {
          worst = i, worst_excess = excess;
          direction = held_by < most_negative ? 1 : -1;
        }
      }
      if (worst == n) return;
      joints[worst].locked = false;
      joints[worst].stop = Stop::kNone;
      joints[worst].direction = has_dry_friction(joints[worst]) ? direction : 0;
      update_any_locked();
    }
  }

  void update_any_locked() {
    any_locked = std::any_of(joints.begin(), joints.end(), [](const Joint& j) { return j.locked; });
  }

  /// Takes the velocity of one joint away by an impulse that the other joints feel too.
  void stop_joint(std::size_t i) {
    dynamics.inertia_matrix(positions(state), inertia);
    std::copy(inertia.begin(), inertia.end(), reduced.begin());
    std::fill(right.begin(), right.end(), 0.0);
    right[i] = 1;
    cholesky_solve(static_cast<int>(n), reduced.data(), right.data());  // D⁻¹ e_i
    const double impulse = -state[n + i] / right[i];
    for (std::size_t k = 0; k < n; ++k) state[n + k] += impulse * right[k];
    state[n + i] = 0;
  }

  /// After a sub-step: joints that came to rest stick, joints beyond a stop are stopped there.
  void settle() {
    for (std::size_t i = 0; i < n; ++i) {
      Joint& j = joints[i];
      double& q = state[i];
      double& qd = state[n + i];
      if (!j.locked && j.direction != 0 && qd * j.direction <= 0) {
        qd = 0;
        j.locked = true;
      }
      if (!options.stops || j.stop != Stop::kNone) continue;
      if ((q >= j.limits.upper && qd > 0) || (q <= j.limits.lower && qd < 0)) {
        j.stop = q >= j.limits.upper ? Stop::kUpper : Stop::kLower;
        q = j.stop == Stop::kUpper ? j.limits.upper : j.limits.lower;
        stop_joint(i);
        j.locked = true;
      }
    }
  }

  /// Sliding joints without a known direction: at rest they stick.
  void find_modes() {
    for (std::size_t i = 0; i < n; ++i) {
      Joint& j = joints[i];
      const double qd = state[n + i];
      if (j.locked && j.stop == Stop::kNone && !has_dry_friction(j)) j.locked = false;
      if (j.locked) continue;
      j.direction = has_dry_friction(j) ? (qd > 0 ? 1 : qd < 0 ? -1 : j.direction) : 0;
      if (has_dry_friction(j) && qd == 0 && j.direction == 0) j.locked = true;
    }
  }

  void derivative(const State& x, State& dx, double t) {
    std::copy(x.begin() + static_cast<std::ptrdiff_t>(n), x.end(), dx.begin());
    accelerate(x, t, std::span<double>(dx.data() + n, n));
  }

  void runge_kutta(double t, double h) {
    constexpr double kPart[] = {0, 0.5, 0.5, 1};
    for (std::size_t s = 0; s < 4; ++s) {
      for (std::size_t i = 0; i < 2 * n; ++i) {
        trial[i] = state[i] + (s == 0 ? 0.0 : kPart[s] * h * stages[s - 1][i]);
      }
      derivative(trial, stages[s], t + kPart[s] * h);
    }
    for (std::size_t i = 0; i < 2 * n; ++i) {
      state[i] += h / 6 * (stages[0][i] + 2 * stages[1][i] + 2 * stages[2][i] + stages[3][i]);
    }
  }

  void dormand_prince(double t, double h) {
    namespace odeint = boost::numeric::odeint;
    odeint::integrate_adaptive(
        odeint::make_controlled<odeint::runge_kutta_dopri5<State>>(options.tolerance,
                                                                   options.tolerance),
        [this](const State& x, State& dx, double at) { derivative(x, dx, at); }, state, t, t + h,
        h);
  }

  void advance(const TorqueFunction& law, double dt) {
    torque = &law;
    const auto count = static_cast<long>(std::ceil(dt / options.sub_step - 1e-9));
    const double h = dt / static_cast<double>(std::max(count, 1L));
    for (long k = 0; k < count; ++k) {
      find_modes();
      release(time);
      if (options.integrator == Integrator::kRungeKutta4) {
        runge_kutta(time, h);
      } else {
        dormand_prince(time, h);
      }
      time += h;
      settle();
    }
    update_any_locked();
    accelerate(state, time, acceleration);
    torque = nullptr;
  }

  PlantOptions options;
  std::size_t n;
  Dynamics dynamics;
  std::vector<Joint> joints;
  State state;
  std::vector<double> acceleration, command, net, inertia, bias, zero, reduced, right;
  std::vector<std::size_t> free;
  State stages[4], trial;
  bool any_locked = false;
  double time = 0;
  const TorqueFunction* torque = nullptr;
  std::span<const double> constant;
  TorqueFunction constant_torque = [this](double, std::span<const double>, std::span<const double>,
                                          std::span<double> tau) {
    std::copy(constant.begin(), constant.begin() + static_cast<std::ptrdiff_t>(n), tau.begin());
  };
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
  for (std::size_t i = 0; i < impl_->n; ++i) {
    Joint& j = impl_->joints[i];
    impl_->state[i] =
        impl_->options.stops ? std::clamp(q[i], j.limits.lower, j.limits.upper) : q[i];
    impl_->state[impl_->n + i] = qd[i];
    j.locked = false;
    j.direction = 0;
    j.stop = Stop::kNone;
    impl_->acceleration[i] = 0;
  }
  impl_->time = 0;
}

void Plant::set_brake(int joint, bool on) noexcept {
  impl_->joints[static_cast<std::size_t>(joint)].brake = on;
}
bool Plant::brake(int joint) const noexcept {
  return impl_->joints[static_cast<std::size_t>(joint)].brake;
}

void Plant::step(std::span<const double> tau, double dt) {
  impl_->constant = tau;
  impl_->advance(impl_->constant_torque, dt);
}
void Plant::step(const TorqueFunction& torque, double dt) { impl_->advance(torque, dt); }

double Plant::time() const noexcept { return impl_->time; }
std::span<const double> Plant::q() const noexcept { return impl_->positions(impl_->state); }
std::span<const double> Plant::qd() const noexcept { return impl_->rates(impl_->state); }
std::span<const double> Plant::qdd() const noexcept { return impl_->acceleration; }
bool Plant::held(int joint) const noexcept {
  return impl_->joints[static_cast<std::size_t>(joint)].locked;
}
MechanicalEnergy Plant::energy() noexcept {
  return impl_->dynamics.energy(impl_->positions(impl_->state), impl_->rates(impl_->state));
}
Dynamics& Plant::dynamics() noexcept { return impl_->dynamics; }

}  // namespace ga_dynamics
