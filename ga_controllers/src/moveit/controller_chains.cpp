// SPDX-License-Identifier: Apache-2.0
#include "moveit/controller_chains.hpp"

#include <algorithm>

namespace ga_controllers {

namespace {

using Names = std::vector<std::string>;

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void add(const std::string& name, Names& names) {
  if (!contains(names, name)) names.push_back(name);
}

bool intersect(const Names& a, const Names& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& name) { return contains(b, name); });
}

const ControllerInfo* find(const std::vector<ControllerInfo>& controllers,
                           const std::string& name) {
  const auto found = std::find_if(controllers.begin(), controllers.end(),
                                  [&](const auto& controller) { return controller.name == name; });
  return found == controllers.end() ? nullptr : &*found;
}

/// The controller that exports the interface, or nothing: the hardware does.
const ControllerInfo* exporter(const std::vector<ControllerInfo>& controllers,
                               const std::string& interface) {
  const std::size_t slash = interface.find('/');
  if (slash == std::string::npos || interface.find('/', slash + 1) == std::string::npos)
    return nullptr;
  return find(controllers, interface.substr(0, slash));
}

/// The joint in "joint1/effort" or, of a controller's reference, in "law/joint1/position".
std::string joint_of(const std::vector<ControllerInfo>& controllers, const std::string& interface) {
  const std::size_t first =
      exporter(controllers, interface) != nullptr ? interface.find('/') + 1 : 0;
  const std::size_t last = interface.rfind('/');
  return last == std::string::npos || last < first ? interface : interface.substr(first, last - first);
}

ControllerChain chain_of(const std::vector<ControllerInfo>& controllers,
                         const ControllerInfo& head) {
  ControllerChain chain;
  chain.controllers.push_back(head.name);
  for (const std::string& interface : head.required)
    add(joint_of(controllers, interface), chain.joints);
  for (std::size_t i = 0; i < chain.controllers.size(); ++i) {
    for (const std::string& interface : find(controllers, chain.controllers[i])->required) {
      if (const ControllerInfo* const next = exporter(controllers, interface))
        add(next->name, chain.controllers);
    }
  }
  const auto active = [&](const std::string& name) { return find(controllers, name)->active(); };
  const auto behind = chain.controllers.begin() + 1;
  chain.law_active =
      chain.controllers.size() > 1 && std::all_of(behind, chain.controllers.end(), active);
  chain.active = active(head.name) && std::all_of(behind, chain.controllers.end(), active);
  return chain;
}

std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

bool ControllerChain::overlaps(const ControllerChain& other) const {
  return intersect(joints, other.joints);
}

std::vector<ControllerChain> find_chains(const std::vector<ControllerInfo>& controllers,
                                         const std::vector<std::string>& head_types) {
  std::vector<ControllerChain> chains;
  for (const ControllerInfo& controller : controllers) {
    const bool configured = controller.active() || controller.state == "inactive";
    if (configured && contains(head_types, controller.type))
      chains.push_back(chain_of(controllers, controller));
  }
  return chains;
}

bool is_preferred(const ControllerChain& chain, const std::vector<ControllerChain>& all,
                  const std::vector<std::string>& defaults) {
  std::vector<const ControllerChain*> rivals;
  for (const ControllerChain& other : all) {
    if (other.head() != chain.head() && other.overlaps(chain)) rivals.push_back(&other);
  }
  const auto any = [&](const auto& property) {
    return std::any_of(rivals.begin(), rivals.end(), property);
  };
  if (chain.active) return true;
  if (any([](const auto* rival) { return rival->active; })) return false;
  if (chain.law_active) return true;
  if (any([](const auto* rival) { return rival->law_active; })) return false;
  return rivals.empty() || contains(defaults, chain.head());
}

ControllerSwitch plan_switch(const std::vector<ControllerInfo>& controllers,
                             const std::vector<ControllerChain>& chains,
                             const std::vector<std::string>& activate,
                             const std::vector<std::string>& deactivate,
                             const std::vector<std::string>& protected_types) {
  ControllerSwitch result;
  Names target, needed;
  for (const std::string& head : activate) {
    const auto chain = std::find_if(chains.begin(), chains.end(),
                                    [&](const auto& one) { return one.head() == head; });
    if (chain == chains.end())
      throw SwitchError("controller '" + head + "' is not configured at the controller manager");
    for (const std::string& name : chain->controllers) add(name, target);
  }
  // Next to the hardware first.
  for (auto name = target.rbegin(); name != target.rend(); ++name) {
    const ControllerInfo& controller = *find(controllers, *name);
    if (controller.active()) continue;
    if (controller.state != "inactive") {
      throw SwitchError("controller '" + *name + "' is " + controller.state +
                        "; configure it first: ros2 control set_controller_state " + *name +
                        " inactive");
    }
    result.activate.push_back(*name);
    for (const std::string& interface : controller.required) add(interface, needed);
  }
  for (const std::string& name : deactivate) {
    const ControllerInfo* const controller = find(controllers, name);
    if (controller != nullptr && controller->active() && !contains(target, name))
      add(name, result.deactivate);
  }
  // Controllers that claim needed interfaces, and controllers that command references of those.
  for (bool changed = true; changed;) {
    changed = false;
    for (const ControllerInfo& controller : controllers) {
      if (!controller.active() || contains(result.deactivate, controller.name)) continue;
      const bool in_chain = contains(target, controller.name);
      const bool has_needed = !in_chain && intersect(controller.claimed, needed);
      const bool commands = std::any_of(
          controller.claimed.begin(), controller.claimed.end(), [&](const std::string& interface) {
            const ControllerInfo* const from = exporter(controllers, interface);
            return from != nullptr && contains(result.deactivate, from->name);
          });
      if (has_needed || commands) result.deactivate.push_back(controller.name), changed = true;
    }
  }
  for (const std::string& name : result.deactivate) {
    const std::string& type = find(controllers, name)->type;
    if (!contains(protected_types, type)) continue;
    throw SwitchError("controller '" + name + "' (" + type + ") is active and keeps " +
                      joined(activate) +
                      " from the arm; deactivate it first: ros2 control "
                      "switch_controllers --deactivate " +
                      name);
  }
  return result;
}

}  // namespace ga_controllers
