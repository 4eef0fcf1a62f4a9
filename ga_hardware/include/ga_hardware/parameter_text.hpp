// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__PARAMETER_TEXT_HPP_
#define GA_HARDWARE__PARAMETER_TEXT_HPP_

// The <param> tags of a hardware component, read with messages that name the parameter, its value
// and what to give instead. Allocates and throws std::runtime_error.

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace ga_hardware {

class ParameterText {
 public:
  /// `where` begins every message, e.g. "hardware 'puma560'".
  ParameterText(std::string where, std::unordered_map<std::string, std::string> texts);

  std::string text(const std::string& name, const std::string& otherwise = "");
  /// A number between two bounds, both allowed.
  double number(const std::string& name, double otherwise, double least, double most);
  int whole(const std::string& name, int otherwise, int least, int most);
  /// true or false
  bool flag(const std::string& name, bool otherwise);
  /// "x,y,z", as many numbers as `otherwise` has
  std::vector<double> list(const std::string& name, const std::vector<double>& otherwise);
  /// "joint1:0.5,joint2:-1"
  std::map<std::string, double> by_joint(const std::string& name);

  /// Refuses the parameters that none of the calls above has asked for.
  void refuse_others() const;

 private:
  [[noreturn]] void refuse(const std::string& name, const std::string& remedy) const;
  const std::string* find(const std::string& name);

  std::string where_;
  std::unordered_map<std::string, std::string> texts_;
  std::set<std::string> known_;
};

/// A finite number and nothing else but blanks around it.
bool read_number(const std::string& text, double& value);

}  // namespace ga_hardware

#endif  // GA_HARDWARE__PARAMETER_TEXT_HPP_
