// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__STABILITY_CHECK_HPP_
#define GA_CONTROLLERS__STABILITY_CHECK_HPP_

// The steps of check_stability(), on valid arguments. Allocates. Throws std::invalid_argument if the
// model's inertia matrix is singular.

#include <vector>

#include "ga_controllers/stability.hpp"
#include "posture_search.hpp"
#include "stability_text.hpp"
#include "uncertain_arm.hpp"

namespace ga_controllers {

/// True if every joint has a kp: then gravity belongs to the analysis.
bool has_stiffness(const std::vector<LoopSettings>& loops);

class StabilityCheck {
 public:
  /// One loop per joint. The chain must outlive the object.
  StabilityCheck(const ga_dynamics::Chain& chain, std::vector<LoopSettings> loops,
                 const ModelUncertainty& uncertainty);

  /// `resonance` in Hz: empty, one for all joints or one per joint.
  StabilityReport run(const std::vector<double>& resonance, const std::vector<Posture>& given);

 private:
  RealArm corner(bool payload, bool mass, bool armature) const;
  void worsen(StabilityVerdict verdict);
  void find_ratios();
  void check_ratios();
  void check_exactly(const Posture& q, const RealArm& real, double margin);
  void check_complete_arm();
  void check_gravity();
  bool stable_with_margin(double factor) const;
  void find_bandwidth();
  void find_payload();
  void check_elasticity(const std::vector<double>& resonance);
  void check_armature();

  const ga_dynamics::Chain& chain_;
  ModelUncertainty u_;
  std::vector<LoopSettings> loops_;
  UncertainArm arm_;
  RealArm heavy_, light_;
  bool equal_;            ///< all joints have the same loop
  bool gravity_;          ///< belongs to the analysis
  double softening_ = 0;  ///< 1/s², by which gravity reduces Kp at most
  std::vector<Posture> postures_;
  StabilityReport report_;
  StabilityFindings found_;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__STABILITY_CHECK_HPP_
