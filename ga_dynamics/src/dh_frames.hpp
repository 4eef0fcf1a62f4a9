// SPDX-License-Identifier: Apache-2.0
#ifndef DH_FRAMES_HPP_
#define DH_FRAMES_HPP_

// From joint axes in space to modified Denavit–Hartenberg frames.

#include <vector>

#include "ga_dynamics/algorithm/linear.hpp"
#include "ga_dynamics/chain.hpp"

namespace ga_dynamics {

using Long = long double;  // rounding of the construction stays below that of the result
using LVec = Vec3<Long>;
using LMat = Mat3<Long>;

struct LPose {
  LMat rotation{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  LVec translation{};
};

LPose compose(const LPose& outer, const LPose& inner);
LPose inverse(const LPose& pose);
LPose to_long(const Pose& pose);
Pose to_double(const LPose& pose);
Long length(const LVec& v);

/// T(i-1,i) at zero of the joint variable; exact for twists of 0, ±90° and 180°.
LPose dh_transform(const DhParameters& dh);

/// A joint axis at zero of all joints, in the base link's frame.
struct AxisLine {
  LVec point;      ///< the joint's origin in the description
  LVec direction;  ///< unit
  LVec x_hint;  ///< the x axis of the joint frame in the description; where nothing else decides, x
                ///< follows it
};

struct DhFrames {
  LPose frame0;                    ///< in the base link's frame
  std::vector<DhParameters> rows;  ///< the first is all zero
  std::vector<LPose>
      frames;  ///< frames 1..n at zero, in the base link's frame, as the rows give them
};

/// Angles within `snap` [rad] of 0, ±90°, 180° are made exact; axes closer to parallel than 0.01
/// rad, but not within `snap`, get Hayati's beta.
DhFrames make_dh_frames(const std::vector<AxisLine>& axes, double snap);

}  // namespace ga_dynamics

#endif  // DH_FRAMES_HPP_
