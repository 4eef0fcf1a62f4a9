// SPDX-License-Identifier: Apache-2.0

// The bus: address decoding, clock, lock, log of illegal accesses, and the arm's side of the cards.

#include "emulator/emulated_cards.hpp"

#include <algorithm>
#include <cerrno>

#include "emulator/cards_state.hpp"

namespace puma_hardware::emulator {

namespace {

constexpr std::int64_t kAccessNs = 1000;  // about that of the ISA bus

const char* reason_text(Illegal reason) {
  switch (reason) {
    case Illegal::kNoCard:
      return "there is no card at this address";
    case Illegal::kUnlisted:
      return "no source lists this register";
    case Illegal::kWriteOnly:
      return "the register cannot be read";
    case Illegal::kReadOnly:
      return "the register cannot be written";
    case Illegal::kNotEmulated:
      return "the emulator does not support this function of the card";
    case Illegal::kValue:
      return "no source lists this value for the register";
    case Illegal::kAdNotReady:
      return "A/D data read before the end of conversion";
    case Illegal::kAdBusy:
      return "A/D triggered during a conversion";
    case Illegal::kAdTriggerSource:
      return "A/D triggered by software while the control register selects another trigger";
    case Illegal::kAdMuxDisturbed:
      return "A/D triggered after a range was written without writing the multiplexer again";
    case Illegal::kDacOrder:
      return "D/A bytes written in the wrong order";
    case Illegal::kCounterOrder:
      return "counter bytes read in another order than +2, +0, +1";
  }
  return "unknown";
}

std::int64_t bus_ns(const CardsState& state) noexcept {
  return state.wall_clock ? monotonic_ns() : state.time_ns;
}

enum class Card { kNone, kMissing, k818, k726, k833a, k833b };

/// The card at the address, and the register offset.
Card find_card(const CardsState& state, std::uint16_t port, unsigned& offset) noexcept {
  const CardSettings& s = state.settings;
  const bool fifo =
      s.pcl818.variant == Pcl818Variant::k818HD || s.pcl818.variant == Pcl818Variant::k818HG;
  const auto within = [&](std::uint16_t base, unsigned size) {
    offset = static_cast<unsigned>(port) - base;
    return port >= base && offset < size;
  };
  const auto unless = [&](CardFault missing, Card card) {
    return state.faulty(missing) ? Card::kMissing : card;
  };
  if (within(s.pcl818.base, fifo ? 32 : 16)) return unless(CardFault::kMissing818, Card::k818);
  if (within(s.pcl726.base, 16)) return unless(CardFault::kMissing726, Card::k726);
  if (within(s.pcl833.base[0], 16)) return unless(CardFault::kMissing833a, Card::k833a);
  if (within(s.pcl833.base[1], 16)) return unless(CardFault::kMissing833b, Card::k833b);
  return Card::kNone;
}

Access begin_access(CardsState& state, std::uint16_t port, bool write, std::uint8_t value) {
  ++state.accesses;
  state.time_ns += kAccessNs;
  return {port, 0, write, value, bus_ns(state)};
}

bool is_joint(int joint) noexcept { return joint >= 0 && joint < 6; }

bool of_a_joint(CardFault fault) noexcept { return fault >= CardFault::kEncoderFrozen; }

}  // namespace

CardsLock::CardsLock(CardsState& state) noexcept : state_(state) {
  if (pthread_mutex_lock(&state_.mutex) == EOWNERDEAD) {
    pthread_mutex_consistent(&state_.mutex);
    ++state_.lock_recoveries;
  }
}

CardsLock::~CardsLock() { pthread_mutex_unlock(&state_.mutex); }

void record(CardsState& state, const Access& access, Illegal reason) noexcept {
  IllegalLog& log = state.illegal;
  ++log.total;
  const auto end = log.records.begin() + log.used;
  auto found = std::find_if(log.records.begin(), end, [&](const IllegalRecord& r) {
    return r.port == access.port && r.write == access.write && r.reason == reason;
  });
  if (found == end) {
    found = log.records.begin() + log.next;
    *found = {access.now_ns, 0, access.port, 0, access.write, reason};
    log.next = (log.next + 1) % static_cast<std::uint32_t>(log.records.size());
    log.used = std::min(log.used + 1, static_cast<std::uint32_t>(log.records.size()));
  }
  ++found->count;
  found->value = access.value;
}

std::uint8_t EmulatedCards::read(std::uint16_t port) noexcept {
  CardsState& state = *state_;
  const CardsLock lock(state);
  Access access = begin_access(state, port, false, 0);
  switch (find_card(state, port, access.offset)) {
    case Card::k818:
      return read_pcl818(state, access);
    case Card::k726:
      return read_pcl726(state, access);
    case Card::k833a:
      return read_pcl833(state, 0, access);
    case Card::k833b:
      return read_pcl833(state, 1, access);
    case Card::kNone:
      record(state, access, Illegal::kNoCard);
      break;
    case Card::kMissing:
      break;
  }
  return 0xFF;
}

void EmulatedCards::write(std::uint16_t port, std::uint8_t value) noexcept {
  CardsState& state = *state_;
  const CardsLock lock(state);
  Access access = begin_access(state, port, true, value);
  switch (find_card(state, port, access.offset)) {
    case Card::k818:
      return write_pcl818(state, access);
    case Card::k726:
      return write_pcl726(state, access);
    case Card::k833a:
      return write_pcl833(state, 0, access);
    case Card::k833b:
      return write_pcl833(state, 1, access);
    case Card::kNone:
      return record(state, access, Illegal::kNoCard);
    case Card::kMissing:
      return;
  }
}

std::int64_t EmulatedCards::now_ns() const noexcept {
  if (state_->wall_clock) return monotonic_ns();
  const CardsLock lock(*state_);
  return state_->time_ns;
}

void EmulatedCards::advance(std::int64_t ns) noexcept {
  const CardsLock lock(*state_);
  state_->time_ns += std::max<std::int64_t>(ns, 0);
}

void EmulatedCards::advance_to(std::int64_t ns) noexcept {
  const CardsLock lock(*state_);
  state_->time_ns = std::max(state_->time_ns, ns);
}

void EmulatedCards::set_encoder(int joint, std::int64_t count, int counts_per_rev,
                                int index_phase) noexcept {
  if (!is_joint(joint)) return;
  const CardsLock lock(*state_);
  move_encoder(*state_, joint, count, counts_per_rev, index_phase);
}

void EmulatedCards::place_encoder(int joint, std::int64_t count) noexcept {
  if (!is_joint(joint)) return;
  const CardsLock lock(*state_);
  const auto wire =
      static_cast<std::size_t>(state_->settings.pcl833.channel[static_cast<std::size_t>(joint)]);
  state_->pcl833[wire / 3].channels[wire % 3].position = count;
}

void EmulatedCards::set_pot_volts(int joint, double volts) noexcept {
  if (!is_joint(joint)) return;
  const CardsLock lock(*state_);
  state_->pot_volts[static_cast<std::size_t>(joint)] = volts;
  update_inputs(*state_);
}

void EmulatedCards::set_thermal(int joint, bool hot) noexcept {
  if (!is_joint(joint)) return;
  const CardsLock lock(*state_);
  state_->hot[static_cast<std::size_t>(joint)] = hot;
  update_inputs(*state_);
}

double EmulatedCards::output_volts(int joint) const noexcept {
  if (!is_joint(joint)) return 0;
  const CardsLock lock(*state_);
  const Pcl726Settings& settings = state_->settings.pcl726;
  const auto channel = static_cast<std::size_t>(settings.channel[static_cast<std::size_t>(joint)]);
  return emulator::output_volts(settings, state_->pcl726.channels[channel].code);
}

bool EmulatedCards::digital_output(int bit) const noexcept {
  if (bit < 0 || bit > 15) return false;
  const CardsLock lock(*state_);
  return (state_->pcl726.outputs >> bit & 1) != 0;
}

std::int64_t EmulatedCards::digital_output_changed_ns(int bit) const noexcept {
  if (bit < 0 || bit > 15) return 0;
  const CardsLock lock(*state_);
  return state_->pcl726.output_changed_ns[static_cast<std::size_t>(bit)];
}

void EmulatedCards::set_digital_input(int bit, bool high) noexcept {
  if (bit < 0 || bit > 15) return;
  const CardsLock lock(*state_);
  std::uint16_t& inputs = state_->pcl726.inputs;
  const int mask = 1 << bit;
  inputs = static_cast<std::uint16_t>(high ? inputs | mask : inputs & ~mask);
}

void EmulatedCards::set_hand_switches(bool power, bool brakes_open) noexcept {
  const CardsLock lock(*state_);
  state_->hand_power = power;
  state_->hand_brakes = brakes_open;
}

void EmulatedCards::turn_by_hand(int joint, double rad) noexcept {
  if (!is_joint(joint)) return;
  const CardsLock lock(*state_);
  state_->hand_turn[static_cast<std::size_t>(joint)] += rad;
}

double EmulatedCards::take_turn(int joint, double most) noexcept {
  if (!is_joint(joint)) return 0;
  const CardsLock lock(*state_);
  double& left = state_->hand_turn[static_cast<std::size_t>(joint)];
  const double taken = std::clamp(left, -most, most);
  left -= taken;
  return taken;
}

void EmulatedCards::set_own_wiring() noexcept {
  const CardsLock lock(*state_);
  state_->own_wiring = true;
}

const CardBehavior& EmulatedCards::behavior() const noexcept { return state_->behavior; }

bool EmulatedCards::amplifier_dead(int joint) const noexcept {
  if (!is_joint(joint)) return false;
  const CardsLock lock(*state_);
  return state_->faulty(CardFault::kAmplifierDead, joint);
}

bool EmulatedCards::hand_power() const noexcept {
  const CardsLock lock(*state_);
  return state_->hand_power;
}

bool EmulatedCards::hand_brakes_open() const noexcept {
  const CardsLock lock(*state_);
  return state_->hand_brakes;
}

bool EmulatedCards::chain_closed() const noexcept {
  const CardsLock lock(*state_);
  return !state_->faulty(CardFault::kPowerLost);
}

std::int64_t EmulatedCards::last_output_change_ns() const noexcept {
  const CardsLock lock(*state_);
  return state_->pcl726.changed_ns;
}

void EmulatedCards::publish(const ArmTruth& truth) noexcept {
  const CardsLock lock(*state_);
  state_->truth = truth;
}

ArmTruth EmulatedCards::truth() const noexcept {
  const CardsLock lock(*state_);
  return state_->truth;
}

void EmulatedCards::inject(CardFault fault, int joint) noexcept {
  if (!is_joint(joint)) return;
  const CardsLock lock(*state_);
  CardsState& state = *state_;
  if (fault == CardFault::kEncoderJump) {
    jump_encoder(state, joint, 4096);
    return;
  }
  const int bit = of_a_joint(fault) ? joint : 0;
  if (fault == CardFault::kPotStuck && !state.faulty(fault, joint)) {
    const auto j = static_cast<std::size_t>(joint);
    state.pot_stuck_volts[j] = state.pot_volts[j];
  }
  std::uint8_t& bits = state.faults[static_cast<std::size_t>(fault)];
  bits = static_cast<std::uint8_t>(bits | 1u << bit);
  update_inputs(state);
}

void EmulatedCards::clear(CardFault fault, int joint) noexcept {
  if (!is_joint(joint)) return;
  const CardsLock lock(*state_);
  const int bit = of_a_joint(fault) ? joint : 0;
  std::uint8_t& bits = state_->faults[static_cast<std::size_t>(fault)];
  bits = static_cast<std::uint8_t>(bits & ~(1u << bit));
  update_inputs(*state_);
}

void EmulatedCards::clear_faults() noexcept {
  const CardsLock lock(*state_);
  state_->faults = {};
  update_inputs(*state_);
}

std::uint64_t EmulatedCards::accesses() const noexcept {
  const CardsLock lock(*state_);
  return state_->accesses;
}

std::vector<IllegalAccess> EmulatedCards::illegal_accesses() const {
  IllegalLog log;
  {
    const CardsLock lock(*state_);
    log = state_->illegal;
  }
  std::vector<IllegalAccess> accesses;
  for (std::uint32_t i = 0; i < log.used; ++i) {
    const IllegalRecord& r = log.records[i];
    accesses.push_back({r.port, r.write, r.value, reason_text(r.reason), r.count, r.first_ns});
  }
  return accesses;
}

std::uint64_t EmulatedCards::illegal_access_count() const noexcept {
  const CardsLock lock(*state_);
  return state_->illegal.total;
}

void EmulatedCards::clear_illegal_accesses() noexcept {
  const CardsLock lock(*state_);
  state_->illegal = {};
}

std::uint64_t EmulatedCards::lock_recoveries() const noexcept {
  const CardsLock lock(*state_);
  return state_->lock_recoveries;
}

CardsState& EmulatedCards::state() noexcept { return *state_; }

}  // namespace puma_hardware::emulator
