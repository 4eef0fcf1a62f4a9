// SPDX-License-Identifier: Apache-2.0
#include "study/provenance.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "report/sha256.hpp"
#include "report/version.hpp"

namespace ga_tools {

using nlohmann::json;

namespace {

json robot_file(const ga_dynamics::Chain& chain, const std::filesystem::path& urdf) {
  std::ifstream in(urdf, std::ios::binary);
  if (!in) throw std::runtime_error(urdf.string() + ": cannot be read");
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  json joints = json::array();
  for (const auto& joint : chain.joints()) joints.push_back(joint.name);
  return {{"file", urdf.string()},   {"sha256", sha256(bytes)}, {"base", chain.base().name},
          {"tip", chain.tip().name}, {"joints", joints},        {"gravity", chain.gravity()}};
}

}  // namespace

json provenance(const ga_dynamics::Chain& chain, const std::filesystem::path& urdf,
                const std::string& command) {
  return {{"command", command}, {"version", version()}, {"robot", robot_file(chain, urdf)}};
}

json provenance(const Demonstration& d, const DemonstrationOptions& o) {
  json made = provenance(d.chain, o.urdf, o.command);
  json gains = json::array(), signals = json::array(), bodies = json::array();
  json joint_gains = json::array();
  for (std::size_t i = 0; i < d.gains.size(); ++i) {
    const std::string& name = d.chain.joints()[i].name;
    gains.push_back(
        {{"joint", name}, {"kp", d.gains[i].kp}, {"kd", d.gains[i].kd}, {"ki", d.gains[i].ki}});
    signals.push_back({{"joint", name},
                       {"counts_per_rad", d.signals[i].counts_per_rad},
                       {"torque_per_volt", d.signals[i].torque_per_volt}});
    const ga_hardware::JointErrors& error = d.errors[i];
    bodies.push_back({{"joint", name},
                      {"mass", error.mass},
                      {"inertia", error.inertia},
                      {"com", error.com},
                      {"friction", error.friction},
                      {"armature", error.armature},
                      {"torque_constant", error.torque_constant}});
    joint_gains.push_back({{"joint", name},
                           {"kp", d.joint_gains.kp[i]},
                           {"kd", d.joint_gains.kd[i]},
                           {"ki", d.joint_gains.ki[i]}});
  }
  made["laws"] = d.laws;
  made["motion"] = {{"name", o.trajectory},
                    {"description", d.motion},
                    {"duration", d.duration},
                    {"settle", o.settle_time}};
  made["rate"] = o.rate;
  made["seed"] = o.seed;
  made["gains"] = gains;
  made["friction_feed_forward"] = o.friction;
  made["signals"] = signals;
  made["known_payload"] = {{"mass", o.known_payload.mass},
                           {"com", o.known_payload.com},
                           {"inertia", o.known_payload.inertia}};
  made["adaptation"] = o.adapt;
  made["joint_controllers"] = {{"gains", joint_gains}, {"reduction", d.joint_gains.reduction}};
  json unknown{{"payload", o.payload}, {"body_factors", bodies}, {"noise", o.noise}};
  unknown["payload_com"] = o.payload_com.empty() ? std::vector<double>(3) : o.payload_com;
  for (const ga_hardware::DisturbanceOption& option : ga_hardware::disturbance_options()) {
    unknown[option.name] = o.disturbances.*option.value;
  }
  made["unknown_to_the_laws"] = unknown;
  return made;
}

}  // namespace ga_tools
