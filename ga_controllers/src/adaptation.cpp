// SPDX-License-Identifier: Apache-2.0
#include "adaptation.hpp"

#include <algorithm>
#include <cmath>

namespace ga_controllers {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;

namespace {

/// s, between the parts of the work on a sample, which has two for each joint; as many as kParts in a
/// long cycle. kWait allows for cycles of uneven length.
constexpr double kPart = 1.5e-3, kWait = 0.75 * kPart;
constexpr int kParts = 2;
/// s, of the filter that both sides of the equations pass.
constexpr double kFilter = 0.02;
/// Of the torque limit: standard deviation of an equation of a joint that is tracked without error.
constexpr double kNoise = 2e-3;
/// rad/s; below, friction may be less than that of a moving joint.
constexpr double kMoving = 0.02;
/// Samples for which a joint has to move.
constexpr int kMovingSamples = 2;
/// Of the standard deviation of an equation without error: an acceleration that is less certain shakes
/// the trust in the estimate.
constexpr double kKnown = 3;
/// Standard deviations.
constexpr double kOutlier = 5;
/// Consecutive outliers of a joint, and s for which the adaptation pauses then.
constexpr int kOutliers = 3;
constexpr double kPause = 0.5;
/// Pauses after which the payload has changed, after which the estimate is wrong, and those that count;
/// equations in agreement that make up for one.
constexpr int kPayloadPauses = 5, kWrongPauses = 8, kMostPauses = 20, kAgreed = 200;
/// Factor on the noise of a joint at every further pause, its bound, and the one at every agreement.
constexpr double kNoisier = 3, kMostNoise = 60, kQuieter = 0.98;
/// Of the deviation before the first motion: that of a payload that is known.
constexpr double kKnownPayload = 0.3;
/// 1/s, of the variance before the first motion: how fast the estimate becomes uncertain.
constexpr double kForgetting = 1e-3;
/// Of the variance before the first motion: rounding must not make it negative.
constexpr double kLeastVariance = 1e-9;

/// N m; 100 for unlimited joints.
std::vector<double> finite(std::span<const double> limits) {
  std::vector<double> result(limits.begin(), limits.end());
  for (double& limit : result) limit = std::isfinite(limit) ? limit : 100;
  return result;
}

}  // namespace

Adaptation::Adaptation(const Chain& chain, const LawParameters& parameters,
                       std::span<const double> torque_limit)
    : chain_(chain),
      dynamics_(chain, {.drives = ga_dynamics::Drives::kArmature}),
      torque_limit_(finite(torque_limit)),
      friction_velocity_(parameters.friction_velocity),
      unknowns_(chain, parameters, torque_limit_),
      nominal_(chain.joints().size()) {
  const std::size_t n = chain.joints().size();
  for (std::vector<double>* v :
       {&sum_, &q_, &qd_, &qdd_, &doubt_, &mean_, &next_q_, &next_qd_, &next_qdd_, &next_doubt_,
        &residual_, &filtered_residual_, &filtered_doubt_}) {
    v->resize(n);
  }
  moving_.resize(n), outliers_.resize(n);
  body_regressor_.resize(n * kParameters);
  set_payload(parameters.payload);
  const std::size_t k = unknowns_.size();
  x_.resize(k), known_x_.resize(k), gain_.resize(k);
  noise_.resize(n);
  y_.resize(n * k), filtered_y_.resize(n * k);
  covariance_.resize(k * k);
  reset();
}

void Adaptation::set_payload(const ga_dynamics::Payload& payload) noexcept {
  const std::size_t n = nominal_.size();
  for (std::size_t i = 0; i < n; ++i) parameters_of(chain_.joints()[i].body, nominal_[i]);
  const ga_dynamics::ChainLink& tip = chain_.tip();
  if (payload.mass > 0 && tip.body > 0) {
    BodyParameters load;
    parameters_of(ga_dynamics::transformed(tip.pose, payload), load);
    for (std::size_t k = 0; k < kParameters; ++k) {
      nominal_[static_cast<std::size_t>(tip.body) - 1][k] += load[k];
    }
  }
  for (std::size_t k = 0; k < x_.size(); ++k) {
    const std::size_t axis = unknowns_.axis(k);
    double told = 0;
    if (unknowns_.is_payload_mass(k)) {
      told = std::max(payload.mass - known_.mass, 0.0);
    } else if (unknowns_.is_payload_moment(k) && payload.mass > known_.mass) {
      told = payload.mass * payload.com[axis] - known_.mass * known_.com[axis];
    }
    x_[k] -= told, known_x_[k] -= told;
  }
  known_ = payload;
  bound();
  unknowns_.limit(known_x_);
}

void Adaptation::forget_payload() noexcept {
  for (std::size_t k = 0; k < x_.size(); ++k) {
    if (of_payload(k)) x_[k] = known_x_[k] = 0;
  }
  doubt_payload();
}

void Adaptation::doubt_payload() noexcept {
  doubt_payload_again();
  pauses_ = 0;
  pause_ = 0;
  trust_ = 0;
}

void Adaptation::doubt_payload_again() noexcept {
  const std::size_t size = unknowns_.size();
  for (std::size_t i = 0; i < size; ++i) {
    if (!of_payload(i)) continue;
    for (std::size_t j = 0; j < size; ++j)
      covariance_[i * size + j] = covariance_[j * size + i] = 0;
    covariance_[i * size + i] = unknowns_.variance(i);
  }
}

void Adaptation::reset() noexcept {
  forget();
  std::fill(noise_.begin(), noise_.end(), 1.0);
  pause_ = 0;
  pauses_ = 0;
  trust_ = 0;
  interrupt();
}

/// Back to the description, and to its deviations.
void Adaptation::forget() noexcept {
  const std::size_t k = unknowns_.size();
  std::fill(x_.begin(), x_.end(), 0.0);
  std::fill(known_x_.begin(), known_x_.end(), 0.0);
  std::fill(covariance_.begin(), covariance_.end(), 0.0);
  for (std::size_t i = 0; i < k; ++i) {
    covariance_[i * k + i] = unknowns_.variance(i);
  }
}

bool Adaptation::payload_known() const noexcept {
  const std::size_t size = unknowns_.size();
  for (std::size_t k = 0; k < size; ++k) {
    const double most = kKnownPayload * kKnownPayload * unknowns_.variance(k);
    if (unknowns_.is_payload_mass(k)) return covariance_[k * size + k] <= most;
  }
  return true;
}

void Adaptation::publish() noexcept {
  const bool payload = payload_known();
  for (std::size_t k = 0; k < x_.size(); ++k) {
    if (payload || !of_payload(k)) known_x_[k] = x_[k];
  }
}

void Adaptation::begin_sample() noexcept {
  for (std::vector<double>* v : {&sum_, &q_, &qd_, &qdd_, &doubt_}) {
    std::fill(v->begin(), v->end(), 0.0);
  }
  collected_ = 0;
  phase_ = 0;
  valid_ = true;
}

void Adaptation::interrupt() noexcept {
  begin_sample();
  ready_ = false;
  filtered_samples_ = 0;
  std::fill(outliers_.begin(), outliers_.end(), 0);
  std::fill(moving_.begin(), moving_.end(), 0);
}

bool Adaptation::take(const Sample& s, double dt) noexcept {
  const std::size_t n = nominal_.size();
  if (unknowns_.size() == 0) return false;
  pause_ = std::max(pause_ - dt, 0.0);
  valid_ = valid_ && s.valid && dt > 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum_[i] += s.tau[i] * dt;
    q_[i] += s.q[i] * dt, qd_[i] += s.qd[i] * dt, qdd_[i] += s.qdd[i] * dt;
    doubt_[i] += s.doubt[i] * dt;
  }
  collected_ += dt;
  waited_ = std::min(waited_ + dt, kParts * kPart);
  bool works = false;
  for (int part = 0; part < kParts && waited_ >= kWait; ++part) {
    waited_ = std::max(waited_ - kPart, 0.0);
    works = true;
    if (phase_ < 2 * n) process(phase_++);
  }
  if (phase_ < 2 * n) return works;
  phase_ = 0;
  if (ready_) {
    finish_regressor();
    low_pass();
  }
  ready_ = valid_ && collected_ > 0;
  if (!ready_) {
    interrupt();
    return works;
  }
  for (std::size_t i = 0; i < n; ++i) {
    mean_[i] = sum_[i] / collected_;
    next_q_[i] = q_[i] / collected_, next_qd_[i] = qd_[i] / collected_;
    next_qdd_[i] = qdd_[i] / collected_, next_doubt_[i] = doubt_[i] / collected_;
  }
  period_ = collected_;
  begin_sample();
  return works;
}

