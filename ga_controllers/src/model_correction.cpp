// SPDX-License-Identifier: Apache-2.0
#include "model_correction.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "small_matrix.hpp"

namespace ga_controllers {

namespace {

/// Share of the acceleration beside that of the reference that may be wrong.
constexpr double kDoubt = 0.3;
/// s; in shorter cycles a correction waits while the estimator works.
constexpr double kLong = 1.5e-3;
/// Cycles between corrections.
constexpr int kCycles = 10;
/// Of the torque limit: most that a correction changes a torque by if the disturbance estimate does
/// not balance it.
constexpr double kStep = 0.005;
/// Of that, what a correction that is too large is reduced to.
constexpr double kReduced = 0.9;
/// N m, unit of joints without a torque limit.
constexpr double kUnlimited = 1e3;
/// Of the torque limit: most that the model of the reference is corrected by.
constexpr double kMost = 0.5;
/// Most that the inertia of the estimated model differs from the described one, as a factor. Accuracy of
/// the part of the correction that remains, and a part that is not all of it.
constexpr double kInertiaRatio = 3, kPartStep = 0.02, kBelowOne = 0.999;
/// Changes of the share of the found inertia in the feedback per correction, and of its ceiling.
constexpr double kRise = 0.4, kFall = 0.34, kLower = 0.9, kRecovery = 0.002;
/// rad/s; the torque of a slower arm holds it, but for friction.
constexpr double kStands = 0.02;

}  // namespace

ModelCorrection::Model::Model(const ga_dynamics::Chain& chain, std::size_t unknowns)
    : x(unknowns),
      dynamics(chain, {.drives = ga_dynamics::Drives::kArmature}),
      found(chain.joints().size() * chain.joints().size()) {}

ModelCorrection::ModelCorrection(const ga_dynamics::Chain& chain, const LawParameters& parameters,
                                 std::span<const double> torque_limit)
    : inertia_ratio_(parameters.adaptation.inertia_ratio),
      estimator_(chain, parameters, torque_limit),
      used_(chain, estimator_.unknowns().size()),
      next_(chain, estimator_.unknowns().size()),
      at_(torque_limit.size()),
      described_(torque_limit.size() * torque_limit.size()),
      difference_(described_.size()),
      described_torque_(torque_limit.size()),
      after_inertia_(described_.size()),
      acceleration_(torque_limit.size()),
      doubt_(torque_limit.size()),
      before_(torque_limit.size()),
      after_(torque_limit.size()),
      shift_(torque_limit.size()),
      factor_(torque_limit.size() * torque_limit.size()) {
  for (const auto& joint : chain.joints()) {
    bodies_.bodies.push_back(joint.body);
    bodies_.armature.push_back(joint.drive.armature);
    bodies_.drives.push_back(joint.drive);
  }
  set_payload(parameters.payload);
}

void ModelCorrection::set_payload(const ga_dynamics::Payload& payload) noexcept {
  payload_changed_ = true;
  estimator_.set_payload(payload);
  used_.dynamics.set_payload(payload);
  next_.dynamics.set_payload(payload);
}

/// The next model: the estimate.
void ModelCorrection::choose() noexcept {
  std::copy(estimator_.values().begin(), estimator_.values().end(), next_.x.begin());
}

void ModelCorrection::make() noexcept {
  estimator_.unknowns().make(next_.x, bodies_);
  next_.dynamics.set_bodies(bodies_.bodies, bodies_.armature);
}

/// At `at_`, where the inertia of the arm was updated.
void ModelCorrection::find_inertia(Model& model, double share, const MeasuredArm& arm) noexcept {
  model.dynamics.inertia_matrix(at_, difference_);
  model.share = share;
  for (std::size_t i = 0; i < difference_.size(); ++i) {
    described_[i] = arm.inertia[i] - arm.found_inertia[i];
    difference_[i] -= described_[i];
    model.found[i] = share * difference_[i];
  }
}

/// True if D and the inertia with this share of the difference differ by no more than a factor about
/// any direction of motion.
bool ModelCorrection::within_ratio(double share, double ratio) noexcept {
  for (std::size_t i = 0; i < described_.size(); ++i) {
    after_inertia_[i] = described_[i] + share * difference_[i];
  }
  return dominates(ratio, described_, after_inertia_, at_.size(), factor_) &&
         dominates(ratio, after_inertia_, described_, at_.size(), factor_);
}

/// A step towards the largest part of the correction with an inertia within kInertiaRatio. True once it
/// is known.
bool ModelCorrection::limit_inertia() noexcept {
  const double part = most_part_ == 1 && least_part_ == 0 ? 1 : 0.5 * (least_part_ + most_part_);
  const bool within = within_ratio(part, kInertiaRatio);
  if (within && part == 1) return true;
  (within ? least_part_ : most_part_) = part == 1 ? kBelowOne : part;
  return most_part_ - least_part_ < kPartStep;
}

/// Up slowly while the estimate is trusted, down at once. Every fall lowers the ceiling, which keeps a
/// wrong estimate from exciting the loop again and again.
void ModelCorrection::choose_share() noexcept {
  share_ = used_.share;
  if (estimator_.trusted()) {
    if (!reduced_) share_ = std::min(share_ + kRise, ceiling_);
    ceiling_ = std::min(ceiling_ + kRecovery, 1.0);
  } else if (share_ > 0) {
    share_ -= kFall;
    if (share_ <= 0) ceiling_ *= kLower, share_ = 0;
  }
  while (share_ > 0 && !within_ratio(share_, inertia_ratio_)) {
    share_ = std::max(share_ - kFall, 0.0);
  }
  next_.share = share_;
  for (std::size_t i = 0; i < difference_.size(); ++i) next_.found[i] = share_ * difference_[i];
}

/// Uses the estimate at once.
void ModelCorrection::install(MeasuredArm& arm) noexcept {
  choose();
  make();
  arm.update_inertia();
  at_ = arm.q;
  share_ = 0;
  find_inertia(next_, share_, arm);
  std::swap(used_, next_);
  arm.found_inertia = used_.found;
  arm.inertia = described_;
  untold_ = true;
  adapted_ = std::any_of(used_.x.begin(), used_.x.end(), [](double x) { return x != 0; });
  step_ = Step::kWait;
}

/// True if a torque that holds the arm is nearer to the gravity with the estimated payload than
/// without it. Uses the next model.
bool ModelCorrection::confirms(std::span<const double> last_torque, MeasuredArm& arm) noexcept {
  const std::size_t n = arm.size();
  if (last_torque.size() < n || !all_finite(last_torque, n)) return false;
  for (const double rate : arm.qd) {
    if (std::abs(rate) > kStands) return true;  // in motion, the law has no other evidence
  }
  choose();
  const ModelUnknowns& unknowns = estimator_.unknowns();
  double distance[2];
  for (const bool payload : {true, false}) {
    for (std::size_t k = 0; k < next_.x.size() && !payload; ++k) {
      if (unknowns.is_payload_mass(k) || unknowns.is_payload_moment(k)) next_.x[k] = 0;
    }
    make();
    next_.dynamics.gravity(arm.q, after_);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double unit = std::min(arm.torque_limit[i], kUnlimited);
      sum += std::pow((last_torque[i] - after_[i]) / unit, 2);
    }
    distance[payload ? 1 : 0] = sum;
  }
  return distance[1] <= distance[0];
}

