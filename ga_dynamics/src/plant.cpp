// SPDX-License-Identifier: Apache-2.0
#include "ga_dynamics/plant.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "ga_dynamics/algorithm/cholesky.hpp"
#include "plant_impl.hpp"

namespace ga_dynamics {

using namespace plant;
namespace {

std::string name_of(const Chain& chain, std::size_t joint) {
  return "joint '" + chain.joints()[joint].name + "'";
}

void check(const Chain& chain, const PlantOptions& options) {
  if (!(options.sub_step > 0 && options.sub_step <= 0.1)) refuse("sub_step must be in (0, 0.1] s");
  if (!(options.tolerance > 0)) refuse("tolerance must be positive");
  if (!(options.static_ratio >= 1 && std::isfinite(options.static_ratio))) {
    refuse("static_ratio is " + shown(options.static_ratio) + "; give 1 or more");
  }
  if (!(options.stop_margin >= 0 && std::isfinite(options.stop_margin))) {
    refuse("stop_margin is " + shown(options.stop_margin) + "; give 0 or more");
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

void plant::refuse(const std::string& what) { throw std::invalid_argument("Plant: " + what); }

std::string plant::shown(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

std::size_t Plant::Impl::index(int joint) const {
  if (joint < 0 || static_cast<std::size_t>(joint) >= n) {
    throw std::out_of_range("Plant: joint " + std::to_string(joint) +
                            " of an arm with joints 0 to " + std::to_string(n - 1));
  }
  return static_cast<std::size_t>(joint);
}

void Plant::Impl::check_size(std::span<const double> values, const char* what) const {
  if (values.size() != n) {
    refuse(std::string(what) + " has " + std::to_string(values.size()) + " values; the arm has " +
           std::to_string(n) + " joints");
  }
}

void Plant::Impl::fail(PlantFault what, std::size_t joint, double value) {
  if (fault != PlantFault::kNone) return;
  fault = what;
  fault_joint = joint;
  fault_value = value;
}

void Plant::Impl::fail_to_accelerate(const State& x) {
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

void Plant::Impl::refuse_torque(std::span<const double> given) {
  for (std::size_t i = 0; i < n; ++i) {
    if (std::isfinite(given[i])) continue;
    fail(PlantFault::kTorqueNotFinite, i, given[i]);
    net[i] = 0;
  }
}

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
    Impl::Joint& j = m.joints[i];
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
