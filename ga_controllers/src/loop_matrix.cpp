// SPDX-License-Identifier: Apache-2.0
#include "loop_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace ga_controllers {

namespace {

constexpr int kLargestDelay = 10;

/// Solution of q̈ = a − W q over one cycle with a constant a: q⁺ = C q + S q̇ + H a,
/// q̇⁺ = −W S q + C q̇ + S a; the series of cos √W, sin √W/√W and (1 − cos √W)/W.
struct HeldMotion {
  explicit HeldMotion(const Matrix& w) : c(identity(w.n)), s(c), h(0.5 * c) {
    Matrix power = identity(w.n);
    double scale = 0;
    for (const double value : w.values) scale += std::abs(value);
    double size = 1, factorial = 1;
    for (int k = 1; k <= 40 && size > 1e-18; ++k) {
      power = -1 * (power * w);
      const int twice = 2 * k;
      factorial *= (twice - 1) * twice;
      size *= scale / ((twice - 1) * twice);
      c = c + (1 / factorial) * power;
      s = s + (1 / (factorial * (twice + 1))) * power;
      h = h + (1 / (factorial * (twice + 1) * (twice + 2))) * power;
    }
  }
  Matrix c, s, h;
};

/// A linear function of the state.
using Row = std::vector<double>;

void add(Row& sum, double factor, const Row& term) {
  if (factor == 0) return;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * term[i];
}

/// Row i of a matrix times a vector of linear functions, added to `sum`.
void add(Row& sum, const Matrix& matrix, std::size_t i, const std::vector<Row>& terms) {
  for (std::size_t j = 0; j < terms.size(); ++j) add(sum, matrix(i, j), terms[j]);
}

/// Rows of A − I, from the states: position q, velocity v, prediction error e = q − q̂ and predicted
/// v̂ and d̂ at the start of a cycle, and the commands under way, the latest one first. In terms of e
/// instead of q̂, only kp and gravity make the position matter.
Matrix increments(std::span<const LoopSettings> loops, const LinearPlant& plant) {
  const std::size_t n = loops.size(), delay = static_cast<std::size_t>(loops[0].delay);
  const std::size_t states = n * (5 + delay);
  const auto state = [&](std::size_t block, std::size_t joint) {
    Row row(states);
    row[block * n + joint] = 1;
    return row;
  };
  const HeldMotion held(plant.stiffness);
  std::vector<Row> q, v, e, position, disturbance, predicted_step, velocity_step, command;
  for (std::size_t i = 0; i < n; ++i) {
    const CycleGains g(loops[i]);
    q.push_back(state(0, i));
    v.push_back(state(1, i));
    e.push_back(state(2, i));
    Row estimate = q[i], velocity = state(3, i), dist = state(4, i);
    add(estimate, g.l1 - 1, e[i]);
    add(velocity, g.l2, e[i]);
    add(dist, g.l3, e[i]);
    Row u(states);
    add(u, -g.f1, estimate);
    add(u, -g.f2, velocity);
    add(u, -g.f3, dist);
    Row acceleration = u;
    add(acceleration, 1, dist);
    Row predicted(states), change(states);
    add(predicted, g.l1, e[i]);
    add(predicted, 1, velocity);
    add(predicted, 0.5, acceleration);
    add(change, g.l2, e[i]);
    add(change, 1, acceleration);
    position.push_back(estimate);
    disturbance.push_back(dist);
    predicted_step.push_back(predicted);
    velocity_step.push_back(change);
    command.push_back(u);
  }
  std::vector<Row> torque = command;
  for (std::size_t i = 0; i < n; ++i) add(torque[i], plant.model_stiffness, i, position);
  std::vector<Row> applied = torque;
  for (std::size_t i = 0; i < n && delay > 0; ++i) applied[i] = state(4 + delay, i);

  const Matrix one = identity(n);
  const Matrix c_less_one = held.c - one, step = held.h * plant.ratio,
               pull = -1 * (plant.stiffness * held.s), push = held.s * plant.ratio;
  Matrix result(states);
  const auto store = [&](std::size_t block, std::size_t joint, const Row& row) {
    for (std::size_t j = 0; j < states; ++j) result(block * n + joint, j) = row[j];
  };
  for (std::size_t i = 0; i < n; ++i) {
    Row dq(states), dv(states);
    add(dq, c_less_one, i, q);
    add(dq, held.s, i, v);
    add(dq, step, i, applied);
    add(dv, pull, i, q);
    add(dv, c_less_one, i, v);
    add(dv, push, i, applied);
    Row de = dq;
    add(de, -1, predicted_step[i]);
    store(0, i, dq);
    store(1, i, dv);
    store(2, i, de);
    store(3, i, velocity_step[i]);
    Row dd = disturbance[i];
    add(dd, -1, state(4, i));
    store(4, i, dd);
    for (std::size_t k = 0; k < delay; ++k) {
      Row shifted = k == 0 ? torque[i] : state(4 + k, i);
      add(shifted, -1, state(5 + k, i));
      store(5 + k, i, shifted);
    }
  }
  return result;
}

[[noreturn]] void refuse(const std::string& name, double value, const std::string& remedy) {
  throw std::invalid_argument("loop stability: " + name + " is " + std::to_string(value) + "; " +
                              remedy);
}

}  // namespace

CycleGains::CycleGains(const LoopSettings& loop) {
  const double dt = loop.period, exponent = -loop.observer_bandwidth * dt;
  const double lag = -std::expm1(exponent);  // 1 − b
  l1 = -std::expm1(3 * exponent);
  l2 = 1.5 * lag * lag * (2 - lag);
  l3 = lag * lag * lag;
  f1 = loop.gains.kp * dt * dt;
  f2 = loop.gains.kd * dt;
  f3 = loop.subtracts_disturbance ? 1 : 0;
}

LinearPlant scalar_plant(double rho) { return {rho * identity(1), Matrix(1), Matrix(1)}; }

void check_loop(const LoopSettings& loop) {
  const auto positive = [](double value, const char* name) {
    if (!(value > 0) || !std::isfinite(value))
      refuse(name, value, "it must be positive and finite");
  };
  const auto not_negative = [](double value, const char* name) {
    if (!(value >= 0) || !std::isfinite(value))
      refuse(name, value, "it must be finite and not negative");
  };
  not_negative(loop.gains.kp, "kp");
  not_negative(loop.gains.kd, "kd");
  positive(loop.observer_bandwidth, "observer_bandwidth");
  positive(loop.period, "period");
  if (loop.delay < 0 || loop.delay > kLargestDelay)
    refuse("delay", loop.delay, "it must be 0 to " + std::to_string(kLargestDelay) + " cycles");
}

double spectral_radius(std::span<const LoopSettings> loops, const LinearPlant& plant) {
  const Matrix all = increments(loops, plant);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < all.n; ++i) {
    if (i >= loops.size() || loops[i].gains.kp > 0) kept.push_back(i);
  }
  Matrix matrix(kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (std::size_t j = 0; j < kept.size(); ++j) matrix(i, j) = all(kept[i], kept[j]);
  }
  double radius = 0;
  for (const std::complex<double>& increment : eigenvalues(matrix)) {
    const double magnitude = std::abs(1.0 + increment);
    if (std::isnan(magnitude)) return std::numeric_limits<double>::infinity();
    radius = std::max(radius, magnitude);
  }
  return radius;
}

}  // namespace ga_controllers
