// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__EIGEN_HPP_
#define GA_DYNAMICS__EIGEN_HPP_

// Dynamics with Eigen's vectors and matrices in place of spans; link the target ga_dynamics::eigen.
//
// Vectors and whole matrices are used where they are, without copies and allocations. An expression
// (q + dq) or a strided vector as an input is evaluated first, as Eigen::Ref does with any function.
// Units, real-time safety and exceptions are those of dynamics.hpp; sizes must match exactly, or
// std::invalid_argument names the function and the argument.

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>

#include "ga_dynamics/dynamics.hpp"

namespace ga_dynamics {

/// 6×n, linear velocity above angular.
using JacobianMatrix = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>;

using InputVector = Eigen::Ref<const Eigen::VectorXd>;
using OutputVector = Eigen::Ref<Eigen::VectorXd>;

namespace detail {

inline void require_size(const char* function, const char* argument, Eigen::Index size, int n) {
  if (size == n) [[likely]]
    return;
  throw std::invalid_argument(std::string(function) + ": " + argument + " has " +
                              std::to_string(size) + " values; give " + std::to_string(n));
}
inline std::span<const double> input(const char* function, const char* argument,
                                     const InputVector& v, int n) {
  require_size(function, argument, v.size(), n);
  return {v.data(), static_cast<std::size_t>(n)};
}
inline std::span<double> output(const char* function, const char* argument, OutputVector& v,
                                int n) {
  require_size(function, argument, v.size(), n);
  return {v.data(), static_cast<std::size_t>(n)};
}
/// A matrix without gaps between its rows or columns.
template <class Matrix>
std::span<double> output_matrix(const char* function, const char* argument, Eigen::Ref<Matrix>& m,
                                int rows, int columns) {
  const bool fits = m.rows() == rows && m.cols() == columns && m.outerStride() == m.innerSize();
  if (!fits) {
    throw std::invalid_argument(std::string(function) + ": " + argument +
                                " is not a whole matrix of " + std::to_string(rows) + "×" +
                                std::to_string(columns) +
                                "; give one, not a block of a larger one");
  }
  return {m.data(), static_cast<std::size_t>(rows * columns)};
}

}  // namespace detail

inline void inverse_dynamics(Dynamics& dynamics, const InputVector& q, const InputVector& qd,
                             const InputVector& qdd, OutputVector tau) {
  constexpr const char* kName = "inverse_dynamics";
  const int n = dynamics.size();
  dynamics.inverse_dynamics(detail::input(kName, "q", q, n), detail::input(kName, "qd", qd, n),
                            detail::input(kName, "qdd", qdd, n),
                            detail::output(kName, "tau", tau, n));
}

inline bool forward_dynamics(Dynamics& dynamics, const InputVector& q, const InputVector& qd,
                             const InputVector& tau, OutputVector qdd) {
  constexpr const char* kName = "forward_dynamics";
  const int n = dynamics.size();
  return dynamics.forward_dynamics(
      detail::input(kName, "q", q, n), detail::input(kName, "qd", qd, n),
      detail::input(kName, "tau", tau, n), detail::output(kName, "qdd", qdd, n));
}

/// Symmetric but for rounding, so that the storage order does not matter.
inline void inertia_matrix(Dynamics& dynamics, const InputVector& q,
                           Eigen::Ref<Eigen::MatrixXd> inertia) {
  constexpr const char* kName = "inertia_matrix";
  const int n = dynamics.size();
  dynamics.inertia_matrix(detail::input(kName, "q", q, n),
                          detail::output_matrix(kName, "inertia", inertia, n, n));
}

inline void bias(Dynamics& dynamics, const InputVector& q, const InputVector& qd, OutputVector h) {
  const int n = dynamics.size();
  dynamics.bias(detail::input("bias", "q", q, n), detail::input("bias", "qd", qd, n),
                detail::output("bias", "h", h, n));
}

inline void gravity(Dynamics& dynamics, const InputVector& q, OutputVector g) {
  const int n = dynamics.size();
  dynamics.gravity(detail::input("gravity", "q", q, n), detail::output("gravity", "g", g, n));
}

inline void jacobian(const Dynamics& dynamics, const InputVector& q, int link,
                     Eigen::Ref<JacobianMatrix> result) {
  const int n = dynamics.size();
  dynamics.jacobian(detail::input("jacobian", "q", q, n), link,
                    detail::output_matrix("jacobian", "result", result, 6, n));
}

inline void velocity_product(const Dynamics& dynamics, const InputVector& q, const InputVector& qd,
                             int link, OutputVector acceleration) {
  constexpr const char* kName = "velocity_product";
  const int n = dynamics.size();
  dynamics.velocity_product(detail::input(kName, "q", q, n), detail::input(kName, "qd", qd, n),
                            link, detail::output(kName, "acceleration", acceleration, 6));
}

inline Eigen::Isometry3d to_eigen(const Pose& pose) {
  Eigen::Isometry3d result = Eigen::Isometry3d::Identity();
  result.linear() =
      Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(pose.rotation.data());
  result.translation() = Eigen::Map<const Eigen::Vector3d>(pose.translation.data());
  return result;
}

inline Pose to_pose(const Eigen::Isometry3d& transform) {
  Pose pose;
  Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(pose.rotation.data()) =
      transform.linear();
  Eigen::Map<Eigen::Vector3d>(pose.translation.data()) = transform.translation();
  return pose;
}

inline Eigen::Isometry3d link_pose(const Dynamics& dynamics, const InputVector& q, int link) {
  Pose pose;
  dynamics.link_pose(detail::input("link_pose", "q", q, dynamics.size()), link, pose);
  return to_eigen(pose);
}

}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__EIGEN_HPP_
