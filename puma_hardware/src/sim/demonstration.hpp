// SPDX-License-Identifier: Apache-2.0
#ifndef SIM__DEMONSTRATION_HPP_
#define SIM__DEMONSTRATION_HPP_

// `puma sim`: the arm tracking a motion under several laws, one after another, and what came out.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/closed_loop.hpp"

namespace puma_hardware::sim {

struct DemonstrationOptions {
  std::filesystem::path urdf;
  std::vector<std::string> laws = {"integral", "tracking", "ptp", "pd"};
  std::string trajectory = "line";  ///< as in motion.hpp
  double bandwidth = 40;            ///< rad/s
  double damping = 1;
  /// Kp [1/s²], Kd [1/s], Ki [1/s³] in place of those of bandwidth and damping: none, one, or one
  /// per joint.
  std::vector<double> kp, kd, ki;
  double friction = 1;     ///< share of the friction that the laws feed forward
  double stiction = 1;     ///< break-away over Coulomb friction of the arm, unknown to the laws
  double payload = 0;      ///< kg at the tool, unknown to the laws
  double mismatch = 0;     ///< relative error of every mass and inertia tensor, at random
  double rate = 1000;      ///< Hz
  double settle_time = 3;  ///< s at the goal after the motion
  double noise = 0;        ///< rad, on the positions before the encoders
  bool ideal = false;      ///< no encoder counts, no DAC steps
  unsigned seed = 1;
};

struct LawResult {
  std::string id, label;
  Recording recording;
  Metrics metrics;
};

struct Demonstration {
  ga_dynamics::Chain chain;
  double duration = 0;  ///< s, of the motion
  std::vector<LawResult> results;
  std::vector<std::string> notes;
};

/// Throws std::runtime_error, naming the option, for impossible ones; ga_dynamics' errors for a
/// description or a motion that do not fit. `progress` gets a share of 1 and what is being done.
Demonstration demonstrate(const DemonstrationOptions& options,
                          const std::function<void(double, const std::string&)>& progress);

/// The table that a person reads in the terminal.
std::string table_text(const Demonstration& demonstration);

}  // namespace puma_hardware::sim

#endif  // SIM__DEMONSTRATION_HPP_
