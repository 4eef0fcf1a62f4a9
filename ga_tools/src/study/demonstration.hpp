// SPDX-License-Identifier: Apache-2.0
#ifndef STUDY__DEMONSTRATION_HPP_
#define STUDY__DEMONSTRATION_HPP_

// `puma sim`: the arm tracking a motion under several laws, one after another, and what came out.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ga_hardware/simulated_arm.hpp"
#include "ga_tools/closed_loop.hpp"
#include "study/stability_lines.hpp"

namespace ga_tools {

struct DemonstrationOptions {
  std::filesystem::path urdf;
  ga_dynamics::ChainOptions chain;  ///< which of its joints
  std::string command;              ///< as it was typed, for the report
  /// integral, tracking, ptp, hold, pd, pd-gravity, pid. None: all but hold, and pd only where it
  /// can hold the arm.
  std::vector<std::string> laws = {};
  std::string trajectory = "auto";  ///< as of choose_motion()
  double bandwidth = 40;            ///< rad/s
  double damping = 1;
  /// Kp [1/s²], Kd [1/s], Ki [1/s³] in place of those of bandwidth and damping: none, one, or one
  /// per joint.
  std::vector<double> kp, kd, ki;
  double friction = 1;  ///< share of the friction that the laws feed forward
  double payload = 0;   ///< kg at the tool, unknown to the laws
  /// m, its center of mass in the tip link's frame: none (at the origin), or x, y and z.
  std::vector<double> payload_com = {};
  ga_dynamics::Payload known_payload = {};      ///< what the laws know of it
  bool adapt = false;                           ///< the tracking laws estimate errors of the model
  ga_hardware::Disturbances disturbances = {};  ///< unknown to the laws
  UncertaintyArguments uncertainty = {};        ///< of the stability check
  double rate = 1000;                           ///< Hz
  double settle_time = 3;                       ///< s at the goal after the motion
  double noise = 0;                             ///< rad, on the positions before the encoders
  bool ideal = false;                           ///< no encoder counts, no DAC steps
  unsigned seed = 1;
};

struct LawResult {
  std::string id, label;
  RunRecording recording;
  Metrics metrics;
  std::vector<ga_controllers::JointMonitor> monitors = {};  ///< one per joint
  std::optional<Verdict> verdict;  ///< none: it was recorded elsewhere and not judged
  /// Added by default, for comparison with the laws under test: named if it fails, but not counted.
  bool comparison = false;
};

struct Demonstration {
  ga_dynamics::Chain chain;
  double duration = 0;  ///< s, of the motion
  std::vector<LawResult> results;
  std::vector<std::string> notes;
  // --- what it was made with
  std::vector<std::string> laws;
  std::string motion;                             ///< what was chosen
  std::vector<ga_controllers::JointGains> gains;  ///< one per joint
  std::vector<JointSignals> signals;              ///< one per joint
  std::vector<ga_hardware::JointErrors> errors;   ///< one per joint, of the arm
  JointControllerGains joint_gains;               ///< of the joint controllers
  std::vector<StabilityLine> stability = {};      ///< of the laws, not of the joint controllers

  bool ok() const;  ///< no run but the comparison was stopped, lost its reference or oscillates
};

/// Throws std::runtime_error, naming the option, for impossible ones and for an arm with a joint
/// that moves no inertia; ga_dynamics' errors for a description or a motion that do not fit. Runs
/// that go wrong do not throw: LawResult::verdict. `progress` gets a share of 1 and what is being
/// done. `started` is called once, before the first run, with all but the results.
Demonstration demonstrate(const DemonstrationOptions& options,
                          const std::function<void(double, const std::string&)>& progress,
                          const std::function<void(const Demonstration&)>& started = {});

/// The table that a person reads in the terminal; below it, a line for each run that went wrong.
std::string table_text(const Demonstration& demonstration);

}  // namespace ga_tools

#endif  // STUDY__DEMONSTRATION_HPP_
