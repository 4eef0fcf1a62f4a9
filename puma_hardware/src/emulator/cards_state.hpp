// SPDX-License-Identifier: Apache-2.0
#ifndef EMULATOR__CARDS_STATE_HPP_
#define EMULATOR__CARDS_STATE_HPP_

// State of the emulated cards as plain data without pointers: every process may map it to another
// address.

#include <pthread.h>

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "emulator/emulated_cards.hpp"

namespace puma_hardware::emulator {

/// Accesses that the documentation does not allow; for their texts see emulated_cards.cpp.
enum class Illegal : std::uint8_t {
  kNoCard,
  kUnlisted,
  kWriteOnly,
  kReadOnly,
  kNotEmulated,
  kValue,
  kAdNotReady,
  kAdBusy,
  kAdTriggerSource,
  kAdMuxDisturbed,
  kDacOrder,
  kCounterOrder
};

/// Equal accesses (port, direction, reason) share a record with a count, so that a loop does not
/// fill the log.
struct IllegalRecord {
  std::int64_t first_ns = 0;
  std::uint64_t count = 0;
  std::uint16_t port = 0;
  std::uint8_t value = 0;  ///< of the latest
  bool write = false;
  Illegal reason = Illegal::kNoCard;
};

struct IllegalLog {
  std::array<IllegalRecord, 64> records{};
  std::uint32_t used = 0, next = 0;  ///< a ring once it is full
  std::uint64_t total = 0;
};

/// The 8254 as far as the pacer needs it: counters 1 and 2 in cascade, mode 2.
struct PacerState {
  struct Counter {
    std::uint8_t control = 0;  ///< as written, without the counter's number
    std::uint16_t divider = 0;
    bool low_written = false, loaded = false;
  };
  std::array<Counter, 3> counters{};
  std::int64_t next_ns = 0;  ///< of the next pulse, while it runs
  bool running = false;
};

struct FifoState {
  std::array<std::uint16_t, 1024> samples{};
  std::uint32_t first = 0, used = 0;
  bool enabled = false, overflow = false;
};

struct Pcl818State {
  std::array<double, 16> volts{};  ///< at the connector
  std::uint8_t mux = 0;            ///< as written: stop channel, start channel
  std::uint8_t channel = 0;        ///< that the next trigger converts
  bool mux_disturbed = false;      ///< a range was written since the multiplexer was
  std::array<std::uint8_t, 16> range{};
  std::uint8_t control = 0;

  // The voltage behind the multiplexer settles from the old channel's to the new one's.
  double settle_from = 0;
  std::int64_t settle_begin_ns = std::numeric_limits<std::int64_t>::min() / 2;

  bool converting = false;
  std::int64_t busy_until_ns = 0;  ///< by the data sheet
  std::int64_t ready_at_ns = 0;    ///< with faults
  std::uint16_t converted = 0;     ///< becomes `data` when ready
  std::uint16_t data = 0;          ///< code, channel
  bool data_ready = false;         ///< status bit 4

  PacerState pacer{};
  FifoState fifo{};

  std::uint16_t inputs = 0, outputs = 0;
  std::array<std::uint8_t, 2> da_low{}, da_high{};
  std::array<bool, 2> da_low_written{};
};

struct Pcl726State {
  struct Channel {
    std::uint8_t high = 0;  ///< buffered until the low byte is written
    bool high_written = false;
    std::uint16_t code = 0;  ///< at power-up that of the CardBehavior
  };
  std::array<Channel, 6> channels{};
  std::uint16_t outputs = 0;
  std::array<std::int64_t, 16> output_changed_ns{};
  std::uint16_t inputs = 0;  ///< those without a wire float; the watchdog's read-back comes beside
  std::int64_t changed_ns = 0;
};

struct Pcl833State {
  struct Channel {
    std::uint8_t mode = 0, latch_source = 0;  ///< as written
    std::uint32_t count = 0, latch = 0;       ///< 24 bits
    bool overflow = false, held = false;
    std::uint8_t next_byte = 2;               ///< the offset to be read next
    std::int64_t position = 0;                ///< of the encoder, absolute quadrature counts
    int counts_per_rev = 0, index_phase = 0;  ///< of the encoder, once it has moved
  };
  std::array<Channel, 3> channels{};
  std::uint8_t free_running = 0, reset = 0;
};

constexpr std::size_t kFaults = static_cast<std::size_t>(CardFault::kThermal) + 1;

struct CardsState {
  static constexpr std::uint32_t kMagic = 0x414D5550, kVersion = 3;
  std::uint32_t magic = 0;  ///< set last, when the rest is initialized
  std::uint32_t version = kVersion, size = sizeof(CardsState);
  bool wall_clock = false;
  CardSettings settings{};
  CardBehavior behavior{};

  pthread_mutex_t mutex{};  ///< for all below
  std::uint64_t lock_recoveries = 0;
  std::int64_t time_ns = 0;  ///< unless wall_clock
  std::uint64_t accesses = 0;
  IllegalLog illegal{};
  std::array<std::uint8_t, kFaults> faults{};  ///< a bit per joint; bit 0 for faults of a card

  std::array<double, 6> pot_volts{}, pot_stuck_volts{};
  std::array<bool, 6> hot{};
  ArmTruth truth{};
  std::array<double, 6> hand_turn{};  ///< rad that a person still turns the joints by
  bool own_wiring = false;  ///< the robot is wired differently from what its users' settings say
  bool hand_power = false, hand_brakes = false;  ///< on, open

  Pcl818State pcl818{};
  Pcl726State pcl726{};
  std::array<Pcl833State, 2> pcl833{};

  bool faulty(CardFault fault, int joint = 0) const noexcept {
    return (faults[static_cast<std::size_t>(fault)] >> joint & 1) != 0;
  }
};
static_assert(std::is_trivially_copyable_v<CardsState>);

/// Holds the cards' lock. If a process is killed while it holds the lock, the next one recovers it:
/// at worst, one register access is incomplete.
class CardsLock {
 public:
  explicit CardsLock(CardsState& state) noexcept;
  ~CardsLock();
  CardsLock(const CardsLock&) = delete;
  CardsLock& operator=(const CardsLock&) = delete;

 private:
  CardsState& state_;
};

/// One access to a register of a card; the caller holds the lock.
struct Access {
  std::uint16_t port = 0;
  unsigned offset = 0;
  bool write = false;
  std::uint8_t value = 0;
  std::int64_t now_ns = 0;
};

void record(CardsState& state, const Access& access, Illegal reason) noexcept;

std::uint8_t read_pcl818(CardsState& state, const Access& access) noexcept;
void write_pcl818(CardsState& state, const Access& access) noexcept;
/// Applies potentiometers, thermal switches and faults to the card's inputs.
void update_inputs(CardsState& state) noexcept;

std::uint8_t read_pcl726(CardsState& state, const Access& access) noexcept;
void write_pcl726(CardsState& state, const Access& access) noexcept;
double output_volts(const Pcl726Settings& settings, std::uint16_t code) noexcept;

std::uint8_t read_pcl833(CardsState& state, int card, const Access& access) noexcept;
void write_pcl833(CardsState& state, int card, const Access& access) noexcept;
void move_encoder(CardsState& state, int joint, std::int64_t to, int counts_per_rev,
                  int index_phase) noexcept;
void jump_encoder(CardsState& state, int joint, std::int32_t counts) noexcept;

}  // namespace puma_hardware::emulator

#endif  // EMULATOR__CARDS_STATE_HPP_
