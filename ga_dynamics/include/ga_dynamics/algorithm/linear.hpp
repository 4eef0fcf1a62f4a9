// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__LINEAR_HPP_
#define GA_DYNAMICS__ALGORITHM__LINEAR_HPP_

// Three-vectors and 3x3 tensors over any scalar: double, float, a counting scalar, a dual number, a
// SIMD pack. All functions are real-time safe: no allocation, no exception.

#include <type_traits>

#include "ga_dynamics/algorithm/isa.hpp"
#include "ga_dynamics/urdf_model.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

template <class S>
struct Vec3 {
  S x{}, y{}, z{};
};

/// Symmetric tensor, e.g. an inertia tensor.
template <class S>
struct Sym3 {
  S xx{}, yy{}, zz{}, xy{}, xz{}, yz{};
};

/// General 3x3 matrix by its rows.
template <class S>
struct Mat3 {
  Vec3<S> r0{}, r1{}, r2{};
};

GA_DYNAMICS_INLINE Vec3<double> to_vec(const Vector3& v) { return {v[0], v[1], v[2]}; }
GA_DYNAMICS_INLINE Mat3<double> to_mat(const Matrix3& m) {
  return {{m[0], m[1], m[2]}, {m[3], m[4], m[5]}, {m[6], m[7], m[8]}};
}
GA_DYNAMICS_INLINE Vector3 to_array(const Vec3<double>& v) { return {v.x, v.y, v.z}; }
GA_DYNAMICS_INLINE Matrix3 to_array(const Mat3<double>& m) {
  return {m.r0.x, m.r0.y, m.r0.z, m.r1.x, m.r1.y, m.r1.z, m.r2.x, m.r2.y, m.r2.z};
}

template <class S>
GA_DYNAMICS_INLINE Vec3<S> operator+(const Vec3<S>& a, const Vec3<S>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class S>
GA_DYNAMICS_INLINE Vec3<S> operator-(const Vec3<S>& a, const Vec3<S>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class S>
GA_DYNAMICS_INLINE Vec3<S> operator-(const Vec3<S>& a) {
  return {-a.x, -a.y, -a.z};
}
template <class S>
GA_DYNAMICS_INLINE Vec3<S> operator*(const std::type_identity_t<S>& k, const Vec3<S>& a) {
  return {k * a.x, k * a.y, k * a.z};
}
template <class S>
GA_DYNAMICS_INLINE S dot(const Vec3<S>& a, const Vec3<S>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class S>
GA_DYNAMICS_INLINE Vec3<S> cross(const Vec3<S>& a, const Vec3<S>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class S>
GA_DYNAMICS_INLINE Vec3<S> operator*(const Sym3<S>& a, const Vec3<S>& v) {
  return {a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
          a.xz * v.x + a.yz * v.y + a.zz * v.z};
}
template <class S>
GA_DYNAMICS_INLINE Sym3<S> operator+(const Sym3<S>& a, const Sym3<S>& b) {
  return {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}
template <class S>
GA_DYNAMICS_INLINE Sym3<S> operator-(const Sym3<S>& a, const Sym3<S>& b) {
  return {a.xx - b.xx, a.yy - b.yy, a.zz - b.zz, a.xy - b.xy, a.xz - b.xz, a.yz - b.yz};
}
template <class S>
GA_DYNAMICS_INLINE Sym3<S> operator*(const std::type_identity_t<S>& k, const Sym3<S>& a) {
  return {k * a.xx, k * a.yy, k * a.zz, k * a.xy, k * a.xz, k * a.yz};
}
template <class S>
GA_DYNAMICS_INLINE Vec3<S> operator*(const Mat3<S>& a, const Vec3<S>& v) {
  return {dot(a.r0, v), dot(a.r1, v), dot(a.r2, v)};
}
/// aᵀ v
template <class S>
GA_DYNAMICS_INLINE Vec3<S> transposed_times(const Mat3<S>& a, const Vec3<S>& v) {
  return {a.r0.x * v.x + a.r1.x * v.y + a.r2.x * v.z, a.r0.y * v.x + a.r1.y * v.y + a.r2.y * v.z,
          a.r0.z * v.x + a.r1.z * v.y + a.r2.z * v.z};
}
template <class S>
GA_DYNAMICS_INLINE Mat3<S> operator*(const Mat3<S>& a, const Mat3<S>& b) {
  return {transposed_times(b, a.r0), transposed_times(b, a.r1), transposed_times(b, a.r2)};
}
/// Columns become rows.
template <class S>
GA_DYNAMICS_INLINE Mat3<S> transposed(const Mat3<S>& a) {
  return {{a.r0.x, a.r1.x, a.r2.x}, {a.r0.y, a.r1.y, a.r2.y}, {a.r0.z, a.r1.z, a.r2.z}};
}
/// −ãb̃ − (ãb̃)ᵀ = 2(a·b)1 − abᵀ − baᵀ; with a = b and half the factor, the inertia of a unit point
/// mass.
template <class S>
GA_DYNAMICS_INLINE Sym3<S> mixed_inertia(const Vec3<S>& a, const Vec3<S>& b) {
  const S x = a.x * b.x, y = a.y * b.y, z = a.z * b.z;
  return {y + y + z + z,
          x + x + z + z,
          x + x + y + y,
          -(a.x * b.y + a.y * b.x),
          -(a.x * b.z + a.z * b.x),
          -(a.y * b.z + a.z * b.y)};
}
/// −c̃c̃ = |c|²1 − ccᵀ: inertia about the origin of a unit point mass at c.
template <class S>
GA_DYNAMICS_INLINE Sym3<S> point_inertia(const Vec3<S>& c) {
  return {c.y * c.y + c.z * c.z, c.x * c.x + c.z * c.z, c.x * c.x + c.y * c.y,
          -(c.x * c.y),          -(c.x * c.z),          -(c.y * c.z)};
}
/// R A Rᵀ
template <class S>
GA_DYNAMICS_INLINE Sym3<S> similarity(const Mat3<S>& r, const Sym3<S>& a) {
  const Vec3<S> c0 = a * r.r0, c1 = a * r.r1, c2 = a * r.r2;
  return {dot(r.r0, c0), dot(r.r1, c1), dot(r.r2, c2), dot(r.r0, c1), dot(r.r0, c2), dot(r.r1, c2)};
}

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__LINEAR_HPP_
