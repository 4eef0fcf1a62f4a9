// SPDX-License-Identifier: Apache-2.0
#include "ga_hardware/parameter_text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "ga_dynamics/number.hpp"

namespace ga_hardware {

using ga_dynamics::trimmed;

namespace {

constexpr int kShownDigits = 6;

/// The parts between separators, none of which is empty.
std::vector<std::string_view> parts(std::string_view text, const char* separators) {
  std::vector<std::string_view> found;
  for (std::size_t at = 0;;) {
    at = text.find_first_not_of(separators, at);
    if (at == std::string_view::npos) return found;
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    found.push_back(trimmed(text.substr(at, end - at)));
    at = end;
  }
}

/// Insertions, deletions and replacements that turn one into the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// The names that a typing error may have turned into this one.
std::string nearest(const std::string& name, const std::set<std::string>& known) {
  std::string all;
  for (const std::string& one : known) {
    if (distance(name, one) > std::max<std::size_t>(1, one.size() / 6)) continue;
    all += (all.empty() ? "" : ", ") + one;
  }
  return all;
}

std::string shown(double value) { return ga_dynamics::number_text(value, kShownDigits); }

bool is_finite_number(std::string_view text, double& value) {
  return ga_dynamics::is_number(trimmed(text), value) && std::isfinite(value);
}

bool is_whole(std::string_view text, double& value) {
  const std::string_view word = trimmed(text);
  if (!word.starts_with("0x") && !word.starts_with("0X")) {
    return is_finite_number(word, value) && value == std::floor(value);
  }
  unsigned bits = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + 2, end, bits, 16);
  value = bits;
  return error == std::errc{} && stop == end;
}

}  // namespace

bool read_number(const std::string& text, double& value) { return is_finite_number(text, value); }

ParameterText::ParameterText(std::string where, std::unordered_map<std::string, std::string> texts)
    : where_(std::move(where)), texts_(std::move(texts)) {}

void ParameterText::refuse(const std::string& name, const std::string& remedy) const {
  throw std::runtime_error(where_ + ": parameter " + name + " is '" + texts_.at(name) + "'; " +
                           remedy);
}

void ParameterText::require(const std::string& name) const {
  if (texts_.contains(name)) return;
  throw std::runtime_error(where_ + ": parameter " + name +
                           " is missing; give it in the <ros2_control> tag");
}

const std::string* ParameterText::find(const std::string& name) {
  known_.insert(name);
  const auto found = texts_.find(name);
  return found == texts_.end() ? nullptr : &found->second;
}

std::string ParameterText::text(const std::string& name, const std::string& otherwise) {
  const std::string* const found = find(name);
  return found == nullptr ? otherwise : std::string(trimmed(*found));
}

double ParameterText::number(const std::string& name, double otherwise, double least, double most) {
  const std::string* const found = find(name);
  if (found == nullptr) return otherwise;
  double value = 0;
  if (is_finite_number(*found, value) && value >= least && value <= most) return value;
  refuse(name, most == kNoBound ? "give a number"
                                : "give a number between " + shown(least) + " and " + shown(most));
}

double ParameterText::number_above(const std::string& name, double otherwise, double least,
                                   double most) {
  const std::string* const found = find(name);
  if (found == nullptr) return otherwise;
  double value = 0;
  if (is_finite_number(*found, value) && value > least && value <= most) return value;
  refuse(name, "give a number greater than " + shown(least) + " and at most " + shown(most));
}

int ParameterText::whole(const std::string& name, int otherwise, int least, int most) {
  const std::string* const found = find(name);
  if (found == nullptr) return otherwise;
  double value = 0;
  if (is_whole(*found, value) && value >= least && value <= most) return static_cast<int>(value);
  refuse(name, most == kNoWholeBound ? "give a whole number"
                                     : "give a whole number between " + std::to_string(least) +
                                           " and " + std::to_string(most));
}

int ParameterText::sign(const std::string& name, int otherwise) {
  const std::string* const found = find(name);
  if (found == nullptr) return otherwise;
  double value = 0;
  if (is_whole(*found, value) && std::abs(value) == 1) return static_cast<int>(value);
  refuse(name, "give 1 or -1");
}

bool ParameterText::flag(const std::string& name, bool otherwise) {
  const std::string* const found = find(name);
  if (found == nullptr) return otherwise;
  std::string word(trimmed(*found));
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (word == "true" || word == "yes" || word == "on" || word == "1") return true;
  if (word == "false" || word == "no" || word == "off" || word == "0") return false;
  refuse(name, "give true or false");
}

std::vector<double> ParameterText::list(const std::string& name,
                                        const std::vector<double>& otherwise) {
  return values(name, otherwise, -kNoBound, kNoBound, false);
}

std::vector<double> ParameterText::values(const std::string& name,
                                          const std::vector<double>& otherwise, double least,
                                          double most, bool whole) {
  const std::string* const found = find(name);
  if (found == nullptr) return otherwise;
  const std::vector<std::string_view> words = parts(*found, " \t\r\n,");
  std::vector<double> read(words.size());
  bool good = words.size() == otherwise.size();
  for (std::size_t i = 0; good && i < words.size(); ++i) {
    good = (whole ? is_whole : is_finite_number)(words[i], read[i]) && read[i] >= least &&
           read[i] <= most;
  }
  if (good) return read;
  refuse(name, "give " + std::to_string(otherwise.size()) + (whole ? " whole" : "") +
                   " numbers with commas between them");
}

std::map<std::string, double> ParameterText::by_joint(const std::string& name) {
  const std::string* const found = find(name);
  std::map<std::string, double> values;
  if (found == nullptr) return values;
  for (const std::string_view part : parts(*found, ",")) {
    const auto colon = part.rfind(':');
    double value = 0;
    if (colon == std::string_view::npos || !is_finite_number(part.substr(colon + 1), value) ||
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
    const std::string near = nearest(name, known_);
    throw std::runtime_error(where_ + ": parameter " + name + " is unknown; known are " + all +
                             (near.empty() ? "" : "; did you mean " + near + "?"));
  }
}

ga_dynamics::Vector3 vector_of(const std::vector<double>& v) { return {v[0], v[1], v[2]}; }

ga_dynamics::Chain chain_of(const std::string& urdf_text, ParameterText& parameters) {
  ga_dynamics::ChainOptions options;
  options.base = parameters.text("base");
  options.tip = parameters.text("tip");
  options.freeze = parameters.by_joint("freeze");
  options.freeze_off_chain = parameters.flag("freeze_off_chain", false);
  options.spelling = ga_dynamics::OptionSpelling::kParameters;
  options.gravity = vector_of(parameters.list("gravity", {0, 0, -9.81}));
  return ga_dynamics::Chain::from_urdf_text(urdf_text, options);
}

}  // namespace ga_hardware
