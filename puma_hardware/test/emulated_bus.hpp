// SPDX-License-Identifier: Apache-2.0
#ifndef EMULATED_BUS_HPP_
#define EMULATED_BUS_HPP_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "emulator/emulated_cards.hpp"

namespace puma_hardware::emulator {

/// Emulated cards on a bus of their own, and a look at what they did not like.
class EmulatedBus : public ::testing::Test {
 protected:
  EmulatedCards& cards() {
    if (!cards_) restart();
    return *cards_;
  }
  /// New cards, of the present settings and behavior.
  void restart() { cards_ = std::make_unique<EmulatedCards>(settings, false, behavior); }
  std::uint8_t in(std::uint16_t base, unsigned offset) {
    return cards().read(static_cast<std::uint16_t>(base + offset));
  }
  void out(std::uint16_t base, unsigned offset, unsigned value) {
    cards().write(static_cast<std::uint16_t>(base + offset), static_cast<std::uint8_t>(value));
  }

  void expect_legal() {
    for (const IllegalAccess& a : cards().illegal_accesses()) {
      ADD_FAILURE() << (a.write ? "write of " : "read of ") << std::hex << a.port << std::dec
                    << ", " << a.count << " times: " << a.reason;
    }
    EXPECT_EQ(cards().illegal_access_count(), 0u);
  }
  /// Exactly one, for this reason; forgets it.
  void expect_illegal(const std::string& reason) {
    const auto accesses = cards().illegal_accesses();
    EXPECT_EQ(cards().illegal_access_count(), 1u) << reason;
    if (accesses.size() == 1) {
      EXPECT_NE(accesses[0].reason.find(reason), std::string::npos) << accesses[0].reason;
    }
    cards().clear_illegal_accesses();
  }

  CardSettings settings;
  CardBehavior behavior;

 private:
  std::unique_ptr<EmulatedCards> cards_;
};

}  // namespace puma_hardware::emulator

#endif  // EMULATED_BUS_HPP_
