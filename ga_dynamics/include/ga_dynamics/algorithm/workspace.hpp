// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__WORKSPACE_HPP_
#define GA_DYNAMICS__ALGORITHM__WORKSPACE_HPP_

// The scratch memory of the algorithms. Built once for a model; one per thread.

#include "ga_dynamics/algorithm/buffer.hpp"
#include "ga_dynamics/algorithm/model.hpp"
#include "ga_dynamics/algorithm/trig.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

/// The joint positions as the algorithms use them: sine and cosine of theta_i, and d_i.
template <class S>
struct JointPositions {
  explicit JointPositions(const Model<S>& model)
      : sine(static_cast<std::size_t>(padded(model.n))),
        cosine(static_cast<std::size_t>(padded(model.n))),
        d(static_cast<std::size_t>(padded(model.n))) {
    for (int i = 0; i < model.n; ++i) d[i] = model.joint[i].d;
  }

  Buffer<S> sine, cosine, d;
};

/// Real-time safe.
template <class S>
GA_DYNAMICS_INLINE void set_positions(const Model<S>& model, const S* q, JointPositions<S>& p) {
  constexpr int kWidth = kLanes<S>;
  const int n = model.n;
  const auto lane_at = [&](int i, const Lane<S>& position) __attribute__((always_inline)) {
    const Lane<S> turned =
        load_lane(model.turns.data() + i) * position + load_lane(model.theta.data() + i);
    sin_cos<S>(turned, p.sine.data() + i, p.cosine.data() + i);
  };
  if (n >= kWidth) {
    // The last lane overlaps the one before rather than read behind the caller's array.
    for (int i = 0; i + kWidth <= n; i += kWidth) lane_at(i, load_lane(q + i));
    if (n % kWidth != 0) lane_at(n - kWidth, load_lane(q + n - kWidth));
  } else {
    S some[kWidth] = {};
    for (int i = 0; i < n; ++i) some[i] = q[i];
    lane_at(0, load_lane(some));
  }
  if (!model.all_revolute) {
    for (int i = 0; i < n; ++i) {
      if (!model.joint[i].revolute) p.d[i] = q[i] + model.joint[i].d;
    }
  }
}

/// External force and moment, or force and moment of inertia, of a lane of links; in frame i, about
/// O_i.
template <class S>
struct WrenchLane {
  S value[6][kLanes<S>];
};
/// ω_i, ω̇_i and s̈_i of a lane of links, in frame i.
template <class S>
struct MotionLane {
  S value[9][kLanes<S>];
};

template <class S>
struct Workspace {
  explicit Workspace(const Model<S>& model)
      : positions(model),
        motion(lanes(model.n)),
        wrench(lanes(model.n)),
        phi(size(model.n)),
        psi(size(model.n)),
        matrix(size(model.n) * size(model.n)),
        vector(size(model.n)),
        axis(6 * static_cast<std::size_t>(padded(model.n))),
        row(static_cast<std::size_t>(padded(model.n))) {}

  JointPositions<S> positions;
  Buffer<MotionLane<S>> motion;
  Buffer<WrenchLane<S>> wrench;
  Buffer<Vec3<S>> phi;  ///< first moments of the composite bodies (inertia_matrix.hpp)
  Buffer<Sym3<S>> psi;  ///< their inertia tensors about O_i
  Buffer<S> matrix, vector;
  Buffer<S> axis;  ///< x, y, z of the axes, then of the levers of the earlier joints, one lane
                   ///< after another
  Buffer<S> row;

 private:
  static std::size_t size(int n) { return static_cast<std::size_t>(n); }
  static std::size_t lanes(int n) { return static_cast<std::size_t>(padded(n) / kLanes<S>); }
};

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__WORKSPACE_HPP_
