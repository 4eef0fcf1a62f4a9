// SPDX-License-Identifier: Apache-2.0
#ifndef COUNTING_ALLOCATOR_HPP_
#define COUNTING_ALLOCATOR_HPP_

namespace test {
/// Calls of any operator new in this program so far.
long allocations();
/// The calling thread's share of them.
long allocations_of_this_thread();
}  // namespace test

#endif  // COUNTING_ALLOCATOR_HPP_
