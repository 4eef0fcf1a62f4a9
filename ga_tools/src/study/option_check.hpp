// SPDX-License-Identifier: Apache-2.0
#ifndef STUDY__OPTION_CHECK_HPP_
#define STUDY__OPTION_CHECK_HPP_

// Refuses impossible options of `ga sim`: std::runtime_error that names the option, the value and
// the remedy.

#include <string>

#include "study/demonstration.hpp"

namespace ga_tools {

[[noreturn]] void refuse(const char* option, const std::string& value, const std::string& remedy);
void in_range(const char* option, double value, double low, double high, const char* unit);

/// All numbers.
void check_options(const DemonstrationOptions& options);
/// Every cycle is recorded, some hundred bytes each: not more of them than memory.
void check_cycles(const DemonstrationOptions& options, double duration);

}  // namespace ga_tools

#endif  // STUDY__OPTION_CHECK_HPP_
