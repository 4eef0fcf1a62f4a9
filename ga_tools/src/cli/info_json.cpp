// SPDX-License-Identifier: Apache-2.0

// Names and meanings are a stable interface: doc/info_json.md, and its version below.

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/description.hpp"
#include "ga_dynamics/minimal_parameters.hpp"
#include "ga_motion/kinematics.hpp"

namespace ga_tools::cli {

using namespace ga_dynamics;
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

Json tensor(const Matrix3& inertia) {
  return {{"ixx", inertia[0]}, {"iyy", inertia[4]}, {"izz", inertia[8]},
          {"ixy", inertia[1]}, {"ixz", inertia[2]}, {"iyz", inertia[5]}};
}

Json pose_of(const Pose& pose) { return {{"xyz", pose.translation}, {"rotation", pose.rotation}}; }

Json body_of(const LinkInertia& body) {
  return {{"mass", body.mass}, {"com", body.com}, {"inertia", tensor(body.inertia)}};
}

Json limits_of(const UrdfJoint& joint) {
  return {{"lower", number(joint.lower)},           {"upper", number(joint.upper)},
          {"velocity", number(joint.velocity)},     {"effort", number(joint.effort)},
          {"soft_lower", number(joint.soft_lower)}, {"soft_upper", number(joint.soft_upper)}};
}

Json armature_of(const UrdfJoint& joint) {
  return joint.armature_given ? Json(joint.armature) : Json(nullptr);
}

Json friction_of(const UrdfJoint& joint) {
  if (!joint.friction_given) return nullptr;
  return {{"viscous", joint.viscous_friction},
          {"coulomb_positive", joint.coulomb_positive},
          {"coulomb_negative", joint.coulomb_negative}};
}

Json tree_of(const Description& d) {
  const UrdfModel& model = d.model;
  const auto joint_name = [&model](int index) -> Json {
    return index < 0 ? Json(nullptr) : Json(model.joints[static_cast<std::size_t>(index)].name);
  };
  Json links = Json::array();
  for (const UrdfLink& link : model.links) {
    Json children = Json::array();
    for (const int index : link.child_joints) children.push_back(joint_name(index));
    Json inertial = nullptr;
    if (link.inertial) {
      const UrdfInertial& own = *link.inertial;
      const LinkInertia at_com{
          own.mass,
          {0, 0, 0},
          {own.ixx, own.ixy, own.ixz, own.ixy, own.iyy, own.iyz, own.ixz, own.iyz, own.izz}};
      inertial = body_of(transformed(own.origin, at_com));
    }
    links.push_back({{"name", link.name},
                     {"line", link.line},
                     {"parent_joint", joint_name(link.parent_joint)},
                     {"child_joints", std::move(children)},
                     {"inertial", std::move(inertial)}});
  }
  const std::vector<JointRole> roles = joint_roles(d);
  Json joints = Json::array();
  for (std::size_t i = 0; i < model.joints.size(); ++i) {
    const UrdfJoint& joint = model.joints[i];
    joints.push_back({{"name", joint.name},
                      {"line", joint.line},
                      {"type", name_of(joint.type)},
                      {"parent", joint.parent_link},
                      {"child", joint.child_link},
                      {"origin", pose_of(joint.origin)},
                      {"axis", joint.axis},
                      {"limits", limits_of(joint)},
                      {"armature", armature_of(joint)},
                      {"friction", friction_of(joint)},
                      {"mimic", joint.mimic ? Json(joint.mimic_of) : Json(nullptr)},
                      {"parameters", joint.parameters},
                      {"role", name_of(roles[i])}});
  }
  return {{"root", model.links[static_cast<std::size_t>(model.root)].name},
          {"links", std::move(links)},
          {"joints", std::move(joints)}};
}

bool has_closed_form(const Chain& chain) {
  try {
    const ga_motion::PumaKinematics closed(chain);
    return true;
  } catch (const ga_motion::KinematicsError&) {
    return false;
  }
}

Json chain_of(const Description& d) {
  if (!d.chain) return nullptr;
  const Chain& chain = *d.chain;
  Json joints = Json::array();
  for (std::size_t i = 0; i < chain.joints().size(); ++i) {
    const ChainJoint& joint = chain.joints()[i];
    const UrdfJoint& given = d.model.joints[static_cast<std::size_t>(d.selection.joints[i])];
    const DhParameters& dh = joint.dh;
    joints.push_back(
        {{"name", joint.name},
         {"link", joint.link},
         {"type", name_of(given.type)},
         {"dh",
          {{"alpha", dh.alpha}, {"a", dh.a}, {"d", dh.d}, {"theta", dh.theta}, {"beta", dh.beta}}},
         {"limits", limits_of(given)},
         {"armature", armature_of(given)},
         {"friction", friction_of(given)},
         {"parameters", joint.parameters},
         {"body", body_of(joint.body)}});
  }
  Json links = Json::array();
  for (const ChainLink& link : chain.links()) {
    links.push_back({{"name", link.name}, {"body", link.body}, {"pose", pose_of(link.pose)}});
  }
  Json minimal = nullptr;
  if (chain.size() <= kMostJointsCounted) {
    minimal = Json::array();
    const MinimalParameters parameters(chain);
    for (const MlcValue& value : parameters.values()) {
      minimal.push_back({{"name", value.name},
                         {"joint", chain.joints()[static_cast<std::size_t>(value.joint)].name},
                         {"value", number(value.value)}});
    }
  }
  return {{"base", chain.base().name},
          {"tip", chain.tip().name},
          {"reason", d.selection.reason},
          {"gravity",
           {{"root", chain.gravity_in_root()},
            {"base", chain.gravity()},
            {"frame0", chain.gravity_in_frame0()}}},
          {"frame0", pose_of(chain.frame0())},
          {"joints", std::move(joints)},
          {"links", std::move(links)},
          {"minimal_parameters", std::move(minimal)},
          {"closed_form_kinematics", has_closed_form(chain)}};
}

}  // namespace

std::string info_json(const Description& d) {
  Json branches = Json::array();
  for (const ChainBranch& branch : d.selection.branches) {
    branches.push_back({{"tip", d.model.links[static_cast<std::size_t>(branch.tip)].name},
                        {"joints", branch.joints},
                        {"options", branch.choose}});
  }
  Json missing = Json::array();
  for (const Missing& what : d.missing) {
    missing.push_back({{"kind", what.kind}, {"message", what.message}});
  }
  const Json document{{"format", "ga_info"},
                      {"version", kVersion},
                      {"file", d.file},
                      {"robot", d.model.name},
                      {"ready", d.chain.has_value() && d.missing.empty()},
                      {"chain", chain_of(d)},
                      {"branches", std::move(branches)},
                      {"missing", std::move(missing)},
                      {"not_given", d.not_given},
                      {"warnings", d.warnings},
                      {"tree", tree_of(d)}};
  // Names come from a file and may not be UTF-8.
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ga_tools::cli
