// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "ga_tools/closed_loop.hpp"

namespace ga_tools {

using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;

namespace {

template <class... Values>
std::string text(const char* format, const Values&... values) {
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

const char* angle_unit(bool revolute) { return revolute ? "rad" : "m"; }
const char* effort_unit(bool revolute) { return revolute ? "N m" : "N"; }

/// The first time at which a joint is far from its reference, or kept from it by a stop or its
/// torque limit.
std::optional<Verdict> lost(const RunRecording& r, const ChainJoint& joint, std::size_t i,
                            const VerdictThresholds& t) {
  const double far = joint.revolute() ? t.lost_angle : t.lost_distance;
  const char* const unit = angle_unit(joint.revolute());
  double stuck_since = -1;
  for (std::size_t k = 0; k < r.time.size(); ++k) {
    const double q = r.q[i][k], error = std::abs(q - r.q_ref[i][k]);
    if (error > far) {
      return Verdict{RunState::kLost, i, r.time[k],
                     text("joint '%s' is %.3g %s from its reference (threshold %.3g %s)",
                          joint.name.c_str(), error, unit, far, unit)};
    }
    const bool at_limit = std::abs(r.tau[i][k]) >= t.at_limit * joint.limits.effort;
    const bool at_stop = q <= joint.limits.lower || q >= joint.limits.upper;
    if (!(error > t.stuck_error && (at_limit || at_stop))) {
      stuck_since = -1;
      continue;
    }
    if (stuck_since < 0) stuck_since = r.time[k];
    if (r.time[k] - stuck_since < t.stuck_time) continue;
    return Verdict{
        RunState::kLost, i, stuck_since,
        text("joint '%s' is %.3g %s from its reference, %s", joint.name.c_str(), error, unit,
             at_stop ? text("on its stop at %.4g %s", q, unit).c_str()
                     : text("at its torque limit of %.4g %s", joint.limits.effort,
                            effort_unit(joint.revolute()))
                           .c_str())};
  }
  return std::nullopt;
}

/// A joint with a steady-state error: off its goal in all samples from `begin` on.
std::optional<Verdict> beside_goal(const RunRecording& r, const ChainJoint& joint, std::size_t i,
                                   std::size_t begin, const VerdictThresholds& t) {
  const double most = joint.revolute() ? t.rest_angle : t.rest_distance;
  if (begin == r.time.size()) return std::nullopt;
  for (std::size_t k = begin; k < r.time.size(); ++k) {
    if (!(std::abs(r.q[i][k] - r.q_ref[i][k]) > most)) return std::nullopt;
  }
  const char* const unit = angle_unit(joint.revolute());
  return Verdict{
      RunState::kLost, i, r.time[begin],
      text("joint '%s' is %.3g %s from its goal at rest (threshold %.3g %s): the law is "
           "too weak for what it has to move, or the settling time is too short",
           joint.name.c_str(), std::abs(r.q[i].back() - r.q_ref[i].back()), unit, most, unit)};
}

/// Bang-bang torque: from one limit to the other and back, many times in a short time.
std::optional<Verdict> bangs(const RunRecording& r, const ChainJoint& joint, std::size_t i,
                             const VerdictThresholds& t) {
  const double limit = t.at_limit * joint.limits.effort;
  std::vector<double> jumps;
  int side = 0;
  for (std::size_t k = 0; k < r.time.size(); ++k) {
    const double tau = r.tau[i][k];
    if (!(std::abs(tau) >= limit)) continue;
    const int now = tau > 0 ? 1 : -1;
    if (side == -now) jumps.push_back(r.time[k]);
    side = now;
    const auto needed = static_cast<std::size_t>(t.limit_jumps);
    if (jumps.size() < needed) continue;
    const double first = jumps[jumps.size() - needed];
    if (jumps.back() - first > t.limit_window) continue;
    return Verdict{
        RunState::kOscillating, i, first,
        text("the torque of joint '%s' jumps between its limits of +-%.4g %s, %d times in %.3g s",
             joint.name.c_str(), joint.limits.effort, effort_unit(joint.revolute()), t.limit_jumps,
             jumps.back() - first)};
  }
  return std::nullopt;
}

/// Oscillation of the position or the torque in the samples from `begin` on.
std::optional<Verdict> swings_at_rest(const RunRecording& r, const ChainJoint& joint, std::size_t i,
                                      std::size_t begin, const JointSignals& signals,
                                      const VerdictThresholds& t) {
  const auto at_rest = [begin](const std::vector<double>& values) {
    return std::span(values).subspan(begin);
  };
  double least = std::max(t.swing, t.swing_noise * signals.noise);
  if (signals.counts_per_rad > 0) least = std::max(least, t.swing_counts / signals.counts_per_rad);
  const Swings motion = swings_of(at_rest(r.time), at_rest(r.q[i]), least);
  if (motion.turns >= t.turns && motion.lasting >= t.lasting) {
    const double milli = 1e3;
    return Verdict{
        RunState::kOscillating, i, motion.first,
        text("joint '%s' oscillates at rest, by %.3g m%s at %.3g Hz (threshold %.3g m%s)",
             joint.name.c_str(), milli * motion.mean, angle_unit(joint.revolute()),
             motion.frequency, milli * least, angle_unit(joint.revolute()))};
  }
  if (!std::isfinite(joint.limits.effort)) return std::nullopt;
  const Swings torque =
      swings_of(at_rest(r.time), at_rest(r.tau[i]), t.torque_swing * joint.limits.effort);
  if (torque.turns >= t.torque_turns && torque.lasting >= t.lasting) {
    return Verdict{
        RunState::kOscillating, i, torque.first,
        text(
            "the torque of joint '%s' swings by %.3g %s at %.3g Hz at rest; its limit is %.4g %s%s",
            joint.name.c_str(), torque.mean, effort_unit(joint.revolute()), torque.frequency,
            joint.limits.effort, effort_unit(joint.revolute()),
            signals.noise > 0 ? " (the positions are noisy)" : "")};
  }
  return std::nullopt;
}

}  // namespace

std::string to_string(RunState state) {
  switch (state) {
    case RunState::kOk:
      return "ok";
    case RunState::kFault:
      return "fault";
    case RunState::kDiverged:
      return "diverged";
    case RunState::kLost:
      return "reference lost";
    case RunState::kOscillating:
      return "oscillating";
  }
  return "unknown";
}

std::string describe(const Verdict& verdict) {
  if (verdict.ok()) return to_string(verdict.state);
  return to_string(verdict.state) + text(" at %.3f s: ", verdict.time) + verdict.reason;
}

Swings swings_of(std::span<const double> time, std::span<const double> values, double swing) {
  Swings result;
  if (values.empty()) return result;
  double high = values[0], low = values[0];            // until it has moved by `swing`
  double extreme = values[0], extreme_time = time[0];  // since the last turning point
  int direction = 0;
  std::vector<double> turns, times;
  for (std::size_t k = 1; k < values.size(); ++k) {
    const double v = values[k];
    high = std::max(high, v);
    low = std::min(low, v);
    if (direction == 0) {
      if (v <= high - swing) direction = -1;
      if (v >= low + swing) direction = 1;
      extreme = v, extreme_time = time[k];
    } else if (direction * (v - extreme) > 0) {
      extreme = v, extreme_time = time[k];
    } else if (direction * (extreme - v) >= swing) {
      turns.push_back(extreme), times.push_back(extreme_time);
      direction = -direction;
      extreme = v, extreme_time = time[k];
    }
  }
  result.turns = static_cast<int>(turns.size());
  if (turns.empty()) return result;
  result.first = times.front();
  std::vector<double> sizes;
  for (std::size_t k = 1; k < turns.size(); ++k) sizes.push_back(std::abs(turns[k] - turns[k - 1]));
  if (sizes.empty()) return result;
  const auto mean = [](std::span<const double> part) {
    return std::accumulate(part.begin(), part.end(), 0.0) / static_cast<double>(part.size());
  };
  result.mean = mean(sizes);
  if (sizes.size() < 2) return result;
  result.frequency = 0.5 * static_cast<double>(sizes.size()) / (times.back() - times.front());
  const std::size_t half = sizes.size() / 2;
  // Swings that ended long before the signal have died out, whatever their size.
  const double length = time.back() - times.front(), since = time.back() - times.back();
  const double period = (times.back() - times.front()) / static_cast<double>(sizes.size());
  const bool ended = since > std::max(3 * period, 0.5 * length);
  result.lasting =
      ended ? 0 : mean(std::span(sizes).last(half)) / mean(std::span(sizes).first(half));
  return result;
}

Verdict judge(const RunRecording& r, const Chain& chain, double duration,
              std::span<const JointSignals> signals, bool follows, const VerdictThresholds& t) {
  if (r.ended) return *r.ended;
  // The first sample after this fraction of the settling time.
  const auto settled = [&](double share) {
    const double time = duration + share * (r.time.back() - duration);
    return static_cast<std::size_t>(std::lower_bound(r.time.begin(), r.time.end(), time) -
                                    r.time.begin());
  };
  const std::size_t begin = settled(t.rest_begin), final_begin = settled(1 - t.final_part);
  std::optional<Verdict> first;
  const auto take = [&first](const std::optional<Verdict>& found) {
    if (found && (!first || found->time < first->time)) first = found;
  };
  // A run that lost its reference may also oscillate: the first event is taken as the cause.
  for (std::size_t i = 0; i < r.q.size(); ++i) {
    const ChainJoint& joint = chain.joints()[i];
    if (follows) take(lost(r, joint, i, t));
    if (follows) take(beside_goal(r, joint, i, final_begin, t));
    take(bangs(r, joint, i, t));
    take(swings_at_rest(r, joint, i, begin, signals[i], t));
  }
  return first.value_or(Verdict{});
}

}  // namespace ga_tools
