// SPDX-License-Identifier: Apache-2.0
#include "ga_dynamics/minimal_parameters.hpp"

#include <cmath>

#include "ga_dynamics/algorithm/model.hpp"

namespace ga_dynamics {
namespace {

using V = Vec3<double>;
using M = Mat3<double>;
using Sym = Sym3<double>;

constexpr double kParallel = 1e-12;  // |sin| below which two directions count as parallel
constexpr double kLength = 1e-12;    // m

double norm(const V& v) { return std::sqrt(dot(v, v)); }

bool parallel(const V& a, const V& b) { return norm(cross(a, b)) <= kParallel * norm(a) * norm(b); }

Matrix3 to_matrix(const Sym& s) { return {s.xx, s.xy, s.xz, s.xy, s.yy, s.yz, s.xz, s.yz, s.zz}; }

/// {i-1}R_i at angle theta.
M rotation(const JointModel<double>& j, double theta) {
  const double s = std::sin(theta), c = std::cos(theta);
  M columns;
  with_twist(j.twist, [&](auto twist) {
    constexpr Twist kTwist = decltype(twist)::value;
    columns = {rotate_up<kTwist>(j.angle, s, c, V{1, 0, 0}),
               rotate_up<kTwist>(j.angle, s, c, V{0, 1, 0}),
               rotate_up<kTwist>(j.angle, s, c, V{0, 0, 1})};
  });
  return transposed(columns);
}

/// Axes and origins of all frames in frame 0 at a configuration without accidental symmetries.
struct Configuration {
  explicit Configuration(const Model<double>& model) {
    M r{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    V p{};
    for (int i = 0; i < model.n; ++i) {
      const JointModel<double>& j = model.joint[i];
      const double q = 0.31 + 0.47 * i;
      p = p + r * offset(j, j.revolute ? j.d : j.d + q);
      r = r * rotation(j, j.revolute ? j.theta + q : j.theta);
      axes.push_back(V{r.r0.z, r.r1.z, r.r2.z});
      origins.push_back(p);
    }
  }
  std::vector<V> axes, origins;
};

/// Constants of the composite bodies, (10), (12), (14).
void composite_constants(const Model<double>& model, std::vector<MlcJoint>& joints,
                         std::vector<V>& k, std::vector<Sym>& u) {
  const int n = model.n;
  for (int i = n - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    const JointModel<double>& own = model.joint[i];
    k[at] = own.first;
    u[at] = own.about_origin;
    joints[at].mass = own.composite_mass;
    if (i + 1 == n) continue;
    const JointModel<double>& next = model.joint[i + 1];
    V sigma, e;
    Sym carried;
    if (next.revolute) {
      sigma = offset(next, next.d);
      e = k[at + 1].z * next.axis;
      // R diag(U22, U22, U33) Rᵀ does not depend on the angle: U22·1 + (U33 − U22) ẑẑᵀ.
      const V& z = next.axis;
      const double u22 = u[at + 1].yy, rest = u[at + 1].zz - u22;
      carried = {u22 + rest * z.x * z.x, u22 + rest * z.y * z.y, u22 + rest * z.z * z.z,
                 rest * z.x * z.y,       rest * z.x * z.z,       rest * z.y * z.z};
    } else {
      sigma = {next.a, 0, 0};
      const M r = rotation(next, next.theta);
      e = r * k[at + 1];
      carried = similarity(r, u[at + 1]);
    }
    k[at] = k[at] + next.composite_mass * sigma + e;
    u[at] = u[at] + next.composite_mass * point_inertia(sigma) + mixed_inertia(sigma, e) + carried;
  }
}

/// G_i, Ū_i (40)–(43) and W_k (92), from the outermost joint inwards.
void reduced_tensors(const Model<double>& model, std::vector<MlcJoint>& joints,
                     const std::vector<V>& k, const std::vector<Sym>& u) {
  const int n = model.n;
  std::vector<Sym> g(static_cast<std::size_t>(n));
  for (int i = n - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    if (!model.joint[i].revolute) continue;
    M a{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int m = i + 1; m < n; ++m) {
      const JointModel<double>& joint = model.joint[m];
      const auto mt = static_cast<std::size_t>(m);
      a = a * rotation(joint, joint.revolute ? 0.0 : joint.theta);
      if (joint.revolute) {
        g[at] = similarity(a, Sym{g[mt].yy, g[mt].yy, -u[mt].zz, 0, 0, 0});
        break;
      }
      joints[mt].owner = i;
      joints[mt].w =
          to_matrix(similarity(a, Sym{2 * k[mt].z, 2 * k[mt].z, 0, 0, -k[mt].x, -k[mt].y}));
    }
    const Sym& ui = u[at];
    const Sym reduced{ui.xx - ui.yy, 0, ui.zz, ui.xy, ui.xz, ui.yz};
    joints[at].u_bar = to_matrix(reduced + g[at] - Sym{g[at].yy, g[at].yy, 0, 0, 0, 0});
    joints[at].g33 = g[at].zz;
  }
}

bool delta_of(const Model<double>& model, const Configuration& at, int r, int j) {
  const V& u = at.axes[static_cast<std::size_t>(r)];
  if (!parallel(model.base_acceleration, u)) return true;
  for (int k = 0; k < j; ++k) {
    if (!parallel(at.axes[static_cast<std::size_t>(k)], u)) return true;
  }
  for (int m = r; m < j; ++m) {
    if (!model.joint[m].revolute) continue;
    const V between =
        at.origins[static_cast<std::size_t>(j)] - at.origins[static_cast<std::size_t>(m)];
    if (norm(cross(between, u)) > kLength) return true;
  }
  return false;
}

}  // namespace

MinimalParameters::MinimalParameters(const Chain& chain) {
  const Model<double> model = make_model<double>(chain);
  const int n = model.n;
  const Configuration at(model);
  joints_.resize(static_cast<std::size_t>(n));
  std::vector<V> k(static_cast<std::size_t>(n));
  std::vector<Sym> u(static_cast<std::size_t>(n));
  composite_constants(model, joints_, k, u);
  reduced_tensors(model, joints_, k, u);

  r_ = 0;
  while (r_ < n && !model.joint[r_].revolute) ++r_;
  s_ = r_ + 1;
  while (s_ < n &&
         !(model.joint[s_].revolute && !parallel(at.axes[static_cast<std::size_t>(s_)],
                                                 at.axes[static_cast<std::size_t>(r_)]))) {
    ++s_;
  }
  if (s_ > n) s_ = n;

  const auto add = [this](const char* name, int joint, double value) {
    values_.push_back({std::string(name) + "_" + std::to_string(joint + 1), joint, value});
  };
  V axis_r{0, 0, 1};
  for (int i = 0; i < n; ++i) {
    const auto it = static_cast<std::size_t>(i);
    const JointModel<double>& joint = model.joint[i];
    MlcJoint& to = joints_[it];
    to.revolute = joint.revolute;
    to.region = i < r_ ? MlcRegion::kBeforeR : i < s_ ? MlcRegion::kPlanar : MlcRegion::kSpatial;
    to.k = to_array(k[it]);
    to.u = to_matrix(u[it]);
    if (to.region == MlcRegion::kPlanar) {
      if (i > r_) axis_r = transposed_times(rotation(joint, joint.theta), axis_r);
      if (joint.revolute) {
        to.epsilon = axis_r.z > 0 ? 1 : -1;
        axis_r = {0, 0, to.epsilon};
        to.delta = delta_of(model, at, r_, i);
      } else {
        to.sigma = !parallel(axis_r, V{0, 0, 1});
      }
      to.axis_r = to_array(axis_r);
    }
    if (joint.revolute && to.region == MlcRegion::kPlanar) {
      add("U33", i, u[it].zz);
      if (to.delta) add("kx", i, k[it].x), add("ky", i, k[it].y);
    } else if (joint.revolute) {
      add("U11-U22", i, u[it].xx - u[it].yy);
      add("U33", i, u[it].zz), add("U12", i, u[it].xy), add("U13", i, u[it].xz),
          add("U23", i, u[it].yz);
      add("kx", i, k[it].x), add("ky", i, k[it].y);
    } else {
      add("m", i, to.mass);
      if (to.region == MlcRegion::kSpatial) {
        add("kx", i, k[it].x), add("ky", i, k[it].y), add("kz", i, k[it].z);
      } else if (to.region == MlcRegion::kPlanar && to.sigma) {
        to.kappa1 = -axis_r.y * k[it].x + axis_r.x * k[it].y;
        to.kappa2 = -axis_r.z * (axis_r.x * k[it].x + axis_r.y * k[it].y) +
                    (1 - axis_r.z * axis_r.z) * k[it].z;
        add("kappa1", i, to.kappa1), add("kappa2", i, to.kappa2);
      }
    }
  }
}

}  // namespace ga_dynamics
