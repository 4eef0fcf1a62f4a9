// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__CARDS_HPP_
#define CLI__CARDS_HPP_

// The four cards without the safety machine, for the commands that find out how they are wired.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "cards/pcl726.hpp"
#include "cards/pcl818.hpp"
#include "cards/pcl833.hpp"
#include "runtime/robot.hpp"

namespace puma_hardware::cli {

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
  explicit Cards(Robot& robot) : Cards(robot, robot.claim()) {}
  Cards(PortIo& io, CardClaim claim, const CardSettings& settings)
      : claim_(std::move(claim)),
        settings_(settings),
        io_(io),
        dacs_(io, settings.pcl726),
        analog_(io, settings.pcl818),
        counters_{Pcl833(io, settings.pcl833, 0), Pcl833(io, settings.pcl833, 1)} {
    each_counter([](Pcl833& card, int channel, std::size_t) { card.begin_index_search(channel); });
  }
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
  void read_thermal() {
    const int hot = analog_.read_thermal();
    for (std::size_t joint = 0; joint < 6; ++joint) {
      lines_[joint].hot = (hot >> joint & 1) != 0;
    }
  }
  void read_pots() {
    read_thermal();
    for (std::size_t joint = 0; joint < 6; ++joint) read_pot(joint);
  }
  void read_pot(std::size_t joint) {
    lines_[joint].pot = analog_.convert(settings_.pcl818.pot_channel[joint]);
  }

  const std::array<JointLine, 6>& lines() const { return lines_; }
  Pcl726& dacs() { return dacs_; }
  Pcl818& analog() { return analog_; }
  const PortIo& bus() const { return io_; }
  std::int64_t now_ns() const { return io_.now_ns(); }  ///< on the bus's clock

 private:
  /// The claim goes first: only its holder may open the bus.
  Cards(Robot& robot, CardClaim claim)
      : Cards(robot.io(claim), std::move(claim), robot.settings().cards) {}

  void each_counter(const std::function<void(Pcl833&, int, std::size_t)>& visit) {
    for (std::size_t joint = 0; joint < 6; ++joint) {
      const int wired = settings_.pcl833.channel[joint];
      visit(counters_[static_cast<std::size_t>(wired / 3)], wired % 3, joint);
    }
  }

  CardClaim claim_;  ///< before the cards, whose constructors and destructors write to them
  CardSettings settings_;
  PortIo& io_;
  Pcl726 dacs_;
  Pcl818 analog_;
  std::array<Pcl833, 2> counters_;
  std::array<JointLine, 6> lines_;
};

}  // namespace puma_hardware::cli

#endif  // CLI__CARDS_HPP_
