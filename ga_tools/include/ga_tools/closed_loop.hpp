// SPDX-License-Identifier: Apache-2.0
#ifndef GA_TOOLS__CLOSED_LOOP_HPP_
#define GA_TOOLS__CLOSED_LOOP_HPP_

// A control law driving a simulated arm along a trajectory at a fixed rate: the arm of
// ga_hardware/SimSystem, with encoders, DACs and safety machine. Whether the run worked: runs that
// a fault stopped, that lost their reference or oscillate at rest are named, with joint, time and
// reason. And the options of the stability check before a run.

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_controllers/law_monitor.hpp"
#include "ga_controllers/stability.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_hardware/arm_model.hpp"
#include "ga_hardware/simulated_arm.hpp"
#include "ga_motion/trajectory.hpp"

namespace ga_tools {

using ga_hardware::JointSignals;
using ga_motion::Recording;

struct LoopOptions {
  double rate = 1000;        ///< Hz
  double settle_time = 1.0;  ///< s after the trajectory's end, its end held
  /// A motion that takes more than this many times its duration, because the law stretches time, ends.
  double longest_stretch = 20;
};

/// One law under test: computes torques for the measured state.
struct LawUnderTest {
  std::function<void(std::span<const double> q, std::span<const double> qd)> start;
  std::function<void(std::span<const double> q, std::span<const double> qd,
                     const ga_controllers::Reference& reference, double dt, std::span<double> tau)>
      update;
  /// N m, of the last update; none: the law does not estimate it.
  std::function<std::span<const double>()> disturbance_torque = {};
  /// After update(); empty: the law does not scale time.
  std::function<ga_controllers::TimeScale()> time_scale = {};
};

/// `held` [N m]: what held the arm before; empty: the model's gravity.
LawUnderTest computed_torque(const ga_dynamics::Chain& model,
                             const ga_controllers::LawParameters& parameters,
                             std::vector<double> held = {});

/// Joint controllers for comparison, each joint by itself, all from the same gains:
///   PD                tau = −Kp e − Kd ed
///   PD with gravity   tau = G(q) − Kp e − Kd ed
///   PID               tau = −Kp e − Kd ed − Ki ∫e dt, the integral starting with what held the arm
/// The PID's integral stands still while it would only drive a torque further beyond its limit
/// (anti-windup by conditional integration).
enum class JointController { kPd, kPdGravity, kPid };

/// N m/rad, N m s/rad and N m/(rad s).
struct JointControllerGains {
  std::vector<double> kp, kd, ki;
  /// The largest error [rad, m] with which gravity leaves a PD at the first posture, and whose.
  double sag = 0;
  std::size_t sagging = 0;
  /// The largest distance [rad, m] from its goal at which Coulomb friction holds a joint against
  /// Kp times its inertia, and whose.
  double stuck = 0;
  std::size_t sticking = 0;
  /// Below 1: joint coupling made the fastest mode too fast for the loop, and the gains are those of
  /// the rule times this.
  double reduction = 1;
};
/// The tuning rule: the gains of the laws (one per joint; Kp = w², Kd = 2 z w, Ki = w³/4) times the
/// joint's inertia at the first posture, the other joints held. Coupling makes the fastest mode of
/// the arm faster than w where the joints' inertias are mostly those of other links; where it would
/// be too fast for the loop's rate [Hz] at one of the postures, all gains are reduced by one factor
/// until it is not: an arm without rotor inertias shakes otherwise.
JointControllerGains joint_controller_gains(const ga_dynamics::Chain& model,
                                            std::span<const ga_controllers::JointGains> gains,
                                            std::span<const std::vector<double>> postures,
                                            double rate);
/// `held` [N m]: what held the arm before; empty: the model's gravity.
LawUnderTest joint_controller(JointController kind, const ga_dynamics::Chain& model,
                              const JointControllerGains& gains, std::vector<double> held = {});

enum class RunState {
  kOk,
  kFault,  ///< the safety machine stopped the arm (overspeed, hard limit, …); the run ends there
  kDiverged,  ///< the integration failed; the run ends there
  kLost,  ///< a joint is far from its reference, or beside its goal at rest: the torque limit or a
          ///< stop holds it, the law is too weak, or the settling time too short
  kOscillating  ///< a joint moves to and fro at rest, or its torque jumps between its limits
};
/// "ok", "fault", "diverged", "reference lost", "oscillating".
std::string to_string(RunState state);

struct Verdict {
  RunState state = RunState::kOk;
  std::size_t joint = 0;
  double time = 0;     ///< s, when it was first seen
  std::string reason;  ///< names the joint, the values and the threshold