/// The regressor of a body and the equation of a joint in turn.
void Adaptation::process(std::size_t part) noexcept {
  if (part % 2 == 0 && ready_) process_body(part / 2);
  if (part % 2 == 1 && filtered_samples_ > 0 && !(pause_ > 0)) process_joint(part / 2);
}

/// The columns of a body's unknowns, and its part of the residual.
void Adaptation::process_body(std::size_t b) noexcept {
  const std::size_t n = nominal_.size(), size = unknowns_.size();
  dynamics_.regressor(next_q_, next_qd_, next_qdd_, static_cast<int>(b), body_regressor_);
  for (std::size_t i = 0; i < n; ++i) {
    const double* const row = body_regressor_.data() + i * kParameters;
    double own = 0;
    for (std::size_t j = 0; j < kParameters; ++j) own += row[j] * nominal_[b][j];
    residual_[i] = (b == 0 ? mean_[i] : residual_[i]) - own;
    for (std::size_t k = unknowns_.begin(b); k < unknowns_.begin(b + 1); ++k) {
      double torque = 0;
      for (std::size_t j = 0; j < kParameters; ++j) torque += row[j] * unknowns_.column(k)[j];
      y_[i * size + k] = torque;
    }
  }
}

void Adaptation::finish_regressor() noexcept {
  const std::size_t n = nominal_.size(), size = unknowns_.size();
  for (std::size_t i = 0; i < n; ++i) {
    const ga_dynamics::Drive& drive = chain_.joints()[i].drive;
    residual_[i] -= drive.armature * next_qdd_[i] + drive.friction(next_qd_[i], friction_velocity_);
  }
  for (std::size_t k = unknowns_.begin(n); k < size; ++k) {
    const std::size_t joint = unknowns_.joint(k);
    y_[joint * size + k] = unknowns_.drive_column(k, next_qd_[joint], next_qdd_[joint]);
  }
}

