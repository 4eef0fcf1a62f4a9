// SPDX-License-Identifier: Apache-2.0
#include "runtime/card_claim.hpp"

#include <cstdio>
#include <optional>

namespace puma_hardware {

namespace {

constexpr int kBlock = 0x10;  ///< ports; bases are multiples of it

std::string port_text(const char* format, int port) {
  char text[32];
  std::snprintf(text, sizeof text, format, static_cast<unsigned>(port));
  return text;
}

ProcessLock lock(const std::string& name, const std::string& what) {
  if (auto taken = ProcessLock::take(name)) return std::move(*taken);
  throw CardError(what + ": " + ProcessLock::holder(name).text() +
                  " has opened this arm; two programs must not drive it at once. Stop that one "
                  "first");
}

}  // namespace

std::string cards_name(Bus bus, const std::string& cell, const CardSettings& settings) {
  return bus == Bus::kPorts ? port_text("ports-%03X", settings.pcl726.base) : cell;
}

CardClaim::CardClaim(Bus bus, const std::string& cell, const CardSettings& settings) {
  if (bus == Bus::kShared) locks_.push_back(lock("cards-" + cell, "emulated cards '" + cell + "'"));
  if (bus != Bus::kPorts) return;
  for (const PortWindow& window : settings.windows()) {
    for (int port = window.base; port < window.base + window.size; port += kBlock) {
      locks_.push_back(
          lock(port_text("ports-%03X", port), window.card + " at " + port_text("0x%X", port)));
    }
  }
}

}  // namespace puma_hardware