void ModelCorrection::start(const ga_dynamics::Payload& payload,
                            std::span<const double> last_torque, MeasuredArm& arm) noexcept {
  set_payload(payload);
  if (!adapted_ && estimator_.estimate().payload_mass == 0) {
    estimator_.doubt_payload();
    return;
  }
  if (confirms(last_torque, arm)) {
    estimator_.doubt_payload();
  } else {
    estimator_.forget_payload();
  }
  install(arm);
}

void ModelCorrection::describe(const Motion& r, MeasuredArm& arm) noexcept {
  arm.dynamics.inverse_dynamics(r.q, r.qd, r.qdd, described_torque_);
}

/// The torque of the reference in the model less that in the description, and the feedback that the
/// found inertia adds.
void ModelCorrection::correct(Model& model, std::span<const double> v, const Motion& r,
                              const MeasuredArm& arm, std::span<double> by) noexcept {
  const std::size_t n = arm.size();
  model.dynamics.inverse_dynamics(r.q, r.qd, r.qdd, by);
  for (std::size_t i = 0; i < n; ++i) {
    const double most = kMost * std::min(arm.torque_limit[i], kUnlimited);
    by[i] = std::clamp(by[i] - described_torque_[i], -most, most);
    for (std::size_t j = 0; j < n; ++j) by[i] += model.found[i * n + j] * (v[j] - r.qdd[j]);
  }
}

