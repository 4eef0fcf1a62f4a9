// SPDX-License-Identifier: Apache-2.0
#ifndef EXPERIMENTS__PAPER_PUMA_HPP_
#define EXPERIMENTS__PAPER_PUMA_HPP_

// The PUMA of the papers: Tables 5 to 7 of the paper on PC-based PUMA control (Mata, Valera et
// al.). Mata et al. 2002 §5.2 and Provenzano et al. §4 give no numbers for theirs; the authors are
// the same, and this arm stands in.

#include "ga_dynamics/chain.hpp"

namespace ga_tools::experiments {

using ga_dynamics::Chain;

/// Table 5 prints d3 and d4 negative. Then the centers of mass of Table 7 lie off their links; with
/// both positive they lie on them.
enum class OffsetSigns { kOnTheLinks, kPrinted };

struct PaperPuma {
  OffsetSigns signs = OffsetSigns::kOnTheLinks;
  /// The papers' inertia tensors are lost. Those of uniform bodies of the links' size stand in for
  /// them, times this.
  double inertia_scale = 1;
  /// Not in the paper: the PUMA 560's, which belong to the positive signs. False: no limits.
  bool limits = true;
};

/// With the uniform bodies' own tensors an arm without feedback leaves its line within a second or
/// two. Fifteen times them, errors grow as the averages and maxima of Provenzano et al. Table 2 say
/// theirs did. Chosen after the fact: it says nothing of the real arm.
inline constexpr double kOpenLoopInertiaScale = 15;

/// The tool's point is the origin of frame 6: the papers give no tool length.
Chain make_chain(const PaperPuma& options = {});

}  // namespace ga_tools::experiments

#endif  // EXPERIMENTS__PAPER_PUMA_HPP_
