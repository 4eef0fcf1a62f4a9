// SPDX-License-Identifier: Apache-2.0
#include "amplifiers.hpp"

#include <algorithm>
#include <utility>

namespace ga_hardware {

Amplifiers::Amplifiers(const ga_dynamics::Chain& chain, const Disturbances& disturbances,
                       std::vector<double> constants)
    : n_(chain.joints().size()),
      delay_(static_cast<std::size_t>(disturbances.delay)),
      lag_(disturbances.lag),
      constants_(std::move(constants)),
      queue_(n_ * delay_),
      target_(n_),
      now_(n_) {
  for (const auto& joint : chain.joints()) {
    limits_.push_back(disturbances.torque_limit * joint.limits.effort);
  }
}

void Amplifiers::set_target(std::span<const double> torque) noexcept {
  for (std::size_t i = 0; i < n_; ++i) {
    target_[i] = std::clamp(constants_[i] * torque[i], -limits_[i], limits_[i]);
  }
}

void Amplifiers::settle(std::span<const double> torque) noexcept {
  for (std::size_t k = 0; k < delay_; ++k) {
    std::copy_n(torque.begin(), n_, queue_.begin() + static_cast<std::ptrdiff_t>(k * n_));
  }
  set_target(torque);
  std::copy(target_.begin(), target_.end(), now_.begin());
}

void Amplifiers::begin(std::span<const double> torque) noexcept {
  if (delay_ == 0) {
    set_target(torque);
  } else {
    const std::span<double> slot(queue_.data() + oldest_ * n_, n_);
    set_target(slot);
    std::copy_n(torque.begin(), n_, slot.begin());
    oldest_ = (oldest_ + 1) % delay_;
  }
  if (constant()) std::copy(target_.begin(), target_.end(), now_.begin());
}

void Amplifiers::end(double dt) noexcept {
  for (std::size_t i = 0; i < n_; ++i) now_[i] = at(i, dt);
}

}  // namespace ga_hardware
