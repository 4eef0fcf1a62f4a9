// SPDX-License-Identifier: Apache-2.0

// The detector of runs that went wrong, on made-up signals and on simulated runs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>

#include "ga_controllers/stability.hpp"
#include "ga_tools/closed_loop.hpp"
#include "report/sha256.hpp"
#include "study/arm_check.hpp"
#include "study/demonstration.hpp"

namespace ga_tools {
namespace {

constexpr double kRate = 1000, kDuration = 2, kEnd = 5;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const VerdictThresholds kThresholds;

/// A joint that turns about z with these limits, and a slider; torque limits 10 N m and 20 N.
ga_dynamics::Chain two_joints() {
  ga_dynamics::DhJoint elbow, slide;
  elbow.name = "elbow";
  elbow.limits = {-2, 2, 3, 10};
  elbow.body = {1, {}, {0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}};
  slide = elbow;
  slide.name = "slide";
  slide.type = ga_dynamics::JointType::kPrismatic;
  slide.limits = {-1, 1, 1, 20};
  return ga_dynamics::Chain::from_dh({elbow, slide});
}

using Signal = std::function<double(double t)>;

/// The reference goes from 0 to 1 rad in 2 s and rests for 3 s.
double reference(double t) { return std::min(t / kDuration, 1.0); }
double at_rest(double t) { return t > kDuration ? 1.0 : 0.0; }

/// Both joints follow the reference, but for the error and the torque of the elbow.
RunRecording recording_of(
    const Signal& error, const Signal& torque = [](double) { return 1; }) {
  RunRecording r;
  r.q.resize(2), r.q_ref.resize(2), r.tau.resize(2);
  for (int k = 0; k < kRate * kEnd; ++k) {
    const double t = k / kRate;
    r.time.push_back(t);
    r.q_ref[0].push_back(reference(t)), r.q_ref[1].push_back(0.1);
    r.q[0].push_back(reference(t) + error(t)), r.q[1].push_back(0.1);
    r.tau[0].push_back(torque(t)), r.tau[1].push_back(2);
  }
  return r;
}

Verdict verdict_of(const RunRecording& r, const std::vector<JointSignals>& signals,
                   bool follows = true) {
  return judge(r, two_joints(), kDuration, signals, follows);
}
Verdict verdict_of(const RunRecording& r, bool follows = true) {
  return verdict_of(r, std::vector<JointSignals>(2), follows);
}
double sine(double t, double amplitude, double frequency) {
  return amplitude * std::sin(2 * std::numbers::pi * frequency * t);
}

TEST(Swings, CountsTurningPointsAndMeasuresSizeAndFrequency) {
  std::vector<double> time, values;
  for (int k = 0; k < 2000; ++k) {
    time.push_back(k / kRate);
    values.push_back(0.7 + sine(time.back(), 0.5, 5));
  }
  const Swings swings = swings_of(time, values, 0.1);
  EXPECT_EQ(swings.turns, 20) << "two a period, ten periods";
  EXPECT_NEAR(swings.mean, 1, 1e-3) << "from crest to trough";
  EXPECT_NEAR(swings.frequency, 5, 0.01);
  EXPECT_NEAR(swings.first, 0.05, 1e-9);
  EXPECT_NEAR(swings.lasting, 1, 1e-3);
  EXPECT_EQ(swings_of(time, values, 1.1).turns, 0) << "smaller than what counts";
  EXPECT_EQ(swings_of({}, {}, 1).turns, 0);
}

TEST(Swings, SeesThatTheyDieOut) {
  std::vector<double> time, values;
  for (int k = 0; k < 2000; ++k) {
    time.push_back(k / kRate);
    values.push_back(sine(time.back(), std::exp(-time.back()), 5));
  }
  const Swings swings = swings_of(time, values, 1e-3);
  EXPECT_NEAR(swings.lasting, std::exp(-0.95), 0.05);
  for (std::size_t k = 800; k < 2000; ++k) values[k] = 0;
  EXPECT_EQ(swings_of(time, values, 1e-3).lasting, 0) << "at rest for most of the time";
}

TEST(Verdict, AGoodRunIsOk) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 2e-5);
  const Verdict verdict = verdict_of(recording_of([&](double t) {
    // A lag while it moves, an overshoot that dies out, a joint that sticks beside its goal, and
    // noise.
    const double settling =
        t < kDuration ? 0.02 : sine(t, 0.02 * std::exp(-10 * (t - kDuration)), 6);
    return settling + 1e-3 + noise(random);
  }));
  EXPECT_TRUE(verdict.ok()) << describe(verdict);
  EXPECT_EQ(describe(verdict), "ok");
}

