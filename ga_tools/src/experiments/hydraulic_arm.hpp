// SPDX-License-Identifier: Apache-2.0
#ifndef EXPERIMENTS__HYDRAULIC_ARM_HPP_
#define EXPERIMENTS__HYDRAULIC_ARM_HPP_

// The numerical example of the d'Alembert paper, §3: a heavy five-joint arm, hydraulically driven,
// with a load of 3200 N at its end. The paper gives neither lengths nor masses nor stiffnesses; all
// numbers here are ours.
//
// Its forward problem: the pistons move at constant speed and the valves close. From then on the
// compressed oil and the pipes act as springs and dampers, τ = k (θ0 − θ) − d θ̇ (equation 14), and
// the arm oscillates.

#include <complex>
#include <memory>
#include <span>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_motion/trajectory.hpp"

namespace ga_tools::experiments {

using ga_dynamics::Chain;
using ga_dynamics::Dynamics;
using ga_motion::Trajectory;

using JointValues = std::vector<double>;

inline constexpr double kLoad = 3200;  ///< N

/// The load as a rigid body, or as a force without inertia, the paper's external force on the last
/// link.
enum class LoadModel { kBody, kForce };

struct HydraulicArm {
  Chain chain;
  LoadModel load;
  JointValues stiffness;  ///< k, N m/rad
  JointValues damping;    ///< d, N m s/rad
};
HydraulicArm make_hydraulic_arm(LoadModel load);

/// Sets the load's force on the last link, which moves: call it for every q. Nothing to do for
/// LoadModel::kBody.
void apply_load(const HydraulicArm& arm, std::span<const double> q, Dynamics& dynamics);

/// Third-order polynomials through three points without a stop at the middle one; the load stays
/// level.
std::unique_ptr<Trajectory> lifting_motion();
/// The pistons' speed when the valves close, rad/s, and where.
JointValues closing_speed();
JointValues closing_position();

/// θ0, from continuity: the torques do not change at the instant of closing.
JointValues free_positions(const HydraulicArm& arm, const JointValues& q, const JointValues& qd);
/// The equilibrium: k (θ0 − q) = G(q).
JointValues rest_positions(const HydraulicArm& arm, const JointValues& free);

/// A pair of conjugate eigenvalues.
struct Mode {
  std::complex<double> eigenvalue;  ///< 1/s, imaginary part positive
  double frequency() const;         ///< Hz, of the damped motion
  double damping_ratio() const;
};

/// Of D(q) δ̈ + d δ̇ + (k + ∂G/∂q) δ = 0, the motion linearized about q, slowest first.
std::vector<Mode> linear_modes(const HydraulicArm& arm, const JointValues& q);
/// Without damping: Hz, from the generalized eigenvalues of k + ∂G/∂q and D(q), slowest first.
std::vector<double> undamped_frequencies(const HydraulicArm& arm, const JointValues& q);

struct RingDown {
  double interval = 0;             ///< s, between samples
  std::vector<JointValues> q, qd;  ///< starting when the valves close
};
/// The motion after the valves have closed on the arm at q and qd, by Plant.
RingDown ring_down(const HydraulicArm& arm, const JointValues& q, const JointValues& qd,
                   double seconds, double interval = 0.01);
/// The modes identified from a simulated motion: least squares of x(t + interval) = Φ x(t), where x
/// is the deviation from `rest` and its rate; the eigenvalues are log(eig Φ) / interval.
std::vector<Mode> observed_modes(const RingDown& motion, const JointValues& rest);

}  // namespace ga_tools::experiments

#endif  // EXPERIMENTS__HYDRAULIC_ARM_HPP_
