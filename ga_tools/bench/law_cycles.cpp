// SPDX-License-Identifier: Apache-2.0
#include "law_cycles.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>

#include "ga_dynamics/dynamics.hpp"
#include "ga_tools/closed_loop.hpp"

namespace bench {

using ga_controllers::LawKind;
using ga_controllers::Reference;
using ga_dynamics::Chain;

namespace {

constexpr double kRate = 1000, kBandwidth = 40;   // Hz, rad/s
constexpr double kPayload = 2.5, kSettle = 1e-3;  // kg, s

/// The quintic of choose_motion() in another time.
std::unique_ptr<ga_motion::Trajectory> quintic(const Chain& chain, double duration) {
  const auto usual = ga_motion::make_motion("quintic", chain);
  const std::size_t n = chain.joints().size();
  std::vector<double> start(n), goal(n), rates(n);
  usual->sample(0, start, rates, rates);
  usual->sample(usual->duration(), goal, rates, rates);
  return ga_motion::make_quintic(start, goal, duration);
}

ga_dynamics::Payload payload() {
  ga_dynamics::Payload payload;
  payload.mass = kPayload;
  return payload;
}

void need(bool ok, const std::string& variant, const char* what) {
  if (!ok) throw std::runtime_error("variant '" + variant + "': " + what);
}

}  // namespace

std::vector<LawVariant> law_variants() {
  return {{.name = "plain"},
          {.name = "keep_limits", .keep_limits = true},
          {.name = "keep_limits, keep_path", .keep_limits = true, .keep_path = true},
          {.name = "the same, time stretched",
           .keep_limits = true,
           .keep_path = true,
           .duration = 0.8,
           .effort = 0.5},
          {.name = "the same, payload blend",
           .keep_limits = true,
           .keep_path = true,
           .changes_payload = true},
          {.name = "adaptation", .adapts = true},
          {.name = "adaptation, keep_limits, keep_path",
           .keep_limits = true,
           .keep_path = true,
           .adapts = true}};
}

LawCycles::LawCycles(const Chain& chain, const LawVariant& variant)
    : chain_(chain),
      name_(variant.name),
      changes_payload_(variant.changes_payload),
      adapts_(variant.adapts),
      held_(chain.joints().size()),
      tau_(chain.joints().size()) {
  const std::size_t n = chain.joints().size();
  const auto signals = ga_hardware::signals_of(chain);
  parameters_ = ga_hardware::law_parameters(
      LawKind::kTrackingIntegral,
      std::vector(n, ga_controllers::gains_from_bandwidth(kBandwidth, 1)), 1, signals);
  parameters_.keep_limits = variant.keep_limits;
  parameters_.keep_path = variant.keep_path;
  parameters_.adaptation.enabled = variant.adapts;
  for (const auto& joint : chain.joints()) {
    parameters_.torque_limit.push_back(variant.effort * joint.limits.effort);
  }
  const auto motion = quintic(chain, variant.duration);
  const ga_tools::LoopOptions loop{kRate, kSettle};
  auto settings = ga_tools::settings_for(*motion, loop);
  settings.signals = signals;
  ga_dynamics::Dynamics(chain).gravity(settings.start, held_);
  std::size_t blended = 0;
  ga_tools::LawUnderTest recorded{
      [&](std::span<const double> q, std::span<const double>) { start(q); },
      [&](std::span<const double> q, std::span<const double> qd, const Reference& r, double dt,
          std::span<double> tau) {
        const auto copy = [](std::span<const double> from) {
          return std::vector<double>(from.begin(), from.end());
        };
        cycles_.push_back({copy(q), copy(qd), copy(r.q), copy(r.qd), copy(r.qdd)});
        law_->update(q, qd, r, dt, tau);
        if (changes_payload_ && law_->payload().mass < kPayload) blended = cycles_.size();
      },
      {},
      [&] { return law_->time_scale(); }};
  ga_hardware::SimulatedArm arm(adapts_ ? chain.with_payload(payload()) : chain, settings);
  const ga_tools::RunRecording run = run_loop(arm, chain, *motion, recorded, loop);
  need(!run.ended, name_, "the arm stopped");
  const bool stretched = variant.effort < 1;
  need((run.slowest < 1) == stretched, name_, stretched ? "no time is stretched" : "is stretched");
  need(!adapts_ || law_->adapted_model().payload_mass > 0.8 * kPayload, name_, "finds no payload");
  if (changes_payload_) {
    need(blended > 100, name_, "the payload is not blended");
    cycles_.resize(blended);
  }
}

void LawCycles::start(std::span<const double> q) {
  law_.emplace(chain_, parameters_);
  law_->start(q, std::vector<double>(tau_.size()), held_);
  if (changes_payload_) law_->set_payload(payload());
}

void LawCycles::restart() { start(cycles_.front().q); }

void LawCycles::run(std::size_t k) {
  const Cycle& c = cycles_[k];
  law_->update(c.q, c.qd, {c.q_ref, c.qd_ref, c.qdd_ref}, 1 / kRate, tau_);
}

std::vector<double> LawCycles::single_cycles(int times) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> fastest(count(), std::numeric_limits<double>::infinity());
  for (int t = 0; t < times; ++t) {
    restart();
    for (std::size_t k = 0; k < count(); ++k) {
      const auto before = Clock::now();
      run(k);
      const std::chrono::duration<double, std::nano> took = Clock::now() - before;
      fastest[k] = std::min(fastest[k], took.count());
    }
  }
  std::sort(fastest.begin(), fastest.end());
  return fastest;
}

}  // namespace bench
