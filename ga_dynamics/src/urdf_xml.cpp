// SPDX-License-Identifier: Apache-2.0
#include "urdf_xml.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ga_dynamics/number.hpp"

namespace ga_dynamics::urdf {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n";
constexpr std::string_view kExpandXacro =
    "is xacro that was not expanded; expand it first: xacro FILE > robot.urdf";

/// A value and where it stands, so that one function can word every complaint about it.
struct Place {
  const std::string& owner;
  int line;
  std::string what;  // "<mass> value"

  [[noreturn]] void reject(std::string_view text, std::string_view problem) const {
    fail(owner, line, what + " " + quote(text) + " " + std::string(problem));
  }
};

Place place_of(const Element& element, const char* attribute, const std::string& owner) {
  return {owner, element.GetLineNum(), tag(element.Name()) + " " + attribute};
}

std::string presentable(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::size_t length = std::min(text.size(), kLongest);
  while (length > 0 && length < text.size() && (text[length] & 0xC0) == 0x80) {
    --length;  // not through the middle of a UTF-8 character
  }
  std::string shown(text.substr(0, length));
  std::replace_if(
      shown.begin(), shown.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  if (length < text.size()) {
    shown += "...";
  }
  return shown;
}

std::string message(std::string_view owner, int line, std::string_view problem) {
  std::string text(owner);
  text.append(" (line ").append(std::to_string(line)).append("): ").append(problem);
  return text;
}

bool is_xacro_expression(std::string_view text) {
  return text.find("${") != std::string_view::npos || text.find("$(") != std::string_view::npos;
}

double parse_number(std::string_view text, const Place& place) {
  if (is_xacro_expression(text)) {
    place.reject(text, kExpandXacro);
  }
  const std::string_view token = trimmed(text);
  if (token.empty()) {
    place.reject(text, "is empty; give a number");
  }
  double value = 0;
  if (!is_number(token, value)) {
    place.reject(text, "is not a number; write a plain decimal number like 0.25 or 2.5e-1");
  }
  if (std::isinf(value) && token.find_first_of("0123456789") != std::string_view::npos) {
    place.reject(text, "is too large for a double; check the exponent and the unit");
  }
  if (!std::isfinite(value)) {
    place.reject(text, "is not finite; give a finite number");
  }
  return value;
}

Vector3 parse_vector(std::string_view text, const Place& place) {
  if (is_xacro_expression(text)) {
    place.reject(text, kExpandXacro);
  }
  Vector3 vector{};
  std::size_t count = 0;
  std::string_view rest = trimmed(text);
  while (!rest.empty()) {
    const std::string_view token = rest.substr(0, rest.find_first_of(kWhiteSpace));
    if (count < vector.size()) {
      vector[count] = parse_number(token, place);
    }
    ++count;
    rest = trimmed(rest.substr(token.size()));
  }
  if (count != vector.size()) {
    place.reject(text, "has " + std::to_string(count) + (count == 1 ? " number" : " numbers") +
                           "; give exactly three, separated by spaces");
  }
  return vector;
}

Matrix3 rotation_from_rpy(const Vector3& rpy) {
  const double cr = std::cos(rpy[0]), sr = std::sin(rpy[0]);
  const double cp = std::cos(rpy[1]), sp = std::sin(rpy[1]);
  const double cy = std::cos(rpy[2]), sy = std::sin(rpy[2]);
  // Rz(yaw) Ry(pitch) Rx(roll): about the fixed axes x, y, z in this order, as URDF has it.
  const Vector3 x{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr};
  const Vector3 y{sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr};
  const Vector3 z{-sp, cp * sr, cp * cr};
  return {x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]};
}

/// One fault, however many there are: one run of xacro expands them all.
void check_xacro_elements(const Element& root, const Report& report) {
  std::vector<const Element*> pending{&root};
  while (!pending.empty()) {
    const Element& element = *pending.back();
    pending.pop_back();
    if (std::string_view(element.Name()).starts_with("xacro:")) {
      report.fault("element " + tag(element.Name()), element.GetLineNum(), kExpandXacro);
      return;
    }
    for (auto* child = element.FirstChildElement(); child != nullptr;
         child = child->NextSiblingElement()) {
      pending.push_back(child);
    }
  }
}

}  // namespace

void fail(std::string_view owner, int line, std::string_view problem) {
  throw DescriptionError(message(owner, line, problem));
}

void Report::warn(std::string_view owner, int line, std::string_view problem) const {
  if (strict) {
    fail(owner, line, problem);
  }
  model.warnings.push_back(message(owner, line, problem));
}

void Report::warn(std::string_view owner, std::string_view problem) const {
  std::string text(owner);
  text.append(": ").append(problem);
  if (strict) {
    throw DescriptionError(text);
  }
  model.warnings.push_back(std::move(text));
}

void Report::fault(std::string_view owner, int line, std::string_view problem) const {
  if (!collect_faults) {
    fail(owner, line, problem);
  }
  model.faults.push_back(message(owner, line, problem));
}

std::string quote(std::string_view text) { return "'" + presentable(text) + "'"; }

