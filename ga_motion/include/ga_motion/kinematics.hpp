// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__KINEMATICS_HPP_
#define GA_MOTION__KINEMATICS_HPP_

// Kinematics of the tool of an arm, forward and back: what every inverse kinematics offers, the one
// of any arm, which searches, and the closed formulas of arms built like the PUMA.
//
//   const auto chain = ga_dynamics::Chain::from_urdf_file("puma.urdf");
//   const ga_motion::PumaKinematics puma(chain);
//   std::array<double, 6> q;
//   const ga_motion::IkResult result = puma.nearest(pose, seed, q);
//   if (!result.usable()) std::cerr << describe(result, chain);
//
// Units: m, rad (joints: rad, or m for prismatic ones), s. Poses are those of the chain's tip link
// in its base link's frame.
// Real-time safety: told at each class.
// Throws: std::invalid_argument for a span that is too short, naming the argument; constructors
// KinematicsError.

#include <array>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "ga_dynamics/dynamics.hpp"

namespace ga_motion {

using ga_dynamics::Chain;
using ga_dynamics::Matrix3;
using ga_dynamics::Pose;

enum class IkStatus {
  kOk,
  // usable, but joint rates grow without bound nearby
  kShoulderSingular,  ///< the wrist point is as near to axis 1 as it gets: arm ± meet
  kElbowSingular,     ///< upper arm and forearm are in line: elbow ± meet
  kWristSingular,     ///< axes 4 and 6 are in line: wrist ± meet
  kSingular,          ///< of an arm whose singularities have no name
  // not usable
  kOutOfReach,
  kOutsideLimits,
  kNotFound,    ///< the search ended without a solution: out of reach, or not found
  kInvalidPose  ///< not finite, or its matrix is no rotation (to 1e-6)
};

/// What came of a search for joint values.
struct IkResult {
  IkStatus status = IkStatus::kOk;
  int joint = -1;  ///< the joint that the status is about, from 0, or −1
  /// kOutOfReach: m by which the wrist point is too far away, or negative, too near.
  /// kOutsideLimits: the joint's value. kNotFound: pose error of the best attempt, m or rad.
  /// Singular: as Singularity::measure.
  double value = 0;

  /// q holds joint values that give the pose.
  bool usable() const { return status < IkStatus::kOutOfReach; }
};

/// Finite, and a rotation to 1e-6. Real-time safe.
bool is_pose(const Pose& pose) noexcept;

/// The result in words, with names, values and limits of the chain. Allocates. Throws
/// std::invalid_argument if the result is about a joint that the chain does not have.
std::string describe(const IkResult& result, const Chain& chain);

/// what() names the thing, the value and the remedy.
class KinematicsError : public std::runtime_error {
 public:
  explicit KinematicsError(const std::string& what, const IkResult& result = {})
      : std::runtime_error(what), result_(result) {}
  const IkResult& result() const noexcept { return result_; }

 private:
  IkResult result_;
};

/// How far a posture is from the singularity next to it: 0 on it, up to about 1.
struct Singularity {
  IkStatus kind = IkStatus::kSingular;
  double measure = 1;
};

/// Kinematics of the chain's tip link, forward and back. Functions on const objects are real-time
/// safe (no allocation or lock; no exception unless a span is too short) and may run in several
/// threads at once, unless said otherwise. Spans hold one value per joint unless said otherwise; q
/// may be the seed's memory.
class InverseKinematics {
 public:
  virtual ~InverseKinematics();
  virtual std::unique_ptr<InverseKinematics> clone() const = 0;  ///< allocates

  const Chain& chain() const noexcept { return dynamics_->chain(); }
  int size() const noexcept { return dynamics_->size(); }

  void forward(std::span<const double> q, Pose& pose) const;
  /// 6·n values row by row, linear velocity above angular, in the base link's axes.
  void jacobian(std::span<const double> q, std::span<double> jacobian) const;
  /// J̇q̇, six values: the tool's linear and angular acceleration [m/s², rad/s²] while qdd = 0.
  void velocity_product(std::span<const double> q, std::span<const double> qd,
                        std::span<double> acceleration) const;

