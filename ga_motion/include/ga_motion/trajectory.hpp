// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__TRAJECTORY_HPP_
#define GA_MOTION__TRAJECTORY_HPP_

// Motions in joint space: ramps and splines, the references of Mata, Valera et al. (PUMA with open
// control, Figure 5), cubics through via points (the d'Alembert paper's §3: third-order
// polynomials through three points without a stop at the middle one), quintics, holds, and
// sequences of them. cartesian_line.hpp adds straight lines of the tool.
//
//   const std::vector<double> home(6), goal{0.5, -1.0, 0.2, 0.0, 0.7, 0.0};
//   const auto motion = ga_motion::make_quintic(home, goal, 2.0);
//   std::vector<double> q(6), qd(6), qdd(6);
//   motion->sample(0.5, q, qd, qdd);
//
// Units: rad and m, s.
// Real-time safety: sampling is real-time safe; the make_ functions allocate.
// Throws: std::invalid_argument, naming the argument, the value and the remedy: sample() for a span
// that is too short, the make_ functions for whatever they cannot make a motion of.

#include <memory>
#include <span>
#include <vector>

namespace ga_motion {

/// A joint-space motion over time. Objects are immutable: any number of threads may sample one.
class Trajectory {
 public:
  virtual ~Trajectory();
  Trajectory(const Trajectory&) = delete;
  Trajectory& operator=(const Trajectory&) = delete;

  /// Number of joints. Real-time safe.
  virtual int size() const noexcept = 0;
  /// s. Real-time safe.
  virtual double duration() const noexcept = 0;
  /// Position, velocity and acceleration at time t [s], one value per joint (rad and m, s). t is
  /// clamped to [0, duration()]; more than 1 ns outside, the arm rests at that end: qd and qdd are
  /// zero, even where the motion itself begins or ends at speed. Not-a-number counts as 0.
  /// Real-time safe. Throws std::invalid_argument if a span is shorter than size().
  virtual void sample(double t, std::span<double> q, std::span<double> qd,
                      std::span<double> qdd) const = 0;

 protected:
  Trajectory() = default;
};

/// Along a straight line in joint space at constant speed, all joints starting and stopping
/// together, with parabolic blends (linear segment with parabolic blends): the shortest such motion
/// in which no joint exceeds its speed [rad/s, m/s] or acceleration [rad/s², m/s²]. On short ways
/// the speed is not reached.
///
/// An infinite acceleration gives the pure ramp: full speed from the first instant to the last. Its
/// velocity jumps at both ends, where the true acceleration is an impulse; sample() gives zero
/// acceleration throughout. It is there to reproduce published experiments: no drive follows it
/// exactly.
std::unique_ptr<Trajectory> make_ramp(std::span<const double> start, std::span<const double> goal,
                                      std::span<const double> speed,
                                      std::span<const double> acceleration);

/// The same motion, given by its duration and by the time of each of its two blends [s], at most
/// half of the duration: the speed is distance / (duration − blend_time), the acceleration speed /
/// blend_time. Blend time 0 gives the pure ramp.
std::unique_ptr<Trajectory> make_timed_ramp(std::span<const double> start,
                                            std::span<const double> goal, double duration,
                                            double blend_time);

/// Rest to rest by a fifth-order polynomial: velocity and acceleration are zero at both ends. The
/// largest speed is 1.875 and the largest acceleration 5.774 times distance / duration^(1, 2).
std::unique_ptr<Trajectory> make_quintic(std::span<const double> start,
                                         std::span<const double> goal, double duration);

/// Third-order polynomials through `points` (one joint vector each, two or more) at `times` [s],
/// which begin with 0 and increase; velocity and acceleration are continuous at the via points. The
/// end velocities [rad/s, m/s] are zero unless given; the end accelerations follow and are not
/// zero.
std::unique_ptr<Trajectory> make_cubic_spline(std::span<const double> times,
                                              std::span<const std::vector<double>> points,
                                              std::span<const double> start_velocity = {},
                                              std::span<const double> end_velocity = {});

/// Rest at q for `duration` [s].
std::unique_ptr<Trajectory> make_hold(std::span<const double> q, double duration);

/// One part after another. Where two parts meet the positions agree to `position_tolerance` [rad,
/// m] or this throws, naming the parts and the joint; velocities may jump there, as they do after a
/// pure ramp. The instant where two parts meet belongs to the later one.
std::unique_ptr<Trajectory> make_sequence(std::vector<std::unique_ptr<Trajectory>> parts,
                                          double position_tolerance = 1e-6);

}  // namespace ga_motion

#endif  // GA_MOTION__TRAJECTORY_HPP_
