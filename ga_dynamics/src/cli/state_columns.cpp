// SPDX-License-Identifier: Apache-2.0
#include "cli/state_columns.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cli/errors.hpp"

namespace ga_dynamics::cli {

std::vector<std::string> joint_columns(std::string_view quantity, int joints) {
  std::vector<std::string> names;
  for (int i = 1; i <= joints; ++i) names.push_back(std::string(quantity) + std::to_string(i));
  return names;
}

StateColumns::StateColumns(std::vector<std::string> quantities, int joints)
    : quantities_(std::move(quantities)), joints_(joints) {
  for (const std::string& quantity : quantities_) {
    for (std::string& name : joint_columns(quantity, joints)) names_.push_back(std::move(name));
  }
}

std::string StateColumns::summary() const {
  std::string text;
  for (const std::string& quantity : quantities_) {
    text += (text.empty() ? "" : ",") + quantity + "1";
    if (joints_ > 1) text += (joints_ > 2 ? "…" : ",") + quantity + std::to_string(joints_);
  }
  return text;
}

std::vector<int> StateColumns::locate(const std::vector<std::string>& header) const {
  std::vector<int> index_of_field(header.size(), -1);
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto found = std::find(header.begin(), header.end(), names_[i]);
    if (found == header.end()) {
      missing.push_back(names_[i]);
      continue;
    }
    if (std::find(found + 1, header.end(), names_[i]) != header.end()) {
      throw InputError("the header has column " + names_[i] + " twice; remove or rename one");
    }
    index_of_field[static_cast<std::size_t>(found - header.begin())] = static_cast<int>(i);
  }
  if (!missing.empty()) {
    throw InputError("the header lacks " + listed(missing) +
                     "; its columns are: " + listed(header) + "; needed are " + summary());
  }
  return index_of_field;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kEnough = 200;
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    if (text.size() + name.size() > kEnough) return text + "…";
    text += printable(name);
  }
  return text;
}

}  // namespace ga_dynamics::cli
