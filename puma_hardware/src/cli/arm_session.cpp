// SPDX-License-Identifier: Apache-2.0
#include "cli/arm_session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <thread>

#include "ga_hardware/arm_model.hpp"
#include "process/realtime.hpp"

namespace puma_hardware::cli {

namespace {

constexpr int kPriority = 80;

/// One line on standard error, rewritten; nothing if that is not a terminal.
class ProgressBar {
 public:
  ~ProgressBar() {
    if (shown_) std::fprintf(stderr, "\n");
  }
  void show(double share, const char* what) {
    if (isatty(STDERR_FILENO) == 0) return;
    constexpr int kWidth = 40;
    const double clamped = std::clamp(share, 0.0, 1.0);
    const auto done = static_cast<std::size_t>(clamped * kWidth);
    std::fprintf(stderr, "\r[%s%s] %3.0f %% %-26s", std::string(done, '#').c_str(),
                 std::string(kWidth - done, ' ').c_str(), 100 * clamped, what);
    shown_ = true;
  }

 private:
  bool shown_ = false;
};

Robot open_with_table(const ArmOptions& options) {
  calibration_file(options);  // refuses real cards without a table before they are opened
  return open_robot(options);
}

constexpr double kEmulatedGuardTimeout = 3;  ///< s; computers without real-time kernel stall

/// The observers get the acceleration that the law expects.
ArmDriverOptions driver_options(const ArmOptions& options) {
  ArmDriverOptions driver;
  driver.period = 1 / options.rate;
  driver.feed_observer = false;
  if (options.io != "ports") driver.guard_timeout = kEmulatedGuardTimeout;
  return driver;
}

ArmLoopOptions loop_options(Robot& robot) {
  ArmLoopOptions loop;
  if (emulator::EmulatedArm* arm = robot.arm(); arm != nullptr) {
    loop.truth = [arm](std::span<double> q, std::span<double> qd) {
      std::copy(arm->plant().q().begin(), arm->plant().q().end(), q.begin());
      std::copy(arm->plant().qd().begin(), arm->plant().qd().end(), qd.begin());
    };
  }
  return loop;
}

ga_controllers::LawParameters parameters_of(const LawChoice& law, const ga_dynamics::Chain& chain) {
  ga_controllers::LawParameters parameters = ga_hardware::law_parameters(
      law.kind, law.all_gains(), law.friction, ga_hardware::signals_of(chain));
  parameters.payload = law.payload;
  return parameters;
}

}  // namespace

ArmSession::ArmSession(const ArmOptions& options, bool unguarded, const LawChoice& law)
    : robot_(open_with_table(options)),
      heartbeat_(unguarded ? nullptr : guarded_heartbeat(robot_)),
      driver_(robot_, heartbeat_.get(), driver_options(options)),
      loop_(driver_, robot_.chain(), parameters_of(law, robot_.chain()), loop_options(robot_),
            clock_of(options, robot_), stop_request()),
      on_the_clock_(!options.fast) {}

void ArmSession::explain(LoopEnd end) {
  const SafetyMachine& safety = arm().safety();
  for (int i = 0; i < safety.fault_count(); ++i) {
    const FaultRecord& record = safety.fault(i);
    if (record.fault == Fault::kNone) continue;
    std::fprintf(stderr, "puma: %s: %s\n", to_string(reaction_to(record.fault)),
                 describe(record, arm().settings()).c_str());
  }
  if (end == LoopEnd::kRefused) std::fprintf(stderr, "puma: %s\n", loop_.reason().c_str());
  if (end == LoopEnd::kStopped) std::fprintf(stderr, "puma: stopped on request\n");
}

bool ArmSession::run(const std::function<LoopEnd(ArmLoop&)>& work) {
  std::atomic<bool> running = true;
  LoopEnd end = LoopEnd::kRefused;
  std::exception_ptr failure;
  std::string refused;
  std::thread thread([&] {
    if (on_the_clock_) refused = enter_realtime(kPriority);
    try {
      end = work(loop_);
    } catch (...) {
      failure = std::current_exception();
    }
    running = false;
  });
  {
    ProgressBar bar;
    while (running) {
      const timespec pause{0, 50'000'000};
      nanosleep(&pause, nullptr);
      bar.show(loop_.share(), loop_.phase());
    }
    thread.join();
  }
  if (!refused.empty()) std::fprintf(stderr, "puma: %s\n", refused.c_str());
  if (failure) std::rethrow_exception(failure);
  explain(end);
  return end == LoopEnd::kDone;
}

std::string ArmSession::histogram() const {
  return driver_.periods().text("from cycle to cycle") +
         driver_.work_times().text("work of a cycle");
}

}  // namespace puma_hardware::cli
