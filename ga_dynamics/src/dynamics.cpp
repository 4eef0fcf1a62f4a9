// SPDX-License-Identifier: Apache-2.0
#include "ga_dynamics/dynamics.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "ga_dynamics/algorithm/check_arguments.hpp"
#include "ga_dynamics/algorithm/finite.hpp"
#include "ga_dynamics/algorithm/linear.hpp"
#include "kernel.hpp"

namespace ga_dynamics {
namespace {

bool processor_has_avx2() {
#ifdef GA_DYNAMICS_HAVE_AVX2
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#else
  return false;
#endif
}

Isa choose(Isa wanted) {
  if (wanted == Isa::kAvx2 && !processor_has_avx2()) {
    throw std::invalid_argument(
        "Dynamics: this processor, or this build, has no AVX2 and FMA; use Isa::kAutomatic");
  }
  if (wanted != Isa::kAutomatic) return wanted;
  return processor_has_avx2() ? Isa::kAvx2 : Isa::kGeneric;
}

std::unique_ptr<Kernel> make_kernel(const Chain& chain, Method method, Isa isa) {
  std::unique_ptr<TipMinimalParameters> minimal;
  if (method == Method::kMinimal) minimal = std::make_unique<TipMinimalParameters>(chain);
#ifdef GA_DYNAMICS_HAVE_AVX2
  if (isa == Isa::kAvx2)
    return std::unique_ptr<Kernel>(make_avx2_kernel(chain, minimal.get(), method));
#endif
  static_cast<void>(isa);
  return std::unique_ptr<Kernel>(make_generic_kernel(chain, minimal.get(), method));
}

using V = Vec3<double>;
using M = Mat3<double>;

Pose operator*(const Pose& outer, const Pose& inner) {
  const M r = to_mat(outer.rotation);
  return {to_array(r * to_mat(inner.rotation)),
          to_array(to_vec(outer.translation) + r * to_vec(inner.translation))};
}
void store(const V& v, double* to) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }

}  // namespace

Kernel::~Kernel() = default;

struct Dynamics::Impl {
  Impl(const Chain& robot, const DynamicsOptions& options)
      : chain(robot),
        isa(choose(options.isa)),
        kernel(make_kernel(robot, options.method, isa)),
        n(robot.size()),
        armature_on(options.drives != Drives::kNone),
        friction_on(options.drives == Drives::kAll),
        armature(static_cast<std::size_t>(n)),
        scratch(static_cast<std::size_t>(n)),
        frames(static_cast<std::size_t>(n)),
        wrenches(6 * static_cast<std::size_t>(n), 0.0),
        link_wrenches(6 * robot.links().size(), 0.0) {
    for (std::size_t i = 0; i < armature.size(); ++i) {
      armature[i] = chain.joints()[i].drive.armature;
      bodies.push_back(chain.joints()[i].body);
      bodies_mass += bodies[i].mass;
    }
    set_mass(bodies_mass);
  }

  void set_mass(double mass) noexcept {
    base_potential = -mass * dot(to_vec(chain.gravity()), to_vec(chain.frame0().translation));
  }

  const double* active_wrenches() const { return any_wrench ? wrenches.data() : nullptr; }

  double friction(std::size_t i, double rate) const {
    return chain.joints()[i].drive.friction(rate, 0);
  }

  Chain chain;
  Isa isa;
  std::unique_ptr<Kernel> kernel;
  int n;
  bool armature_on, friction_on;
  std::vector<double> armature, scratch;
  std::vector<Pose> frames;
  std::vector<double> wrenches;       ///< on the bodies
  std::vector<double> link_wrenches;  ///< on the links, in their bodies' frames
  std::vector<LinkInertia> bodies;    ///< without payload
  LinkInertia payload;                ///< in the tip link's frame
  double bodies_mass = 0;             ///< kg, without payload
  double base_potential = 0;          ///< of all mass at the origin of frame 0, J
  bool any_wrench = false, finite_wrenches = true;
};

