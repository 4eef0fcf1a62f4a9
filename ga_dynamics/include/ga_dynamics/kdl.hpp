// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__KDL_HPP_
#define GA_DYNAMICS__KDL_HPP_

// Chains of Orocos KDL from and to a Chain; link the target ga_dynamics::kdl.
//
// KDL's chains carry geometry, inertias, armature (the joints' inertia) and viscous friction (their
// damping), and neither limits, Coulomb friction nor gravity: KDL's solvers are given gravity, which
// gravity_for_kdl() has in their frame.
//
// Units: SI. Allocates.

#include <cmath>
#include <kdl/chain.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_dynamics {

inline KDL::Vector to_kdl(const Vector3& v) { return {v[0], v[1], v[2]}; }
inline KDL::Frame to_kdl(const Pose& pose) {
  const Matrix3& r = pose.rotation;
  return {KDL::Rotation(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]),
          to_kdl(pose.translation)};
}
inline KDL::RigidBodyInertia to_kdl(const LinkInertia& body) {
  const Matrix3& i = body.inertia;
  return KDL::RigidBodyInertia(body.mass, to_kdl(body.com),
                               KDL::RotationalInertia(i[0], i[4], i[8], i[1], i[2], i[5]));
}

inline Vector3 to_vector(const KDL::Vector& v) { return {v.x(), v.y(), v.z()}; }
inline Pose to_pose(const KDL::Frame& frame) {
  const double* const r = frame.M.data;
  return {{r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]}, to_vector(frame.p)};
}

/// One segment per joint, called like the link that it carries and with all that is fixed to it; its
/// frame is the joint's modified-DH frame. A last one without mass leads to the tip link unless that
/// is the same frame; it is called like the tip link, or NAME_tip where that name is taken.
inline KDL::Chain to_kdl(const Chain& chain) {
  KDL::Chain result;
  Pose before = chain.frame0();
  for (const ChainJoint& joint : chain.joints()) {
    const KDL::Frame frame = to_kdl(before) * to_kdl(dh_pose(joint.dh));
    before = {};
    const auto type = joint.revolute() ? KDL::Joint::RotAxis : KDL::Joint::TransAxis;
    result.addSegment(KDL::Segment(joint.link,
                                   KDL::Joint(joint.name, frame.p, frame.M.UnitZ(), type, 1, 0,
                                              joint.drive.armature, joint.drive.viscous),
                                   frame, to_kdl(joint.body)));
  }
  const Pose& tip = chain.tip().pose;
  if (tip.rotation != Pose{}.rotation || tip.translation != Pose{}.translation) {
    const bool taken = chain.tip().name == chain.joints().back().link;
    result.addSegment(KDL::Segment(chain.tip().name + (taken ? "_tip" : ""),
                                   KDL::Joint(KDL::Joint::None), to_kdl(tip)));
  }
  return result;
}

/// The acceleration of gravity in the frame that a solver for to_kdl(chain) works in.
inline KDL::Vector gravity_for_kdl(const Chain& chain) { return to_kdl(chain.gravity()); }

namespace detail {

inline void check_kdl_joint(const KDL::Joint& joint) {
  const KDL::Twist rate = joint.twist(1);
  const bool unscaled = std::abs(std::hypot(rate.vel.Norm(), rate.rot.Norm()) - 1) < 1e-12;
  if (!unscaled || !KDL::Equal(joint.pose(0), KDL::Frame(joint.JointOrigin()), 1e-12)) {
    throw DescriptionError("KDL joint '" + joint.getName() +
                           "': has a scale or an offset; give a chain without");
  }
}

inline UrdfInertial inertial_of(const KDL::RigidBodyInertia& body) {
  // KDL has the tensor about the frame's origin.
  const KDL::Vector c = body.getCOG();
  const double m = body.getMass();
  const KDL::RotationalInertia tensor = body.getRotationalInertia();
  const double* const i = tensor.data;
  UrdfInertial result;
  result.origin.translation = to_vector(c);
  result.mass = m;
  result.ixx = i[0] - m * (c.y() * c.y() + c.z() * c.z());
  result.iyy = i[4] - m * (c.x() * c.x() + c.z() * c.z());
  result.izz = i[8] - m * (c.x() * c.x() + c.y() * c.y());
  result.ixy = i[1] + m * c.x() * c.y();
  result.ixz = i[2] + m * c.x() * c.z();
  result.iyz = i[5] + m * c.y() * c.z();
  return result;
}

/// Appends a link and the joint that carries it, behind the last link.
inline UrdfJoint& append_link(UrdfModel& model, const std::string& link, const std::string& joint,
                              const Pose& origin) {
  const int parent = static_cast<int>(model.links.size()) - 1;
  const int index = static_cast<int>(model.joints.size());
  model.links.back().child_joints.push_back(index);
  UrdfJoint to;
  to.name = joint;
  to.parent_link = model.links.back().name, to.child_link = link;
  to.parent = parent, to.child = parent + 1;
  to.origin = origin;
  UrdfLink child;
  child.name = link;
  child.parent_joint = index;
  model.links.push_back(std::move(child));
  model.joints.push_back(std::move(to));
  return model.joints.back();
}

}  // namespace detail

/// Links are called like the segments, the first one base; joints are named, or joint1, joint2, …;
/// rotating joints are continuous. The tip is the last segment unless the options say otherwise.
/// Throws DescriptionError for what a Chain refuses, and for joints with a scale or an offset.
inline Chain chain_from_kdl(const KDL::Chain& kdl, ChainOptions options = {}) {
  UrdfModel model;
  model.name = "kdl";
  model.root = 0;
  model.links.emplace_back().name = "base";
  const auto known = [](const std::string& name, const std::string& otherwise) {
    return name.empty() || name == "NoName" ? otherwise : name;
  };
  int moving = 0;
  for (unsigned i = 0; i < kdl.getNrOfSegments(); ++i) {
    const KDL::Segment& segment = kdl.getSegment(i);
    const KDL::Joint& joint = segment.getJoint();
    const std::string link = known(segment.getName(), "link" + std::to_string(i + 1));
    const KDL::Frame tip = segment.getFrameToTip();
    if (joint.getType() == KDL::Joint::None) {
      detail::append_link(model, link, link + "_fixed", to_pose(tip));
    } else {
      detail::check_kdl_joint(joint);
      const std::string name = known(joint.getName(), "joint" + std::to_string(++moving));
      // A link's frame is on the axis of its joint; the segment's need not be.
      const bool on_axis = tip.p == joint.JointOrigin();
      const KDL::Frame at = on_axis ? tip : KDL::Frame(joint.JointOrigin());
      UrdfJoint& to =
          detail::append_link(model, on_axis ? link : name + "_axis", name, to_pose(at));
      to.type =
          joint.twist(1).rot.Norm() > 0.5 ? UrdfJointType::kContinuous : UrdfJointType::kPrismatic;
      to.axis = to_vector(at.M.Inverse(joint.JointAxis()));
      to.armature = joint.getInertia(), to.viscous_friction = joint.getDamping();
      if (!on_axis) detail::append_link(model, link, link + "_fixed", to_pose(at.Inverse() * tip));
    }
    model.links.back().inertial = detail::inertial_of(segment.getInertia());
    if (options.tip.empty() && i + 1 == kdl.getNrOfSegments()) options.tip = link;
  }
  return Chain::from_model(model, options);
}

}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__KDL_HPP_
