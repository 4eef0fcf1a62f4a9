// SPDX-License-Identifier: Apache-2.0
#include "notice.hpp"

#include <rclcpp/logging.hpp>
#include <utility>

namespace ga_controllers {

bool is_error(Notice notice) {
  return notice == Notice::kReferenceLost || notice == Notice::kStateNotFinite ||
         notice == Notice::kCommandRefused;
}

std::string to_string(Notice notice, const std::string& joint) {
  switch (notice) {
    case Notice::kReferenceStale:
      return "the reference moves, but has not changed for reference_timeout: the arm is "
             "brought to rest";
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

void Notices::note(const LimitViolation& violation) noexcept {
  if (violation.reason == LimitViolation::Reason::kNone) return;
  blame(violation.joint);
  note(violation.reason == LimitViolation::Reason::kOutside ? Notice::kReferenceOutsideLimits
                                                            : Notice::kReferenceTooFast);
}

void Notices::report(const rclcpp::Logger& logger, const std::vector<std::string>& joints) {
  const Notice notice = notice_.exchange(Notice::kNone);
  if (notice == Notice::kNone) return;
  if (notice != std::exchange(last_reported_, notice)) reports_.forget();
  if (!reports_.due()) return;
  const std::string text = to_string(notice, joints[joint_]);
  if (is_error(notice)) {
    RCLCPP_ERROR(logger, "%s", text.c_str());
  } else {
    RCLCPP_WARN(logger, "%s", text.c_str());
  }
}

}  // namespace ga_controllers
