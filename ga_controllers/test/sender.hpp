// SPDX-License-Identifier: Apache-2.0
#ifndef SENDER_HPP_
#define SENDER_HPP_

// A sender of references that corrupts them in every way that a law must tolerate.

#include <algorithm>
#include <cmath>
#include <random>

#include "wave.hpp"

namespace ga_controllers {

using ga_dynamics::Chain;
using Random = std::mt19937;

/// Reference of one cycle; empty values are not given.
struct Sample {
  Values q, qd, qdd;
  Reference reference() const { return {q, qd, qdd}; }
};

inline double or_else(double limit, double value) { return std::isfinite(limit) ? limit : value; }

/// Behavior of a sender for a while. Each kind is one fault.
enum class Fault {
  kNone,
  kNoise,              ///< of positions
  kRateNoise,          ///< of velocities and accelerations
  kSteps,              ///< to anywhere in the joint's range, and slightly beyond
  kHeld,               ///< samples, with their rates
  kHeldPositions,      ///< samples, without rates
  kPositions,          ///< alone
  kNoAccelerations,    ///< velocities, but no accelerations
  kDropped,            ///< cycles without a reference
  kNotFinite,          ///< single values
  kHuge,               ///< single values
  kWildVelocities,     ///< that contradict the positions
  kWildAccelerations,  ///< likewise
  kAnything            ///< in every cycle another position, velocity and acceleration
};
constexpr int kFaults = 14;

/// A sender: smooth motions in the middle of the joints' ranges, corrupted by one fault after
/// another (or by a single one), then at rest.
class Sender {
 public:
  Sender(const Chain& chain, unsigned seed, int only) : chain_(chain), random_(seed), only_(only) {
    const std::size_t n = chain.joints().size();
    for (const auto& joint : chain.joints()) {
      const double low = or_else(joint.limits.lower, -2), high = or_else(joint.limits.upper, 2);
      middle_.push_back((low + high) / 2);
      reach_.push_back((high - low) / 2);
      speed_.push_back(or_else(joint.limits.velocity, 3));
      phase_.push_back(6 * uniform());
    }
    sample_ = {middle_, Values(n, 0.0), Values(n, 0.0)};
    choose();
  }

  Sample next() {
    if (--cycles_ <= 0) choose();
    ++now_;
    switch (fault_) {
      case Fault::kHeld:
      case Fault::kHeldPositions:
        if (now_ % period_ == 0) sample_ = motion();
        break;
      case Fault::kSteps:
        if (now_ % period_ == 0) sample_ = step();
        break;
      default:
        sample_ = motion();
    }
    Sample out = sample_;
    const std::size_t n = out.q.size(), i = random_() % n;
    for (std::size_t k = 0; k < n; ++k) {
      if (fault_ == Fault::kNoise) out.q[k] += size_ * normal();
      if (fault_ == Fault::kRateNoise) out.qd[k] += size_ * normal();
      if (fault_ == Fault::kRateNoise) out.qdd[k] += 10 * size_ * normal();
      const bool anything = fault_ == Fault::kAnything;
      if (anything) out.q[k] = middle_[k] + reach_[k] * (2 * uniform() - 1);
      if (anything || fault_ == Fault::kWildVelocities) out.qd[k] = 3 * speed_[k] * normal();
      if (anything || fault_ == Fault::kWildAccelerations) out.qdd[k] = 1000 * normal();
    }
    const double nonsense[] = {1e300, -1e300, 1e12, -1e9, INFINITY, -INFINITY, NAN};
    const bool hit = uniform() < 0.3;
    auto& values = random_() % 3 == 0 ? out.q : random_() % 2 == 0 ? out.qd : out.qdd;
    if (fault_ == Fault::kNotFinite && hit) values[i] = NAN;
    if (fault_ == Fault::kHuge && hit) values[i] = nonsense[random_() % 7];
    if (fault_ == Fault::kDropped && hit) return {};
    if (fault_ == Fault::kPositions || fault_ == Fault::kHeldPositions) out.qd = out.qdd = {};
    if (fault_ == Fault::kNoAccelerations) out.qdd = {};
    return out;
  }

  /// Near the last sample.
  Sample rest() const {
    Sample rest{sample_.q, Values(sample_.q.size(), 0.0), Values(sample_.q.size(), 0.0)};
    for (std::size_t k = 0; k < rest.q.size(); ++k) {
      rest.q[k] =
          std::clamp(rest.q[k], middle_[k] - 0.95 * reach_[k], middle_[k] + 0.95 * reach_[k]);
    }
    return rest;
  }

 private:
  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  double normal() { return std::normal_distribution<double>()(random_); }
  void choose() {
    fault_ = static_cast<Fault>(only_ >= 0 ? only_ : static_cast<int>(random_() % kFaults));
    cycles_ = 20 + static_cast<int>(random_() % 800);
    period_ = 2 + static_cast<int>(random_() % 30);
    if (fault_ == Fault::kSteps && random_() % 2 == 0) period_ *= 20;
    size_ = std::pow(10, -4.5 + 3.5 * uniform());
    rests_ = random_() % 3 == 0;
  }
  /// A slow wave, or a rest on it.
  Sample motion() {
    if (!rests_) time_ += kDt;
    Sample out = sample_;
    for (std::size_t k = 0; k < out.q.size(); ++k) {
      const double a = std::min(reach_[k] / 3, speed_[k] / 4), w = 1 + 0.2 * static_cast<double>(k);
      out.q[k] = middle_[k] + a * std::sin(w * time_ + phase_[k]);
      out.qd[k] = rests_ ? 0 : a * w * std::cos(w * time_ + phase_[k]);
      out.qdd[k] = rests_ ? 0 : -a * w * w * std::sin(w * time_ + phase_[k]);
    }
    return out;
  }
  Sample step() {
    Sample out{middle_, Values(middle_.size(), 0.0), Values(middle_.size(), 0.0)};
    for (std::size_t k = 0; k < out.q.size(); ++k) {
      out.q[k] += 1.1 * reach_[k] * (2 * uniform() - 1);
    }
    return out;
  }

  const Chain& chain_;
  Random random_;
  int only_;
  Values middle_, reach_, speed_, phase_;
  Sample sample_;
  Fault fault_ = Fault::kNone;
  int cycles_ = 0, period_ = 10, now_ = 0;
  double size_ = 0, time_ = 0;
  bool rests_ = false;
};

}  // namespace ga_controllers

#endif  // SENDER_HPP_
