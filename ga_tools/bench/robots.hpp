// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOTS_HPP_
#define ROBOTS_HPP_

// Robots for the benchmark.

#include <random>
#include <sstream>
#include <string>

#include "ga_dynamics/kdl.hpp"

namespace bench {

/// An arm of n revolute joints without zeros or right angles in its parameters.
inline std::string general_arm(int n) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> value(0.1, 0.9);
  std::ostringstream text;
  text.precision(17);
  text << "<robot name='general'><link name='link0'/>";
  for (int i = 1; i <= n; ++i) {
    const auto vector = [&] {
      std::ostringstream three;
      three.precision(17);
      three << value(random) << " " << value(random) << " " << value(random);
      return three.str();
    };
    text << "<joint name='joint" << i << "' type='continuous'><origin xyz='" << vector()
         << "' rpy='" << vector() << "'/><parent link='link" << i - 1 << "'/><child link='link" << i
         << "'/><axis xyz='0 0 1'/></joint><link name='link" << i << "'><inertial><origin xyz='"
         << vector() << "' rpy='" << vector()
         << "'/><mass value='1.5'/><inertia ixx='0.3' iyy='0.4' izz='0.5' ixy='0' ixz='0' "
            "iyz='0'/></inertial></link>";
  }
  text << "</robot>";
  return text.str();
}

/// The same chain for KDL, one segment per joint: what leads to the tool would only cost KDL time.
inline KDL::Chain kdl_chain(const ga_dynamics::Chain& chain) {
  const KDL::Chain all = ga_dynamics::to_kdl(chain);
  KDL::Chain result;
  for (unsigned i = 0; i < all.getNrOfJoints(); ++i) result.addSegment(all.getSegment(i));
  return result;
}

}  // namespace bench

#endif  // ROBOTS_HPP_