  /// Whether nearest() and follow() are closed formulas: exact to rounding, real-time safe, without
  /// hidden state. Otherwise their time varies, and an object is for one thread.
  virtual bool closed_form() const noexcept = 0;
  /// The joint values within the limits that give the pose and are nearest to the seed (least sum
  /// of squares), whole turns considered; or the reason why there are none, q left as it is. Limits
  /// are kept to 1e-9 rad or m.
  virtual IkResult nearest(const Pose& pose, std::span<const double> seed,
                           std::span<double> q) const = 0;
  /// The solution that continues from a nearby seed, within the limits or not: beyond them the
  /// status is kOutsideLimits, and q is set all the same.
  virtual IkResult follow(const Pose& pose, std::span<const double> seed,
                          std::span<double> q) const = 0;
  virtual Singularity singularity(std::span<const double> q) const = 0;
  /// A number for the branch that the posture belongs to: it changes at singularities alone.
  virtual int branch_number(std::span<const double> q) const = 0;

 protected:
  explicit InverseKinematics(const Chain& chain);
  InverseKinematics(const InverseKinematics&) = default;

  /// Exchanges each value of q for its equivalent, whole turns away, nearest to the seed: within
  /// the limits if that can be (`keep_limits`), or wherever. Then kOk, or kOutsideLimits for the
  /// joint that is farthest beyond its limits.
  IkResult wrap(std::span<const double> seed, bool keep_limits, std::span<double> q) const noexcept;

 private:
  std::shared_ptr<const ga_dynamics::Dynamics> dynamics_;  // its const functions, for all copies
};

struct NumericOptions {
  double accuracy = 1e-10;   ///< m and rad: largest pose error of a solution
  int restarts = 50;         ///< random starts when the seed leads nowhere
  unsigned random_seed = 1;  ///< the same call gives the same answer, whatever was asked before
};

/// Inverse kinematics of any chain by a Levenberg–Marquardt search that ends at rounding. The seed
/// comes first; if it leads nowhere, or only to solutions outside the limits, random starts within
/// them follow, and the nearest of up to eight solutions found is taken: not necessarily the nearest
/// there is. Arms with fewer than six joints reach only some poses; arms with more keep near to the
/// seed.
///
/// Only the constructor and clone() allocate. The time of a search varies: about 0.1 ms per start.
/// One object per thread.
class NumericKinematics final : public InverseKinematics {
 public:
  /// Throws KinematicsError for options out of range.
  explicit NumericKinematics(const Chain& chain, const NumericOptions& options = {});
  ~NumericKinematics() override;
  std::unique_ptr<InverseKinematics> clone() const override;

  bool closed_form() const noexcept override { return false; }
  IkResult nearest(const Pose& pose, std::span<const double> seed,
                   std::span<double> q) const override;
  IkResult follow(const Pose& pose, std::span<const double> seed,
                  std::span<double> q) const override;
  /// Least over largest singular value of the Jacobian, lengths over the arm's size.
  Singularity singularity(std::span<const double> q) const override;
  /// Arms with six joints: the sign of the Jacobian's determinant. Others: 0.
  int branch_number(std::span<const double> q) const override;

 private:
  struct Impl;
  /// One search from impl_->start, the solution in impl_->trial.
  IkResult attempt(const Pose& pose) const;
  IkResult checked(std::span<const double> q, IkResult result) const;

  std::unique_ptr<Impl> impl_;
};

/// Which of the eight ways to reach a pose; each sign is +1 or −1. They follow from the joints'
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
/// but the constructor, clone() and solve_all() are real-time safe, in any number of threads.
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
  /// Joint values within the limits that give the pose, one by one in all branches and with all whole
  /// turns, nearest to the seed first; of joints without limits the turn nearest to the seed. Empty:
  /// nearest() has the reason. Allocates.
  std::vector<std::array<double, 6>> solve_all(const Pose& pose,
                                               std::span<const double> seed) const;
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

#endif  // GA_MOTION__KINEMATICS_HPP_
