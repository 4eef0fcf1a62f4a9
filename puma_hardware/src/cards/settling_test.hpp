// SPDX-License-Identifier: Apache-2.0
#ifndef CARDS__SETTLING_TEST_HPP_
#define CARDS__SETTLING_TEST_HPP_

// How fast the PCL-818's input settles after a change of channel, which depends on the card and on the
// resistance of what is connected. Too slow, and each potentiometer reads a part of the one before.

#include <string>

#include "cards/pcl818.hpp"

namespace puma_hardware {

struct SettlingReport {
  bool tested = false;  ///< false: the potentiometers' voltages are too close to each other
  bool good = true;
  double error = 0;        ///< V, after the settling conversions of the settings
  int needed = 0;          ///< conversions that settle it
  double needed_time = 0;  ///< s that these take
  std::string text;        ///< for people: what was found, and the remedy
};

/// Measures between the two potentiometers that differ most. Takes up to two seconds; the arm must be
/// at rest. Not for the control loop.
SettlingReport test_settling(Pcl818& card, const Pcl818Settings& settings, const PortIo& io);

}  // namespace puma_hardware

#endif  // CARDS__SETTLING_TEST_HPP_
