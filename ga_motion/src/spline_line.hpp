// SPDX-License-Identifier: Apache-2.0
#ifndef SPLINE_LINE_HPP_
#define SPLINE_LINE_HPP_

#include <memory>
#include <utility>

#include "ga_motion/cartesian_line.hpp"

namespace ga_motion {

/// Joint values as splines over the way, which a CartesianLine times.
class SplineLine final : public Trajectory {
 public:
  SplineLine(const CartesianLine& line, std::unique_ptr<Trajectory> over_way)
      : line_(line), over_way_(std::move(over_way)) {}

  int size() const noexcept override { return over_way_->size(); }
  double duration() const noexcept override { return line_.duration(); }
  void sample(double t, std::span<double> q, std::span<double> qd,
              std::span<double> qdd) const override {
    const CartesianLine::Travel travel = line_.travel(t);
    over_way_->sample(travel.way, q, qd, qdd);
    for (std::size_t i = 0; i < static_cast<std::size_t>(size()); ++i) {
      qdd[i] = qdd[i] * travel.rate * travel.rate + qd[i] * travel.acceleration;
      qd[i] *= travel.rate;
    }
  }

 private:
  CartesianLine line_;
  std::unique_ptr<Trajectory> over_way_;
};

}  // namespace ga_motion

#endif  // SPLINE_LINE_HPP_
