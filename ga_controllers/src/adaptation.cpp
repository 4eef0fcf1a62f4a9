// SPDX-License-Identifier: Apache-2.0
#include "adaptation.hpp"

#include <algorithm>
#include <cmath>

#include "small_matrix.hpp"

namespace ga_controllers {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;

namespace {

/// s, of the filter that both sides of the equations pass.
constexpr double kFilter = 0.02;
/// Of the torque limit: standard deviation of an equation of a joint that is tracked without error.
constexpr double kNoise = 2e-3;
/// rad/s; below, friction may be less than that of a moving joint.
constexpr double kMoving = 0.02;
/// Samples for which a joint has to move.
constexpr int kMovingSamples = 4;
/// An equation counts if its variance by the estimate is at least this share of its own variance.
constexpr double kInformative = 1e-3;
/// Standard deviations.
constexpr double kOutlier = 5;
/// Consecutive outliers of a joint, and s for which the adaptation pauses then.
constexpr int kOutliers = 5;
constexpr double kPause = 0.5;
/// Pauses after which the payload has changed, and equations in agreement that begin to count anew.
constexpr int kPauses = 5, kAgreed = 600;
/// 1/s, of the variance before the first motion: how fast the estimate becomes uncertain.
constexpr double kForgetting = 1e-3;
/// Of the variance before the first motion: rounding must not make it negative.
constexpr double kLeastVariance = 1e-9;
/// Changes of the share of the estimated bodies at a time.
constexpr double kShareRise = 0.02, kShareFall = 0.1;
/// Between the used and the described inertia about any direction of motion.
constexpr double kInertiaRatio = 2;

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
      candidate_(chain, {.drives = ga_dynamics::Drives::kArmature}),
      torque_limit_(finite(torque_limit)),
      friction_velocity_(parameters.friction_velocity),
      unknowns_(chain, parameters, torque_limit_),
      nominal_(chain.joints().size()) {
  const std::size_t n = chain.joints().size();
  for (const ChainJoint& joint : chain.joints()) {
    model_.bodies.push_back(joint.body);
    model_.armature.push_back(joint.drive.armature);
    model_.drives.push_back(joint.drive);
  }
  for (std::vector<double>* v :
       {&sum_, &q_, &qd_, &qdd_, &doubt_, &mean_, &next_q_, &next_qd_, &next_qdd_, &next_doubt_,
        &residual_, &filtered_residual_, &filtered_doubt_, &rate_}) {
    v->resize(n);
  }
  moving_.resize(n), outliers_.resize(n);
  body_regressor_.resize(n * kParameters);
  inertia_.resize(n * n), candidate_inertia_.resize(n * n), factor_.resize(n * n);
  set_payload(parameters.payload);
  const std::size_t k = unknowns_.size();
  x_.resize(k), chosen_.resize(k), used_.resize(k), before_.resize(k), gain_.resize(k);
  y_.resize(n * k), filtered_y_.resize(n * k);
  covariance_.resize(k * k);
  reset();
}

void Adaptation::set_payload(const ga_dynamics::Payload& payload) noexcept {
  const std::size_t n = nominal_.size();
  dynamics_.set_payload(payload);
  candidate_.set_payload(payload);
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
    if (unknowns_.is_payload_mass(k)) {
      x_[k] = std::max(x_[k] - (payload.mass - known_.mass), 0.0);
    } else if (unknowns_.is_payload_moment(k)) {
      x_[k] -= payload.mass * payload.com[axis] - known_.mass * known_.com[axis];
    }
  }
  known_ = payload;
}

void Adaptation::doubt_payload() noexcept {
  const std::size_t size = unknowns_.size();
  for (std::size_t i = 0; i < size; ++i) {
    if (!unknowns_.is_payload_mass(i) && !unknowns_.is_payload_moment(i)) continue;
    for (std::size_t j = 0; j < size; ++j)
      covariance_[i * size + j] = covariance_[j * size + i] = 0;
    covariance_[i * size + i] = unknowns_.variance(i);
  }
  pauses_ = 0;
  pause_ = 0;
}

void Adaptation::reset() noexcept {
  const std::size_t k = unknowns_.size();
  std::fill(x_.begin(), x_.end(), 0.0);
  std::fill(covariance_.begin(), covariance_.end(), 0.0);
  for (std::size_t i = 0; i < k; ++i) {
    covariance_[i * k + i] = unknowns_.variance(i);
  }
  pause_ = 0;
  pauses_ = 0;
  interrupt();
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

void Adaptation::take(const Sample& s, double dt) noexcept {
  const std::size_t n = nominal_.size();
  if (unknowns_.size() == 0) return;
  pause_ = std::max(pause_ - dt, 0.0);
  valid_ = valid_ && s.valid && dt > 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum_[i] += s.tau[i] * dt;
    q_[i] += s.q[i] * dt, qd_[i] += s.qd[i] * dt, qdd_[i] += s.qdd[i] * dt;
    doubt_[i] += s.doubt[i] * dt;
  }
  collected_ += dt;
  if (ready_) process_body(phase_);
  if (filtered_samples_ > 0 && !(pause_ > 0)) process_joint(phase_);
  if (++phase_ < n) return;
  phase_ = 0;
  if (ready_) {
    finish_regressor();
    low_pass();
  }
  ready_ = valid_ && collected_ > 0;
  if (!ready_) {
    interrupt();
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    mean_[i] = sum_[i] / collected_;
    next_q_[i] = q_[i] / collected_, next_qd_[i] = qd_[i] / collected_;
    next_qdd_[i] = qdd_[i] / collected_, next_doubt_[i] = doubt_[i] / collected_;
  }
  period_ = collected_;
  begin_sample();
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
    const bool reverses = next_qd_[i] * rate_[i] <= 0;
    moving_[i] = moves && !reverses ? std::min(moving_[i] + 1, kMovingSamples) : 0;
    rate_[i] = next_qd_[i];
  }
  filtered_samples_ = std::min(filtered_samples_ + 1, kMovingSamples);
}

