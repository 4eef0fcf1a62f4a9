// SPDX-License-Identifier: Apache-2.0
#include "realtime_watch.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>

namespace {

// Plain data: a constructor would run inside malloc.
struct Counters {
  bool watched;
  long allocations, frees, locks, waits;
};
thread_local Counters here __attribute__((tls_model("initial-exec")));

double clock_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

long sleeps_of_this_thread() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

void count_allocation() { here.allocations += here.watched; }

/// The function of the C library; looked up at program start, before the control loop runs.
template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

template <class Lock>
int lock(Lock* object, int (*try_lock)(Lock*), int (*block)(Lock*)) {
  if (!here.watched) return block(object);
  ++here.locks;
  const int result = try_lock(object);
  if (result != EBUSY) return result;
  ++here.waits;
  return block(object);
}

}  // namespace

namespace test {

double Account::longest() const { return time.empty() ? 0 : *std::ranges::max_element(time); }
double Account::longest_processor() const {
  return processor.empty() ? 0 : *std::ranges::max_element(processor);
}
double Account::usual_processor() const {
  std::vector<double> sorted = processor;
  if (sorted.empty()) return 0;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

Section::Section(Account* account) : account_(account) {
  if (account_ == nullptr) return;
  sleeps_ = sleeps_of_this_thread();
  here = {true, 0, 0, 0, 0};
  time_ = clock_of(CLOCK_MONOTONIC);
  processor_ = clock_of(CLOCK_THREAD_CPUTIME_ID);
}

Section::~Section() {
  if (account_ == nullptr) return;
  const double processor = clock_of(CLOCK_THREAD_CPUTIME_ID) - processor_;
  const double time = clock_of(CLOCK_MONOTONIC) - time_;
  const Counters counted = here;
  here.watched = false;
  account_->sleeps += sleeps_of_this_thread() - sleeps_;
  ++account_->calls;
  account_->allocations += counted.allocations;
  account_->frees += counted.frees;
  account_->locks += counted.locks;
  account_->waits += counted.waits;
  account_->time.push_back(time);
  account_->processor.push_back(processor);
}

Unwatched::Unwatched() : watched_(here.watched) { here.watched = false; }
Unwatched::~Unwatched() { here.watched = watched_; }

}  // namespace test

// ---- replacements of C library functions; glibc exports the originals under these names.

extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);

void* malloc(std::size_t size) {
  count_allocation();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  count_allocation();
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  count_allocation();
  return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  count_allocation();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count_allocation();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  count_allocation();
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
void free(void* memory) {
  here.frees += here.watched && memory != nullptr;
  __libc_free(memory);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static const auto block = next<int (*)(pthread_mutex_t*)>("pthread_mutex_lock");
  return lock<pthread_mutex_t>(mutex, pthread_mutex_trylock, block);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* rwlock) noexcept {
  static const auto block = next<int (*)(pthread_rwlock_t*)>("pthread_rwlock_rdlock");
  return lock<pthread_rwlock_t>(rwlock, pthread_rwlock_tryrdlock, block);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* rwlock) noexcept {
  static const auto block = next<int (*)(pthread_rwlock_t*)>("pthread_rwlock_wrlock");
  return lock<pthread_rwlock_t>(rwlock, pthread_rwlock_trywrlock, block);
}

}  // extern "C"