TEST(Verdict, NamesAnOscillationAtRestWithItsSizeAndFrequency) {
  const Verdict verdict =
      verdict_of(recording_of([](double t) { return at_rest(t) * sine(t, 1e-3, 8); }));
  EXPECT_EQ(verdict.state, RunState::kOscillating);
  EXPECT_EQ(verdict.joint, 0u);
  EXPECT_GE(verdict.time, kDuration);
  EXPECT_NE(verdict.reason.find("'elbow'"), std::string::npos) << verdict.reason;
  EXPECT_NE(verdict.reason.find("2 mrad at 8 Hz"), std::string::npos) << verdict.reason;
  EXPECT_EQ(describe(verdict).find("oscillating at 2.7"), 0u) << describe(verdict);
}

TEST(Verdict, NamesSlowHunting) {
  // Stick and slip: it jumps every 0.5 s to the other side of its goal and rests there.
  const Verdict verdict = verdict_of(
      recording_of([](double t) { return at_rest(t) * (std::fmod(t, 1) < 0.5 ? 7e-4 : -7e-4); }));
  EXPECT_EQ(verdict.state, RunState::kOscillating) << describe(verdict);
  EXPECT_NE(verdict.reason.find("1.4 mrad"), std::string::npos) << verdict.reason;
}

TEST(Verdict, OscillationsBelowTheThresholdsAreOk) {
  const auto swinging = [](double amplitude) {
    return recording_of([amplitude](double t) { return at_rest(t) * sine(t, amplitude, 8); });
  };
  EXPECT_TRUE(verdict_of(swinging(0.49 * kThresholds.swing)).ok());
  EXPECT_FALSE(verdict_of(swinging(0.51 * kThresholds.swing)).ok());
  // Coarse encoders and noisy positions move the threshold.
  EXPECT_TRUE(verdict_of(swinging(1e-3), {{.counts_per_rad = 1000}, {}}).ok());
  EXPECT_FALSE(verdict_of(swinging(2.1e-3), {{.counts_per_rad = 1000}, {}}).ok());
  EXPECT_TRUE(verdict_of(swinging(1e-3), {{.noise = 4e-4}, {}}).ok());
  EXPECT_FALSE(verdict_of(swinging(1.3e-3), {{.noise = 4e-4}, {}}).ok());
}

TEST(Verdict, AnOscillationThatDiesOutIsOk) {
  EXPECT_TRUE(verdict_of(recording_of([](double t) {
                return at_rest(t) * sine(t, 5e-2 * std::exp(-2 * (t - kDuration)), 5);
              })).ok());
  EXPECT_FALSE(verdict_of(recording_of([](double t) {
                 return at_rest(t) * sine(t, 1e-3 * std::exp(0.5 * (t - kDuration)), 5);
               })).ok())
      << "one that grows is not";
}

TEST(Verdict, AMotionThatTurnsBackIsNotAnOscillation) {
  // The same swing as an error, but while the reference moves.
  EXPECT_TRUE(
      verdict_of(recording_of([](double t) { return (1 - at_rest(t)) * sine(t, 5e-3, 8); })).ok());
}

TEST(Verdict, NamesATorqueThatJumpsBetweenItsLimits) {
  const auto bang = [](double frequency) {
    return recording_of([](double) { return 0; },
                        [frequency](double t) { return sine(t, 1, frequency) > 0 ? 9.99 : -9.99; });
  };
  const Verdict verdict = verdict_of(bang(20));
  EXPECT_EQ(verdict.state, RunState::kOscillating);
  EXPECT_LT(verdict.time, 0.1) << "while it moves, too";
  EXPECT_NE(verdict.reason.find("10 N m"), std::string::npos) << verdict.reason;
  const RunRecording slow = recording_of([](double) { return 0; },
                                         [](double t) {
                                           return at_rest(t) > 0 ? 1 : sine(t, 1, 2) > 0 ? 10 : -10;
                                         });
  EXPECT_TRUE(verdict_of(slow).ok()) << "a motion that accelerates and brakes as hard as it can";
}

