// SPDX-License-Identifier: Apache-2.0
#include "ga_hardware/effort_commands.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace ga_hardware {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// A bit per joint.
std::uint64_t all_of(std::size_t joints) {
  if (joints < 1 || joints > 64) {
    throw std::invalid_argument("an arm of " + std::to_string(joints) +
                                " joints: 1 to 64 can be commanded");
  }
  return ~std::uint64_t{0} >> (64 - joints);
}

}  // namespace

EffortCommands::EffortCommands(std::size_t joints)
    : every_(all_of(joints)),
      handles_(joints),
      names_(joints),
      latest_(joints),
      torque_(joints, kNone),
      wanted_(joints, kNone) {}

void EffortCommands::bind(const ArmInterfaces& interfaces) {
  handles_ = interfaces.effort_command;
  names_ = interfaces.effort_names;
}

std::uint64_t EffortCommands::bits(const std::vector<std::string>& names) const noexcept {
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (std::find(names.begin(), names.end(), names_[i]) != names.end()) {
      found |= std::uint64_t{1} << i;
    }
  }
  return found;
}

std::string EffortCommands::refuse(const std::vector<std::string>& start,
                                   const std::vector<std::string>& stop) const {
  const std::uint64_t started = bits(start);
  const std::uint64_t after = (claimed_ & ~bits(stop)) | started;
  if (started == 0 || after == every_) return "";
  std::string missing;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if ((after >> i & 1) == 0) missing += (missing.empty() ? "" : ", ") + names_[i];
  }
  return std::to_string(std::popcount(after)) + " of " + std::to_string(names_.size()) +
         " efforts asked for, not " + missing +
         ": the brakes open together, so claim all joints in one controller or one switch";
}

void EffortCommands::switched(const std::vector<std::string>& start,
                              const std::vector<std::string>& stop) noexcept {
  const std::uint64_t started = bits(start), stopped = bits(stop);
  const std::uint64_t before = claimed_, after = (before & ~stopped) | started;
  claimed_ = after;
  if (before == every_ && after == every_) {
    for (std::size_t i = 0; i < latest_.size(); ++i) {
      double value = kNone;
      latest_[i] = handles_[i]->get_value(value, false) ? value : kNone;
    }
    swapped_ |= started & stopped;
  } else if (started != 0 && after == every_) {
    erase(every_);
    // A predecessor that the component knows nothing of is deactivated after this.
    events_ |= (started & stopped) != 0 ? kStarted | kErase : kStarted;
  } else if (stopped != 0) {
    events_ |= kStopped;
  }
}

void EffortCommands::erase(std::uint64_t joints) noexcept {
  for (std::size_t i = 0; i < handles_.size(); ++i) {
    if ((joints >> i & 1) != 0) put(handles_[i], kNone);
  }
}

void EffortCommands::forget() noexcept {
  events_ = 0;
  swapped_ = 0;
  awaited_ = 0;
  engaged_ = begun_ = false;
  age_ = 0;
  std::fill(torque_.begin(), torque_.end(), kNone);
  erase(every_);
}

void EffortCommands::reset() noexcept {
  claimed_ = 0;
  forget();
}

bool EffortCommands::stopped_while_inactive() noexcept {
  if (events_ == 0 && swapped_ == 0) return false;
  const bool stopped = (events_ & kStopped) != 0;
  forget();
  return stopped;
}

/// True if all handles could be read; the others keep what was wanted before.
bool EffortCommands::read_handles() noexcept {
  bool all = true;
  for (std::size_t i = 0; i < handles_.size(); ++i) {
    double value = kNone;
    if (handles_[i]->get_value(value, false)) {
      wanted_[i] = value;
    } else {
      all = false;  // another thread holds the handle
    }
  }
  return all;
}

bool EffortCommands::commanded(std::uint64_t joints) const noexcept {
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    if ((joints >> i & 1) != 0 && !std::isfinite(wanted_[i])) return false;
  }
  return true;
}

bool EffortCommands::only_zeros(std::uint64_t joints) const noexcept {
  bool zeros = true, kept = false;
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    if ((joints >> i & 1) == 0) continue;
    zeros = zeros && wanted_[i] == 0;
    kept = kept || torque_[i] != 0;
  }
  return zeros && kept;
}

/// The predecessor's last torque, and from now on the successor's first one is awaited.
void EffortCommands::change_hands(std::uint64_t joints) noexcept {
  for (std::size_t i = 0; i < torque_.size(); ++i) {
    const double latest = latest_[i];
    if (begun_ && (joints >> i & 1) != 0 && std::isfinite(latest)) torque_[i] = latest;
  }
  erase(joints);
  if (begun_) awaited_ |= joints;
  age_ = 0;
}

EffortCommands::Wish EffortCommands::next(double period) noexcept {
  const unsigned events = events_.exchange(0);
  const std::uint64_t swapped = swapped_.exchange(0);
  const bool all_claimed = claimed_ == every_;
  if ((events & (kStarted | kStopped)) != 0) {
    engaged_ = (events & kStarted) != 0 && all_claimed;
    begun_ = false;
    awaited_ = 0;
    age_ = 0;
    std::fill(torque_.begin(), torque_.end(), kNone);
    std::fill(wanted_.begin(), wanted_.end(), kNone);
    if (!all_claimed || (events & kErase) != 0) erase(every_);
    if ((events & kStopped) != 0) return Wish::kStop;
    if ((events & kErase) != 0) return Wish::kNothing;
  }
  if (!engaged_) return Wish::kNothing;
  if (swapped != 0) {
    change_hands(swapped);
    return begun_ ? Wish::kTorque : Wish::kNothing;
  }

  const bool all_read = read_handles();
  if (!begun_) {
    if (!all_read || !commanded(every_)) return Wish::kNothing;
    begun_ = true;
  }
  const bool taken_over = all_read && commanded(awaited_) && !only_zeros(awaited_);
  if (taken_over) awaited_ = 0;
  for (std::size_t i = 0; i < torque_.size(); ++i) {
    if ((awaited_ >> i & 1) == 0) torque_[i] = wanted_[i];
  }
  age_ = all_read && awaited_ == 0 ? 0 : age_ + period;
  return Wish::kTorque;
}

}  // namespace ga_hardware
