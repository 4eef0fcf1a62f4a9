// SPDX-License-Identifier: Apache-2.0

// Joint-space motions and straight lines of the tool: what they pass through, how smooth they are,
// that their derivatives are derivatives, and that sampling does not allocate.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "counting_allocator.hpp"
#include "ga_motion/cartesian_line.hpp"
#include "ga_motion/trajectory.hpp"
#include "worse.hpp"

namespace ga_motion {

using namespace ga_dynamics;
namespace {

constexpr double kPi = std::numbers::pi;
using Values = std::vector<double>;

struct State {
  explicit State(const Trajectory& motion, double t)
      : q(static_cast<std::size_t>(motion.size())), qd(q), qdd(q) {
    motion.sample(t, q, qd, qdd);
  }
  Values q, qd, qdd;
};

/// Largest difference between qd, qdd and central differences, eighth order, of q, qd at t.
double derivative_error(const Trajectory& motion, double t, double h) {
  const double weights[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
  const State now(motion, t);
  Values qd(now.q.size()), qdd(now.q.size());
  for (int k = 1; k <= 4; ++k) {
    const State ahead(motion, t + k * h), behind(motion, t - k * h);
    for (std::size_t i = 0; i < qd.size(); ++i) {
      qd[i] += weights[k - 1] * (ahead.q[i] - behind.q[i]) / h;
      qdd[i] += weights[k - 1] * (ahead.qd[i] - behind.qd[i]) / h;
    }
  }
  double worst = 0;
  for (std::size_t i = 0; i < qd.size(); ++i)
    worst = ga_dynamics::test::worse(ga_dynamics::test::worse(worst, std::abs(qd[i] - now.qd[i])),
                                     std::abs(qdd[i] - now.qdd[i]));
  return worst;
}

std::string refusal(const std::function<void()>& make) {
  try {
    make();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "accepted";
}

void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
}

// --- joint space ---

TEST(Ramp, KeepsEveryJointWithinSpeedAndAccelerationAndUsesThem) {
  const Values start{0, 1, -0.5}, goal{1, -0.5, -0.5}, speed{0.5, 1, 1}, acceleration{2, 1.5, 1};
  const auto ramp = make_ramp(start, goal, speed, acceleration);
  // Joint 1: 2 s at full speed; joint 2: 1.5 rad at 0.75 rad/s, 1.5 rad/s² in 0.5 s.
  EXPECT_NEAR(ramp->duration(), 2.5, 1e-12);
  Values fastest(3), hardest(3);
  for (double t = 0; t < ramp->duration(); t += 1e-3) {
    const State s(*ramp, t);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_LE(std::abs(s.qd[i]), speed[i] * (1 + 1e-12));
      EXPECT_LE(std::abs(s.qdd[i]), acceleration[i] * (1 + 1e-12));
      fastest[i] = std::max(fastest[i], std::abs(s.qd[i]));
      hardest[i] = std::max(hardest[i], std::abs(s.qdd[i]));
    }
  }
  EXPECT_NEAR(fastest[0], 0.5, 1e-12);
  EXPECT_NEAR(hardest[1], 1.5, 1e-12);
  EXPECT_EQ(fastest[2], 0);
  EXPECT_EQ(State(*ramp, 0).q, start);
  EXPECT_EQ(State(*ramp, ramp->duration()).q, goal);
  for (const double t : {0.25, 1.25, 2.2}) EXPECT_LT(derivative_error(*ramp, t, 0.02), 1e-12);
}

TEST(Ramp, OfAShortWayDoesNotReachTheSpeed) {
  const auto ramp = make_ramp(Values{0}, Values{0.01}, Values{1}, Values{1});
  EXPECT_NEAR(ramp->duration(), 2 * std::sqrt(0.01), 1e-15);
  EXPECT_NEAR(State(*ramp, 0.1).qd[0], 0.1, 1e-12);
  const auto none = make_ramp(Values{0.3}, Values{0.3}, Values{1}, Values{1});
  EXPECT_EQ(none->duration(), 0);
  EXPECT_EQ(State(*none, 0).q[0], 0.3);
}

TEST(Ramp, WithoutBlendsIsThePureRampAndRestsOutside) {
  const auto pure = make_ramp(Values{0}, Values{2}, Values{0.5}, Values{INFINITY});
  EXPECT_EQ(pure->duration(), 4);
  for (const double t : {0.0, 1.0, 4.0}) {
    EXPECT_EQ(State(*pure, t).q[0], 0.5 * t);
    EXPECT_EQ(State(*pure, t).qd[0], 0.5);
  }
  EXPECT_EQ(State(*pure, 1).qdd[0], 0);
  EXPECT_EQ(State(*pure, 4 + 1e-12).qd[0], 0.5);  // a clock's rounding
  for (const double t : {-0.1, 4.1}) EXPECT_EQ(State(*pure, t).qd[0], 0);
  EXPECT_EQ(State(*pure, 4.1).q[0], 2);
  EXPECT_EQ(State(*pure, NAN).q[0], 0);
  const auto timed = make_timed_ramp(Values{0}, Values{3}, 4.0, 1.0);
  EXPECT_EQ(State(*timed, 2).qd[0], 1);
  EXPECT_EQ(State(*timed, 3.5).qdd[0], -1);
}

TEST(Quintic, RestToRestWithTheKnownPeaks) {
  const auto motion = make_quintic(Values{1, 0}, Values{3, -1}, 2.0);
  for (const double t : {0.0, 2.0}) {
    EXPECT_EQ(State(*motion, t).q, (t == 0 ? Values{1, 0} : Values{3, -1}));
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(State(*motion, t).qd[i], 0);
      EXPECT_EQ(State(*motion, t).qdd[i], 0);
    }
  }
  EXPECT_NEAR(State(*motion, 1).qd[0], 1.875 * 2 / 2, 1e-14);
  EXPECT_NEAR(State(*motion, 1 - std::sqrt(1.0 / 3)).qdd[0], 10 / std::sqrt(3) * 2 / 4, 1e-13);
  for (const double t : {0.3, 1.0, 1.7}) EXPECT_LT(derivative_error(*motion, t, 0.05), 1e-12);
}

TEST(CubicSpline, ThreePointsWithoutAStopAtTheMiddleOne) {
  // 0, 1, 3 rad at 0, 1, 2 s, from rest to rest: slope at the middle 3·(1 + 2)/4 by hand.
  const std::vector<Values> points{{0}, {1}, {3}};
  const auto spline = make_cubic_spline(Values{0, 1, 2}, points);
  EXPECT_NEAR(State(*spline, 1).qd[0], 9.0 / 4, 1e-14);
  EXPECT_EQ(State(*spline, 1).q[0], 1);
  EXPECT_EQ(State(*spline, 0).qd[0], 0);
  EXPECT_NEAR(State(*spline, 2).qd[0], 0, 1e-14);
  EXPECT_NEAR(State(*spline, 0).qdd[0], 6 * 1 - 2 * 9.0 / 4, 1e-13);  // 6Δ/h² − 2v/h
}

TEST(CubicSpline, PassesItsPointsWithContinuousVelocityAndAcceleration) {
  const Values times{0, 0.4, 1.1, 1.3, 2.9, 3.0};
  std::vector<Values> points;
  for (std::size_t k = 0; k < times.size(); ++k)
    points.push_back({std::sin(2.0 * static_cast<double>(k)), 0.3 * static_cast<double>(k * k), 7});
  const Values begin{0.2, -0.3, 0}, end{-1, 0.5, 0};
  const auto spline = make_cubic_spline(times, points, begin, end);
  EXPECT_EQ(spline->duration(), 3);
  for (std::size_t k = 0; k < times.size(); ++k) {
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(State(*spline, times[k]).q[i], points[k][i], 1e-14);
      const State before(*spline, times[k] - 1e-12), behind(*spline, times[k] + 1e-12);
      EXPECT_NEAR(before.q[i], behind.q[i], 1e-10);
      EXPECT_NEAR(before.qd[i], behind.qd[i], 1e-8);
      EXPECT_NEAR(before.qdd[i], behind.qdd[i], 1e-8);
    }
    if (k > 0) {
      const double h = times[k] - times[k - 1];
      EXPECT_LT(derivative_error(*spline, times[k - 1] + 0.5 * h, 0.1 * h), 1e-9);
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(State(*spline, 0).qd[i], begin[i], 1e-13);
    EXPECT_NEAR(State(*spline, 3).qd[i], end[i], 1e-12);
  }
  EXPECT_EQ(State(*spline, 3.5).qd[0], 0);
}

TEST(CubicSpline, ReproducesACubic) {
  const auto cubic = [](double t) { return 1 + t * (2 + t * (-0.7 + 0.3 * t)); };
  const auto slope = [](double t) { return 2 + t * (-1.4 + 0.9 * t); };
  const Values times{0, 0.3, 0.35, 1.4, 2.2};
  std::vector<Values> points;
  for (const double t : times) points.push_back({cubic(t)});
  const auto spline = make_cubic_spline(times, points, Values{slope(0)}, Values{slope(2.2)});
  for (double t = 0; t <= 2.2; t += 0.01) {
    EXPECT_NEAR(State(*spline, t).q[0], cubic(t), 1e-14);
    EXPECT_NEAR(State(*spline, t).qd[0], slope(t), 1e-13);
    EXPECT_NEAR(State(*spline, t).qdd[0], -1.4 + 1.8 * t, 1e-11);
  }
}

TEST(Sequence, RunsOnePartAfterAnother) {
  std::vector<std::unique_ptr<Trajectory>> parts;
  parts.push_back(make_quintic(Values{0}, Values{1}, 2.0));
  parts.push_back(make_hold(Values{1}, 0.5));
  parts.push_back(make_ramp(Values{1}, Values{0}, Values{0.5}, Values{INFINITY}));
  const auto sequence = make_sequence(std::move(parts));
  EXPECT_EQ(sequence->duration(), 4.5);
  EXPECT_EQ(State(*sequence, 1).q[0], 0.5);
  EXPECT_EQ(State(*sequence, 2.25).q[0], 1);
  EXPECT_EQ(State(*sequence, 2.5).qd[0], -0.5);  // where parts meet, the later one's
  EXPECT_EQ(State(*sequence, 3.5).q[0], 0.5);
  EXPECT_EQ(State(*sequence, 4.5).qd[0], -0.5);
  EXPECT_EQ(State(*sequence, 5).qd[0], 0);
  EXPECT_EQ(State(*sequence, -1).q[0], 0);
  EXPECT_EQ(State(*sequence, NAN).q[0], 0);
}

TEST(Trajectories, ErrorsNameTheArgumentTheValueAndTheRemedy) {
  const Values one{1}, two{1, 2};
  const std::vector<Values> points{{0}, {1}, {2}};
  expect_parts(refusal([&] { make_ramp(one, two, one, one); }), {"goal has 2 values for 1"});
  expect_parts(refusal([&] { make_ramp(one, one, Values{0}, one); }), {"speed[0] is 0; give"});
  expect_parts(refusal([&] { make_ramp(one, one, one, Values{-1}); }), {"acceleration[0] is -1"});
  expect_parts(refusal([&] { make_timed_ramp(one, one, 1, 0.6); }), {"blend_time 0.6", "0.5 s"});
  expect_parts(refusal([&] { make_quintic(one, Values{NAN}, 1); }), {"goal[0] is nan"});
  expect_parts(refusal([&] { make_quintic(one, one, 0); }), {"duration 0 s"});
  expect_parts(refusal([&] { make_hold(Values{}, 1); }), {"empty"});
  expect_parts(refusal([&] { make_cubic_spline(Values{0, 1}, points); }), {"2 times for 3 points"});
  expect_parts(refusal([&] { make_cubic_spline(Values{0, 1, 1}, points); }), {"times[2] is 1 s"});
  expect_parts(refusal([&] { make_cubic_spline(Values{1, 2, 3}, points); }), {"times[0] is 1 s"});
  expect_parts(refusal([&] {
                 make_cubic_spline(Values{0, 1, 2}, points, two);
               }),
               {"start_velocity has 2 values for 1"});
  expect_parts(refusal([&] {
                 std::vector<std::unique_ptr<Trajectory>> parts;
                 parts.push_back(make_hold(one, 1)), parts.push_back(make_hold(Values{1.1}, 1));
                 make_sequence(std::move(parts));
               }),
               {"joint 0 ends part 0 at 1 and begins part 1 at 1.1"});
}

// --- straight lines of the tool ---

/// Mata, Valera et al., Table 5, with d4 = +0.433 (a forearm that carries its own mass).
Chain puma600() {
  const double right = kPi / 2;
  const DhParameters dh[] = {{},       {-right}, {0, 0.432, -0.15}, {right, -0.02, 0.433},
                             {-right}, {right}};
  std::vector<DhJoint> rows(6);
  for (std::size_t i = 0; i < 6; ++i) rows[i].dh = dh[i];
  return Chain::from_dh(rows);
}

const Matrix3 kHand = rotation_zyz(kPi / 4, kPi / 3, kPi / 2);
const Pose kStart{kHand, {0.6, 0.175, 0.25}};

struct PublishedLine {
  const char* source;
  Pose start;
  Vector3 end;
  double speed, length, duration;
};
const PublishedLine kLines[] = {
    // Mata et al. 2002 §5.2 gives 0.1 m/s and 5.0 s, which contradict each other: both are run.
    {"2002, 0.1 m/s",
     {rotation_zyz(0, kPi / 2, kPi), {0.5, 0, 0.05}},
     {0.62, 0.30, 0.11},
     0.1,
     0.3286,
     3.286},
    {"2002, 5 s",
     {rotation_zyz(0, kPi / 2, kPi), {0.5, 0, 0.05}},
     {0.62, 0.30, 0.11},
     0.06573,
     0.3286,
     5.0},
    {"Provenzano et al.", kStart, {0.244, 0.527, 0.25}, 0.1, 0.5006, 5.006},
    {"Mata, Valera et al.", kStart, {0.018, 0.757, 0}, 0.1, 0.8602, 8.602}};

TEST(CartesianLine, PublishedLinesInAllEightBranches) {
  const PumaKinematics puma(puma600());
  double worst_pose = 0, worst_speed = 0, worst_turn = 0, worst_derivative = 0, least_sine = 1;
  for (const PublishedLine& published : kLines) {
    for (const double blend : {0.0, 0.4}) {
      const CartesianLine line(published.start, {published.start.rotation, published.end},
                               published.speed, blend);
      EXPECT_NEAR(line.length(), published.length, 5e-5) << published.source;
      EXPECT_NEAR(line.duration(), published.duration + blend, 1e-3) << published.source;
      for (int b = 0; b < 8; ++b) {
        const PumaBranch branch{b & 4 ? -1 : 1, b & 2 ? -1 : 1, b & 1 ? -1 : 1};
        const auto motion = make_cartesian_line(puma, line, branch);
        for (int k = 0; k <= 100; ++k) {
          const double t = line.duration() * k / 100;
          const State s(*motion, t);
          EXPECT_EQ(puma.branch_of(s.q), branch);
          least_sine = std::min(least_sine, std::abs(std::sin(s.q[4])));
          Pose pose;
          puma.forward(s.q, pose);
          const CartesianLine::Travel travel = line.travel(t);
          std::array<double, 36> jacobian;
          puma.jacobian(s.q, jacobian);
          for (std::size_t row = 0; row < 6; ++row) {
            double twist = 0;
            for (std::size_t i = 0; i < 6; ++i) twist += jacobian[6 * row + i] * s.qd[i];
            if (row < 3) {
              const double way = travel.way * line.direction()[row];
              worst_pose = ga_dynamics::test::worse(
                  worst_pose,
                  std::abs(pose.translation[row] - way - published.start.translation[row]));
              worst_speed = ga_dynamics::test::worse(
                  worst_speed, std::abs(twist - travel.rate * line.direction()[row]));
            } else {
              worst_turn = ga_dynamics::test::worse(worst_turn, std::abs(twist));
            }
          }
          for (std::size_t i = 0; i < 9; ++i)
            worst_pose = ga_dynamics::test::worse(
                worst_pose, std::abs(pose.rotation[i] - published.start.rotation[i]));
          if (t > blend && t < line.duration() - blend) {
            EXPECT_EQ(travel.rate, published.speed);
          }
          const double h = 0.005, from_edge = std::min(t, line.duration() - t);
          if (from_edge > 4 * h && std::abs(from_edge - blend) > 4 * h)
            worst_derivative =
                ga_dynamics::test::worse(worst_derivative, derivative_error(*motion, t, h));
        }
      }
    }
  }
  EXPECT_LT(worst_pose, 1e-12);
  EXPECT_LT(std::max(worst_speed, worst_turn), 1e-12);  // m/s, rad/s
  EXPECT_LT(worst_derivative, 1e-10);                   // rad/s, rad/s²
  EXPECT_GT(least_sine, 0.3);
  std::cout << "[          ] pose " << worst_pose << ", speed " << worst_speed << " m/s, turning "
            << worst_turn << " rad/s, derivatives " << worst_derivative << ", least |sin q5| "
            << least_sine << "\n";
}

TEST(CartesianLine, StartsAndStopsSmoothlyAndIsExactlyConstantBetween) {
  const CartesianLine line(kStart, {kHand, {0.018, 0.757, 0}}, 0.1, 0.5);
  EXPECT_NEAR(line.duration(), line.length() / 0.1 + 0.5, 1e-15);
  for (const double t : {0.0, line.duration()}) {
    EXPECT_EQ(line.travel(t).rate, 0);
    EXPECT_EQ(line.travel(t).acceleration, 0);
    EXPECT_EQ(line.travel(t).way, t == 0 ? 0 : line.length());
  }
  for (const double edge : {0.5, line.duration() - 0.5}) {
    const CartesianLine::Travel before = line.travel(edge - 1e-7),
                                behind = line.travel(edge + 1e-7);
    EXPECT_NEAR(before.way, behind.way, 2.1e-8);
    EXPECT_NEAR(before.rate, behind.rate, 1e-12);
    EXPECT_NEAR(before.acceleration, behind.acceleration, 1e-11);
  }
  EXPECT_NEAR(line.travel(0.25).acceleration, 1.875 * 0.1 / 0.5, 1e-15);
  const CartesianLine abrupt(kStart, {kHand, {0.018, 0.757, 0}}, 0.1, 0);
  EXPECT_EQ(abrupt.travel(0).rate, 0.1);
  EXPECT_EQ(abrupt.travel(abrupt.duration()).rate, 0.1);
  EXPECT_EQ(abrupt.travel(abrupt.duration() + 1).rate, 0);
}

TEST(CartesianLine, SeedChoosesBranchAndTurn) {
  const PumaKinematics puma(puma600());
  const CartesianLine line(kStart, {kHand, {0.244, 0.527, 0.25}}, 0.1, 0.2);
  PumaSolution start;
  puma.solve(kStart, Values(6), {-1, 1, -1}, start);
  start.q[5] += 2 * kPi;
  const auto motion = make_cartesian_line(puma, line, start.q);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(State(*motion, 0).q[i], start.q[i], 1e-12);
  EXPECT_EQ(puma.branch_of(State(*motion, 3).q), (PumaBranch{-1, 1, -1}));
}

TEST(Sampling, AndClosedFormKinematicsDoNotAllocate) {
  const PumaKinematics puma(puma600());
  const Values a(6, 0.1), b(6, -0.4), speed(6, 1.0);
  const std::vector<Values> points{a, b, a};
  std::vector<std::unique_ptr<Trajectory>> motions, parts;
  motions.push_back(make_ramp(a, b, speed, speed));
  motions.push_back(make_quintic(a, b, 1.0));
  motions.push_back(make_cubic_spline(Values{0, 1, 2}, points));
  motions.push_back(make_cartesian_line(
      puma, CartesianLine(kStart, {kHand, {0.018, 0.757, 0}}, 0.1, 0.3), Values(6)));
  parts.push_back(make_quintic(a, b, 1.0)), parts.push_back(make_hold(b, 1.0));
  motions.push_back(make_sequence(std::move(parts)));
  Values q(6), qd(6), qdd(6);
  for (const auto& motion : motions) {
    const long before = ::test::allocations();
    for (int k = 0; k < 100000; ++k) {
      motion->sample(motion->duration() * k / 9e4, q, qd, qdd);
      puma.nearest(kStart, q, qd);
    }
    EXPECT_EQ(::test::allocations() - before, 0);
  }
  const long before = ::test::allocations();
  Values(10).swap(q);
  EXPECT_EQ(::test::allocations() - before, 1);  // the count counts
}

}  // namespace
}  // namespace ga_motion