void Adaptation::low_pass() noexcept {
  const std::size_t n = nominal_.size();
  const double share = 1 - std::exp(-period_ / kFilter);
  const bool first = filtered_samples_ == 0;
  const auto filter = [&](double& filtered, double value) {
    filtered = first ? value : filtered + share * (value - filtered);
  };
  for (std::size_t i = 0; i < y_.size(); ++i) filter(filtered_y_[i], y_[i]);
  for (std::size_t i = 0; i < n; ++i) {
    filter(filtered_residual_[i], residual_[i]);
    filter(filtered_doubt_[i], next_doubt_[i]);
    const bool moves = std::abs(next_qd_[i]) > kMoving;
    moving_[i] = moves ? std::min(moving_[i] + 1, kMovingSamples) : 0;
  }
  filtered_samples_ = std::min(filtered_samples_ + 1, kMovingSamples);
}

/// A step of the Kalman filter with the equation of one joint.
void Adaptation::process_joint(std::size_t joint) noexcept {
  const std::size_t k = unknowns_.size();
  if (moving_[joint] < kMovingSamples) return;
  const double* const y = filtered_y_.data() + joint * k;
  std::fill(gain_.begin(), gain_.end(), 0.0);
  double* const gain = gain_.data();
  for (std::size_t j = 0; j < k; ++j) {
    if (y[j] == 0) continue;  // bodies nearer to the base, other drives
    const double* const row = covariance_.data() + j * k;
    for (std::size_t i = 0; i < k; ++i) gain[i] += row[i] * y[j];
  }
  double variance = 0, expected = 0;
  for (std::size_t i = 0; i < k; ++i) {
    variance += gain[i] * y[i];
    expected += y[i] * x_[i];
  }
  const double noise = noise_[joint] * kNoise * torque_limit_[joint];
  // Filtered samples are correlated: so many of them count as one.
  const double repeated = std::max(2 * kFilter / std::max(period_, 1e-6), 1.0);
  const double own = (noise * noise + filtered_doubt_[joint] * filtered_doubt_[joint]) * repeated;
  const double innovation = filtered_residual_[joint] - expected;
  if (!(innovation * innovation <= kOutlier * kOutlier * (variance + own))) {
    trust_ = 0;
    if (++outliers_[joint] >= kOutliers) contradict(joint);
    return;
  }
  outliers_[joint] = 0;
  trust_ = filtered_doubt_[joint] > kKnown * noise ? 0 : std::min(trust_ + 1, kTrusted);
  agree();
  const double scale = 1 / (variance + own);
  for (std::size_t i = 0; i < k; ++i) x_[i] += gain[i] * scale * innovation;
  for (std::size_t i = 0; i < k; ++i) {
    double* const row = covariance_.data() + i * k;
    const double factor = gain[i] * scale;
    for (std::size_t j = 0; j < k; ++j) row[j] -= factor * gain[j];
    const double most = unknowns_.variance(i);
    const double grown =
        row[i] + kForgetting * most * period_ / static_cast<double>(nominal_.size());
    row[i] = std::clamp(grown, kLeastVariance * most, most);
  }
  bound();
  publish();
}

