// SPDX-License-Identifier: Apache-2.0

// The order in which goals are served, and what ends early.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "moveit/job_thread.hpp"

namespace ga_motion {
namespace {

using Order = JobThread::Order;

/// Jobs that note what becomes of them.
class Jobs : public testing::Test {
 protected:
  /// Runs until it is interrupted.
  Job lasting(int number, JobThread& thread) {
    return {name(number),
            [this, number, &thread] {
              note("begin", number);
              while (!thread.interrupted()) std::this_thread::yield();
              note("stop", number);
            },
            [this, number] { note("drop", number); }};
  }
  Job brief(int number) {
    return {name(number), [this, number] { note("run", number); },
            [this, number] { note("drop", number); }};
  }
  const void* name(int number) const { return &goals_[static_cast<std::size_t>(number)]; }

  void note(const std::string& what, int number) {
    const std::lock_guard lock(mutex_);
    notes_.push_back(what + " " + std::to_string(number));
  }
  std::vector<std::string> notes() {
    const std::lock_guard lock(mutex_);
    return notes_;
  }
  void await(std::size_t count) {
    for (int k = 0; k < 10000 && notes().size() < count; ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  using Notes = std::vector<std::string>;
  std::atomic<int> interrupts{0};

 private:
  std::vector<char> goals_ = std::vector<char>(10);
  std::mutex mutex_;
  std::vector<std::string> notes_;
};

TEST_F(Jobs, ANewOneInterruptsAndReplaces) {
  JobThread thread(Order::kNewest, [this] { ++interrupts; });
  thread.add(lasting(1, thread));
  await(1);
  thread.add(brief(2));
  await(3);
  EXPECT_EQ(notes(), (Notes{"begin 1", "stop 1", "run 2"}));
  EXPECT_EQ(interrupts, 1);
}

TEST_F(Jobs, TheNewestOfThoseThatWaitIsServed) {
  std::atomic<bool> hold{true};
  JobThread thread(Order::kNewest, [this] { ++interrupts; });
  thread.add({name(0),
              [&] {
                for (note("begin", 0); hold;) std::this_thread::yield();
              },
              [] {}});
  await(1);
  thread.add(brief(1));
  thread.add(brief(2));
  hold = false;
  await(3);
  EXPECT_EQ(notes(), (Notes{"begin 0", "drop 1", "run 2"}));
}

TEST_F(Jobs, AllOfAQueueAreServedInTurn) {
  JobThread thread(Order::kAll, [this] { ++interrupts; });
  thread.add(lasting(1, thread));
  await(1);
  thread.add(brief(2));
  thread.add(brief(3));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(notes(), Notes{"begin 1"});
  thread.cancel(name(2));  // waits: finds out at its turn
  EXPECT_EQ(interrupts, 0);
  thread.cancel(name(1));
  await(4);
  EXPECT_EQ(notes(), (Notes{"begin 1", "stop 1", "run 2", "run 3"}));
  EXPECT_EQ(interrupts, 1);
}

TEST_F(Jobs, AnInterruptionEndsWithItsJob) {
  JobThread thread(Order::kNewest, [] {});
  std::atomic<bool> interrupted{true};
  thread.add(lasting(1, thread));
  await(1);
  thread.add({name(2), [&] { interrupted = thread.interrupted(), note("run", 2); }, [] {}});
  await(3);
  EXPECT_FALSE(interrupted);
  thread.cancel(name(2));  // has ended
  EXPECT_FALSE(thread.interrupted());
}

TEST_F(Jobs, TheEndInterruptsAndDrops) {
  {
    JobThread thread(Order::kAll, [this] { ++interrupts; });
    thread.add(lasting(1, thread));
    await(1);
    thread.add(brief(2));
  }
  EXPECT_EQ(notes(), (Notes{"begin 1", "stop 1", "drop 2"}));
  EXPECT_EQ(interrupts, 1);
}

}  // namespace
}  // namespace ga_motion
