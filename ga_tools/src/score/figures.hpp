// SPDX-License-Identifier: Apache-2.0
#ifndef SCORE__FIGURES_HPP_
#define SCORE__FIGURES_HPP_

// The figures of a recorded run.

#include <array>
#include <span>
#include <string>

#include "ga_tools/closed_loop.hpp"
#include "score/scenario.hpp"

namespace ga_tools::score {

struct FigureKind {
  Figure figure;
  const char* key;    ///< in JSON
  const char* label;  ///< in tables
  const char* unit;
  const char* meaning;
  bool mean;  ///< over the seeds; false: the worst of them
  /// Differences below this are not a change: noise of the figure, or too small to matter.
  double floor;
};
std::span<const FigureKind> figure_kinds() noexcept;
const FigureKind& kind_of(Figure figure) noexcept;

inline constexpr std::size_t kFigureCount = 10;

/// All figures of a run, in their units; not-a-number where they do not exist.
struct Figures {
  std::array<double, kFigureCount> values{};
  double operator[](Figure figure) const { return values[static_cast<std::size_t>(figure)]; }
  double& operator[](Figure figure) { return values[static_cast<std::size_t>(figure)]; }
};

/// Of what was recorded, complete or not. `duration` [s] of the motion. `path`: with the distance
/// from the path, which takes longer than all others. Allocates.
Figures figures_of(const RunRecording& recording, const ga_dynamics::Chain& chain, double duration,
                   bool path);

/// The largest distance [m] of the tool from its path, whenever it is there.
double path_deviation(const Recording& recording);

}  // namespace ga_tools::score

#endif  // SCORE__FIGURES_HPP_