TEST(Verdict, NamesATorqueThatSwingsAtRest) {
  const auto shaking = [](double amplitude) {
    return recording_of([](double) { return 0; },
                        [amplitude](double t) { return 1 + at_rest(t) * sine(t, amplitude, 40); });
  };
  EXPECT_EQ(verdict_of(shaking(3)).state, RunState::kOscillating)
      << "60 % of its limit from crest to trough";
  EXPECT_TRUE(verdict_of(shaking(2)).ok());
}

TEST(Verdict, NamesAJointThatIsFarFromItsReference) {
  const RunRecording away = recording_of([](double t) { return -0.6 * t; });
  const Verdict verdict = verdict_of(away);
  EXPECT_EQ(verdict.state, RunState::kLost);
  EXPECT_NEAR(verdict.time, 1 / 0.6, 0.002);
  EXPECT_TRUE(verdict_of(away, false).ok()) << "a gravity hold does not follow";
}

TEST(Verdict, NamesAJointThatItsTorqueLimitKeepsFromItsReference) {
  const auto overloaded = [](double torque) {
    return recording_of([](double t) { return t > 1 ? -0.2 : 0; },
                        [torque](double t) { return t > 1 ? torque : 1; });
  };
  const Verdict verdict = verdict_of(overloaded(-10));
  EXPECT_EQ(verdict.state, RunState::kLost);
  EXPECT_NEAR(verdict.time, 1, 0.002);
  EXPECT_NE(verdict.reason.find("torque limit of 10 N m"), std::string::npos) << verdict.reason;
  EXPECT_NE(verdict_of(overloaded(-9)).reason.find("at rest"), std::string::npos)
      << "a weak law that sags is named for where it ends, not for its torque";
}

TEST(Verdict, NamesAJointThatEndsBesideItsGoal) {
  const auto beside = [](double error) {
    return recording_of([error](double t) { return t > 1 ? error : 0; });
  };
  const Verdict verdict = verdict_of(beside(-0.11));
  EXPECT_EQ(verdict.state, RunState::kLost);
  EXPECT_EQ(verdict.joint, 0u);
  EXPECT_NEAR(verdict.time, kDuration + 0.75 * (kEnd - kDuration), 0.002);
  EXPECT_NE(verdict.reason.find("joint 'elbow' is 0.11 rad from its goal at rest"),
            std::string::npos)
      << verdict.reason;
  EXPECT_NE(verdict.reason.find("threshold 0.1 rad"), std::string::npos) << verdict.reason;
  EXPECT_TRUE(verdict_of(beside(-0.09)).ok()) << "a weak law that sags a little";
  EXPECT_TRUE(verdict_of(beside(-0.11), false).ok()) << "a gravity hold has no goal";
}

TEST(Verdict, AJointThatReachesItsGoalLateIsOk) {
  // Far from it while it moves and for most of the rest, but there in the last quarter.
  const auto until = [](double end) {
    return recording_of([end](double t) { return t > 1 && t < end ? -0.3 : 0; });
  };
  EXPECT_TRUE(verdict_of(until(kDuration + 0.7 * (kEnd - kDuration))).ok());
  EXPECT_TRUE(verdict_of(until(kDuration + 0.8 * (kEnd - kDuration))).ok());
}

TEST(Verdict, ASliderThatEndsBesideItsGoalIsMeasuredInMetres) {
  const auto beside = [](double error) {
    RunRecording r = recording_of([](double) { return 0; });
    for (std::size_t k = 2000; k < r.time.size(); ++k) r.q[1][k] += error;
    return verdict_of(r);
  };
  EXPECT_NE(beside(0.06).reason.find("joint 'slide' is 0.06 m from its goal"), std::string::npos);
  EXPECT_TRUE(beside(0.04).ok());
}

TEST(Verdict, NamesAJointOnItsStop) {
  RunRecording r = recording_of([](double) { return 0; });
  for (std::size_t k = 4000; k < r.time.size(); ++k) r.q[1][k] = 1, r.q_ref[1][k] = 0.8;
  const Verdict verdict = verdict_of(r);
  EXPECT_EQ(verdict.state, RunState::kLost);
  EXPECT_EQ(verdict.joint, 1u);
  EXPECT_NE(verdict.reason.find("'slide' is 0.2 m from its reference, on its stop at 1 m"),
            std::string::npos)
      << verdict.reason;
}

