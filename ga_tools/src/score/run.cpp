// SPDX-License-Identifier: Apache-2.0
#include "score/run.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "ga_controllers/stability.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace ga_tools::score {

using ga_controllers::Reference;
using ga_dynamics::Chain;
using ga_dynamics::ChainJoint;
using ga_dynamics::DhJoint;
using ga_hardware::SimulatedArmSettings;
using ga_motion::Trajectory;

namespace {

constexpr double kReferenceNoise = 3e-4;  // rad
constexpr std::size_t kHeldCycles = 10;   // of positions at 100 Hz
constexpr std::size_t kSamples = 400;     // of the plots

/// Passes on to a law what a scenario leaves of the reference.
class ReferenceFilter {
 public:
  ReferenceFilter(ReferenceSignal signal, unsigned seed) : signal_(signal), random_(seed) {}

  Reference operator()(const Reference& given) {
    switch (signal_) {
      case ReferenceSignal::kComplete:
        return given;
      case ReferenceSignal::kNoAcceleration:
        return {given.q, given.qd, {}};
      case ReferenceSignal::kNoisyPositions:
        q_.assign(given.q.begin(), given.q.end());
        for (double& q : q_) q += kReferenceNoise * normal_(random_);
        return {q_, given.qd, given.qdd};
      case ReferenceSignal::kHeldPositions:
        if (cycle_++ % kHeldCycles == 0) q_.assign(given.q.begin(), given.q.end());
        return {q_, {}, {}};
    }
    return given;
  }

 private:
  ReferenceSignal signal_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  std::vector<double> q_;
  std::size_t cycle_ = 0;
};

LawUnderTest filtered(LawUnderTest law, ReferenceSignal signal, unsigned seed) {
  const auto filter = std::make_shared<ReferenceFilter>(signal, seed);
  LawUnderTest result = law;
  result.update = [update = law.update, filter](
                      std::span<const double> q, std::span<const double> qd,
                      const Reference& reference, double dt,
                      std::span<double> tau) { update(q, qd, (*filter)(reference), dt, tau); };
  return result;
}

/// The arm with this part of its effort limits.
Chain with_effort_limits(const Chain& chain, double part) {
  if (part == 1) return chain;
  std::vector<DhJoint> rows;
  for (const ChainJoint& joint : chain.joints()) {
    rows.push_back({joint.type, joint.dh, joint.body, joint.drive, joint.limits, joint.name});
    rows.back().limits.effort *= part;
  }
  return Chain::from_dh(rows, chain.gravity_in_frame0());
}

std::vector<std::vector<double>> postures_of(const Trajectory& motion,
                                             const std::vector<double>& start) {
  constexpr std::size_t kCount = 20;
  std::vector<std::vector<double>> all{start};
  std::vector<double> rates(start.size()), q(start.size());
  for (std::size_t k = 0; k <= kCount; ++k) {
    motion.sample(motion.duration() * static_cast<double>(k) / kCount, q, rates, rates);
    all.push_back(q);
  }
  return all;
}

SimulatedArmSettings arm_of(const Scenario& scenario, const Trajectory& motion,
                            const LoopOptions& loop, std::size_t joints, unsigned seed) {
  SimulatedArmSettings settings = settings_for(motion, loop);
  settings.payload = scenario.payload;
  settings.disturbances = scenario.disturbances;
  settings.errors = ga_hardware::draw_errors(scenario.disturbances, joints, seed);
  for (auto& error : settings.errors) error.armature *= scenario.armature;
  settings.seed = seed;
  // A law that is too fast is to be measured, not stopped.
  settings.safety.overspeed_ratio = 0;
  return settings;
}

void sample_error(const Recording& r, Run& to) {
  const std::size_t every = std::max<std::size_t>(1, r.time.size() / kSamples);
  for (std::size_t k = 0; k < r.time.size(); k += every) {
    double sum = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      sum += std::pow(r.tool[axis][k] - r.tool_ref[axis][k], 2);
    }
    to.time.push_back(r.time[k]);
    to.error.push_back(1e3 * std::sqrt(sum));
  }
}

}  // namespace

bool hunts(const Run& run) {
  return !(run.figures[Figure::kHunt] <= kHuntingMotion) || run.state.starts_with("oscillating");
}

Run run(const Scenario& scenario, const ScoreLaw& law, unsigned seed, const Arms& arms) {
  const Chain& described = arms.of(scenario.robot);
  const std::size_t n = described.joints().size();
  // The motion is that of the arm with all its torque.
  const std::unique_ptr<Trajectory> motion = motion_of(scenario, described);
  const Chain model = with_effort_limits(described, scenario.effort_limit);
  const Trajectory& trajectory = *motion;
  const LoopOptions loop{kRate, scenario.settle};

  SimulatedArmSettings settings = arm_of(scenario, trajectory, loop, n, seed);
  std::vector<JointSignals> signals = ga_hardware::signals_of(described);
  for (JointSignals& s : signals) s.noise = scenario.noise;
  settings.signals = signals;

  LawSetup setup{.model = model,
                 .gains = std::vector<ga_controllers::JointGains>(
                     n, ga_controllers::gains_from_bandwidth(kBandwidth, 1)),
                 .signals = signals,
                 .postures = postures_of(trajectory, settings.start),
                 .rate = kRate,
                 .keep_limits = scenario.keep_limits,
                 .pid = law.pid};
  if (scenario.fit_resonance) {
    const std::string id = law.id;
    const auto kind = id == "integral" || id == "adaptive"
                          ? ga_controllers::LawKind::kTrackingIntegral
                          : ga_controllers::LawKind::kTracking;
    setup.fits_resonance = true;
    for (auto& gains : setup.gains) {
      gains =
          ga_controllers::gains_for_resonance(kind, gains, scenario.disturbances.elastic_frequency);
    }
  }
  if (scenario.hand_over) {
    ga_dynamics::Dynamics actual(actual_arm(model, settings.errors, scenario.payload));
    actual.gravity(settings.start, setup.held = std::vector<double>(n));
  }
  LawUnderTest under_test = filtered(law.make(setup), scenario.reference, seed);
  ga_hardware::SimulatedArm arm(model, settings);
  const RunRecording recording = run_loop(arm, model, trajectory, under_test, loop);

  const bool path = std::find(scenario.figures.begin(), scenario.figures.end(), Figure::kPath) !=
                    scenario.figures.end();
  Run result;
  const double duration = recording.duration(trajectory.duration());
  result.figures = figures_of(recording, model, duration, path);
  result.figures[Figure::kStretch] = duration / trajectory.duration();
  result.state = describe(judge(recording, model, duration, signals, true));
  sample_error(recording, result);
  return result;
}

}  // namespace ga_tools::score
