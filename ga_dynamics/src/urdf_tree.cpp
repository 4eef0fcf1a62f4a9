// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include "urdf_parts.hpp"

namespace ga_dynamics::urdf {
namespace {

constexpr std::size_t kMostNamed = 8;  // in one message

// Indices are int in the interface; kMaxUrdfBytes of text cannot name 2^31 links.
std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Keys view into `items`, which must stay where they are.
template <class Item>
std::unordered_map<std::string_view, int> index_by_name(const std::vector<Item>& items,
                                                        const std::string& kind) {
  std::unordered_map<std::string_view, int> index;
  index.reserve(items.size());
  for (const Item& item : items) {
    const auto [entry, is_new] = index.emplace(item.name, static_cast<int>(index.size()));
    if (!is_new) {
      fail(kind + " " + quote(item.name), item.line,
           "the name is already used at line " + std::to_string(items[at(entry->second)].line) +
               "; rename one of them");
    }
  }
  return index;
}

std::string name_links(const UrdfModel& model, const std::vector<int>& links, const char* between) {
  std::string text;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (i == kMostNamed) {
      return text + between + "...";
    }
    const UrdfLink& link = model.links[at(links[i])];
    text +=
        (i == 0 ? "" : between) + quote(link.name) + " (line " + std::to_string(link.line) + ")";
  }
  return text;
}

/// `from` is a link that no root leads to, so going up from it ends in a cycle.
[[noreturn]] void fail_cycle(const UrdfModel& model, int from) {
  const auto parent_of = [&model](int link) {
    return model.joints[at(model.links[at(link)].parent_joint)].parent;
  };
  for (std::size_t step = 0; step < model.links.size(); ++step) {
    from = parent_of(from);
  }
  std::vector<int> cycle{from};
  for (int link = parent_of(from); link != from; link = parent_of(link)) {
    cycle.push_back(link);
  }
  std::reverse(cycle.begin() + 1, cycle.end());  // from parent to child, as a reader follows it
  const UrdfLink& first = model.links[at(from)];
  fail("link " + quote(first.name), first.line,
       "is part of a cycle: " + name_links(model, cycle, " -> ") +
           " and back; a URDF is a tree with one root: remove a joint of the cycle");
}

void check_mimics(const UrdfModel& model,
                  const std::unordered_map<std::string_view, int>& joint_index,
                  const Report& report) {
  for (const UrdfJoint& joint : model.joints) {
    if (joint.mimic && (joint.mimic_of == joint.name || !joint_index.contains(joint.mimic_of))) {
      report.fault("joint " + quote(joint.name), joint.line,
                   "mimics joint " + quote(joint.mimic_of) + ", which " +
                       (joint.mimic_of == joint.name ? "is itself" : "does not exist") +
                       "; name another joint of the robot");
    }
  }
}

void connect_joints(UrdfModel& model, const std::unordered_map<std::string_view, int>& link_index) {
  const auto resolve = [&](const UrdfJoint& joint, const std::string& name, const char* end) {
    const auto found = link_index.find(name);
    if (found == link_index.end()) {
      fail("joint " + quote(joint.name), joint.line,
           std::string(end) + " link " + quote(name) +
               " does not exist; add the link or correct the name");
    }
    return found->second;
  };
  for (std::size_t i = 0; i < model.joints.size(); ++i) {
    UrdfJoint& joint = model.joints[i];
    joint.parent = resolve(joint, joint.parent_link, "parent");
    joint.child = resolve(joint, joint.child_link, "child");
    UrdfLink& child = model.links[at(joint.child)];
    if (child.parent_joint != -1) {
      const UrdfJoint& other = model.joints[at(child.parent_joint)];
      fail("link " + quote(child.name), child.line,
           "is the child of two joints, " + quote(other.name) + " (line " +
               std::to_string(other.line) + ") and " + quote(joint.name) + " (line " +
               std::to_string(joint.line) +
               "), a kinematic loop; a URDF is a tree: remove one of the joints");
    }
    child.parent_joint = static_cast<int>(i);
    model.links[at(joint.parent)].child_joints.push_back(static_cast<int>(i));
  }
}

/// First link that the root does not lead to, -1 if there is none.
int first_unreached(const UrdfModel& model) {
  std::vector<bool> reached(model.links.size(), false);
  std::vector<int> pending{model.root};
  while (!pending.empty()) {
    const int link = pending.back();
    pending.pop_back();
    reached[at(link)] = true;
    for (const int joint : model.links[at(link)].child_joints) {
      pending.push_back(model.joints[at(joint)].child);
    }
  }
  const auto found = std::find(reached.begin(), reached.end(), false);
  return found == reached.end() ? -1 : static_cast<int>(found - reached.begin());
}

}  // namespace

void connect_tree(UrdfModel& model, const std::string& owner, int line, const Report& report) {
  if (model.links.empty()) {
    fail(owner, line, "has no <link>; add at least one");
  }
  const auto link_index = index_by_name(model.links, "link");
  const auto joint_index = index_by_name(model.joints, "joint");
  check_mimics(model, joint_index, report);
  connect_joints(model, link_index);

  std::vector<int> roots;
  for (std::size_t i = 0; i < model.links.size(); ++i) {
    if (model.links[i].parent_joint == -1) {
      roots.push_back(static_cast<int>(i));
    }
  }
  if (roots.empty()) {
    fail_cycle(model, 0);
  }
  if (roots.size() > 1) {
    fail(owner, line,
         "has " + std::to_string(roots.size()) + " root links: " + name_links(model, roots, ", ") +
             "; a URDF is one tree: connect them with joints, or remove the loose ones");
  }
  model.root = roots.front();
  if (const int link = first_unreached(model); link != -1) {
    fail_cycle(model, link);
  }
}

}  // namespace ga_dynamics::urdf
