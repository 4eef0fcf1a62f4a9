// SPDX-License-Identifier: Apache-2.0

/// What has to be refused before the text reaches tinyxml2.
#include <algorithm>

#include "urdf_xml.hpp"

namespace ga_dynamics::urdf {
namespace {

/// No URDF tag has more than about ten. tinyxml2 9.0 compares every attribute with all before it:
/// 40 000 in one tag take it 5 s, the two million that fit into the longest text hours.
constexpr int kMostAttributes = 100;

int line_at(std::string_view text, std::size_t position) {
  return 1 + static_cast<int>(std::count(
                 text.begin(), text.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
}

/// Position after `end`, or the text's end.
std::size_t skip_past(std::string_view text, std::size_t from, std::string_view end) {
  const std::size_t found = text.find(end, from);
  return found == std::string_view::npos ? text.size() : found + end.size();
}

/// `start` is at '<' of a start tag or an end tag; returns the position after its '>'.
std::size_t skip_tag(std::string_view text, std::size_t start) {
  int attributes = 0;
  std::size_t position = start;
  while ((position = text.find_first_of("\"'>", position)) != std::string_view::npos) {
    if (text[position] == '>') {
      return position + 1;
    }
    if (++attributes > kMostAttributes) {
      fail("element " + quote(text.substr(start, 20)), line_at(text, start),
           "has more than " + std::to_string(kMostAttributes) + " attributes; this is no URDF");
    }
    position = skip_past(text, position + 1, text.substr(position, 1));
  }
  return text.size();
}

}  // namespace

void check_raw_text(std::string_view text) {
  if (text.size() > kMaxUrdfBytes) {
    throw DescriptionError("robot description: is longer than " +
                           std::to_string(kMaxUrdfBytes >> 20) +
                           " MiB; give a URDF, with the meshes in files of their own");
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    fail("robot description", line_at(text, nul),
         "has a NUL byte; save it as plain UTF-8 text (not UTF-16, not binary)");
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw DescriptionError(
        "robot description: is empty; give URDF text that begins with <robot name=\"...\">");
  }
  // The same reading of '<' as tinyxml2's, so that both see the same tags.
  std::size_t position = 0;
  while ((position = text.find('<', position)) != std::string_view::npos) {
    const std::string_view rest = text.substr(position);
    if (rest.starts_with("<!--")) {
      position = skip_past(text, position + 4, "-->");
    } else if (rest.starts_with("<![CDATA[")) {
      position = skip_past(text, position + 9, "]]>");
    } else if (rest.starts_with("<?")) {
      position = skip_past(text, position + 2, "?>");
    } else if (rest.starts_with("<!")) {
      position = skip_past(text, position + 2, ">");
    } else {
      position = skip_tag(text, position);
    }
  }
}

}  // namespace ga_dynamics::urdf
