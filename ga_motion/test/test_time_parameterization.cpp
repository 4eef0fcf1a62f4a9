// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "counting_allocator.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_motion/time_parameterization.hpp"
#include "refusal.hpp"
#include "timing_paths.hpp"

namespace ga_motion {
namespace {

using namespace ga_dynamics;
using ga_dynamics::test::refusal;
using ga_motion::test::kPaths;
using ga_motion::test::kQuarters;
using ga_motion::test::Points;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const Chain& puma() {
  static const Chain chain = Chain::from_urdf_file(PUMA_URDF);
  return chain;
}

/// The same arm with other drives.
Chain with_drives(const Chain& chain, const std::function<void(std::size_t, Drive&)>& change) {
  std::vector<DhJoint> rows;
  for (std::size_t i = 0; i < chain.joints().size(); ++i) {
    const ChainJoint& joint = chain.joints()[i];
    rows.push_back({joint.type, joint.dh, joint.body, joint.drive, joint.limits, joint.name});
    change(i, rows.back().drive);
  }
  return Chain::from_dh(rows, chain.gravity_in_frame0());
}

TimingLimits without_position_limits(const Chain& chain) {
  TimingLimits limits = limits_of(chain);
  limits.lower.assign(limits.lower.size(), -kInfinity);
  limits.upper.assign(limits.upper.size(), kInfinity);
  return limits;
}

double duration_of(PathTimer& timer, const Points& points) {
  return timer.time(make_spline_path(points, kQuarters)).trajectory->duration();
}

struct Reference {
  const char* name;
  bool friction;
  double payload;
  std::vector<double> acceleration;
  double tolerance;
  std::vector<double> durations;  // s, of kPaths
};

std::ostream& operator<<(std::ostream& out, const Reference& r) { return out << r.name; }

class ReferenceDurations : public testing::TestWithParam<Reference> {};

TEST_P(ReferenceDurations, AreThoseOfToppra) {
  const Reference& reference = GetParam();
  const Chain chain =
      reference.payload > 0 ? puma().with_payload({reference.payload, {0, 0, 0}, {}}) : puma();
  TimingLimits limits = without_position_limits(chain);
  if (!reference.acceleration.empty()) limits.acceleration = reference.acceleration;
  PathTimer timer(chain, limits, {.friction = reference.friction});
  for (std::size_t k = 0; k < kPaths.size(); ++k) {
    EXPECT_NEAR(duration_of(timer, kPaths[k]) / reference.durations[k], 1, reference.tolerance)
        << "P" << k + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ReferenceDurations,
    testing::Values(
        Reference{"no friction", false, 0, {}, 2e-6, {6.214533, 5.784783, 1.355340, 1.092857}},
        Reference{"Coulomb and viscous friction",
                  true,
                  0,
                  {},
                  2e-6,
                  {6.213474, 5.806986, 1.360000, 1.120244}},
        Reference{
            "friction and 2.5 kg", true, 2.5, {}, 2e-6, {6.250620, 5.851997, 1.413204, 1.207698}},
        Reference{"no friction, accelerations limited",
                  false,
                  0,
                  {10, 10, 20, 40, 40, 40},
                  5e-5,
                  {6.401401, 6.035636, 1.712124, 1.425489}}));

TEST(TimeParameterization, AgreesWithToppraOnCoulombFrictionUpToItsSignAtReversals) {
  // toppra takes one Coulomb friction for both directions, its sign at grid points: where a joint
  // reverses between two of them, the friction of the interval is wrong, and along P4 that is 3e-4 of
  // the duration. Here the sign belongs to the interval.
  const double both[] = {25.9836, 10.6198, 6.3642, 1.0683, 0.8544, 0.5544};
  const Chain chain = with_drives(puma(), [&both](std::size_t i, Drive& drive) {
    drive.coulomb_positive = drive.coulomb_negative = both[i];
    drive.viscous = 0;
  });
  PathTimer timer(chain, without_position_limits(chain));
  const double durations[] = {6.209908, 5.801174, 1.357323, 1.115536};
  const double tolerances[] = {1e-5, 5e-5, 2e-5, 4e-4};
  for (std::size_t k = 0; k < kPaths.size(); ++k) {
    EXPECT_NEAR(duration_of(timer, kPaths[k]) / durations[k], 1, tolerances[k]) << "P" << k + 1;
  }
}

TEST(TimeParameterization, MeetsTheClosedFormOfOneJointWithConstantInertia) {
  // Joint 1 from -0.15 to 0.15 while the others stand still: no gravity, constant inertia, so that
  // T = D / v + v / 2 (1 / a1 + 1 / a2) with the accelerations (limit -+ friction) / inertia.
  const std::vector<double> rest{1, 0, 0.5, 0};
  const Points points{{-0.15, -1, 1, 0, 0.5, 0}, {0.15, -1, 1, 0, 0.5, 0}};
  const double way = 0.3, v = 1.92, limit = 97.6, friction = 24.7314;
  for (const bool with_friction : {false, true}) {
    const Chain chain = with_drives(puma(), [&](std::size_t, Drive& drive) { drive.viscous = 0; });
    Dynamics dynamics(chain, {.drives = Drives::kArmature});
    std::vector<double> inertia(36);
    dynamics.inertia_matrix(points[0], inertia);
    EXPECT_NEAR(inertia[0], 3.158638, 1e-5);
    const double f = with_friction ? friction : 0;
    const double start = (limit - f) / inertia[0], stop = (limit + f) / inertia[0];
    const double expected = way / v + v / 2 * (1 / start + 1 / stop);
    PathTimer timer(chain, limits_of(chain), {.friction = with_friction});
    const double duration = timer.time(make_spline_path(points)).trajectory->duration();
    EXPECT_NEAR(duration / expected, 1, 1e-5);
    EXPECT_NEAR(duration, with_friction ? 0.222651 : 0.218387, 2e-6);
  }
}

struct Fine {
  double worst = 0;  ///< torque over its limit, ten times finer than the grid
};

Fine sample_finely(const Timing& timing, const Chain& chain, const TimingLimits& limits,
                   Drives drives) {
  Dynamics dynamics(chain, {.drives = drives});
  const auto n = static_cast<std::size_t>(chain.size());
  std::vector<double> q(n), qd(n), qdd(n), tau(n);
  Fine fine;
  for (std::size_t k = 0; k + 1 < timing.time.size(); ++k) {
    for (int part = 0; part < 10; ++part) {
      const double t = timing.time[k] + (timing.time[k + 1] - timing.time[k]) * (part + 0.5) / 10;
      timing.trajectory->sample(t, q, qd, qdd);
      dynamics.inverse_dynamics(q, qd, qdd, tau);
      for (std::size_t i = 0; i < n; ++i) {
        fine.worst = std::max(fine.worst, std::abs(tau[i]) / limits.torque[i]);
      }
    }
  }
  return fine;
}

TEST(TimeParameterization, KeepsTheTorqueLimitsBetweenItsGridPointsWithFriction) {
  for (const double payload : {0.0, 2.5}) {
    const Chain chain = puma().with_payload({payload, {0, 0, 0}, {}});
    const TimingLimits limits = without_position_limits(chain);
    PathTimer timer(chain, limits);
    for (const Points& points : kPaths) {
      const Timing timing = timer.time(make_spline_path(points, kQuarters));
      const Fine fine = sample_finely(timing, chain, limits, Drives::kAll);
      EXPECT_LT(fine.worst, 1.005) << payload << " kg";
      EXPECT_GT(fine.worst, 0.98) << payload << " kg";
    }
  }
}

TEST(TimeParameterization, HasSomeLimitWithinTwoPercentAlongNinetyNinePercentOfThePath) {
  PathTimer timer(puma(), without_position_limits(puma()));
  for (const Points& points : kPaths) {
    const Timing timing = timer.time(make_spline_path(points, kQuarters));
    const std::vector<ActiveLimit> active = timer.active_limits();
    ASSERT_EQ(active.size() + 1, timing.s.size());
    double share = 0;
    for (std::size_t k = 0; k < active.size(); ++k) {
      EXPECT_LT(active[k].use, 1.005);
      if (active[k].use >= 0.98) share += timing.s[k + 1] - timing.s[k];
    }
    EXPECT_GE(share / timing.s.back(), 0.99);
  }
}

TEST(TimeParameterization, KeepsTheTorqueLimitsInItsFirstIntervalFromRest) {
  // Joint 1 starts with full torque on a long path: its viscous friction goes with the root of the way.
  const Points points{{1.49, -0.90, 1.66, 1.39, 0.63, 3.37},
                      {-1.73, -3.07, 0.53, -1.55, -0.81, -1.25},
                      {1.66, -0.79, 1.21, 0.40, 0.57, 2.71},
                      {-1.87, -3.45, 3.43, 1.20, 0.00, 3.78},
                      {0.86, -3.11, 2.90, -0.09, -0.86, -1.01}};
  const Chain chain = puma().with_payload({2.5, {0, 0, 0}, {}});
  const TimingLimits limits = limits_of(chain);
  PathTimer timer(chain, limits);
  const Timing timing = timer.time(make_spline_path(points, kQuarters));
  EXPECT_LT(sample_finely(timing, chain, limits, Drives::kAll).worst, 1.002);
}

/// Way-points within `reach` of a random posture, within the position limits.
Points random_points(std::mt19937& random, const TimingLimits& limits, double reach) {
  std::uniform_real_distribution<double> share(0.2, 0.8), step(-reach, reach);
  Points points(5, std::vector<double>(limits.lower.size()));
  for (std::size_t i = 0; i < limits.lower.size(); ++i) {
    const double middle = limits.lower[i] + share(random) * (limits.upper[i] - limits.lower[i]);
    for (auto& point : points) point[i] = middle + step(random);
  }
  return points;
}

TEST(TimeParameterization, KeepsItsPromisesAlongAHundredRandomPaths) {
  const TimingLimits limits = without_position_limits(puma());
  const TimingLimits ranges = limits_of(puma());
  PathTimer timer(puma(), limits, {.intervals = 500});
  std::mt19937 random(7);
  for (int k = 0; k < 100; ++k) {
    const auto path = make_spline_path(random_points(random, ranges, k % 2 == 0 ? 0.4 : 0.05));
    const Timing timing = timer.time(path);
    EXPECT_LT(sample_finely(timing, puma(), limits, Drives::kAll).worst, 1.005) << k;
    for (const double speed : timing.speed) ASSERT_TRUE(std::isfinite(speed)) << k;
  }
}

/// A curve of sines; it reports no breaks.
class Sines final : public Path {
 public:
  int size() const noexcept override { return 6; }
  double length() const noexcept override { return 3; }
  void sample(double s, std::span<double> q, std::span<double> dq,
              std::span<double> ddq) const override {
    for (std::size_t i = 0; i < 6; ++i) {
      const double w = 2 + 0.7 * static_cast<double>(i);
      q[i] = -0.5 + 0.2 * std::sin(w * s);
      dq[i] = 0.2 * w * std::cos(w * s);
      ddq[i] = -0.2 * w * w * std::sin(w * s);
    }
  }
};

TEST(TimeParameterization, BeginsAtTheFirstPointAndEndsExactlyAtRestOnTheLast) {
  PathTimer timer(puma(), without_position_limits(puma()));
  const Timing timing = timer.time(make_spline_path(kPaths[3]));
  const Trajectory& motion = *timing.trajectory;
  std::vector<double> q(6), qd(6), qdd(6);
  motion.sample(0, q, qd, qdd);
  EXPECT_EQ(q, kPaths[3].front());
  EXPECT_EQ(qd, std::vector<double>(6, 0.0));
  for (const double beyond : {0.0, 1e-10, 1.0}) {
    motion.sample(motion.duration() + beyond, q, qd, qdd);
    EXPECT_EQ(q, kPaths[3].back());
    EXPECT_EQ(qd, std::vector<double>(6, 0.0));
    EXPECT_EQ(qdd, std::vector<double>(6, 0.0));
  }
  motion.sample(-1, q, qd, qdd);
  EXPECT_EQ(q, kPaths[3].front());
  EXPECT_EQ(qdd, std::vector<double>(6, 0.0));
}

TEST(TimeParameterization, EndsAtRestOnAPathThatIsCurvedThere) {
  PathTimer timer(puma(), without_position_limits(puma()));
  const Timing timing = timer.time(std::make_shared<Sines>());
  std::vector<double> q(6), qd(6), qdd(6);
  timing.trajectory->sample(timing.trajectory->duration(), q, qd, qdd);
  EXPECT_NEAR(q[0], -0.5 + 0.2 * std::sin(6), 1e-15);
  EXPECT_EQ(qd, std::vector<double>(6, 0.0));
  EXPECT_EQ(qdd, std::vector<double>(6, 0.0));
}

TEST(TimeParameterization, GivesVelocitiesAndAccelerationsThatAreTheDerivativesOfThePositions) {
  PathTimer timer(puma(), without_position_limits(puma()));
  const Timing timing = timer.time(make_spline_path(kPaths[2]));
  std::vector<double> q(6), qd(6), qdd(6), before(6), behind(6), va(6), vb(6), unused(6);
  for (std::size_t k = 10; k + 10 < timing.time.size(); k += 37) {
    const double t = 0.5 * (timing.time[k] + timing.time[k + 1]), h = 1e-5;
    timing.trajectory->sample(t, q, qd, qdd);
    timing.trajectory->sample(t - h, before, va, unused);
    timing.trajectory->sample(t + h, behind, vb, unused);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_NEAR((behind[i] - before[i]) / (2 * h), qd[i], 1e-5);
      EXPECT_NEAR((vb[i] - va[i]) / (2 * h), qdd[i], 2e-2);
    }
  }
}

TEST(TimeParameterization, DoesNotDependOnTheUnitOfThePathParameter) {
  PathTimer timer(puma(), without_position_limits(puma()));
  const double expected = duration_of(timer, kPaths[2]);
  for (const double scale : {1e-6, 10.0, 1e8}) {
    std::vector<double> knots(kQuarters);
    for (double& knot : knots) knot *= scale;
    const double duration = timer.time(make_spline_path(kPaths[2], knots)).trajectory->duration();
    EXPECT_NEAR(duration / expected, 1, 1e-9) << scale;
  }
}

TEST(TimeParameterization, TakesTimesAsTheRootOfTheScaleOfTinyPaths) {
  // The inertia and gravity are then constant, and velocities play no part.
  PathTimer timer(puma(), without_position_limits(puma()));
  double last = 0;
  for (const double scale : {1e-4, 1e-6, 1e-8}) {
    Points points = kPaths[3];
    for (auto& point : points) {
      for (std::size_t i = 0; i < 6; ++i) {
        point[i] = kPaths[3][0][i] + scale * (point[i] - kPaths[3][0][i]);
      }
    }
    const double time = duration_of(timer, points) / std::sqrt(scale);
    if (last > 0) {
      EXPECT_NEAR(time / last, 1, 5e-3) << scale;
    }
    last = time;
  }
}

TEST(TimeParameterization, FindsTheReversalsOfAPathThatDoesNotNameThem) {
  const TimingLimits limits = without_position_limits(puma());
  PathTimer timer(puma(), limits, {.intervals = 400});
  const Timing timing = timer.time(std::make_shared<Sines>());
  EXPECT_GT(timing.s.size(), 401U + 10U);  // cos(w s) has 13 roots in all
  EXPECT_LT(sample_finely(timing, puma(), limits, Drives::kAll).worst, 1.005);
}

TEST(TimeParameterization, SlowerLimitsMakeSlowerMotions) {
  const TimingLimits all = without_position_limits(puma());
  PathTimer timer(puma(), all);
  const double fastest = duration_of(timer, kPaths[3]);
  TimingLimits weak = all, slow = all;
  for (double& torque : weak.torque) torque *= 0.7;
  for (double& velocity : slow.velocity) velocity *= 0.25;
  PathTimer weaker(puma(), weak), slower(puma(), slow);
  EXPECT_GT(duration_of(weaker, kPaths[3]), 1.1 * fastest);
  EXPECT_GT(duration_of(slower, kPaths[3]), 1.5 * fastest);
}

TEST(TimeParameterization, TimesAPathWithoutVelocityLimits) {
  TimingLimits limits = without_position_limits(puma());
  limits.velocity.assign(6, kInfinity);
  PathTimer timer(puma(), limits);
  const Timing timing = timer.time(make_spline_path(kPaths[0], kQuarters));
  EXPECT_LT(timing.trajectory->duration(), 6);
  EXPECT_LT(sample_finely(timing, puma(), limits, Drives::kAll).worst, 1.005);
}

TEST(TimeParameterization, TimesArmsOfOneAndSevenJoints) {
  const Chain seven = Chain::from_urdf_file(std::string(GA_ROBOTS) + "/seven_joints.urdf");
  TimingLimits limits = limits_of(seven);
  for (std::size_t i = 0; i < 7; ++i) {
    limits.torque[i] = std::min(limits.torque[i], 500.0);
    limits.velocity[i] = std::min(limits.velocity[i], 3.0);
  }
  const Points points{std::vector<double>(7, 0.1), std::vector<double>(7, 0.4)};
  PathTimer timer(seven, limits);
  const Timing timing = timer.time(make_spline_path(points));
  EXPECT_LT(sample_finely(timing, seven, limits, Drives::kAll).worst, 1.005);

  // A prismatic joint on its own: bang-bang, T = 2 sqrt(way * mass / force).
  DhJoint slide;
  slide.type = JointType::kPrismatic;
  slide.body.mass = 2;
  slide.limits.effort = 8;
  slide.limits.lower = -5, slide.limits.upper = 5;
  const Chain cart = Chain::from_dh({slide}, {0, 0, 0});
  PathTimer one(cart, limits_of(cart));
  const Points line{{0}, {1}};
  EXPECT_NEAR(one.time(make_spline_path(line)).trajectory->duration(), 1, 1e-6);
}

TEST(TimeParameterization, SamplesWithoutAllocating) {
  PathTimer timer(puma(), without_position_limits(puma()));
  const Timing timing = timer.time(make_spline_path(kPaths[1]));
  std::vector<double> q(6), qd(6), qdd(6);
  const long before = ::test::allocations();
  for (double t = -0.1; t < 6; t += 0.01) timing.trajectory->sample(t, q, qd, qdd);
  EXPECT_EQ(::test::allocations(), before);
  EXPECT_EQ(refusal([&] { timing.trajectory->sample(0, std::span(q).first(5), qd, qdd); }),
            "Trajectory::sample: q has 5 values; give at least 6");
}

// --- torque rates ---

/// Largest change of the torques without friction within `window`, over what the bound allows.
double rate_use(const Timing& timing, const Chain& chain, const TimingLimits& limits,
                double window) {
  Dynamics dynamics(chain, {.drives = Drives::kArmature});
  const auto n = static_cast<std::size_t>(chain.size());
  std::vector<double> q(n), qd(n), qdd(n), tau(n), later(n);
  double worst = 0;
  const double duration = timing.trajectory->duration();
  for (double t = -window; t < duration; t += window / 7) {
    timing.trajectory->sample(t, q, qd, qdd);
    dynamics.inverse_dynamics(q, qd, qdd, tau);
    timing.trajectory->sample(t + window, q, qd, qdd);
    dynamics.inverse_dynamics(q, qd, qdd, later);
    for (std::size_t i = 0; i < n; ++i) {
      worst = std::max(worst, std::abs(later[i] - tau[i]) / (window * limits.torque_rate[i]));
    }
  }
  return worst;
}

TEST(TorqueRate, IsBoundedAndNeverAtThePriceOfTheTorqueLimits) {
  for (const std::size_t path : {1U, 2U, 3U}) {
    TimingLimits limits = without_position_limits(puma());
    PathTimer unbounded(puma(), limits, {.intervals = 500});
    const double fastest = duration_of(unbounded, kPaths[path]);
    double last = fastest;
    for (const double ramp : {0.02, 0.05}) {
      for (std::size_t i = 0; i < 6; ++i) limits.torque_rate[i] = limits.torque[i] / ramp;
      PathTimer timer(puma(), limits, {.intervals = 500});
      const Timing timing = timer.time(make_spline_path(kPaths[path], kQuarters));
      EXPECT_LT(sample_finely(timing, puma(), limits, Drives::kAll).worst, 1.005);
      EXPECT_LT(rate_use(timing, puma(), limits, ramp), 1.15) << "P" << path + 1 << " " << ramp;
      EXPECT_GT(timing.trajectory->duration(), last);
      last = timing.trajectory->duration();
    }
    // Without the bound, torques jump.
    PathTimer free(puma(), without_position_limits(puma()), {.intervals = 500});
    EXPECT_GT(rate_use(free.time(make_spline_path(kPaths[path], kQuarters)), puma(), limits, 0.02),
              2);
    // With 50 ms: a little more than found with twice the grid points.
    const double price[] = {0, 0.0093, 0.048, 0.058};
    EXPECT_LT(last / fastest - 1, price[path]);
  }
}

TEST(TorqueRate, OfOneJointGivesTheClosedFormOfAThirdOrderMotion) {
  // A cart of 2 kg, 8 N, 40 N/s, over a way of 1 m: constant jerk 20 m/s³ up to 4 m/s² and back.
  // Rest to rest with the full acceleration a reached for a time h between two ramps r = a / j:
  // way = a (r + h) (2 r + h).
  DhJoint slide;
  slide.type = JointType::kPrismatic;
  slide.body.mass = 2;
  slide.limits.effort = 8;
  const Chain cart = Chain::from_dh({slide}, {0, 0, 0});
  TimingLimits limits = limits_of(cart);
  limits.torque_rate = {40};
  PathTimer timer(cart, limits);
  const Points line{{0}, {1}};
  const double r = 0.2, a = 4;
  const double h = (-3 * r + std::sqrt(9 * r * r - 4 * (2 * r * r - 1 / a))) / 2;
  EXPECT_NEAR(timer.time(make_spline_path(line)).trajectory->duration(), 2 * (2 * r + h), 5e-3);
}

// --- bad input ---

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TimingError flaw_of(const Chain& chain, const Points& points) {
  try {
    PathTimer(chain, without_position_limits(chain)).time(make_spline_path(points));
  } catch (const TimingError& error) {
    return error;
  }
  ADD_FAILURE() << "accepted";
  return {TimingFlaw::kPosition, -1, 0, 0, ""};
}

TEST(BadPath, GravityBeyondAMotorAtRestNamesJointPlaceAndTorque) {
  const Chain chain = puma().with_payload({20, {0, 0, 0}, {}});
  // Stretched forward: joint 2 carries the payload at 0.86 m.
  const Points points{{0, -1.57, 1.57, 0, 0, 0}, {0, 0, 1.57, 0, 0, 0}};
  const TimingError error = flaw_of(chain, points);
  EXPECT_EQ(error.flaw(), TimingFlaw::kGravity);
  EXPECT_EQ(error.joint(), 1);
  EXPECT_GT(std::abs(error.value()), 186.4);
  Dynamics dynamics(chain);
  std::vector<double> q(6), first(6), second(6), gravity(6);
  make_spline_path(points)->sample(error.s(), q, first, second);
  dynamics.gravity(q, gravity);
  EXPECT_NEAR(std::abs(gravity[1]), error.value(), 1e-6);
  expect_parts(error.what(), {"joint2 needs ", " N m to hold the arm at rest at s = ",
                              "(point 2); its torque limit is 186.4 N m: "});
}

/// 1 kg at 1 m, hanging at 0: gravity takes 9.81 sin q. Coulomb friction of 1 N m, 10 N m at most.
Chain pendulum(double effort) {
  DhJoint joint;
  joint.body.mass = 1;
  joint.body.com = {1, 0, 0};
  joint.drive.coulomb_positive = joint.drive.coulomb_negative = 1;
  joint.limits.effort = effort;
  joint.limits.velocity = 3;
  joint.name = "swing";
  return Chain::from_dh({joint}, {9.81, 0, 0});
}

TEST(BadPath, GravityAndFrictionThatAMotorCannotOvercomeNameJointPlaceAndTorque) {
  const TimingError error = flaw_of(pendulum(10), {{1.4}, {1.7}});
  EXPECT_EQ(error.flaw(), TimingFlaw::kFriction);
  EXPECT_EQ(error.joint(), 0);
  EXPECT_NEAR(error.value(), 10.81, 1e-3);
  EXPECT_NEAR(error.s(), 1.5708 - 1.4, 1e-3);
  expect_parts(error.what(), {"swing needs 10.81 N m against gravity and Coulomb friction at s = ",
                              "its torque limit is 10 N m"});
  EXPECT_EQ(flaw_of(pendulum(9), {{1.4}, {1.7}}).flaw(), TimingFlaw::kGravity);
  // Downward, friction and gravity are opposed.
  PathTimer timer(pendulum(10), limits_of(pendulum(10)));
  const Points down{{1.7}, {1.4}};
  EXPECT_GT(timer.time(make_spline_path(down)).trajectory->duration(), 0.1);
}

TEST(BadPath, APlaceWhereTheArmMayNotStopIsRefused) {
  // From below, momentum carries the arm over the place where it could not start.
  const TimingError error = flaw_of(pendulum(10), {{0}, {2.5}});
  EXPECT_EQ(error.flaw(), TimingFlaw::kNoStop);
  EXPECT_NEAR(error.value(), 10.81, 1e-3);
  EXPECT_NEAR(error.s(), 1.5708, 3e-3);
  expect_parts(error.what(), {"swing needs 10.81 N m", "only with momentum"});
}

TEST(BadPath, PositionsBeyondTheLimitsNameJointPlaceAndValue) {
  const Points points{{0, -1, 1, 0, 0, 0}, {0, -1, 1, 0, 1.8, 0}};
  PathTimer timer(puma(), limits_of(puma()));
  try {
    timer.time(make_spline_path(points));
    ADD_FAILURE() << "accepted";
  } catch (const TimingError& error) {
    EXPECT_EQ(error.flaw(), TimingFlaw::kPosition);
    EXPECT_EQ(error.joint(), 4);
    expect_parts(error.what(),
                 {"joint5 is at 1.69", " rad at s = ", "its limits are -1.69297 and "});
  }
  EXPECT_TRUE(timer.active_limits().empty());
}

std::string spline_refusal(const Points& points, const std::vector<double>& knots = {}) {
  return refusal([&] { make_spline_path(points, knots); });
}

TEST(BadPath, PointsThatMakeNoPathAreNamed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string start = "make_spline_path: ";
  EXPECT_EQ(spline_refusal({}), start + "0 points; give two or more, with a value per joint each");
  EXPECT_EQ(spline_refusal({{1, 2}}),
            start + "1 point; give two or more, with a value per joint each");
  EXPECT_EQ(spline_refusal({{1, 2}, {1}}),
            start + "point 2 has 1 values, point 1 has 2; give one per joint");
  EXPECT_EQ(spline_refusal({{1, 2}, {1, nan}}),
            start + "point 2, joint 2 is nan; give a finite number");
  EXPECT_EQ(spline_refusal({{1, 2}, {1, 3}, {1, 3}}),
            start + "points 2 and 3 are the same; remove one");
  EXPECT_EQ(spline_refusal({{1, 2}, {1, 2}}), start + "points 1 and 2 are the same; remove one");
  EXPECT_EQ(spline_refusal({{0}, {1}}, {0}), start + "1 knots for 2 points; give one per point");
  EXPECT_EQ(spline_refusal({{0}, {1}}, {1, 2}), start + "the first knot is 1; begin with 0");
  EXPECT_EQ(spline_refusal({{0}, {1}}, {0, nan}),
            start + "knot 2 is nan after 0; give increasing, finite numbers");
  expect_parts(spline_refusal({{0}, {1e300}, {1e300 + 1e285}, {-1e308}, {1e308}}),
               {"which does not fit the length of the path"});
}

TEST(BadPath, RepeatedPointsCanBeDropped) {
  const Points points{{0, 0}, {0, 0}, {1, 0}, {1, 1e-4}, {2, 0}, {2, 5e-4}};
  EXPECT_EQ(without_repeats(points, 1e-3), (Points{{0, 0}, {1, 0}, {2, 5e-4}}));
  EXPECT_EQ(without_repeats(points, 0), (Points{{0, 0}, {1, 0}, {1, 1e-4}, {2, 0}, {2, 5e-4}}));
  EXPECT_EQ(without_repeats(Points{{0, 0}, {0, 1e-4}}, 1e-3), (Points{{0, 0}}));
  EXPECT_TRUE(without_repeats(Points{}, 1e-3).empty());
}

/// A path with one bad property.
class BadPathOf final : public Path {
 public:
  BadPathOf(int joints, double length, double slope)
      : joints_(joints), length_(length), slope_(slope) {}
  int size() const noexcept override { return joints_; }
  double length() const noexcept override { return length_; }
  void sample(double, std::span<double> q, std::span<double> dq,
              std::span<double> ddq) const override {
    std::fill(q.begin(), q.end(), 0.0);
    std::fill(dq.begin(), dq.end(), slope_);
    std::fill(ddq.begin(), ddq.end(), 0.0);
  }

