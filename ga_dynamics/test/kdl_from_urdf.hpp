// SPDX-License-Identifier: Apache-2.0
#ifndef KDL_FROM_URDF_HPP_
#define KDL_FROM_URDF_HPP_

// The same chain from the same text by other people's code: urdfdom reads it and KDL computes with
// it. Joints off the chain are fixed at zero.

#include <urdf_parser/urdf_parser.h>

#include <algorithm>
#include <cmath>
#include <kdl/chain.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "ga_dynamics/dynamics.hpp"

namespace ga_dynamics::test {

inline KDL::Frame to_kdl(const urdf::Pose& pose) {
  const urdf::Rotation& r = pose.rotation;
  return {KDL::Rotation::Quaternion(r.x, r.y, r.z, r.w),
          KDL::Vector(pose.position.x, pose.position.y, pose.position.z)};
}

inline KDL::RigidBodyInertia own_inertia(const urdf::Link& link) {
  if (!link.inertial) return KDL::RigidBodyInertia::Zero();
  const urdf::Inertial& i = *link.inertial;
  return to_kdl(i.origin) *
         KDL::RigidBodyInertia(i.mass, KDL::Vector::Zero(),
                               KDL::RotationalInertia(i.ixx, i.iyy, i.izz, i.ixy, i.ixz, i.iyz));
}

/// The link and all that hangs on it, but for the branch to `except`, as one body.
inline KDL::RigidBodyInertia lumped(const urdf::Link& link, const std::string& except) {
  KDL::RigidBodyInertia sum = own_inertia(link);
  for (const urdf::JointSharedPtr& joint : link.child_joints) {
    if (joint->child_link_name == except) continue;
    const auto child =
        std::find_if(link.child_links.begin(), link.child_links.end(),
                     [&](const auto& other) { return other->name == joint->child_link_name; });
    sum = sum + to_kdl(joint->parent_to_joint_origin_transform) * lumped(**child, "");
  }
  return sum;
}

class KdlArm {
 public:
  /// `gravity` in the root link's frame. Throws std::runtime_error where urdfdom refuses the text.
  KdlArm(const std::string& text, const Chain& like, const Vector3& gravity) {
    const urdf::ModelInterfaceSharedPtr model = urdf::parseURDF(text);
    if (!model) throw std::runtime_error("urdfdom refuses it");
    std::vector<urdf::LinkConstSharedPtr> way;  // tip first
    for (urdf::LinkConstSharedPtr link = model->getLink(like.tip().name);
         link->name != like.base().name; link = link->getParent()) {
      way.push_back(link);
    }
    std::string next;
    std::vector<KDL::Segment> segments;
    for (const urdf::LinkConstSharedPtr& link : way) {
      const urdf::Joint& joint = *link->parent_joint;
      const KDL::Frame frame = to_kdl(joint.parent_to_joint_origin_transform);
      const bool on_chain =
          std::any_of(like.joints().begin(), like.joints().end(),
                      [&](const ChainJoint& other) { return other.name == joint.name; });
      KDL::Joint kdl(joint.name, KDL::Joint::None);
      if (on_chain) {
        const KDL::Vector axis = frame.M * KDL::Vector(joint.axis.x, joint.axis.y, joint.axis.z);
        kdl = KDL::Joint(
            joint.name, frame.p, axis,
            joint.type == urdf::Joint::PRISMATIC ? KDL::Joint::TransAxis : KDL::Joint::RotAxis);
      }
      segments.emplace_back(link->name, kdl, frame, lumped(*link, next));
      next = link->name;
    }
    for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
      chain_.addSegment(*segment);
    }
    KDL::Rotation base = KDL::Rotation::Identity();
    for (urdf::LinkConstSharedPtr link = model->getLink(like.base().name); link->parent_joint;
         link = link->getParent()) {
      base = to_kdl(link->parent_joint->parent_to_joint_origin_transform).M * base;
    }
    gravity_ = base.Inverse() * KDL::Vector(gravity[0], gravity[1], gravity[2]);
  }

  std::vector<double> inverse_dynamics(const std::vector<double>& q, const std::vector<double>& qd,
                                       const std::vector<double>& qdd) const {
    const auto n = static_cast<unsigned>(q.size());
    KDL::ChainIdSolver_RNE solver(chain_, gravity_);
    KDL::JntArray a(n), b(n), c(n), torque(n);
    for (unsigned i = 0; i < n; ++i) a(i) = q[i], b(i) = qd[i], c(i) = qdd[i];
    if (solver.CartToJnt(a, b, c, KDL::Wrenches(chain_.getNrOfSegments()), torque) < 0) {
      throw std::runtime_error("KDL does not solve it");
    }
    std::vector<double> result(n);
    for (unsigned i = 0; i < n; ++i) result[i] = torque(i);
    return result;
  }

 private:
  KDL::Chain chain_;
  KDL::Vector gravity_;
};

/// The largest difference of the torques in random states, over the largest torque.
inline double difference_from_kdl(const std::string& text, const Chain& chain, int states = 10) {
  const KdlArm other(text, chain, chain.gravity_in_root());
  Dynamics dynamics(chain);
  const std::size_t n = chain.joints().size();
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-2, 2);
  std::vector<double> q(n), qd(n), qdd(n), torque(n);
  double difference = 0, magnitude = 1e-300;
  for (int k = 0; k < states; ++k) {
    for (std::vector<double>* const values : {&q, &qd, &qdd}) {
      for (double& value : *values) value = uniform(random);
    }
    dynamics.inverse_dynamics(q, qd, qdd, torque);
    const std::vector<double> expected = other.inverse_dynamics(q, qd, qdd);
    for (std::size_t i = 0; i < n; ++i) {
      if (!std::isfinite(torque[i]) || !std::isfinite(expected[i])) return INFINITY;
      difference = std::max(difference, std::abs(torque[i] - expected[i]));
      magnitude = std::max(magnitude, std::abs(expected[i]));
    }
  }
  return difference / magnitude;
}

}  // namespace ga_dynamics::test

#endif  // KDL_FROM_URDF_HPP_
