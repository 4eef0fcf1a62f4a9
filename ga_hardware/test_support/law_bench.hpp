// SPDX-License-Identifier: Apache-2.0
#ifndef LAW_BENCH_HPP_
#define LAW_BENCH_HPP_

// A hardware plugin on a bench with the description of the PUMA and a law to drive it, and the
// fixture of the suites that every ArmSystem has to pass.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_hardware/arm_model.hpp"
#include "hardware_bench.hpp"

namespace test {

class LawBench : public Bench {
 public:
  LawBench(const std::string& urdf, std::unique_ptr<ga_hardware::ArmSystem> plugin)
      : LawBench(urdf, *plugin, std::move(plugin)) {}
  virtual ~LawBench() = default;

  ga_hardware::ArmSystem& plugin() { return plugin_; }
  /// What a configured arm needs before it may become active.
  virtual bool make_ready() { return true; }
  virtual bool outputs_are_off() const { return largest_effort() == 0; }
  /// Active, efforts claimed, the law is to hold the arm where it is.
  bool bring_up() {
    system().configure();
    if (!make_ready()) return false;
    system().activate();
    return state() == States::PRIMARY_STATE_ACTIVE && engage();
  }
  bool engage() {
    if (!start()) return false;
    const auto q = positions();
    goal_ = q;
    const std::vector<double> none(6, std::numeric_limits<double>::quiet_NaN());
    law_.start(q, zero_, none);
    return true;
  }

  /// One cycle as a controller manager with the law runs it.
  Return drive(const ga_controllers::Reference& reference) {
    if (const Return result = read_next(); result != Return::OK) return result;
    const auto q = positions();
    std::vector<double> qd;
    for (const std::string& joint : joints()) qd.push_back(state(joint + "/velocity"));
    law_.update(q, qd, reference, 1e-3, torque_);
    set_efforts(torque_);
    return write_or_deactivate();
  }
  Return hold(int count) {
    for (int i = 0; i < count; ++i) {
      if (const Return result = drive({goal_, zero_, zero_}); result != Return::OK) return result;
    }
    return Return::OK;
  }
  /// Moves on at a speed [rad/s] of joint 1 for so many cycles.
  Return move(int count, double speed) {
    std::vector<double> qd(zero_);
    qd[0] = speed;
    for (int i = 0; i < count; ++i) {
      goal_[0] += speed * 1e-3;
      if (const Return result = drive({goal_, qd, zero_}); result != Return::OK) return result;
    }
    return Return::OK;
  }
  double largest_distance(const std::vector<double>& from) const {
    double largest = 0;
    for (std::size_t i = 0; i < 6; ++i)
      largest = std::max(largest, std::abs(position(i) - from[i]));
    return largest;
  }
  double largest_effort() const {
    double largest = 0;
    for (std::size_t i = 0; i < 6; ++i) largest = std::max(largest, std::abs(effort(i)));
    return largest;
  }

 private:
  LawBench(const std::string& urdf, ga_hardware::ArmSystem& plugin,
           std::unique_ptr<ga_hardware::ArmSystem>&& owned)
      : Bench(urdf, std::move(owned)),
        plugin_(plugin),
        chain_(ga_dynamics::Chain::from_urdf_file(PUMA_URDF)),
        law_(chain_, ga_hardware::law_parameters(ga_controllers::LawKind::kTracking,
                                                 {ga_controllers::gains_from_bandwidth(40, 1)}, 1,
                                                 ga_hardware::signals_of(chain_))),
        torque_(6),
        zero_(6) {}

  ga_hardware::ArmSystem& plugin_;
  ga_dynamics::Chain chain_;
  ga_controllers::ControlLaw law_;
  std::vector<double> torque_, zero_, goal_;
};

/// SimSystem, stretched out: gravity pulls.
class SimLawBench : public LawBench {
 public:
  using Plugin = ga_hardware::SimSystem;
  static constexpr double kStandingPower = 1;  ///< active, on its brakes
  static constexpr int kThermalCycles = 3;     ///< until an alarm is noticed, at most

  SimLawBench() : LawBench(urdf(), std::make_unique<Plugin>()) {}

  static std::string urdf() {
    return puma({{"initial_positions",
                  "joint1:0.3,joint2:-0.2,joint3:1.2,joint4:0.1,joint5:0.4,joint6:-0.2"}});
  }
};

/// `Rig`: a LawBench as above, with the members of SimLawBench.
template <class Rig>
class ArmTest : public testing::Test {
 protected:
  /// Under the law's control with open brakes.
  void hold_the_arm() {
    ASSERT_TRUE(rig.bring_up());
    ASSERT_EQ(rig.hold(400), Return::OK);
    ASSERT_EQ(rig.state("arm/brakes"), 0);
    ASSERT_GT(std::abs(rig.effort(1)), 5);
  }
  int fault_code() const { return static_cast<int>(rig.state("arm/fault_code")); }
  void expect_no_torque_and_no_power() {
    EXPECT_EQ(rig.largest_effort(), 0);
    EXPECT_EQ(rig.state("arm/power"), 0);
    EXPECT_EQ(rig.state("arm/brakes"), 1);
    EXPECT_TRUE(rig.outputs_are_off());
  }
  std::vector<double> efforts_now() const {
    std::vector<double> now;
    for (std::size_t i = 0; i < 6; ++i) now.push_back(rig.effort(i));
    return now;
  }

  Rig rig;
};

}  // namespace test

#endif  // LAW_BENCH_HPP_
