// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__TIME_PARAMETERIZATION_HPP_
#define GA_MOTION__TIME_PARAMETERIZATION_HPP_

// Time-optimal path parameterization: the fastest motion along a given path that the joints'
// velocities, accelerations and motor torques allow. Reachability analysis of Pham and Pham (IEEE
// Transactions on Robotics 34(3), 2018), with the torque of the whole arm: rigid bodies, rotor
// inertia, payload, Coulomb and viscous friction.
//
//   const auto path = ga_motion::make_spline_path(points);
//   ga_motion::PathTimer timer(chain, ga_motion::limits_of(chain));
//   const ga_motion::Timing timing = timer.time(path);
//   timing.trajectory->sample(0.1, q, qd, qdd);
//
// Units: rad and m, s, N m and N. The path parameter s has the unit that the path gives it.
// Real-time safety: sampling a path of this library or a timed trajectory is real-time safe;
// everything else allocates. Timing 1000 intervals of six joints takes well under a millisecond, with
// a bound on the torque rate about half a second.
// Throws: std::invalid_argument for bad arguments, TimingError for a path that the arm cannot follow.

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_motion/trajectory.hpp"

namespace ga_motion {

/// A curve in joint space, q(s) with s from 0 to length(), twice continuously differentiable.
/// Objects are immutable: any number of threads may sample one.
class Path {
 public:
  virtual ~Path();
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

  virtual int size() const noexcept = 0;  ///< number of joints
  virtual double length() const noexcept = 0;
  /// q, dq/ds and d²q/ds², one value per joint; s is within [0, length()]. The parameterization
  /// calls it for every grid point, a timed trajectory for every sample.
  virtual void sample(double s, std::span<double> q, std::span<double> dq,
                      std::span<double> ddq) const = 0;
  /// Values of s to place grid points at: where the third derivative jumps, and the roots of dq/ds
  /// if they are known. Roots between two grid points are found by their change of sign.
  virtual std::vector<double> breaks() const;
  /// A place on the path, for messages: "s = 0.25 of 1".
  virtual std::string place(double s) const;

 protected:
  Path() = default;
};

/// The natural cubic spline through the points (one joint vector each, two or more, each different
/// from the one before it). `knots` are their values of s, beginning with 0 and increasing; without
/// them, the lengths of the chords in joint space. It leaves the straight lines between the points:
/// check it for collisions afterward.
std::shared_ptr<const Path> make_spline_path(std::span<const std::vector<double>> points,
                                             std::span<const double> knots = {});

/// The straight lines between the points (as for make_spline_path()), their corners rounded: a path
/// whose joints stay within `tolerance` [rad, m], more than 0, of the lines, and within the range of
/// the points. It begins and ends exactly at the first and the last point. For the many way-points of
/// sampling planners, through which a spline would oscillate. s has no unit.
std::shared_ptr<const Path> make_blended_path(std::span<const std::vector<double>> points,
                                              double tolerance);

/// The points without those that repeat the one before them: no joint differs by more than
/// `tolerance` [rad, m]. The last point is kept exactly.
std::vector<std::vector<double>> without_repeats(std::span<const std::vector<double>> points,
                                                 double tolerance);

/// One value per joint; infinite: no limit.
struct TimingLimits {
  std::vector<double> lower, upper;  ///< positions
  std::vector<double> velocity;      ///< more than 0
  std::vector<double> acceleration;  ///< more than 0
  std::vector<double> torque;        ///< of the motor, more than 0
  /// Largest change of the motor torque per second, friction left out: Coulomb friction jumps where
  /// a joint reverses, whatever the motor does. The torque follows it in steps of a tenth of the limit
  /// or less, on long paths of more. Infinite everywhere: not bounded, and fast to compute.
  std::vector<double> torque_rate;
};

/// Soft position limits, velocity and effort limits of the description; no limit of accelerations
/// and torque rates.
TimingLimits limits_of(const ga_dynamics::Chain& chain);

struct TimingOptions {
  /// Grid: equal intervals, more where the path has breaks and where the speed would drop to 0. The duration exceeds the optimum by about
  /// 0.04 % with 1000, 0.3 % with 200. From 10 to 100,000;
  /// a bound on torque rates takes up to a second per 1000.
  int intervals = 1000;
  /// Coulomb and viscous friction of the chain's drives; the rotor inertia always counts.
  bool friction = true;
};

enum class LimitKind { kVelocity, kAcceleration, kTorque };

/// "velocity", "acceleration", "torque".
const char* name_of(LimitKind kind);

/// The limit that a part of the motion comes closest to.
struct ActiveLimit {
  LimitKind kind = LimitKind::kVelocity;
  int joint = 0;
  double use = 0;  ///< share of the limit, 1 if it is reached
};

struct Timing {
  /// Begins and ends at rest. At its end, velocity and acceleration are exactly zero and the position
  /// is the path's last one. Shares ownership of the path.
  std::unique_ptr<Trajectory> trajectory;
  std::vector<double> s;      ///< grid points
  std::vector<double> time;   ///< s, when they are passed
  std::vector<double> speed;  ///< ds/dt there
};

/// Why there is no motion along a path.
enum class TimingFlaw {
  kPosition,  ///< the path leaves the position limits
  kGravity,   ///< a motor cannot hold the arm at rest
  kFriction,  ///< a motor cannot move the arm against gravity and Coulomb friction
  kNoStop,    ///< a place can be passed only with momentum: an arm that stops there cannot go on
  kNoMotion,  ///< next to no torque is left to move the arm, and the grid is too coarse for it
};

/// what() names the joint, the place on the path, the torque, its limit and the remedy.
class TimingError : public std::runtime_error {
 public:
  TimingError(TimingFlaw flaw, int joint, double s, double value, const std::string& message)
      : std::runtime_error(message), flaw_(flaw), joint_(joint), s_(s), value_(value) {}

