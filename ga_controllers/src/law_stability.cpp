// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "ga_controllers/stability.hpp"
#include "stability_text.hpp"
#include "state_observer.hpp"
#include "uncertain_arm.hpp"

namespace ga_controllers {

using ga_dynamics::Chain;

namespace {

bool integrates(LawKind kind) noexcept {
  return kind == LawKind::kTrackingIntegral || kind == LawKind::kGravityHold;
}

std::string range_text(double lower, double upper) {
  return std::isfinite(upper) ? number(lower) + " to " + number(upper) : "above " + number(lower);
}

/// The line of a report's text that begins with these words, without its final full stop.
std::string line_of(const std::string& text, const std::string& begin) {
  const std::size_t at = text.find("\n" + begin);
  if (at == std::string::npos) return "";
  const std::size_t end = text.find('\n', at + 1);
  std::string line =
      text.substr(at + 1, end == std::string::npos ? std::string::npos : end - at - 1);
  if (!line.empty() && line.back() == '.') line.pop_back();
  return line;
}

std::string remedy_of(const StabilityReport& report) {
  const std::string remedy = line_of(report.text, "Remedy: ");
  return remedy.empty() ? "" : ". " + remedy;
}

/// Warnings that differ in the joint alone, as one each: "joint a, b: …".
std::vector<std::string> merged(const std::vector<std::string>& warnings) {
  const std::string begin = "joint ";
  std::vector<std::string> result;
  std::vector<std::pair<std::string, std::size_t>> seen;  // text after the name, index in result
  for (const std::string& warning : warnings) {
    const std::size_t colon = warning.find(": ");
    if (warning.rfind(begin, 0) != 0 || colon == std::string::npos) {
      result.push_back(warning);
      continue;
    }
    const std::string text = warning.substr(colon), name = warning.substr(0, colon);
    const auto same = std::find_if(seen.begin(), seen.end(),
                                   [&](const auto& other) { return other.first == text; });
    if (same == seen.end()) {
      seen.emplace_back(text, result.size());
      result.push_back(warning);
      continue;
    }
    std::string& joint = result[same->second];
    joint.insert(joint.size() - text.size(), ", " + name.substr(begin.size()));
  }
  return result;
}

std::string summary_of(const StabilityReport& report, const Uncertainty& u, bool too_elastic) {
  const std::string what = u.declared ? "declared" : "assumed";
  if (report.stable.empty()) return "stability: the loop is unstable even with an exact model";
  return "stability: stable for rho " + range_text(report.stable.lower, report.stable.upper) +
         " (eigenvalues of M_real^-1 M_model), " + what + " " +
         range_text(report.rho_low, report.rho_high) + ": " +
         (too_elastic ? "too fast for the elastic drives" : to_string(report.verdict)) +
         "; closed-loop bandwidth " + number(report.bandwidth) + " rad/s";
}

/// "payload 0 to 2.5 kg, masses within 20 %, rotor inertias 0.5 to 2 times the model, 1 cycle of
/// delay".
std::string uncertainty_text(const Uncertainty& u) {
  const std::string payload =
      u.model.payload > 0 ? "payload 0 to " + number(u.model.payload) + " kg" : "no payload";
  return payload + ", masses and inertias within " + number(100 * u.model.mass) +
         " %, rotor inertias " + number(u.model.armature_low) + " to " +
         number(u.model.armature_high) + " times the model, delay " + std::to_string(u.delay) +
         (u.delay == 1 ? " cycle" : " cycles");
}

}  // namespace

bool is_checked(LawKind kind) noexcept {
  return kind != LawKind::kGravityCompensation && kind != LawKind::kHandGuiding;
}

ArmLoop loop_of(LawKind kind, std::span<const JointGains> gains, double rate, int delay,
                std::vector<double> resonance) {
  if (!(rate > 0) || !std::isfinite(rate)) {
    throw std::invalid_argument("loop stability: rate is " + std::to_string(rate) +
                                "; it must be positive and finite");
  }
  ArmLoop loop;
  loop.gains.assign(gains.begin(), gains.end());
  loop.subtracts_disturbance =
      integrates(kind) &&
      std::any_of(gains.begin(), gains.end(), [](const JointGains& g) { return g.ki > 0; });
  for (JointGains g : gains) {
    if (!integrates(kind)) g.ki = 0;
    loop.observer_bandwidth.push_back(observer_bandwidth(g));
  }
  loop.period = 1 / rate;
  loop.delay = delay;
  loop.resonance = std::move(resonance);
  return loop;
}

LawCheck check_law(const Chain& model, LawKind kind, std::span<const JointGains> gains, double rate,
                   const Uncertainty& u, const std::vector<std::vector<double>>& postures) {
  LawCheck check;
  if (!is_checked(kind)) {
    check.summary = kind == LawKind::kHandGuiding
                        ? "stability: hand guiding is not checked"
                        : "stability: gravity compensation is not checked";
    return check;
  }
  const ArmLoop loop = loop_of(kind, gains, rate, u.delay, u.resonance);
  try {
    check.report = check_stability(model, loop, u.model, postures);
  } catch (const SingularInertia& error) {
    // Such arms can be simulated and held; there is no finite loop gain to check.
    check.summary = "stability: not checked";
    check.warnings = {std::string("stability is not checked: ") + error.what()};
    return check;
  }
  const StabilityReport& report = check.report;
  // The limit of elastic drives by itself: an arm without uncertainty has no other reason.
  const double elastic_ratio = [&] {
    double ratio = 0;
    for (std::size_t i = 0; i < model.joints().size() && !loop.resonance.empty(); ++i) {
      const auto of = [&](const auto& list) { return list[list.size() == 1 ? 0 : i]; };
      const double f = of(loop.resonance);
      if (!(f > 0)) continue;
      const double sum = design_bandwidth(of(loop.gains)) + of(loop.observer_bandwidth);
      ratio = std::max(ratio, sum / (2 * std::numbers::pi * f));
    }
    return ratio;
  }();
  check.summary = summary_of(report, u, elastic_ratio > kElasticLimit);
  check.warnings = merged(report.warnings);
  if (report.verdict == StabilityVerdict::kStable) return check;

  const std::string range =
      "the loop is stable for rho " + range_text(report.stable.lower, report.stable.upper) +
      " with a closed-loop bandwidth of " + number(report.bandwidth) + " rad/s; " +
      (u.declared ? "the declared" : "an assumed") + " uncertainty (" + uncertainty_text(u) +
      ") gives rho " + range_text(report.rho_low, report.rho_high);
  if (report.stable.empty()) {
    check.refusal = "these gains are unstable even with an exact model";
    // A lower bandwidth does not help gains that do not fit each other.
    check.refusal +=
        report.bandwidth_factor > 0
            ? remedy_of(report)
            : ". Remedy: raise Kd, or lower Kp and Ki (Kp = w^2, Kd = 2 w, Ki = 0.32 w^3 "
              "for a bandwidth w)";
  } else if (elastic_ratio > kElasticLimit) {
    const auto elastic = std::find_if(
        check.warnings.begin(), check.warnings.end(),
        [](const std::string& text) { return text.find("is accepted") != std::string::npos; });
    check.refusal = "these gains are too fast for the elastic drives: " + *elastic;
    check.warnings.erase(elastic);
  } else if (report.verdict == StabilityVerdict::kUnstable) {
    if (u.declared) {
      check.refusal =
          "these gains are unstable within the declared uncertainty: " + range + remedy_of(report);
    } else {
      check.warnings.insert(check.warnings.begin(),
                            "these gains are unstable if the arm differs from its description as "
                            "much as is assumed: " +
                                range + remedy_of(report) +
                                ". Declare the uncertainty of the arm if it is smaller");
    }
  } else {
    check.warnings.insert(check.warnings.begin(),
                          "these gains are near the limit of stability (a factor of less than 1.5 "
                          "in rho, or a resonance): " +
                              range + remedy_of(report));
  }
  return check;
}

double integral_gain(const JointGains& g, double w) noexcept {
  return g.kp > 0 ? w * w * w * g.kp / (g.kp + 3 * w * (g.kd + w)) : 0;
}

JointGains gains_for_resonance(LawKind kind, const JointGains& gains, double resonance) {
  if (!(resonance >= 0) || !std::isfinite(resonance)) {
    throw std::invalid_argument("resonance is " + std::to_string(resonance) +
                                "; it must be finite and not negative");
  }
  const double limit = kElasticFit * 2 * std::numbers::pi * resonance;
  const bool integral = integrates(kind) && gains.ki > 0;
  const auto sum = [&](JointGains g) {
    if (!integral) g.ki = 0;
    return design_bandwidth(g) + observer_bandwidth(g);
  };
  const double w = design_bandwidth(gains);
  if (resonance == 0 || sum(gains) <= limit || !(w > 0)) return gains;
  const auto scaled = [&](double factor) {
    return JointGains{factor * factor * gains.kp, factor * gains.kd,
                      factor * factor * factor * gains.ki};
  };
  if (integral) {
    const double factor = std::min(1.0, limit / ((1 + kSlowestObserver) * w));
    JointGains result = scaled(factor);
    result.ki = integral_gain(result, limit - factor * w);
    return result;
  }
  double low = 1e-3, high = 1;
  for (int k = 0; k < 50; ++k) {
    const double middle = 0.5 * (low + high);
    (sum(scaled(middle)) <= limit ? low : high) = middle;
  }
  return scaled(low);
}

}  // namespace ga_controllers