 private:
  int joints_;
  double length_, slope_;
};

TEST(BadPath, PathsThatAreNoneAreNamed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  PathTimer timer(puma(), without_position_limits(puma()));
  const auto refused = [&timer](const std::shared_ptr<const Path>& path) {
    return refusal([&] { timer.time(path); });
  };
  const std::string start = "PathTimer::time: ";
  EXPECT_EQ(refused(nullptr), start + "path is null; give one");
  EXPECT_EQ(refused(std::make_shared<BadPathOf>(5, 1.0, 1.0)),
            start + "path has 5 joints, the arm 6; give one for this arm");
  for (const double length : {0.0, -1.0, nan, kInfinity}) {
    expect_parts(refused(std::make_shared<BadPathOf>(6, length, 1.0)),
                 {start + "path has the length"});
  }
  EXPECT_EQ(refused(std::make_shared<BadPathOf>(6, 1.0, 0.0)),
            start + "no joint moves along the path; give another one");
  expect_parts(refused(std::make_shared<BadPathOf>(6, 1.0, nan)), {start + "joint1 is at 0"});
  expect_parts(refused(std::make_shared<BadPathOf>(6, 1.0, 1e200)), {start + "the torques at "});
}

TEST(BadLimits, AreNamedWithTheirJoint) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [](const std::function<void(TimingLimits&)>& change) {
    TimingLimits limits = limits_of(puma());
    change(limits);
    return refusal([&] { PathTimer(puma(), limits); });
  };
  EXPECT_EQ(refused([](TimingLimits&) {}), "accepted");
  EXPECT_EQ(refused([](TimingLimits& l) { l.torque.pop_back(); }),
            "PathTimer: limits.torque has 5 values for 6 joints; give one per joint");
  for (const double value : {0.0, -1.0, nan}) {
    expect_parts(refused([=](TimingLimits& l) { l.torque[2] = value; }),
                 {"PathTimer: joint3: torque limit is ", "give a number above zero"});
    expect_parts(refused([=](TimingLimits& l) { l.velocity[3] = value; }),
                 {"PathTimer: joint4: velocity limit is "});
  }
  EXPECT_EQ(refused([](TimingLimits& l) { l.torque[5] = kInfinity; }),
            "PathTimer: joint6: neither a torque nor an acceleration limit; add the effort to its "
            "<limit> in the description, or give an acceleration limit");
  EXPECT_EQ(refused([](TimingLimits& l) {
              l.torque[5] = kInfinity;
              l.acceleration[5] = 10;
            }),
            "accepted");
  expect_parts(refused([=](TimingLimits& l) { l.upper[0] = nan; }), {"joint1: position limits "});
  expect_parts(refused([](TimingLimits& l) {
                 l.torque[0] = kInfinity, l.acceleration[0] = 1, l.torque_rate[0] = 1;
               }),
               {"joint1: a torque rate limit without a torque limit"});
  for (const int intervals : {9, -1, 100001}) {
    EXPECT_EQ(
        refusal([&] { PathTimer(puma(), limits_of(puma()), {.intervals = intervals}); }),
        "PathTimer: options.intervals is " + std::to_string(intervals) + "; give 10 to 100000");
  }
}

// --- computing time ---

double seconds(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(ComputingTime, OfAThousandIntervalsIsThatOfAFewThousandInverseDynamics) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers slow down the parts by different factors";
#endif
  const TimingLimits limits = without_position_limits(puma());
  PathTimer without(puma(), limits, {.friction = false}), with(puma(), limits);
  const auto path = make_spline_path(kPaths[3], kQuarters);
  Dynamics dynamics(puma(), {.drives = Drives::kArmature});
  std::vector<double> q(kPaths[3][0]), qd(6, 0.5), qdd(6, 1.0), tau(6);
  double least[3] = {kInfinity, kInfinity, kInfinity};
  for (int round = 0; round < 60; ++round) {
    least[0] = std::min(least[0], seconds([&] { without.time(path); }));
    least[1] = std::min(least[1], seconds([&] { with.time(path); }));
    least[2] = std::min(least[2], seconds([&] {
                          for (int k = 0; k < 1000; ++k) {
                            q[0] += 1e-6;
                            dynamics.inverse_dynamics(q, qd, qdd, tau);
                          }
                        }));
  }
  std::printf("%.2f without and %.2f with friction, in 1000 inverse dynamics (%.0f ns)\n",
              least[0] / least[2], least[1] / least[2], 1e6 * least[2]);
  EXPECT_LT(least[0] / least[2], 10);
  EXPECT_LT(least[1] / least[2], 15);
}

}  // namespace
}  // namespace ga_motion
