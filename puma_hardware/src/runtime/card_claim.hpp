// SPDX-License-Identifier: Apache-2.0
#ifndef RUNTIME__CARD_CLAIM_HPP_
#define RUNTIME__CARD_CLAIM_HPP_

// The right to write to a set of cards. Opening a card already writes 0 V, drops the relays and
// resets the counters: on an arm that another process moves, that is an accident. So nobody gets
// the bus without a claim, and there is one claim at a time on the whole machine.
//
// The guard alone writes without one: it has to cut what the holder left.

#include <string>
#include <utility>
#include <vector>

#include "cards/card_settings.hpp"
#include "process/process_lock.hpp"

namespace puma_hardware {

enum class Bus {
  kPorts,    ///< the machine's I/O ports
  kPrivate,  ///< cards and arm emulated in this process
  kShared    ///< cards emulated by `puma emulate`, found by their name
};

/// Under which a controlling process and its guard meet: `ports-2C0` by the PCL-726's address, or
/// the shared cards' own name; empty for private ones.
std::string cards_name(Bus bus, const std::string& cell, const CardSettings& settings);

class CardClaim {
 public:
  /// Real ports are claimed in blocks of 16 for every card, so that two programs that agree on one
  /// address only do not share a card either. Private cards need no claim. Allocates; throws
  /// CardError naming the process that holds the cards.
  CardClaim(Bus bus, const std::string& cell, const CardSettings& settings);

 private:
  std::vector<ProcessLock> locks_;
};

}  // namespace puma_hardware

#endif  // RUNTIME__CARD_CLAIM_HPP_
