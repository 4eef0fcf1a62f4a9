// SPDX-License-Identifier: Apache-2.0
#include "plugins/arm_setup.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "ga_hardware/arm_system.hpp"
#include "ga_hardware/parameter_text.hpp"

namespace puma_hardware {

using namespace ga_hardware;
namespace {

using hardware_interface::HardwareInfo;

Bus bus_of(const std::string& where, const std::string& io, const std::string& cell) {
  if (io == "ports" && cell.empty()) return Bus::kPorts;
  if (io == "emulated") return cell.empty() ? Bus::kPrivate : Bus::kShared;
  if (io == "ports") {
    throw std::runtime_error(where + ": parameter cell is '" + cell +
                             "', but io is ports; omit cell or set io to emulated");
  }
  throw std::runtime_error(where + ": parameter io is '" + io + "'; give ports or emulated");
}

void place(const std::string& where, const std::map<std::string, double>& given, ArmSetup& setup) {
  for (const auto& [name, position] : given) {
    const auto found = std::find(setup.joints.begin(), setup.joints.end(), name);
    if (found == setup.joints.end()) {
      throw std::runtime_error(where + ": parameter initial_positions: there is no joint '" + name +
                               "'");
    }
    setup.emulated.start[static_cast<std::size_t>(found - setup.joints.begin())] = position;
  }
}

}  // namespace

ArmSetup arm_setup_of(const HardwareInfo& info) {
  const std::string where = "hardware '" + info.name + "'";
  std::unordered_map<std::string, std::string> own;
  Parameters others;
  for (const auto& [name, text] : info.hardware_parameters) {
    if (concerns_plugin(name)) {
      own.emplace(name, text);
    } else {
      others.emplace(name, text);
    }
  }
  ga_hardware::ParameterText text(where, own);
  ArmSetup setup{ga_hardware::chain_of(info.original_xml, text)};
  check_joints(where, info, setup.chain);
  for (const auto& joint : setup.chain.joints()) setup.joints.push_back(joint.name);
  setup.parameters = std::move(others);
  setup.cell = text.text("cell");
  setup.bus = bus_of(where, text.text("io", "ports"), setup.cell);
  // Invalid settings are reported now, not at the first connection.
  const CardSettings cards = ArmSettings::from(setup.chain, setup.parameters).cards;
  if (text.flag("guard", true)) setup.heartbeat = cards_name(setup.bus, setup.cell, cards);
  setup.driver.guard_timeout = text.number("guard_timeout", setup.driver.guard_timeout, 0.001, 10);
  setup.driver.feed_observer = text.flag("observer_feed", true);
  if (info.rw_rate > 0) setup.driver.period = 1.0 / info.rw_rate;
  setup.simulated_time = text.flag("simulated_time", false);
  setup.real_time_factor = text.number("real_time_factor", 1, 0, 1000);
  place(where, text.by_joint("initial_positions"), setup);
  setup.emulated.seed = static_cast<unsigned>(text.whole("seed", 1, 0, 1000000));
  setup.emulated.payload = text.number("payload_mass", 0, 0, 1000);
  setup.emulated.disturbances =
      ga_hardware::read_disturbances(where, text, emulator::kEmulatedDisturbances);
  const bool differs =
      setup.emulated.payload > 0 || setup.emulated.disturbances != ga_hardware::Disturbances{};
  if (differs && setup.bus != Bus::kPrivate) {
    throw std::runtime_error(
        where +
        ": parameters payload_mass, mismatch and the like describe an arm that is "
        "emulated in this process; give them to `puma emulate` or omit them");
  }
  if (setup.simulated_time && setup.bus != Bus::kPrivate) {
    throw std::runtime_error(where +
                             ": parameter simulated_time is 'true', but the cards are not emulated "
                             "in this process; set io to emulated and omit cell");
  }
  return setup;
}

}  // namespace puma_hardware
