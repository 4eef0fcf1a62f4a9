// SPDX-License-Identifier: Apache-2.0
#include "live_gains.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace ga_controllers {

namespace {

constexpr double kMaxDamping = 0.5;  ///< of Kd times the cycle time

}  // namespace

std::vector<JointGains> checked_gains(const ArmModel& model,
                                      const law_controller::Params& parameters,
                                      unsigned update_rate) {
  std::vector<JointGains> gains = model.gains(parameters);
  const double most = kMaxDamping * update_rate;
  for (std::size_t i = 0; i < gains.size(); ++i) {
    if (gains[i].kd <= most || update_rate == 0) continue;
    throw std::invalid_argument(
        "joint '" + model.joints[i] + "': Kd " + std::to_string(gains[i].kd) +
        " 1/s is more than half of the update rate " + std::to_string(update_rate) +
        " Hz, the loop would be unstable: lower gains.bandwidth, gains.damping or gains.kd");
  }
  return gains;
}

std::optional<LawCheck> checked_stability(const ArmModel& model, LawKind kind,
                                          const law_controller::Params& parameters,
                                          unsigned update_rate, bool declared) {
  if (update_rate == 0) return std::nullopt;
  LawCheck check = check_law(model.chain, kind, model.gains(parameters), update_rate,
                             model.uncertainty(parameters, declared));
  if (!check.accepted()) throw std::invalid_argument("stability check: " + check.refusal);
  return check;
}

law_controller::Params with_gains(law_controller::Params parameters,
                                  const std::vector<rclcpp::Parameter>& changes) {
  auto& gains = parameters.gains;
  for (const rclcpp::Parameter& change : changes) {
    for (const auto& [name, values] :
         {std::pair("gains.bandwidth", &gains.bandwidth),
          std::pair("gains.damping", &gains.damping), std::pair("gains.kp", &gains.kp),
          std::pair("gains.kd", &gains.kd), std::pair("gains.ki", &gains.ki)}) {
      if (change.get_name() != name) continue;
      *values = change.as_double_array();
      for (const double value : *values) {
        if (!std::isfinite(value)) {
          throw std::invalid_argument("parameter " + std::string(name) + " is not finite");
        }
      }
    }
  }
  return parameters;
}

void LiveGains::start(const std::vector<JointGains>& gains) {
  current_ = next_ = gains;
  is_new_ = false;
}

void LiveGains::offer(const std::vector<JointGains>& gains) {
  offered_.set(gains);
  is_new_ = true;
}

const std::vector<JointGains>* LiveGains::take() {
  if (!is_new_.exchange(false)) return nullptr;
  const bool taken = offered_.try_get([this](const std::vector<JointGains>& gains) {
    std::copy(gains.begin(), gains.end(), next_.begin());
  });
  if (!taken) is_new_ = true;
  if (!taken || next_ == current_) return nullptr;  // another parameter may have been set
  current_.swap(next_);
  return &current_;
}

}  // namespace ga_controllers
