// SPDX-License-Identifier: Apache-2.0
#ifndef REFUSAL_HPP_
#define REFUSAL_HPP_

// Calls with arguments that must be refused.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace ga_dynamics::test {

/// The message of what is thrown, or a remark that nothing is.
template <class Error = std::invalid_argument>
std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

/// Calls with memory for `sizes` values each. With one value less of any argument the call throws,
/// naming it, and writes nothing.
inline void expect_sizes(const std::string& function, const std::vector<std::string>& names,
                         const std::vector<std::size_t>& sizes,
                         const std::function<void(std::vector<std::span<double>>&)>& call) {
  constexpr double kUntouched = -77.25;
  std::vector<std::vector<double>> memory;
  for (const std::size_t size : sizes) memory.emplace_back(size, 0.25);
  std::vector<std::span<double>> spans(memory.begin(), memory.end());
  EXPECT_NO_THROW(call(spans)) << function;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (std::vector<double>& values : memory) std::fill(values.begin(), values.end(), kUntouched);
    spans.assign(memory.begin(), memory.end());
    spans[i] = spans[i].first(sizes[i] - 1);
    EXPECT_EQ(refusal([&] { call(spans); }),
              function + ": " + names[i] + " has " + std::to_string(sizes[i] - 1) +
                  " values; give at least " + std::to_string(sizes[i]));
    for (const std::vector<double>& values : memory) {
      for (const double v : values) EXPECT_EQ(v, kUntouched) << function << " " << names[i];
    }
  }
}

}  // namespace ga_dynamics::test

#endif  // REFUSAL_HPP_
