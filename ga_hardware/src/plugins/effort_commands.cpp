// SPDX-License-Identifier: Apache-2.0
#include "plugins/effort_commands.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "ga_controllers/control_law.hpp"

namespace ga_hardware {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// A bit per joint.
std::uint64_t all_bits(std::size_t joints) {
  if (joints < 1 || joints > 64) {
    throw std::invalid_argument("an arm of " + std::to_string(joints) +
                                " joints: 1 to 64 are supported");
  }
  return ~std::uint64_t{0} >> (64 - joints);
}

}  // namespace

EffortCommands::EffortCommands(std::size_t joints)
    : all_joints_(all_bits(joints)),
      handles_(joints),
      names_(joints),
      predecessor_torque_(joints),
      torque_(joints, kNone),
      commands_(joints, kNone) {}

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
  if (started == 0 || after == all_joints_) return "";
  std::string missing;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if ((after >> i & 1) == 0) missing += (missing.empty() ? "" : ", ") + names_[i];
  }
  return std::to_string(std::popcount(after)) + " of " + std::to_string(names_.size()) +
         " effort interfaces claimed, missing " + missing +
         ": the brakes open together, so claim all joints in one controller or one switch";
}

void EffortCommands::switched(const std::vector<std::string>& start,
                              const std::vector<std::string>& stop) noexcept {
  const std::uint64_t started = bits(start), stopped = bits(stop);
  const std::uint64_t before = claimed_, after = (before & ~stopped) | started;
  claimed_ = after;
  if (before == all_joints_ && after == all_joints_) {
    for (std::size_t i = 0; i < predecessor_torque_.size(); ++i) {
      double value = kNone;
      predecessor_torque_[i] = handles_[i]->get_value(value, false) ? value : kNone;
    }
    handed_over_ |= started & stopped;
  } else if (started != 0 && after == all_joints_) {
    erase(all_joints_, kNone);
    // A predecessor that is unknown to the component is deactivated after this.
    events_ |= (started & stopped) != 0 ? kStarted | kErase : kStarted;
  } else if (stopped != 0) {
    events_ |= kStopped;
  }
}

void EffortCommands::erase(std::uint64_t joints, double with) noexcept {
  for (std::size_t i = 0; i < handles_.size(); ++i) {
    if ((joints >> i & 1) != 0) put(handles_[i], with);
  }
}

void EffortCommands::forget() noexcept {
  events_ = 0;
  handed_over_ = 0;
  pending_ = 0;
  engaged_ = torque_seen_ = false;
  age_ = 0;
  std::fill(torque_.begin(), torque_.end(), kNone);
  erase(all_joints_, kNone);
}

void EffortCommands::reset() noexcept {
  claimed_ = 0;
  forget();
}

bool EffortCommands::stopped_while_inactive() noexcept {
  if (events_ == 0 && handed_over_ == 0) return false;
  const bool stopped = (events_ & kStopped) != 0;
  forget();
  return stopped;
}

/// True if all handles could be read; commands of locked ones stay as they were.
bool EffortCommands::read_handles() noexcept {
  bool all = true;
  for (std::size_t i = 0; i < handles_.size(); ++i) {
    double value = kNone;
    if (handles_[i]->get_value(value, false)) {
      commands_[i] = value;
    } else {
      all = false;  // another thread holds the handle
    }
  }
  return all;
}

bool EffortCommands::commanded(std::uint64_t joints) const noexcept {
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    if ((joints >> i & 1) != 0 && !std::isfinite(commands_[i])) return false;
  }
  return true;
}

bool EffortCommands::only_zeros(std::uint64_t joints) const noexcept {
  bool zeros = true, kept = false;
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    if ((joints >> i & 1) == 0) continue;
    zeros = zeros && commands_[i] == 0;
    kept = kept || torque_[i] != 0;
  }
  return zeros && kept;
}

/// Outputs the predecessor's last torque until the successor's first command.
void EffortCommands::begin_handover(std::uint64_t joints) noexcept {
  for (std::size_t i = 0; i < torque_.size(); ++i) {
    const double latest = predecessor_torque_[i];
    if (torque_seen_ && (joints >> i & 1) != 0 && std::isfinite(latest)) torque_[i] = latest;
  }
  erase(joints, torque_seen_ ? ga_controllers::kept_torque() : kNone);
  if (torque_seen_) pending_ |= joints;
  age_ = 0;
}

EffortCommands::Request EffortCommands::next(double period) noexcept {
  const unsigned events = events_.exchange(0);
  const std::uint64_t handed_over = handed_over_.exchange(0);
  const bool all_claimed = claimed_ == all_joints_;
  if ((events & (kStarted | kStopped)) != 0) {
    engaged_ = (events & kStarted) != 0 && all_claimed;
    torque_seen_ = false;
    pending_ = 0;
    age_ = 0;
    std::fill(torque_.begin(), torque_.end(), kNone);
    std::fill(commands_.begin(), commands_.end(), kNone);
    if (!all_claimed || (events & kErase) != 0) erase(all_joints_, kNone);
    if ((events & kStopped) != 0) return Request::kStop;
    if ((events & kErase) != 0) return Request::kNothing;
  }
  if (!engaged_) return Request::kNothing;
  if (handed_over != 0) {
    begin_handover(handed_over);
    return torque_seen_ ? Request::kTorque : Request::kNothing;
  }

  const bool all_read = read_handles();
  if (!torque_seen_) {
    if (!all_read || !commanded(all_joints_)) return Request::kNothing;
    torque_seen_ = true;
  }
  const bool taken_over = all_read && commanded(pending_) && !only_zeros(pending_);
  if (taken_over) pending_ = 0;
  for (std::size_t i = 0; i < torque_.size(); ++i) {
    if ((pending_ >> i & 1) == 0) torque_[i] = commands_[i];
  }
  age_ = all_read && pending_ == 0 ? 0 : age_ + period;
  return Request::kTorque;
}

}  // namespace ga_hardware
