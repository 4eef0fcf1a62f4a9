// SPDX-License-Identifier: Apache-2.0
#ifndef STUDY__CLOSED_LOOP_HPP_
#define STUDY__CLOSED_LOOP_HPP_

// A control law driving a simulated arm along a trajectory at a fixed rate: the arm of
// ga_hardware/SimSystem, with encoders, DACs and safety machine.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_hardware/recording.hpp"
#include "ga_hardware/simulated_arm.hpp"
#include "ga_motion/trajectory.hpp"
#include "ga_tools/run_verdict.hpp"

namespace ga_tools {

using ga_hardware::JointSignals;
using ga_hardware::Recording;

struct LoopOptions {
  double rate = 1000;        ///< Hz
  double settle_time = 1.0;  ///< s after the trajectory's end, its end held
};

/// One law under test: computes torques for the measured state.
struct LawUnderTest {
  std::function<void(std::span<const double> q, std::span<const double> qd)> start;
  std::function<void(std::span<const double> q, std::span<const double> qd,
                     const ga_controllers::Reference& reference, double dt, std::span<double> tau)>
      update;
};

LawUnderTest computed_torque(const ga_dynamics::Chain& model,
                             const ga_controllers::LawParameters& parameters);
/// A joint controller's own gains, N m/rad and N m s/rad.
struct PdGains {
  std::vector<double> kp, kd;
  /// The largest error [rad, m] with which gravity leaves the arm at the first posture, and whose.
  double sag = 0;
  std::size_t sagging = 0;
  /// The largest distance [rad, m] from its goal at which Coulomb friction holds a joint against
  /// Kp times its inertia, and whose.
  double stuck = 0;
  std::size_t sticking = 0;
};
/// The gains (one per joint) times the joint's inertia at the first posture, the other joints held.
/// Where the arm's couplings at one of the postures would make its fastest mode faster than the lag
/// of the velocity observers bears, the inertia is that which the joint sees while the others are
/// free, and smaller still until the mode is slow enough: an arm without rotor inertias shakes
/// otherwise.
PdGains pd_gains(const ga_dynamics::Chain& model, std::span<const ga_controllers::JointGains> gains,
                 std::span<const std::vector<double>> postures);
/// The joint controller that comes with most arms: tau = −Kp e − Kd ed on every joint by itself, no
/// model.
LawUnderTest independent_pd(const ga_dynamics::Chain& model, const PdGains& gains);

struct RunRecording : Recording {
  std::optional<Verdict> ended;  ///< set: a fault or a failed integration ended it
};

/// Not-a-number: not measured, because the run ended early or nothing limits the torque.
struct Metrics {
  double joint_rms = 0, joint_max = 0;  ///< rad, over all joints, along the trajectory
  double tool_rms = 0,
         tool_max = 0;      ///< m, distance to where the tool should be, along the trajectory
  double final_error = 0;   ///< rad, largest over joints and the last quarter of the settling time
  double final_motion = 0;  ///< rad, largest span of a joint over that time: hunting shows here
  double torque_use = 0;    ///< largest |tau| over its limit, of the joints that have one
};

/// Runs the law on an arm that stands at the trajectory's start. `model` gives the tool's positions
/// and the limits. A run that a fault of the safety machine stops, or whose integration fails, ends
/// there, at least one sample long.
RunRecording run_loop(ga_hardware::SimulatedArm& arm, const ga_dynamics::Chain& model,
                      const ga_motion::Trajectory& trajectory, LawUnderTest& law,
                      const LoopOptions& options, const std::function<void(double)>& progress = {});
/// Settings of an arm for run_loop(): at the trajectory's start, its brakes open with the first
/// torque.
ga_hardware::SimulatedArmSettings settings_for(const ga_motion::Trajectory& trajectory,
                                               const LoopOptions& options);

/// Fills the paths of the tool, real and wanted, from the joints'.
void trace_tool(Recording& recording, const ga_dynamics::Chain& chain);

Metrics measure(const Recording& recording, const ga_dynamics::Chain& chain, double duration);
/// Not-a-number throughout for a run that ended early.
Metrics measure(const RunRecording& recording, const ga_dynamics::Chain& chain, double duration);

}  // namespace ga_tools

#endif  // STUDY__CLOSED_LOOP_HPP_
