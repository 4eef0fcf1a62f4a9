// SPDX-License-Identifier: Apache-2.0
#include "stability_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace ga_controllers {

namespace {

std::string in_brackets(const std::vector<double>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.2f", values[i]);
    text += (i > 0 ? ", " : "") + std::string(digits);
  }
  return text + "]";
}

/// "40 rad/s", or "20 to 60 rad/s" for different ones.
template <class Value>
std::string span_of(const std::vector<LoopSettings>& loops, double factor, const Value& value) {
  double low = value(loops[0]), high = low;
  for (const LoopSettings& loop : loops) {
    low = std::min(low, value(loop));
    high = std::max(high, value(loop));
  }
  const std::string unit = " rad/s";
  if (number(low) == number(high)) return number(factor * low) + unit;
  return number(factor * low) + " to " + number(factor * high) + unit;
}

std::string bandwidths(const std::vector<LoopSettings>& loops, double factor) {
  const auto law = [](const LoopSettings& loop) { return design_bandwidth(loop.gains); };
  const auto observer = [](const LoopSettings& loop) { return loop.observer_bandwidth; };
  return "bandwidth " + span_of(loops, factor, law) + " and observer bandwidth " +
         span_of(loops, factor, observer);
}

std::string rate(double period) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.5g", 1 / period);
  return digits;
}

std::string range(double lower, double upper) {
  return std::isfinite(upper) ? number(lower) + " to " + number(upper) : "above " + number(lower);
}

std::string remedies(const StabilityReport& report, const ModelUncertainty& uncertainty,
                     const StabilityFindings& findings) {
  std::vector<std::string> options;
  if (report.bandwidth_factor > 0 && report.bandwidth_factor < 1)
    options.push_back("lower the gains to " + bandwidths(findings.loops, report.bandwidth_factor));
  const bool yields = findings.stiff_bandwidth > 0;
  if (report.bandwidth_factor == 0)
    options.push_back("no lower bandwidth helps; reduce the uncertainty");
  if (findings.payload >= 0)
    options.push_back("set the payload so that at most " + number(findings.payload) +
                      " kg of it are unknown");
  if ((findings.too_low || yields) && !findings.without_armature.empty())
    options.push_back("declare the rotor inertia (parameter armature) of " +
                      list(findings.without_armature));
  if (findings.too_high && uncertainty.armature_low < 1)
    options.push_back("measure the rotor inertias and declare a smaller uncertainty of them");
  if (yields)
    options.push_back("raise the bandwidth to " + number(findings.stiff_bandwidth) +
                      " rad/s: gravity of an unknown mass nearly reaches the stiffness, or "
                      "exceeds it");
  if (options.empty()) return "";
  std::string text = "Remedy: ";
  for (std::size_t i = 0; i < options.size(); ++i) text += (i > 0 ? "; or " : "") + options[i];
  return text + ".\n";
}

}  // namespace

std::string number(double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.3g", value);
  return digits;
}

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) text += (i > 0 ? ", " : "") + names[i];
  return text;
}

std::string to_string(StabilityVerdict verdict) {
  switch (verdict) {
    case StabilityVerdict::kStable:
      return "stable";
    case StabilityVerdict::kMarginal:
      return "marginal";
    case StabilityVerdict::kUnstable:
      return "unstable";
  }
  return "unknown";
}

void describe(StabilityReport& report, const ModelUncertainty& uncertainty,
              const StabilityFindings& findings) {
  const LoopSettings& first = findings.loops.front();
  std::string text = "The control loop is " + to_string(report.verdict) + ": " +
                     bandwidths(findings.loops, 1) + ", " + rate(first.period) + " Hz, " +
                     std::to_string(first.delay) + (first.delay == 1 ? " cycle" : " cycles") +
                     " of delay.\n";
  if (findings.unstable_model) {
    text += "It is unstable even with an exact model.\n";
  } else {
    text += "It is stable for rho = " + range(report.stable.lower, report.stable.upper) +
            " (eigenvalues of M_real^-1 M_model); closed-loop bandwidth " +
            number(report.bandwidth) + " rad/s (" +
            number(report.bandwidth / (2 * std::numbers::pi)) + " Hz).\n";
  }
  text += "The declared uncertainty (payload 0 to " + number(uncertainty.payload) +
          " kg, masses and inertias within " + number(100 * uncertainty.mass) +
          " %, rotor inertias " + number(uncertainty.armature_low) + " to " +
          number(uncertainty.armature_high) +
          " times the model) gives rho = " + range(report.rho_low, report.rho_high) + ".\n";
  text += "Smallest rho: largest payload, masses and rotor inertias, at q = " +
          in_brackets(report.posture_low) + "; joint " + report.joint_low + " moves most.\n";
  text += "Largest rho: no payload, smallest masses and rotor inertias, at q = " +
          in_brackets(report.posture_high) + "; joint " + report.joint_high + " moves most.\n";
  if (report.verdict != StabilityVerdict::kStable) text += remedies(report, uncertainty, findings);
  for (const std::string& warning : report.warnings) text += "Warning: " + warning + "\n";
  text.pop_back();
  report.text = text;
}

}  // namespace ga_controllers