DemonstrationOptions puma() {
  DemonstrationOptions options;
  options.urdf = PUMA_URDF;
  options.trajectory = "quintic";
  options.settle_time = 2;
  return options;
}

struct OptionCase {
  const char* name;
  std::function<void(DemonstrationOptions&)> set;
};
std::ostream& operator<<(std::ostream& out, const OptionCase& c) { return out << c.name; }

class NormalRuns : public testing::TestWithParam<OptionCase> {};

TEST_P(NormalRuns, AreNotFlagged) {
  DemonstrationOptions options = puma();
  options.laws = {"integral", "tracking", "ptp", "hold", "pd"};
  GetParam().set(options);
  const Demonstration d = demonstrate(options, {});
  for (const LawResult& r : d.results)
    EXPECT_TRUE(r.verdict->ok()) << r.id << " " << describe(*r.verdict);
  EXPECT_TRUE(d.ok());
}

INSTANTIATE_TEST_SUITE_P(
    Options, NormalRuns,
    testing::Values(OptionCase{"defaults", [](auto&) {}},
                    OptionCase{"line", [](auto& o) { o.trajectory = "line"; }},
                    OptionCase{"ramp", [](auto& o) { o.trajectory = "ramp"; }},
                    OptionCase{"spline", [](auto& o) { o.trajectory = "spline"; }},
                    OptionCase{"payload", [](auto& o) { o.payload = 2.5; }},
                    OptionCase{"mismatch", [](auto& o) { o.disturbances.mismatch = 0.2; }},
                    OptionCase{"stiction", [](auto& o) { o.disturbances.stiction = 1.3; }},
                    OptionCase{"noise", [](auto& o) { o.noise = 1e-4; }},
                    OptionCase{"ideal", [](auto& o) { o.ideal = true; }},
                    OptionCase{"no friction known", [](auto& o) { o.friction = 0; }},
                    OptionCase{"slow loop", [](auto& o) { o.rate = 250; }},
                    OptionCase{"fast loop", [](auto& o) { o.rate = 4000; }},
                    OptionCase{"low bandwidth", [](auto& o) { o.bandwidth = 10; }},
                    OptionCase{"high bandwidth", [](auto& o) { o.bandwidth = 50; }},
                    OptionCase{"damping", [](auto& o) { o.damping = 0.5; }},
                    OptionCase{"short settling", [](auto& o) { o.settle_time = 0.1; }}));

Verdict verdict_of(const DemonstrationOptions& options) {
  const Demonstration d = demonstrate(options, {});
  EXPECT_EQ(d.ok(), d.results[0].verdict->ok());
  return *d.results[0].verdict;
}

TEST(RunsThatGoWrong, AnIntegralGainThatAmplifiesEncoderCountsToTheTorqueLimits) {
  DemonstrationOptions options = puma();
  options.laws = {"integral"};
  options.ki = {1e6};  // the bandwidth of the observer is 2000 rad/s then
  const Verdict verdict = verdict_of(options);
  EXPECT_NE(verdict.state, RunState::kOk);
  options.ki = {40000};
  EXPECT_TRUE(verdict_of(options).ok());
}

/// A law that gives these torques.
LawUnderTest torque_of(const std::function<double(double t)>& first) {
  return {[](auto, auto) {},
          [first, t = 0.0](auto, auto, const auto&, double dt, std::span<double> tau) mutable {
            std::fill(tau.begin(), tau.end(), 0.0);
            tau[0] = first(t);
            t += dt;
          }};
}

TEST(RunsThatGoWrong, AFaultOfTheSafetyMachineEndsTheRunAndIsNamed) {
  const auto chain = ga_dynamics::Chain::from_urdf_file(PUMA_URDF);
  const std::vector<double> start{0, -1.5, 1.5, 0, 0, 0};
  const auto motion = ga_motion::make_hold(start, 1);
  const auto verdict = [&](const std::function<double(double)>& torque) {
    const LoopOptions options;
    ga_hardware::SimulatedArm arm(chain, settings_for(*motion, options));
    LawUnderTest law = torque_of(torque);
    const RunRecording r = run_loop(arm, chain, *motion, law, options);
    EXPECT_FALSE(r.time.empty());
    EXPECT_EQ(r.ended ? r.ended->time : 1.999, r.time.back()) << "it ends there";
    EXPECT_TRUE(std::isfinite(r.tau[0].back()));
    return r.ended ? describe(*r.ended) : "";
  };
  EXPECT_EQ(verdict([](double) { return 1; }), "");
  EXPECT_EQ(verdict([](double t) { return t < 0.1 ? 1 : kNan; }).substr(0, 44),
            "fault at 0.100 s: joint1: torque-not-finite:");
  EXPECT_EQ(verdict([](double t) { return t < 0.1 ? 1 : 200; }).substr(0, 43),
            "fault at 0.100 s: joint1: torque-excessive:");
  EXPECT_NE(verdict([](double) { return 90; }).find("joint1: overspeed: "), std::string::npos);
}

