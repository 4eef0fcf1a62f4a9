// SPDX-License-Identifier: Apache-2.0
#ifndef GA_CONTROLLERS__PLUGINS__NOTICE_HPP_
#define GA_CONTROLLERS__PLUGINS__NOTICE_HPP_

// What the control loop has to say, and how it is said outside of it.

#include <chrono>
#include <string>

namespace ga_controllers {

/// Why the arm does not follow its reference, or why update() gave up.
enum class Notice {
  kNone,
  kReferenceStale,
  kReferenceNotFinite,
  kReferenceLost,
  kReferenceOutsideLimits,
  kReferenceTooFast,
  kStateNotFinite,
  kCommandRefused
};

/// Does the controller give up?
inline bool is_error(Notice notice) {
  return notice == Notice::kReferenceLost || notice == Notice::kStateNotFinite ||
         notice == Notice::kCommandRefused;
}

inline std::string to_string(Notice notice, const std::string& joint) {
  switch (notice) {
    case Notice::kReferenceStale:
      return "the reference moves, but has not changed for reference_timeout: the arm is brought "
             "to "
             "rest";
    case Notice::kReferenceNotFinite:
      return "the reference of joint '" + joint + "' is not finite: the arm is brought to rest";
    case Notice::kReferenceLost:
      return "the reference of joint '" + joint +
             "' has not been finite for error_cycles: the controller gives up; look at the "
             "controller before it";
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

/// Says each thing so often and no oftener. Not for the control loop.
class Throttle {
 public:
  explicit Throttle(std::chrono::steady_clock::duration period) : period_(period) {}
  bool due() {
    const auto now = std::chrono::steady_clock::now();
    if (said_ && now - last_ < period_) return false;
    said_ = true;
    last_ = now;
    return true;
  }
  void forget() { said_ = false; }

 private:
  std::chrono::steady_clock::duration period_;
  std::chrono::steady_clock::time_point last_;
  bool said_ = false;
};

}  // namespace ga_controllers

#endif  // GA_CONTROLLERS__PLUGINS__NOTICE_HPP_
