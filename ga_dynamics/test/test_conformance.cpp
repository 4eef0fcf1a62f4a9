// SPDX-License-Identifier: Apache-2.0

// One suite that every method runs: thousands of random chains, revolute and prismatic, against
// Orocos KDL, against each other and against the definitions.

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <functional>
#include <kdl/chaindynparam.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>
#include <map>
#include <tuple>

#include "ga_dynamics/dynamics.hpp"
#include "random_robot.hpp"
#include "variants.hpp"
#include "worse.hpp"

namespace ga_dynamics {
namespace {

using test::RandomRobot;
using test::relative_difference;
using test::RobotKind;
using Values = std::vector<double>;

constexpr int kMostJoints = 12;
constexpr unsigned kChainsPerSize =
    250;  // times 12 sizes: 3000 chains per method, instruction set and gravity

KDL::JntArray to_kdl(const Values& v) {
  KDL::JntArray a(static_cast<unsigned>(v.size()));
  for (unsigned i = 0; i < v.size(); ++i) a(i) = v[i];
  return a;
}
double largest(const Values& values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  return most;
}
Values from_kdl(const KDL::JntArray& a) { return {a.data.data(), a.data.data() + a.data.size()}; }

struct Gravity {
  const char* name;
  Vector3 vector;  ///< m/s², in the base link's frame

  KDL::Vector kdl() const { return {vector[0], vector[1], vector[2]}; }
};
const Gravity kGravities[] = {
    {"Vertical", {0, 0, -9.81}}, {"Oblique", {0.7, -1.3, -9.4}}, {"Zero", {0, 0, 0}}};

/// A chain with a state, and what KDL makes of it.
struct Case {
  Case(int joints, unsigned seed, const Gravity& of)
      : robot(joints, seed * 13u + static_cast<unsigned>(joints), kind(seed)),
        n(joints),
        gravity(of.kdl()),
        chain(Chain::from_urdf_text(robot.urdf(), {.gravity = of.vector})),
        kdl(robot.kdl()),
        q(robot.positions(n)),
        qd(robot.rates(n)),
        qdd(robot.rates(n)) {}

  static RobotKind kind(unsigned seed) {
    RobotKind k;
    if (seed % 3 == 0) k.prismatic = 0;
    if (seed % 5 == 0) k.nearly_parallel = 0.3;
    if (seed % 7 == 0) k.aligned = 1;
    return k;
  }

  Values kdl_torque() const {
    KDL::ChainIdSolver_RNE solver(kdl, gravity);
    KDL::JntArray torque(static_cast<unsigned>(n));
    solver.CartToJnt(to_kdl(q), to_kdl(qd), to_kdl(qdd), KDL::Wrenches(kdl.getNrOfSegments()),
                     torque);
    return from_kdl(torque);
  }

  RandomRobot robot;
  int n;
  KDL::Vector gravity;
  Chain chain;
  KDL::Chain kdl;
  Values q, qd, qdd;
};

/// Reading the description takes longer than most checks: all methods share what was read once.
const Case& cached_case(int joints, unsigned seed, const Gravity& gravity) {
  static std::map<std::tuple<int, unsigned, std::string>, Case> cases;
  const std::tuple key(joints, seed, std::string(gravity.name));
  const auto found = cases.find(key);
  if (found != cases.end()) return found->second;
  return cases.emplace(key, Case(joints, seed, gravity)).first->second;
}

class Conformance : public ::testing::TestWithParam<std::tuple<test::Variant, Gravity>> {
 protected:
  Dynamics make(const Chain& chain, Drives drives = Drives::kNone) const {
    return std::get<test::Variant>(GetParam()).make(chain, drives);
  }

  /// The tensor form, or for it the vector form.
  Dynamics other_method(const Chain& chain) const {
    const bool tensor = std::get<test::Variant>(GetParam()).method == Method::kTensor;
    return Dynamics(chain,
                    {.method = tensor ? Method::kVector : Method::kTensor, .isa = Isa::kGeneric});
  }

