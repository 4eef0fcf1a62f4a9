// SPDX-License-Identifier: Apache-2.0
#include "study/option_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace ga_tools {

void refuse(const char* option, const std::string& value, const std::string& remedy) {
  throw std::runtime_error(std::string(option) + " " + value + ": " + remedy);
}

void in_range(const char* option, double value, double low, double high, const char* unit) {
  if (value >= low && value <= high) return;
  char text[64], remedy[96];
  std::snprintf(text, sizeof text, "%g", value);
  std::snprintf(remedy, sizeof remedy, "give %g to %g%s", low, high, unit);
  refuse(option, text, remedy);
}

namespace {

/// "--friction-error".
std::string option_name(const ga_hardware::DisturbanceOption& option) {
  std::string name = option.name;
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

void check_disturbances(const ga_hardware::Disturbances& d) {
  for (const ga_hardware::DisturbanceOption& option : ga_hardware::disturbance_options()) {
    // Percentages: not more digits than were typed.
    const double displayed = std::round(d.*option.value / option.scale * 1e9) / 1e9;
    const std::string problem = refusal(option, displayed);
    if (problem.empty()) continue;
    char text[64];
    std::snprintf(text, sizeof text, "%g", displayed);
    refuse(option_name(option).c_str(), text, problem);
  }
}

void check_payload_com(const DemonstrationOptions& o) {
  constexpr double kFarthest = 2;  // m
  if (o.payload_com.empty()) return;
  if (o.payload_com.size() != 3) {
    refuse("--payload-com", "with " + std::to_string(o.payload_com.size()) + " values",
           "give x,y,z in m");
  }
  for (const double v : o.payload_com) in_range("--payload-com", v, -kFarthest, kFarthest, " m");
  if (!(o.payload > 0)) refuse("--payload-com", "without --payload", "give the mass as well");
}

}  // namespace

void check_options(const DemonstrationOptions& o) {
  in_range("--rate", o.rate, 50, 20000, " Hz");
  in_range("--bandwidth", o.bandwidth, 0.1, 500, " rad/s");
  in_range("--damping", o.damping, 0.05, 5, "");
  in_range("--friction", o.friction, 0, 1, ", the share that is fed forward");
  in_range("--payload", o.payload, 0, 100, " kg");
  in_range("--noise", o.noise, 0, 0.1, " rad");
  in_range("--settle", o.settle_time, 0.1, 1000, " s");
  check_payload_com(o);
  check_disturbances(o.disturbances);
}

void check_cycles(const DemonstrationOptions& o, double duration) {
  constexpr double kMost = 2e6;
  const double cycles = (duration + o.settle_time) * o.rate;
  if (cycles <= kMost) return;
  char remedy[160];
  if (duration * o.rate > kMost) {
    std::snprintf(remedy, sizeof remedy,
                  "%.6g s of motion are %.3g cycles of %g Hz, more than the %g that a run may "
                  "have; give a shorter motion or lower --rate",
                  duration, duration * o.rate, o.rate, kMost);
    refuse("--trajectory", o.trajectory, remedy);
  }
  std::snprintf(
      remedy, sizeof remedy,
      "%.3g cycles of %g Hz are more than the %g that a run may have; lower --settle or --rate",
      cycles, o.rate, kMost);
  refuse("--settle", std::to_string(o.settle_time), remedy);
}

}  // namespace ga_tools
