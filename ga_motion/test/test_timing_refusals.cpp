// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ga_dynamics/dynamics.hpp"
#include "ga_motion/time_parameterization.hpp"
#include "refusal.hpp"
#include "timing_paths.hpp"

// Paths and limits for which there is no motion: the error names joint, place, value and limit.

namespace ga_motion {
namespace {

using namespace ga_dynamics;
using ga_dynamics::test::refusal;
using ga_motion::test::Points;
using ga_motion::test::puma;
using ga_motion::test::without_position_limits;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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
  PathTimer timer(pendulum(10), limits_of(pendulum(10)));
  const Points up{{0}, {2.5}};
  EXPECT_THROW(timer.time(make_spline_path(up)), TimingError);
  EXPECT_TRUE(timer.active_limits().empty());
}

TEST(BadPath, ThePlaceThatNeedsMomentumIsNamedAndNotTheLargestLoad) {
  // The load is largest at the end, where the arm rests: the momentum is needed before.
  const TimingError error = flaw_of(pendulum(10), {{0}, {1.5707}});
  EXPECT_EQ(error.flaw(), TimingFlaw::kNoStop);
  EXPECT_LT(error.s(), 1.5707 - 1e-4);
  EXPECT_GT(error.s(), 1.3);
  EXPECT_GT(error.value(), 10);
}

TEST(BadPath, WhereGravityTakesAllTorqueTooLittleIsLeftToMove) {
  DhJoint lift;
  lift.type = JointType::kPrismatic;
  lift.body.mass = 1;
  lift.limits.effort = 9.81;
  lift.name = "lift";
  const Chain chain = Chain::from_dh({lift}, {0, 0, -9.81});
  for (const double goal : {1.0, -1.0}) {
    const TimingError error = flaw_of(chain, {{0}, {goal}});
    EXPECT_EQ(error.flaw(), TimingFlaw::kNoMotion) << goal;
    EXPECT_NEAR(error.value(), 9.81, 1e-9);
    expect_parts(error.what(), {"lift needs 9.81 N against gravity", "its torque limit is 9.81 N: ",
                                "too little is left to move the arm"});
  }
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

}  // namespace
}  // namespace ga_motion
