// SPDX-License-Identifier: Apache-2.0

/// Why not urdfdom: as packaged for Debian 12 (3.0.1) it accepts zero axes, negative masses, cycles
/// and links with two parents, drops an inertial that it cannot parse and goes on, overflows the
/// stack on deep nesting (TinyXML 1 has no limit), and tells its errors to a global log handler,
/// without a line. A model of forces needs all of these to be errors that reach the caller.
#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include "urdf_parts.hpp"

namespace ga_dynamics {
namespace {

using urdf::Element;
using urdf::Report;

void parse_document(std::string_view text, tinyxml2::XMLDocument& document) {
  urdf::check_raw_text(text);
  const tinyxml2::XMLError error = document.Parse(text.data(), text.size());
  if (error == tinyxml2::XML_SUCCESS) {
    return;
  }
  std::string remedy = "correct the text there";
  if (error == tinyxml2::XML_ERROR_MISMATCHED_ELEMENT) {
    remedy = "close every tag that was opened, in reverse order";
  } else if (error == tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED) {
    remedy = "the tags are nested deeper than any URDF's; close them";
  } else if (error == tinyxml2::XML_ERROR_PARSING_ATTRIBUTE) {
    remedy = "write attributes as name=\"value\", each name once";
  }
  urdf::fail("robot description", document.ErrorLineNum(),
             "malformed XML: " + std::string(document.ErrorStr()) + "; " + remedy);
}

UrdfLink read_link(const Element& element, const Report& report) {
  UrdfLink link;
  link.line = element.GetLineNum();
  link.name = urdf::required_text(element, "name", "link");
  const std::string owner = "link " + urdf::quote(link.name);
  if (const Element* const inertial = urdf::only_child(element, "inertial", owner, report)) {
    link.inertial = urdf::read_inertial(*inertial, owner, report);
  }
  return link;
}

std::string read_all(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw DescriptionError("is a directory; give the URDF file in it");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const std::string reason = std::generic_category().message(errno);
    throw DescriptionError("cannot be opened (" + reason + "); check the path and its permissions");
  }
  // Read to the end instead of asking for the size: a pipe has none, and /dev/zero has no end.
  std::string text;
  std::array<char, 1 << 16> block;
  while (text.size() <= kMaxUrdfBytes) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block.data(), static_cast<std::size_t>(file.gcount()));
    if (!file) {
      break;
    }
  }
  if (file.bad()) {
    throw DescriptionError("cannot be read to its end; check the disk and the permissions");
  }
  return text;
}

template <class Item>
int find_by_name(const std::vector<Item>& items, std::string_view name) {
  const auto found = std::find_if(items.begin(), items.end(),
                                  [name](const Item& item) { return item.name == name; });
  return found == items.end() ? -1 : static_cast<int>(found - items.begin());
}

}  // namespace

UrdfModel read_urdf_text(std::string_view text, const UrdfReadOptions& options) {
  tinyxml2::XMLDocument document;
  parse_document(text, document);
  UrdfModel model;
  const Report report{options.strict, options.collect_faults, model};
  const Element& robot = urdf::robot_element(document, report);
  if (const char* const name = robot.Attribute("name")) {
    model.name = name;
  }
  if (model.name.empty()) {
    report.warn("robot", robot.GetLineNum(), "has no name; add name=\"...\"");
  }
  for (auto* child = robot.FirstChildElement(); child != nullptr;
       child = child->NextSiblingElement()) {
    const std::string_view kind = child->Name();
    if (kind == "link") {
      model.links.push_back(read_link(*child, report));
    } else if (kind == "joint") {
      model.joints.push_back(urdf::read_joint(*child, report));
    }
  }
  urdf::drop_empty_limits(model, report);
  urdf::connect_tree(model, "robot " + urdf::quote(model.name), robot.GetLineNum(), report);
  urdf::apply_ros2_control(robot, model, report);
  return model;
}

UrdfModel read_urdf_file(const std::filesystem::path& path, const UrdfReadOptions& options) {
  try {
    return read_urdf_text(read_all(path), options);
  } catch (const DescriptionError& error) {
    throw DescriptionError(path.string() + ": " + error.what());
  }
}

int find_link(const UrdfModel& model, std::string_view name) {
  return find_by_name(model.links, name);
}

int find_joint(const UrdfModel& model, std::string_view name) {
  return find_by_name(model.joints, name);
}

}  // namespace ga_dynamics
