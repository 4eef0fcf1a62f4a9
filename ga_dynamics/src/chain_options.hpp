// SPDX-License-Identifier: Apache-2.0
#ifndef CHAIN_OPTIONS_HPP_
#define CHAIN_OPTIONS_HPP_

#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_dynamics {

/// The options as the reader of a message gives them.
class OptionWords {
 public:
  explicit OptionWords(OptionSpelling spelling) : spelling_(spelling) {}

  std::string base(const std::string& link) const { return given("base", link); }
  std::string tip(const std::string& link) const { return given("tip", link); }
  std::string freeze(const std::string& joint) const { return given("freeze", joint); }
  /// At a position of the reader's choice.
  std::string freeze_at(const std::string& joint) const {
    return given("freeze", joint) + (command_line() ? "=POSITION" : " with a position");
  }
  std::string freeze_all() const {
    return command_line() ? "--freeze all" : "parameter freeze_off_chain: true";
  }
  std::string all_of(const std::vector<std::string>& options) const {
    std::string text;
    for (const std::string& option : options) {
      if (!text.empty()) text += command_line() ? " " : ", ";
      text += option;
    }
    return text;
  }

 private:
  bool command_line() const { return spelling_ == OptionSpelling::kCommandLine; }
  std::string given(const std::string& option, const std::string& value) const;

  OptionSpelling spelling_;
};

}  // namespace ga_dynamics

#endif  // CHAIN_OPTIONS_HPP_
