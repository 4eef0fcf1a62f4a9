// SPDX-License-Identifier: Apache-2.0
#include "model_unknowns.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

namespace ga_controllers {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using ga_dynamics::Dynamics;
using ga_dynamics::LinkInertia;

namespace {

/// Unknowns that are kept, at most: those with the largest effect on the torques.
constexpr std::size_t kMost = 32;
/// Of the torque limit: unknowns with less effect, RMS at one standard deviation, are left out.
constexpr double kEffect = 5e-4;
/// States at construction that the effects are computed at.
constexpr int kStates = 100;
/// Standard deviations.
constexpr double kBound = 3;
/// kg, what else than the payload may be at the tip.
constexpr double kSlack = 0.02;
/// kg; a payload much lighter than that is used without an offset.
constexpr double kNoLever = 0.05;
/// Least factor on masses and inertias.
constexpr double kLeastShare = 0.1;

}  // namespace

void parameters_of(const LinkInertia& body, BodyParameters& p) noexcept {
  const auto& c = body.com;
  const double m = body.mass;
  p[0] = m;
  for (std::size_t k = 0; k < 3; ++k) p[1 + k] = m * c[k];
  p[4] = body.inertia[0] + m * (c[1] * c[1] + c[2] * c[2]);
  p[5] = body.inertia[1] - m * c[0] * c[1];
  p[6] = body.inertia[2] - m * c[0] * c[2];
  p[7] = body.inertia[4] + m * (c[0] * c[0] + c[2] * c[2]);
  p[8] = body.inertia[5] - m * c[1] * c[2];
  p[9] = body.inertia[8] + m * (c[0] * c[0] + c[1] * c[1]);
}

ModelUnknowns::ModelUnknowns(const Chain& chain, const LawParameters& parameters,
                             std::span<const double> torque_limit)
    : chain_(chain),
      friction_velocity_(parameters.friction_velocity),
      reach_(std::min(kBound * parameters.adaptation.payload_offset, kReach)) {
  add(parameters.adaptation);
  select(torque_limit);
}

/// Body by body, then the drives.
void ModelUnknowns::add(const AdaptationParameters& p) {
  const auto append = [this](Kind kind, std::size_t joint, std::size_t axis,
                             double deviation) -> BodyParameters& {
    unknowns_.push_back({kind, joint, axis, deviation, {}});
    return unknowns_.back().column;
  };
  const std::size_t n = chain_.joints().size();
  const ga_dynamics::ChainLink& tip = chain_.tip();
  for (std::size_t i = 0; i < n; ++i) {
    const LinkInertia& body = chain_.joints()[i].body;
    LinkInertia part = body;
    part.inertia = {};
    if (p.mass > 0) parameters_of(part, append(Kind::kMass, i, 0, p.mass));
    part = {0, {}, body.inertia};
    if (p.mass > 0) parameters_of(part, append(Kind::kInertia, i, 0, p.mass));
    for (std::size_t k = 0; k < 3 && p.com > 0; ++k) {
      // The derivative by the center of mass, from a difference: the parameters are quadratic in it.
      BodyParameters ahead, behind;
      LinkInertia moved = body;
      moved.com[k] += 1;
      parameters_of(moved, ahead);
      moved.com[k] -= 2;
      parameters_of(moved, behind);
      BodyParameters& column = append(Kind::kCom, i, k, p.com);
      for (std::size_t j = 0; j < kParameters; ++j) column[j] = 0.5 * (ahead[j] - behind[j]);
    }
    if (tip.body == static_cast<int>(i) + 1 && p.payload_mass > 0) {
      const LinkInertia unit = ga_dynamics::transformed(tip.pose, {1, {}, {}});
      parameters_of(unit, append(Kind::kPayloadMass, i, 0, p.payload_mass));
      for (std::size_t k = 0; k < 3 && p.payload_offset > 0; ++k) {
        BodyParameters ahead, behind;
        LinkInertia off{1, {}, {}};
        off.com[k] = 1;
        parameters_of(ga_dynamics::transformed(tip.pose, off), ahead);
        off.com[k] = -1;
        parameters_of(ga_dynamics::transformed(tip.pose, off), behind);
        BodyParameters& column =
            append(Kind::kPayloadMoment, i, k, p.payload_mass * p.payload_offset);
        for (std::size_t j = 0; j < kParameters; ++j) column[j] = 0.5 * (ahead[j] - behind[j]);
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (p.friction > 0) append(Kind::kCoulomb, i, 0, p.friction);
    if (p.friction > 0) append(Kind::kViscous, i, 0, p.friction);
    if (p.armature > 0) append(Kind::kArmature, i, 0, p.armature);
  }
}

/// The torque of the joint's own drive at one unit of the unknown.
double ModelUnknowns::drive_column(std::size_t k, double qd, double qdd) const noexcept {
  const Unknown& u = unknowns_[k];
  const ga_dynamics::Drive& drive = chain_.joints()[u.joint].drive;
  switch (u.kind) {
    case Kind::kCoulomb:
      return drive.friction(qd, friction_velocity_) - drive.viscous * qd;
    case Kind::kViscous:
      return drive.viscous * qd;
    case Kind::kArmature:
      return drive.armature * qdd;
    default:
      return 0;
  }
}

/// Keeps the unknowns with the largest effect on the torques, RMS over random states.
void ModelUnknowns::select(std::span<const double> torque_limit) {
  const std::size_t n = chain_.joints().size();
  std::vector<double> effect(unknowns_.size());
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::vector<double> q(n), qd(n), qdd(n), inertia(n * n), regressor(n * kParameters);
  Dynamics dynamics(chain_, {.drives = ga_dynamics::Drives::kArmature});
  for (int state = 0; state < kStates; ++state) {
    for (std::size_t i = 0; i < n; ++i) {
      const ga_dynamics::JointLimits& limits = chain_.joints()[i].limits;
      const double low = std::isfinite(limits.lower) ? limits.lower : -3;
      const double high = std::isfinite(limits.upper) ? limits.upper : 3;
      q[i] = 0.5 * (low + high) + 0.5 * (high - low) * unit(random);
      qd[i] = 0.5 * std::min(limits.velocity > 0 ? limits.velocity : 1, 3.0) * unit(random);
    }
    dynamics.inertia_matrix(q, inertia);
    for (std::size_t i = 0; i < n; ++i) {
      qdd[i] = 0.3 * std::min(torque_limit[i] / (inertia[i * n + i] + 1e-12), 100.0) * unit(random);
    }
    for (std::size_t b = 0; b < n; ++b) {
      dynamics.regressor(q, qd, qdd, static_cast<int>(b), regressor);
      for (std::size_t k = 0; k < unknowns_.size(); ++k) {
        const Unknown& u = unknowns_[k];
        if (u.joint != b) continue;
        const double own = drive_column(k, qd[b], qdd[b]);
        for (std::size_t i = 0; i <= b; ++i) {
          const double* const row = regressor.data() + i * kParameters;
          const double torque = std::inner_product(row, row + kParameters, u.column.begin(), 0.0) +
                                (i == b ? own : 0.0);
          effect[k] += std::pow(torque * u.deviation / torque_limit[i], 2) / kStates;
        }
      }
    }
  }
  std::vector<double> sorted = effect;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const double least = std::max(kEffect * kEffect, sorted.size() > kMost ? sorted[kMost] : 0.0);
  std::vector<Unknown> kept;
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    if (effect[k] > least) kept.push_back(unknowns_[k]);
  }
  unknowns_ = kept;
  const auto of_drive = [](const Unknown& u) {
    return u.kind == Kind::kCoulomb || u.kind == Kind::kViscous || u.kind == Kind::kArmature;
  };
  for (std::size_t b = 0; b <= n; ++b) {
    const auto first = std::find_if(unknowns_.begin(), unknowns_.end(),
                                    [&](const Unknown& u) { return of_drive(u) || u.joint >= b; });
    begin_.push_back(static_cast<std::size_t>(first - unknowns_.begin()));
  }
}

/// Least and largest value of an unknown, with a payload of this mass.
ModelUnknowns::Bounds ModelUnknowns::bounds(std::size_t k, double payload) const noexcept {
  const Unknown& u = unknowns_[k];
  const double most = kBound * u.deviation;
  switch (u.kind) {
    case Kind::kMass:
    case Kind::kInertia:
      return {std::max(-most, kLeastShare - 1), most};
    case Kind::kCoulomb:
    case Kind::kViscous:
    case Kind::kArmature:
      return {std::max(-most, -1.0), most};
    case Kind::kPayloadMass:
      return {0, most};
    case Kind::kPayloadMoment: {
      const double moment = std::min(most, reach_ * (payload + kSlack));
      return {-moment, moment};
    }
    case Kind::kCom:
      break;
  }
  return {-most, most};
}

namespace {

/// Shortens a vector to a length.
void shorten(ga_dynamics::Vector3& v, double length) noexcept {
  const double own = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  if (!(own > length)) return;
  for (double& component : v) component *= length / own;
}

}  // namespace

void ModelUnknowns::limit(std::span<double> x) const noexcept {
  double mass = 0;
  ga_dynamics::Vector3 moment{};
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Bounds b = bounds(k, mass);
    x[k] = std::clamp(x[k], b.low, b.high);
    if (is_payload_mass(k)) mass = x[k];
    if (is_payload_moment(k)) moment[axis(k)] = x[k];
  }
  shorten(moment, reach_ * (mass + kSlack));
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (is_payload_moment(k)) x[k] = moment[axis(k)];
  }
}

