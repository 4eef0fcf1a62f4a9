// SPDX-License-Identifier: Apache-2.0
#include "cli/parameters.hpp"

#include <tinyxml2.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "ga_dynamics/number.hpp"

namespace puma_hardware::cli {

namespace {

using ga_dynamics::trimmed;
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

/// The arm's <hardware>, also beside that of a gripper; null if there is none.
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

/// The line up to a `#` at its beginning or after a blank, outside of quotes.
std::string_view without_comment(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) {
      return line.substr(0, i);
    }
  }
  return line;
}

std::string value_of(std::string_view text) {
  const auto between = [&](char open, char close) {
    return text.size() >= 2 && text.front() == open && text.back() == close;
  };
  const bool list = between('[', ']');
  if (list || between('"', '"') || between('\'', '\'')) text = text.substr(1, text.size() - 2);
  std::string value(text);
  if (list) std::replace(value.begin(), value.end(), ',', ' ');
  return value;
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

Parameters read_settings(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("--settings " + path + ": cannot be read");
  Parameters settings;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string_view text = trimmed(without_comment(line));
    if (text.empty() || text == "---") continue;
    const std::string where = path + ", line " + std::to_string(number) + ": ";
    const std::size_t colon = text.find(": ");
    const std::string_view name = trimmed(text.substr(0, colon));
    if (colon == std::string_view::npos || name.empty() ||
        name.find_first_of(" \t\"'") != std::string_view::npos) {
      throw std::runtime_error(where + "give `name: value`, as pcl726.base: 0x2C0");
    }
    if (!settings.emplace(name, value_of(trimmed(text.substr(colon + 2)))).second) {
      throw std::runtime_error(where + std::string(name) + " is set for the second time");
    }
  }
  if (const auto table = settings.find("calibration_file"); table != settings.end()) {
    table->second =
        (std::filesystem::absolute(path).parent_path() / table->second).lexically_normal();
  }
  return settings;
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
