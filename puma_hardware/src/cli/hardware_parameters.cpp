// SPDX-License-Identifier: Apache-2.0
#include "cli/hardware_parameters.hpp"

#include <tinyxml2.h>

#include <stdexcept>

namespace puma_hardware::cli {

namespace {

using tinyxml2::XMLElement;

void parse(const std::string& urdf_text, tinyxml2::XMLDocument& document) {
  if (document.Parse(urdf_text.c_str(), urdf_text.size()) != tinyxml2::XML_SUCCESS) {
    throw std::runtime_error(std::string("description: not XML: ") + document.ErrorStr());
  }
}

bool is_ours(const XMLElement& hardware) {
  const auto* plugin = hardware.FirstChildElement("plugin");
  const char* name = plugin == nullptr ? nullptr : plugin->GetText();
  return name != nullptr && std::string(name).rfind("puma_hardware/", 0) == 0;
}

/// That of the arm: a gripper may have one of its own. Null if there is none.
XMLElement* hardware_of(tinyxml2::XMLDocument& document) {
  std::vector<XMLElement*> all, ours;
  for (auto* control = document.RootElement()->FirstChildElement("ros2_control");
       control != nullptr; control = control->NextSiblingElement("ros2_control")) {
    XMLElement* hardware = control->FirstChildElement("hardware");
    if (hardware == nullptr) continue;
    all.push_back(hardware);
    if (is_ours(*hardware)) ours.push_back(hardware);
  }
  if (all.empty()) return nullptr;
  if (all.size() == 1) return all.front();
  if (ours.size() == 1) return ours.front();
  throw std::runtime_error("description: of its " + std::to_string(all.size()) +
                           " <ros2_control> tags " + std::to_string(ours.size()) +
                           " have a plugin of puma_hardware; keep that of one arm");
}

std::string name_of(const XMLElement& param) {
  const char* name = param.Attribute("name");
  if (name == nullptr) {
    throw std::runtime_error("description: a <param> of <hardware> has no name");
  }
  return name;
}

XMLElement* find(XMLElement& hardware, const std::string& name) {
  for (auto* param = hardware.FirstChildElement("param"); param != nullptr;
       param = param->NextSiblingElement("param")) {
    if (name_of(*param) == name) return param;
  }
  return nullptr;
}

void add(XMLElement& hardware, const std::string& name, const std::string& value) {
  XMLElement* param = hardware.InsertNewChildElement("param");
  param->SetAttribute("name", name.c_str());
  param->SetText(value.c_str());
}

}  // namespace

Parameters hardware_parameters(const std::string& urdf_text) {
  tinyxml2::XMLDocument document;
  parse(urdf_text, document);
  Parameters parameters;
  const XMLElement* hardware = hardware_of(document);
  if (hardware == nullptr) return parameters;
  for (const auto* param = hardware->FirstChildElement("param"); param != nullptr;
       param = param->NextSiblingElement("param")) {
    const std::string name = name_of(*param);
    const char* text = param->GetText();
    if (name.rfind("sim.", 0) != 0) parameters[name] = text == nullptr ? "" : text;
  }
  return parameters;
}

std::string robot_name(const std::string& urdf_text) {
  tinyxml2::XMLDocument document;
  parse(urdf_text, document);
  const char* name = document.RootElement()->Attribute("name");
  return name == nullptr ? "" : name;
}

Parameters assigned(const std::vector<std::string>& assignments) {
  Parameters parameters;
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw std::runtime_error("--set " + assignment + ": give name=value, as pcl726.base=0x2C0");
    }
    parameters[assignment.substr(0, equals)] = assignment.substr(equals + 1);
  }
  return parameters;
}

std::string with_hardware_parameters(const std::string& urdf_text, const Parameters& parameters,
                                     const Parameters& defaults, const std::string& plugin) {
  tinyxml2::XMLDocument document;
  parse(urdf_text, document);
  XMLElement* hardware = hardware_of(document);
  if (hardware == nullptr) {
    throw std::runtime_error("description: it has no <ros2_control> with a <hardware>; add one");
  }
  if (!plugin.empty()) {
    XMLElement* element = hardware->FirstChildElement("plugin");
    if (element == nullptr) element = hardware->InsertNewChildElement("plugin");
    element->SetText(plugin.c_str());
  }
  for (const auto& [name, value] : parameters) {
    if (XMLElement* param = find(*hardware, name); param != nullptr) {
      param->SetText(value.c_str());
    } else {
      add(*hardware, name, value);
    }
  }
  for (const auto& [name, value] : defaults) {
    if (find(*hardware, name) == nullptr) add(*hardware, name, value);
  }
  tinyxml2::XMLPrinter printer;
  document.Print(&printer);
  return printer.CStr();
}

}  // namespace puma_hardware::cli
