// SPDX-License-Identifier: Apache-2.0

// Hand guiding on the PUMA with encoders, friction, stiction and noise. A hand pulls a joint with an
// external torque.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/plant.hpp"
#include "ga_hardware/arm_model.hpp"
#include "ga_hardware/simulated_arm.hpp"
#include "puma_cell.hpp"

namespace {

using ga_controllers::ControlLaw;
using ga_controllers::LawKind;
using ga_hardware::test::kDt;
using ga_hardware::test::puma;
using ga_hardware::test::Values;

constexpr double kShare = 0.7;  ///< of the friction, compensated; as in puma_bringup
const Values kPosture{0, -0.6, 2.0, 0.3, 0.7, 0};
const Values kStretched{0, 0, 1.57, 0, 0, 0};

struct Setting {
  double share = kShare;
  double friction = 1;  ///< real over described
  double payload = 0;   ///< kg, unknown
  double noise = 3e-5;  ///< rad, before the encoders
  Values start = kPosture;
};

/// The PUMA as it is.
ga_dynamics::Chain real_arm(const Setting& s) {
  std::vector<ga_hardware::JointErrors> errors(6);
  for (auto& error : errors) error.friction = s.friction;
  return ga_hardware::actual_arm(puma(), errors, {s.payload, {0, 0, 0}, {}});
}

/// The arm under hand guiding, its encoders and velocity observers, and a hand.
class Guided {
 public:
  explicit Guided(const Setting& s)
      : signals_(ga_hardware::signals_of(puma())),
        plant(real_arm(s), {.static_ratio = 1.3, .stop_margin = 0.05}),
        model_(puma()),
        observers_(6, ga_hardware::VelocityObserver(150, kDt)),
        q_(6),
        qd_(6),
        tau_(6),
        sum_(6),
        hand(6),
        noise_(0, s.noise) {
    for (auto& signal : signals_) signal.noise = s.noise;
    law_.emplace_back(puma(), parameters(s));
    plant.reset(s.start, Values(6));
    for (std::size_t i = 0; i < 6; ++i) observers_[i].reset(s.start[i]);
    measure();
    law_[0].start(q_, qd_, {});
  }

  /// One cycle. The hand adds `hand` to the motors' torques.
  void cycle() {
    law_[0].update(q_, qd_, {}, kDt, tau_);
    for (std::size_t i = 0; i < 6; ++i) {
      tau_[i] = ga_hardware::dac_torque(signals_[i], tau_[i]);
      sum_[i] = tau_[i] + hand[i];
    }
    const Values before(plant.q().begin(), plant.q().end());
    ASSERT_TRUE(plant.step(sum_, kDt));
    for (std::size_t i = 0; i < 6; ++i) work += hand[i] * (plant.q()[i] - before[i]);
    measure();
  }
  void cycles(int count) {
    for (int k = 0; k < count; ++k) cycle();
  }

  double kinetic() { return plant.energy().kinetic; }
  /// Largest distance of a joint from a position.
  double moved(const Values& from) const {
    double most = 0;
    for (std::size_t i = 0; i < 6; ++i) most = std::max(most, std::abs(plant.q()[i] - from[i]));
    return most;
  }
  const Values& torque() const { return tau_; }

 private:
  static ga_controllers::LawParameters parameters(const Setting& s) {
    auto signals = ga_hardware::signals_of(puma());
    for (auto& signal : signals) signal.noise = s.noise;
    return ga_hardware::law_parameters(
        LawKind::kHandGuiding, {ga_controllers::gains_from_bandwidth(40, 1)}, s.share, signals);
  }
  void measure() {
    const auto expected = model_.predict(q_, qd_, tau_);
    for (std::size_t i = 0; i < 6; ++i) {
      q_[i] = ga_hardware::encoder_reading(signals_[i], plant.q()[i] + noise_(random_));
      observers_[i].update(q_[i], expected[i]);
      qd_[i] = observers_[i].velocity();
    }
  }

  std::vector<ga_hardware::JointSignals> signals_;

 public:
  ga_dynamics::Plant plant;

 private:
  ga_hardware::AccelerationModel model_;
  std::vector<ga_hardware::VelocityObserver> observers_;
  std::vector<ControlLaw> law_;
  Values q_, qd_, tau_, sum_;

 public:
  Values hand;      ///< N m
  double work = 0;  ///< J, of the hand

