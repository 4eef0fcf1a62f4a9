// SPDX-License-Identifier: Apache-2.0
#ifndef TIP_PARAMETERS_HPP_
#define TIP_PARAMETERS_HPP_

// The minimal parameters of a chain whose payload changes. They are linear in the payload's inertia
// parameters: mass, first moments and second moments. Ten point masses span these, so the
// parameters are those of the chain plus a weighted sum of ten constant parts.

#include <array>
#include <vector>

#include "ga_dynamics/minimal_parameters.hpp"

namespace ga_dynamics {

class TipMinimalParameters {
 public:
  /// Allocates. Starts without payload.
  explicit TipMinimalParameters(const Chain& chain);
  // Not inline: the kernels' copies would be merged across instruction sets.
  TipMinimalParameters(const TipMinimalParameters& other);
  TipMinimalParameters& operator=(const TipMinimalParameters& other) = delete;
  ~TipMinimalParameters();

  /// The payload, in the tip link's frame. Real-time safe.
  void set_payload(const LinkInertia& payload) noexcept;
  const std::vector<MlcJoint>& joints() const;

 private:
  static constexpr std::size_t kPoints = 10;
  std::vector<MlcJoint> chain_, present_;
  std::array<std::vector<MlcJoint>, kPoints> per_point_;  ///< change by 1 kg at each point
};

}  // namespace ga_dynamics

#endif  // TIP_PARAMETERS_HPP_