  TimingFlaw flaw() const noexcept { return flaw_; }
  int joint() const noexcept { return joint_; }  ///< from 0
  double s() const noexcept { return s_; }
  /// Position or torque there.
  double value() const noexcept { return value_; }

 private:
  TimingFlaw flaw_;
  int joint_;
  double s_, value_;
};

/// Times paths of one arm. Keeps its memory from one path to the next; one object per thread.
class PathTimer {
 public:
  /// `chain` with the payload (Chain::with_payload()). Throws std::invalid_argument, naming joint and
  /// value, for limits that are missing, not positive or not a number, and for a joint with neither
  /// a torque nor an acceleration limit.
  PathTimer(const ga_dynamics::Chain& chain, const TimingLimits& limits,
            const TimingOptions& options = {});
  ~PathTimer();
  PathTimer(PathTimer&&) noexcept;
  PathTimer& operator=(PathTimer&&) noexcept;

  /// From rest to rest along the path. Throws std::invalid_argument for a null path, one of another
  /// number of joints, of no length or with values that are not finite, and TimingError.
  Timing time(std::shared_ptr<const Path> path);
  /// Of each interval of the path that was timed last, the limit that the motion comes closest to at
  /// its two ends; empty if there is none.
  std::vector<ActiveLimit> active_limits() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// --- the use of the limits ---

// How much of its limits a motion needs: positions, velocities and motor torques of every joint. And
// the constant acceleration limits that keep the torque limits wherever the arm is, for planners that
// know no torques.
//
//   const auto use = ga_motion::limit_use(chain, ga_motion::limits_of(chain), *motion);
//   if (!use.within(0.005)) …

/// The largest value of a quantity along a motion, and when.
struct PeakUse {
  double value = 0;      ///< signed
  double share = 0;      ///< |value| over the limit; 0 without a limit
  double time = 0;       ///< s
  double time_over = 0;  ///< s beyond the limit
};

struct JointUse {
  PeakUse torque;  ///< rigid bodies, rotor inertia, friction
  PeakUse velocity;
  /// The distance to the nearer position limit; value: the position where it is least. share: 1 at a
  /// limit, more beyond it by so many rad or m, less within.
  PeakUse position;
  double saturated = 0;  ///< share of the time with 98 % of the torque limit or more
};

struct LimitUse {
  std::vector<JointUse> joints;
  double duration = 0;  ///< s

  /// No limit exceeded by more than this share of it, no position limit by more than 1e-6 rad or m.
  bool within(double tolerance) const;
};

/// Samples the motion every `step` [s] or closer, ten million times at most, and at `times` if given.
/// `chain` with its payload. An infinite limit is none. A value that is not finite exceeds every limit:
/// its peak is NaN, of infinite share.
LimitUse limit_use(const ga_dynamics::Chain& chain, const TimingLimits& limits,
                   const Trajectory& motion, double step = 1e-3,
                   std::span<const double> times = {});

// --- samples for trajectory controllers ---

/// Points of a motion, one joint vector each.
struct MotionSamples {
  std::vector<double> times;  ///< s
  std::vector<std::vector<double>> q, qd, qdd;

  /// The interpolation of ros2_control's joint_trajectory_controller: of fifth order with
  /// accelerations, of third with velocities. Positions alone: cubic spline, at rest at both ends.
  std::unique_ptr<Trajectory> interpolated() const;
};

/// At equal distances in time, of 1 / rate [s] or a little less, both ends included. Throws
/// std::invalid_argument for more than a million samples.
MotionSamples sample_motion(const Trajectory& motion, double rate);

/// A timed path as trajectory controllers get it: samples, with an interpolation in between that keeps
/// the limits as well.
struct SampledTiming {
  Timing timing;
  std::vector<ActiveLimit> active;  ///< before the motion is stretched
  MotionSamples samples;
  LimitUse use;  ///< of the interpolated samples, with regard to the given limits
  /// Torque and velocity limits with which the path was timed, over the given ones: the smallest.
  double torque_share = 1, velocity_share = 1;
  /// How many times longer the motion takes than with these limits: 1 unless lower limits do not help.
  double stretch = 1;
};

/// Excess of the torque that passes; velocities must not exceed their limits at all.
inline constexpr double kTorqueTolerance = 0.005;

/// Times the path and samples it, with limits lowered until the interpolated samples keep the given
/// ones, or slower where that is faster: torques to kTorqueTolerance, velocities exactly, also those of
/// the cubic spline through the positions. Of the torque limits, only the part is lowered that gravity
/// and Coulomb friction leave. `fit` = false: as fast as the limits allow at the samples. Throws
/// std::invalid_argument and TimingError, and std::runtime_error if no motion fits, or if it takes
/// more than an hour.
SampledTiming time_and_sample(const ga_dynamics::Chain& chain, const TimingLimits& limits,
                              const TimingOptions& options, const std::shared_ptr<const Path>& path,
                              double rate, bool fit = true);

/// Acceleration limits [rad/s², m/s²], one per joint, with which no torque limit is exceeded at any of
/// `postures` random postures within the position limits, at any velocities within the velocity limits
/// and any accelerations within these; those of the largest product. Friction counts. Empty if there
/// are none: gravity, friction and fast motion alone exceed a torque limit. The same seed gives the
/// same limits. Postures of joints without position limits are within ±π; throws
/// std::invalid_argument for limits of torque or velocity that are infinite.
std::vector<double> safe_accelerations(const ga_dynamics::Chain& chain, const TimingLimits& limits,
                                       int postures = 2000, unsigned seed = 1);

}  // namespace ga_motion

#endif  // GA_MOTION__TIME_PARAMETERIZATION_HPP_
