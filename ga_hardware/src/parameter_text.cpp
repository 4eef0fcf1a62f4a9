// SPDX-License-Identifier: Apache-2.0
#include "ga_hardware/parameter_text.hpp"

#include <charconv>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace ga_hardware {
namespace {

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::vector<std::string> parts(const std::string& text, char separator) {
  std::vector<std::string> found;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) found.push_back(trimmed(part));
  return found;
}

std::string shown(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

}  // namespace

bool read_number(const std::string& text, double& value) {
  const std::string number = trimmed(text);
  const char* const end = number.data() + number.size();
  const auto [last, error] = std::from_chars(number.data(), end, value);
  return error == std::errc() && last == end && std::isfinite(value);
}

ParameterText::ParameterText(std::string where, std::unordered_map<std::string, std::string> texts)
    : where_(std::move(where)), texts_(std::move(texts)) {}

void ParameterText::refuse(const std::string& name, const std::string& remedy) const {
  throw std::runtime_error(where_ + ": parameter " + name + " is '" + texts_.at(name) + "'; " +
                           remedy);
}

const std::string* ParameterText::find(const std::string& name) {
  known_.insert(name);
  const auto found = texts_.find(name);
  return found == texts_.end() ? nullptr : &found->second;
}

std::string ParameterText::text(const std::string& name, const std::string& otherwise) {
  const std::string* const found = find(name);
  return found == nullptr ? otherwise : trimmed(*found);
}

double ParameterText::number(const std::string& name, double otherwise, double least, double most) {
  const std::string* const found = find(name);
  if (found == nullptr) return otherwise;
  double value = 0;
  if (!read_number(*found, value) || value < least || value > most) {
    refuse(name, "give a number between " + shown(least) + " and " + shown(most));
  }
  return value;
}

int ParameterText::whole(const std::string& name, int otherwise, int least, int most) {
  const double value = number(name, otherwise, least, most);
  if (value != std::floor(value)) refuse(name, "give a whole number");
  return static_cast<int>(value);
}

bool ParameterText::flag(const std::string& name, bool otherwise) {
  const std::string* const found = find(name);
  if (found == nullptr) return otherwise;
  const std::string word = trimmed(*found);
  if (word == "true" || word == "True") return true;
  if (word == "false" || word == "False") return false;
  refuse(name, "give true or false");
}

std::vector<double> ParameterText::list(const std::string& name,
                                        const std::vector<double>& otherwise) {
  const std::string* const found = find(name);
  if (found == nullptr) return otherwise;
  std::vector<double> values;
  for (const std::string& part : parts(*found, ',')) {
    if (double value = 0; read_number(part, value)) values.push_back(value);
  }
  if (values.size() != otherwise.size() || parts(*found, ',').size() != values.size()) {
    refuse(name, "give " + std::to_string(otherwise.size()) + " numbers with commas between them");
  }
  return values;
}

std::map<std::string, double> ParameterText::by_joint(const std::string& name) {
  const std::string* const found = find(name);
  std::map<std::string, double> values;
  if (found == nullptr) return values;
  for (const std::string& part : parts(*found, ',')) {
    const auto colon = part.rfind(':');
    double value = 0;
    if (colon == std::string::npos || !read_number(part.substr(colon + 1), value) ||
        !values.emplace(trimmed(part.substr(0, colon)), value).second) {
      refuse(name, "give JOINT:VALUE,JOINT:VALUE, every joint once");
    }
  }
  return values;
}

void ParameterText::refuse_others() const {
  for (const auto& [name, text] : texts_) {
    if (known_.contains(name)) continue;
    std::string all;
    for (const std::string& one : known_) all += (all.empty() ? "" : ", ") + one;
    throw std::runtime_error(where_ + ": parameter " + name + " is unknown; known are " + all);
  }
}

}  // namespace ga_hardware
