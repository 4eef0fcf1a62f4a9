// SPDX-License-Identifier: Apache-2.0
// The same torques by Orocos KDL and by ga_dynamics.
#include <cstdio>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>
#include <vector>

#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/kdl.hpp"

int main(int, char** arguments) {
  const auto chain = ga_dynamics::Chain::from_urdf_file(arguments[1]);
  const KDL::Chain kdl = ga_dynamics::to_kdl(chain);
  KDL::ChainIdSolver_RNE solver(kdl, ga_dynamics::gravity_for_kdl(chain));
  const unsigned n = kdl.getNrOfJoints();
  KDL::JntArray q(n), zero(n), torque(n);
  q.data.setConstant(0.3);
  solver.CartToJnt(q, zero, zero, KDL::Wrenches(kdl.getNrOfSegments()), torque);
  std::vector<double> tau(n);
  ga_dynamics::Dynamics(chain).gravity({q.data.data(), n}, tau);
  std::printf("joint 2: %.3f N m by KDL, %.3f N m\n", torque(1), tau[1]);
}
