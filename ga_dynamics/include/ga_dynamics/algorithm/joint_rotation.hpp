// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__JOINT_ROTATION_HPP_
#define GA_DYNAMICS__ALGORITHM__JOINT_ROTATION_HPP_

// The rotation between neighboring frames, {i-1}R_i = A_i Rz(theta_i) with the constant twist A_i
// = Rx(alpha) Ry(beta), applied as planar rotations (8 products and 4 sums for a general twist,
// "trigonometric identities" of Mata et al. 2002 §4.1) and never as a matrix. Most industrial arms
// have twists of 0 and ±90°, where A_i costs nothing: the twist is a template argument, and
// with_twist() picks the instance for a joint at run time.

#include "ga_dynamics/algorithm/linear.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

enum class Twist : unsigned char { kZero, kPlus90, kMinus90, kHalfTurn, kGeneral, kSkew };

/// cos and sin of the twist angles; beta only matters for kSkew.
template <class S>
struct TwistConstants {
  S ca{}, sa{}, cb{}, sb{};
};

template <Twist T>
struct TwistTag {
  static constexpr Twist value = T;
};

template <class F>
GA_DYNAMICS_INLINE void with_twist(Twist twist, F&& f) {
  switch (twist) {
    case Twist::kZero:
      return f(TwistTag<Twist::kZero>{});
    case Twist::kPlus90:
      return f(TwistTag<Twist::kPlus90>{});
    case Twist::kMinus90:
      return f(TwistTag<Twist::kMinus90>{});
    case Twist::kHalfTurn:
      return f(TwistTag<Twist::kHalfTurn>{});
    case Twist::kGeneral:
      return f(TwistTag<Twist::kGeneral>{});
    case Twist::kSkew:
      return f(TwistTag<Twist::kSkew>{});
  }
}

/// Aᵀ v
template <Twist T, class S>
GA_DYNAMICS_INLINE Vec3<S> twist_down(const TwistConstants<S>& t, const Vec3<S>& v) {
  if constexpr (T == Twist::kZero) {
    return v;
  } else if constexpr (T == Twist::kPlus90) {
    return {v.x, v.z, -v.y};
  } else if constexpr (T == Twist::kMinus90) {
    return {v.x, -v.z, v.y};
  } else if constexpr (T == Twist::kHalfTurn) {
    return {v.x, -v.y, -v.z};
  } else {
    const S y = t.ca * v.y + t.sa * v.z, z = t.ca * v.z - t.sa * v.y;
    if constexpr (T == Twist::kGeneral) {
      return {v.x, y, z};
    } else {
      return {t.cb * v.x - t.sb * z, y, t.sb * v.x + t.cb * z};
    }
  }
}

/// A v
template <Twist T, class S>
GA_DYNAMICS_INLINE Vec3<S> twist_up(const TwistConstants<S>& t, const Vec3<S>& v) {
  if constexpr (T == Twist::kZero) {
    return v;
  } else if constexpr (T == Twist::kPlus90) {
    return {v.x, -v.z, v.y};
  } else if constexpr (T == Twist::kMinus90) {
    return {v.x, v.z, -v.y};
  } else if constexpr (T == Twist::kHalfTurn) {
    return {v.x, -v.y, -v.z};
  } else if constexpr (T == Twist::kGeneral) {
    return {v.x, t.ca * v.y - t.sa * v.z, t.sa * v.y + t.ca * v.z};
  } else {
    const S x = t.cb * v.x + t.sb * v.z, z = t.cb * v.z - t.sb * v.x;
    return {x, t.ca * v.y - t.sa * z, t.sa * v.y + t.ca * z};
  }
}

/// Rz(theta)ᵀ v
template <class S>
GA_DYNAMICS_INLINE Vec3<S> spin_down(const S& s, const S& c, const Vec3<S>& v) {
  return {c * v.x + s * v.y, c * v.y - s * v.x, v.z};
}
/// Rz(theta) v
template <class S>
GA_DYNAMICS_INLINE Vec3<S> spin_up(const S& s, const S& c, const Vec3<S>& v) {
  return {c * v.x - s * v.y, s * v.x + c * v.y, v.z};
}

/// {i}R_{i-1} v
template <Twist T, class S>
GA_DYNAMICS_INLINE Vec3<S> rotate_down(const TwistConstants<S>& t, const S& s, const S& c,
                                       const Vec3<S>& v) {
  return spin_down(s, c, twist_down<T>(t, v));
}
/// {i-1}R_i v
template <Twist T, class S>
GA_DYNAMICS_INLINE Vec3<S> rotate_up(const TwistConstants<S>& t, const S& s, const S& c,
                                     const Vec3<S>& v) {
  return twist_up<T>(t, spin_up(s, c, v));
}

/// Rotation of a tensor in one coordinate plane (p, q) with third axis r: 8 products and 7 sums,
/// given 2c (Mata et al. 2002 §4.2 step 5; the form with u is ours).
template <class S>
GA_DYNAMICS_INLINE void rotate_plane(const S& s, const S& c, S& pp, S& qq, S& pq, S& pr, S& qr) {
  const S u = s * (pp - qq) + (c + c) * pq;
  const S su = s * u;
  pp = pp - su;
  qq = qq + su;
  pq = c * u - pq;
  const S old = pr;
  pr = c * old - s * qr;
  qr = s * old + c * qr;
}

/// Rz(theta) P Rz(theta)ᵀ
template <class S>
GA_DYNAMICS_INLINE Sym3<S> spin_up(const S& s, const S& c, Sym3<S> p) {
  rotate_plane(s, c, p.xx, p.yy, p.xy, p.xz, p.yz);
  return p;
}

/// A P Aᵀ
template <Twist T, class S>
GA_DYNAMICS_INLINE Sym3<S> twist_up(const TwistConstants<S>& t, Sym3<S> p) {
  if constexpr (T == Twist::kZero) {
    return p;
  } else if constexpr (T == Twist::kPlus90) {
    return {p.xx, p.zz, p.yy, -p.xz, p.xy, -p.yz};
  } else if constexpr (T == Twist::kMinus90) {
    return {p.xx, p.zz, p.yy, p.xz, -p.xy, -p.yz};
  } else if constexpr (T == Twist::kHalfTurn) {
    return {p.xx, p.yy, p.zz, -p.xy, -p.xz, p.yz};
  } else {
    if constexpr (T == Twist::kSkew) rotate_plane(t.sb, t.cb, p.zz, p.xx, p.xz, p.yz, p.xy);
    rotate_plane(t.sa, t.ca, p.yy, p.zz, p.yz, p.xy, p.xz);
    return p;
  }
}

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__JOINT_ROTATION_HPP_
