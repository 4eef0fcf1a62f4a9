// SPDX-License-Identifier: Apache-2.0
#ifndef GA_MOTION__INPUT_ERROR_HPP_
#define GA_MOTION__INPUT_ERROR_HPP_

#include <stdexcept>
#include <string>

namespace ga_motion {

/// Bad arguments or states; what() names the place, the value and the remedy.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The text with ? for control characters: what messages quote from a file stays on their line, and
/// does not reach the terminal as a command.
inline std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  return text;
}

}  // namespace ga_motion

#endif  // GA_MOTION__INPUT_ERROR_HPP_
