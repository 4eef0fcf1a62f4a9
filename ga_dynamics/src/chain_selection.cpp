// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "chain_options.hpp"
#include "ga_dynamics/chain.hpp"
#include "gripper.hpp"
#include "joint_motion.hpp"

namespace ga_dynamics {
namespace {

constexpr std::size_t kMostNamed = 8;       // in one message
constexpr std::size_t kMostBranches = 200;  // to choose from

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// One degree of freedom, given by the user's q.
bool moves(const UrdfJoint& joint) {
  return joint.type == UrdfJointType::kRevolute || joint.type == UrdfJointType::kContinuous ||
         joint.type == UrdfJointType::kPrismatic;
}

bool actuated(const UrdfJoint& joint) { return moves(joint) && !joint.mimic; }

std::string describe(const UrdfJoint& joint) {
  return "joint '" + joint.name + "' (line " + std::to_string(joint.line) + ")";
}

std::string count(std::size_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

class Survey {
 public:
  Survey(const UrdfModel& model, const ChainOptions& options)
      : model_(model), options_(options), words_(options.spelling), finger_(gripper_joints(model)) {
    for (std::size_t i = 0; i < model.joints.size(); ++i) {
      joint_index_.emplace(model.joints[i].name, static_cast<int>(i));
    }
    frozen_.resize(model.joints.size());
    check_freeze();
  }

  ChainSelection run() {
    result_.base = options_.base.empty() ? model_.root : required_link(options_.base, "base");
    result_.tip =
        options_.tip.empty() ? result_.base : required_link(options_.tip, "tip");  // so far
    place_base();
    visit_subtree();
    find_branches();
    if (options_.tip.empty()) {
      choose_tip();
    } else {
      result_.reason = "the tip that was asked for";
    }
    walk_chain();
    sort_off_chain();
    return std::move(result_);
  }

 private:
  const UrdfLink& link(int index) const { return model_.links[at(index)]; }
  const UrdfJoint& joint(int index) const { return model_.joints[at(index)]; }
  bool fixed(int index) const {
    return joint(index).type == UrdfJointType::kFixed || frozen_[at(index)];
  }

  void ask(std::string text, std::vector<int> joints = {}) {
    result_.questions.push_back({std::move(text), std::move(joints)});
  }

  std::string name_joints(const std::vector<int>& indices) const {
    std::string text = indices.size() == 1 ? "joint " : "joints ";
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (i == kMostNamed) return text + " and " + std::to_string(indices.size() - i) + " more";
      const UrdfJoint& named = joint(indices[i]);
      text += (i == 0 ? "'" : ", '") + named.name + "' (line " + std::to_string(named.line) + ")";
    }
    return text;
  }

  int required_link(const std::string& name, const char* role) const {
    const int found = find_link(model_, name);
    if (found >= 0) return found;
    std::string known;
    for (const UrdfLink& other : model_.links) {
      if (known.size() > 200) {
        known += ", …";
        break;
      }
      known += (known.empty() ? "" : ", ") + other.name;
    }
    throw DescriptionError(std::string(role) + " link '" + name +
                           "' is not in the description; its links are: " + known);
  }

  void check_freeze() {
    for (const auto& [name, position] : options_.freeze) {
      const auto found = joint_index_.find(name);
      if (found == joint_index_.end()) {
        std::string known;
        for (const UrdfJoint& other : model_.joints) {
          if (other.type == UrdfJointType::kFixed) continue;
          if (known.size() > 200) {
            known += ", …";
            break;
          }
          known += (known.empty() ? "" : ", ") + other.name;
        }
        throw DescriptionError(
            "joint '" + name + "', to be frozen, is not in the description; " +
            (known.empty() ? "no joint of it moves" : "its moving joints are: " + known));
      }
      const UrdfJoint& chosen = joint(found->second);
      if (!std::isfinite(position)) {
        throw DescriptionError(describe(chosen) +
                               ": the position to freeze it at is not finite; give rad or m");
      }
      if (!moves(chosen) && position != 0) {
        throw DescriptionError(describe(chosen) +
                               ": it can only be frozen at 0, having no single position");
      }
      frozen_[at(found->second)] = true;
    }
  }

  /// Gravity is given in the root's frame: the way from there to the base must be known.
  void place_base() {
    std::vector<int> way;
    for (int at_link = result_.base; link(at_link).parent_joint >= 0;
         at_link = joint(way.back()).parent) {
      way.push_back(link(at_link).parent_joint);
    }
    LPose pose;
    std::vector<int> undecided;
    for (auto index = way.rbegin(); index != way.rend(); ++index) {
      const UrdfJoint& step = joint(*index);
      const auto given = options_.freeze.find(step.name);
      const LPose child = compose(
          pose, child_in_parent(step, given == options_.freeze.end() ? 0.0 : given->second));
      if (!fixed(*index) && !(options_.freeze_off_chain && keeps_gravity(step, pose))) {
        undecided.push_back(*index);
      }
      pose = child;
    }
    result_.base_in_root = to_double(pose);
    if (undecided.empty()) return;
    const bool one = undecided.size() == 1;
    const std::string& first = joint(undecided.front()).name;
    ask(name_joints(undecided) + ": " + (one ? "it moves" : "they move") + " base link '" +
            link(result_.base).name + "' against the root link '" + link(model_.root).name +
            "', in whose frame gravity is given; say where " + (one ? "it stands" : "they stand") +
            " (" + words_.freeze_at(first) + "), or begin the chain at the root",
        undecided);
  }

  /// Whether gravity, seen from the child, is the same at every position of the joint.
  bool keeps_gravity(const UrdfJoint& step, const LPose& parent) const {
    const LVec g{options_.gravity[0], options_.gravity[1], options_.gravity[2]};
    if (length(g) == 0 || step.type == UrdfJointType::kPrismatic) return true;
    if (!moves(step)) return false;
    const LVec axis = parent.rotation * (to_long(step.origin).rotation *
                                         LVec{step.axis[0], step.axis[1], step.axis[2]});
    constexpr Long kParallel = 1e-12L;
    return length(cross(axis, g)) <= kParallel * length(g);
  }

  /// Links behind the base, parents before children, and the actuated joints down to each.
  void visit_subtree() {
    depth_.assign(model_.links.size(), -1);
    depth_[at(result_.base)] = 0;
    order_.push_back(result_.base);
    for (std::size_t next = 0; next < order_.size(); ++next) {
      const int here = order_[next];
      for (const int index : link(here).child_joints) {
        const bool counts = actuated(joint(index)) && !frozen_[at(index)];
        depth_[at(joint(index).child)] = depth_[at(here)] + (counts ? 1 : 0);
        order_.push_back(joint(index).child);
      }
    }
  }

  /// The child links of the last actuated joints, fingers left out.
  void find_branches() {
    std::vector<bool> goes_on(model_.links.size(), false);  // to another actuated joint
    for (auto here = order_.rbegin(); here != order_.rend(); ++here) {
      if (*here == result_.base) break;
      const int index = link(*here).parent_joint;
      const bool counts = actuated(joint(index)) && !frozen_[at(index)];
      const bool finger = finger_[at(index)] && !frozen_[at(index)];
      if (!finger && (counts || goes_on[at(*here)])) goes_on[at(joint(index).parent)] = true;
    }
    for (const int here : order_) {
      if (here == result_.base || goes_on[at(here)]) continue;
      const int index = link(here).parent_joint;
      const bool counts = actuated(joint(index)) && !frozen_[at(index)];
      if (!counts || finger_[at(index)] || inside_gripper(here)) continue;
      result_.branches.push_back({last_fixed(here), depth_[at(here)], {}});
    }
    std::stable_sort(
        result_.branches.begin(), result_.branches.end(),
        [](const ChainBranch& one, const ChainBranch& other) { return one.joints > other.joints; });
    branch_count_ = result_.branches.size();
    if (branch_count_ > kMostBranches) result_.branches.resize(kMostBranches);
    for (ChainBranch& branch : result_.branches) branch.choose = choosing(branch.tip);
  }

  /// Whether a finger's joint lies between the base and the link.
  bool inside_gripper(int here) const {
    for (; here != result_.base; here = joint(link(here).parent_joint).parent) {
      const int index = link(here).parent_joint;
      if (finger_[at(index)] && !frozen_[at(index)]) return true;
    }
    return false;
  }

  /// Follows fixed joints while there is but one way to go, or to the link that carries a gripper.
  int last_fixed(int here) const {
    std::vector<int> open{here};
    int palm = -1;
    bool one_palm = true;
    for (std::size_t next = 0; next < open.size(); ++next) {
      for (const int index : link(open[next]).child_joints) {
        if (fixed(index)) {
          open.push_back(joint(index).child);
        } else if (finger_[at(index)]) {
          one_palm = one_palm && (palm < 0 || palm == open[next]);
          palm = open[next];
        }
      }
    }
    if (palm >= 0 && one_palm) return palm;
    while (link(here).child_joints.size() == 1 && fixed(link(here).child_joints.front())) {
      here = joint(link(here).child_joints.front()).child;
    }
    return here;
  }

  std::string choosing(int tip) const {
    std::vector<std::string> options;
    if (!options_.base.empty()) options.push_back(words_.base(options_.base));
    options.push_back(words_.tip(link(tip).name));
    if (!options_.freeze_off_chain && has_dependent(tip)) options.push_back(words_.freeze_all());
    return words_.all_of(options);
  }

  void choose_tip() {
    const std::vector<ChainBranch>& branches = result_.branches;
    if (branches.empty()) {
      ask("the description has no moving joint behind link '" + link(result_.base).name +
          "'; a chain needs at least one");
      result_.reason = "there is no actuated joint behind it";
      return;
    }
    result_.tip = branches.front().tip;
    const int most = branches.front().joints;
    const auto equal = static_cast<std::size_t>(
        std::count_if(branches.begin(), branches.end(),
                      [most](const ChainBranch& branch) { return branch.joints == most; }));
    const std::string joints = count(static_cast<std::size_t>(most), "actuated joint");
    if (equal == 1) {
      const bool gripper = std::find(finger_.begin(), finger_.end(), true) != finger_.end();
      const std::string only = gripper ? "the only branch besides the gripper" : "the only branch";
      result_.reason = branches.size() == 1 ? only + ", with " + joints
                                            : "the longest of " + std::to_string(branch_count_) +
                                                  " branches: " + joints + ", the next has " +
                                                  std::to_string(branches[1].joints);
      return;
    }
    result_.reason = "the first of " + std::to_string(equal) + " branches with " + joints + " each";
    std::string tips;
    for (std::size_t i = 0; i < equal; ++i) {
      if (i == kMostNamed) {
        tips += ", …";
        break;
      }
      tips += (i == 0 ? "" : " or ") + branches[i].choose;
    }
    ask("the chain is ambiguous: " + std::to_string(equal) + " branches behind link '" +
        link(result_.base).name + "' have " + joints + "; name the tip link: " + tips);
  }

  void walk_chain() {
    on_chain_.assign(model_.joints.size(), false);
    for (int here = result_.tip; here != result_.base;) {
      const int index = link(here).parent_joint;
      if (index < 0) {
        throw DescriptionError("tip link '" + link(result_.tip).name +
                               "' is not behind base link '" + link(result_.base).name +
                               "'; exchange them or choose others");
      }
      if (!fixed(index)) {
        on_chain_[at(index)] = true;
        result_.joints.push_back(index);
      }
      here = joint(index).parent;
    }
    std::reverse(result_.joints.begin(), result_.joints.end());
    for (const int index : result_.joints) check_on_chain(index);
    std::erase_if(result_.joints, [this](int index) { return !actuated(joint(index)); });
    if (result_.joints.empty() && !options_.tip.empty()) {
      const std::string text = "no moving joint between base link '" + link(result_.base).name +
                               "' and tip link '" + link(result_.tip).name +
                               "'; choose links further apart";
      result_.questions.insert(result_.questions.begin(), ChainQuestion{text, {}});
    }
  }

  void check_on_chain(int index) {
    const UrdfJoint& step = joint(index);
    if (!moves(step)) {
      const bool floating = step.type == UrdfJointType::kFloating;
      ask(describe(step) + ": " + (floating ? "floating" : "planar") +
              " joints have more than one degree of freedom; fix it at zero (" +
              words_.freeze(step.name) +
              "), choose a base link behind it, or replace it by revolute and prismatic joints",
          {index});
    } else if (step.mimic) {
      ask(describe(step) + ": it mimics joint '" + step.mimic_of +
              "', and coupled joints are not a serial chain; remove <mimic>, fix it at zero (" +
              words_.freeze(step.name) + "), or end the chain before it (" +
              words_.all_of({words_.tip(step.parent_link), words_.freeze_all()}) + ")",
          {index});
    }
  }

  /// Moving joints behind the base that are not between it and `tip`, by what they are to it.
  struct OffChain {
    std::vector<int> gripper, on_base, dependent;
  };

  OffChain off_chain(const std::vector<bool>& on_chain) const {
    OffChain found;
    enum class Place : char { kBase, kChain, kOnBase, kGripper, kDependent };
    std::vector<Place> place(model_.links.size(), Place::kBase);
    for (const int here : order_) {
      for (const int index : link(here).child_joints) {
        const UrdfJoint& step = joint(index);
        Place& to = place[at(step.child)];
        to = place[at(here)];
        if (fixed(index)) continue;
        if (on_chain[at(index)]) {
          to = Place::kChain;
          continue;
        }
        // A joint that follows one of the chain moves with it, and loads it.
        const auto leader = step.mimic ? joint_index_.find(step.mimic_of) : joint_index_.end();
        if (leader != joint_index_.end() && on_chain[at(leader->second)]) {
          to = Place::kDependent;
        } else if (to == Place::kBase) {
          to = Place::kOnBase;
        } else if (to == Place::kChain) {
          to = finger_[at(index)] ? Place::kGripper : Place::kDependent;
        }
        if (to == Place::kOnBase) found.on_base.push_back(index);
        if (to == Place::kGripper) found.gripper.push_back(index);
        if (to == Place::kDependent) found.dependent.push_back(index);
      }
    }
    return found;
  }

  bool has_dependent(int tip) const {
    std::vector<bool> on_chain(model_.joints.size(), false);
    for (int here = tip; here != result_.base; here = joint(link(here).parent_joint).parent) {
      on_chain[at(link(here).parent_joint)] = true;
    }
    return !off_chain(on_chain).dependent.empty();
  }

  void sort_off_chain() {
    if (options_.freeze_off_chain) return;
    OffChain found = off_chain(on_chain_);
    result_.gripper = std::move(found.gripper);
    result_.on_base = std::move(found.on_base);
    result_.dependent = std::move(found.dependent);
    if (!result_.gripper.empty()) {
      const bool one = result_.gripper.size() == 1;
      result_.warnings.push_back(name_joints(result_.gripper) + ": " +
                                 (one ? "belongs" : "belong") + " to a gripper and " +
                                 (one ? "is" : "are") +
                                 " taken as fixed at 0; give another place "
                                 "with " +
                                 words_.freeze_at(joint(result_.gripper.front()).name) +
                                 ", or accept 0 with " + words_.freeze_all());
    }
    if (result_.dependent.empty() || result_.joints.empty()) return;
    const bool one = result_.dependent.size() == 1;
    ask(name_joints(result_.dependent) + ": " + (one ? "it moves and is" : "they move and are") +
            " not on the chain from '" + link(result_.base).name + "' to '" +
            link(result_.tip).name + "', whose torques depend on " + (one ? "it" : "them") +
            "; freeze " + (one ? "it" : "them") + " at 0 (" + words_.freeze_all() +
            ") or elsewhere (" + words_.freeze_at(joint(result_.dependent.front()).name) +
            "), or choose another base or tip link",
        result_.dependent);
  }

  const UrdfModel& model_;
  const ChainOptions& options_;
  const OptionWords words_;
  const std::vector<bool> finger_;  ///< by joint
  std::unordered_map<std::string_view, int> joint_index_;
  std::vector<bool> frozen_;    ///< by name, by joint
  std::vector<bool> on_chain_;  ///< by joint
  std::vector<int> depth_;      ///< actuated joints between base and link; -1 elsewhere
  std::vector<int> order_;      ///< links behind the base, parents first
  std::size_t branch_count_ = 0;
  ChainSelection result_;
};

void check_numbers(const ChainOptions& options) {
  for (const double g : options.gravity) {
    if (!std::isfinite(g)) {
      throw DescriptionError("gravity: not a finite vector; give three numbers in m/s²");
    }
  }
  if (!(options.snap >= 0 && options.snap <= 1e-3)) {
    throw DescriptionError("snap: must lie between 0 and 1e-3 rad");
  }
}

}  // namespace

ChainSelection survey_chain(const UrdfModel& model, const ChainOptions& options) {
  check_numbers(options);
  if (model.root < 0 || model.root >= static_cast<int>(model.links.size())) {
    throw DescriptionError("the description has no root link; read it with read_urdf_text()");
  }
  return Survey(model, options).run();
}

ChainSelection select_chain(const UrdfModel& model, const ChainOptions& options) {
  ChainSelection selection = survey_chain(model, options);
  if (!selection.questions.empty()) throw DescriptionError(selection.questions.front().text);
  return selection;
}

}  // namespace ga_dynamics
