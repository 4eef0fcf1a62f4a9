// SPDX-License-Identifier: Apache-2.0
#ifndef LAW_BENCH_HPP_
#define LAW_BENCH_HPP_

// A hardware plugin on a bench with the description of the PUMA and a law to drive it.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_hardware/joint_signals.hpp"
#include "hardware_bench.hpp"

namespace test {

class LawBench : public Bench {
 public:
  LawBench(const std::string& urdf, std::unique_ptr<hardware_interface::SystemInterface> plugin)
      : Bench(urdf, std::move(plugin)),
        chain_(ga_dynamics::Chain::from_urdf_file(PUMA_URDF)),
        law_(chain_, ga_hardware::law_parameters(ga_controllers::LawKind::kTracking,
                                                 {ga_controllers::gains_from_bandwidth(40, 1)}, 1,
                                                 ga_hardware::signals_of(chain_))),
        torque_(6),
        zero_(6) {}
  virtual ~LawBench() = default;

  /// Active, efforts claimed, the law is to hold the arm where it is.
  virtual bool bring_up() = 0;
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
  ga_dynamics::Chain chain_;
  ga_controllers::ControlLaw law_;
  std::vector<double> torque_, zero_, goal_;
};

/// SimSystem, stretched out: gravity pulls.
class SimLawBench : public LawBench {
 public:
  static constexpr char kStretched[] =
      "joint1:0.3,joint2:-0.2,joint3:1.2,joint4:0.1,joint5:0.4,joint6:-0.2";

  explicit SimLawBench(Parameters parameters = {})
      : LawBench(puma(with_start(parameters)), std::make_unique<ga_hardware::SimSystem>()) {}

  bool bring_up() override {
    system().configure();
    system().activate();
    return state() == States::PRIMARY_STATE_ACTIVE && engage();
  }

 private:
  static Parameters& with_start(Parameters& parameters) {
    parameters.emplace("initial_positions", kStretched);
    return parameters;
  }
};

}  // namespace test

#endif  // LAW_BENCH_HPP_
