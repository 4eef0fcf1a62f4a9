// SPDX-License-Identifier: Apache-2.0
#include "cli/arm_session.hpp"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

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
  announce(options);
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

ArmLoopOptions loop_options(Robot& robot, const LawChoice& law) {
  ArmLoopOptions loop;
  loop.follows = law.kind != ga_controllers::LawKind::kPointToPoint;
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
    : options_(options),
      robot_(open_with_table(options)),
      heartbeat_(unguarded ? nullptr : guarded_heartbeat(robot_)),
      driver_(robot_, heartbeat_.get(), driver_options(options)),
      loop_(driver_, robot_.chain(), parameters_of(law, robot_.chain()), loop_options(robot_, law),
            clock_of(options, robot_), stop_request()),
      on_the_clock_(!options.fast) {
  // Before anything is asked or moves.
  if (const std::string why = driver_.power_refusal(); !why.empty()) throw std::runtime_error(why);
  const std::string warning = robot_.settings().power_warning();
  if (robot_.bus() == Bus::kPorts && !warning.empty()) {
    std::fprintf(stderr, "puma: warning: %s\n", warning.c_str());
  }
}

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

void ArmSession::set_emulated_hand(bool power, bool brakes_open) {
  if (robot_.bus() == Bus::kPrivate) robot_.cards()->set_hand_switches(power, brakes_open);
}

bool ArmSession::power_shown() {
  if (robot_.settings().cards.pcl726.power_feedback_input < 0) return true;
  driver_.read(driver_.nominal_period());
  driver_.idle();
  return arm().power_present();
}

void ArmSession::ask_for_power() {
  if (!robot_.settings().manual_power) return;
  if (robot_.bus() == Bus::kPrivate) {
    std::printf("arm power and brakes are switched by an emulated person\n");
    set_emulated_hand(true, false);
    return;
  }
  std::printf("%sSwitch on arm power%s. Keep the emergency stop in your hand. Then press Enter: ",
              robot_.settings().manual_brakes() ? "Leave the brakes closed. " : "",
              robot_.settings().manual_brakes() ? ", with the brakes closed" : "");
  std::fflush(stdout);
  for (std::string line;;) {
    if (!read_line(line)) {
      throw std::runtime_error(
          "manual_power: a person has to switch on arm power and confirm it here; nothing has moved");
    }
    if (power_shown()) return;
    std::printf(
        "The arm-power input (pcl726.power_feedback_input) shows no power. Switch it on, then "
        "press Enter: ");
    std::fflush(stdout);
  }
}

void ArmSession::serve_brakes() {
  const BrakeRequest request = arm().brake_request();
  const bool emulated_hand = robot_.bus() == Bus::kPrivate;
  const BrakeRequest before = std::exchange(asked_, request);
  if (request != before && !emulated_hand) {
    if (request == BrakeRequest::kOpen) {
      const bool shown = robot_.settings().cards.pcl726.power_feedback_input >= 0;
      std::printf("\nThe motors hold the arm%s. Open the brakes, then press Enter: ",
                  shown ? "" : ", if arm power is on: no input shows it");
    } else if (request == BrakeRequest::kClose) {
      // They may be open although it has not been confirmed.
      std::printf(
          "\a\n%s. The torque ends in %g s: ",
          before == BrakeRequest::kOpen
              ? "CLOSE THE BRAKES NOW if you have opened them. Press Enter when they are closed"
              : "CLOSE THE BRAKES NOW, then press Enter",
          robot_.settings().safety.manual_stop_time);
    }
    std::fflush(stdout);
    tcflush(STDIN_FILENO, TCIFLUSH);  // an Enter from before is no answer
  }
  if (request == BrakeRequest::kNone) return;
  if (emulated_hand) {
    set_emulated_hand(true, request == BrakeRequest::kOpen);
    arm().confirm_brakes();
    return;
  }
  pollfd input{STDIN_FILENO, POLLIN, 0};
  for (char c = 0; c != '\n' && poll(&input, 1, 0) > 0;) {
    if ((input.revents & POLLIN) == 0 || read(STDIN_FILENO, &c, 1) != 1) return;
    if (c == '\n') arm().confirm_brakes();
  }
}

bool ArmSession::run(const std::function<LoopEnd(ArmLoop&)>& work) {
  std::atomic<bool> running = true, started = false;
  LoopEnd end = LoopEnd::kRefused;
  std::exception_ptr failure;
  std::string refused;
  std::optional<AwakeProcessors> awake;
  if (robot_.bus() == Bus::kPorts) {
    awake.emplace();
    if (!awake->refused().empty()) std::fprintf(stderr, "puma: %s\n", awake->refused().c_str());
  }
  ask_for_power();
  std::thread thread([&] {
    try {
      if (on_the_clock_) refused = enter_realtime(kPriority);
      if (!refused.empty() && robot_.bus() == Bus::kPorts) {
        std::fprintf(stderr, "puma: %s\n", refused.c_str());
        ask(options_, "Late cycles are faults and stop the arm in mid-motion.");
      }
      started = true;
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
      if (!started) continue;
      serve_brakes();
      if (asked_ == BrakeRequest::kNone) bar.show(loop_.share(), loop_.phase());
    }
    thread.join();
  }
  if (robot_.settings().manual_power && robot_.bus() != Bus::kPrivate) {
    std::printf("Switch off arm power.\n");
  }
  if (!refused.empty() && robot_.bus() != Bus::kPorts) {
    std::fprintf(stderr, "puma: %s\n", refused.c_str());
  }
  if (failure) std::rethrow_exception(failure);
  explain(end);
  end_ = end;
  return end == LoopEnd::kDone;
}

std::string ArmSession::ended() const {
  switch (end_) {
    case LoopEnd::kDone:
      return "done";
    case LoopEnd::kStopped:
      return "stopped on request";
    case LoopEnd::kFault:
      return describe(driver_.arm().safety().cause(), robot_.settings());
    case LoopEnd::kRefused:
      break;
  }
  return loop_.reason();
}

std::string ArmSession::histogram() const {
  return driver_.periods().text("from cycle to cycle") +
         driver_.work_times().text("work of a cycle");
}

}  // namespace puma_hardware::cli
