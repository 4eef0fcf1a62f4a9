// SPDX-License-Identifier: Apache-2.0
#ifndef STUDY__RUN_VERDICT_HPP_
#define STUDY__RUN_VERDICT_HPP_

// Did a simulated run work? Names runs that a fault stopped, that lost their reference or oscillate
// at rest: which joint, when, why.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_hardware/arm_model.hpp"

namespace ga_tools {

struct RunRecording;
using ga_hardware::JointSignals;

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

}  // namespace ga_tools

#endif  // STUDY__RUN_VERDICT_HPP_
