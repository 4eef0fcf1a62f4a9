// SPDX-License-Identifier: Apache-2.0
#ifndef RUNTIME__CARD_CLAIM_HPP_
#define RUNTIME__CARD_CLAIM_HPP_

// Exclusive right to write to a set of cards. Opening a card writes 0 V, opens the relays and resets
// the counters, which is dangerous on an arm that another process moves. Access to the bus needs a
// claim, and a computer has one claim per set of cards at a time.
//
// Only the guard writes without a claim: it cuts the outputs that the holder left.

#include <string>
#include <utility>
#include <vector>

#include "cards/card_settings.hpp"
#include "process/process_lock.hpp"

namespace puma_hardware {

enum class Bus {
  kPorts,    ///< the computer's I/O ports
  kPrivate,  ///< cards and arm emulated in this process
  kShared    ///< cards emulated by `puma emulate`, by name
};

/// Name of the heartbeat of a controlling process and its guard: `ports-2C0` by the PCL-726's
/// address, or the shared cards' name; empty for private cards.
std::string cards_name(Bus bus, const std::string& cell, const CardSettings& settings);

class CardClaim {
 public:
  /// Real ports are claimed in blocks of 16 for every card, so that programs whose settings overlap
  /// in one card only exclude each other too. Private cards need no claim. Allocates; throws
  /// CardError naming the process that holds the cards.
  CardClaim(Bus bus, const std::string& cell, const CardSettings& settings);

 private:
  std::vector<ProcessLock> locks_;
};

}  // namespace puma_hardware

#endif  // RUNTIME__CARD_CLAIM_HPP_