/// A step of the Kalman filter with the equation of one joint.
void Adaptation::process_joint(std::size_t joint) noexcept {
  const std::size_t k = unknowns_.size();
  if (moving_[joint] < kMovingSamples) return;
  const double* const y = filtered_y_.data() + joint * k;
  double variance = 0, expected = 0;
  for (std::size_t i = 0; i < k; ++i) {
    const double* const row = covariance_.data() + i * k;
    double sum = 0;
    for (std::size_t j = 0; j < k; ++j) sum += row[j] * y[j];
    gain_[i] = sum;
    variance += sum * y[i];
    expected += y[i] * x_[i];
  }
  const double noise = kNoise * torque_limit_[joint];
  // Filtered samples are correlated: so many of them count as one.
  const double repeated = std::max(2 * kFilter / std::max(period_, 1e-6), 1.0);
  const double own = (noise * noise + filtered_doubt_[joint] * filtered_doubt_[joint]) * repeated;
  const double innovation = filtered_residual_[joint] - expected;
  if (!(innovation * innovation <= kOutlier * kOutlier * (variance + own))) {
    if (++outliers_[joint] >= kOutliers) {
      pause_ = kPause;
      agreed_ = 0;
      outliers_[joint] = 0;
      if (++pauses_ >= kPauses) doubt_payload();
    }
    return;
  }
  outliers_[joint] = 0;
  if (!(pause_ > 0) && ++agreed_ >= kAgreed) pauses_ = 0;
  if (!(variance > kInformative * own)) return;
  const double scale = 1 / (variance + own);
  for (std::size_t i = 0; i < k; ++i) x_[i] += gain_[i] * scale * innovation;
  for (std::size_t i = 0; i < k; ++i) {
    double* const row = covariance_.data() + i * k;
    const double factor = gain_[i] * scale;
    for (std::size_t j = 0; j < k; ++j) row[j] -= factor * gain_[j];
    const double most = unknowns_.variance(i);
    const double grown =
        row[i] + kForgetting * most * period_ / static_cast<double>(nominal_.size());
    row[i] = std::clamp(grown, kLeastVariance * most, most);
  }
  bound();
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
}

void Adaptation::choose(std::span<const double> q, bool described) noexcept {
  if (described) {
    std::fill(chosen_.begin(), chosen_.end(), 0.0);
    return;
  }
  const auto choose_share = [&](double share) {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      chosen_[i] = unknowns_.is_friction(i) ? x_[i] : share * x_[i];
    }
    unknowns_.make(chosen_, model_);
    return keeps_inertia(q);
  };
  // Up slowly, and down only if the posture requires it: the model must not change back and forth.
  const double more = std::min(share_ + kShareRise, 1.0);
  if (choose_share(more)) {
    share_ = more;
  } else if (!choose_share(share_)) {
    share_ = std::max(share_ - kShareFall, 0.0);
    choose_share(share_);
  }
}

void Adaptation::use(double share) noexcept {
  for (std::size_t i = 0; i < x_.size(); ++i) {
    before_[i] = used_[i];
    used_[i] = share >= 1 ? chosen_[i] : used_[i] + share * (chosen_[i] - used_[i]);
  }
  unknowns_.make(used_, model_);
}

void Adaptation::undo() noexcept {
  used_ = before_;
  unknowns_.make(used_, model_);
}

/// Compares `model_` with the description.
bool Adaptation::keeps_inertia(std::span<const double> q) noexcept {
  const std::size_t n = nominal_.size();
  candidate_.set_bodies(model_.bodies, model_.armature);
  candidate_.inertia_matrix(q, candidate_inertia_);
  dynamics_.inertia_matrix(q, inertia_);
  return dominates(kInertiaRatio, inertia_, candidate_inertia_, n, factor_) &&
         dominates(kInertiaRatio, candidate_inertia_, inertia_, n, factor_);
}

AdaptedModel Adaptation::estimate() const noexcept {
  AdaptedModel model;
  const std::size_t size = unknowns_.size();
  for (std::size_t k = 0; k < size; ++k) {
    if (unknowns_.is_payload_mass(k)) {
      model.payload_mass = x_[k];
      model.payload_mass_deviation = std::sqrt(std::max(covariance_[k * size + k], 0.0));
    } else if (unknowns_.is_payload_moment(k) &&
               model.payload_mass > ModelUnknowns::kLeastPayload) {
      model.payload_com[unknowns_.axis(k)] =
          std::clamp(x_[k] / model.payload_mass, -ModelUnknowns::kReach, ModelUnknowns::kReach);
    }
  }
  model.paused = pause_ > 0;
  return model;
}

}  // namespace ga_controllers
