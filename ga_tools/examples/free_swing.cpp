// SPDX-License-Identifier: Apache-2.0

// Lets an arm fall freely from rest and prints its energy balance: friction dissipates energy in the
// drives; without it (--frictionless) the total is constant.
//   free_swing ROBOT.urdf [--frictionless] [--seconds S]

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "ga_dynamics/dynamics.hpp"

namespace {

using namespace ga_dynamics;
using Values = std::vector<double>;

/// One step of the classical Runge–Kutta method without motor torques.
class FreeFall {
 public:
  FreeFall(const Chain& chain, Drives drives)
      : dynamics_(chain, {.drives = drives}), n_(chain.joints().size()), zero_(n_, 0.0) {
    for (Values* v : {&at_, &rate_, &acceleration_, &sum_rate_, &sum_acceleration_}) v->resize(n_);
  }
  void step(Values& q, Values& qd, double h) {
    const double part[] = {0, h / 2, h / 2, h}, weight[] = {h / 6, h / 3, h / 3, h / 6};
    rate_ = zero_, acceleration_ = zero_, sum_rate_ = zero_, sum_acceleration_ = zero_;
    for (int stage = 0; stage < 4; ++stage) {
      for (std::size_t i = 0; i < n_; ++i) {
        at_[i] = q[i] + part[stage] * rate_[i];
        rate_[i] = qd[i] + part[stage] * acceleration_[i];
      }
      dynamics_.forward_dynamics(at_, rate_, zero_, acceleration_);
      for (std::size_t i = 0; i < n_; ++i) {
        sum_rate_[i] += weight[stage] * rate_[i];
        sum_acceleration_[i] += weight[stage] * acceleration_[i];
      }
    }
    for (std::size_t i = 0; i < n_; ++i) q[i] += sum_rate_[i], qd[i] += sum_acceleration_[i];
  }
  MechanicalEnergy energy(const Values& q, const Values& qd) { return dynamics_.energy(q, qd); }

 private:
  Dynamics dynamics_;
  std::size_t n_;
  Values zero_, at_, rate_, acceleration_, sum_rate_, sum_acceleration_;
};

}  // namespace

int main(int argc, char** argv) {
  bool frictionless = false;
  double seconds = 3;
  const char* robot = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--frictionless") == 0) {
      frictionless = true;
    } else if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
      seconds = std::atof(argv[++i]);
    } else {
      robot = argv[i];
    }
  }
  if (robot == nullptr || !(seconds > 0 && seconds <= 3600)) {
    std::fprintf(stderr, "usage: free_swing ROBOT.urdf [--frictionless] [--seconds S]\n");
    return 2;
  }
  try {
    const Chain chain = Chain::from_urdf_file(robot);
    FreeFall fall(chain, frictionless ? Drives::kArmature : Drives::kAll);
    const std::size_t n = chain.joints().size();
    Values q(n, 0.0), qd(n, 0.0);
    const double step = 1e-4;
    const MechanicalEnergy start = fall.energy(q, qd);
    const auto steps = static_cast<long>(seconds / step);
    std::printf("%8s %12s %12s %12s   positions\n", "t [s]", "kinetic [J]", "potential", "total");
    for (long k = 0; k <= steps; ++k) {
      if (k % (steps / 20 > 0 ? steps / 20 : 1) == 0) {
        const MechanicalEnergy e = fall.energy(q, qd);
        std::printf("%8.3f %12.6f %12.6f %12.6f  ", static_cast<double>(k) * step, e.kinetic,
                    e.potential, e.kinetic + e.potential);
        for (const double v : q) std::printf(" %8.4f", v);
        std::printf("\n");
      }
      fall.step(q, qd, step);
    }
    const MechanicalEnergy end = fall.energy(q, qd);
    std::printf("energy change: %.3g J of %.3g J released by gravity\n",
                end.kinetic + end.potential - start.kinetic - start.potential,
                start.potential - end.potential);
  } catch (const DescriptionError& error) {
    std::fprintf(stderr, "free_swing: %s\n", error.what());
    return 2;
  }
  return 0;
}
