// SPDX-License-Identifier: Apache-2.0
#include "cli/arm_session.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <thread>

#include "cli/progress_bar.hpp"
#include "ga_hardware/joint_signals.hpp"
#include "puma_hardware/process/realtime.hpp"

namespace puma_hardware::cli {

namespace {

constexpr int kPriority = 80;

ArmLoopOptions loop_options(const ArmOptions& options, Robot& robot) {
  ArmLoopOptions loop;
  loop.rate = options.rate;
  if (emulator::EmulatedArm* arm = robot.arm(); arm != nullptr) {
    loop.truth = [arm](std::span<double> q, std::span<double> qd) {
      std::copy(arm->plant().q().begin(), arm->plant().q().end(), q.begin());
      std::copy(arm->plant().qd().begin(), arm->plant().qd().end(), qd.begin());
    };
  }
  return loop;
}

ga_controllers::LawParameters parameters_of(const LawChoice& law, const ga_dynamics::Chain& chain) {
  return ga_hardware::law_parameters(
      law.kind, {ga_controllers::gains_from_bandwidth(law.bandwidth, law.damping)}, law.friction,
      ga_hardware::signals_of(chain));
}

}  // namespace

ArmSession::ArmSession(const ArmOptions& options, bool unguarded, const LawChoice& law)
    : robot_(open_robot(options)),
      claim_(robot_.claim()),
      heartbeat_(unguarded ? nullptr : guarded_heartbeat(robot_)),
      arm_(robot_.io(claim_), robot_.settings(), 1 / options.rate),
      loop_(arm_, robot_.chain(), parameters_of(law, robot_.chain()), loop_options(options, robot_),
            heartbeat_.get(), clock_of(options, robot_), stop_request()),
      on_the_clock_(!options.fast) {}

void ArmSession::explain(LoopEnd end) {
  const SafetyMachine& safety = arm_.safety();
  for (int i = 0; i < safety.fault_count(); ++i) {
    const FaultRecord& record = safety.fault(i);
    if (record.fault == Fault::kNone) continue;
    std::fprintf(stderr, "puma: %s: %s\n", to_string(reaction_to(record.fault)),
                 describe(record, arm_.settings()).c_str());
  }
  if (end == LoopEnd::kRefused) std::fprintf(stderr, "puma: %s\n", loop_.reason().c_str());
  if (end == LoopEnd::kStopped) std::fprintf(stderr, "puma: stopped as asked\n");
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
  ProgressBar bar;
  while (running) {
    const timespec pause{0, 50'000'000};
    nanosleep(&pause, nullptr);
    bar.show(loop_.share(), loop_.phase());
  }
  thread.join();
  bar.end();
  if (!refused.empty()) std::fprintf(stderr, "puma: %s\n", refused.c_str());
  if (failure) std::rethrow_exception(failure);
  explain(end);
  return end == LoopEnd::kDone;
}

std::string ArmSession::histogram() const {
  return loop_.periods().text("from cycle to cycle") + loop_.work().text("work of a cycle");
}

}  // namespace puma_hardware::cli
