// SPDX-License-Identifier: Apache-2.0
// The torques that hold an arm, and the force that its motors could apply with them at the tool.
#include <Eigen/Dense>
#include <cstdio>

#include "ga_dynamics/eigen.hpp"

int main(int, char** arguments) {
  ga_dynamics::Dynamics dynamics(ga_dynamics::Chain::from_urdf_file(arguments[1]));
  const Eigen::VectorXd q = Eigen::VectorXd::Constant(dynamics.size(), 0.3);
  Eigen::VectorXd tau(dynamics.size());
  ga_dynamics::gravity(dynamics, q, tau);
  ga_dynamics::JacobianMatrix jacobian(6, dynamics.size());
  ga_dynamics::jacobian(dynamics, q, dynamics.chain().tip_index(), jacobian);
  const Eigen::VectorXd wrench = jacobian.transpose().colPivHouseholderQr().solve(tau);
  std::printf("joint 2: %.1f N m\nforce: %.0f N\n", tau[1], wrench.head(3).norm());
}