  bool ok() const { return state == RunState::kOk; }
};

/// "fault at 0.123 s: elbow: overspeed: …"; "ok".
std::string describe(const Verdict& verdict);

/// q_ref and tool_ref: the trajectory, at the time that the law has reached on it.
struct RunRecording : Recording {
  double motion_end = 0;  ///< s, when the law had followed the trajectory to its end; 0: unknown
  double slowest = 1;     ///< smallest rate of the law's time scaling
  /// Duration of the motion [s], longer than that of the trajectory if the law stretched time.
  double duration(double of_trajectory) const { return std::max(motion_end, of_trajectory); }
  std::optional<Verdict> ended;  ///< set: a fault or a failed integration ended it
  /// N m, estimated by the law; [joint][cycle], or empty.
  std::vector<std::vector<double>> disturbance;
};

/// Not-a-number: not measured, because the run ended early or nothing limits the torque.
struct Metrics {
  double joint_rms = 0, joint_max = 0;  ///< rad, over all joints, along the trajectory
  double tool_rms = 0,
         tool_max = 0;      ///< m, distance to where the tool should be, along the trajectory
  double final_error = 0;   ///< rad, largest over joints and the last quarter of the settling time
  double final_motion = 0;  ///< rad, largest span of a joint over that time: hunting shows here
  double torque_use = 0;    ///< largest |tau| over its limit, of the joints that have one
  // --- of monitor(), worst joint
  double chatter = 0;  ///< RMS change of the torque per cycle over its limit, along the trajectory
  double saturation = 0;  ///< share of the cycles with a saturated torque
  double oscillation =
      0;  ///< rad, largest oscillation at rest, from turning point to turning point
  double model_error = 0;  ///< RMS disturbance torque over the torque limit
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

/// What ga_controllers::LawMonitor shows of a run, per joint: the largest oscillation with its
/// frequency and the largest ratio of the model error; chatter along the trajectory, saturation and
/// model error of the whole run. `signals`: one per joint, or none. `disturbance` as in RunRecording.
std::vector<ga_controllers::JointMonitor> monitor(
    const Recording& recording, const ga_dynamics::Chain& chain, double duration,
    std::span<const JointSignals> signals = {},
    const std::vector<std::vector<double>>& disturbance = {});
/// Takes the worst joint's values.
void add_monitors(Metrics& metrics, std::span<const ga_controllers::JointMonitor> joints,
                  const ga_dynamics::Chain& chain, bool with_model_error);

/// Thresholds. Lengths of prismatic joints in m where rad are named.
struct VerdictThresholds {
  // --- reference lost
  double lost_angle = 1;       ///< rad of error
  double lost_distance = 0.5;  ///< m of error, of a prismatic joint
  double stuck_error =
      0.1;  ///< rad of error for `stuck_time` while a stop or the torque limit holds the joint
  double stuck_time = 0.25;  ///< s
  double at_limit =
      0.98;  ///< share of the torque limit that counts as the limit: DACs end a step below it
  /// Error at rest: of a joint that comes no nearer to its goal in the last `final_part` of the
  /// settling time, the part in which Metrics::final_error is measured. Far above what friction
  /// (some mrad) and the sag of a PD law without a model (50 mrad; more is left out of the
  /// comparison) leave of a law that works; whatever the torque is.
  double rest_angle = 0.1;      ///< rad
  double rest_distance = 0.05;  ///< m, of a prismatic joint
  double final_part = 0.25;
  // --- oscillating at rest: from `rest_begin` of the settling time on
  double rest_begin = 0.25;
  double swing = 3e-4;      ///< rad from one turning point to the next; smaller ones do not count
  double swing_counts = 4;  ///< the same in encoder counts; the largest of the three holds
  double swing_noise = 6;   ///< the same in standard deviations of the position noise
  int turns = 3;            ///< turning points, at least
  double lasting = 0.7;     ///< the second half of the swings over the first: below, it dies out
  // --- oscillating torque
  double torque_swing = 0.5;  ///< of the torque limit, at rest, from turning point to turning point
  int torque_turns = 10;
  int limit_jumps = 8;        ///< from one torque limit to the other, at any time …
  double limit_window = 0.5;  ///< … within so many s
};

/// Turning points of a signal, those between which it moves by at least `swing`.
struct Swings {
  int turns = 0;
  double mean = 0;       ///< size from one turning point to the next
  double frequency = 0;  ///< per unit of time; 0 with fewer than three turning points
  double first = 0;      ///< time of the first turning point
  double lasting = 0;    ///< mean of the later half of the swings over that of the earlier half
};
Swings swings_of(std::span<const double> time, std::span<const double> values, double swing);

/// What a whole recording shows. `duration` [s] of the motion; the rest is rest. `signals`: one per
/// joint. `follows`: the law is to keep to the reference (a gravity hold is not). A recording that
/// ended early has its reason in Recording::ended, which is returned first.
Verdict judge(const RunRecording& recording, const ga_dynamics::Chain& chain, double duration,
              std::span<const JointSignals> signals, bool follows,
              const VerdictThresholds& thresholds = {});

// --- the stability check before a run ---

/// What `ga sim`, `puma sim` and `puma run` check the stability of a law with (check_law()): options by
/// the names of the controllers' parameters uncertainty.*. What is not given is assumed.
struct UncertaintyArguments {
  std::optional<double> payload;         ///< kg
  std::optional<double> payload_radius;  ///< m
  std::optional<double> mass;            ///< part of 1
  std::optional<double> armature_low, armature_high;
  std::optional<int> delay;       ///< cycles
  std::vector<double> resonance;  ///< Hz; empty, one, or one per joint
  bool fit_resonance = false;     ///< lower the gains to what the resonance allows
};

/// With the defaults of ga_controllers::Uncertainty, except that `assumed` (what is simulated) widens
/// them. An option that is given takes precedence and makes the uncertainty a declared one.
ga_controllers::Uncertainty uncertainty_of(const UncertaintyArguments& arguments,
                                           const ga_controllers::Uncertainty& assumed = {});

/// Lowers the gains, one per joint, to what the resonance allows; true if one changed. Throws
/// std::runtime_error naming the option if there is no resonance or the wrong number of them.
bool fit_resonance(ga_controllers::LawKind kind, const ga_controllers::Uncertainty& uncertainty,
                   std::vector<ga_controllers::JointGains>& gains);

}  // namespace ga_tools

#endif  // GA_TOOLS__CLOSED_LOOP_HPP_
