// SPDX-License-Identifier: Apache-2.0
#include "arm_payload.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "live_payload.hpp"

namespace ga_controllers {

using ga_dynamics::Payload;

namespace {

struct Arm {
  std::optional<Payload> payload;  ///< that the service set last
  std::vector<std::pair<const ArmPayload*, std::weak_ptr<ArmPayload::Node>>> members;
};

struct Arms {
  std::mutex mutex;  ///< held while parameters are set: their callbacks must not lock it
  std::map<std::string, Arm> by_name;
};

/// The arms of this process.
Arms& arms() {
  static Arms all;
  return all;
}

std::string name_of(const ArmPayload::Node& node, const ga_dynamics::Chain& chain) {
  std::string name = node.get_namespace();
  for (const auto& joint : chain.joints()) name += " " + joint.name;
  return name + " " + chain.tip().name;
}

const std::vector<std::string>& parameter_names() {
  static const std::vector<std::string> names{"payload.mass", "payload.com", "payload.inertia"};
  return names;
}

/// Sets the payload of all members, or of none. Returns their names; throws std::runtime_error.
std::vector<std::string> set_all(Arm& arm, const Payload& payload) {
  std::vector<std::string> done;
  std::vector<std::pair<ArmPayload::Node::SharedPtr, std::vector<rclcpp::Parameter>>> before;
  for (const auto& [member, weak] : arm.members) {
    const ArmPayload::Node::SharedPtr node = weak.lock();
    if (!node) continue;
    before.emplace_back(node, node->get_parameters(parameter_names()));
    const auto result = node->set_parameters_atomically(parameters_of(payload));
    if (!result.successful) {
      for (const auto& [changed, parameters] : before) {
        std::ignore = changed->set_parameters_atomically(parameters);
      }
      throw std::runtime_error(std::string(node->get_name()) + ": " + result.reason);
    }
    done.emplace_back(node->get_name());
  }
  arm.payload = payload;
  return done;
}

}  // namespace

ArmPayload::ArmPayload(const Node::SharedPtr& node, const ga_dynamics::Chain& chain)
    : node_(node), arm_(name_of(*node, chain)) {
  {
    const std::lock_guard lock(arms().mutex);
    Arm& arm = arms().by_name[arm_];
    arm.members.emplace_back(this, node_);
    if (arm.payload) {
      const auto result = node->set_parameters_atomically(parameters_of(*arm.payload));
      if (!result.successful) {
        RCLCPP_ERROR(node->get_logger(), "does not take the arm's payload: %s",
                     result.reason.c_str());
      }
    }
  }
  service_ = node->create_service<Service>(
      "~/set_payload", [arm = arm_](const Service::Request::SharedPtr request,
                                    const Service::Response::SharedPtr response) {
        set(arm, *request, *response);  // may still run while this object is destroyed
      });
}

ArmPayload::~ArmPayload() {
  service_.reset();
  const std::lock_guard lock(arms().mutex);
  auto& members = arms().by_name[arm_].members;
  std::erase_if(members, [this](const auto& member) { return member.first == this; });
}

void ArmPayload::set(const std::string& arm, const Service::Request& request,
                     Service::Response& response) {
  try {
    const auto& given = request.payload;
    const Payload payload = ga_dynamics::make_payload(given.mass, given.com, given.inertia);
    const std::lock_guard lock(arms().mutex);
    for (const std::string& name : set_all(arms().by_name[arm], payload)) {
      response.message += (response.message.empty() ? "" : ", ") + name;
    }
    response.success = true;
  } catch (const std::exception& error) {
    response.success = false;
    response.message = error.what();
  }
}

}  // namespace ga_controllers
