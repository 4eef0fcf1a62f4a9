// SPDX-License-Identifier: Apache-2.0
#ifndef REALTIME_WATCH_HPP_
#define REALTIME_WATCH_HPP_

// What a thread does inside of a function that must be real-time safe. The program's own malloc,
// free and pthread_mutex_lock take the place of the C library's, for all libraries of the process;
// the kernel says how often the thread slept.

#include <vector>

namespace test {

/// Of all calls of one function.
struct Account {
  long calls = 0;
  long allocations = 0;  ///< malloc and its kin, operator new among them
  long frees = 0;
  long locks = 0;                      ///< of a mutex or rwlock, by a call that may wait
  long waits = 0;                      ///< of those, how many found it taken
  long sleeps = 0;                     ///< times that the thread gave the processor away
  std::vector<double> time = {};       ///< s by the clock, one per call
  std::vector<double> processor = {};  ///< s of the processor

  double longest() const;
  double longest_processor() const;
  double usual_processor() const;  ///< median
};

/// Counts for the calling thread from here to the end of the block, if `account` is given.
class Section {
 public:
  explicit Section(Account* account);
  ~Section();
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

 private:
  Account* const account_;
  double time_ = 0, processor_ = 0;
  long sleeps_ = 0;
};

/// What the calling thread does from here to the end of the block is not counted.
class Unwatched {
 public:
  Unwatched();
  ~Unwatched();
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;

 private:
  const bool watched_;
};

}  // namespace test

#endif  // REALTIME_WATCH_HPP_
