// SPDX-License-Identifier: Apache-2.0
#ifndef PATH_GRID_HPP_
#define PATH_GRID_HPP_

// The grid points of a path, and the arm's torque along it as a function of the path's own motion.
//
// With u the acceleration and x the square of the speed of the path parameter, the torque of the
// rigid bodies and rotors is affine (Pham and Pham 2018, equation 9):
//   tau = a(s) u + b(s) x + c(s),  a = M q',  b = M q'' + C(q, q') q',  c = gravity
// The path parameter runs from 0 to 1 here, and every row is divided by its limit: tolerances are
// then relative, whatever the units and the length of the path.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ga_dynamics/dynamics.hpp"
#include "ga_motion/time_parameterization.hpp"

namespace ga_motion {

class PathGrid {
 public:
  PathGrid(const ga_dynamics::Chain& chain, const TimingLimits& limits, bool friction);

  /// Places the points, `more` of them from 0 to 1, and evaluates the path and the torques there.
  /// Throws as PathTimer::time().
  void place(const Path& path, int intervals, std::span<const double> more = {});

  std::size_t joints() const { return n_; }
  std::size_t stride() const { return stride_; }  ///< values per point of the arrays below
  std::size_t intervals() const { return s.size() - 1; }
  bool friction() const { return friction_; }
  bool torque_limited() const { return torque_limited_; }
  bool acceleration_limited() const { return acceleration_limited_; }
  const TimingLimits& limits() const { return limits_; }
  const ga_dynamics::Chain& chain() const { return dynamics_.chain(); }

  const double* viscous() const { return viscous_.data(); }  ///< over the torque limit
  /// One over the limit.
  const double* acceleration_inverse() const { return acceleration_inverse_.data(); }
  /// Rows with a smaller factor of u do not depend on it.
  double tiny() const { return tiny_; }

  std::vector<double> s;  ///< 0 … 1
  // Point by point, joint by joint, `stride()` values each; zero behind the last joint.
  std::vector<double> dq, ddq;  ///< per s and s², rad and m
  std::vector<double> a, b, c;  ///< over the torque limit; empty without torque limits
  /// Interval by interval: Coulomb friction over the torque limit, in the direction of the joint's
  /// motion; 0 of a joint that stands still. Joints reverse at grid points only.
  std::vector<double> coulomb;
  std::vector<double> velocity_bound;  ///< of x, by the velocity limits

 private:
  void place_points(const Path& path, int intervals, std::span<const double> also);
  void insert_reversals(const Path& path);
  void sample(const Path& path, std::size_t point);
  void sample_all(const Path& path);
  void evaluate_torques(const Path& path);
  void bound_velocities();
  void evaluate_coulomb();
  [[noreturn]] void refuse_position(const Path& path, std::size_t point, std::size_t joint,
                                    double position) const;

  ga_dynamics::Dynamics dynamics_;
  TimingLimits limits_;
  bool friction_, torque_limited_ = false, acceleration_limited_ = false;
  std::size_t n_, stride_;
  double length_ = 1, still_ = 0, tiny_ = 0;
  std::vector<double> q_, zero_;
  std::vector<double> torque_inverse_, velocity_inverse_, acceleration_inverse_;
  std::vector<double> coulomb_positive_, coulomb_negative_, viscous_;
};

/// "97.6 N m", "12 N".
std::string torque_text(const ga_dynamics::ChainJoint& joint, double torque);

}  // namespace ga_motion

#endif  // PATH_GRID_HPP_