  /// Runs `check` on `per_size` chains of every size; what it returns is the error to bound.
  double worst(unsigned per_size, const std::function<double(Case&)>& check) {
    double worst_error = 0;
    for (int n = 1; n <= kMostJoints; ++n) {
      for (unsigned seed = 1; seed <= per_size; ++seed) {
        Case c = cached_case(n, seed, std::get<Gravity>(GetParam()));
        if (const double error = test::worse(worst_error, check(c)); error > worst_error) {
          worst_error = error;
          worst_case_ = "n = " + std::to_string(n) + ", seed " + std::to_string(seed);
        }
      }
    }
    RecordProperty("worst", std::to_string(worst_error));
    return worst_error;
  }

  std::string worst_case_;
};

TEST_P(Conformance, InverseDynamicsAgreesWithKdl) {
  EXPECT_LT(worst(kChainsPerSize,
                  [&](Case& c) {
                    Dynamics dynamics = make(c.chain);
                    Values tau(c.q.size());
                    dynamics.inverse_dynamics(c.q, c.qd, c.qdd, tau);
                    return relative_difference(tau, c.kdl_torque());
                  }),
            1e-9)
      << worst_case_;
}

TEST_P(Conformance, InverseDynamicsAgreesWithAnotherMethod) {
  EXPECT_LT(worst(kChainsPerSize,
                  [&](Case& c) {
                    Dynamics dynamics = make(c.chain), reference = other_method(c.chain);
                    Values tau(c.q.size()), expected(c.q.size());
                    dynamics.inverse_dynamics(c.q, c.qd, c.qdd, tau);
                    reference.inverse_dynamics(c.q, c.qd, c.qdd, expected);
                    return relative_difference(tau, expected);
                  }),
            1e-10)
      << worst_case_;
}

TEST_P(Conformance, InertiaBiasAndGravityAgreeWithKdl) {
  EXPECT_LT(worst(kChainsPerSize / 5,
                  [&](Case& c) {
                    Dynamics dynamics = make(c.chain);
                    const auto n = static_cast<unsigned>(c.n);
                    KDL::ChainDynParam kdl(c.kdl, c.gravity);
                    KDL::JntSpaceInertiaMatrix mass(n);
                    KDL::JntArray coriolis(n), gravity(n);
                    kdl.JntToMass(to_kdl(c.q), mass);
                    kdl.JntToCoriolis(to_kdl(c.q), to_kdl(c.qd), coriolis);
                    kdl.JntToGravity(to_kdl(c.q), gravity);
                    Values d(n * n), h(n), g(n), expected_d, expected_h;
                    dynamics.inertia_matrix(c.q, d);
                    dynamics.bias(c.q, c.qd, h);
                    dynamics.gravity(c.q, g);
                    for (unsigned i = 0; i < n; ++i) {
                      for (unsigned k = 0; k < n; ++k) expected_d.push_back(mass(i, k));
                      expected_h.push_back(coriolis(i) + gravity(i));
                    }
                    // The bias of a single joint vanishes without gravity: then it is measured
                    // against the inertia.
                    const double inertia = largest(expected_d);
                    if (largest(expected_h) < 1e-9 * inertia) {
                      h.push_back(inertia), expected_h.push_back(inertia);
                    }
                    // gravity can vanish (all prismatic, horizontal): measured against the weight
                    // of the arm
                    Values g_scaled = g, g_expected = from_kdl(gravity);
                    g_scaled.push_back(10), g_expected.push_back(10);
                    return std::max({relative_difference(d, expected_d),
                                     relative_difference(h, expected_h),
                                     relative_difference(g_scaled, g_expected)});
                  }),
            1e-9)
      << worst_case_;
}

TEST_P(Conformance, InertiaIsSymmetricAndPositiveDefinite) {
  EXPECT_LT(worst(kChainsPerSize / 5,
                  [&](Case& c) {
                    Dynamics dynamics = make(c.chain);
                    const auto n = static_cast<std::size_t>(c.n);
                    Values d(n * n);
                    dynamics.inertia_matrix(c.q, d);
                    Values transposed(n * n);
                    for (std::size_t i = 0; i < n; ++i) {
                      for (std::size_t k = 0; k < n; ++k) transposed[k * n + i] = d[i * n + k];
                    }
                    const Eigen::Map<const Eigen::MatrixXd> matrix(d.data(), c.n, c.n);
                    const Eigen::LLT<Eigen::MatrixXd> cholesky(matrix);
                    EXPECT_EQ(cholesky.info(), Eigen::Success)
                        << "not positive definite, n = " << c.n;
                    return relative_difference(d, transposed);
                  }),
            1e-12)
      << worst_case_;
}

TEST_P(Conformance, InertiaIsTheHessianOfTheGibbsFunction) {
  // The Gibbs function is quadratic in qdd: second differences are exact but for rounding.
  EXPECT_LT(worst(kChainsPerSize / 25,
                  [&](Case& c) {
                    Dynamics dynamics = make(c.chain);
                    const auto n = static_cast<std::size_t>(c.n);
                    Values d(n * n), hessian(n * n);
                    dynamics.inertia_matrix(c.q, d);
                    const Values rest(n, 0.0);
                    const auto gibbs = [&](std::size_t i, std::size_t k, double a, double b) {
                      Values qdd(n, 0.0);
                      qdd[i] += a, qdd[k] += b;
                      return dynamics.gibbs_function(c.q, rest, qdd);
                    };
                    const double step = 10;
                    for (std::size_t i = 0; i < n; ++i) {
                      for (std::size_t k = 0; k < n; ++k) {
                        hessian[i * n + k] =
                            (gibbs(i, k, step, step) - gibbs(i, k, step, -step) -
                             gibbs(i, k, -step, step) + gibbs(i, k, -step, -step)) /
                            (4 * step * step);
                      }
                    }
                    return relative_difference(d, hessian);
                  }),
            1e-9)
      << worst_case_;
}

TEST_P(Conformance, TorqueIsTheGradientOfTheGibbsFunction) {
  EXPECT_LT(worst(kChainsPerSize / 5,
                  [&](Case& c) {
                    Dynamics dynamics = make(c.chain);
                    Values tau(c.q.size()), gradient(c.q.size());
                    dynamics.inverse_dynamics(c.q, c.qd, c.qdd, tau);
                    for (std::size_t i = 0; i < tau.size(); ++i) {
                      Values more = c.qdd, less = c.qdd;
                      more[i] += 1, less[i] -= 1;
                      gradient[i] = 0.5 * (dynamics.gibbs_function(c.q, c.qd, more) -
                                           dynamics.gibbs_function(c.q, c.qd, less));
                    }
                    return relative_difference(tau, gradient);
                  }),
            1e-9)
      << worst_case_;
}

TEST_P(Conformance, SmallEntriesOfTheInertiaAreAsExactAsLargeOnes) {
  // |D_ij| is at most √(D_ii D_jj): the measure of an entry, whatever the others are. Torques of
  // gravity, 10⁶ times as large, must not be part of it.
  EXPECT_LT(worst(kChainsPerSize / 5,
                  [&](Case& c) {
                    Dynamics dynamics = make(c.chain), reference = other_method(c.chain);
                    const auto n = static_cast<std::size_t>(c.n);
                    Values d(n * n), expected(n * n);
                    dynamics.inertia_matrix(c.q, d);
                    reference.inertia_matrix(c.q, expected);
                    double worst_entry = 0;
                    for (std::size_t i = 0; i < n; ++i) {
                      for (std::size_t k = 0; k < n; ++k) {
                        const double scale = std::sqrt(expected[i * n + i] * expected[k * n + k]);
                        worst_entry = test::worse(
                            worst_entry, std::abs(d[i * n + k] - expected[i * n + k]) / scale);
                      }
                    }
                    return worst_entry;
                  }),
            1e-12)
      << worst_case_;
}

TEST_P(Conformance, InertiaDoesNotDependOnGravityToTheLastBit) {
  EXPECT_EQ(worst(kChainsPerSize / 25,
                  [&](Case& c) {
                    const auto n = static_cast<std::size_t>(c.n);
                    Values d(n * n), other(n * n), tau(n), before(n);
                    Dynamics dynamics = make(c.chain);
                    dynamics.inverse_dynamics(c.q, c.qd, c.qdd, before);
                    dynamics.inertia_matrix(c.q, d);
                    dynamics.inverse_dynamics(c.q, c.qd, c.qdd, tau);
                    EXPECT_EQ(tau, before) << "gravity is back";
                    make(c.chain.with_gravity({3, 1, -20})).inertia_matrix(c.q, other);
                    return relative_difference(d, other);
                  }),
            0)
      << worst_case_;
}

TEST_P(Conformance, ForwardUndoesInverse) {
  EXPECT_LT(worst(kChainsPerSize / 2,
                  [&](Case& c) {
                    Dynamics dynamics = make(c.chain);
                    const auto n = c.q.size();
                    Values tau(n), qdd(n), d(n * n), back(n);
                    dynamics.inverse_dynamics(c.q, c.qd, c.qdd, tau);
                    dynamics.forward_dynamics(c.q, c.qd, tau, qdd);
                    // The solution carries cond(D) roundings: bound the error relative to it, and
                    // the residual plainly.
                    dynamics.inertia_matrix(c.q, d);
                    const Eigen::Map<const Eigen::MatrixXd> matrix(d.data(), c.n, c.n);
                    const Eigen::VectorXd eigen =
                        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix).eigenvalues();
                    const double condition = eigen(c.n - 1) / eigen(0);
                    EXPECT_LT(relative_difference(qdd, c.qdd), 1e-13 * condition + 1e-12)
                        << "n = " << c.n << ", condition " << condition;
                    dynamics.inverse_dynamics(c.q, c.qd, qdd, back);
                    return relative_difference(back, tau);
                  }),
            1e-10)
      << worst_case_;
}

TEST_P(Conformance, ExternalWrenchesActThroughTheJacobian) {
  EXPECT_LT(worst(kChainsPerSize / 5,
                  [&](Case& c) {
                    Dynamics dynamics = make(c.chain);
                    const auto n = c.q.size();
                    const auto link = static_cast<int>(
                        c.robot.uniform(0, static_cast<double>(c.chain.links().size())));
                    const Vector3 force{3, -7, 5}, moment{0.4, 0.9, -1.1};
                    Values free(n), loaded(n), expected(n), jacobian(6 * n);
                    std::vector<Pose> poses(c.chain.links().size());
                    dynamics.inverse_dynamics(c.q, c.qd, c.qdd, free);
                    dynamics.set_external_wrench(link, force, moment);
                    dynamics.inverse_dynamics(c.q, c.qd, c.qdd, loaded);
                    Values qdd(n), tau = loaded;
                    dynamics.forward_dynamics(c.q, c.qd, tau, qdd);
                    dynamics.clear_external_wrenches();
                    dynamics.link_poses(c.q, poses);
                    dynamics.jacobian(c.q, link, jacobian);
                    const Matrix3& r = poses[static_cast<std::size_t>(link)].rotation;
                    for (std::size_t i = 0; i < n; ++i) {
                      double torque = 0;
                      for (std::size_t a = 0; a < 3; ++a) {
                        for (std::size_t b = 0; b < 3; ++b) {
                          torque += r[3 * a + b] * (jacobian[a * n + i] * force[b] +
                                                    jacobian[(a + 3) * n + i] * moment[b]);
                        }
                      }
                      expected[i] = free[i] - torque;
                    }
                    Values check(n);
                    dynamics.set_external_wrench(link, force, moment);
                    dynamics.inverse_dynamics(c.q, c.qd, qdd, check);
                    return std::max(relative_difference(loaded, expected),
                                    relative_difference(check, tau));
                  }),
            1e-9)
      << worst_case_;
}

/// The chain of a case with drives: armature, viscous and Coulomb friction.
Chain with_drives(const Case& c) {
  std::vector<DhJoint> rows;
  for (const ChainJoint& joint : c.chain.joints()) {
    rows.push_back({joint.type, joint.dh, joint.body, {0.2, 0.3, 0.4, 0.5}, {}, joint.name});
  }
  return Chain::from_dh(rows, c.chain.gravity_in_frame0());
}

TEST_P(Conformance, TorqueIsInertiaTimesAccelerationPlusBiasUnderAnyWrenchesAndDrives) {
  EXPECT_LT(worst(kChainsPerSize / 10,
                  [&](Case& c) {
                    double error = 0;
                    const Chain chain = with_drives(c);
                    for (const Drives drives : {Drives::kNone, Drives::kArmature, Drives::kAll}) {
                      Dynamics dynamics = make(chain, drives);
                      const auto n = c.q.size();
                      const Values zero(n);
                      Values tau(n), d(n * n), h(n), g(n), at_rest(n), sum(n), qdd(n), back(n);
                      Values free_d(n * n), free_g(n);
                      dynamics.inertia_matrix(c.q, free_d);
                      dynamics.gravity(c.q, free_g);
                      const double free_gibbs = dynamics.gibbs_function(c.q, c.qd, c.qdd);
                      const MechanicalEnergy free_energy = dynamics.energy(c.q, c.qd);
                      for (int k = 0; k < 3; ++k) {
                        const auto link = static_cast<int>(
                            c.robot.uniform(1, static_cast<double>(chain.links().size())));
                        const Values w = c.robot.values(6, 20.0);
                        dynamics.set_external_wrench(link, {w[0], w[1], w[2]}, {w[3], w[4], w[5]});
                      }
                      dynamics.inverse_dynamics(c.q, c.qd, c.qdd, tau);
                      dynamics.inertia_matrix(c.q, d);
                      dynamics.bias(c.q, c.qd, h);
                      dynamics.gravity(c.q, g);
                      dynamics.inverse_dynamics(c.q, c.qd, zero, at_rest);
                      for (std::size_t i = 0; i < n; ++i) {
                        sum[i] = h[i];
                        for (std::size_t k = 0; k < n; ++k) sum[i] += d[i * n + k] * c.qdd[k];
                      }
                      error = std::max(
                          {error, relative_difference(sum, tau), relative_difference(h, at_rest)});
                      // The torque of bias() leaves the joints without acceleration.
                      EXPECT_TRUE(dynamics.forward_dynamics(c.q, c.qd, h, qdd));
                      dynamics.inverse_dynamics(c.q, c.qd, qdd, back);
                      error = std::max(error, relative_difference(back, h));
                      // The arm alone, whatever acts on it.
                      EXPECT_EQ(d, free_d);
                      EXPECT_EQ(g, free_g);
                      EXPECT_EQ(dynamics.gibbs_function(c.q, c.qd, c.qdd), free_gibbs);
                      EXPECT_EQ(dynamics.energy(c.q, c.qd).kinetic, free_energy.kinetic);
                      EXPECT_EQ(dynamics.energy(c.q, c.qd).potential, free_energy.potential);
                    }
                    return error;
                  }),
            1e-10)
      << worst_case_;
}

TEST_P(Conformance, ExternalWrenchesOnAllLinksAgreeWithKdl) {
  EXPECT_LT(
      worst(kChainsPerSize / 10,
            [&](Case& c) {
              Dynamics dynamics = make(c.chain);
              KDL::Wrenches wrenches;
              for (unsigned s = 0; s < c.kdl.getNrOfSegments(); ++s) {
                const Values v = c.robot.values(6, 5.0);
                wrenches.emplace_back(KDL::Vector(v[0], v[1], v[2]), KDL::Vector(v[3], v[4], v[5]));
                dynamics.set_external_wrench(c.chain.link_index(c.kdl.getSegment(s).getName()),
                                             {v[0], v[1], v[2]}, {v[3], v[4], v[5]});
              }
              KDL::ChainIdSolver_RNE solver(c.kdl, c.gravity);
              KDL::JntArray expected(static_cast<unsigned>(c.n));
              solver.CartToJnt(to_kdl(c.q), to_kdl(c.qd), to_kdl(c.qdd), wrenches, expected);
              Values tau(c.q.size()), h(c.q.size());
              dynamics.inverse_dynamics(c.q, c.qd, c.qdd, tau);
              dynamics.bias(c.q, c.qd, h);
              KDL::JntArray expected_bias(static_cast<unsigned>(c.n));
              solver.CartToJnt(to_kdl(c.q), to_kdl(c.qd), to_kdl(Values(c.q.size())), wrenches,
                               expected_bias);
              return std::max(relative_difference(tau, from_kdl(expected)),
                              relative_difference(h, from_kdl(expected_bias)));
            }),
      1e-9)
      << worst_case_;
}

INSTANTIATE_TEST_SUITE_P(
    Methods, Conformance,
    ::testing::Combine(::testing::ValuesIn(test::variants()), ::testing::ValuesIn(kGravities)),
    [](const ::testing::TestParamInfo<std::tuple<test::Variant, Gravity>>& tested) {
      return test::variant_name(std::get<test::Variant>(tested.param)) +
             std::get<Gravity>(tested.param).name;
    });

}  // namespace
}  // namespace ga_dynamics