TEST(RunsThatGoWrong, ALoopThatIsTooSlowForItsGainsIsStoppedAndEndsThere) {
  DemonstrationOptions options = puma();
  options.rate = 50;
  options.bandwidth = 500;
  const Demonstration d = demonstrate(options, {});
  for (const LawResult& r : d.results) {
    EXPECT_EQ(r.verdict->state, RunState::kFault) << r.id << " " << describe(*r.verdict);
    EXPECT_FALSE(r.recording.time.empty());
    EXPECT_EQ(r.recording.time.back(), r.verdict->time) << "what is beyond is not recorded";
    EXPECT_TRUE(std::isnan(r.metrics.joint_rms) && std::isnan(r.metrics.final_error));
  }
  EXPECT_FALSE(d.ok());
  const std::string table = table_text(d);
  EXPECT_EQ(table.find("nan"), std::string::npos) << table;
  EXPECT_EQ(table.find("0.0000"), std::string::npos) << table;
  EXPECT_NE(table.find("Tracking with integral: fault at "), std::string::npos) << table;
}

TEST(RunsThatGoWrong, APayloadThatTheArmCannotCarryIsNoticed) {
  DemonstrationOptions options = puma();
  options.laws = {"integral"};
  options.payload = 40;
  EXPECT_FALSE(verdict_of(options).ok());
}

TEST(RunsThatGoWrong, HuntingIsNoticed) {
  // Break-away friction and a payload, and no friction fed forward.
  DemonstrationOptions options = puma();
  options.laws = {"integral"};
  options.trajectory = "line";
  options.payload = 2.5;
  options.friction = 0;
  options.disturbances.stiction = 1.3;
  options.settle_time = 10;
  const Verdict verdict = verdict_of(options);
  EXPECT_EQ(verdict.state, RunState::kOscillating) << describe(verdict);
}

/// An arm that differs from its description, under the integral law at 40 rad/s unless stated.
struct WrongArm {
  const char* urdf;
  double armature = 1;  ///< actual over described
  double payload = 0;   ///< kg, unknown
  double bandwidth = 40;
  int delay = 0;  ///< cycles
};

RunRecording run_wrong(const WrongArm& wrong, ga_controllers::LawCheck& check,
                       std::vector<ga_controllers::JointMonitor>& monitors, Verdict& verdict) {
  const auto chain = ga_dynamics::Chain::from_urdf_file(wrong.urdf);
  const std::size_t n = chain.joints().size();
  const std::vector<ga_controllers::JointGains> gains(
      n, ga_controllers::gains_from_bandwidth(wrong.bandwidth, 1));
  const auto motion = ga_motion::choose_motion("quintic", chain);
  const LoopOptions options{.rate = 1000, .settle_time = 3};
  ga_hardware::SimulatedArmSettings settings = settings_for(*motion.trajectory, options);
  settings.signals = ga_hardware::signals_of(chain);
  settings.errors.resize(n);
  for (auto& error : settings.errors) error.armature = wrong.armature;
  settings.payload.mass = wrong.payload;
  settings.disturbances.delay = wrong.delay;
  settings.safety.overspeed_ratio = 0;  // the oscillation itself is to be seen
  ga_hardware::SimulatedArm arm(chain, settings);
  const auto kind = ga_controllers::LawKind::kTrackingIntegral;
  LawUnderTest law =
      computed_torque(chain, ga_hardware::law_parameters(kind, gains, 1, settings.signals));
  const double duration = motion.trajectory->duration();
  RunRecording r = run_loop(arm, chain, *motion.trajectory, law, options);
  check = check_law(chain, kind, gains, options.rate,
                    {.model = {.payload = wrong.payload,
                               .mass = 0,
                               .armature_low = 1,
                               .armature_high = wrong.armature},
                     .delay = wrong.delay,
                     .declared = true});
  monitors = monitor(r, chain, duration, settings.signals, r.disturbance);
  verdict = judge(r, chain, duration, settings.signals, true);
  return r;
}

