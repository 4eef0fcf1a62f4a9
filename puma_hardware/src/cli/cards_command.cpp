// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "cards/settling_test.hpp"
#include "cli/arm_options.hpp"
#include "cli/cards.hpp"
#include "cli/cards_access.hpp"
#include "cli/commands.hpp"
#include "cli/joint_motion.hpp"
#include "ga_tools/commands.hpp"
#include "process/heartbeat.hpp"
#include "process/realtime.hpp"

namespace puma_hardware::cli {
namespace {

const char* text_of(AdStatus status) {
  switch (status) {
    case AdStatus::kOk:
      return "ok";
    case AdStatus::kTimeout:
      return "time-out";
    case AdStatus::kWrongChannel:
      return "wrong channel";
    default:
      return "pending";
  }
}

void print_lines(const Cards& cards, const ArmSettings& settings) {
  std::printf("%-8s %9s  %-13s %-8s %11s  %-8s %11s\n", "joint", "pot V", "conversion", "thermal",
              "count", "bytes", "at index");
  for (std::size_t joint = 0; joint < 6; ++joint) {
    const JointLine& line = cards.lines()[joint];
    std::printf("%-8s %9.4f  %-13s %-8s %11lld  %02X %02X %02X ",
                settings.joints[joint].name.c_str(), line.pot.volts, text_of(line.pot.status),
                line.hot ? "HOT" : "cool", static_cast<long long>(line.count), line.bytes[0],
                line.bytes[1], line.bytes[2]);
    if (line.index) {
      std::printf("%11lld\n", static_cast<long long>(*line.index));
    } else {
      std::printf("%11s\n", "none yet");
    }
  }
}

void probe(const ArmOptions& options) {
  announce(options);
  Robot robot = open_robot(options);
  const CardSettings& settings = robot.settings().cards;
  Cards cards(robot);
  std::printf("PCL-%s at 0x%03X: answers, %s inputs\n", to_string(settings.pcl818.variant),
              settings.pcl818.base,
              cards.analog().differential() ? "differential" : "single-ended");
  const SettlingReport settling = test_settling(cards.analog(), settings.pcl818, cards.bus());
  std::printf("PCL-%s at 0x%03X: %s\n", to_string(settings.pcl818.variant), settings.pcl818.base,
              settling.text.c_str());
  std::printf("PCL-726 at 0x%03X: %s; 0 V written to all channels, digital outputs off\n",
              settings.pcl726.base,
              cards.dacs().answered() ? "answers" : "presence unknown (all its inputs read high)");
  for (const std::uint16_t base : settings.pcl833.base) {
    std::printf("PCL-833 at 0x%03X: answers, counters started at 0\n", base);
  }
  if (!settling.good) throw CLI::RuntimeError(1);
}

void read(const ArmOptions& options) {
  announce(options);
  Robot robot = open_robot(options);
  Cards cards(robot);
  for (int i = 0; i < 10; ++i) wait_1_ms(robot);
  cards.read();
  cards.read_pots();
  print_lines(cards, robot.settings());
}

void watch(const ArmOptions& options, double seconds) {
  announce(options);
  Robot robot = open_robot(options);
  Cards cards(robot);
  const std::atomic<bool>& stop = stop_request();
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  const auto readings = static_cast<long>(seconds * 1000);
  for (long k = 0; !stop.load() && (readings == 0 || k < readings); ++k) {
    wait_1_ms(robot);
    cards.read();  // often: an index pulse is short
    if (k % 200 != 0) continue;
    cards.read_pots();
    if (terminal && k > 0) std::printf("\033[7A");
    print_lines(cards, robot.settings());
    std::fflush(stdout);
  }
}

void output(const ArmOptions& options, const Pulse& pulse) {
  announce(options);
  Robot robot = open_robot(options);
  stop_request();
  const ArmSettings& arm = robot.settings();
  const auto joint = static_cast<std::size_t>(pulse.joint - 1);
  const std::string& name = arm.joints[joint].name;
  const DriveModels drives = drive_models(robot.chain(), arm);
  const double volts = pulse.volts.value_or(0);
  bool brakes = false;
  if (!pulse.unpowered) {
    if (const std::string why = arm.power_refusal(); !why.empty()) throw std::runtime_error(why);
    brakes = opens_brakes(arm, pulse);
    warn_of_unseen_power(arm);
  }
  if (brakes) {
    ask(options,
        "The brakes of joints 1 to 3 open: the arm must be supported. Emergency stop in your hand?");
  }
  Cards cards(robot);
  Supervision supervision(robot);
  JointMotion motion(cards, arm, drives, joint, {}, supervision.host());
  const std::int64_t before = cards.lines()[joint].count;
  supervision.arm(pulse.unguarded);
  std::string early;
  if (pulse.unpowered) {
    motion.without_power();
  } else {
    early = motion.power_on(brakes);
  }
  for (long left = std::lround(pulse.seconds * 1000); left > 0 && early.empty(); --left) {
    early = motion.cycle(volts);
  }
  const double written = motion.volts();
  motion.end();
  cards.read();
  if (!early.empty()) std::fprintf(stderr, "puma: ended early: %s\n", early.c_str());
  std::printf("%s: %.4f V, now 0 V; the count changed from %lld to %lld\n", name.c_str(), written,
              static_cast<long long>(before), static_cast<long long>(cards.lines()[joint].count));
  if (!early.empty()) throw CLI::RuntimeError(1);
  if (volts != 0 && !pulse.unpowered && std::abs(volts) < drives[joint].volts_to_move()) {
    std::printf("%s: its friction takes up to %.2f V by the description\n", name.c_str(),
                drives[joint].volts_to_move());
  }
}

void add_pulse_options(CLI::App& sub, ArmOptions& options, Pulse& pulse) {
  sub.add_flag("--no-guard", pulse.unguarded, "Run without a guard process");
  add_ask_options(sub, options);
  sub.add_flag("--supported", pulse.supported,
               "The arm is supported: the brakes of joints 1 to 3 may open");
}

void add_output_command(CLI::App& sub, ArmOptions& options, const std::shared_ptr<Pulse>& pulse) {
  sub.add_option("joint", pulse->joint, "1 to 6")->required()->check(CLI::Range(1, 6));
  sub.add_option("volts", pulse->volts, "-1 to 1")
      ->required()
      ->check(ga_tools::number_range(-1.0, 1.0));
  sub.add_option("--seconds", pulse->seconds, "Duration")
      ->check(ga_tools::number_range(0.01, 60.0))
      ->capture_default_str();
  sub.add_flag("--no-power", pulse->unpowered,
               "Arm power and brakes stay off: for a meter at the output");
  add_pulse_options(sub, options, *pulse);
}

}  // namespace

void add_cards_command(CLI::App& app) {
  const auto options = std::make_shared<ArmOptions>();
  const auto seconds = std::make_shared<double>(0);
  CLI::App* command = app.add_subcommand(
      "cards",
      "Inspect the cards; only `output` and `check` move the arm\n"
      "Examples: puma cards probe --io ports\n          puma cards watch --io ports --set "
      "pcl833.base=\"0x220 0x230\"");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, const std::function<void()>& run) {
    CLI::App* sub = command->add_subcommand(name, what);
    add_robot_options(*sub, *options);
    sub->callback(run);
    return sub;
  };
  add("probe", "Show which cards answer", [options] { probe(*options); });
  add("read", "Read everything once", [options] { read(*options); });
  add("watch", "Read everything repeatedly, until Ctrl-C",
      [options, seconds] { watch(*options, *seconds); })
      ->add_option("--seconds", *seconds, "Duration; 0: no end")
      ->check(ga_tools::number_range(0, 604800));
  const auto checked = std::make_shared<Pulse>();
  CLI::App* check =
      add("check", "Move one joint a little and name a reversed sign or a swapped or loose wire",
          [options, checked] { check_joint(*options, *checked); });
  check->add_option("joint", checked->joint, "1 to 6")->required()->check(CLI::Range(1, 6));
  check
      ->add_option(
          "--most", checked->volts,
          "Largest voltage, reached within 0.6 s, V: 1 to 3 times what the joint's friction "
          "takes (default: 1.5 times)")
      ->check(ga_tools::finite_number());
  check->add_option("--turned", checked->turned, "The direction in which a person saw it turn")
      ->check(CLI::IsMember({"positive", "negative"}));
  add_pulse_options(*check, *options, *checked);
  const auto pulse = std::make_shared<Pulse>();
  add_output_command(
      *add("output", "Put a small voltage on one joint's output: the joint may move!",
           [options, pulse] { output(*options, *pulse); }),
      *options, pulse);
}

}  // namespace puma_hardware::cli
