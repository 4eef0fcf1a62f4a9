// SPDX-License-Identifier: Apache-2.0
#ifndef WORSE_HPP_
#define WORSE_HPP_

#include <cmath>

namespace ga_dynamics::test {

/// The larger of two errors. Not-a-number is the largest of all; std::max would drop it.
inline double worse(double worst, double error) {
  if (std::isnan(error)) return INFINITY;
  return error > worst ? error : worst;
}

}  // namespace ga_dynamics::test

#endif  // WORSE_HPP_