/// Equations of this joint contradict the estimate.
void Adaptation::contradict(std::size_t joint) noexcept {
  agreed_ = 0;
  pause_ = kPause;
  if (!payload_known()) {
    std::copy(known_x_.begin(), known_x_.end(), x_.begin());
    doubt_payload_again();
  }
  pauses_ = std::min(pauses_ + 1, kMostPauses);
  if (pauses_ == kPayloadPauses) doubt_payload_again();
  // Forgetting has not helped if the joint contradicts the description, too.
  const bool helpless = pauses_ > kWrongPauses || noise_[joint] > 1;
  if (pauses_ == kWrongPauses && !helpless) forget();
  for (std::size_t i = 0; i < noise_.size(); ++i) {
    const bool contradicts = i == joint || outliers_[i] > 0;
    if (helpless && contradicts) noise_[i] = std::min(kNoisier * noise_[i], kMostNoise);
    outliers_[i] = 0;
  }
}

void Adaptation::agree() noexcept {
  if (++agreed_ < kAgreed) return;
  agreed_ = 0;
  pauses_ = std::max(pauses_ - 1, 0);
  for (double& noise : noise_) noise = std::max(kQuieter * noise, 1.0);
}

/// Moves unknowns beyond their bounds onto them, and the others to what is most likely then.
void Adaptation::bound() noexcept {
  const std::size_t size = x_.size();
  for (const bool last : {false, true}) {
    double payload = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const ModelUnknowns::Bounds b = unknowns_.bounds(i, payload);
      const double beyond = std::clamp(x_[i], b.low, b.high) - x_[i];
      if (beyond != 0 && !last) {
        const double* const row = covariance_.data() + i * size;
        for (std::size_t j = 0; j < size; ++j) x_[j] += beyond * row[j] / row[i];
      }
      x_[i] = std::clamp(x_[i], b.low, b.high);
      if (unknowns_.is_payload_mass(i)) payload = x_[i];
    }
  }
  unknowns_.limit(x_);
}

AdaptedModel Adaptation::estimate() const noexcept {
  AdaptedModel model;
  const std::size_t size = unknowns_.size();
  for (std::size_t k = 0; k < size; ++k) {
    if (unknowns_.is_payload_mass(k)) {
      model.payload_mass_deviation = std::sqrt(std::max(covariance_[k * size + k], 0.0));
    }
  }
  const ga_dynamics::LinkInertia load = unknowns_.payload(known_x_);
  model.payload_mass = load.mass;
  model.payload_com = load.com;
  model.paused = pause_ > 0;
  return model;
}

}  // namespace ga_controllers
