// SPDX-License-Identifier: Apache-2.0
#include "ga_controllers/law_monitor.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "law_parameters.hpp"
#include "measured_arm.hpp"

namespace ga_controllers {

using ga_dynamics::Chain;

namespace {

/// Share of the torque limit that counts as the limit: DACs end a step below it.
constexpr double kAtLimit = 0.98;
/// Of the torque limit: a smaller usual model error is not one.
constexpr double kLeastError = 1e-3;
/// s; the usual model error is not known before.
constexpr double kUsualKnown = 2;
constexpr double kLongestCycle = 0.1;  ///< s

/// Weight of the newest value in an average over `window` [s] that has run for `time` [s]: the plain
/// mean at first, so that the average is right from the start.
double weight(double dt, double window, double time) noexcept {
  return dt / std::min(std::max(time, dt), window);
}

}  // namespace

LawMonitor::LawMonitor(const Chain& chain, std::vector<double> torque_limit,
                       std::vector<double> swing)
    : joints_(chain.joints().size()) {
  const std::size_t n = joints_.size();
  const auto sized = [n](const std::vector<double>& list, const char* name) {
    if (list.empty() || list.size() == n) return;
    throw std::invalid_argument("LawMonitor: " + std::string(name) + " has " +
                                std::to_string(list.size()) + " values for " + std::to_string(n) +
                                " joints");
  };
  sized(torque_limit, "torque_limit");
  sized(swing, "swing");
  for (std::size_t i = 0; i < n; ++i) {
    joints_[i].limit =
        torque_limit.empty() ? effort_limit(chain.joints()[i].limits) : torque_limit[i];
    joints_[i].swing = swing.empty() ? kSwing : std::max(kSwing, swing[i]);
    if (!(joints_[i].limit > 0)) {
      throw std::invalid_argument("LawMonitor: torque_limit of joint '" + chain.joints()[i].name +
                                  "' is " + std::to_string(joints_[i].limit) +
                                  "; it must be positive");
    }
  }
}

void LawMonitor::Turns::reset() noexcept { *this = Turns{}; }

void LawMonitor::Turns::update(double value, double swing, double dt, double longest) noexcept {
  if (!begun_) {
    begun_ = true;
    high_ = low_ = extreme_ = value;
    return;
  }
  since_extreme_ += dt;
  since_turn_ += dt;
  if (turned_ && since_turn_ > longest) {
    // The swings have ended, or are too slow to be one oscillation.
    reset();
    begun_ = true;
    high_ = low_ = extreme_ = value;
    return;
  }
  if (direction_ == 0) {
    high_ = std::max(high_, value);
    low_ = std::min(low_, value);
    if (value <= high_ - swing) direction_ = -1;
    if (value >= low_ + swing) direction_ = 1;
    extreme_ = value;
    since_extreme_ = 0;
  } else if (direction_ * (value - extreme_) > 0) {
    extreme_ = value;
    since_extreme_ = 0;
  } else if (direction_ * (extreme_ - value) >= swing) {
    if (turned_) {
      std::shift_right(size_.begin(), size_.end(), 1);
      std::shift_right(time_.begin(), time_.end(), 1);
      size_[0] = std::abs(extreme_ - turn_);
      time_[0] = since_turn_ - since_extreme_;
      count_ = std::min(count_ + 1, kKept);
    }
    turned_ = true;
    turn_ = extreme_;
    since_turn_ = since_extreme_;
    direction_ = -direction_;
    extreme_ = value;
    since_extreme_ = 0;
  }
}

double LawMonitor::Turns::part(const std::array<double, kKept>& of, std::size_t begin,
                               std::size_t end) const noexcept {
  double sum = 0;
  for (std::size_t k = begin; k < end; ++k) sum += of[k];
  return sum / static_cast<double>(end - begin);
}

bool LawMonitor::Turns::lasting() const noexcept {
  if (count_ < static_cast<std::size_t>(kTurns)) return false;
  // Neither dying out nor overdue: a swing that ended long ago is over.
  const std::size_t half = count_ / 2;
  return part(size_, 0, half) >= kLasting * part(size_, count_ - half, count_) &&
         since_turn_ < 3 * part(time_, 0, count_);
}

double LawMonitor::Turns::size() const noexcept { return part(size_, 0, count_); }

double LawMonitor::Turns::frequency() const noexcept {
  const double swing_time = part(time_, 0, count_);
  return swing_time > 0 ? 0.5 / swing_time : 0;
}

void LawMonitor::start() noexcept {
  for (Joint& joint : joints_) {
    joint.chatter = joint.saturated = joint.error = 0;
    joint.motion.reset();
    joint.torque.reset();
    joint.shown = {};
  }
  time_ = 0;
  has_before_ = false;
}

void LawMonitor::update(const MonitoredCycle& cycle, double dt) noexcept {
  const std::size_t n = joints_.size();
  const bool has_error = cycle.disturbance_torque.size() >= n;
  for (const auto& values : {cycle.q, cycle.q_ref, cycle.qd_ref, cycle.torque}) {
    if (values.size() < n || !all_finite(values, n)) return;
  }
  if (has_error && !all_finite(cycle.disturbance_torque, n)) return;
  if (!(dt > 0)) return;
  dt = std::min(dt, kLongestCycle);
  time_ += dt;
  if (has_error) usual_time_ += dt;
  const double recent = weight(dt, kWindow, time_), error = weight(dt, kErrorWindow, time_),
               usual = weight(dt, kUsualWindow, usual_time_);
  bool resting = true;
  for (std::size_t i = 0; i < n; ++i)
    resting = resting && !(std::abs(cycle.qd_ref[i]) > kRestVelocity);
  for (std::size_t i = 0; i < n; ++i) {
    Joint& joint = joints_[i];
    JointMonitor& shown = joint.shown;
    const double tau = cycle.torque[i];
    if (std::isfinite(joint.limit)) {
      const double change = has_before_ ? (tau - joint.torque_before) / joint.limit : 0;
      joint.chatter += recent * (change * change - joint.chatter);
      joint.saturated +=
          recent * ((std::abs(tau) >= kAtLimit * joint.limit ? 1.0 : 0.0) - joint.saturated);
      joint.torque.update(tau, kTorqueSwing * joint.limit, dt, kFastSwing);
      shown.chatter = std::sqrt(joint.chatter);
      shown.saturation = joint.saturated;
    }
    if (has_error && std::isfinite(joint.limit)) {
      const double d = cycle.disturbance_torque[i] / joint.limit;
      joint.error += error * (d * d - joint.error);
      joint.usual += usual * (d * d - joint.usual);
      shown.model_error = std::sqrt(joint.error);
      shown.model_error_ratio =
          usual_time_ > kUsualKnown
              ? shown.model_error / std::max(std::sqrt(joint.usual), kLeastError)
              : 0;
    }
    joint.torque_before = tau;
    if (resting) {
      joint.motion.update(cycle.q[i] - cycle.q_ref[i], joint.swing, dt, kLongestSwing);
    } else {
      joint.motion.reset();
    }
    const bool moves = joint.motion.lasting(), swings = joint.torque.lasting();
    shown.oscillation = moves ? joint.motion.size() : 0;
    shown.torque_oscillation = swings ? joint.torque.size() / joint.limit : 0;
    shown.frequency = moves ? joint.motion.frequency() : swings ? joint.torque.frequency() : 0;
  }
  has_before_ = true;
}

std::size_t LawMonitor::oscillating() const noexcept {
  std::size_t worst = joints_.size();
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const JointMonitor& shown = joints_[i].shown;
    if (!shown.oscillates()) continue;
    if (worst == joints_.size()) worst = i;
    const JointMonitor& other = joints_[worst].shown;
    const bool larger = shown.oscillation == other.oscillation
                            ? shown.torque_oscillation > other.torque_oscillation
                            : shown.oscillation > other.oscillation;
    if (larger) worst = i;
  }
  return worst;
}

}  // namespace ga_controllers