void ModelCorrection::torque(const Cycle& cycle, std::span<const double> v, const Motion& reference,
                             MeasuredArm& arm, std::span<double> tau) noexcept {
  arm.dynamics.inverse_dynamics(arm.q, arm.qd, v, tau);
  payload_changed_ = false;
  if (!adapted_) return;
  if (cycle.changed) {  // the law may come from another one, and the arm from elsewhere
    arm.update_inertia();
    at_ = arm.q;
    find_inertia(used_, share_, arm);
    step_ = Step::kWait;
  }
  describe(reference, arm);
  correct(used_, v, reference, arm, before_);
  for (std::size_t i = 0; i < arm.size(); ++i) tau[i] += before_[i];
}

void ModelCorrection::restart(const LawSetting& setting, MeasuredArm& arm,
                              FrictionFeedforward& friction) noexcept {
  share_ = 0;
  std::fill(arm.found_inertia.begin(), arm.found_inertia.end(), 0.0);
  if (adapted_) arm.update_inertia();
  untold_ = untold_ || adapted_;
  for (std::size_t i = 0; i < arm.size(); ++i) {
    friction.choose_drive(
        i, setting.takes_rates() ? estimator_.unknowns().drive(i, used_.x) : arm.drives[i]);
  }
}

/// Governor and time scaling use the model that the law uses.
void ModelCorrection::tell(const LawSetting& setting, FollowedReference& reference) noexcept {
  untold_ = false;
  if (setting.takes_rates()) {
    estimator_.unknowns().make(used_.x, bodies_);
  } else {
    estimator_.unknowns().describe(bodies_);
  }
  reference.set_model(bodies_.bodies, bodies_.armature, bodies_.drives);
}

void ModelCorrection::advance(const Cycle& cycle, const Command& command, const Law& law) noexcept {
  const bool adapts = law.setting.takes_rates();
  if (cycle.changed || cycle.state_transition || !adapts) {
    estimator_.interrupt();
    step_ = Step::kWait;
  }
  if (!adapts) {
    if (untold_) tell(law.setting, law.reference);
    return;
  }
  const Motion& r = law.reference.followed();
  bool valid = command.observed && !law.payload.active();
  for (std::size_t i = 0; i < acceleration_.size(); ++i) {
    acceleration_[i] = law.observer.acceleration(i);
    doubt_[i] = kDoubt * std::abs(acceleration_[i] - r.qdd[i]) * law.arm.own_inertia(i);
    valid = valid && !law.latch.latched(i) && std::abs(command.tau[i]) < law.arm.torque_limit[i];
  }
  const bool works =
      estimator_.take({law.arm.q, law.arm.qd, acceleration_, command.tau, doubt_, valid}, cycle.dt);
  age_ = std::min(age_ + 1, kCycles);
  if (works && cycle.dt < kLong) return;
  switch (step_) {
    case Step::kWait:
      if (untold_) {
        tell(law.setting, law.reference);
        return;
      }
      if (age_ < kCycles || cycle.changed) return;
      age_ = 0;
      reduced_ = false;
      choose();
      if (!adapted_ && next_.x == used_.x) return;
      step_ = Step::kMake;
      return;
    case Step::kMake:
      make();
      step_ = Step::kInertia;
      return;
    case Step::kInertia:
      law.arm.update_inertia();
      at_ = law.arm.q;
      least_part_ = 0, most_part_ = 1;
      step_ = Step::kLimit;
      return;
    case Step::kLimit:
      if (!(most_part_ < 1)) find_inertia(next_, share_, law.arm);
      if (!limit_inertia()) return;
      step_ = Step::kShare;
      if (!(most_part_ < 1)) return;
      for (double& x : next_.x) x *= least_part_;
      step_ = Step::kMake;
      return;
    case Step::kShare:
      choose_share();
      step_ = Step::kUse;
      return;
    case Step::kUse:
      step_ = Step::kWait;
      use(command, law);
      return;
  }
}

