// SPDX-License-Identifier: Apache-2.0
#ifndef MOVEIT__JOB_THREAD_HPP_
#define MOVEIT__JOB_THREAD_HPP_

// A thread that serves the goals of an action one after the other.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace ga_motion {

/// What to do for a goal. Neither function throws.
struct Job {
  const void* goal = nullptr;  ///< the goal's address: for cancel()
  std::function<void()> run;   ///< serves the goal and reports its result
  std::function<void()> drop;  ///< reports that the goal will not be served
};

/// All functions may be called from any thread.
class JobThread {
 public:
  enum class Order {
    kNewest,  ///< a new job interrupts the running one and replaces the waiting one
    kAll,     ///< a new job waits for its turn
  };

  /// `interrupt` makes the running job return soon. It is called with a lock: it returns at once and
  /// calls no function of this object.
  JobThread(Order order, std::function<void()> interrupt)
      : order_(order), interrupt_(std::move(interrupt)), thread_([this] { serve(); }) {}

  /// Interrupts the running job, drops the waiting ones.
  ~JobThread() {
    std::deque<Job> dropped;
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
      dropped.swap(waiting_);
      interrupt_running();
    }
    changed_.notify_all();
    thread_.join();
    for (const Job& job : dropped) job.drop();
  }
  JobThread(const JobThread&) = delete;
  JobThread& operator=(const JobThread&) = delete;

  void add(Job job) {
    std::deque<Job> dropped;
    {
      const std::lock_guard lock(mutex_);
      if (order_ == Order::kNewest) {
        dropped.swap(waiting_);
        interrupt_running();
      }
      waiting_.push_back(std::move(job));
    }
    changed_.notify_all();
    for (const Job& old : dropped) old.drop();
  }

  /// Interrupts the job of this goal if it is running. One that waits finds out at its turn.
  void cancel(const void* goal) {
    const std::lock_guard lock(mutex_);
    if (running_ == goal) interrupt_running();
  }

  /// Has the job that calls this been interrupted?
  bool interrupted() const { return interrupted_; }

 private:
  /// With the lock.
  void interrupt_running() {
    if (running_ == nullptr) return;
    interrupted_ = true;
    interrupt_();
  }

  void serve() {
    while (true) {
      Job job;
      {
        std::unique_lock lock(mutex_);
        running_ = nullptr;
        changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
        if (ends_) return;
        job = std::move(waiting_.front());
        waiting_.pop_front();
        running_ = job.goal;
        interrupted_ = false;
      }
      job.run();
    }
  }

  const Order order_;
  const std::function<void()> interrupt_;
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  const void* running_ = nullptr;
  bool ends_ = false;
  std::atomic<bool> interrupted_{false};
  std::thread thread_;  ///< last: begins when everything else is there
};

}  // namespace ga_motion

#endif  // MOVEIT__JOB_THREAD_HPP_
