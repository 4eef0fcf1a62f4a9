// SPDX-License-Identifier: Apache-2.0
#include "experiments/straight_line.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/reference/aba.hpp"
#include "experiments/reference/crba.hpp"
#include "experiments/reference/gibbs_appell.hpp"
#include "experiments/thread_time.hpp"
#include "ga_dynamics/algorithm/dormand_prince.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_motion/trajectory.hpp"

namespace ga_tools::experiments {

using namespace ga_dynamics;
using namespace ga_motion;
namespace {

constexpr std::size_t kJoints = 6;
constexpr double kInterval = 0.1, kTolerance = 1e-6;
using State = std::vector<double>;  // q, then qd
using Six = std::vector<double>;

double norm(const Vector3& v) { return std::hypot(v[0], v[1], v[2]); }
Vector3 difference(const Vector3& a, const Vector3& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
double distance(const Vector3& a, const Vector3& b) { return norm(difference(a, b)); }

}  // namespace

LineCase line_of_2002_by_speed() {
  return {{0.50, 0.00, 0.05}, {0.62, 0.30, 0.11}, {0, 90, 180}, 0.1, 3.2};
}
LineCase line_of_2002_by_time() {
  LineCase c = line_of_2002_by_speed();
  c.speed = distance(c.start, c.end) / 5;
  c.seconds = 5;
  return c;
}
LineCase line_of_provenzano() {
  return {{0.60, 0.175, 0.250}, {0.244, 0.527, 0.250}, {45, 60, 90}, 0.1, 5};
}
LineCase line_of_control_paper() {
  return {{0.6, 0.175, 0.250}, {0.018, 0.757, 0}, {45, 60, 90}, 0.1, 8.6};
}

CartesianLine cartesian_line(const LineCase& c) {
  constexpr double kDegree = std::numbers::pi / 180;
  const Matrix3 hand = rotation_zyz(c.zyz[0] * kDegree, c.zyz[1] * kDegree, c.zyz[2] * kDegree);
  return {{hand, c.start}, {hand, c.end}, c.speed, 0};
}

struct LineSimulation::Impl {
  Impl(const Chain& given, const LineCase& c)
      : chain(given),
        reference(reference::make_reference<double>(chain)),
        dynamics(chain),
        line(cartesian_line(c)),
        motion(make_cartesian_line(PumaKinematics(chain), line, c.branch)),
        seconds(c.seconds),
        tip(chain.tip_index()) {
    for (double t = 0; t < seconds; t += kInterval) {
      prescribe(t);
      prescribed.push_back({q_ref, qd_ref, tau_ref});
    }
  }

  /// Sets the prescribed motion and its torques.
  void prescribe(double t) {
    motion->sample(t, q_ref, qd_ref, qdd_ref);
    dynamics.inverse_dynamics(q_ref, qd_ref, qdd_ref, tau_ref);
  }

  Six accelerations(Solver solver, const Six& q, const Six& qd, const Six& tau) {
    using namespace reference;
    if (solver == Solver::kAba) return aba_base_frame(reference, q, qd, tau, Division::kOfProduct);
    if (solver == Solver::kGaLibrary) {
      Six qdd(kJoints);
      dynamics.forward_dynamics(q, qd, tau, qdd);
      return qdd;
    }
    const Placements<double> joint = placements(reference, q);
    const Six bias = bias_about_com(reference, joint, qd);
    return solve_motion(solver == Solver::kCrba ? inertia_crba_com(reference, joint)
                                                : inertia_gah_printed(reference, joint),
                        bias, tau);
  }

  void derivative(Solver solver, const State& x, State& dx, double t) {
    const Six q(x.begin(), x.begin() + kJoints), qd(x.begin() + kJoints, x.end());
    prescribe(t);
    const Six qdd = accelerations(solver, q, qd, tau_ref);
    std::copy(qd.begin(), qd.end(), dx.begin());
    std::copy(qdd.begin(), qdd.end(), dx.begin() + kJoints);
  }

  Vector3 tool_position(const Six& q) {
    std::vector<Pose> poses(chain.links().size());
    dynamics.link_poses(q, poses);
    return poses[static_cast<std::size_t>(tip)].translation;
  }
  /// The tool's part of J v.
  Vector3 along(const Six& q, const Six& v) {
    Six jacobian(6 * kJoints);
    dynamics.jacobian(q, tip, jacobian);
    Vector3 to{0, 0, 0};
    for (std::size_t row = 0; row < 3; ++row) {
      for (std::size_t i = 0; i < kJoints; ++i) to[row] += jacobian[row * kJoints + i] * v[i];
    }
    return to;
  }
  /// J q̈ + J̇ q̇, the latter as a central difference.
  Vector3 tool_acceleration(const Six& q, const Six& qd, const Six& qdd) {
    constexpr double kStep = 1e-5;
    Six ahead = q, behind = q;
    for (std::size_t i = 0; i < kJoints; ++i) ahead[i] += kStep * qd[i], behind[i] -= kStep * qd[i];
    const Vector3 turning = difference(along(ahead, qd), along(behind, qd));
    Vector3 to = along(q, qdd);
    for (std::size_t i = 0; i < 3; ++i) to[i] += turning[i] / (2 * kStep);
    return to;
  }

