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

#include "cards/pcl726.hpp"
#include "cards/pcl818.hpp"
#include "cards/pcl833.hpp"
#include "cli/arm_options.hpp"
#include "cli/commands.hpp"
#include "ga_tools/commands.hpp"
#include "process/heartbeat.hpp"
#include "process/realtime.hpp"

namespace puma_hardware::cli {
namespace {

constexpr std::int64_t kGuardTimeout = 100'000'000;  ///< ns without a sign of life

/// Readings of one joint.
struct JointLine {
  AdSample pot;
  bool hot = false;
  std::int64_t count = 0;
  std::array<std::uint8_t, 3> bytes{};
  std::optional<std::int64_t> index;  ///< count at the last index pulse
};

/// All four cards, opened: DACs at 0 V, counters at 0. Reading also writes (the A/D card's
/// multiplexer, the counters' latches), so that the cards are claimed.
class Cards {
 public:
  explicit Cards(Robot& robot) : Cards(robot, robot.claim(), robot.settings().cards) {}
  ~Cards() {
    each_counter([](Pcl833& card, int channel, std::size_t) { card.end_index_search(channel); });
  }

  void read() {
    each_counter([this](Pcl833& card, int channel, std::size_t joint) {
      const Pcl833::IndexReading reading = card.read_with_index(channel);
      lines_[joint].count = reading.count;
      lines_[joint].bytes = card.last_bytes(channel);
      if (reading.index_seen) lines_[joint].index = reading.index_count;
    });
  }
  void read_pots() {
    const int hot = analog_.read_thermal();
    for (std::size_t joint = 0; joint < 6; ++joint) {
      lines_[joint].hot = (hot >> joint & 1) != 0;
      lines_[joint].pot = analog_.convert(settings_.pcl818.pot_channel[joint]);
    }
  }

  const std::array<JointLine, 6>& lines() const { return lines_; }
  Pcl726& dacs() { return dacs_; }
  Pcl818& analog() { return analog_; }

 private:
  Cards(Robot& robot, CardClaim claim, const CardSettings& settings)
      : claim_(std::move(claim)),
        settings_(settings),
        dacs_(robot.io(claim_), settings.pcl726),
        analog_(robot.io(claim_), settings.pcl818),
        counters_{Pcl833(robot.io(claim_), settings.pcl833, 0),
                  Pcl833(robot.io(claim_), settings.pcl833, 1)} {
    each_counter([](Pcl833& card, int channel, std::size_t) { card.begin_index_search(channel); });
  }

  void each_counter(const std::function<void(Pcl833&, int, std::size_t)>& visit) {
    for (std::size_t joint = 0; joint < 6; ++joint) {
      const int wired = settings_.pcl833.channel[joint];
      visit(counters_[static_cast<std::size_t>(wired / 3)], wired % 3, joint);
    }
  }

