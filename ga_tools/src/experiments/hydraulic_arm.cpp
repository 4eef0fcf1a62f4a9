// SPDX-License-Identifier: Apache-2.0
#include "experiments/hydraulic_arm.hpp"

#include <Eigen/Dense>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ga_dynamics/plant.hpp"

namespace ga_tools::experiments {

using namespace ga_dynamics;
using namespace ga_motion;
namespace {

constexpr std::size_t kJoints = 5;
constexpr double kGravity = 9.81;
constexpr double kDegree = std::numbers::pi / 180;
/// The load's center in the frame of the last link, m: it hangs from a rigid grab.
const Vector3 kLoadCentre{0, 0, -0.6};

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

LinkInertia uniform_box(double mass, const Vector3& com, const Vector3& size) {
  LinkInertia body;
  body.mass = mass;
  body.com = com;
  const double x = size[0] * size[0], y = size[1] * size[1], z = size[2] * size[2];
  body.inertia = {mass * (y + z) / 12, 0, 0, 0, mass * (x + z) / 12, 0, 0, 0, mass * (x + y) / 12};
  return body;
}

/// Column, boom, arm, wrist and rotator: axis 1 upright, 2 to 4 level and parallel, 5 upright again
/// where q2 + q3 + q4 = 0.
Chain unloaded_chain() {
  std::vector<DhJoint> joints(kJoints);
  joints[0].body = uniform_box(250, {0, 0, -0.4}, {0.4, 0.4, 0.9});
  joints[1].dh = {.alpha = 90 * kDegree, .a = 0.25};
  joints[1].body = uniform_box(180, {0.9, 0.05, 0}, {2.1, 0.25, 0.18});
  joints[2].dh = {.a = 2.0};
  joints[2].body = uniform_box(110, {0.7, 0.03, 0}, {1.7, 0.2, 0.16});
  joints[3].dh = {.a = 1.6};
  joints[3].body = uniform_box(35, {0.15, 0, 0}, {0.4, 0.2, 0.16});
  joints[4].dh = {.alpha = -90 * kDegree, .a = 0.3};
  joints[4].body = uniform_box(22, {0, 0, -0.15}, {0.25, 0.25, 0.3});
  return Chain::from_dh(joints, {0, 0, -kGravity});
}

JointValues degrees(JointValues values) {
  for (double& v : values) v *= kDegree;
  return values;
}

Eigen::Map<const Vector> view(const JointValues& values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

/// G(q), the load's part included.
JointValues holding_torque(const HydraulicArm& arm, Dynamics& dynamics, const JointValues& q) {
  const JointValues zero(kJoints);
  JointValues tau(kJoints);
  apply_load(arm, q, dynamics);
  dynamics.inverse_dynamics(q, zero, zero, tau);
  return tau;
}

/// k + ∂G/∂q, by central differences.
Matrix total_stiffness(const HydraulicArm& arm, Dynamics& dynamics, const JointValues& q) {
  constexpr double kStep = 1e-5;
  Matrix to = view(arm.stiffness).asDiagonal();
  for (std::size_t i = 0; i < kJoints; ++i) {
    JointValues ahead = q, behind = q;
    ahead[i] += kStep, behind[i] -= kStep;
    const JointValues up = holding_torque(arm, dynamics, ahead);
    const JointValues down = holding_torque(arm, dynamics, behind);
    to.col(static_cast<Eigen::Index>(i)) += (view(up) - view(down)) / (2 * kStep);
  }
  return to;
}

Matrix inertia(Dynamics& dynamics, const JointValues& q) {
  Matrix to(kJoints, kJoints);
  dynamics.inertia_matrix(q, {to.data(), kJoints * kJoints});  // symmetric: either order
  return to;
}

/// One of each conjugate pair, slowest first.
std::vector<Mode> oscillations(const Eigen::VectorXcd& eigenvalues) {
  std::vector<Mode> to;
  for (const std::complex<double>& value : eigenvalues) {
    if (value.imag() > 0) to.push_back({value});
  }
  std::sort(to.begin(), to.end(),
            [](const Mode& a, const Mode& b) { return a.eigenvalue.imag() < b.eigenvalue.imag(); });
  return to;
}

}  // namespace

double Mode::frequency() const { return eigenvalue.imag() / (2 * std::numbers::pi); }
double Mode::damping_ratio() const { return -eigenvalue.real() / std::abs(eigenvalue); }

HydraulicArm make_hydraulic_arm(LoadModel load) {
  Chain chain = unloaded_chain();
  if (load == LoadModel::kBody) {
    chain = chain.with_payload(uniform_box(kLoad / kGravity, kLoadCentre, {0.8, 0.6, 0.7}));
  }
  return {chain, load, {2.2e6, 2.5e6, 1.2e6, 3.0e5, 2.0e4}, {6.0e3, 1.0e4, 3.0e3, 8.0e2, 6.0e1}};
}

void apply_load(const HydraulicArm& arm, std::span<const double> q, Dynamics& dynamics) {
  if (arm.load == LoadModel::kBody) return;
  std::vector<Pose> poses(arm.chain.links().size());
  dynamics.link_poses(q, poses);
  const int link = arm.chain.tip_index();
  const Matrix3& r = poses[static_cast<std::size_t>(link)].rotation;
  const Vector3 force{-kLoad * r[6], -kLoad * r[7], -kLoad * r[8]};  // Rᵀ (0, 0, −load)
  const Vector3& c = kLoadCentre;
  dynamics.set_external_wrench(
      link, force,
      {c[1] * force[2] - c[2] * force[1], c[2] * force[0] - c[0] * force[2],
       c[0] * force[1] - c[1] * force[0]});
}

std::unique_ptr<Trajectory> lifting_motion() {
  const std::vector<double> times{0, 4, 8};
  const std::vector<JointValues> points{degrees({0, 20, -65, 45, 0}),
                                        degrees({45, 55, -85, 30, -45}),
                                        degrees({80, 35, -60, 25, -80})};
  return make_cubic_spline(times, points);
}
JointValues closing_position() { return degrees({45, 55, -85, 30, -45}); }
JointValues closing_speed() { return {0.15, 0.10, -0.12, 0.08, -0.25}; }

JointValues free_positions(const HydraulicArm& arm, const JointValues& q, const JointValues& qd) {
  Dynamics dynamics(arm.chain);
  const JointValues zero(kJoints);
  JointValues tau(kJoints), free = q;
  apply_load(arm, q, dynamics);
  dynamics.inverse_dynamics(q, qd, zero, tau);
  for (std::size_t i = 0; i < kJoints; ++i) free[i] += tau[i] / arm.stiffness[i];
  return free;
}

JointValues rest_positions(const HydraulicArm& arm, const JointValues& free) {
  Dynamics dynamics(arm.chain);
  JointValues q = free;
  for (int step = 0; step < 20; ++step) {
    const JointValues tau = holding_torque(arm, dynamics, q);
    const Vector rest = view(arm.stiffness).cwiseProduct(view(free) - view(q)) - view(tau);
    const Vector change = total_stiffness(arm, dynamics, q).partialPivLu().solve(rest);
    for (std::size_t i = 0; i < kJoints; ++i) q[i] += change[static_cast<Eigen::Index>(i)];
    if (change.cwiseAbs().maxCoeff() < 1e-14) break;
  }
  return q;
}

std::vector<Mode> linear_modes(const HydraulicArm& arm, const JointValues& q) {
  Dynamics dynamics(arm.chain);
  const Eigen::LLT<Matrix> d(inertia(dynamics, q));
  const auto n = static_cast<Eigen::Index>(kJoints);
  Matrix a = Matrix::Zero(2 * n, 2 * n);
  a.topRightCorner(n, n).setIdentity();
  a.bottomLeftCorner(n, n) = -d.solve(total_stiffness(arm, dynamics, q));
  a.bottomRightCorner(n, n) = -d.solve(Matrix(view(arm.damping).asDiagonal()));
  return oscillations(Eigen::EigenSolver<Matrix>(a, false).eigenvalues());
}

std::vector<double> undamped_frequencies(const HydraulicArm& arm, const JointValues& q) {
  Dynamics dynamics(arm.chain);
  const Matrix k = total_stiffness(arm, dynamics, q);
  const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix> solver(
      0.5 * (k + k.transpose()), inertia(dynamics, q), Eigen::EigenvaluesOnly | Eigen::Ax_lBx);
  std::vector<double> to;
  for (const double square : solver.eigenvalues()) {
    to.push_back(std::sqrt(square) / (2 * std::numbers::pi));
  }
  return to;
}

RingDown ring_down(const HydraulicArm& arm, const JointValues& q, const JointValues& qd,
                   double seconds, double interval) {
  const JointValues free = free_positions(arm, q, qd);
  Plant plant(arm.chain);
  const TorqueFunction drives = [&](double, std::span<const double> at,
                                    std::span<const double> rate, std::span<double> tau) {
    apply_load(arm, at, plant.dynamics());
    for (std::size_t i = 0; i < kJoints; ++i) {
      tau[i] = arm.stiffness[i] * (free[i] - at[i]) - arm.damping[i] * rate[i];
    }
  };
  plant.reset(q, qd);
  RingDown to{interval, {q}, {qd}};
  const auto count = static_cast<long>(std::round(seconds / interval));
  for (long k = 0; k < count; ++k) {
    plant.step(drives, interval);
    to.q.emplace_back(plant.q().begin(), plant.q().end());
    to.qd.emplace_back(plant.qd().begin(), plant.qd().end());
  }
  return to;
}

std::vector<Mode> observed_modes(const RingDown& motion, const JointValues& rest) {
  // Velocities are divided by a typical circular frequency: all entries of x are of one size.
  constexpr double kTypical = 30;
  const auto n = static_cast<Eigen::Index>(kJoints);
  const auto count = static_cast<Eigen::Index>(motion.q.size());
  Matrix x(2 * n, count);
  for (Eigen::Index k = 0; k < count; ++k) {
    x.col(k).head(n) = view(motion.q[static_cast<std::size_t>(k)]) - view(rest);
    x.col(k).tail(n) = view(motion.qd[static_cast<std::size_t>(k)]) / kTypical;
  }
  const Matrix before = x.leftCols(count - 1).transpose(),
               after = x.rightCols(count - 1).transpose();
  const Matrix phi = before.colPivHouseholderQr().solve(after).transpose();
  Eigen::VectorXcd eigenvalues = Eigen::EigenSolver<Matrix>(phi, false).eigenvalues();
  for (std::complex<double>& value : eigenvalues) value = std::log(value) / motion.interval;
  return oscillations(eigenvalues);
}

}  // namespace ga_tools::experiments
