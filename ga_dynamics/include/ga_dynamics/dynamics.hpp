// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__DYNAMICS_HPP_
#define GA_DYNAMICS__DYNAMICS_HPP_

// The dynamics of a chain in double precision, compiled once and tuned for the processor it runs
// on.
//
//   const auto chain = ga_dynamics::Chain::from_urdf_file("robot.urdf");
//   ga_dynamics::Dynamics dynamics(chain);
//   std::vector<double> q(6), qd(6), qdd(6), tau(6);
//   dynamics.inverse_dynamics(q, qd, qdd, tau);
//
// Units: rad and m, s, N m and N, kg m² and kg. Spans hold one value per joint unless said
// otherwise. Real-time safety: construction allocates. Every other function is real-time safe and
// writes to the caller's memory. An object has scratch memory of its own: use one per thread;
// the const functions need none. Outputs must not overlap inputs. Throws: std::invalid_argument for a span that is too short or a
// link index out of range, naming the argument, and nothing else after construction. The values
// never matter: a value that is not finite makes every result that depends on it not finite, and
// forward_dynamics() reports it.
//
// External wrenches act in inverse_dynamics(), forward_dynamics() and bias(), so that
// tau = D qdd + bias with and without them. inertia_matrix(), gravity(), energy() and
// gibbs_function() are those of the arm alone.

#include <memory>
#include <span>

#include "ga_dynamics/chain.hpp"

namespace ga_dynamics {

enum class Method {
  kTensor,     ///< Gibbs–Appell, tensor form; the inertia matrix as Hessian of the Gibbs function
  kVector,     ///< Gibbs–Appell, vector form; the inertia matrix column by column from it
  kDalembert,  ///< closed equations of d'Alembert's principle; O(n³)
  kMinimal     ///< minimal linear combinations of the inertia parameters
};

/// Which compiled copy of the kernels runs. The copies differ in the last bits only.
enum class Isa { kAutomatic, kGeneric, kAvx2 };

/// What of the drives is added to the rigid bodies.
enum class Drives {
  kNone,
  kArmature,  ///< rotor inertias
  kAll        ///< and viscous and Coulomb friction (no friction at rest)
};

struct DynamicsOptions {
  Method method = Method::kTensor;
  Drives drives = Drives::kNone;
  /// kAvx2 on a processor without it throws std::invalid_argument.
  Isa isa = Isa::kAutomatic;
};

struct MechanicalEnergy {
  double kinetic = 0;    ///< J, rigid bodies and, with armature, rotors
  double potential = 0;  ///< J, zero for masses at the height of the base link's origin
};

class Dynamics {
 public:
  explicit Dynamics(const Chain& chain, const DynamicsOptions& options = {});
  ~Dynamics();
  Dynamics(Dynamics&&) noexcept;
  Dynamics& operator=(Dynamics&&) noexcept;

  int size() const noexcept;
  Isa isa() const noexcept;
  const Chain& chain() const noexcept;  ///< as given, without the payload of set_payload()

  /// Replaces the payload: a body fixed to the tip link, given in its frame. The results are those
  /// of Chain::with_payload(). Every method counts as many operations as without. Costs about as
  /// much as a third of an inverse dynamics. Check the payload with payload_flaw() first.
  void set_payload(const LinkInertia& payload) noexcept;
  /// Replaces the bodies and the rotor inertias of the chain; a payload stays. One of each per joint,
  /// bodies in the frames of ChainJoint::body. Throws std::invalid_argument with Method::kMinimal.
  void set_bodies(std::span<const LinkInertia> bodies, std::span<const double> armature);

  /// tau that gives the arm the acceleration qdd, external wrenches taken into account.
  void inverse_dynamics(std::span<const double> q, std::span<const double> qd,
                        std::span<const double> qdd, std::span<double> tau);
  /// qdd that tau gives the arm, external wrenches taken into account. False if there is none, and
  /// qdd is filled with not-a-number: the inertia matrix is singular but for rounding (a joint
  /// moves no inertia), a value of q, qd, tau or an external wrench is not finite, or one of qdd is
  /// too large for a double.
  bool forward_dynamics(std::span<const double> q, std::span<const double> qd,
                        std::span<const double> tau, std::span<double> qdd);
  /// D(q): n·n values row by row.
  void inertia_matrix(std::span<const double> q, std::span<double> inertia);
  /// C(q,qd) + G(q) less what the external wrenches do, with all of the drives also the friction:
  /// the torque that leaves the joints without acceleration.
  void bias(std::span<const double> q, std::span<const double> qd, std::span<double> h);
  /// Regressor: the torques of the ten unit inertia parameters of body `body` (0 … n−1), n·10 values
  /// row by row. The torques of the arm without drives and external wrenches are the sum over the
  /// bodies of these columns times m, m c (x, y, z) and the inertia tensor about O_i (xx, xy, xz, yy,
  /// yz, zz), in frame i of ChainJoint::body. Does not depend on the bodies themselves.
  void regressor(std::span<const double> q, std::span<const double> qd, std::span<const double> qdd,
                 int body, std::span<double> y);
  static constexpr int kBodyParameters = 10;
  /// G(q), without external wrenches
  void gravity(std::span<const double> q, std::span<double> g);

  /// Force and moment that the environment applies on a link (Chain::link_index()), in the link's
  /// own frame, the moment about its origin. Replaces that link's earlier wrench; wrenches
  /// on several links add up. Stays until cleared.
  void set_external_wrench(int link, const Vector3& force, const Vector3& moment);
  void clear_external_wrenches() noexcept;

  /// Pose of every link of Chain::links(), in the base link's frame.
  void link_poses(std::span<const double> q, std::span<Pose> poses);
  /// Pose of one link, in the base link's frame.
  void link_pose(std::span<const double> q, int link, Pose& pose) const;
  /// Jacobian of the origin of a link: 6·n values row by row, linear velocity above angular, in the
  /// base link's axes.
  void jacobian(std::span<const double> q, int link, std::span<double> jacobian) const;
  /// J̇q̇ of the origin of a link, six values: its linear and angular acceleration [m/s², rad/s²]
  /// while qdd = 0.
  void velocity_product(std::span<const double> q, std::span<const double> qd, int link,
                        std::span<double> acceleration) const;
  MechanicalEnergy energy(std::span<const double> q, std::span<const double> qd);
  /// The acceleration energy; its gradient with respect to qdd is the inverse dynamics (rigid
  /// bodies alone, without external wrenches).
  double gibbs_function(std::span<const double> q, std::span<const double> qd,
                        std::span<const double> qdd);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__DYNAMICS_HPP_
