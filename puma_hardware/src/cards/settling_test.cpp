// SPDX-License-Identifier: Apache-2.0
#include "cards/settling_test.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace puma_hardware {

namespace {

constexpr int kSettled = 1000;           ///< conversions after which everything has settled
constexpr double kLeastStep = 0.3;       ///< V between the two channels
constexpr double kMostError = 4;         ///< codes
constexpr int kRepetitions = 4;          ///< against noise
constexpr double kLongestTime = 0.8e-3;  ///< s, of a control cycle of 1 ms

class Measurement {
 public:
  Measurement(Pcl818& card, const PortIo& io) : card_(card), io_(io) {}

  double settled(int channel) { return convert(channel, kSettled); }
  bool good() const { return good_; }  ///< all conversions were
  /// Mean error after so many conversions that are discarded.
  double error(int from, int to, int conversions) {
    double sum = 0;
    time_ = std::numeric_limits<double>::infinity();
    for (int k = 0; k < kRepetitions; ++k) {
      const double right = settled(to);
      settled(from);
      const std::int64_t begin = io_.now_ns();
      sum += convert(to, conversions) - right;
      const double time = 1e-9 * static_cast<double>(io_.now_ns() - begin);
      time_ = std::min(time_, time * conversions / (conversions + 1));
    }
    return std::abs(sum / kRepetitions);
  }
  /// s of the discarded conversions, without pauses of the process.
  double time() const { return time_; }

 private:
  double convert(int channel, int conversions) {
    const AdSample sample = card_.convert(channel, conversions);
    good_ = good_ && sample.status == AdStatus::kOk;
    return sample.volts;
  }

  Pcl818& card_;
  const PortIo& io_;
  double time_ = 0;
  bool good_ = true;
};

}  // namespace

SettlingReport test_settling(Pcl818& card, const Pcl818Settings& settings, const PortIo& io) {
  Measurement measurement(card, io);
  std::size_t low = 0, high = 0;
  std::array<double, 6> volts{};
  for (std::size_t joint = 0; joint < 6; ++joint) {
    volts[joint] = measurement.settled(settings.pot_channel[joint]);
    if (volts[joint] < volts[low]) low = joint;
    if (volts[joint] > volts[high]) high = joint;
  }
  const double step = volts[high] - volts[low];
  const int from = settings.pot_channel[low], to = settings.pot_channel[high];
  SettlingReport report;
  char text[320];
  if (!measurement.good()) {
    report.text = "settling is not tested: conversions do not end or give another channel";
    return report;
  }
  if (!(step >= kLeastStep)) {
    std::snprintf(text, sizeof text,
                  "settling is not tested: the potentiometers differ by %.2f V, it takes %.1f",
                  step, kLeastStep);
    report.text = text;
    return report;
  }
  report.tested = true;
  const double allowed = kMostError * card.volts_per_code();
  report.needed = card.settling();
  report.error = measurement.error(from, to, report.needed);
  double error = report.error;
  while (!(error <= allowed) && report.needed < kSettled) {
    report.needed = report.needed == 0 ? 1 : report.needed * 2;
    error = measurement.error(from, to, report.needed);
  }
  report.needed_time = measurement.time();
  const bool slow = report.needed_time > kLongestTime || report.needed >= kSettled;
  report.good = report.needed == card.settling() && !slow;
  const double us = 1e6 * report.needed_time;
  if (report.good) {
    std::snprintf(text, sizeof text,
                  "settles within %d conversions (%.0f us) after a step of %.2f V", report.needed,
                  us, step);
  } else if (slow) {
    std::snprintf(text, sizeof text,
                  "cannot read the potentiometers in the control loop: after a change from channel "
                  "%d to %d the voltage is still %.2f V off, and settles in %.1f ms, a cycle has "
                  "1 ms. Lower the resistance of what is connected, or check its ground",
                  from, to, report.error, us / 1000);
  } else {
    std::snprintf(text, sizeof text,
                  "settles too slowly for pcl818.settling_conversions (%d): after a change from "
                  "channel %d to %d the voltage is still %.2f V off. Set "
                  "pcl818.settling_conversions to %d (%.0f us)",
                  card.settling(), from, to, report.error, report.needed, us);
  }
  report.text = text;
  return report;
}

}  // namespace puma_hardware
