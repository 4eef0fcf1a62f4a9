// SPDX-License-Identifier: Apache-2.0
#include "tip_parameters.hpp"

namespace ga_dynamics {
namespace {

/// m, in the tip link's frame: the origin, both ways along the axes, and the diagonals.
constexpr std::array<Vector3, 10> kPoint{{{0, 0, 0},
                                          {1, 0, 0},
                                          {-1, 0, 0},
                                          {0, 1, 0},
                                          {0, -1, 0},
                                          {0, 0, 1},
                                          {0, 0, -1},
                                          {1, 1, 0},
                                          {1, 0, 1},
                                          {0, 1, 1}}};

/// Masses at the points that have the payload's mass, first and second moments.
std::array<double, kPoint.size()> masses_of(const LinkInertia& p) noexcept {
  const double m = p.mass;
  const Vector3& c = p.com;
  const Matrix3& i = p.inertia;
  const double xx = 0.5 * (i[4] + i[8] - i[0]) + m * c[0] * c[0];
  const double yy = 0.5 * (i[0] + i[8] - i[4]) + m * c[1] * c[1];
  const double zz = 0.5 * (i[0] + i[4] - i[8]) + m * c[2] * c[2];
  const double xy = m * c[0] * c[1] - 0.5 * (i[1] + i[3]);
  const double xz = m * c[0] * c[2] - 0.5 * (i[2] + i[6]);
  const double yz = m * c[1] * c[2] - 0.5 * (i[5] + i[7]);
  // What the diagonals leave to the axes.
  const Vector3 first{m * c[0] - xy - xz, m * c[1] - xy - yz, m * c[2] - xz - yz};
  const Vector3 second{xx - xy - xz, yy - xy - yz, zz - xz - yz};
  std::array<double, kPoint.size()> masses{};
  for (std::size_t k = 0; k < 3; ++k) {
    masses[1 + 2 * k] = 0.5 * (second[k] + first[k]);
    masses[2 + 2 * k] = 0.5 * (second[k] - first[k]);
  }
  masses[7] = xy, masses[8] = xz, masses[9] = yz;
  masses[0] = m;
  for (std::size_t k = 1; k < masses.size(); ++k) masses[0] -= masses[k];
  return masses;
}

/// to += share · from, in all that is linear in the inertia parameters.
void add(MlcJoint& to, double share, const MlcJoint& from) noexcept {
  to.mass += share * from.mass;
  to.kappa1 += share * from.kappa1;
  to.kappa2 += share * from.kappa2;
  to.g33 += share * from.g33;
  for (std::size_t k = 0; k < to.k.size(); ++k) to.k[k] += share * from.k[k];
  for (std::size_t k = 0; k < to.u.size(); ++k) {
    to.u[k] += share * from.u[k];
    to.u_bar[k] += share * from.u_bar[k];
    to.w[k] += share * from.w[k];
  }
}

}  // namespace

TipMinimalParameters::TipMinimalParameters(const Chain& chain)
    : chain_(MinimalParameters(chain).joints()), present_(chain_) {
  static_assert(kPoint.size() == kPoints);
  for (std::size_t k = 0; k < kPoints; ++k) {
    per_point_[k] = MinimalParameters(chain.with_payload({1, kPoint[k], {}})).joints();
    for (std::size_t i = 0; i < chain_.size(); ++i) add(per_point_[k][i], -1, chain_[i]);
  }
}
TipMinimalParameters::TipMinimalParameters(const TipMinimalParameters& other) = default;
TipMinimalParameters::~TipMinimalParameters() = default;

void TipMinimalParameters::set_payload(const LinkInertia& payload) noexcept {
  const auto masses = masses_of(payload);
  for (std::size_t i = 0; i < chain_.size(); ++i) {
    present_[i] = chain_[i];
    for (std::size_t k = 0; k < kPoints; ++k) add(present_[i], masses[k], per_point_[k][i]);
  }
}

const std::vector<MlcJoint>& TipMinimalParameters::joints() const { return present_; }

}  // namespace ga_dynamics
