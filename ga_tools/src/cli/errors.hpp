// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CLI__ERRORS_HPP_
#define GA_DYNAMICS__CLI__ERRORS_HPP_

#include <stdexcept>

#include "ga_motion/state_file.hpp"

namespace ga_tools::cli {

inline constexpr int kExitFailure = 1;   ///< the machine's fault: disk full, out of memory
inline constexpr int kExitBadInput = 2;  ///< the arguments', the description's or the states' fault

/// Results that could not be written.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The reader of our output has gone, as `head` does once it has its lines. Not a failure.
class ReaderGone : public std::runtime_error {
 public:
  ReaderGone() : std::runtime_error("the reader of the output has gone") {}
};

}  // namespace ga_tools::cli

#endif  // GA_DYNAMICS__CLI__ERRORS_HPP_