  const Chain chain;
  reference::ReferenceChain<double> reference;
  Dynamics dynamics;
  CartesianLine line;
  std::unique_ptr<Trajectory> motion;
  double seconds;
  int tip;
  struct Prescribed {
    Six q, qd, tau;
  };
  std::vector<Prescribed> prescribed;  // every kInterval
  Six q_ref = Six(kJoints), qd_ref = q_ref, qdd_ref = q_ref, tau_ref = q_ref;
};

LineSimulation::LineSimulation(const Chain& chain, const LineCase& c)
    : impl_(std::make_unique<Impl>(chain, c)) {}
LineSimulation::~LineSimulation() = default;

LineErrors LineSimulation::run(Solver solver) {
  Impl& s = *impl_;
  LineErrors to;
  const auto derivative = [&](const State& x, State& dx, double t) {
    ++to.evaluations;
    s.derivative(solver, x, dx, t);
  };
  DormandPrince integrator(2 * kJoints, kTolerance);
  const auto count = static_cast<int>(std::round(s.seconds / kInterval));
  const double weight = 1.0 / (count + 1);
  const auto add = [&](MaxAndMean& error, double value) {
    error.max = std::max(error.max, value);
    error.mean += weight * value;
  };

  s.motion->sample(0, s.q_ref, s.qd_ref, s.qdd_ref);
  State x(s.q_ref), dx(2 * kJoints);
  x.insert(x.end(), s.qd_ref.begin(), s.qd_ref.end());
  for (int k = 0; k <= count; ++k) {
    const double t = k * kInterval;
    s.derivative(solver, x, dx, t);  // also sets the prescribed motion; not an integrator's call
    const Six q(x.begin(), x.begin() + kJoints), qd(x.begin() + kJoints, x.end()),
        qdd(dx.begin() + kJoints, dx.end());
    for (std::size_t i = 0; i < kJoints; ++i) {
      to.q[i] += weight * std::abs(q[i] - s.q_ref[i]);
      to.qd[i] += weight * std::abs(qd[i] - s.qd_ref[i]);
      to.qdd[i] += weight * std::abs(qdd[i] - s.qdd_ref[i]);
    }
    const Vector3 place = s.line.pose(s.line.travel(t).way).translation;
    const Vector3 tool = s.tool_position(q);
    to.distance = std::max(to.distance, distance(tool, place));
    add(to.position, std::abs(norm(tool) - norm(place)));
    add(to.velocity, std::abs(norm(s.along(q, qd)) - s.line.speed()));
    add(to.acceleration, norm(s.tool_acceleration(q, qd, qdd)));
    if (k < count && !integrator.integrate(derivative, x, t, kInterval)) {
      throw std::runtime_error("LineSimulation: no step is short enough at " + std::to_string(t) +
                               " s");
    }
  }
  return to;
}

void LineSimulation::accelerate(Solver solver) {
  for (const Impl::Prescribed& p : impl_->prescribed) {
    impl_->accelerations(solver, p.q, p.qd, p.tau);
  }
}

MaxAndMean LineSimulation::growth() {
  Impl& s = *impl_;
  const auto count = static_cast<int>(std::round(s.seconds / kInterval));
  constexpr double kStep = 1e-6;
  MaxAndMean to;
  for (int k = 0; k <= count; ++k) {
    const double t = k * kInterval;
    s.motion->sample(t, s.q_ref, s.qd_ref, s.qdd_ref);
    State x(s.q_ref);
    x.insert(x.end(), s.qd_ref.begin(), s.qd_ref.end());
    Eigen::Matrix<double, 2 * kJoints, 2 * kJoints> a;
    for (std::size_t i = 0; i < 2 * kJoints; ++i) {
      State ahead = x, behind = x, up(x.size()), down(x.size());
      ahead[i] += kStep, behind[i] -= kStep;
      s.derivative(Solver::kGaLibrary, ahead, up, t);
      s.derivative(Solver::kGaLibrary, behind, down, t);
      for (std::size_t r = 0; r < 2 * kJoints; ++r) {
        a(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(i)) =
            (up[r] - down[r]) / (2 * kStep);
      }
    }
    const double fastest =
        Eigen::EigenSolver<decltype(a)>(a, false).eigenvalues().real().maxCoeff();
    to.max = std::max(to.max, fastest);
    to.mean += fastest / (count + 1);
  }
  return to;
}

Ratios ratios_in_turn(const std::function<void(Solver)>& work, int rounds,
                      const std::function<void(int round)>& on_round,
                      const std::function<double()>& clock) {
  constexpr std::size_t kGa = 2;
  static_assert(kSolvers[kGa] == Solver::kGa);
  std::array<std::vector<double>, kSolvers.size()> ratios;
  for (int round = 0; round < rounds; ++round) {
    on_round(round);
    Ratios seconds{};
    for (std::size_t k = 0; k < seconds.size(); ++k) {
      const std::size_t i = (k + static_cast<std::size_t>(round)) % seconds.size();
      const double start = clock();
      work(kSolvers[i]);
      seconds[i] = clock() - start;
    }
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      ratios[i].push_back(seconds[i] / seconds[kGa]);
    }
  }
  Ratios to{};
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = median(ratios[i]);
  return to;
}

Ratios time_ratios(LineSimulation& simulation, int rounds,
                   const std::function<void(int round)>& on_round) {
  return ratios_in_turn([&](Solver solver) { simulation.run(solver); }, rounds, on_round,
                        thread_seconds);
}

Ratios acceleration_time_ratios(LineSimulation& simulation, int rounds,
                                const std::function<void(int round)>& on_round) {
  return ratios_in_turn([&](Solver solver) { simulation.accelerate(solver); }, rounds, on_round,
                        thread_seconds);
}

}  // namespace ga_tools::experiments
