// SPDX-License-Identifier: Apache-2.0
#include "elastic_drives.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ga_dynamics/dynamics.hpp"

namespace ga_hardware {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using ga_dynamics::DhJoint;
using ga_dynamics::Plant;

namespace {

/// rad of the resonance per step: its frequency is right to a thousandth.
constexpr double kPhaseStep = 0.1;

}  // namespace

ElasticDrives::ElasticDrives(const Chain& actual, const Disturbances& disturbances,
                             const ga_dynamics::PlantOptions& options,
                             std::span<const double> start)
    : n_(actual.joints().size()),
      actual_(actual),
      options_(options),
      static_ratio_(options.static_ratio),
      longest_step_(options.sub_step),
      brake_(options.brake_torque.empty() ? std::vector<double>(n_) : options.brake_torque),
      q_(n_),
      qd_(n_),
      damping_torque_(n_),
      before_(n_),
      rest_(n_) {
  ga_dynamics::Dynamics dynamics(actual, {.drives = ga_dynamics::Drives::kArmature});
  std::vector<double> d(n_ * n_);
  dynamics.inertia_matrix(start, d);
  const double ratio = disturbances.elastic_ratio;
  const double omega = 2 * std::numbers::pi * disturbances.elastic_frequency;
  longest_step_ = std::min(options.sub_step, kPhaseStep / omega);
  for (std::size_t i = 0; i < n_; ++i) {
    const ChainJoint& joint = actual.joints()[i];
    const double whole = d[i * n_ + i];
    // The link keeps what the rotor has beyond the motor's share, but never lends inertia to it.
    const double link = std::max(whole / (1 + ratio), whole - joint.drive.armature);
    const double motor = ratio * link;
    const double reduced = motor * link / (motor + link);
    inertia_.push_back(motor);
    stiffness_.push_back(omega * omega * reduced);
    damping_.push_back(2 * disturbances.elastic_damping * omega * reduced);
    drives_.push_back(options.friction ? joint.drive : ga_dynamics::Drive{});
  }
  spring_ = [this](double t, std::span<const double> q, std::span<const double> qd,
                   std::span<double> tau) {
    for (std::size_t i = 0; i < n_; ++i) {
      tau[i] =
          stiffness_[i] * (q_[i] + (t - begin_) * qd_[i] - q[i]) + damping_[i] * (qd_[i] - qd[i]);
    }
  };
}

Chain ElasticDrives::link_side() const {
  std::vector<DhJoint> rows;
  for (const ChainJoint& joint : actual_.joints()) {
    DhJoint row{joint.type, joint.dh, joint.body, {}, joint.limits, joint.name};
    row.drive.armature = std::max(0.0, joint.drive.armature - inertia_[rows.size()]);
    rows.push_back(row);
  }
  return Chain::from_dh(rows, actual_.gravity_in_frame0());
}

ga_dynamics::PlantOptions ElasticDrives::link_options() const {
  ga_dynamics::PlantOptions options = options_;
  options.torque_limits = false;  // the springs' torques are not the motors'
  options.friction = false;
  options.static_ratio = 1;
  options.brake_torque.clear();
  return options;
}

void ElasticDrives::reset(Plant& links, std::span<const double> start) noexcept {
  std::copy_n(start.begin(), n_, q_.begin());
  std::fill(qd_.begin(), qd_.end(), 0.0);
  std::fill(damping_torque_.begin(), damping_torque_.end(), 0.0);
  std::vector<double>& q = before_;
  std::copy_n(start.begin(), n_, q.begin());
  // Converges fast: the sag is a fraction of a degree.
  for (int round = 0; round < 5; ++round) {
    links.dynamics().gravity(q, rest_);
    for (std::size_t i = 0; i < n_; ++i) q[i] = q_[i] - rest_[i] / stiffness_[i];
  }
  std::fill(rest_.begin(), rest_.end(), 0.0);
  links.reset(q, rest_);
}

void ElasticDrives::kick(std::span<const double> link_q, const Amplifiers& amplifiers, double since,
                         double h) noexcept {
  for (std::size_t i = 0; i < n_; ++i) {
    const double spring = stiffness_[i] * (q_[i] - link_q[i]) + damping_torque_[i];
    const double net = amplifiers.at(i, since) - spring - drives_[i].viscous * qd_[i];
    const double brake = braked_ ? brake_[i] : 0;
    double& qd = qd_[i];
    const double direction = qd != 0 ? qd : net;
    const double sliding = drives_[i].coulomb(direction) + brake;
    if (qd == 0 && std::abs(net) <= static_ratio_ * drives_[i].coulomb(net) + brake) continue;
    const double next = qd + h * (net - std::copysign(sliding, direction)) / inertia_[i];
    // A sliding motor that would reverse within the step sticks.
    qd = sliding > 0 && next * direction < 0 ? 0 : next;
  }
}

bool ElasticDrives::step(Plant& links, const Amplifiers& amplifiers, double dt) noexcept {
  const double count = std::max(1.0, std::ceil(dt / longest_step_ - 1e-9)), h = dt / count;
  for (double k = 0; k < count; ++k) {
    kick(links.q(), amplifiers, k * h, h / 2);
    begin_ = links.time();
    std::copy(links.q().begin(), links.q().end(), before_.begin());
    if (!links.step(spring_, h)) return false;
    for (std::size_t i = 0; i < n_; ++i) {
      q_[i] += h * qd_[i];
      // The mean of what acted on the link, so that the momentum is kept.
      damping_torque_[i] = damping_[i] * (qd_[i] - (links.q()[i] - before_[i]) / h);
    }
    kick(links.q(), amplifiers, (k + 1) * h, h / 2);
  }
  return true;
}

}  // namespace ga_hardware
