// SPDX-License-Identifier: Apache-2.0
#include "simulated_drives.hpp"

namespace ga_hardware {

using ga_dynamics::Chain;

namespace {

std::vector<double> torque_constants(const std::vector<JointErrors>& errors) {
  std::vector<double> constants;
  for (const JointErrors& error : errors) constants.push_back(error.torque_constant);
  return constants;
}

ga_dynamics::PlantOptions plant_options(const SimulatedArmSettings& s) {
  ga_dynamics::PlantOptions options = s.plant;
  options.static_ratio *= s.disturbances.stiction;
  return options;
}

}  // namespace

SimulatedDrives::SimulatedDrives(const Chain& described, const SimulatedArmSettings& s)
    : n_(described.joints().size()),
      start_(s.start.empty() ? std::vector<double>(n_) : s.start),
      rest_(n_),
      errors_(s.errors.empty() ? draw_errors(s.disturbances, n_, s.seed) : s.errors),
      actual_(actual_arm(s.actual ? *s.actual : described, errors_, s.payload)),
      elastic_(
          s.disturbances.elastic_frequency > 0
              ? std::make_unique<ElasticDrives>(actual_, s.disturbances, plant_options(s), start_)
              : nullptr),
      plant_(elastic_ ? elastic_->link_side() : actual_,
             elastic_ ? elastic_->link_options() : plant_options(s)),
      amplifiers_(described, s.disturbances, torque_constants(errors_)) {
  lagging_ = [this](double t, std::span<const double>, std::span<const double>,
                    std::span<double> tau) {
    for (std::size_t i = 0; i < n_; ++i) tau[i] = amplifiers_.at(i, t - cycle_begin_);
  };
  reset();
}

void SimulatedDrives::reset() noexcept {
  if (elastic_) {
    elastic_->reset(plant_, start_);
  } else {
    plant_.reset(start_, rest_);
  }
}

void SimulatedDrives::set_brakes(bool closed) noexcept {
  if (elastic_) {
    elastic_->set_brakes(closed);
  } else {
    for (std::size_t i = 0; i < n_; ++i) plant_.set_brake(static_cast<int>(i), closed);
  }
}

bool SimulatedDrives::move(std::span<const double> torque, double dt) noexcept {
  amplifiers_.begin(torque);
  cycle_begin_ = plant_.time();
  bool moved = false;
  if (elastic_) {
    moved = elastic_->step(plant_, amplifiers_, dt);
  } else if (amplifiers_.constant()) {
    moved = plant_.step(amplifiers_.target(), dt);
  } else {
    moved = plant_.step(lagging_, dt);
  }
  amplifiers_.end(dt);
  return moved;
}

}  // namespace ga_hardware
