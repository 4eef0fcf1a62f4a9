// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CLI__ERRORS_HPP_
#define GA_DYNAMICS__CLI__ERRORS_HPP_

#include <stdexcept>
#include <string>

namespace ga_dynamics::cli {

inline constexpr int kExitFailure = 1;   ///< the machine's fault: disk full, out of memory
inline constexpr int kExitBadInput = 2;  ///< the arguments', the description's or the states' fault

/// Bad arguments or states; what() names the place, the value and the remedy.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

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

/// The text with ? for control characters: what messages quote from a file stays on their line, and
/// does not reach the terminal as a command.
inline std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  return text;
}

}  // namespace ga_dynamics::cli

#endif  // GA_DYNAMICS__CLI__ERRORS_HPP_
