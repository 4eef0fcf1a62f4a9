// SPDX-License-Identifier: Apache-2.0
#include "dh_frames.hpp"

#include <cmath>
#include <numbers>

namespace ga_dynamics {
namespace {

constexpr Long kPi = std::numbers::pi_v<Long>;
constexpr Long kNearlyParallel =
    0.01L;  // sin of the angle below which a common normal loses too many digits
constexpr Long kNegligible = 1e-14L;  // relative length

LVec unit(const LVec& v) { return (1 / length(v)) * v; }

/// The part of v perpendicular to the unit vector z.
LVec perpendicular(const LVec& v, const LVec& z) { return v - dot(v, z) * z; }

/// Angle about the unit vector z that turns x into y (both perpendicular to z), made exact when
/// near a right angle.
Long angle_about(const LVec& z, const LVec& x, const LVec& y, Long snap) {
  const Long s = dot(z, cross(x, y)), c = dot(x, y);
  if (std::abs(s) <= snap) return c > 0 ? 0 : kPi;
  if (std::abs(c) <= snap) return s > 0 ? kPi / 2 : -kPi / 2;
  return std::atan2(s, c);
}

Long snap_length(Long value, Long scale) {
  return std::abs(value) <= kNegligible * (1 + scale) ? 0 : value;
}

/// Where frame i goes on axis i, and how axis i+1 is reached from it.
struct Link {
  LVec origin, x;       ///< O_i and x_i
  Long alpha, beta, a;  ///< to joint i+1
  LVec next_foot;       ///< O_i + a x_i, on axis i+1
};

/// x_i along `across`, forwards or backwards: whichever is nearer to x_{i-1}, so that theta stays
/// within ±90°.
void set_normal(Link& link, const LVec& across, Long distance, const LVec& last_x) {
  if (distance == 0) {
    link.a = 0;
    link.x = last_x;
    return;
  }
  const bool backwards = dot(across, last_x) < 0;
  link.a = backwards ? -distance : distance;
  link.x = (backwards ? -1 : 1) * unit(across);
}

Link parallel_link(const AxisLine& axis, const AxisLine& next, const LVec& foot,
                   const LVec& last_x) {
  Link link;
  link.origin = foot;
  const LVec between = next.point - foot;
  const LVec across = perpendicular(between, axis.direction);
  set_normal(link, across, snap_length(length(across), length(between)), last_x);
  link.alpha = dot(axis.direction, next.direction) > 0 ? 0 : kPi;
  link.beta = 0;
  link.next_foot = foot + across;
  return link;
}

Link skew_link(const AxisLine& axis, const AxisLine& next, const LVec& foot, const LVec& last_x) {
  Link link;
  link.origin = foot;
  // The point of the next axis level with O_i: z_i·(t − O_i) = 0.
  const Long along = dot(foot - next.point, axis.direction) / dot(next.direction, axis.direction);
  link.next_foot = next.point + along * next.direction;
  const LVec across = link.next_foot - foot;
  set_normal(link, perpendicular(across, axis.direction),
             snap_length(length(across), length(next.point - foot)), last_x);
  const LVec y = cross(axis.direction, link.x);
  // Rx(alpha) Ry(beta) ẑ = [sin beta, −sin alpha cos beta, cos alpha cos beta]
  const LVec z{dot(link.x, next.direction), dot(y, next.direction),
               dot(axis.direction, next.direction)};
  link.beta = std::asin(z.x);
  link.alpha = std::atan2(-z.y, z.z);
  return link;
}

Link common_normal_link(const AxisLine& axis, const AxisLine& next, const LVec& last_x, Long snap) {
  Link link;
  const LVec normal = cross(axis.direction, next.direction);
  const Long sine = length(normal), cosine = dot(axis.direction, next.direction);
  const LVec between = next.point - axis.point;
  const Long along = dot(cross(between, next.direction), normal) / (sine * sine);
  const Long next_along = dot(cross(between, axis.direction), normal) / (sine * sine);
  link.origin = axis.point + along * axis.direction;
  link.next_foot = next.point + next_along * next.direction;
  const Long distance = snap_length(dot(between, normal) / sine, length(between));
  const bool flip = dot(normal, last_x) < -snap;
  link.a = flip ? -distance : distance;
  link.x = ((flip ? -1 : 1) / sine) * normal;
  link.beta = 0;
  link.alpha = std::abs(cosine) <= snap ? kPi / 2 : std::atan2(sine, cosine);
  if (flip) link.alpha = -link.alpha;
  return link;
}

}  // namespace

Long length(const LVec& v) { return std::sqrt(dot(v, v)); }

LPose compose(const LPose& outer, const LPose& inner) {
  return {outer.rotation * inner.rotation, outer.translation + outer.rotation * inner.translation};
}

LPose inverse(const LPose& pose) {
  return {transposed(pose.rotation), -transposed_times(pose.rotation, pose.translation)};
}

LPose to_long(const Pose& pose) {
  const Matrix3& r = pose.rotation;
  const Vector3& t = pose.translation;
  return {{{r[0], r[1], r[2]}, {r[3], r[4], r[5]}, {r[6], r[7], r[8]}}, {t[0], t[1], t[2]}};
}

Pose to_double(const LPose& pose) {
  const auto d = [](Long v) { return static_cast<double>(v); };
  const LMat& r = pose.rotation;
  const LVec& t = pose.translation;
  return {{d(r.r0.x), d(r.r0.y), d(r.r0.z), d(r.r1.x), d(r.r1.y), d(r.r1.z), d(r.r2.x), d(r.r2.y),
           d(r.r2.z)},
          {d(t.x), d(t.y), d(t.z)}};
}

LPose dh_transform(const DhParameters& dh) {
  const auto exact = [](double angle, Long& s, Long& c) {
    constexpr double kHalf = std::numbers::pi / 2;
    if (angle == kHalf || angle == -kHalf) {
      s = angle > 0 ? 1 : -1, c = 0;
    } else if (angle == 2 * kHalf || angle == -2 * kHalf) {
      s = 0, c = -1;
    } else {
      s = std::sin(static_cast<Long>(angle)), c = std::cos(static_cast<Long>(angle));
    }
  };
  Long sa, ca, st, ct;
  exact(dh.alpha, sa, ca);
  exact(dh.theta, st, ct);
  const Long sb = std::sin(static_cast<Long>(dh.beta)), cb = std::cos(static_cast<Long>(dh.beta));
  const LMat twist{{cb, 0, sb}, {sa * sb, ca, -sa * cb}, {-ca * sb, sa, ca * cb}};
  const LMat spin{{ct, -st, 0}, {st, ct, 0}, {0, 0, 1}};
  const Long d = dh.d;
  return {twist * spin, {dh.a + d * twist.r0.z, d * twist.r1.z, d * twist.r2.z}};
}

Pose dh_pose(const DhParameters& dh) { return to_double(dh_transform(dh)); }

DhFrames make_dh_frames(const std::vector<AxisLine>& axes, double snap) {
  DhFrames result;
  const std::size_t n = axes.size();
  if (n == 0) return result;
  LVec foot = axes[0].point;
  LVec last_x = perpendicular(axes[0].x_hint, axes[0].direction);
  if (length(last_x) < 0.1L) {
    // The hint is along the axis: any perpendicular will do.
    const LVec& z = axes[0].direction;
    last_x = perpendicular(std::abs(z.x) < 0.5L ? LVec{1, 0, 0} : LVec{0, 1, 0}, z);
  }
  last_x = unit(last_x);

  DhParameters row;  // alpha, beta and a of joint i; theta and d follow once frame i is chosen
  LPose composed;
  for (std::size_t i = 0; i < n; ++i) {
    const AxisLine& axis = axes[i];
    Link link{foot, last_x, 0, 0, 0, foot};
    if (i + 1 < n) {
      const AxisLine& next = axes[i + 1];
      const Long sine = length(cross(axis.direction, next.direction));
      link = sine <= snap             ? parallel_link(axis, next, foot, last_x)
             : sine < kNearlyParallel ? skew_link(axis, next, foot, last_x)
                                      : common_normal_link(axis, next, last_x, snap);
    }
    if (i == 0) {
      const LVec& x = link.x;
      const LVec& z = axis.direction;
      const LVec y = cross(z, x);
      result.frame0 = {{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}, link.origin};
      composed = result.frame0;
      result.rows.push_back({});
    } else {
      row.theta = static_cast<double>(angle_about(axis.direction, last_x, link.x, snap));
      row.d = static_cast<double>(
          snap_length(dot(link.origin - foot, axis.direction), length(link.origin - foot)));
      result.rows.push_back(row);
      composed = compose(composed, dh_transform(row));
    }
    result.frames.push_back(composed);
    row = {};
    row.alpha = static_cast<double>(link.alpha);
    row.beta = static_cast<double>(link.beta);
    row.a = static_cast<double>(link.a);
    foot = link.next_foot;
    if (i + 1 < n) {
      // x behind the twist: unchanged by alpha, tilted by beta.
      const LVec z = axis.direction;
      const LVec y = cross(z, link.x);
      const Long sb = std::sin(link.beta), cb = std::cos(link.beta);
      const Long sa = std::sin(link.alpha), ca = std::cos(link.alpha);
      last_x = cb * link.x + (sa * sb) * y - (ca * sb) * z;
    }
  }
  return result;
}

}  // namespace ga_dynamics