std::string tag(std::string_view name) { return "<" + presentable(name) + ">"; }

std::string to_text(double value) { return number_text(value, 6); }

const Element& robot_element(const tinyxml2::XMLDocument& document, const Report& report) {
  const Element* const root = document.RootElement();
  if (root == nullptr) {
    throw DescriptionError(
        "robot description: has no element; give URDF text that begins with <robot name=\"...\">");
  }
  if (std::string_view(root->Name()).starts_with("xacro:")) {
    fail("element " + tag(root->Name()), root->GetLineNum(), kExpandXacro);
  }
  if (std::string_view(root->Name()) == "robot") {
    check_xacro_elements(*root, report);
  } else {
    fail("element " + tag(root->Name()), root->GetLineNum(),
         "is not a URDF's root; give a file whose root is <robot>");
  }
  // tinyxml2 reads on past the root, and lets text stand before it.
  for (auto* node = document.FirstChild(); node != nullptr; node = node->NextSibling()) {
    if (node->ToText() != nullptr) {
      fail("robot description", node->GetLineNum(),
           "has text outside <robot>: " + quote(trimmed(node->Value())) + "; remove it");
    }
    if (node->ToElement() != nullptr && node != root) {
      fail("element " + tag(node->Value()), node->GetLineNum(),
           "follows the end of <robot>; keep one root element, with everything inside it");
    }
  }
  return *root;
}

const Element* only_child(const Element& parent, const char* name, const std::string& owner,
                          const Report& report) {
  const Element* const first = parent.FirstChildElement(name);
  if (first != nullptr) {
    if (const Element* const second = first->NextSiblingElement(name)) {
      report.fault(owner, second->GetLineNum(),
                   "has a second " + tag(name) + " (the first is at line " +
                       std::to_string(first->GetLineNum()) + "); keep one");
    }
  }
  return first;
}

const Element& required_child(const Element& parent, const char* name, const std::string& owner,
                              const Report& report) {
  const Element* const child = only_child(parent, name, owner, report);
  if (child == nullptr) {
    fail(owner, parent.GetLineNum(),
         "has no " + tag(name) + " in its " + tag(parent.Name()) + "; add the tag");
  }
  return *child;
}

std::string required_text(const Element& element, const char* attribute, const std::string& owner) {
  const char* const text = element.Attribute(attribute);
  if (text == nullptr || *text == '\0') {
    fail(owner, element.GetLineNum(),
         tag(element.Name()) + " has no " + attribute + "; add " + attribute + "=\"...\"");
  }
  if (is_xacro_expression(text)) {
    place_of(element, attribute, owner).reject(text, kExpandXacro);
  }
  return text;
}

double required_number(const Element& element, const char* attribute, const std::string& owner) {
  return parse_number(required_text(element, attribute, owner),
                      place_of(element, attribute, owner));
}

std::optional<double> optional_number(const Element& element, const char* attribute,
                                      const std::string& owner) {
  const char* const text = element.Attribute(attribute);
  if (text == nullptr) {
    return std::nullopt;
  }
  return parse_number(text, place_of(element, attribute, owner));
}

std::optional<Vector3> optional_vector(const Element& element, const char* attribute,
                                       const std::string& owner) {
  const char* const text = element.Attribute(attribute);
  if (text == nullptr) {
    return std::nullopt;
  }
  return parse_vector(text, place_of(element, attribute, owner));
}

double number_inside(const Element& element, const std::string& what, const std::string& owner) {
  // Not GetText(): it stops at a comment, so "0.2<!-- -->5" would read as 0.2.
  std::string text;
  for (auto* node = element.FirstChild(); node != nullptr; node = node->NextSibling()) {
    if (node->ToElement() != nullptr) {
      fail(owner, node->GetLineNum(),
           what + " holds an element " + tag(node->Value()) + "; give only a number");
    }
    if (node->ToText() != nullptr) {
      text += node->Value();
    }
  }
  return parse_number(text, Place{owner, element.GetLineNum(), what});
}

Pose read_origin(const Element& parent, const std::string& owner, const Report& report) {
  Pose pose;
  const Element* const origin = parent.FirstChildElement("origin");
  if (origin == nullptr) {
    return pose;
  }
  if (const Element* const second = origin->NextSiblingElement("origin")) {
    report.warn(owner, second->GetLineNum(),
                "has a second <origin> in its " + tag(parent.Name()) +
                    ", which is ignored: the "
                    "first, at line " +
                    std::to_string(origin->GetLineNum()) + ", counts; keep one");
  }
  if (origin->Attribute("quat_xyzw") != nullptr) {
    report.fault(
        owner, origin->GetLineNum(),
        "<origin> quat_xyzw is not read here (URDF 1.1 and later); write the rotation as rpy");
  }
  pose.translation = optional_vector(*origin, "xyz", owner).value_or(Vector3{0, 0, 0});
  pose.rotation = rotation_from_rpy(optional_vector(*origin, "rpy", owner).value_or(Vector3{}));
  return pose;
}

}  // namespace ga_dynamics::urdf