Dynamics::Dynamics(const Chain& chain, const DynamicsOptions& options)
    : impl_(std::make_unique<Impl>(chain, options)) {}
Dynamics::~Dynamics() = default;
Dynamics::Dynamics(Dynamics&&) noexcept = default;
Dynamics& Dynamics::operator=(Dynamics&&) noexcept = default;

int Dynamics::size() const noexcept { return impl_->n; }
Isa Dynamics::isa() const noexcept { return impl_->isa; }
const Chain& Dynamics::chain() const noexcept { return impl_->chain; }

void Dynamics::set_payload(const LinkInertia& payload) noexcept {
  const ChainLink& tip = impl_->chain.tip();
  if (tip.body == 0) return;  // the base does not move
  const LinkInertia& last = impl_->bodies[static_cast<std::size_t>(tip.body) - 1];
  impl_->kernel->set_payload(payload, lump(last, transformed(tip.pose, payload)));
  impl_->payload = payload;
  impl_->set_mass(impl_->bodies_mass + payload.mass);
}

void Dynamics::set_bodies(std::span<const LinkInertia> bodies, std::span<const double> armature) {
  constexpr const char* kName = "Dynamics::set_bodies";
  const std::size_t n = impl_->armature.size();
  require_size(kName, "bodies", bodies.size(), n);
  require_size(kName, "armature", armature.size(), n);
  if (!impl_->kernel->set_bodies(bodies.data())) {
    throw std::invalid_argument(
        "Dynamics::set_bodies: Method::kMinimal computes its parameters once; use another method");
  }
  impl_->bodies_mass = 0;
  for (std::size_t i = 0; i < n; ++i) {
    impl_->bodies[i] = bodies[i];
    impl_->armature[i] = armature[i];
    impl_->bodies_mass += bodies[i].mass;
  }
  impl_->set_mass(impl_->bodies_mass);
  if (impl_->payload.mass > 0) set_payload(impl_->payload);
}

void Dynamics::inverse_dynamics(std::span<const double> q, std::span<const double> qd,
                                std::span<const double> qdd, std::span<double> tau) {
  constexpr const char* kName = "Dynamics::inverse_dynamics";
  const std::size_t n = impl_->armature.size();
  require_size(kName, "q", q.size(), n), require_size(kName, "qd", qd.size(), n);
  require_size(kName, "qdd", qdd.size(), n), require_size(kName, "tau", tau.size(), n);
  impl_->kernel->inverse_dynamics(q.data(), qd.data(), qdd.data(), tau.data(),
                                  impl_->active_wrenches());
  if (!impl_->armature_on) return;
  for (std::size_t i = 0; i < impl_->armature.size(); ++i) {
    tau[i] += impl_->armature[i] * qdd[i];
    if (impl_->friction_on) tau[i] += impl_->friction(i, qd[i]);
  }
}

bool Dynamics::forward_dynamics(std::span<const double> q, std::span<const double> qd,
                                std::span<const double> tau, std::span<double> qdd) {
  constexpr const char* kName = "Dynamics::forward_dynamics";
  const std::size_t n = impl_->armature.size();
  require_size(kName, "q", q.size(), n), require_size(kName, "qd", qd.size(), n);
  require_size(kName, "tau", tau.size(), n), require_size(kName, "qdd", qdd.size(), n);
  const double* effective = tau.data();
  if (impl_->friction_on) {
    for (std::size_t i = 0; i < impl_->scratch.size(); ++i)
      impl_->scratch[i] = tau[i] - impl_->friction(i, qd[i]);
    effective = impl_->scratch.data();
  }
  const bool solved = impl_->kernel->forward_dynamics(
      q.data(), qd.data(), effective, qdd.data(),
      impl_->armature_on ? impl_->armature.data() : nullptr, impl_->active_wrenches());
  if (solved && impl_->finite_wrenches) [[likely]]
    return true;
  std::fill_n(qdd.begin(), n, std::numeric_limits<double>::quiet_NaN());
  return false;
}

