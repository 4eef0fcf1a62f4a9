// SPDX-License-Identifier: Apache-2.0
#ifndef EMULATOR__SHARED_SEGMENT_HPP_
#define EMULATOR__SHARED_SEGMENT_HPP_

// Memory of the cards' state: private to this process, or shared by name.

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "emulator/cards_state.hpp"
#include "process/process_lock.hpp"

namespace puma_hardware::emulator {

/// The functions throw std::runtime_error.
struct EmulatedCards::Segment {
  CardsState* state = nullptr;
  std::string path;  ///< empty: private
  int file = -1;
  std::optional<ProcessLock> lock;  ///< of the creator
  pid_t creator = 0;                ///< of a shared segment; 0 if it was only opened

  static std::unique_ptr<Segment> make_private(const CardSettings& settings, bool wall_clock);
  static std::unique_ptr<Segment> create(const std::string& name, const CardSettings& settings);
  /// Waits up to `patience` [s].
  static std::unique_ptr<Segment> open(const std::string& name, const CardSettings& settings,
                                       double patience);
  Segment() = default;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment();
};

}  // namespace puma_hardware::emulator

#endif  // EMULATOR__SHARED_SEGMENT_HPP_