ga_dynamics::LinkInertia ModelUnknowns::payload(std::span<const double> x) const noexcept {
  LinkInertia load{};
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (is_payload_mass(k)) load.mass = x[k];
    if (is_payload_moment(k)) load.com[axis(k)] = x[k];
  }
  if (!(load.mass > kLeastPayload)) return {};
  // A small mass must not get a long lever from the noise of its moment.
  for (double& component : load.com) component /= load.mass + kNoLever;
  shorten(load.com, reach_);
  return load;
}

void ModelUnknowns::scale(ga_dynamics::Drive& drive, Kind kind, double factor) noexcept {
  if (kind == Kind::kCoulomb) {
    drive.coulomb_positive *= factor;
    drive.coulomb_negative *= factor;
  }
  if (kind == Kind::kViscous) drive.viscous *= factor;
  if (kind == Kind::kArmature) drive.armature *= factor;
}

ga_dynamics::Drive ModelUnknowns::drive(std::size_t joint,
                                        std::span<const double> x) const noexcept {
  ga_dynamics::Drive drive = chain_.joints()[joint].drive;
  for (std::size_t k = begin_.back(); k < x.size(); ++k) {
    if (unknowns_[k].joint == joint) scale(drive, unknowns_[k].kind, 1 + x[k]);
  }
  return drive;
}