void Dynamics::inertia_matrix(std::span<const double> q, std::span<double> inertia) {
  const std::size_t n = impl_->armature.size();
  require_size("Dynamics::inertia_matrix", "q", q.size(), n);
  require_size("Dynamics::inertia_matrix", "inertia", inertia.size(), n * n);
  impl_->kernel->inertia_matrix(q.data(), inertia.data());
  if (!impl_->armature_on) return;
  for (std::size_t i = 0; i < n; ++i) inertia[i * n + i] += impl_->armature[i];
}

void Dynamics::bias(std::span<const double> q, std::span<const double> qd, std::span<double> h) {
  const std::size_t n = impl_->armature.size();
  require_size("Dynamics::bias", "q", q.size(), n),
      require_size("Dynamics::bias", "qd", qd.size(), n);
  require_size("Dynamics::bias", "h", h.size(), n);
  impl_->kernel->bias(q.data(), qd.data(), h.data(), impl_->active_wrenches());
  if (!impl_->friction_on) return;
  for (std::size_t i = 0; i < impl_->armature.size(); ++i) h[i] += impl_->friction(i, qd[i]);
}

void Dynamics::regressor(std::span<const double> q, std::span<const double> qd,
                         std::span<const double> qdd, int body, std::span<double> y) {
  constexpr const char* kName = "Dynamics::regressor";
  const std::size_t n = impl_->armature.size();
  require_size(kName, "q", q.size(), n), require_size(kName, "qd", qd.size(), n);
  require_size(kName, "qdd", qdd.size(), n);
  require_size(kName, "y", y.size(), kBodyParameters * n);
  if (body < 0 || body >= impl_->n) {
    throw std::invalid_argument("Dynamics::regressor: body is " + std::to_string(body) +
                                "; give 0 to " + std::to_string(impl_->n - 1));
  }
  impl_->kernel->regressor(q.data(), qd.data(), qdd.data(), body, y.data());
}

void Dynamics::gravity(std::span<const double> q, std::span<double> g) {
  require_size("Dynamics::gravity", "q", q.size(), impl_->armature.size());
  require_size("Dynamics::gravity", "g", g.size(), impl_->armature.size());
  impl_->kernel->gravity(q.data(), g.data());
}

void Dynamics::set_external_wrench(int link, const Vector3& force, const Vector3& moment) {
  const std::vector<ChainLink>& links = impl_->chain.links();
  require_link("Dynamics::set_external_wrench", link, links.size());
  const ChainLink& at = links[static_cast<std::size_t>(link)];
  if (at.body == 0) return;  // the base does not move
  const M r = to_mat(at.pose.rotation);
  const V f = r * to_vec(force);
  double* const own = impl_->link_wrenches.data() + 6 * link;
  store(f, own);
  store(r * to_vec(moment) + cross(to_vec(at.pose.translation), f), own + 3);
  double* const sum = impl_->wrenches.data() + 6 * (at.body - 1);
  for (int k = 0; k < 6; ++k) sum[k] = 0;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i].body != at.body) continue;
    for (std::size_t k = 0; k < 6; ++k) sum[k] += impl_->link_wrenches[6 * i + k];
  }
  impl_->any_wrench = true;
  impl_->finite_wrenches =
      all_finite(impl_->wrenches.data(), static_cast<int>(impl_->wrenches.size()));
}

void Dynamics::clear_external_wrenches() noexcept {
  for (double& value : impl_->wrenches) value = 0;
  for (double& value : impl_->link_wrenches) value = 0;
  impl_->any_wrench = false;
  impl_->finite_wrenches = true;
}

