// SPDX-License-Identifier: Apache-2.0
#ifndef CARDS__PCL726_HPP_
#define CARDS__PCL726_HPP_

// PCL-726: six D/A channels and digital outputs. Nothing on it can be read back: the driver
// remembers what it wrote. It holds its last voltage for ever, whatever becomes of the program.

#include <array>
#include <cstdint>

#include "cards/card_settings.hpp"
#include "cards/port_io.hpp"

namespace puma_hardware {

class Pcl726 {
 public:
  /// Writes 0 V to all channels and clears the digital outputs. Throws CardError for an address
  /// where no card can be. That the card is missing cannot be seen: it answers only on its digital
  /// inputs, and those read FFh too when nothing is wired to them and they are pulled up.
  Pcl726(PortIo& io, const Pcl726Settings& settings);
  /// 0 V on all channels, digital outputs off.
  ~Pcl726();
  Pcl726(const Pcl726&) = delete;
  Pcl726& operator=(const Pcl726&) = delete;

  // All real-time safe, none throws.

  /// Rounds to the nearest code and clamps to the range; what is not finite is 0 V. Two port
  /// accesses. `channel` 0 … 5, of the card; others are ignored.
  void write_volts(int channel, double volts) noexcept;
  /// 0 V on all channels; twelve port accesses.
  void zero() noexcept;
  /// `bit` 0 … 15; others (−1: not wired) are ignored. One port access.
  void write_output(int bit, bool on) noexcept;
  void clear_outputs() noexcept;  ///< all off; two port accesses

  int code(int channel) const noexcept;      ///< last written
  double volts(int channel) const noexcept;  ///< what that code stands for
  std::uint16_t outputs() const noexcept;    ///< last written
  double full_scale() const noexcept;        ///< V
  double volts_per_code() const noexcept;
  std::uint16_t read_inputs() noexcept;  ///< digital inputs 15…0; two port accesses
  /// Whether the digital inputs read other than FFFFh at the start: proves a card if true, nothing
  /// if false.
  bool answered() const noexcept { return answered_; }

 private:
  void write_code(int channel, int code) noexcept;

  PortIo& io_;
  Pcl726Settings settings_;
  std::array<int, 6> code_{};
  std::uint16_t outputs_ = 0;
  bool answered_ = false;
};

/// For a process that does not own the card, such as a guard: 0 V on all channels, then the digital
/// outputs as given but with power and brake release off. 14 port accesses; real-time safe.
void cut_outputs(PortIo& io, const Pcl726Settings& settings, std::uint16_t outputs) noexcept;

}  // namespace puma_hardware

#endif  // CARDS__PCL726_HPP_
