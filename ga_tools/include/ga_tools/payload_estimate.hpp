// SPDX-License-Identifier: Apache-2.0
#ifndef GA_TOOLS__PAYLOAD_ESTIMATE_HPP_
#define GA_TOOLS__PAYLOAD_ESTIMATE_HPP_

// Estimates mass and center of mass of a payload from the torques of a slow motion of the wrist.
//
// At rest, the torque that the model lacks is linear in mass and first moments of the payload. They
// are fitted by linear least squares over several postures. Each posture is passed slowly in both
// directions: in the mean of both torques, friction cancels. What the model lacks for other reasons
// (wrong masses of the links) counts as payload; the deviations show only how well the fit agrees.
//
// Units: rad, s, N m, kg, m. Not real-time safe.

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_motion/trajectory.hpp"

namespace ga_tools {

/// A posture, and the torques that hold the arm there.
struct PostureTorque {
  std::vector<double> q, torque;
};

struct PayloadEstimate {
  ga_dynamics::Payload payload;  ///< mass and center of mass; its inertia is not estimated
  double mass_deviation = 0;     ///< kg, standard deviation
  ga_dynamics::Vector3 com_deviation{0, 0, 0};  ///< m
  bool mass_identified = false;                 ///< otherwise zero
  std::array<bool, 3> com_identified{};         ///< x, y, z; otherwise zero
  double residual = 0;                          ///< N m RMS, what the fit leaves

  /// Two to five lines: mass, center of mass with deviations, what could not be identified.
  std::string text() const;
};

/// Fits the payload at the tip link of `chain`, which describes the arm without it. The torques are
/// weighted with their limits. Throws std::invalid_argument for samples of the wrong size, values
/// that are not finite, or fewer torques than unknowns.
PayloadEstimate estimate_payload(const ga_dynamics::Chain& chain,
                                 std::span<const PostureTorque> samples);

/// A motion for the estimation: from a posture, the last three joints turn a little, one after the
/// other, and every posture is passed in both directions.
class PayloadMotion {
 public:
  /// Stays within the position limits and below a third of the velocity limits. Throws
  /// std::invalid_argument if `start` is too close to a limit.
  PayloadMotion(const ga_dynamics::Chain& chain, std::span<const double> start);
  ~PayloadMotion();

  const ga_motion::Trajectory& trajectory() const;
  /// The postures and mean torques of a recording of the motion. Throws std::invalid_argument if it
  /// ends too early.
  std::vector<PostureTorque> samples(const ga_motion::Recording& recording) const;

 private:
  class Path;
  std::unique_ptr<Path> path_;
};

}  // namespace ga_tools

#endif  // GA_TOOLS__PAYLOAD_ESTIMATE_HPP_
