// SPDX-License-Identifier: Apache-2.0
#ifndef JOIN_HPP_
#define JOIN_HPP_

#include <sstream>
#include <string>

namespace ga_motion {

/// The parts as one text, for messages.
template <class... Parts>
std::string join(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

}  // namespace ga_motion

#endif  // JOIN_HPP_
