// SPDX-License-Identifier: Apache-2.0
#include "experiments/line_torques.hpp"

#include <algorithm>
#include <cmath>

#include "experiments/thread_time.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace ga_tools::experiments {

using namespace ga_dynamics;
using namespace ga_motion;
namespace {

constexpr int kPoints = 861;  // every 10 ms of 8.6 s
using Six = std::array<double, 6>;

std::unique_ptr<Trajectory> motion_of(const Chain& chain, const LineCase& c) {
  return make_cartesian_line(PumaKinematics(chain), cartesian_line(c), c.branch);
}

/// Calls use(q, qd, qdd) along the motion.
template <class Use>
void walk(const Trajectory& motion, const Use& use) {
  Six q{}, qd{}, qdd{};
  for (int k = 0; k < kPoints; ++k) {
    motion.sample(motion.duration() * k / (kPoints - 1), q, qd, qdd);
    use(q, qd, qdd);
  }
}

LineTorques torques_of(const Chain& chain, const Trajectory& motion, const PumaBranch& branch) {
  Dynamics tensor(chain), vector(chain, {.method = Method::kVector}),
      dalembert(chain, {.method = Method::kDalembert}),
      minimal(chain, {.method = Method::kMinimal});
  LineTorques to;
  to.branch = branch;
  bool first = true;
  walk(motion, [&](const Six& q, const Six& qd, const Six& qdd) {
    Six tau{}, other{};
    tensor.inverse_dynamics(q, qd, qdd, tau);
    for (Dynamics* method : {&vector, &dalembert, &minimal}) {
      method->inverse_dynamics(q, qd, qdd, other);
      for (std::size_t i = 0; i < tau.size(); ++i) {
        to.disagreement = std::max(to.disagreement, std::abs(tau[i] - other[i]));
      }
    }
    for (std::size_t i = 0; i < tau.size(); ++i) {
      TorqueRange& range = to.joints[i];
      if (first) range = {tau[i], tau[i], tau[i], tau[i]};
      range.end = tau[i];
      range.least = std::min(range.least, tau[i]);
      range.most = std::max(range.most, tau[i]);
    }
    first = false;
  });
  return to;
}

}  // namespace

std::vector<LineTorques> line_torques(const Chain& chain, const LineCase& c) {
  std::vector<LineTorques> to;
  for (const int arm : {1, -1}) {
    for (const int elbow : {1, -1}) {
      for (const int wrist : {1, -1}) {
        LineCase on_branch = c;
        on_branch.branch = {arm, elbow, wrist};
        std::unique_ptr<Trajectory> motion;
        try {
          motion = motion_of(chain, on_branch);
        } catch (const KinematicsError&) {
          continue;  // outside the limits on this branch
        }
        to.push_back(torques_of(chain, *motion, on_branch.branch));
      }
    }
  }
  return to;
}

std::array<double, 6> torque_change(const Chain& one, const Chain& other, const LineCase& c) {
  Dynamics first(one), second(other);
  Six to{};
  walk(*motion_of(one, c), [&](const Six& q, const Six& qd, const Six& qdd) {
    Six a{}, b{};
    first.inverse_dynamics(q, qd, qdd, a);
    second.inverse_dynamics(q, qd, qdd, b);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], std::abs(a[i] - b[i]));
  });
  return to;
}

double inverse_dynamics_seconds(const Chain& chain) {
  constexpr int kBatches = 51, kCalls = 2000;
  Dynamics dynamics(chain);
  Six q{0.1, -0.2, 0.3, -0.4, 0.5, -0.6}, tau{};
  const Six qd{0.6, -0.5, 0.4, -0.3, 0.2, -0.1}, qdd{1, -2, 3, -4, 5, -6};
  std::vector<double> seconds;
  for (int batch = 0; batch < kBatches; ++batch) {
    const double start = thread_seconds();
    for (int call = 0; call < kCalls; ++call) {
      q[5] = 1e-12 * tau[0];  // each call waits for the one before it, as in a control loop
      dynamics.inverse_dynamics(q, qd, qdd, tau);
    }
    seconds.push_back((thread_seconds() - start) / kCalls);
  }
  return median(seconds);
}

}  // namespace ga_tools::experiments
