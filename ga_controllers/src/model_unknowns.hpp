// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__MODEL_UNKNOWNS_HPP_
#define GA_CONTROLLERS__MODEL_UNKNOWNS_HPP_

// What the adaptation does not know of an arm: the unknowns, their part of the regressor, their
// bounds, and the bodies and drives that they describe.
//
// Physically consistent by construction: the unknowns are shares and offsets of physical bodies, and
// each is bounded to three standard deviations and to what a body can have: masses, inertias and
// frictions stay positive. So does the payload; its center of mass stays near the tip. Unknowns that
// hardly change a torque of this arm are left out.

#include <array>
#include <span>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace ga_controllers {

/// The inertia parameters of a body, in the order of ga_dynamics::Dynamics::regressor().
constexpr std::size_t kParameters = ga_dynamics::Dynamics::kBodyParameters;
using BodyParameters = std::array<double, kParameters>;
void parameters_of(const ga_dynamics::LinkInertia& body, BodyParameters& parameters) noexcept;

/// Construction allocates. All else is real-time safe: no allocation, no lock, no exception. Units:
/// rad, s, N m, kg (m, N for prismatic joints). Indices are those of unknowns unless said otherwise.
class ModelUnknowns {
 public:
  /// m, most that the payload's center of mass is away from the tip; kg, less than that is no payload.
  static constexpr double kReach = 0.5, kLeastPayload = 1e-3;

  /// `torque_limit`: finite.
  ModelUnknowns(const ga_dynamics::Chain& chain, const LawParameters& parameters,
                std::span<const double> torque_limit);

  std::size_t size() const noexcept { return unknowns_.size(); }
  /// Standard deviation before the first motion, squared.
  double variance(std::size_t k) const noexcept {
    return unknowns_[k].deviation * unknowns_[k].deviation;
  }
  bool is_payload_mass(std::size_t k) const noexcept {
    return unknowns_[k].kind == Kind::kPayloadMass;
  }
  /// Of the payload: mass times center of mass along axis().
  bool is_payload_moment(std::size_t k) const noexcept {
    return unknowns_[k].kind == Kind::kPayloadMoment;
  }
  std::size_t axis(std::size_t k) const noexcept { return unknowns_[k].axis; }
  bool is_friction(std::size_t k) const noexcept {
    return unknowns_[k].kind == Kind::kCoulomb || unknowns_[k].kind == Kind::kViscous;
  }

  /// First unknown of a body; of body n: first unknown of the drives.
  std::size_t begin(std::size_t body) const noexcept { return begin_[body]; }
  std::size_t joint(std::size_t k) const noexcept { return unknowns_[k].joint; }
  /// Change of the body's parameters by one unit of the unknown.
  const BodyParameters& column(std::size_t k) const noexcept { return unknowns_[k].column; }
  /// Torque of the joint's own drive at one unit of the unknown.
  double drive_column(std::size_t k, double qd, double qdd) const noexcept;

  struct Bounds {
    double low, high;
  };
  /// With a payload of this mass [kg], which comes before its moment.
  Bounds bounds(std::size_t k, double payload) const noexcept;
  /// Moves all values into their bounds, and the payload's center of mass near the tip.
  void limit(std::span<double> x) const noexcept;
  /// A point mass, in the tip link's frame; none below kLeastPayload.
  ga_dynamics::LinkInertia payload(std::span<const double> x) const noexcept;

  /// A joint's drive with these values of the unknowns.
  ga_dynamics::Drive drive(std::size_t joint, std::span<const double> x) const noexcept;

  struct Bodies {
    std::vector<ga_dynamics::LinkInertia> bodies;
    std::vector<double> armature;
    std::vector<ga_dynamics::Drive> drives;
  };
  /// The model with these values of the unknowns; one body and drive per joint.
  void make(std::span<const double> x, Bodies& to) const noexcept;
  /// The model of the description.
  void describe(Bodies& to) const noexcept;

 private:
  enum class Kind {
    kMass,
    kInertia,
    kCom,
    kPayloadMass,
    kPayloadMoment,
    kCoulomb,
    kViscous,
    kArmature
  };
  struct Unknown {
    Kind kind;
    std::size_t joint;  ///< or body
    std::size_t axis;   ///< of a center of mass or first moment
    double deviation;
    BodyParameters column;
  };
  static void scale(ga_dynamics::Drive& drive, Kind kind, double factor) noexcept;
  void add(const AdaptationParameters& parameters);
  void select(std::span<const double> torque_limit);

  ga_dynamics::Chain chain_;
  double friction_velocity_;
  double reach_;                   ///< m
  std::vector<Unknown> unknowns_;  ///< body by body, then the drives
  std::vector<std::size_t> begin_;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__MODEL_UNKNOWNS_HPP_