/// Share of the change of the torques that is at most a step.
double ModelCorrection::share_within_step(const Law& law) const noexcept {
  const std::span<const double> rates = law.reference.followed().qd;
  double share = 1;
  for (std::size_t i = 0; i < after_.size(); ++i) {
    const double change =
        std::abs(after_[i] - before_[i] + law.friction.change(i, bodies_.drives[i], rates[i]));
    const double limit = kStep * std::min(law.arm.torque_limit[i], kUnlimited);
    if (change * share > limit) share = limit / change;
  }
  return share;
}

/// The change of the torque as a disturbance, into `shift_`. False if the law does not subtract all of
/// it, or if a saturated joint takes it from the others.
bool ModelCorrection::find_shift(const Command& command, const Law& law) noexcept {
  const std::span<const double> rates = law.reference.followed().qd;
  for (std::size_t i = 0; i < shift_.size(); ++i) {
    shift_[i] = after_[i] - before_[i] + law.friction.next_change(i, bodies_.drives[i], rates[i]);
  }
  law.arm.solve_inertia(shift_, factor_);
  if (!all_finite(shift_, shift_.size())) std::fill(shift_.begin(), shift_.end(), 0.0);
  bool all = true;
  for (std::size_t i = 0; i < shift_.size(); ++i) {
    const double d = law.observer.disturbance()[i];
    all = all && std::max(std::abs(d), std::abs(d + shift_[i])) <= command.subtracted[i] &&
          std::abs(command.tau[i]) < law.arm.torque_limit[i];
  }
  return all;
}

/// Uses the next model, or begins with one nearer to the used model if the torques would change by too
/// much.
void ModelCorrection::use(const Command& command, const Law& law) noexcept {
  const Motion& reference = law.reference.followed();
  if (!adapted_ || payload_changed_) {
    describe(reference, law.arm);
    correct(used_, command.v, reference, law.arm, before_);
  }
  correct(next_, command.v, reference, law.arm, after_);
  const auto apply = [&](const std::vector<double>& found) {
    law.arm.found_inertia = found;
    for (std::size_t i = 0; i < found.size(); ++i) law.arm.inertia[i] = described_[i] + found[i];
  };
  apply(next_.found);
  const bool balanced = find_shift(command, law) && law.setting.integrates();
  // A loop that may be unstable must not wait: its share falls by itself, whatever that changes.
  const bool falls = next_.share < used_.share, alone = next_.x == used_.x;
  const double share = balanced || (falls && alone) ? 1 : share_within_step(law);
  if (share < 1) {
    for (std::size_t k = 0; k < next_.x.size(); ++k) {
      next_.x[k] = used_.x[k] + (falls ? 0 : kReduced * share * (next_.x[k] - used_.x[k]));
    }
    reduced_ = true;
    age_ = kCycles;  // go on at once afterwards
    apply(used_.found);
    step_ = alone ? Step::kWait : Step::kMake;
    return;
  }
  for (std::size_t i = 0; i < shift_.size(); ++i) {
    law.friction.set_drive(i, bodies_.drives[i], law.reference.followed().qd[i]);
    law.observer.shift(i, shift_[i]);
  }
  std::swap(used_, next_);
  adapted_ = std::any_of(used_.x.begin(), used_.x.end(), [](double x) { return x != 0; });
  untold_ = true;
}

}  // namespace ga_controllers
