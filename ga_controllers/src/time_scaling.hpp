// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__TIME_SCALING_HPP_
#define GA_CONTROLLERS__TIME_SCALING_HPP_

// Time scaling: if a reference needs more torque or velocity than a joint has, all joints follow it
// later, on the same path. The reference arrives sample by sample as a function of its own time s. The
// law follows it at s(t), s' ≤ 1:
//   q = q(s),   qd = q'(s) s',   qdd = q''(s) s'² + q'(s) s''.
// At every sample, the torques are linear in s'' and x = s'²:
//   tau = m s'' + h x + c,   m = D q',   h = D q'' + C(q,q'),   c = gravity and Coulomb friction.
// Viscous friction grows with s' = √x, which its tangent at the bound of x replaces.
//
// While a sample is feasible at s' = 1, it passes unchanged and without delay. Otherwise s falls behind
// the time of the reference, and the samples between s and the newest one are kept: they are the
// look-ahead. A backward pass over them computes, for every sample, the largest x from which the
// joints can still slow down for the samples after it (the controllable set of Pham, Pham: A new
// approach to time-optimal path parameterization based on reachability analysis, IEEE T-RO 34, 2018;
// Dahl, Nielsen: Torque-limited path following by on-line trajectory time scaling, IEEE T-RA 6, 1990).
// A new sample changes the result of the pass for a few samples before it; the pass ends where nothing
// changes. Then s'' is the largest value within the torque limits that keeps x below that bound.
//
// The future beyond the newest sample is assumed feasible at s' = 1. A reference that brakes harder
// than the joints can, without having been slowed down before, leaves too little look-ahead to stay on
// the path. A `look_ahead` delays every motion by this time, and removes this restriction.
//
// A reference at rest takes no time: s catches up there. It never runs faster than the reference.
//
// The samples are thinned out in a long pause, as long as the path between the remaining ones stays
// within 0.1 mrad. If there are too many all the same (after minutes), the rest of the path is lost: the
// arm stops on its path and stands there until the reference rests, jumps, or the user ends a pause.
//
// Real-time safe after construction: no allocation, no lock, no exception. Units: rad, s, N m (m, N for
// prismatic joints).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace ga_controllers {

class TimeScaling {
 public:
  /// In: the newest sample of the reference. Out: the scaled reference. One value per joint.
  struct Values {
    std::span<double> q, qd, qdd;
  };

  /// One torque limit per joint of the chain. `friction_velocity` [rad/s]: Coulomb friction is complete
  /// there. `look_ahead` [s].
  TimeScaling(const ga_dynamics::Chain& chain, std::vector<double> torque_limit,
              double friction_velocity, double look_ahead = 0);

  /// Forgets the samples. The next one passes.
  void reset() noexcept;
  /// One cycle of dt [s]. The sample is `step` [s] of the reference's time after the previous one. All
  /// values must be finite.
  void advance(double dt, double step, const Values& sample) noexcept;

  /// The next sample belongs to another path: the samples before are dropped. True if the new path has to
  /// continue from state(), without a reset: at the present rate if the user slows it down, or from rest.
  bool redirect() noexcept;
  /// The reference at s as a function of its own time, after an advance() that left it behind.
  Values state() noexcept {
    const std::span<double> all(state_);
    return {all.first(n_), all.subspan(n_, n_), all.last(n_)};
  }

  /// A bound of s' that the user sets, 0 … 1. s' changes to it within half a second, on the path and
  /// within the torque limits; at 0 the arm stands on its path. Ignored unless finite.
  void set_speed(double speed) noexcept {
    if (!std::isfinite(speed)) return;
    resumed_ = resumed_ || (lost_ && speed_ <= 0 && speed > 0);
    speed_ = std::clamp(speed, 0.0, 1.0);
  }
  /// True while that bound slows the reference down, or has just done so.
  bool slowed_by_user() const noexcept { return slowed_by_user_; }
  /// True if a reference would not pass at its own speed now.
  bool slows() const noexcept { return speed_ < 1 || cap_ < 1 || behind_; }
  /// The rest of the path could not be kept.
  bool lost() const noexcept { return lost_; }
  /// After that: the arm stands and may continue to the newest sample.
  bool may_rejoin() const noexcept {
    return lost_ && rate_ < kStopped && speed_ > 0 && (resumed_ || sample_rests_);
  }