void ModelUnknowns::describe(Bodies& to) const noexcept {
  for (std::size_t i = 0; i < chain_.joints().size(); ++i) {
    const ChainJoint& joint = chain_.joints()[i];
    to.bodies[i] = joint.body;
    to.drives[i] = joint.drive;
    to.armature[i] = joint.drive.armature;
  }
}

void ModelUnknowns::make(std::span<const double> x, Bodies& to) const noexcept {
  describe(to);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Unknown& u = unknowns_[k];
    const std::size_t i = u.joint;
    const double value = x[k];
    switch (u.kind) {
      case Kind::kMass:
        to.bodies[i].mass *= 1 + value;
        break;
      case Kind::kInertia:
        for (double& entry : to.bodies[i].inertia) entry *= 1 + value;
        break;
      case Kind::kCom:
        to.bodies[i].com[u.axis] += value;
        break;
      case Kind::kPayloadMass:
      case Kind::kPayloadMoment:
        break;
      case Kind::kCoulomb:
      case Kind::kViscous:
      case Kind::kArmature:
        scale(to.drives[i], u.kind, 1 + value);
        to.armature[i] = to.drives[i].armature;
        break;
    }
  }
  const ga_dynamics::ChainLink& tip = chain_.tip();
  const LinkInertia load = payload(x);
  if (load.mass == 0 || tip.body == 0) return;
  LinkInertia& last = to.bodies[static_cast<std::size_t>(tip.body) - 1];
  last = ga_dynamics::lump(last, ga_dynamics::transformed(tip.pose, load));
}

}  // namespace ga_controllers
