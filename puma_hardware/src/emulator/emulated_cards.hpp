// SPDX-License-Identifier: Apache-2.0
#ifndef EMULATOR__EMULATED_CARDS_HPP_
#define EMULATOR__EMULATED_CARDS_HPP_

// The four cards at the level of port reads and writes, on a bus with the configured addresses:
// A/D sequence and timing, counter latches, double-buffered DACs, write-only registers. Accesses
// that the documentation does not allow are recorded. What the cards remember lies in one plain
// struct, so that it can live in shared memory: several processes (a controller, a guard, the
// simulated arm) then share one set of cards, and the cards outlive each of them, as real ones do.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cards/card_settings.hpp"
#include "cards/port_io.hpp"

namespace puma_hardware::emulator {

/// What can go wrong with cards and wires; `joint` where it concerns one (0 … 5).
enum class CardFault {
  kMissing818,  ///< the card no longer answers: reads FFh, writes are lost
  kMissing726,
  kMissing833a,
  kMissing833b,
  kSlowAd,           ///< conversions take 1000 times as long
  kAdStuck,          ///< data-ready never comes
  kAdWrongChannel,   ///< samples carry another channel's number
  kEncoderFrozen,    ///< the joint's counter stands still
  kEncoderJump,      ///< the joint's counter jumps once by 4096 counts
  kEncoderStuckBit,  ///< bit 3 of the joint's count reads 1
  kIndexLost,        ///< the joint's index pulses do not arrive
  kPotOpen,          ///< the joint's potentiometer reads 0 V
  kPotStuck,         ///< the joint's potentiometer keeps its value
  kThermal           ///< the joint's thermal switch opens
};

/// Equal accesses (port, direction, reason) are told once, with their count. The log keeps the
/// latest 64 kinds.
struct IllegalAccess {
  std::uint16_t port = 0;
  bool write = false;
  std::uint8_t value = 0;  ///< the latest that was written
  std::string reason;
  std::uint64_t count = 0;
  std::int64_t first_ns = 0;  ///< on the bus's clock
};

/// Where the simulated arm behind the cards really is, told beside the cards: for tests and
/// displays, also in other processes.
struct ArmTruth {
  std::array<double, 6> q{}, qd{};  ///< rad, rad/s
  std::array<bool, 6> brake{};      ///< on
  bool powered = false;
  double time = 0;  ///< s that the arm has simulated
};

struct CardsState;

/// Private to this process, or shared under a name (/dev/shm). Creation and opening allocate and
/// throw std::runtime_error; the rest is real-time safe but for the lock around each access, which
/// is only contended when processes share the cards.
class EmulatedCards : public PortIo {
 public:
  /// `wall_clock`: the bus's time is the machine's (shared cards are always so). Otherwise it is
  /// the sum of advance() and 1 µs for every access.
  explicit EmulatedCards(const CardSettings& settings, bool wall_clock = false);
  EmulatedCards(const EmulatedCards&) = delete;
  EmulatedCards& operator=(const EmulatedCards&) = delete;
  /// Creates shared cards; the creator removes them at its end. Those of a creator that was killed
  /// are replaced; while one lives, the name is refused.
  static std::unique_ptr<EmulatedCards> create_shared(const std::string& name,
                                                      const CardSettings& settings);
  /// Opens shared cards; refuses those made for other addresses, jumpers or wires. Waits up to
  /// `patience` [s] for them to appear.
  static std::unique_ptr<EmulatedCards> open_shared(const std::string& name,
                                                    const CardSettings& settings,
                                                    double patience = 0);
  ~EmulatedCards() override;

  std::uint8_t read(std::uint16_t port) noexcept override;
  void write(std::uint16_t port, std::uint8_t value) noexcept override;
  std::int64_t now_ns() const noexcept override;
  /// Nothing with a wall clock.
  void advance(std::int64_t ns) noexcept;
  /// The same up to that time; nothing if it is past.
  void advance_to(std::int64_t ns) noexcept;

  // The arm's side of the cards, by joint 0 … 5 (wiring as in the settings).

  /// Moves the encoder to this absolute quadrature count; the index pulses between, one per
  /// `counts_per_rev` at counts ≡ `index_phase`, reach the card.
  void set_encoder(int joint, std::int64_t count, int counts_per_rev, int index_phase) noexcept;
  /// Puts the encoder at this absolute count unnoticed by the card, as if it had been there when
  /// the card was switched on. Encoders begin at 0.
  void place_encoder(int joint, std::int64_t count) noexcept;
  void set_pot_volts(int joint, double volts) noexcept;
  void set_thermal(int joint, bool hot) noexcept;
  double output_volts(int joint) const noexcept;
  bool digital_output(int bit) const noexcept;  ///< of the PCL-726
  /// ns on the bus's clock when any DAC channel last changed from another voltage to the present
  /// one.
  std::int64_t last_output_change_ns() const noexcept;

  void publish(const ArmTruth& truth) noexcept;
  ArmTruth truth() const noexcept;

  // Faults last until they are cleared (a jump happens once). `joint` means nothing to faults of a
  // whole card.
  void inject(CardFault fault, int joint = 0) noexcept;
  void clear(CardFault fault, int joint = 0) noexcept;
  void clear_faults() noexcept;

  std::uint64_t accesses() const noexcept;  ///< reads and writes so far
  std::vector<IllegalAccess> illegal_accesses() const;
  std::uint64_t illegal_access_count() const noexcept;
  void clear_illegal_accesses() noexcept;
  /// How often a process was killed while it held the cards' lock.
  std::uint64_t lock_recoveries() const noexcept;
  CardsState& state() noexcept;  ///< for the tests of the emulator itself

 private:
  struct Segment;
  explicit EmulatedCards(std::unique_ptr<Segment> segment);

  std::unique_ptr<Segment> segment_;
  CardsState* state_;
};

}  // namespace puma_hardware::emulator

#endif  // EMULATOR__EMULATED_CARDS_HPP_
