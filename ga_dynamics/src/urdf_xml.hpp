// SPDX-License-Identifier: Apache-2.0

/// Checked access to the XML below the URDF reader: every getter either returns a usable value or
/// throws a DescriptionError that names the owner, the line, the value and the remedy.
#ifndef URDF_XML_HPP_
#define URDF_XML_HPP_

#include <tinyxml2.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ga_dynamics/urdf_model.hpp"

namespace ga_dynamics::urdf {

using Element = tinyxml2::XMLElement;

/// `owner` here and below is how a person would name the element: "link 'forearm'".
[[noreturn]] void fail(std::string_view owner, int line, std::string_view problem);

/// Collects warnings; in strict mode the first one is an error. Collects faults where that is asked
/// for; otherwise the first one is an error.
struct Report {
  bool strict;
  bool collect_faults;
  UrdfModel& model;
  void warn(std::string_view owner, int line, std::string_view problem) const;
  /// `owner` tells the lines.
  void warn(std::string_view owner, std::string_view problem) const;
  void fault(std::string_view owner, int line, std::string_view problem) const;
};

/// The value in quotes for a message: shortened, and without control characters.
std::string quote(std::string_view text);
/// The same for a tag: "<link>".
std::string tag(std::string_view name);
/// The number for a message, with a point whatever the locale.
std::string to_text(double value);

/// What has to be refused before tinyxml2 sees it: it would stop at a NUL byte without a word, and
/// takes time quadratic in the number of one tag's attributes. The depth of nesting it limits
/// itself.
void check_raw_text(std::string_view text);

/// The <robot> element of a parsed document; xacro that was not expanded is a fault.
const Element& robot_element(const tinyxml2::XMLDocument& document, const Report& report);

/// The first child with this tag or nullptr; a second one is a fault.
const Element* only_child(const Element& parent, const char* name, const std::string& owner,
                          const Report& report);
const Element& required_child(const Element& parent, const char* name, const std::string& owner,
                              const Report& report);

std::string required_text(const Element& element, const char* attribute, const std::string& owner);
double required_number(const Element& element, const char* attribute, const std::string& owner);
std::optional<double> optional_number(const Element& element, const char* attribute,
                                      const std::string& owner);
/// Exactly three numbers.
std::optional<Vector3> optional_vector(const Element& element, const char* attribute,
                                       const std::string& owner);

/// All of the element's text, read as one number; `what` names it in messages.
double number_inside(const Element& element, const std::string& what, const std::string& owner);

/// The <origin> child; identity without one. Of two the first counts, with a warning: so do urdfdom
/// and all that is built on it.
Pose read_origin(const Element& parent, const std::string& owner, const Report& report);

}  // namespace ga_dynamics::urdf

#endif  // URDF_XML_HPP_