 private:
  std::mt19937 random_{1};
  std::normal_distribution<double> noise_;
};

/// Distance of the tool from the axis of a joint.
double lever(std::size_t joint) {
  ga_dynamics::Dynamics dynamics(puma());
  Values jacobian(36);
  dynamics.jacobian(kPosture, puma().tip_index(), jacobian);
  return std::hypot(jacobian[joint], jacobian[6 + joint], jacobian[12 + joint]);
}

/// Mean torque [N m] of a hand that moves the joint at 0.1 rad/s.
double torque_to_move(std::size_t joint, double share) {
  Guided arm({.share = share});
  ga_dynamics::Dynamics dynamics(puma(), {.drives = ga_dynamics::Drives::kArmature});
  Values inertia(36);
  dynamics.inertia_matrix(kPosture, inertia);
  const double own = inertia[7 * joint], speed = 0.1;
  double at = kPosture[joint], sum = 0;
  constexpr int kCycles = 3000, kSettle = 1500;
  for (int k = 0; k < kCycles; ++k) {
    at += speed * kDt;
    arm.hand[joint] =
        own * (900 * (at - arm.plant.q()[joint]) + 60 * (speed - arm.plant.qd()[joint]));
    arm.cycle();
    if (k >= kSettle) sum += arm.hand[joint];
  }
  EXPECT_NEAR(arm.plant.qd()[joint], speed, 0.1 * speed);
  return sum / (kCycles - kSettle);
}

TEST(HandGuiding, AHandMovesEachJointWithLessThanHalfOfTheForce) {
  std::printf("%-8s %14s %12s %10s %12s %10s\n", "joint", "without [N m]", "with [N m]",
              "lever [m]", "without [N]", "with [N]");
  for (std::size_t joint = 0; joint < 6; ++joint) {
    const double without = torque_to_move(joint, 0), with = torque_to_move(joint, kShare);
    const double arm = lever(joint);
    std::printf("%-8s %14.2f %12.2f %10.2f", puma().joints()[joint].name.c_str(), without, with,
                arm);
    if (arm > 0.05) std::printf(" %12.1f %10.1f", without / arm, with / arm);
    std::printf("\n");
    EXPECT_LT(with, 0.5 * without);
    EXPECT_GT(with, 0.2 * without) << "some friction must remain";
    RecordProperty(puma().joints()[joint].name + "_without", std::to_string(without));
    RecordProperty(puma().joints()[joint].name + "_with", std::to_string(with));
  }
}

TEST(HandGuiding, ReleasedFromRestTheArmStaysWithin5Mrad) {
  double worst = 0;
  for (const Values& start : {kPosture, kStretched}) {
    for (const double friction : {0.8, 1.0, 1.2}) {
      for (const double payload : {0.0, 0.5}) {
        Guided arm({.friction = friction, .payload = payload, .start = start});
        arm.cycles(5000);
        EXPECT_LT(arm.moved(start), 5e-3) << "friction " << friction << ", payload " << payload;
        EXPECT_LT(arm.kinetic(), 1e-9);
        worst = std::max(worst, arm.moved(start));
      }
    }
  }
  std::printf("released from rest: moved by at most %.3f mrad in 5 s\n", 1e3 * worst);
  RecordProperty("released_mrad", std::to_string(1e3 * worst));
}

TEST(HandGuiding, ReleasedInMotionTheArmComesToRestWithLessFrictionThanDescribed) {
  double longest = 0;
  for (std::size_t joint = 0; joint < 6; ++joint) {
    Guided arm({.friction = 0.8});
    const double speed = 0.2 * puma().joints()[joint].limits.velocity;
    Values qd(6);
    qd[joint] = speed;
    arm.plant.reset(kPosture, qd);
    double before = arm.kinetic(), time = 0;
    for (int k = 0; k < 8000 && arm.kinetic() > 1e-7; ++k) {
      arm.cycles(1);
      // Exchange with the sensors' noise aside, energy only decreases.
      EXPECT_LT(arm.kinetic(), before + 1e-3) << joint;
      before = std::min(before, arm.kinetic());
      time += kDt;
    }
    EXPECT_LT(arm.kinetic(), 1e-7) << "joint " << joint << " still moves after 8 s";
    longest = std::max(longest, time);
  }
  std::printf("released in motion, friction 20 %% less: at rest after at most %.1f s\n", longest);
}

TEST(HandGuiding, ItNeverSuppliesNetEnergy) {
  // A hand that shakes all joints at random; kinetic energy is at most what the hand has supplied.
  std::mt19937 random(7);
  std::uniform_real_distribution<double> pull(-1, 1);
  for (const double friction : {0.8, 1.0}) {
    Guided arm({.friction = friction});
    double least = 1e9;
    for (int k = 0; k < 20000; ++k) {
      if (k % 200 == 0) {
        for (std::size_t i = 0; i < 6; ++i) {
          const double coulomb = puma().joints()[i].drive.coulomb_positive;
          // Towards the start, so that it does not end at the limits.
          const double back = arm.plant.q()[i] > kPosture[i] ? -0.5 : 0.5;
          arm.hand[i] = 2.5 * coulomb * (pull(random) + back);
        }
      }
      arm.cycles(1);
      least = std::min(least, arm.work - arm.kinetic());
    }
    EXPECT_GT(least, -0.02) << "J, with friction " << friction;
    EXPECT_GT(arm.work, 1) << "J: the hand did move the arm";
    std::printf("friction %.1f: the hand supplied %.1f J, kinetic energy at most %.4f J above it\n",
                friction, arm.work, std::max(-least, 0.0));
  }
}

TEST(HandGuiding, TheSpeedIsLimited) {
  for (std::size_t joint = 0; joint < 6; ++joint) {
    Guided arm({});
    const auto& limits = puma().joints()[joint].limits;
    const auto& drive = puma().joints()[joint].drive;
    // As strong as friction and a third of the motor's torque.
    double fastest = 0;
    for (int k = 0; k < 1000; ++k) {
      arm.hand[joint] = drive.coulomb_positive + 0.33 * limits.effort;
      arm.cycles(1);
      fastest = std::max(fastest, arm.plant.qd()[joint]);
      if (arm.plant.q()[joint] > limits.goal_upper() - 0.15) break;
    }
    EXPECT_GT(fastest, 0.2 * limits.velocity) << joint;
    EXPECT_LT(fastest, 0.75 * limits.velocity) << joint;
  }
}

TEST(HandGuiding, SoftLimitsPushBackAndDoNotBounce) {
  for (std::size_t joint = 0; joint < 6; ++joint) {
    for (const double side : {1.0, -1.0}) {
      const auto& limits = puma().joints()[joint].limits;
      const double soft = side > 0 ? limits.goal_upper() : limits.goal_lower();
      const double hard = side > 0 ? limits.upper : limits.lower;
      Setting setting;
      setting.start[joint] = soft - 0.3 * side;
      Guided arm(setting);
      SCOPED_TRACE(puma().joints()[joint].name + (side > 0 ? " upper" : " lower"));
      // Pushes with 20 % of the torque in addition to friction.
      arm.hand[joint] = side * (puma().joints()[joint].drive.coulomb(side) + 0.2 * limits.effort);
      arm.cycles(4000);
      const double pushed = arm.plant.q()[joint];
      EXPECT_GT(side * (pushed - (soft - 0.1 * side)), 0.02) << "into the zone";
      EXPECT_LT(side * pushed, side * hard);
      EXPECT_NEAR(arm.plant.qd()[joint], 0, 1e-3) << "it does not oscillate";
      arm.hand[joint] = 0;
      const double supplied = arm.work;
      arm.cycles(4000);
      EXPECT_LT(side * arm.plant.q()[joint], side * pushed + 1e-6);
      EXPECT_GT(side * arm.plant.q()[joint], side * (soft - 0.25 * side)) << "no bounce";
      EXPECT_LT(arm.kinetic(), 1e-6);
      EXPECT_EQ(arm.work, supplied);
    }
  }
}

TEST(HandGuiding, AnArmThatStartsAtALimitIsNotPushed) {
  Setting setting;
  setting.start[0] = puma().joints()[0].limits.goal_upper() + 0.01;
  Guided arm(setting);
  arm.cycles(3000);
  EXPECT_LT(arm.moved(setting.start), 1e-3);
}

TEST(HandGuiding, ItsTorqueIsSmooth) {
  Guided arm({});
  Values before = arm.torque();
  double largest = 0;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> pull(-1, 1);
  for (int k = 0; k < 6000; ++k) {
    if (k % 150 == 0) {
      for (std::size_t i = 0; i < 6; ++i)
        arm.hand[i] = 3 * pull(random) * puma().joints()[i].drive.coulomb_positive;
    }
    arm.cycles(1);
    for (std::size_t i = 0; i < 6 && k > 0; ++i) {
      const double step = std::abs(arm.torque()[i] - before[i]);
      largest = std::max(largest, step / puma().joints()[i].limits.effort);
    }
    before = arm.torque();
  }
  EXPECT_LT(largest, 0.02);
  std::printf("torque changes by at most %.2f %% of its limit per millisecond\n", 100 * largest);
}

}  // namespace
