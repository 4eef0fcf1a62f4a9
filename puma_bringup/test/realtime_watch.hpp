// SPDX-License-Identifier: Apache-2.0
#ifndef REALTIME_WATCH_HPP_
#define REALTIME_WATCH_HPP_

// Counts what a thread does in a function that must be real-time safe. The malloc, free and
// pthread_mutex_lock of the program replace those of the C library for the whole process; the
// kernel counts how often the thread slept.

#include <vector>

namespace test {

/// Totals over all calls of one function.
struct Account {
  long calls = 0;
  long allocations = 0;  ///< malloc and similar functions, including operator new
  long frees = 0;
  long locks = 0;                      ///< blocking locks of a mutex or rwlock
  long waits = 0;                      ///< locks that were contended
  long sleeps = 0;                     ///< voluntary context switches
  std::vector<double> time = {};       ///< elapsed time of each call, s
  std::vector<double> processor = {};  ///< CPU time of each call, s

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

/// Suspends the counting of the calling thread until the end of the block.
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
