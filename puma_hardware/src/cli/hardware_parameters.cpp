// SPDX-License-Identifier: Apache-2.0
#include "cli/hardware_parameters.hpp"

#include <tinyxml2.h>

#include <stdexcept>

namespace puma_hardware::cli {

Parameters hardware_parameters(const std::string& urdf_text,
                               const std::vector<std::string>& assignments) {
  tinyxml2::XMLDocument document;
  if (document.Parse(urdf_text.c_str(), urdf_text.size()) != tinyxml2::XML_SUCCESS) {
    throw std::runtime_error(std::string("description: not XML: ") + document.ErrorStr());
  }
  Parameters parameters;
  const tinyxml2::XMLElement* robot = document.RootElement();
  const tinyxml2::XMLElement* control = robot->FirstChildElement("ros2_control");
  if (control != nullptr) {
    if (control->NextSiblingElement("ros2_control") != nullptr) {
      throw std::runtime_error("description: more than one <ros2_control>; keep the arm's alone");
    }
    if (const auto* hardware = control->FirstChildElement("hardware"); hardware != nullptr) {
      for (const auto* param = hardware->FirstChildElement("param"); param != nullptr;
           param = param->NextSiblingElement("param")) {
        const char* name = param->Attribute("name");
        const char* text = param->GetText();
        if (name == nullptr) {
          throw std::runtime_error("description: a <param> of <hardware> has no name");
        }
        if (std::string(name).rfind("sim.", 0) != 0) {
          parameters[name] = text == nullptr ? "" : text;
        }
      }
    }
  }
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw std::runtime_error("--set " + assignment + ": give name=value, as pcl726.base=0x2C0");
    }
    parameters[assignment.substr(0, equals)] = assignment.substr(equals + 1);
  }
  return parameters;
}

}  // namespace puma_hardware::cli
