// SPDX-License-Identifier: Apache-2.0
#include "study/visuals.hpp"

#include <tinyxml2.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace ga_tools {

using nlohmann::json;
using tinyxml2::XMLElement;

namespace {

std::vector<double> numbers(const XMLElement* element, const char* attribute,
                            std::vector<double> fallback) {
  const char* const text = element == nullptr ? nullptr : element->Attribute(attribute);
  if (text == nullptr) return fallback;
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  std::vector<double> values;
  for (double v; in >> v;) values.push_back(v);
  return values.size() == fallback.size() ? values : fallback;
}

double rounded(double value) { return std::round(value * 1e5) / 1e5; }

/// Position and quaternion of <origin>.
json pose_of(const XMLElement& visual) {
  const XMLElement* const origin = visual.FirstChildElement("origin");
  const auto xyz = numbers(origin, "xyz", {0, 0, 0}), rpy = numbers(origin, "rpy", {0, 0, 0});
  const double cr = std::cos(rpy[0] / 2), sr = std::sin(rpy[0] / 2), cp = std::cos(rpy[1] / 2),
               sp = std::sin(rpy[1] / 2), cy = std::cos(rpy[2] / 2), sy = std::sin(rpy[2] / 2);
  return {xyz[0],
          xyz[1],
          xyz[2],
          sr * cp * cy - cr * sp * sy,
          cr * sp * cy + sr * cp * sy,
          cr * cp * sy - sr * sp * cy,
          cr * cp * cy + sr * sp * sy};
}

std::filesystem::path resolve(const std::string& uri, const std::filesystem::path& urdf) {
  const std::string scheme = "package://";
  if (uri.rfind(scheme, 0) != 0) return urdf.parent_path() / uri;
  const std::size_t slash = uri.find('/', scheme.size());
  if (slash == std::string::npos) return {};
  const std::string package = uri.substr(scheme.size(), slash - scheme.size());
  for (auto at = std::filesystem::absolute(urdf).parent_path(); at.has_relative_path();
       at = at.parent_path()) {
    const auto root = at.filename() == package ? at : at / package;
    if (std::filesystem::exists(root / uri.substr(slash + 1))) return root / uri.substr(slash + 1);
  }
  return {};
}

/// Vertices and triangles of a binary STL, equal vertices merged; empty if the file is not one.
json read_stl(const std::filesystem::path& path, const std::vector<double>& scale) {
  std::ifstream in(path, std::ios::binary);
  std::array<char, 84> header{};
  if (!in.read(header.data(), header.size())) return {};
  std::uint32_t count = 0;
  std::memcpy(&count, header.data() + 80, sizeof count);
  if (std::filesystem::file_size(path) != 84 + 50 * std::uintmax_t{count}) return {};
  std::map<std::array<float, 3>, std::size_t> index;
  json vertices = json::array(), triangles = json::array();
  for (std::uint32_t t = 0; t < count; ++t) {
    std::array<char, 50> facet{};
    if (!in.read(facet.data(), facet.size())) return {};
    for (std::size_t corner = 0; corner < 3; ++corner) {
      std::array<float, 3> v{};
      std::memcpy(v.data(), facet.data() + 12 + 12 * corner, 12);
      const auto [found, inserted] = index.emplace(v, index.size());
      if (inserted) {
        for (std::size_t k = 0; k < 3; ++k) {
          vertices.push_back(rounded(static_cast<double>(v[k]) * scale[k]));
        }
      }
      triangles.push_back(found->second);
    }
  }
  return {{"vertices", vertices}, {"triangles", triangles}};
}

/// Colors of the robot's <material>s, by name.
std::map<std::string, json> materials(const XMLElement& robot) {
  std::map<std::string, json> named;
  for (auto* m = robot.FirstChildElement("material"); m != nullptr;
       m = m->NextSiblingElement("material")) {
    if (m->Attribute("name") == nullptr || m->FirstChildElement("color") == nullptr) continue;
    named[m->Attribute("name")] =
        numbers(m->FirstChildElement("color"), "rgba", {0.6, 0.6, 0.6, 1});
  }
  return named;
}

}  // namespace

std::map<std::string, json> read_visuals(const std::filesystem::path& urdf,
                                         std::vector<std::string>& notes) {
  tinyxml2::XMLDocument document;
  if (document.LoadFile(urdf.c_str()) != tinyxml2::XML_SUCCESS ||
      document.FirstChildElement("robot") == nullptr) {
    throw std::runtime_error(urdf.string() + ": has no <robot> element");
  }
  const XMLElement& robot = *document.FirstChildElement("robot");
  const auto colors = materials(robot);
  std::map<std::string, json> links;
  for (auto* link = robot.FirstChildElement("link"); link != nullptr;
       link = link->NextSiblingElement("link")) {
    if (link->Attribute("name") == nullptr) continue;
    json visuals = json::array();
    for (auto* visual = link->FirstChildElement("visual"); visual != nullptr;
         visual = visual->NextSiblingElement("visual")) {
      const XMLElement* const geometry = visual->FirstChildElement("geometry");
      if (geometry == nullptr || geometry->FirstChildElement() == nullptr) continue;
      const XMLElement& shape = *geometry->FirstChildElement();
      const std::string type = shape.Name();
      json item = json::object();
      if (type == "box") {
        item["size"] = numbers(&shape, "size", {0.1, 0.1, 0.1});
      } else if (type == "cylinder" || type == "sphere") {
        item["radius"] = shape.DoubleAttribute("radius", 0.05);
        if (type == "cylinder") item["length"] = shape.DoubleAttribute("length", 0.1);
      } else if (type == "mesh" && shape.Attribute("filename") != nullptr) {
        const auto path = resolve(shape.Attribute("filename"), urdf);
        if (!path.empty()) item = read_stl(path, numbers(&shape, "scale", {1, 1, 1}));
        if (item.empty()) {
          notes.push_back("not shown: " + std::string(shape.Attribute("filename")) +
                          " (not found, or not a binary STL)");
          continue;
        }
      } else {
        notes.push_back("not shown: <" + type + "> of link " + link->Attribute("name"));
        continue;
      }
      item["type"] = type;
      item["pose"] = pose_of(*visual);
      item["color"] = {0.6, 0.6, 0.6, 1};
      if (const auto* material = visual->FirstChildElement("material"); material != nullptr) {
        if (const auto* color = material->FirstChildElement("color"); color != nullptr) {
          item["color"] = numbers(color, "rgba", {0.6, 0.6, 0.6, 1});
        } else if (const char* name = material->Attribute("name");
                   name != nullptr && colors.contains(name)) {
          item["color"] = colors.at(name);
        }
      }
      visuals.push_back(item);
    }
    links[link->Attribute("name")] = visuals;
  }
  return links;
}

}  // namespace ga_tools
