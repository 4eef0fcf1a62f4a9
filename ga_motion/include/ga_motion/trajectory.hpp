// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__TRAJECTORY_HPP_
#define GA_MOTION__TRAJECTORY_HPP_

// Motions in joint space: ramps and splines, the references of Mata, Valera et al. (PUMA with open
// control, Figure 5), cubics through via points (the d'Alembert paper's §3: third-order
// polynomials through three points without a stop at the middle one), quintics, holds, and
// sequences of them; cartesian_line.hpp adds straight lines of the tool. Also the motions that `ga
// sim` knows by name, reads from a file of via points, or finds for an arm of which nothing else is
// known: within its position, velocity and torque limits, away from singularities. The same arm
// gets the same motion. And recordings of motions.
//
//   const std::vector<double> home(6), goal{0.5, -1.0, 0.2, 0.0, 0.7, 0.0};
//   const auto motion = ga_motion::make_quintic(home, goal, 2.0);
//   std::vector<double> q(6), qd(6), qdd(6);
//   motion->sample(0.5, q, qd, qdd);
//
// Units: rad and m, s.
// Real-time safety: sampling is real-time safe; everything else allocates.
// Throws: std::invalid_argument, naming the argument, the value and the remedy: sample() for a span
// that is too short, the make_ functions for whatever they cannot make a motion of.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"

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

/// Through `points` at `times` [s] with these velocities and, unless there are none, accelerations (one
/// joint vector each): polynomials of third order, of fifth with accelerations, between one point and
/// the next, as ros2_control's joint_trajectory_controller interpolates. At rest beyond both ends.
std::unique_ptr<Trajectory> make_hermite_spline(
    std::span<const double> times, std::span<const std::vector<double>> points,
    std::span<const std::vector<double>> velocities,
    std::span<const std::vector<double>> accelerations = {});

/// Rest at q for `duration` [s].
std::unique_ptr<Trajectory> make_hold(std::span<const double> q, double duration);

/// One part after another. Where two parts meet the positions agree to `position_tolerance` [rad,
/// m] or this throws, naming the parts and the joint; velocities may jump there, as they do after a
/// pure ramp. The instant where two parts meet belongs to the later one.
std::unique_ptr<Trajectory> make_sequence(std::vector<std::unique_ptr<Trajectory>> parts,
                                          double position_tolerance = 1e-6);

// --- motions of an arm: by name, from a file, or found ---

struct Motion {
  std::unique_ptr<Trajectory> trajectory;
  std::string description;  ///< what was chosen, for a person
  /// s; of a motion through via points: when it passes them.
  std::vector<double> knots = {};
};

/// The part of a joint's range in which motions are looked for: within ±2 rad (m) of 0, or of the
/// middle of its limits.
struct Range {
  double low = 0, high = 0;
};
Range usable_range(const ga_dynamics::ChainJoint& joint);

/// Can the motors drive the arm along it, with some torque to spare?
bool within_torque_limits(const ga_dynamics::Chain& chain, const Trajectory& motion);

/// A straight line of the tool at constant orientation; where no such line is found, one whose
/// orientation is free. Nothing where the arm cannot move its tool in every direction, or no line
/// was found.
std::optional<Motion> find_line(const ga_dynamics::Chain& chain);

/// All joints from 35 % to 65 % of their usable ranges on a fifth-order polynomial, as slowly as
/// velocity and torque limits ask for; nearer to where gravity is least if it alone takes more
/// torque than there is.
Motion find_joint_motion(const ga_dynamics::Chain& chain);

/// `name` is auto, line, quintic, ramp, spline, or a file (it ends in .csv or exists). The line is
/// that of the papers where the arm can follow it, otherwise one that was found for the arm; auto
/// is the line, or a motion of all joints where no line is found. Throws std::runtime_error, naming
/// the option, if the name is none of them, no line is found, or the motion exceeds the joints'
/// position or velocity limits or kLongestMotion (motion_limits.hpp).
///
/// The file holds one via point per line: the time [s], beginning with 0 and increasing, and one
/// position per joint [rad, m], separated by commas. A first line with names (t, and q1… or the
/// joints') gives the columns their order, and other columns are ignored: what `puma motion` prints
/// is read. Blank lines and what follows a # are skipped. The arm passes the points on third-order
/// polynomials, at rest at both ends.
Motion choose_motion(const std::string& name, const ga_dynamics::Chain& chain);
/// The same without its description.
std::unique_ptr<Trajectory> make_motion(const std::string& name, const ga_dynamics::Chain& chain);

/// A motion that took place, recorded every cycle; [joint][cycle].
struct Recording {
  std::vector<double> time;  ///< s
  std::vector<std::vector<double>> q, q_ref, qd, tau;
  std::vector<double> tool[3], tool_ref[3];          ///< origin of the tip link, m
  double update_time_mean = 0, update_time_max = 0;  ///< s, of the law
};

}  // namespace ga_motion

#endif  // GA_MOTION__TRAJECTORY_HPP_
