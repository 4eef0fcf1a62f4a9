// SPDX-License-Identifier: Apache-2.0
#include "ga_dynamics/algorithm/check_arguments.hpp"

#include <stdexcept>
#include <string>

namespace ga_dynamics {

void refuse_size(const char* function, const char* argument, std::size_t size, std::size_t needed) {
  throw std::invalid_argument(std::string(function) + ": " + argument + " has " +
                              std::to_string(size) + " values; give at least " +
                              std::to_string(needed));
}

void refuse_link(const char* function, int link, std::size_t links) {
  throw std::invalid_argument(std::string(function) + ": link index " + std::to_string(link) +
                              " is not in 0 to " + std::to_string(links - 1) +
                              "; take it from Chain::link_index()");
}

}  // namespace ga_dynamics
