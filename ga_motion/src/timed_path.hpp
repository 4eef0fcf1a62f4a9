// SPDX-License-Identifier: Apache-2.0
#ifndef TIMED_PATH_HPP_
#define TIMED_PATH_HPP_

#include <memory>
#include <vector>

#include "ga_motion/time_parameterization.hpp"

namespace ga_motion {

/// The motion along the path whose parameter has these speeds at the points s, and a constant
/// acceleration between them.
class TimedPath final : public Trajectory {
 public:
  TimedPath(std::shared_ptr<const Path> path, std::vector<double> s, std::vector<double> speed,
            std::vector<double> time);

  int size() const noexcept override { return path_->size(); }
  double duration() const noexcept override { return time_.back(); }
  void sample(double t, std::span<double> q, std::span<double> qd,
              std::span<double> qdd) const override;

 private:
  std::shared_ptr<const Path> path_;
  std::vector<double> s_, speed_, time_;
};

}  // namespace ga_motion

#endif  // TIMED_PATH_HPP_
