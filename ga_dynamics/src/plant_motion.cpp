// SPDX-License-Identifier: Apache-2.0

// The plant in time: accelerations, integration, and the way to the next impact.

#include <algorithm>
#include <cmath>

#include "ga_dynamics/algorithm/cholesky.hpp"
#include "plant_impl.hpp"

namespace ga_dynamics {

using namespace plant;
namespace {

/// Nearer than this to a stop, rad or m, it is worth a closer look.
constexpr double kNearStop = 1e-6;

}  // namespace

void Plant::Impl::set_net_torque(const State& x, double t) {
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

void Plant::Impl::accelerate(const State& x, double t, std::span<double> qdd) {
  set_net_torque(x, t);
  if (!any_locked) {
    if (!dynamics.forward_dynamics(positions(x), rates(x), net, qdd)) fail_to_accelerate(x);
    return;
  }
  dynamics.inertia_matrix(positions(x), inertia);
  dynamics.inverse_dynamics(positions(x), rates(x), zero, bias);
  solve_free(qdd);
}

void Plant::Impl::solve_free(std::span<double> qdd) {
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

void Plant::Impl::derivative(const State& x, State& dx, double t) {
  std::copy(x.begin() + static_cast<std::ptrdiff_t>(n), x.end(), dx.begin());
  accelerate(x, t, std::span<double>(dx.data() + n, n));
}

void Plant::Impl::runge_kutta(double t, double h) {
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

void Plant::Impl::dormand_prince(double t, double h) {
  const auto rates = [this](const State& x, State& dx, double at) { derivative(x, dx, at); };
  if (!adaptive.integrate(rates, state, t, h)) {
    std::fill(state.begin(), state.end(), std::numeric_limits<double>::quiet_NaN());
  }
}

void Plant::Impl::integrate(double t, double h) {
  if (options.integrator == Integrator::kRungeKutta4) {
    runge_kutta(t, h);
  } else {
    dormand_prince(t, h);
  }
}

double Plant::Impl::go_to_first_impact(double t, double h, double depth_at_end) {
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

bool Plant::Impl::sub_step(double h) {
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

bool Plant::Impl::advance(double dt) {
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
  if (lost()) {  // for callers that ignore the result
    std::fill(state.begin(), state.end(), std::numeric_limits<double>::quiet_NaN());
  }
  return fault == PlantFault::kNone;
}

}  // namespace ga_dynamics
