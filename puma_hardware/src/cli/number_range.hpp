// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__NUMBER_RANGE_HPP_
#define CLI__NUMBER_RANGE_HPP_

#include <CLI/CLI.hpp>

namespace puma_hardware::cli {

/// Numbers from `low` to `high`. In place of CLI::Range, which lets not-a-number through.
CLI::Validator number_range(double low, double high);
/// Any number but infinities and not-a-number.
CLI::Validator finite_number();

}  // namespace puma_hardware::cli

#endif  // CLI__NUMBER_RANGE_HPP_
