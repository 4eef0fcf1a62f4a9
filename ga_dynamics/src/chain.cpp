// SPDX-License-Identifier: Apache-2.0
#include "ga_dynamics/chain.hpp"

#include <cmath>
#include <numbers>
#include <sstream>

#include "dh_frames.hpp"
#include "inertia_check.hpp"
#include "joint_motion.hpp"
#include "urdf_xml.hpp"

namespace ga_dynamics {
namespace {

Vector3 to_array(const LVec& v) {
  return {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
}

Sym3<double> to_sym(const Matrix3& m) { return {m[0], m[4], m[8], m[1], m[2], m[5]}; }

Matrix3 to_matrix(const Sym3<double>& s) {
  return {s.xx, s.xy, s.xz, s.xy, s.yy, s.yz, s.xz, s.yz, s.zz};
}

JointLimits limits_of(const UrdfJoint& joint) {
  JointLimits limits;
  if (joint.type != UrdfJointType::kContinuous) {
    limits.lower = joint.lower.value_or(limits.lower);
    limits.upper = joint.upper.value_or(limits.upper);
    limits.soft_lower = joint.soft_lower.value_or(limits.soft_lower);
    limits.soft_upper = joint.soft_upper.value_or(limits.soft_upper);
  }
  limits.velocity = joint.velocity.value_or(limits.velocity);
  limits.effort = joint.effort.value_or(limits.effort);
  return limits;
}

JointType type_of(UrdfJointType type) {
  if (type == UrdfJointType::kPrismatic) return JointType::kPrismatic;
  return type == UrdfJointType::kContinuous ? JointType::kContinuous : JointType::kRevolute;
}

LinkInertia inertia_of(const UrdfInertial& inertial) {
  const LinkInertia at_com{inertial.mass,
                           {0, 0, 0},
                           {inertial.ixx, inertial.ixy, inertial.ixz, inertial.ixy, inertial.iyy,
                            inertial.iyz, inertial.ixz, inertial.iyz, inertial.izz}};
  return transformed(inertial.origin, at_com);
}

void check_gravity(const Vector3& gravity) {
  for (const double g : gravity) {
    if (!std::isfinite(g))
      throw DescriptionError("gravity: not a finite vector; give three numbers in m/s²");
  }
}

/// Every number of a description is finite, but sums and products of huge ones need not be.
void check_range(const std::vector<ChainJoint>& joints) {
  for (const ChainJoint& joint : joints) {
    const DhParameters& dh = joint.dh;
    double sum = dh.alpha + dh.beta + dh.theta + joint.body.mass;
    for (const double length : {dh.a, dh.d}) sum += length * length;
    for (const double v : joint.body.com) sum += v * v * joint.body.mass;
    for (const double v : joint.body.inertia) sum += v;
    if (!std::isfinite(sum)) {
      throw DescriptionError("joint '" + joint.name +
                             "': lengths, masses or inertias before or behind it are too large to "
                             "compute with; give meters and kilograms");
    }
  }
}

/// A body that does not come from a description: the same rules as there.
void check_body(const std::string& where, const LinkInertia& body,
                std::vector<std::string>& warnings) {
  bool finite = std::isfinite(body.mass);
  for (const double v : body.com) finite = finite && std::isfinite(v);
  for (const double v : body.inertia) finite = finite && std::isfinite(v);
  if (!finite) {
    throw DescriptionError(where + ": mass, center of mass or inertia is not finite; give numbers");
  }
  const auto refuse = [&](const std::string& what) { throw DescriptionError(where + ": " + what); };
  if (body.mass < 0) {
    refuse("mass is negative (" + urdf::to_text(body.mass) + "); give kilograms, zero or more");
  }
  const Matrix3& i = body.inertia;
  if (i[1] != i[3] || i[2] != i[6] || i[5] != i[7]) {
    refuse("inertia is not symmetric; give Ixy, Ixz and Iyz on both sides of the diagonal");
  }
  if (const std::string flaw = inertia_flaw(i); !flaw.empty()) refuse(flaw);
  if (const std::string flaw = triangle_flaw(i); !flaw.empty())
    warnings.push_back(where + ": " + flaw);
  if (body.mass == 0 && i != Matrix3{}) {
    warnings.push_back(where + ": inertia is not zero but the mass is");
  }
}

void check_drive(const std::string& where, const Drive& drive, const JointLimits& limits) {
  for (const double v :
       {drive.armature, drive.viscous, drive.coulomb_positive, drive.coulomb_negative}) {
    if (!(v >= 0) || !std::isfinite(v)) {
      throw DescriptionError(where + ": armature and friction must be finite and not negative");
    }
  }
  if (!(limits.lower <= limits.upper) || !(limits.velocity >= 0) || !(limits.effort >= 0)) {
    throw DescriptionError(where +
                           ": limits must have lower <= upper, velocity and effort not negative");
  }
  if (!(limits.goal_lower() <= limits.goal_upper())) {
    throw DescriptionError(
        where + ": soft limits must have soft_lower <= soft_upper, both within " + "the limits");
  }
}

}  // namespace

LinkInertia transformed(const Pose& pose, const LinkInertia& body) {
  const Mat3<double> r = to_mat(pose.rotation);
  const Vec3<double> com = to_vec(pose.translation) + r * to_vec(body.com);
  return {body.mass, {com.x, com.y, com.z}, to_matrix(similarity(r, to_sym(body.inertia)))};
}

LinkInertia lump(const LinkInertia& one, const LinkInertia& other) {
  const double mass = one.mass + other.mass;
  const Vec3<double> a = to_vec(one.com), b = to_vec(other.com);
  const double share = mass > 0 ? other.mass / mass : 0;
  const Vec3<double> com = a + share * (b - a);
  Sym3<double> inertia = to_sym(one.inertia) + to_sym(other.inertia);
  inertia = inertia + (one.mass * share) * point_inertia(a - b);
  return {mass, {com.x, com.y, com.z}, to_matrix(inertia)};
}

Chain Chain::from_urdf_text(std::string_view text, const ChainOptions& options) {
  return from_model(read_urdf_text(text, {.strict = options.strict}), options);
}

Chain Chain::from_urdf_file(const std::filesystem::path& path, const ChainOptions& options) {
  const UrdfModel model = read_urdf_file(path, {.strict = options.strict});
  try {
    return from_model(model, options);
  } catch (const DescriptionError& error) {
    throw DescriptionError(path.string() + ": " + error.what());
  }
}

Chain Chain::from_model(const UrdfModel& model, const ChainOptions& options) {
  if (!model.faults.empty()) throw DescriptionError(model.faults.front());
  const ChainSelection selection = select_chain(model, options);

  Chain chain;
  chain.warnings_ = model.warnings;
  chain.warnings_.insert(chain.warnings_.end(), selection.warnings.begin(),
                         selection.warnings.end());
  if (options.strict && !selection.warnings.empty()) {
    throw DescriptionError(selection.warnings.front());
  }
  chain.snap_ = options.snap;
  chain.base_in_root_ = selection.base_in_root;

  std::vector<bool> left_out(model.joints.size(), false);
  for (const int index : selection.on_base) left_out[static_cast<std::size_t>(index)] = true;

  // Every link of the base's subtree at zero, in the base link's frame, and the joint of the chain
  // that moves it.
  struct Placed {
    int link;
    int body;
    LPose pose;
  };
  std::vector<Placed> placed{{selection.base, 0, {}}};
  std::vector<AxisLine> axes(selection.joints.size());
  std::vector<int> number_of(model.joints.size(), 0);  // on the chain, from 1; 0 off it
  for (std::size_t i = 0; i < selection.joints.size(); ++i) {
    number_of[static_cast<std::size_t>(selection.joints[i])] = static_cast<int>(i) + 1;
  }
  for (std::size_t at = 0; at < placed.size(); ++at) {
    const Placed here = placed[at];  // a copy: the vector grows
    for (const int index : model.links[static_cast<std::size_t>(here.link)].child_joints) {
      const UrdfJoint& joint = model.joints[static_cast<std::size_t>(index)];
      if (left_out[static_cast<std::size_t>(index)]) continue;
      const auto frozen = options.freeze.find(joint.name);
      const LPose pose = compose(
          here.pose, child_in_parent(joint, frozen == options.freeze.end() ? 0 : frozen->second));
      int body = here.body;
      if (const int number = number_of[static_cast<std::size_t>(index)]; number > 0) {
        body = number;
        const LVec axis = pose.rotation * LVec{joint.axis[0], joint.axis[1], joint.axis[2]};
        axes[static_cast<std::size_t>(number) - 1] = {
            pose.translation, (1 / length(axis)) * axis,
            LVec{pose.rotation.r0.x, pose.rotation.r1.x, pose.rotation.r2.x}};
      }
      placed.push_back({joint.child, body, pose});
    }
  }

  const DhFrames dh = make_dh_frames(axes, options.snap);
  chain.frame0_ = to_double(dh.frame0);
  for (std::size_t i = 0; i < selection.joints.size(); ++i) {
    const UrdfJoint& joint = model.joints[static_cast<std::size_t>(selection.joints[i])];
    ChainJoint to;
    to.name = joint.name;
    to.link = joint.child_link;
    to.type = type_of(joint.type);
    to.dh = dh.rows[i];
    to.limits = limits_of(joint);
    to.drive = {joint.armature, joint.viscous_friction, joint.coulomb_positive,
                joint.coulomb_negative};
    to.parameters = joint.parameters;
    to.state_interfaces = joint.state_interfaces;
    chain.joints_.push_back(to);
  }
  std::vector<bool> has_inertia(selection.joints.size() + 1, false);
  for (const Placed& p : placed) {
    const UrdfLink& link = model.links[static_cast<std::size_t>(p.link)];
    const auto body = static_cast<std::size_t>(p.body);
    const LPose pose = body == 0 ? p.pose : compose(inverse(dh.frames[body - 1]), p.pose);
    if (p.link == selection.tip) chain.tip_ = static_cast<int>(chain.links_.size());
    chain.links_.push_back({link.name, p.body, to_double(pose)});
    if (!link.inertial) continue;
    const UrdfInertial& own = *link.inertial;
    // Zeros in all places are a missing inertia in disguise.
    if (own.mass > 0 || own.ixx > 0 || own.iyy > 0 || own.izz > 0) has_inertia[body] = true;
    if (body > 0) {
      LinkInertia& sum = chain.joints_[body - 1].body;
      sum = lump(sum, transformed(to_double(pose), inertia_of(*link.inertial)));
    }
  }
  if (!options.allow_missing_inertia) {
    for (const ChainJoint& joint : chain.joints_) {
      if (has_inertia[static_cast<std::size_t>(&joint - chain.joints_.data()) + 1]) continue;
      throw DescriptionError("link '" + joint.link + "', moved by joint '" + joint.name +
                             "': no <inertial> or only zeros in it, here or in a link fixed to it; "
                             "torques need masses: add one" +
                             (options.spelling == OptionSpelling::kCommandLine
                                  ? ", or treat it as massless with --allow-missing-inertia"
                                  : ""));
    }
  }
  check_range(chain.joints_);
  chain.set_gravity(options.gravity);
  return chain;
}

Chain Chain::from_dh(const std::vector<DhJoint>& rows, const Vector3& gravity) {
  check_gravity(gravity);
  if (rows.empty()) throw DescriptionError("DH table: no rows; give one per joint");
  Chain chain;
  chain.snap_ = ChainOptions{}.snap;
  chain.links_.push_back({"base", 0, {}});
  const auto exact = [&](double angle) {
    constexpr double kHalf = std::numbers::pi / 2;
    const double turned = std::remainder(angle, 4 * kHalf);
    const double nearest = std::round(turned / kHalf) * kHalf;
    return std::abs(turned - nearest) <= chain.snap_ ? nearest : turned;
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const DhJoint& from = rows[i];
    const std::string number = std::to_string(i + 1);
    for (const double v : {from.dh.alpha, from.dh.a, from.dh.d, from.dh.theta, from.dh.beta}) {
      if (!std::isfinite(v))
        throw DescriptionError("DH row " + number + ": not finite; give five numbers");
    }
    check_body("DH row " + number, from.body, chain.warnings_);
    check_drive("DH row " + number, from.drive, from.limits);
    ChainJoint to;
    to.name = from.name.empty() ? "joint" + number : from.name;
    to.link = "link" + number;
    to.type = from.type;
    to.dh = from.dh;
    to.dh.alpha = exact(from.dh.alpha);
    to.body = from.body;
    to.limits = from.limits;
    to.drive = from.drive;
    if (i == 0) {
      chain.frame0_ = to_double(dh_transform(to.dh));
      to.dh = {};
    }
    chain.joints_.push_back(to);
    chain.links_.push_back({to.link, static_cast<int>(i) + 1, {}});
  }
  chain.tip_ = static_cast<int>(rows.size());
  check_range(chain.joints_);
  chain.set_gravity(gravity);
  return chain;
}

Chain Chain::with_payload(const LinkInertia& payload) const {
  Chain chain = *this;
  check_body("payload", payload, chain.warnings_);
  LinkInertia& body = chain.joints_[static_cast<std::size_t>(tip().body) - 1].body;
  body = lump(body, transformed(tip().pose, payload));
  check_range(chain.joints_);
  return chain;
}

Chain Chain::with_gravity(const Vector3& gravity) const {
  check_gravity(gravity);
  Chain chain = *this;
  chain.set_gravity(gravity);
  return chain;
}

void Chain::set_gravity(const Vector3& gravity) {
  gravity_in_root_ = gravity;
  gravity_ = gravity;
  LVec g{gravity[0], gravity[1], gravity[2]};
  if (base_in_root_.rotation != Pose{}.rotation) {
    g = transposed_times(to_long(base_in_root_).rotation, g);
    gravity_ = to_array(g);
  }
  const LMat r = to_long(frame0_).rotation;
  g = transposed_times(r, g);
  const Long small = static_cast<Long>(snap_) * length(g);
  for (Long* component : {&g.x, &g.y, &g.z}) {
    if (std::abs(*component) <= small) *component = 0;
  }
  gravity0_ = to_array(g);
}

int Chain::link_index(std::string_view name) const {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (links_[i].name == name) return static_cast<int>(i);
  }
  std::string known;
  for (const ChainLink& link : links_) known += (known.empty() ? "" : ", ") + link.name;
  throw DescriptionError("link '" + std::string(name) + "': not in the chain; its links are " +
                         known);
}

}  // namespace ga_dynamics
