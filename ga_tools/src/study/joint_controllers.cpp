// SPDX-License-Identifier: Apache-2.0

// The joint controllers that come with most arms, for comparison with the laws: their tuning rule
// and their torques.

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "ga_dynamics/dynamics.hpp"
#include "ga_tools/closed_loop.hpp"

namespace ga_tools {

using ga_controllers::Reference;
using ga_dynamics::Chain;
using ga_dynamics::Dynamics;

namespace {

/// Fastest pole over the loop's rate, 1/(rad): beyond 2 the loop is unstable by its sampling alone,
/// and lags of the velocity estimate and errors of the model take their share.
constexpr double kFastestPole = 0.4;

/// Inverse of a positive definite matrix of n·n values, by Gauss–Jordan elimination.
std::vector<double> inverse_of(std::vector<double> m, std::size_t n) {
  for (std::size_t p = 0; p < n; ++p) {
    const double pivot = m[p * n + p];
    m[p * n + p] = 1;
    for (std::size_t k = 0; k < n; ++k) m[p * n + k] /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == p) continue;
      const double factor = m[i * n + p];
      m[i * n + p] = 0;
      for (std::size_t k = 0; k < n; ++k) m[i * n + k] -= factor * m[p * n + k];
    }
  }
  return m;
}

/// The largest eigenvalue of diag(scale)^½ D⁻¹ diag(scale)^½, by power iteration: the square of the
/// fastest mode of D ẍ + diag(scale) x = 0.
double fastest_mode(const std::vector<double>& inverse, std::span<const double> scale) {
  const std::size_t n = scale.size();
  std::vector<double> x(n, 1.0), y(n);
  double value = 0;
  for (int round = 0; round < 200; ++round) {
    double size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = 0;
      for (std::size_t k = 0; k < n; ++k) {
        y[i] += std::sqrt(scale[i]) * inverse[i * n + k] * std::sqrt(scale[k]) * x[k];
      }
      size = std::hypot(size, y[i]);
    }
    value = size;
    // Not of one sign, so that it is not at right angles to the mode by symmetry.
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = y[i] / size + (round == 0 ? 1e-3 * static_cast<double>(i) : 0);
    }
  }
  return value;
}

/// One joint controller with its state.
class Controller {
 public:
  Controller(JointController kind, const Chain& model, JointControllerGains gains,
             std::vector<double> held)
      : kind_(kind),
        gains_(std::move(gains)),
        dynamics_(model),
        held_(std::move(held)),
        gravity_(model.joints().size()),
        integral_(model.joints().size()) {
    for (const auto& joint : model.joints()) limit_.push_back(joint.limits.effort);
  }

  void start(std::span<const double> q) {
    if (held_.empty()) {
      dynamics_.gravity(q, integral_);
    } else {
      integral_ = held_;
    }
  }

  void update(std::span<const double> q, std::span<const double> qd, const Reference& reference,
              double dt, std::span<double> tau) {
    if (kind_ == JointController::kPdGravity) dynamics_.gravity(q, gravity_);
    for (std::size_t i = 0; i < limit_.size(); ++i) {
      const double error = q[i] - reference.q[i];
      const double rate_error = qd[i] - (reference.qd.empty() ? 0 : reference.qd[i]);
      const double wanted = gravity_[i] - gains_.kp[i] * error - gains_.kd[i] * rate_error;
      if (kind_ != JointController::kPid) {
        tau[i] = std::clamp(wanted, -limit_[i], limit_[i]);
        continue;
      }
      const double step = -gains_.ki[i] * error * dt, total = wanted + integral_[i] + step;
      const bool winds_up = std::abs(total) > limit_[i] && total * step > 0;
      if (!winds_up) integral_[i] += step;
      tau[i] = std::clamp(wanted + integral_[i], -limit_[i], limit_[i]);
    }
  }

 private:
  JointController kind_;
  JointControllerGains gains_;
  Dynamics dynamics_;
  std::vector<double> held_, gravity_, integral_, limit_;  ///< N m
};

}  // namespace

JointControllerGains joint_controller_gains(const Chain& model,
                                            std::span<const ga_controllers::JointGains> gains,
                                            std::span<const std::vector<double>> postures,
                                            double rate) {
  const std::size_t n = model.joints().size();
  Dynamics dynamics(model, {.drives = ga_dynamics::Drives::kArmature});
  std::vector<double> inertia(n * n), held(n), free(n), damping(n);
  double fastest = 0;  // rad/s, pole of the fastest mode: Kd over the inertia that it moves
  for (const std::vector<double>& q : postures) {
    dynamics.inertia_matrix(q, inertia);
    const std::vector<double> inverse = inverse_of(inertia, n);
    if (&q == &postures.front()) {
      for (std::size_t i = 0; i < n; ++i) {
        held[i] = inertia[i * n + i];
        free[i] = 1 / inverse[i * n + i];
        damping[i] = gains[i].kd * held[i];
      }
    }
    fastest = std::max(fastest, fastest_mode(inverse, damping));
  }
  JointControllerGains result;
  result.reduction = std::min(1.0, kFastestPole * rate / fastest);
  std::vector<double> gravity(n);
  dynamics.gravity(postures.front(), gravity);
  for (std::size_t i = 0; i < n; ++i) {
    const double seen = result.reduction * held[i];
    result.kp.push_back(gains[i].kp * seen);
    result.kd.push_back(gains[i].kd * seen);
    result.ki.push_back(0.25 * std::pow(gains[i].kp, 1.5) * seen);  // Ki = w³/4
    const double sag = std::abs(gravity[i]) / result.kp[i];
    if (sag > result.sag) result.sag = sag, result.sagging = i;
    const ga_dynamics::Drive& drive = model.joints()[i].drive;
    const double coulomb = std::max(drive.coulomb_positive, drive.coulomb_negative);
    const double stuck = coulomb / (gains[i].kp * free[i]);
    if (stuck > result.stuck) result.stuck = stuck, result.sticking = i;
  }
  return result;
}

LawUnderTest joint_controller(JointController kind, const Chain& model,
                              const JointControllerGains& gains, std::vector<double> held) {
  const auto controller = std::make_shared<Controller>(kind, model, gains, std::move(held));
  return {
      [controller](std::span<const double> q, std::span<const double>) { controller->start(q); },
      [controller](std::span<const double> q, std::span<const double> qd,
                   const Reference& reference, double dt,
                   std::span<double> tau) { controller->update(q, qd, reference, dt, tau); }};
}

}  // namespace ga_tools
