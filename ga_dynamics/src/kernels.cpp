// SPDX-License-Identifier: Apache-2.0

// Compiled once per instruction set, with GA_DYNAMICS_ISA naming it (see ga_dynamics/algorithm/isa.hpp and
// CMakeLists.txt).

#include "ga_dynamics/algorithm/dalembert.hpp"
#include "ga_dynamics/algorithm/forward_dynamics.hpp"
#include "ga_dynamics/algorithm/gravity.hpp"
#include "ga_dynamics/algorithm/inverse_dynamics_mlc.hpp"
#include "ga_dynamics/algorithm/inverse_dynamics_vector.hpp"
#include "ga_dynamics/algorithm/kinematics.hpp"
#include "ga_dynamics/algorithm/regressor.hpp"
#include "kernel.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {
namespace {

static_assert(sizeof(Wrench<double>) == 6 * sizeof(double));

const Wrench<double>* as_wrenches(const double* values) {
  return reinterpret_cast<const Wrench<double>*>(values);
}

Pose to_pose(const FramePose<double>& pose) {
  return {to_array(pose.rotation), to_array(pose.origin)};
}

/// What all methods share.
class CommonKernel : public Kernel {
 public:
  explicit CommonKernel(const Chain& chain) : model_(make_model<double>(chain)), work_(model_) {}

  void frame_poses(const double* q, Pose* poses) const override {
    for_each_frame(model_, q, model_.n,
                   [&](int i, const FramePose<double>& pose) { poses[i] = to_pose(pose); });
  }
  Pose frame_pose(const double* q, int body) const override {
    return to_pose(ga_dynamics::frame_pose(model_, q, body));
  }
  void jacobian(const double* q, int body, const Vector3& point, double* jacobian) const override {
    ga_dynamics::jacobian(model_, q, body, to_vec(point), jacobian);
  }
  void velocity_product(const double* q, const double* qd, int body, const Vector3& point,
                        Vector3& linear, Vector3& angular) const override {
    const auto a = ga_dynamics::velocity_product(model_, q, qd, body, to_vec(point));
    linear = to_array(a.linear), angular = to_array(a.angular);
  }
  MechanicalEnergy energy(const double* q, const double* qd) override {
    const Energy<double> e = ga_dynamics::energy(model_, work_.positions, q, qd);
    return {e.kinetic, e.potential};
  }
  double gibbs_function(const double* q, const double* qd, const double* qdd) override {
    return ga_dynamics::gibbs_function(model_, work_.positions, q, qd, qdd);
  }
  void set_payload(const LinkInertia&, const LinkInertia& body) override {
    set_body(model_, model_.n - 1, body);
    set_composite_bodies(model_);
  }
  bool set_bodies(const LinkInertia* bodies) override {
    for (int i = 0; i < model_.n; ++i) set_body(model_, i, bodies[i]);
    set_composite_bodies(model_);
    return true;
  }
  void regressor(const double* q, const double* qd, const double* qdd, int body,
                 double* y) override {
    body_regressor(model_, work_.positions, q, qd, qdd, body, y);
  }

 protected:
  /// After a forward dynamics: D, its inputs and its results are sound. The back substitution ends
  /// with qdd[0]: it is not finite if any of tau or qdd is not. q and qd are looked at themselves,
  /// because not all of them reach qdd: nothing depends on the first angle of an upright arm.
  GA_DYNAMICS_INLINE bool solved(const double* factor, const double* diagonal, const double* q,
                                 const double* qd, const double* qdd) const {
    return is_finite(sum(q, qd) + qdd[0]) & positive_definite(model_.n, factor, diagonal);
  }

  Model<double> model_;
  Workspace<double> work_;

 private:
  /// Of all values of q and qd; some count twice.
  double sum(const double* q, const double* qd) const {
    constexpr int kWidth = kLanes<double>;
    const int n = model_.n;
    double total = 0;
    if (n < kWidth) {
      for (int i = 0; i < n; ++i) total += q[i] + qd[i];
      return total;
    }
    const auto at = [&](int i) __attribute__((always_inline)) {
      return load_lane(q + i) + load_lane(qd + i);
    };
    Lane<double> lanes = at(n - kWidth);
    for (int i = 0; i + kWidth < n; i += kWidth) lanes += at(i);
    for (int l = 0; l < kWidth; ++l) total += lanes[l];
    return total;
  }
};

class TensorKernel final : public CommonKernel {
 public:
  using CommonKernel::CommonKernel;

  void inverse_dynamics(const double* q, const double* qd, const double* qdd, double* tau,
                        const double* wrenches) override {
    ga_dynamics::inverse_dynamics(model_, work_, q, qd, qdd, tau, as_wrenches(wrenches));
  }
  bool forward_dynamics(const double* q, const double* qd, const double* tau, double* qdd,
                        const double* armature, const double* wrenches) override {
    ga_dynamics::forward_dynamics(model_, work_, q, qd, tau, qdd, armature, as_wrenches(wrenches));
    return solved(work_.matrix.data(), work_.row.data(), q, qd, qdd);
  }
  void inertia_matrix(const double* q, double* inertia) override {
    ga_dynamics::inertia_matrix(model_, work_, q, inertia);
  }
  void bias(const double* q, const double* qd, double* h, const double* wrenches) override {
    ga_dynamics::bias(model_, work_, q, qd, h, as_wrenches(wrenches));
  }
  void gravity(const double* q, double* g) override { ga_dynamics::gravity(model_, work_, q, g); }
};

/// Everything from an inverse dynamics: bias and gravity without acceleration, the inertia matrix
/// column by column without gravity.
class InverseOnlyKernel : public CommonKernel {
 public:
  explicit InverseOnlyKernel(const Chain& chain)
      : CommonKernel(chain),
        zero_(static_cast<std::size_t>(chain.size())),
        unit_(static_cast<std::size_t>(chain.size())),
        bias_(static_cast<std::size_t>(chain.size())),
        column_(static_cast<std::size_t>(chain.size())) {}

