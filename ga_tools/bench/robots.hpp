// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOTS_HPP_
#define ROBOTS_HPP_

// Robots for the benchmark.

#include <cmath>
#include <kdl/chain.hpp>
#include <random>
#include <sstream>
#include <string>

#include "ga_dynamics/chain.hpp"

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

/// The same chain for KDL, one segment per joint, from the chain's modified-DH table.
inline KDL::Chain kdl_chain(const ga_dynamics::Chain& chain) {
  KDL::Chain result;
  const auto to_frame = [](const ga_dynamics::Pose& pose) {
    const auto& r = pose.rotation;
    return KDL::Frame(KDL::Rotation(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]),
                      KDL::Vector(pose.translation[0], pose.translation[1], pose.translation[2]));
  };
  KDL::Frame before = to_frame(chain.frame0());
  for (const ga_dynamics::ChainJoint& joint : chain.joints()) {
    const ga_dynamics::DhParameters& dh = joint.dh;
    const KDL::Frame frame =
        before * KDL::Frame(KDL::Vector(dh.a, 0, 0)) *
        KDL::Frame(KDL::Rotation::RotX(dh.alpha) * KDL::Rotation::RotY(dh.beta) *
                   KDL::Rotation::RotZ(dh.theta)) *
        KDL::Frame(KDL::Vector(0, 0, dh.d));
    before = KDL::Frame::Identity();
    const auto type = joint.revolute() ? KDL::Joint::RotAxis : KDL::Joint::TransAxis;
    const auto& i = joint.body.inertia;
    result.addSegment(KDL::Segment(
        joint.link, KDL::Joint(joint.name, frame.p, frame.M.UnitZ(), type), frame,
        KDL::RigidBodyInertia(joint.body.mass,
                              KDL::Vector(joint.body.com[0], joint.body.com[1], joint.body.com[2]),
                              KDL::RotationalInertia(i[0], i[4], i[8], i[1], i[2], i[5]))));
  }
  return result;
}

}  // namespace bench

#endif  // ROBOTS_HPP_
