// SPDX-License-Identifier: Apache-2.0
#ifndef EXPERIMENTS__TWO_LINK_HPP_
#define EXPERIMENTS__TWO_LINK_HPP_

// The two-link example of Mata et al. 2002 §5.1 (Table 5): forward dynamics in single precision
// against double, by ABA, CRBA and GA. Results and explanation: doc/single_precision.md.

#include <numbers>
#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_tools::experiments::two_link {

using ga_dynamics::Chain;
using ga_dynamics::DhJoint;

struct Dimensions {
  double length[2] = {0.02, 2.0}, mass[2] = {0.1, 10.0};  // m, kg
};
inline constexpr double kWidth = 0.02;  ///< m
inline constexpr int kPositions = 180;

/// Two uniform bars, all constants computed in the arithmetic of S.
template <class S>
Chain make_chain(const Dimensions& dimensions) {
  std::vector<DhJoint> rows(2);
  const S w = S(kWidth);
  for (std::size_t i = 0; i < 2; ++i) {
    const S l = S(dimensions.length[i]), m = S(dimensions.mass[i]);
    const double across = m * (w * w + w * w) / S(12), along = m * (l * l + w * w) / S(12);
    rows[i].body.mass = m;
    rows[i].body.com = {l / S(2), 0, 0};
    rows[i].body.inertia = {across, 0, 0, 0, along, 0, 0, 0, along};
  }
  rows[1].dh.a = S(dimensions.length[0]);
  return Chain::from_dh(rows, {0, -S(9.81), 0});
}

template <class S>
S radians(int degrees) {
  return S(degrees) * (std::numbers::pi_v<S> / S(180));
}

/// Largest, mean absolute and mean signed difference (double − single) of each joint, rad/s².
struct Difference {
  double largest[2] = {0, 0}, mean[2] = {0, 0}, signed_mean[2] = {0, 0};
};

/// A method and its implementation; the last four are bounds on any method.
enum Row {
  kAbaBase,
  kAbaBaseFactor,
  kAbaBaseAxes,
  kAbaLink,
  kAbaLinkFactor,
  kCrbaCom,
  kCrbaSpatial,
  kGaPrinted,
  kGa,
  kGaCholesky,
  kRoundedOnce,
  kRoundedOnceSolvedInDouble,
  kRoundedAtWill,
  kExactInertia,
  kRows
};
struct Label {
  const char* name;
  const char* published;  ///< max / average of Table 5, or empty
};
inline constexpr Label kLabels[kRows] = {
    {"ABA, base frame, (UU')/d", "0.497600 / 0.013240"},
    {"ABA, base frame, U(U'/d)", ""},
    {"ABA, base axes about O_i, (UU')/d", ""},
    {"ABA, link frames, (UU')/d", ""},
    {"ABA, link frames, U(U'/d)", ""},
    {"CRBA, centers of mass, Gauss-Jordan", "1.292200 / 0.275063"},
    {"CRBA, spatial, Gauss-Jordan", ""},
    {"GA, as printed, Gauss-Jordan", "0.534002 / 0.0087611"},
    {"GA, this library, Gauss-Jordan", ""},
    {"GA, this library, Cholesky", ""},
    {"D, h rounded once, Gauss-Jordan", ""},
    {"D, h rounded once, exact solution", ""},
    {"D rounded at will, exact solution", ""},
    {"D exact, h of this library", ""},
};

using Table = std::vector<Difference>;  ///< one per Row

/// One revolution of the second link, the first link at `degrees1`.
Table measure(const Dimensions& dimensions, int degrees1);

/// Least and largest condition number of D over that revolution, the first link at 0.
struct Range {
  double least = 0, largest = 0;
};
Range condition(const Dimensions& dimensions);

}  // namespace ga_tools::experiments::two_link

#endif  // EXPERIMENTS__TWO_LINK_HPP_
