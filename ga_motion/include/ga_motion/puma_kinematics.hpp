// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__PUMA_KINEMATICS_HPP_
#define GA_MOTION__PUMA_KINEMATICS_HPP_

// Inverse kinematics of arms built like the PUMA, in closed form.
//
//   const auto chain = ga_dynamics::Chain::from_urdf_file("puma.urdf");
//   const ga_motion::PumaKinematics puma(chain);
//   std::array<double, 6> q;
//   const ga_motion::IkResult result = puma.nearest(pose, seed, q);
//   if (!result.usable()) std::cerr << describe(result, chain);
//
// Units: m, rad. Poses are those of the chain's tip link in its base link's frame.
// Real-time safety: all functions but the constructor and clone() are real-time safe.
// Throws: std::invalid_argument for a span that is too short, naming the argument; the constructor
// KinematicsError.

#include <array>
#include <memory>
#include <span>

#include "ga_dynamics/chain.hpp"
#include "ga_motion/kinematics.hpp"

namespace ga_motion {

using ga_dynamics::Chain;
using ga_dynamics::Matrix3;
using ga_dynamics::Pose;

/// Which of the eight ways to reach a pose; each sign is +1 or −1. They are told from the joints'
/// axes, whatever DH frames describe them.
struct PumaBranch {
  int arm = 1;    ///< side of axis 1 on which the wrist point is; +: that of z2 × z1
  int elbow = 1;  ///< sense about axis 3 in which the forearm is turned out of the upper arm
  int wrist = 1;  ///< sense about axis 5 in which axis 6 is turned out of axis 4 (sign of sin q5)

  bool operator==(const PumaBranch&) const = default;
};

struct PumaSolution {
  PumaBranch branch;
  IkResult result;
  /// Set if usable; if outside the limits, the values that are; otherwise not-a-number.
  std::array<double, 6> q{};
};

/// Closed-form inverse kinematics of arms with the PUMA's structure: six revolute joints; axis 2
/// perpendicular to axis 1, 3 parallel to 2, 4 perpendicular to 3; 4, 5 and 6 perpendicular in turn
/// and meeting in one point. The lengths a2, a3, a4, d2, d3, d4, of either sign, and the base and
/// tool frames are free. What the structure wants to be exact is so to 1e-9 rad and m.
///
/// Solutions give the pose to rounding. Where the pose leaves a joint open, within 1e-10 of a wrist
/// singularity or of a wrist point on axis 1 or 2 itself, that joint is the seed's. All functions
/// but the constructor and clone() are real-time safe, in any number of threads.
class PumaKinematics final : public InverseKinematics {
 public:
  /// Throws KinematicsError, naming what does not fit.
  explicit PumaKinematics(const Chain& chain);
  std::unique_ptr<InverseKinematics> clone() const override;

  /// All eight branches, + before −, arm outermost and wrist innermost; whole turns nearest to the
  /// seed within the limits.
  void solve(const Pose& pose, std::span<const double> seed,
             std::span<PumaSolution, 8> solutions) const;
  /// One branch.
  void solve(const Pose& pose, std::span<const double> seed, const PumaBranch& branch,
             PumaSolution& solution) const;
  PumaBranch branch_of(std::span<const double> q) const;

  bool closed_form() const noexcept override { return true; }
  IkResult nearest(const Pose& pose, std::span<const double> seed,
                   std::span<double> q) const override;
  IkResult follow(const Pose& pose, std::span<const double> seed,
                  std::span<double> q) const override;
  /// The least of: |sin q5| (wrist); |sin| of the angle between upper arm and forearm (elbow);
  /// distance of the wrist point from axis 1 along the arm's plane, over the reach (shoulder).
  Singularity singularity(std::span<const double> q) const override;
  /// The place of branch_of() in the order of solve(), from 0.
  int branch_number(std::span<const double> q) const override;

 private:
  struct Geometry {
    double a2, a3;         // m
    double forearm;        // m, from the elbow (axis 3) to the wrist point
    double forearm_angle;  // of the wrist point about z2, from x of frame 2, for theta3 = 0
    double side;           // m, y of the wrist point in frame 1
    double reach;          // m
    int s2, c3, s34, s5;   // sines of alpha2 and alpha3 + alpha4, cosine of alpha3, sine of alpha5
    int end;               // −1 if alpha5 = alpha6, 1 if opposite
    std::array<double, 6> theta;
    Pose tool;  // the tip link in the axes of frame 6, from the wrist point
  };
  struct ArmAngles;
  struct Posture {
    double along;  // m, x of the wrist point in frame 1
    double elbow_sine, wrist_sine;
  };
  static Geometry make_geometry(const Chain& chain);
  Posture posture(std::span<const double> q) const;
  void solve_unwrapped(const Pose& pose, std::span<const double> seed,
                       std::span<PumaSolution, 8> solutions) const;
  void solve_wrist(const ArmAngles& arm, const Matrix3& rotation, std::span<const double> seed,
                   std::span<PumaSolution, 2> solutions) const noexcept;

  Geometry geometry_;
};

}  // namespace ga_motion

#endif  // GA_MOTION__PUMA_KINEMATICS_HPP_
