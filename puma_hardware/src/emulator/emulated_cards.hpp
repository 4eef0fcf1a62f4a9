// SPDX-License-Identifier: Apache-2.0
#ifndef EMULATOR__EMULATED_CARDS_HPP_
#define EMULATOR__EMULATED_CARDS_HPP_

// The four cards emulated at register level, at the configured addresses: A/D sequence and timing,
// counter latches, double-buffered DACs, write-only registers. Accesses that the documentation does
// not allow are recorded. The state is one plain struct, which may be in shared memory: controller,
// guard and simulated arm then share one set of cards, which outlives each of them, as real cards
// do.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cards/card_settings.hpp"
#include "cards/port_io.hpp"
#include "emulator/card_behavior.hpp"

namespace puma_hardware::emulator {

/// Faults of cards and wiring; those of a joint need its number (0 … 5).
enum class CardFault {
  kMissing818,  ///< the card no longer answers: reads FFh, writes are lost
  kMissing726,
  kMissing833a,
  kMissing833b,
  kPowerLost,        ///< the emergency-stop chain is open: no arm power, whatever the outputs say
  kSlowAd,           ///< conversions take 1000 times as long
  kAdStuck,          ///< data-ready never comes
  kAdWrongChannel,   ///< samples carry another channel's number
  kEncoderFrozen,    ///< the joint's counter does not count
  kEncoderJump,      ///< the joint's counter jumps once by 4096 counts
  kEncoderStuckBit,  ///< bit 3 of the joint's count reads 1
  kIndexLost,        ///< the joint's index pulses do not arrive
  kAmplifierDead,    ///< the joint's amplifier has no supply: no torque
  kPotOpen,          ///< the joint's potentiometer reads 0 V
  kPotStuck,         ///< the joint's potentiometer keeps its value
  kThermal           ///< the joint's thermal switch opens
};

/// Equal accesses (port, direction, reason) have one entry with a count. The log keeps the latest 64
/// entries.
struct IllegalAccess {
  std::uint16_t port = 0;
  bool write = false;
  std::uint8_t value = 0;  ///< last written
  std::string reason;
  std::uint64_t count = 0;
  std::int64_t first_ns = 0;  ///< on the bus's clock
};

/// True state of the simulated arm, published with the cards: for tests and displays, also in other
/// processes.
struct ArmTruth {
  std::array<double, 6> q{}, qd{};  ///< rad, rad/s
  std::array<bool, 6> brake{};      ///< on
  bool powered = false;
  double time = 0;  ///< s that the arm has simulated
};

struct CardsState;

/// Private to this process, or shared by name (/dev/shm). Creation and opening allocate and throw
/// std::runtime_error; the rest is real-time safe, except for the lock of each access, which is
/// contended only if processes share the cards.
class EmulatedCards : public PortIo {
 public:
  /// `wall_clock`: bus time is the system's monotonic time, as always for shared cards. Otherwise it
  /// is the sum of advance() and 1 µs per access.
  explicit EmulatedCards(const CardSettings& settings, bool wall_clock = false,
                         const CardBehavior& behavior = {});
  EmulatedCards(const EmulatedCards&) = delete;
  EmulatedCards& operator=(const EmulatedCards&) = delete;
  /// Creates shared cards; the destructor removes them. Those of a killed creator are replaced; the
  /// name of a live one is refused.
  static std::unique_ptr<EmulatedCards> create_shared(const std::string& name,
                                                      const CardSettings& settings,
                                                      const CardBehavior& behavior = {});
  /// Opens shared cards; refuses those with other addresses, jumpers or wiring. Waits up to
  /// `patience` [s] for them to appear.
  static std::unique_ptr<EmulatedCards> open_shared(const std::string& name,
                                                    const CardSettings& settings,
                                                    double patience = 0);
  ~EmulatedCards() override;

  std::uint8_t read(std::uint16_t port) noexcept override;
  void write(std::uint16_t port, std::uint8_t value) noexcept override;
  std::int64_t now_ns() const noexcept override;
  /// No effect with a wall clock.
  void advance(std::int64_t ns) noexcept;
  /// The same up to that time; no effect if it is past.
  void advance_to(std::int64_t ns) noexcept;

  // The arm's side of the cards, by joint 0 … 5 (wiring as in the settings).

  /// Moves the encoder to this absolute quadrature count. The card sees the index pulses on the
  /// path, at counts ≡ `index_phase` modulo `counts_per_rev`.
  void set_encoder(int joint, std::int64_t count, int counts_per_rev, int index_phase) noexcept;
  /// Sets the absolute count without any edge for the card, as before the card was switched on.
  /// Encoders begin at 0.
  void place_encoder(int joint, std::int64_t count) noexcept;
  void set_pot_volts(int joint, double volts) noexcept;
  void set_thermal(int joint, bool hot) noexcept;
  double output_volts(int joint) const noexcept;
  bool digital_output(int bit) const noexcept;  ///< of the PCL-726
  /// Bus time [ns] of the output's last change, 0 if there was none.
  std::int64_t digital_output_changed_ns(int bit) const noexcept;
  void set_digital_input(int bit, bool high) noexcept;  ///< of the PCL-726
  /// The switches of an arm whose power and brakes a person switches; initially off and closed.
  void set_hand_switches(bool power, bool brakes_open) noexcept;
  bool hand_power() const noexcept;
  bool hand_brakes_open() const noexcept;
  /// A person turns the joint by so many rad, slowly.
  void turn_by_hand(int joint, double rad) noexcept;
  /// What is still to be turned, at most `most` [rad] of it, which is taken away.
  double take_turn(int joint, double most) noexcept;
  /// The robot's wiring differs from what its users' settings say: open_shared() does not compare them.
  void set_own_wiring() noexcept;
  const CardBehavior& behavior() const noexcept;
  bool amplifier_dead(int joint) const noexcept;
  /// Is the emergency-stop chain closed (kPowerLost)?
  bool chain_closed() const noexcept;
  /// Bus time [ns] of the last change of a DAC voltage.
  std::int64_t last_output_change_ns() const noexcept;

  void publish(const ArmTruth& truth) noexcept;
  ArmTruth truth() const noexcept;

  // Faults last until they are cleared (a jump happens once). Faults of a card ignore `joint`.
  void inject(CardFault fault, int joint = 0) noexcept;
  void clear(CardFault fault, int joint = 0) noexcept;
  void clear_faults() noexcept;

  std::uint64_t accesses() const noexcept;  ///< reads and writes so far
  std::vector<IllegalAccess> illegal_accesses() const;
  std::uint64_t illegal_access_count() const noexcept;
  void clear_illegal_accesses() noexcept;
  /// Number of processes that were killed while they held the lock.
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
