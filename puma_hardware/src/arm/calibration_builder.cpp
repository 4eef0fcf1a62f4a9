// SPDX-License-Identifier: Apache-2.0
#include "arm/calibration_builder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

namespace puma_hardware {

namespace {

/// As CalibrationTable::validate() demands.
constexpr std::size_t kLeastPulses = 4;
/// Counts by which the distance of two index pulses may differ from whole turns.
constexpr std::int64_t kPulseTolerance = 1;
/// Share of the expected slope below which a potentiometer is taken to be at its stop.
constexpr double kSlopeAtEnd = 0.6;
/// Motor turns beyond the joint limits.
constexpr double kSpareTurns = 8;
/// rad/s² of the motor per rad/s: full speed after a quarter of a second.
constexpr double kAcceleration = 4;

}  // namespace

CalibrationBuilder::CalibrationBuilder(const ArmSettings& settings)
    : settings_(settings), gravity_(settings) {
  const WristCoupling& c = settings.coupling;
  std::array<double, 6> reach;
  for (std::size_t i = 0; i < 6; ++i) {
    const JointSettings& joint = settings.joints[i];
    reach[i] = std::max(std::abs(joint.lower), std::abs(joint.upper));
  }
  reach[4] += std::abs(c.c54) * reach[3];
  reach[5] += std::abs(c.c64) * reach[3] + std::abs(c.c65) * reach[4];
  for (std::size_t i = 0; i < 6; ++i) {
    const double turns =
        reach[i] * settings.joints[i].gear_ratio / (2 * std::numbers::pi) + kSpareTurns;
    const auto bins = static_cast<std::int64_t>(std::ceil(turns * kBinsPerTurn));
    joints_[i].first_bin = -bins;
    joints_[i].bins.resize(static_cast<std::size_t>(2 * bins));
    joints_[i].pulses.reserve(kMostPulses);
  }
}

std::int64_t CalibrationBuilder::bin_of(std::size_t i, double count) const noexcept {
  const double width = settings_.joints[i].counts_per_rev / kBinsPerTurn;
  return static_cast<std::int64_t>(std::floor(count / width)) - joints_[i].first_bin;
}

void CalibrationBuilder::add(const PumaArm& arm) noexcept {
  const ArmReading& reading = arm.reading();
  const std::array<double, 6> counts = arm.true_counts();
  gravity_.add(reading);
  for (std::size_t i = 0; i < 6; ++i) {
    Joint& joint = joints_[i];
    const std::int64_t forward =
        settings_.joints[i].encoder_direction * (reading.counts[i] - joint.last_count);
    if (joint.started && reading.index_seen[i] && forward > 0) {
      ++joint.seen;
      const auto offset = std::llround(counts[i] - static_cast<double>(reading.counts[i]));
      if (joint.pulses.size() < kMostPulses) {
        joint.pulses.push_back(reading.index_count[i] + offset);
      }
    }
    joint.last_count = reading.counts[i];
    joint.started = true;
    const std::int64_t bin = bin_of(i, counts[i]);
    if (reading.pot_fresh[i] && bin >= 0 && bin < static_cast<std::int64_t>(joint.bins.size())) {
      Bin& into = joint.bins[static_cast<std::size_t>(bin)];
      into.counts += counts[i];
      into.volts += reading.pot_volts[i];
      ++into.samples;
    }
  }
}

/// Sorted, each turn once.
std::vector<std::int64_t> CalibrationBuilder::distinct_pulses(std::size_t i) const {
  const JointSettings& joint = settings_.joints[i];
  const auto per_rev = static_cast<std::int64_t>(joint.counts_per_rev);
  std::vector<std::int64_t> sorted = joints_[i].pulses;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int64_t> distinct;
  for (const std::int64_t pulse : sorted) {
    if (distinct.empty()) {
      distinct.push_back(pulse);
      continue;
    }
    const std::int64_t distance = pulse - distinct.front();
    const std::int64_t turns = (distance + per_rev / 2) / per_rev;
    if (std::abs(distance - turns * per_rev) > kPulseTolerance) {
      throw CardError(joint.name + ": index pulses at counts " + std::to_string(distinct.front()) +
                      " and " + std::to_string(pulse) + " are not whole turns of " +
                      std::to_string(per_rev) +
                      " counts apart; check encoder_counts_per_rev, and the wiring of encoder and "
                      "index for noise");
    }
    const std::int64_t exact = distinct.front() + turns * per_rev;
    if (exact != distinct.back()) distinct.push_back(exact);
  }
  return distinct;
}

/// Line fitted to the samples around the pulse; false if there are too few.
bool CalibrationBuilder::volts_around(std::size_t i, std::int64_t pulse, double& volts,
                                      double& slope) const {
  const Joint& joint = joints_[i];
  const auto at = static_cast<double>(pulse);
  const std::int64_t middle = bin_of(i, at);
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (std::int64_t k = middle - kBinsPerTurn / 2; k <= middle + kBinsPerTurn / 2; ++k) {
    if (k < 0 || k >= static_cast<std::int64_t>(joint.bins.size())) continue;
    const Bin& bin = joint.bins[static_cast<std::size_t>(k)];
    if (bin.samples == 0) continue;
    const double u = bin.counts / bin.samples - at, v = bin.volts / bin.samples;
    n += 1;
    x += u;
    y += v;
    xx += u * u;
    xy += u * v;
  }
  const double spread = n * xx - x * x;
  if (n < 3 || spread <= 0) return false;
  slope = (n * xy - x * y) / spread;
  volts = (y - slope * x) / n;
  return true;
}

JointTable CalibrationBuilder::build(std::size_t i) const {
  const JointSettings& joint = settings_.joints[i];
  const double expected = joint.encoder_direction * joint.pot_direction * joint.pot_volts_per_rev /
                          joint.counts_per_rev;
  // The longest sequence of pulses at which the potentiometer moves.
  std::vector<IndexEntry> run, longest;
  for (const std::int64_t pulse : distinct_pulses(i)) {
    double volts = 0, slope = 0;
    if (!volts_around(i, pulse, volts, slope)) continue;
    if (slope / expected < kSlopeAtEnd) {
      run.clear();
      continue;
    }
    run.push_back({pulse, volts});
    if (run.size() > longest.size()) longest = run;
  }
  if (longest.size() < kLeastPulses) {
    throw CardError(
        joint.name + ": " + std::to_string(joints_[i].seen) +
        " index pulses were seen in positive motion, at " + std::to_string(longest.size()) +
        " of them the potentiometer moved as expected; at least " + std::to_string(kLeastPulses) +
        " are needed: move "
        "the joint further, check the index wire, pot_direction and "
        "pcl818.pot_channel");
  }
  return {longest};
}

CalibrationTable CalibrationBuilder::finish() const {
  CalibrationTable table;
  for (std::size_t i = 0; i < 6; ++i) table.joints[i] = build(i);
  table.validate(settings_);
  return table;
}

Sweep::Sweep(const ArmSettings& settings, const std::array<double, 6>& start,
             const std::array<double, 6>& low, const std::array<double, 6>& high,
             double turns_per_second) noexcept
    : start_(start), low_(low), high_(high), q_(start) {
  for (std::size_t i = 0; i < 6; ++i) {
    speed_[i] = speed_of(settings.joints[i], turns_per_second);
  }
  start_leg();
}

double Sweep::speed_of(const JointSettings& joint, double turns_per_second) noexcept {
  return turns_per_second * 2 * std::numbers::pi / joint.gear_ratio;
}

void Sweep::start_leg() noexcept {
  const double ends[] = {start_[joint_], low_[joint_], high_[joint_], start_[joint_]};
  const double from = ends[leg_], to = ends[leg_ + 1];
  profile_.start(from, to, speed_[joint_], kAcceleration * speed_[joint_]);
}

void Sweep::advance(double dt) noexcept {
  if (done()) return;
  profile_.advance(dt);
  q_[joint_] = profile_.position();
  qd_[joint_] = profile_.velocity();
  qdd_[joint_] = profile_.acceleration();
  if (!profile_.done()) return;
  qd_[joint_] = qdd_[joint_] = 0;
  if (++leg_ == 3) {
    leg_ = 0;
    if (++joint_ == 6) return;
  }
  start_leg();
}

double Sweep::progress() const noexcept {
  if (done()) return 1;
  return (static_cast<double>(joint_) + (leg_ + profile_.progress()) / 3) / 6;
}

}  // namespace puma_hardware