void Dynamics::link_poses(std::span<const double> q, std::span<Pose> poses) {
  const std::vector<ChainLink>& links = impl_->chain.links();
  require_size("Dynamics::link_poses", "q", q.size(), impl_->armature.size());
  require_size("Dynamics::link_poses", "poses", poses.size(), links.size());
  impl_->kernel->frame_poses(q.data(), impl_->frames.data());
  for (Pose& frame : impl_->frames) frame = impl_->chain.frame0() * frame;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const ChainLink& link = links[i];
    poses[i] = link.body == 0 ? link.pose
                              : impl_->frames[static_cast<std::size_t>(link.body) - 1] * link.pose;
  }
}

void Dynamics::link_pose(std::span<const double> q, int link, Pose& pose) const {
  require_size("Dynamics::link_pose", "q", q.size(), impl_->armature.size());
  require_link("Dynamics::link_pose", link, impl_->chain.links().size());
  const ChainLink& at = impl_->chain.links()[static_cast<std::size_t>(link)];
  pose = at.pose;
  if (at.body > 0)
    pose = impl_->chain.frame0() * (impl_->kernel->frame_pose(q.data(), at.body) * at.pose);
}

void Dynamics::jacobian(std::span<const double> q, int link, std::span<double> jacobian) const {
  const int n = impl_->n;
  require_size("Dynamics::jacobian", "q", q.size(), impl_->armature.size());
  require_size("Dynamics::jacobian", "jacobian", jacobian.size(), 6 * impl_->armature.size());
  require_link("Dynamics::jacobian", link, impl_->chain.links().size());
  const ChainLink& at = impl_->chain.links()[static_cast<std::size_t>(link)];
  impl_->kernel->jacobian(q.data(), at.body, at.pose.translation, jacobian.data());
  const M r0 = to_mat(impl_->chain.frame0().rotation);
  double* const j = jacobian.data();
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < n; ++i) {
      double* const column = j + 3 * half * n + i;
      const V turned = r0 * V{column[0], column[n], column[2 * n]};
      column[0] = turned.x, column[n] = turned.y, column[2 * n] = turned.z;
    }
  }
}

void Dynamics::velocity_product(std::span<const double> q, std::span<const double> qd, int link,
                                std::span<double> acceleration) const {
  constexpr const char* kName = "Dynamics::velocity_product";
  const std::size_t n = impl_->armature.size();
  require_size(kName, "q", q.size(), n), require_size(kName, "qd", qd.size(), n);
  require_size(kName, "acceleration", acceleration.size(), 6);
  require_link(kName, link, impl_->chain.links().size());
  const ChainLink& at = impl_->chain.links()[static_cast<std::size_t>(link)];
  Vector3 linear, angular;
  impl_->kernel->velocity_product(q.data(), qd.data(), at.body, at.pose.translation, linear,
                                  angular);
  const M r0 = to_mat(impl_->chain.frame0().rotation);
  store(r0 * to_vec(linear), acceleration.data());
  store(r0 * to_vec(angular), acceleration.data() + 3);
}

MechanicalEnergy Dynamics::energy(std::span<const double> q, std::span<const double> qd) {
  require_size("Dynamics::energy", "q", q.size(), impl_->armature.size());
  require_size("Dynamics::energy", "qd", qd.size(), impl_->armature.size());
  MechanicalEnergy energy = impl_->kernel->energy(q.data(), qd.data());
  energy.potential += impl_->base_potential;
  if (impl_->armature_on) {
    for (std::size_t i = 0; i < impl_->armature.size(); ++i) {
      energy.kinetic += 0.5 * impl_->armature[i] * qd[i] * qd[i];
    }
  }
  return energy;
}

double Dynamics::gibbs_function(std::span<const double> q, std::span<const double> qd,
                                std::span<const double> qdd) {
  require_size("Dynamics::gibbs_function", "q", q.size(), impl_->armature.size());
  require_size("Dynamics::gibbs_function", "qd", qd.size(), impl_->armature.size());
  require_size("Dynamics::gibbs_function", "qdd", qdd.size(), impl_->armature.size());
  return impl_->kernel->gibbs_function(q.data(), qd.data(), qdd.data());
}

}  // namespace ga_dynamics