  CardClaim claim_;  ///< before the cards, whose constructors and destructors write to them
  CardSettings settings_;
  Pcl726 dacs_;
  Pcl818 analog_;
  std::array<Pcl833, 2> counters_;
  std::array<JointLine, 6> lines_;
};

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

void wait_1_ms(Robot& robot) {
  const timespec period{0, 1'000'000};
  if (robot.arm() != nullptr) {
    robot.arm()->advance(0.001);
  } else {
    nanosleep(&period, nullptr);
  }
}

void probe(const ArmOptions& options) {
  Robot robot = open_robot(options);
  const CardSettings& settings = robot.settings().cards;
  Cards cards(robot);
  std::printf("PCL-%s at 0x%03X: answers, %s inputs\n", to_string(settings.pcl818.variant),
              settings.pcl818.base,
              cards.analog().differential() ? "differential" : "single-ended");
  std::printf("PCL-726 at 0x%03X: %s; 0 V written to all channels, digital outputs off\n",
              settings.pcl726.base,
              cards.dacs().answered() ? "answers" : "presence unknown (all its inputs read high)");
  for (const std::uint16_t base : settings.pcl833.base) {
    std::printf("PCL-833 at 0x%03X: answers, counters started at 0\n", base);
  }
}

void read(const ArmOptions& options) {
  Robot robot = open_robot(options);
  Cards cards(robot);
  for (int i = 0; i < 10; ++i) wait_1_ms(robot);
  cards.read();
  cards.read_pots();
  print_lines(cards, robot.settings());
}

void watch(const ArmOptions& options, double seconds) {
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

/// A small voltage on one joint's output, to measure it or to find the joint's direction.
struct Pulse {
  int joint = 1;
  double volts = 0, seconds = 0.5;
  bool unguarded = false;
};

std::unique_ptr<Heartbeat> armed(const Robot& robot, bool unguarded) {
  auto heartbeat = unguarded ? nullptr : guarded_heartbeat(robot);
  if (heartbeat && !heartbeat->arm()) {
    throw std::runtime_error("process " + std::to_string(heartbeat->controller_pid()) +
                             " drives the arm; stop it first");
  }
  return heartbeat;
}

void output(const ArmOptions& options, const Pulse& pulse) {
  Robot robot = open_robot(options);
  const std::atomic<bool>& stop = stop_request();
  const CardSettings& settings = robot.settings().cards;
  const auto joint = static_cast<std::size_t>(pulse.joint - 1);
  const int channel = settings.pcl726.channel[joint];
  Cards cards(robot);
  cards.read();
  const std::int64_t before = cards.lines()[joint].count;
  const auto heartbeat = armed(robot, pulse.unguarded);
  cards.dacs().write_output(settings.pcl726.power_output, true);
  cards.dacs().write_output(settings.pcl726.brake_output, true);
  cards.dacs().write_volts(channel, pulse.volts);
  const char* early = nullptr;
  for (long left = std::lround(pulse.seconds * 1000); left > 0 && early == nullptr; --left) {
    wait_1_ms(robot);
    cards.read();
    if (stop.load()) early = "stopped on request";
    if (!heartbeat) continue;
    heartbeat->beat(cards.dacs().outputs());
    if (heartbeat->tripped()) early = "the guard has cut the outputs";
    if (!heartbeat->guard_alive(kGuardTimeout)) early = "the guard is lost";
  }
  const double written = cards.dacs().volts(channel);
  cards.dacs().zero();
  cards.dacs().clear_outputs();
  if (heartbeat) heartbeat->disarm();
  if (early != nullptr) std::fprintf(stderr, "puma: %s\n", early);
  std::printf("%s: %.4f V, now 0 V; the count changed from %lld to %lld\n",
              robot.settings().joints[joint].name.c_str(), written, static_cast<long long>(before),
              static_cast<long long>(cards.lines()[joint].count));
}

void add_output_command(CLI::App& sub, const std::shared_ptr<Pulse>& pulse) {
  sub.add_option("joint", pulse->joint, "1 to 6")->required()->check(CLI::Range(1, 6));
  sub.add_option("volts", pulse->volts, "-1 to 1")
      ->required()
      ->check(ga_tools::number_range(-1.0, 1.0));
  sub.add_option("--seconds", pulse->seconds, "Duration")
      ->check(ga_tools::number_range(0.01, 60.0))
      ->capture_default_str();
  sub.add_flag("--no-guard", pulse->unguarded, "Run without a guard process");
}

}  // namespace

void add_cards_command(CLI::App& app) {
  const auto options = std::make_shared<ArmOptions>();
  const auto seconds = std::make_shared<double>(0);
  CLI::App* command = app.add_subcommand(
      "cards",
      "Inspect the cards; only `output` may move the arm\n"
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
  const auto pulse = std::make_shared<Pulse>();
  add_output_command(
      *add("output", "Put a small voltage on one joint's output: the joint may move!",
           [options, pulse] { output(*options, *pulse); }),
      pulse);
}

}  // namespace puma_hardware::cli
