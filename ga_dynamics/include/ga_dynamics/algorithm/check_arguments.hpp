// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__CHECK_ARGUMENTS_HPP_
#define GA_DYNAMICS__ALGORITHM__CHECK_ARGUMENTS_HPP_

// Sizes and indices that callers give, checked in every build. What fails is an error of the
// program: the checks throw std::invalid_argument, naming function, argument, value and remedy. One
// that passes costs a comparison; nothing allocates.

#include <cstddef>

namespace ga_dynamics {

[[noreturn, gnu::cold]] void refuse_size(const char* function, const char* argument,
                                         std::size_t size, std::size_t needed);
[[noreturn, gnu::cold]] void refuse_link(const char* function, int link, std::size_t links);

inline void require_size(const char* function, const char* argument, std::size_t size,
                         std::size_t needed) {
  if (size < needed) [[unlikely]]
    refuse_size(function, argument, size, needed);
}

/// The outputs of Trajectory::sample().
inline void require_sample_sizes(std::size_t joints, std::size_t q, std::size_t qd,
                                 std::size_t qdd) {
  require_size("Trajectory::sample", "q", q, joints);
  require_size("Trajectory::sample", "qd", qd, joints);
  require_size("Trajectory::sample", "qdd", qdd, joints);
}

/// An index into Chain::links().
inline void require_link(const char* function, int link, std::size_t links) {
  if (static_cast<std::size_t>(link) >= links) [[unlikely]]
    refuse_link(function, link, links);
}

}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__CHECK_ARGUMENTS_HPP_
