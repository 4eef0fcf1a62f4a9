// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__MINIMAL_PARAMETERS_HPP_
#define GA_DYNAMICS__MINIMAL_PARAMETERS_HPP_

// The minimal linear combinations (MLCs) of the inertia parameters of a chain: S.-K. Lin, "Minimal
// linear combinations of the inertia parameters of a manipulator", IEEE Trans. Robotics and
// Automation 11(3), 1995, §II, Theorem 2. They determine the dynamics, none can be left out (where
// gravity is not zero), and no others can be identified.

#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_dynamics {

/// Where joint i stands in Lin's partition: r is the first revolute joint, s the first revolute
/// joint behind r whose axis is not parallel to that of r.
enum class MlcRegion { kBeforeR, kPlanar, kSpatial };

/// The MLC-related constants of joint i; joints count from 1 in the formulas, from 0 in arrays.
struct MlcJoint {
  MlcRegion region = MlcRegion::kSpatial;
  bool revolute = true;
  Vector3 axis_r{0, 0, 1};  ///< u_r in frame i, constant for r <= i < s
  double epsilon = 1;       ///< (u_r)_z = ±1 for revolute i < s
  bool delta = true;        ///< do k_x, k_y of a planar revolute joint show in the dynamics?
  bool sigma = true;        ///< do κ1, κ2 of a planar prismatic joint?
  double mass = 0;          ///< m̂_i, composite mass
  Vector3 k{0, 0, 0};       ///< k_i, constant part of the composite first moment (10)
  Matrix3 u{};              ///< U_i, constant part of the composite inertia about O_i (12), (14)
  double kappa1 = 0, kappa2 = 0;
  Matrix3 u_bar{};  ///< Ū_i (42), from MLCs only
  double g33 = 0;   ///< (G_i)_33 (40)
  int owner = -1;   ///< prismatic: the last revolute joint before it, or -1
  Matrix3 w{};      ///< prismatic behind s: W_i (92) in the owner's frame
};

struct MlcValue {
  std::string name;  ///< e.g. "U33_1", "kx_2", "m_3", "U11-U22_4"
  int joint;         ///< index from 0
  double value;
};

class MinimalParameters {
 public:
  /// Allocates. For chains in zero gravity the set is sufficient, but may not be minimal (Lin
  /// assumes gravity).
  explicit MinimalParameters(const Chain& chain);

  const std::vector<MlcJoint>& joints() const { return joints_; }
  const std::vector<MlcValue>& values() const { return values_; }
  int first_revolute() const { return r_; }     ///< index from 0; n if there is none
  int first_nonparallel() const { return s_; }  ///< index from 0; n if there is none

 private:
  std::vector<MlcJoint> joints_;
  std::vector<MlcValue> values_;
  int r_ = 0, s_ = 0;
};

}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__MINIMAL_PARAMETERS_HPP_
