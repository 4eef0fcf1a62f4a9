// SPDX-License-Identifier: Apache-2.0
#include "notice.hpp"

#include <cstdio>
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
      return "the reference has a velocity but has not changed for reference_timeout: bringing the "
             "arm to rest";
    case Notice::kReferenceNotFinite:
      return "the reference of joint '" + joint + "' is not finite: bringing the arm to rest";
    case Notice::kReferenceLost:
      return "the reference of joint '" + joint +
             "' has not been finite for error_cycles: the controller fails; check the preceding "
             "controller";
    case Notice::kReferenceOutsideLimits:
      return "the reference of joint '" + joint +
             "' is outside its position limits: stopping the joint at the limit";
    case Notice::kReferenceTooFast:
      return "the reference of joint '" + joint +
             "' exceeds what the joint's velocity limit, its torque limit or the distance to its "
             "position limit allows: following it within the limits";
    case Notice::kPathLost:
      return "the reference went on for so long in a pause, or was too fast for so long, that the rest "
             "of its path was dropped: the arm stands; stop the sender, or pause and resume, and the "
             "arm goes to the newest reference, off the path";
    case Notice::kStateNotFinite:
      return "position or velocity of joint '" + joint +
             "' is not finite or cannot be read: compensating gravity for error_cycles, then the "
             "controller fails; check the hardware";
    case Notice::kCommandRefused:
      return "the effort command interface of joint '" + joint +
             "' has rejected commands for error_cycles: the controller fails";
    case Notice::kNone:
      break;
  }
  return {};
}

void Notices::note(const LimitViolation& violation) noexcept {
  if (violation.reason == LimitViolation::Reason::kNone) return;
  set_joint(violation.joint);
  switch (violation.reason) {
    case LimitViolation::Reason::kOutside:
      note(Notice::kReferenceOutsideLimits);
      break;
    case LimitViolation::Reason::kPathLost:
      note(Notice::kPathLost);
      break;
    default:
      note(Notice::kReferenceTooFast);
  }
}

std::string oscillation_text(const JointMonitor& monitor, const std::string& joint) {
  const char* const remedy =
      "lower gains.bandwidth or gains.ki, or declare what the description lacks (payload, rotor "
      "inertia, friction)";
  char text[320];
  if (monitor.oscillation > 0) {
    std::snprintf(text, sizeof text,
                  "joint '%s' oscillates at rest, by %.3g mrad (mm) at %.3g Hz: %s", joint.c_str(),
                  1e3 * monitor.oscillation, monitor.frequency, remedy);
  } else {
    std::snprintf(text, sizeof text,
                  "the torque of joint '%s' swings by %.3g %% of its limit at %.3g Hz: %s",
                  joint.c_str(), 100 * monitor.torque_oscillation, monitor.frequency, remedy);
  }
  return text;
}

void Notices::note(const LawMonitor& monitor) noexcept {
  const std::size_t joint = monitor.oscillating();
  if (joint == monitor.size()) return;
  const JointMonitor& values = monitor.joint(joint);
  oscillating_joint_ = joint;
  oscillation_ = values.oscillation;
  torque_oscillation_ = values.torque_oscillation;
  frequency_ = values.frequency;
  oscillates_ = true;
}

void Notices::report_oscillation(const rclcpp::Logger& logger,
                                 const std::vector<std::string>& joints) {
  if (!oscillates_.exchange(false) || !oscillations_.due()) return;
  JointMonitor seen;
  seen.oscillation = oscillation_;
  seen.torque_oscillation = torque_oscillation_;
  seen.frequency = frequency_;
  RCLCPP_WARN(logger, "%s", oscillation_text(seen, joints[oscillating_joint_]).c_str());
}

void Notices::report(const rclcpp::Logger& logger, const std::vector<std::string>& joints) {
  report_oscillation(logger, joints);
  const Notice notice = notice_.exchange(Notice::kNone);
  if (notice == Notice::kNone) return;
  if (notice != std::exchange(last_reported_, notice)) reports_.reset();
  if (!reports_.due()) return;
  const std::string text = to_string(notice, joints[joint_]);
  if (is_error(notice)) {
    RCLCPP_ERROR(logger, "%s", text.c_str());
  } else {
    RCLCPP_WARN(logger, "%s", text.c_str());
  }
}

}  // namespace ga_controllers
