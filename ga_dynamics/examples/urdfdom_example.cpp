// SPDX-License-Identifier: Apache-2.0
// A chain from a robot that urdfdom has read already, with the drives given beside it.
#include <urdf_parser/urdf_parser.h>

#include <cstdio>

#include "ga_dynamics/urdfdom.hpp"

int main(int, char** arguments) {
  const urdf::ModelInterfaceSharedPtr robot = urdf::parseURDFFile(arguments[1]);
  const ga_dynamics::DriveDescription drives{.by_joint = {{"joint1", {.armature = 1.14}}}};
  const auto chain = ga_dynamics::chain_from_urdfdom(*robot, {}, drives);
  std::printf("%d joints; upper arm %.1f kg; armature of joint 1 %.2f kg m²\n", chain.size(),
              chain.joints()[1].body.mass, chain.joints()[0].drive.armature);
}