TEST(RunsThatGoWrong, LoopsThatTheStabilityCheckRefusesAreNamedAndOthersAreOk) {
  const std::string ur10e = std::string(ROBOTS) + "/ur10e.urdf";
  const WrongArm refused[] = {{.urdf = PUMA_URDF, .armature = 8},
                              {.urdf = PUMA_URDF, .bandwidth = 150, .delay = 4},
                              {.urdf = ur10e.c_str(), .payload = 5}};
  const WrongArm accepted[] = {{.urdf = PUMA_URDF},
                               {.urdf = PUMA_URDF, .armature = 2},
                               {.urdf = PUMA_URDF, .bandwidth = 80, .delay = 1}};
  ga_controllers::LawCheck check;
  std::vector<ga_controllers::JointMonitor> monitors;
  Verdict verdict;
  const auto oscillates = [&] {
    return std::any_of(monitors.begin(), monitors.end(),
                       [](const auto& m) { return m.oscillates(); });
  };
  for (const WrongArm& wrong : refused) {
    const RunRecording r = run_wrong(wrong, check, monitors, verdict);
    EXPECT_FALSE(check.accepted()) << check.summary;
    EXPECT_FALSE(verdict.ok()) << check.refusal;
    EXPECT_TRUE(oscillates() || r.ended) << describe(verdict);
  }
  for (const WrongArm& wrong : accepted) {
    run_wrong(wrong, check, monitors, verdict);
    EXPECT_TRUE(check.accepted()) << check.refusal;
    EXPECT_TRUE(verdict.ok()) << describe(verdict);
    EXPECT_FALSE(oscillates());
  }
}

TEST(Monitor, OfARunHasTheDefinitionsOfTheLawScore) {
  // A torque that alternates by 1 N m while the arm moves: 10 % of the limit of 10 N m per cycle.
  int cycle = 0;
  const RunRecording r = recording_of([](double t) { return at_rest(t) * sine(t, 1e-3, 8); },
                                      [&](double t) {
                                        ++cycle;
                                        return t > kDuration ? 9.9 : cycle % 2;
                                      });
  const std::vector<ga_controllers::JointMonitor> joints = monitor(r, two_joints(), kDuration);
  EXPECT_NEAR(joints[0].chatter, 0.1, 1e-3);
  EXPECT_NEAR(joints[0].saturation, 0.6, 1e-3) << "3 of 5 s";
  EXPECT_NEAR(joints[0].oscillation, 2e-3, 2e-5);
  EXPECT_NEAR(joints[0].frequency, 8, 0.1);
  EXPECT_FALSE(joints[1].oscillates());
  EXPECT_EQ(joints[1].chatter, 0);
  Metrics m;
  add_monitors(m, joints, two_joints(), false);
  EXPECT_EQ(m.chatter, joints[0].chatter);
  EXPECT_EQ(m.oscillation, joints[0].oscillation);
  EXPECT_TRUE(std::isnan(m.model_error)) << "not known";
}

TEST(ArmCheck, NamesTheJointThatMovesNoInertia) {
  ga_dynamics::Chain whole = two_joints();
  const std::vector<double> q(2);
  EXPECT_NO_THROW(check_inertia(whole, whole, q));
  ga_dynamics::DhJoint upper, wrist;
  upper.name = "upper";
  upper.body = {1, {0.5, 0, 0}, {}};
  wrist.name = "wrist";
  wrist.dh.a = 1;
  wrist.body = {1, {0, 0, 0.1}, {}};  // a point mass on its own axis
  const auto arm = ga_dynamics::Chain::from_dh({upper, wrist});
  try {
    check_inertia(arm, arm, q);
    FAIL() << "a torque on the wrist accelerates nothing";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("joint 'wrist': link 'link2'"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("armature"), std::string::npos) << error.what();
  }
  wrist.drive.armature = 1e-5;
  const auto driven = ga_dynamics::Chain::from_dh({upper, wrist});
  EXPECT_NO_THROW(check_inertia(driven, driven, q));
}

TEST(Sha256, GivesTheStandardsExamples) {
  // NIST, "Examples with intermediate values", SHA-256; and of a message that fills its last block
  // but for a byte.
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace
}  // namespace ga_tools
