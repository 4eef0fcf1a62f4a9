// SPDX-License-Identifier: Apache-2.0
#ifndef COUNTED_UPDATE_HPP_
#define COUNTED_UPDATE_HPP_

#include "bench.hpp"
#include "counting_allocator.hpp"

namespace test {

/// One update of the controller, whose allocations are added to `allocations`. True if it returned OK.
inline bool counted_update(Bench& bench, long& allocations) {
  const long before = allocations_of_this_thread();
  const bool good = bench.update();
  allocations += allocations_of_this_thread() - before;
  return good;
}

/// The same in a cycle: states, update, kDt of the arm.
inline bool counted_cycle(Bench& bench, Arm& arm, long& allocations) {
  arm.write_states();
  const bool good = counted_update(bench, allocations);
  arm.step();
  return good;
}

}  // namespace test

#endif  // COUNTED_UPDATE_HPP_
