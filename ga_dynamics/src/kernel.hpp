// SPDX-License-Identifier: Apache-2.0
#ifndef KERNEL_HPP_
#define KERNEL_HPP_

// One compiled copy of the double-precision algorithms. No type with a vectorized layout crosses
// this interface.

#include "ga_dynamics/dynamics.hpp"
#include "tip_parameters.hpp"

namespace ga_dynamics {

class Kernel {
 public:
  virtual ~Kernel();  // defined once: an inline one would be merged across instruction sets
  /// `wrenches`: n times force and moment on body i, in frame i about O_i, or null.
  virtual void inverse_dynamics(const double* q, const double* qd, const double* qdd, double* tau,
                                const double* wrenches) = 0;
  /// False where D is singular, or q, qd, tau or qdd is not finite; the wrenches are not looked at.
  virtual bool forward_dynamics(const double* q, const double* qd, const double* tau, double* qdd,
                                const double* armature, const double* wrenches) = 0;
  virtual void inertia_matrix(const double* q, double* inertia) = 0;
  virtual void bias(const double* q, const double* qd, double* h, const double* wrenches) = 0;
  virtual void gravity(const double* q, double* g) = 0;
  // Those without scratch memory are const; `point` is given in the frame of `body`, results are in
  // the axes of frame 0.
  /// Poses of frames 1..n in frame 0.
  virtual void frame_poses(const double* q, Pose* poses) const = 0;
  virtual Pose frame_pose(const double* q, int body) const = 0;
  virtual void jacobian(const double* q, int body, const Vector3& point,
                        double* jacobian) const = 0;
  virtual void velocity_product(const double* q, const double* qd, int body, const Vector3& point,
                                Vector3& linear, Vector3& angular) const = 0;
  virtual MechanicalEnergy energy(const double* q, const double* qd) = 0;
  virtual double gibbs_function(const double* q, const double* qd, const double* qdd) = 0;
  /// Replaces the payload, given in the tip link's frame. `body`: the last body with it, in frame n.
  virtual void set_payload(const LinkInertia& payload, const LinkInertia& body) = 0;
  /// Replaces the n bodies, without a payload. False if the method cannot.
  virtual bool set_bodies(const LinkInertia* bodies) = 0;
  /// The columns of a body (0 … n−1): n·10 values, see ga_dynamics/algorithm/regressor.hpp.
  virtual void regressor(const double* q, const double* qd, const double* qdd, int body,
                         double* y) = 0;
};

/// `minimal`: null unless the method needs it.
Kernel* make_generic_kernel(const Chain& chain, const TipMinimalParameters* minimal, Method method);
#ifdef GA_DYNAMICS_HAVE_AVX2
Kernel* make_avx2_kernel(const Chain& chain, const TipMinimalParameters* minimal, Method method);
#endif

}  // namespace ga_dynamics

#endif  // KERNEL_HPP_
