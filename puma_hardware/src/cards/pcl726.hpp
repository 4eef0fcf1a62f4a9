// SPDX-License-Identifier: Apache-2.0
#ifndef CARDS__PCL726_HPP_
#define CARDS__PCL726_HPP_

// PCL-726: six D/A channels and digital outputs, which cannot be read back. It keeps its last
// voltages when the program ends or crashes.

#include <array>
#include <cstdint>

#include "cards/card_settings.hpp"
#include "cards/port_io.hpp"

namespace puma_hardware {

class Pcl726 {
 public:
  /// Writes 0 V to all channels and clears the digital outputs. Throws CardError for an invalid
  /// address. A missing card cannot be detected: only its digital inputs can be read, and without
  /// wiring pull-ups may make them FFh too.
  Pcl726(PortIo& io, const Pcl726Settings& settings);
  /// 0 V on all channels, digital outputs off.
  ~Pcl726();
  Pcl726(const Pcl726&) = delete;
  Pcl726& operator=(const Pcl726&) = delete;

  // All real-time safe, none throws.

  /// Rounds to the nearest code and saturates; a value that is not finite gives 0 V. Two port
  /// accesses. `channel` 0 … 5 of the card; others are ignored.
  void write_volts(int channel, double volts) noexcept;
  /// 0 V on all channels; twelve port accesses.
  void zero() noexcept;
  /// `bit` 0 … 15; others (−1: not wired) are ignored. One port access.
  void write_output(int bit, bool on) noexcept;
  void clear_outputs() noexcept;  ///< all off; two port accesses

  int code(int channel) const noexcept;      ///< last written
  double volts(int channel) const noexcept;  ///< of that code
  std::uint16_t outputs() const noexcept;    ///< last written
  double full_scale() const noexcept;        ///< V
  double volts_per_code() const noexcept;
  std::uint16_t read_inputs() noexcept;  ///< digital inputs 15…0; two port accesses
  /// Those of `wanted`, a bit per input; others read 0. A port access per byte with a wanted input.
  std::uint16_t read_inputs(std::uint16_t wanted) noexcept;
  /// True if the digital inputs were not FFFFh at the start, which proves that there is a card.
  bool answered() const noexcept { return answered_; }

 private:
  void write_code(int channel, int code) noexcept;

  PortIo& io_;
  Pcl726Settings settings_;
  std::array<int, 6> code_{};
  std::uint16_t outputs_ = 0;
  bool answered_ = false;
};

/// For the guard, which does not own the card: 0 V on all channels, then the given digital outputs
/// with power and brake release off. 14 port accesses; real-time safe.
void cut_outputs(PortIo& io, const Pcl726Settings& settings, std::uint16_t outputs) noexcept;

}  // namespace puma_hardware

#endif  // CARDS__PCL726_HPP_