  void inertia_matrix(const double* q, double* inertia) override {
    const int n = model_.n;
    // Without gravity the torque of a unit acceleration at rest is the column itself. With it, the
    // column would be a small difference of large torques.
    const Vec3<double> up = model_.base_acceleration;
    model_.base_acceleration = {};
    for (int k = 0; k < n; ++k) {
      unit_[k] = 1;
      inverse_dynamics(q, zero_.data(), unit_.data(), column_.data(), nullptr);
      unit_[k] = 0;
      for (int j = 0; j < n; ++j) inertia[j * n + k] = column_[j];
    }
    model_.base_acceleration = up;
  }
  void bias(const double* q, const double* qd, double* h, const double* wrenches) override {
    inverse_dynamics(q, qd, zero_.data(), h, wrenches);
  }
  void gravity(const double* q, double* g) override {
    inverse_dynamics(q, zero_.data(), zero_.data(), g, nullptr);
  }
  bool forward_dynamics(const double* q, const double* qd, const double* tau, double* qdd,
                        const double* armature, const double* wrenches) override {
    inertia_matrix(q, work_.matrix.data());
    inverse_dynamics(q, qd, zero_.data(), bias_.data(), wrenches);
    solve_acceleration(model_.n, work_.matrix.data(), armature, tau, bias_.data(), work_.row.data(),
                       qdd);
    return solved(work_.matrix.data(), work_.row.data(), q, qd, qdd);
  }

 private:
  Buffer<double> zero_, unit_, bias_, column_;
};

class VectorKernel final : public InverseOnlyKernel {
 public:
  using InverseOnlyKernel::InverseOnlyKernel;
  void inverse_dynamics(const double* q, const double* qd, const double* qdd, double* tau,
                        const double* wrenches) override {
    inverse_dynamics_vector(model_, work_, q, qd, qdd, tau, as_wrenches(wrenches));
  }
};

class MinimalKernel final : public InverseOnlyKernel {
 public:
  MinimalKernel(const Chain& chain, const TipMinimalParameters& parameters)
      : InverseOnlyKernel(chain),
        parameters_(parameters),
        minimal_(make_minimal_model<double>(parameters_.joints())),
        minimal_work_(model_) {}
  void inverse_dynamics(const double* q, const double* qd, const double* qdd, double* tau,
                        const double* wrenches) override {
    inverse_dynamics_mlc(model_, minimal_, minimal_work_, q, qd, qdd, tau, as_wrenches(wrenches));
  }
  void set_payload(const LinkInertia& payload, const LinkInertia& body) override {
    InverseOnlyKernel::set_payload(payload, body);
    parameters_.set_payload(payload);
    set_minimal_model(parameters_.joints(), minimal_);
  }
  bool set_bodies(const LinkInertia*) override { return false; }

 private:
  TipMinimalParameters parameters_;
  MinimalModel<double> minimal_;
  MinimalWorkspace<double> minimal_work_;
};

class DalembertKernel final : public CommonKernel {
 public:
  explicit DalembertKernel(const Chain& chain) : CommonKernel(chain), dalembert_(model_) {}

  void inverse_dynamics(const double* q, const double* qd, const double* qdd, double* tau,
                        const double* wrenches) override {
    inverse_dynamics_dalembert(model_, dalembert_, q, qd, qdd, tau, as_wrenches(wrenches));
  }
  void inertia_matrix(const double* q, double* inertia) override {
    dalembert_inertia(model_, dalembert_, q, inertia);
  }
  void bias(const double* q, const double* qd, double* h, const double* wrenches) override {
    dalembert_bias(model_, dalembert_, q, qd, h, as_wrenches(wrenches));
  }
  void gravity(const double* q, double* g) override { dalembert_gravity(model_, dalembert_, q, g); }
  bool forward_dynamics(const double* q, const double* qd, const double* tau, double* qdd,
                        const double* armature, const double* wrenches) override {
    forward_dynamics_dalembert(model_, dalembert_, q, qd, tau, qdd, armature,
                               as_wrenches(wrenches));
    return solved(dalembert_.matrix.data(), dalembert_.diagonal.data(), q, qd, qdd);
  }

 private:
  DalembertWorkspace<double> dalembert_;
};

}  // namespace
}  // namespace GA_DYNAMICS_ISA

#define GA_DYNAMICS_JOIN(a, b, c) a##b##c
#define GA_DYNAMICS_FACTORY(isa) GA_DYNAMICS_JOIN(make_, isa, _kernel)

Kernel* GA_DYNAMICS_FACTORY(GA_DYNAMICS_ISA)(const Chain& chain,
                                             const TipMinimalParameters* minimal, Method method) {
  switch (method) {
    case Method::kTensor:
      return new TensorKernel(chain);
    case Method::kVector:
      return new VectorKernel(chain);
    case Method::kDalembert:
      return new DalembertKernel(chain);
    case Method::kMinimal:
      return new MinimalKernel(chain, *minimal);
  }
  return nullptr;
}

}  // namespace ga_dynamics
