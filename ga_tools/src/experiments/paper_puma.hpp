// SPDX-License-Identifier: Apache-2.0
#ifndef EXPERIMENTS__PAPER_PUMA_HPP_
#define EXPERIMENTS__PAPER_PUMA_HPP_

// The PUMA of the papers: Tables 5 to 7 of the paper on PC-based PUMA control (Mata, Valera et
// al.). It also replaces the arms of Mata et al. 2002 §5.2 and Provenzano et al. §4, by the same
// authors, which give no numbers.

#include "ga_dynamics/chain.hpp"

namespace ga_tools::experiments {

using ga_dynamics::Chain;

/// Table 5 prints d3 and d4 negative. Then the centers of mass of Table 7 lie off their links; with
/// both positive they lie on them.
enum class OffsetSigns { kOnTheLinks, kPrinted };

struct PaperPuma {
  OffsetSigns signs = OffsetSigns::kOnTheLinks;
  /// The papers' inertia tensors are lost. Those of uniform bodies of the links' size replace them,
  /// multiplied by this factor.
  double inertia_scale = 1;
  /// The PUMA 560's, for the positive signs; the paper gives none. False: no limits.
  bool limits = true;
};

/// With the uniform bodies' own tensors an arm without feedback leaves its line within a second or
/// two. With fifteen times these tensors, errors grow as the averages and maxima of Provenzano et
/// al. Table 2 imply. Fitted after the fact: it says nothing about the real arm.
inline constexpr double kOpenLoopInertiaScale = 15;

/// The tool center point is the origin of frame 6: the papers give no tool length.
Chain make_chain(const PaperPuma& options = {});

}  // namespace ga_tools::experiments

#endif  // EXPERIMENTS__PAPER_PUMA_HPP_
