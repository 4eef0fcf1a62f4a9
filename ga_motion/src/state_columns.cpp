// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <utility>

#include "csv_fields.hpp"
#include "ga_motion/state_file.hpp"

namespace ga_motion {

namespace {

/// What stands before a joint's name; the first is the one to show.
std::vector<std::string> prefixes_of(const std::string& quantity) {
  if (quantity == "q") return {"", "position_"};
  if (quantity == "qd") return {"velocity_"};
  if (quantity == "qdd") return {"acceleration_"};
  if (quantity == "tau") return {"effort_", "torque_"};
  return {};
}

}  // namespace

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
  for (std::size_t i = 0; i < names_.size(); ++i) index_.emplace(names_[i], static_cast<int>(i));
}

StateColumns::StateColumns(std::vector<std::string> quantities,
                           const std::vector<std::string>& joints, Time time)
    : StateColumns(std::move(quantities), static_cast<int>(joints.size())) {
  const std::size_t offset = time == Time::kFirst ? 1 : 0;
  if (offset > 0) {
    time_ = true;
    names_.insert(names_.begin(), "t");
    for (auto& [name, column] : index_) ++column;
  }
  for (std::size_t k = 0; k < quantities_.size(); ++k) {
    const std::vector<std::string> prefixes = prefixes_of(quantities_[k]);
    for (const std::string& prefix : prefixes) {
      for (std::size_t i = 0; i < joints.size(); ++i) {
        index_.insert_or_assign(prefix + joints[i],
                                static_cast<int>(offset + k * joints.size() + i));
      }
    }
    if (!prefixes.empty() && !joints.empty()) {
      example_.push_back(prefixes.front() + joints.front());
    }
  }
  if (time_) {
    for (const char* const name : {"t", "time"}) index_.insert_or_assign(name, 0);
  }
}

std::string StateColumns::summary() const {
  std::string text = time_ ? "t" : "";
  for (const std::string& quantity : quantities_) {
    text += (text.empty() ? "" : ",") + quantity + "1";
    if (joints_ > 1) text += (joints_ > 2 ? "…" : ",") + quantity + std::to_string(joints_);
  }
  return text;
}

std::vector<int> StateColumns::locate(const std::vector<std::string>& header) const {
  std::vector<int> index_of_field(header.size(), -1);
  std::vector<const std::string*> found(names_.size(), nullptr);
  for (std::size_t field = 0; field < header.size(); ++field) {
    const auto entry = index_.find(header[field]);
    if (entry == index_.end()) continue;
    const std::string*& name = found[static_cast<std::size_t>(entry->second)];
    if (name != nullptr && *name == header[field]) {
      throw InputError("the header has column " + printable(*name) +
                       " twice; remove or rename one");
    }
    if (name != nullptr) {
      throw InputError("the header has columns " + printable(*name) + " and " +
                       printable(header[field]) + ", which are the same; remove or rename one");
    }
    name = &header[field];
    index_of_field[field] = entry->second;
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (found[i] == nullptr) missing.push_back(names_[i]);
  }
  if (!missing.empty()) {
    throw InputError("the header lacks " + listed(missing) +
                     "; its columns are: " + listed(header) + "; needed are " + summary() +
                     (example_.empty()
                          ? ""
                          : ", or the same by the joints' names: " + listed(example_) + ", …"));
  }
  return index_of_field;
}

}  // namespace ga_motion
