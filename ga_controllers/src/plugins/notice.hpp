// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__NOTICE_HPP_
#define GA_CONTROLLERS__PLUGINS__NOTICE_HPP_

// What the control loop has to say, and how it is said outside of it.

#include <string>

namespace ga_controllers {

/// Why the arm does not follow its reference, or why update() gave up.
enum class Notice {
  kNone,
  kReferenceStale,
  kReferenceNotFinite,
  kReferenceOutsideLimits,
  kReferenceTooFast,
  kStateNotFinite,
  kCommandRefused
};

/// Does the controller give up?
inline bool is_error(Notice notice) {
  return notice == Notice::kStateNotFinite || notice == Notice::kCommandRefused;
}

inline std::string to_string(Notice notice, const std::string& joint) {
  switch (notice) {
    case Notice::kReferenceStale:
      return "no set-point within reference_timeout: the arm is brought to rest";
    case Notice::kReferenceNotFinite:
      return "the reference of joint '" + joint + "' is not finite: the arm is brought to rest";
    case Notice::kReferenceOutsideLimits:
      return "the reference of joint '" + joint +
             "' is outside its position limits: it is kept at the limit";
    case Notice::kReferenceTooFast:
      return "the reference of joint '" + joint +
             "' is faster than the joint's velocity limit, its torque or the way that is left to "
             "its position limit allow: the arm follows as it can";
    case Notice::kStateNotFinite:
      return "position or velocity of joint '" + joint +
             "' is not finite or cannot be read: gravity is held for error_cycles, then the "
             "controller gives up; look at the hardware";
    case Notice::kCommandRefused:
      return "the effort command of joint '" + joint +
             "' is refused by its interface for error_cycles: the controller gives up";
    case Notice::kNone:
      break;
  }
  return {};
}

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__NOTICE_HPP_
