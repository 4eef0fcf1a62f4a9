// SPDX-License-Identifier: Apache-2.0
#ifndef EXPERIMENTS__STRAIGHT_LINE_HPP_
#define EXPERIMENTS__STRAIGHT_LINE_HPP_

// The straight lines of Mata et al. 2002 §5.2 and Provenzano et al. §4: inverse kinematics and
// inverse dynamics give the torques at every instant; forward dynamics under these torques, without
// feedback, is integrated and the result compared with the prescribed motion.

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_motion/cartesian_line.hpp"

namespace ga_tools::experiments {

using ga_dynamics::Chain;
using ga_dynamics::Vector3;
using ga_motion::CartesianLine;
using ga_motion::PumaBranch;

struct LineCase {
  Vector3 start, end;           ///< m, of the tool
  std::array<double, 3> zyz;    ///< degrees, of the tool
  double speed;                 ///< m/s, from the first instant to the last
  double seconds;               ///< how long it is simulated
  PumaBranch branch{1, 1, -1};  ///< not given in the papers
};
/// Mata et al. 2002 §5.2 gives both 0.1 m/s and 5 s for the same 0.33 m, a contradiction.
LineCase line_of_2002_by_speed();
LineCase line_of_2002_by_time();
/// Provenzano et al. §4.
LineCase line_of_provenzano();
/// The paper on PC-based PUMA control, §4.
LineCase line_of_control_paper();

CartesianLine cartesian_line(const LineCase& c);

/// The forward dynamics. The first three are implemented alike (reference/).
enum class Solver {
  kCrba,      ///< composite rigid bodies about centers of mass, Gauss–Jordan
  kAba,       ///< articulated bodies in the base frame
  kGa,        ///< Gibbs–Appell as printed, Gauss–Jordan
  kGaLibrary  ///< this library
};
inline constexpr std::array kSolvers{Solver::kCrba, Solver::kAba, Solver::kGa, Solver::kGaLibrary};

struct MaxAndMean {
  double max = 0, mean = 0;
};

struct LineErrors {
  std::array<double, 6> q{}, qd{}, qdd{};  ///< mean |error| of each joint: rad, rad/s, rad/s²
  /// Of the moduli of the tool's position, velocity, acceleration, as Provenzano et al. Table 2.
  MaxAndMean position, velocity, acceleration;  ///< m, m/s, m/s²
  double distance = 0;                          ///< m, largest position error of the tool
  long evaluations = 0;                         ///< of the forward dynamics
};

/// One simulated line, ready to be run.
class LineSimulation {
 public:
  /// Throws KinematicsError if the branch cannot follow the line.
  LineSimulation(const Chain& chain, const LineCase& c);
  ~LineSimulation();

  /// Dormand–Prince 5(4), absolute and relative tolerance 1e-6, errors sampled every 0.1 s.
  LineErrors run(Solver solver);
  /// The accelerations alone, at the prescribed states every 0.1 s under their torques.
  void accelerate(Solver solver);
  /// Growth rate of the most unstable small error under these torques, along the line, 1/s: the
  /// largest real part of the eigenvalues of the motion linearized about the prescribed one.
  MaxAndMean growth();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

using Ratios = std::array<double, kSolvers.size()>;
/// Time of `work` with every solver of kSolvers relative to Solver::kGa: the median over rounds of
/// all solvers, in rotating order. `on_round` is called before each round; `clock` returns the time
/// in s.
Ratios ratios_in_turn(const std::function<void(Solver)>& work, int rounds,
                      const std::function<void(int round)>& on_round,
                      const std::function<double()>& clock);
/// Of the processing time of a run.
Ratios time_ratios(LineSimulation& simulation, int rounds,
                   const std::function<void(int round)>& on_round);
/// Of that of the accelerations alone.
Ratios acceleration_time_ratios(LineSimulation& simulation, int rounds,
                                const std::function<void(int round)>& on_round);

}  // namespace ga_tools::experiments

#endif  // EXPERIMENTS__STRAIGHT_LINE_HPP_
