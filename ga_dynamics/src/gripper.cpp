// SPDX-License-Identifier: Apache-2.0
#include "gripper.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace ga_dynamics {
namespace {

/// A thumb of a human-like hand has five.
constexpr int kMostFingerJoints = 5;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

bool one_degree_of_freedom(const UrdfJoint& joint) {
  return joint.type == UrdfJointType::kRevolute || joint.type == UrdfJointType::kContinuous ||
         joint.type == UrdfJointType::kPrismatic;
}

/// Links that fixed joints hold together, and the joint that moves them.
struct Body {
  int joint = -1;  ///< -1 for the root's
  int parent = -1;
  int depth = 0;           ///< actuated joints from the root to here
  int height = 0;          ///< the most actuated joints on a way from the parent to an end behind
  bool only_mimic = true;  ///< its own joint and all behind it are mimic joints
  std::vector<int> children{};
};

class BodyTree {
 public:
  explicit BodyTree(const UrdfModel& model) : model_(model), body_of_joint_(model.joints.size()) {
    for (std::size_t i = 0; i < model.joints.size(); ++i) {
      joint_index_.emplace(model.joints[i].name, static_cast<int>(i));
    }
    build();
    for (std::size_t i = bodies_.size(); i-- > 1;) {  // children come after their parents
      Body& body = bodies_[i];
      const UrdfJoint& joint = model.joints[at(body.joint)];
      if (one_degree_of_freedom(joint) && !joint.mimic) ++body.height;
      if (!joint.mimic) body.only_mimic = false;
      Body& parent = bodies_[at(body.parent)];
      parent.height = std::max(parent.height, body.height);
      parent.only_mimic = parent.only_mimic && body.only_mimic;
    }
  }

  std::vector<bool> gripper_joints() const {
    std::vector<bool> found(model_.joints.size(), false);
    std::vector<bool> inside(bodies_.size(), false), palm(bodies_.size(), false);
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      const Body& body = bodies_[i];
      palm[i] = is_palm(static_cast<int>(i));
      if (i == 0) continue;
      inside[i] = inside[at(body.parent)] || body.only_mimic || palm[at(body.parent)];
      if (inside[i]) found[at(body.joint)] = true;
    }
    return found;
  }

 private:
  void build() {
    struct Open {
      int link, body;
    };
    std::vector<Open> open{{model_.root, 0}};
    bodies_.emplace_back();
    for (std::size_t next = 0; next < open.size(); ++next) {
      const Open here = open[next];
      for (const int index : model_.links[at(here.link)].child_joints) {
        const UrdfJoint& joint = model_.joints[at(index)];
        int body = here.body;
        if (joint.type != UrdfJointType::kFixed) {
          body = static_cast<int>(bodies_.size());
          bodies_[at(here.body)].children.push_back(body);
          Body to;
          to.joint = index;
          to.parent = here.body;
          to.depth =
              bodies_[at(here.body)].depth + (one_degree_of_freedom(joint) && !joint.mimic ? 1 : 0);
          bodies_.push_back(to);
        }
        body_of_joint_[at(index)] = body;
        open.push_back({joint.child, body});
      }
    }
  }

  /// The child of `palm` that leads to `body`, -1 if none does.
  int branch_to(int palm, int body) const {
    while (body > 0 && bodies_[at(body)].parent != palm) body = bodies_[at(body)].parent;
    return body > 0 ? body : -1;
  }

  /// Whether what is fixed to the body has fingers on it.
  bool is_palm(int index) const {
    const Body& palm = bodies_[at(index)];
    const std::vector<int>& children = palm.children;
    int most = 0;
    for (const int child : children) {
      if (!one_degree_of_freedom(model_.joints[at(bodies_[at(child)].joint)])) return false;
      most = std::max(most, bodies_[at(child)].height);
    }
    if (children.size() < 2 || most == 0 || most > std::min(kMostFingerJoints, palm.depth - 1)) {
      return false;
    }
    const auto with_joints = [&](int least) {
      return std::count_if(children.begin(), children.end(), [&](int child) {
        return bodies_[at(child)].height >= std::max(1, least);
      });
    };
    // Fingers of one gripper are alike: a wrist's revolute joint beside a slide is none.
    const auto slides = std::count_if(children.begin(), children.end(), [&](int child) {
      return model_.joints[at(bodies_[at(child)].joint)].type == UrdfJointType::kPrismatic;
    });
    const bool alike = slides == 0 || slides == static_cast<std::ptrdiff_t>(children.size());
    if (alike && (with_joints(most) >= 2 || with_joints(most - 1) >= 3)) return true;
    // One finger is driven, and the others follow it.
    return std::any_of(children.begin(), children.end(), [&](int child) {
      if (!bodies_[at(child)].only_mimic) return false;
      const auto leader = joint_index_.find(model_.joints[at(bodies_[at(child)].joint)].mimic_of);
      return leader != joint_index_.end() &&
             branch_to(index, body_of_joint_[at(leader->second)]) >= 0;
    });
  }

  const UrdfModel& model_;
  std::vector<Body> bodies_;
  std::vector<int> body_of_joint_;
  std::unordered_map<std::string_view, int> joint_index_;
};

}  // namespace

std::vector<bool> gripper_joints(const UrdfModel& model) {
  return BodyTree(model).gripper_joints();
}

}  // namespace ga_dynamics