  double rate() const noexcept { return std::min(rate_, cap_); }  ///< s', 0 … 1
  double lag() const noexcept { return lag_; }                    ///< s, behind the newest sample
  bool behind() const noexcept { return behind_; }
  /// Joint that needed too much torque or velocity when s fell behind.
  std::size_t limiting() const noexcept { return limiting_; }
  /// The reference leads to a position where gravity or friction exceed the torque limit of a joint:
  /// s stops before it. -1: none.
  int blocked() const noexcept { return rate_ < kStopped ? blocking_ : -1; }
  /// Real-time safe.
  void set_payload(const ga_dynamics::Payload& payload) noexcept { dynamics_.set_payload(payload); }
  /// Likewise. Samples that are kept already keep the model that they arrived with.
  void set_model(std::span<const ga_dynamics::LinkInertia> bodies, std::span<const double> armature,
                 std::span<const ga_dynamics::Drive> drives) noexcept {
    dynamics_.set_bodies(bodies, armature);
    std::copy(drives.begin(), drives.end(), drives_.begin());
  }

 private:
  static constexpr double kStopped = 1e-3;
  enum Part { kQ, kV, kA, kM, kH, kC, kParts };
  struct Node {
    double step = 0;     ///< s, of the reference's time to the next node
    double own = 1;      ///< bound of x at this node alone
    double tangent = 1;  ///< √x there, at most: viscous friction is linear in x around it
    double bound = 1;    ///< and for what follows
    bool rests = false;  ///< almost without velocity and acceleration
    int blocking = -1;   ///< joint that cannot hold this position
    double error = 0;    ///< rad, bound of what samples left out changed before the next node
  };

  std::size_t index(std::size_t i) const noexcept { return (first_ + i) & (nodes_.size() - 1); }
  Node& node(std::size_t i) noexcept { return nodes_[index(i)]; }
  double* part(std::size_t i, Part part) noexcept {
    return data_.data() + (index(i) * kParts + part) * n_;
  }
  bool feasible(const Values& sample) noexcept;
  bool rests(const Values& sample) const noexcept;
  bool stays(const Values& sample, double step) noexcept;
  void store(const Values& sample, std::size_t at) noexcept;
  void restart(const Values& sample) noexcept;
  bool thin_out(const Values& sample, double step, double spacing) noexcept;
  void append(const Values& sample, double step) noexcept;
  void evaluate(std::size_t i) noexcept;
  double own_bound(std::size_t i, double tangent) noexcept;
  bool begins(std::size_t i, std::size_t joint) noexcept;
  double bound_before(std::size_t i) noexcept;
  void propagate() noexcept;
  int propagate(std::size_t& from, int steps) noexcept;
  void move(double dt) noexcept;
  void interpolate(const Values& out) noexcept;
  void choose_acceleration(double dt, std::span<const double> velocity) noexcept;
  double bound_at(double distance) noexcept;
  double torque_bound(std::size_t joint, double static_torque) const noexcept;

  std::size_t n_;
  ga_dynamics::Dynamics dynamics_;
  std::vector<ga_dynamics::Drive> drives_;
  std::vector<double> limit_, velocity_limit_;
  double friction_velocity_, look_ahead_;
  std::vector<double> zero_, scratch_;  ///< scratch_: m, h, c and q' at s
  std::vector<double> state_;           ///< q, q', q'' at s
  std::vector<Node> nodes_;             ///< ring
  std::vector<double> data_;            ///< kParts values per joint of every node
  std::size_t first_ = 0, count_ = 0;   ///< of the ring; s is between the first two nodes
  /// The backward pass continues before these nodes: the newest one, and one that was interrupted by a
  /// new sample. 0: complete.
  std::size_t pending_ = 0, interrupted_ = 0;
  double offset_ = 0;                   ///< s, from the first node to s
  double rate_ = 1, acceleration_ = 0;  ///< s', s''
  double speed_ = 1, cap_ = 1;   ///< the user's bound of s', and the present one on the way to it
  double lag_ = 0, waited_ = 0;  ///< s
  int blocking_ = -1;
  std::size_t limiting_ = 0;
  bool behind_ = false, slowed_by_user_ = false;
  bool lost_ = false,
       resumed_ = false;       ///< the rest of the path; and the user has ended a pause since
  bool sample_rests_ = false;  ///< the newest one
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__TIME_SCALING_HPP_
