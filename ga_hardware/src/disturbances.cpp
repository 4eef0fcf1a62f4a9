// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <stdexcept>

#include "ga_hardware/parameter_text.hpp"
#include "ga_hardware/simulated_arm.hpp"

namespace ga_hardware {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using ga_dynamics::DhJoint;
using ga_dynamics::LinkInertia;

namespace {

constexpr double kPercent = 0.01;

constexpr DisturbanceOption kOptions[] = {
    {"mismatch", &Disturbances::mismatch, 0, 99, kPercent, " %",
     "random error of every mass and inertia, up to this many %"},
    {"com_error", &Disturbances::com_error, 0, 0.5, 1, " m",
     "random error of every center of mass, up to so many m along each axis"},
    {"friction_error", &Disturbances::friction_error, 0, 99, kPercent, " %",
     "random error of every joint's friction, up to this many %"},
    {"armature_error", &Disturbances::armature_error, 0, 99, kPercent, " %",
     "random error of every rotor inertia, up to this many %"},
    {"torque_constant_error", &Disturbances::torque_constant_error, 0, 99, kPercent, " %",
     "random error of every motor's torque constant, up to this many %"},
    {"stiction", &Disturbances::stiction, 1, 10, 1, ", break-away over Coulomb friction",
     "break-away over Coulomb friction"},
    {"delay", &Disturbances::delay, 0, 100, 1, " whole cycles",
     "cycles from the command to the amplifier", true},
    {"lag", &Disturbances::lag, 0, 0.1, 1, " s", "time constant of the amplifiers, s"},
    {"torque_limit", &Disturbances::torque_limit, 0.01, 1, 1, ", part of the effort limit",
     "what the motors give at most, part of the effort limit"},
    {"elastic_frequency", &Disturbances::elastic_frequency, 0, 200, 1, " Hz; 0 for rigid drives",
     "resonance of the elastic drives with the link free, Hz; 0: rigid. Motor-side encoder"},
    {"elastic_ratio", &Disturbances::elastic_ratio, 0.01, 10, 1, ", motor over link inertia",
     "motor over link inertia of elastic drives"},
    {"elastic_damping", &Disturbances::elastic_damping, 0, 1, 1, ", damping ratio",
     "damping ratio of the elastic drives' resonance"},
};

/// Random errors of one kind. The first kind has the generator that `--mismatch` always had.
class Errors {
 public:
  Errors(unsigned seed, unsigned kind, double most) : error_(-most, most) {
    if (kind == 0) {
      random_.seed(seed);
    } else {
      std::seed_seq sequence{seed, kind};
      random_.seed(sequence);
    }
  }
  double next() { return error_(random_); }

 private:
  std::mt19937 random_;
  std::uniform_real_distribution<double> error_;
};

}  // namespace

std::span<const DisturbanceOption> disturbance_options() noexcept { return kOptions; }

std::string refusal(const DisturbanceOption& option, double displayed) {
  const bool in_range = displayed >= option.least && displayed <= option.most;
  if (in_range && (!option.whole || displayed == std::floor(displayed))) return {};
  char text[128];
  std::snprintf(text, sizeof text, "give %g to %g%s", option.least, option.most, option.unit);
  return text;
}

Disturbances read_disturbances(const std::string& where, ParameterText& parameters,
                               std::span<const std::string_view> only) {
  Disturbances disturbances;
  for (const DisturbanceOption& option : kOptions) {
    if (!only.empty() && std::find(only.begin(), only.end(), option.name) == only.end()) continue;
    double& value = disturbances.*option.value;
    const double given =
        parameters.number(option.name, value / option.scale, option.least, option.most);
    if (const std::string problem = refusal(option, given); !problem.empty()) {
      throw std::runtime_error(where + ": parameter " + option.name + " is '" +
                               parameters.text(option.name) + "'; " + problem);
    }
    value = given * option.scale;
  }
  return disturbances;
}

void check(const Disturbances& disturbances) {
  for (const DisturbanceOption& option : kOptions) {
    const double value = disturbances.*option.value;
    // Scaling back and forth must not push a value at its bound over it.
    const double displayed = std::round(value / option.scale * 1e9) / 1e9;
    const std::string problem = refusal(option, displayed);
    if (problem.empty()) continue;
    char text[64];
    std::snprintf(text, sizeof text, " is %g; ", displayed);
    throw std::invalid_argument(option.name + (text + problem));
  }
}

std::vector<JointErrors> draw_errors(const Disturbances& d, std::size_t joints, unsigned seed) {
  Errors body(seed, 0, d.mismatch), com(seed, 1, d.com_error), friction(seed, 2, d.friction_error);
  Errors armature(seed, 3, d.armature_error), constant(seed, 4, d.torque_constant_error);
  std::vector<JointErrors> errors(joints);
  for (JointErrors& e : errors) {
    e.mass = 1 + body.next();
    e.inertia = 1 + body.next();
    for (double& coordinate : e.com) coordinate = com.next();
    e.friction = 1 + friction.next();
    e.armature = 1 + armature.next();
    e.torque_constant = 1 + constant.next();
  }
  return errors;
}

Chain actual_arm(const Chain& described, std::span<const JointErrors> errors,
                 const LinkInertia& payload) {
  if (!errors.empty() && errors.size() != described.joints().size()) {
    throw std::invalid_argument("errors: " + std::to_string(errors.size()) +
                                " values; give one for each of the " +
                                std::to_string(described.joints().size()) + " joints, or none");
  }
  std::vector<DhJoint> rows;
  for (const ChainJoint& joint : described.joints()) {
    DhJoint row{joint.type, joint.dh, joint.body, joint.drive, joint.limits, joint.name};
    const JointErrors error = errors.empty() ? JointErrors{} : errors[rows.size()];
    row.body.mass *= error.mass;
    for (double& entry : row.body.inertia) entry *= error.inertia;
    for (std::size_t k = 0; k < 3; ++k) row.body.com[k] += error.com[k];
    row.drive.armature *= error.armature;
    row.drive.viscous *= error.friction;
    row.drive.coulomb_positive *= error.friction;
    row.drive.coulomb_negative *= error.friction;
    rows.push_back(row);
  }
  if (payload.mass > 0) {
    const ga_dynamics::ChainLink& tip = described.tip();
    if (tip.body > 0) {
      LinkInertia& last = rows[static_cast<std::size_t>(tip.body) - 1].body;
      last = ga_dynamics::lump(last, ga_dynamics::transformed(tip.pose, payload));
    }
  }
  return Chain::from_dh(rows, described.gravity_in_frame0());
}

}  // namespace ga_hardware
