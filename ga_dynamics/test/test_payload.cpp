// SPDX-License-Identifier: Apache-2.0

// Payloads that change: the dynamics equal those of a description that contains the payload.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "counting_allocator.hpp"
#include "ga_dynamics/chain.hpp"
#include "random_robot.hpp"
#include "variants.hpp"

namespace ga_dynamics {
namespace {

using test::RandomRobot;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A box of this mass, turned and off the tip's origin.
Payload some_payload(double mass = 3.7) {
  return make_payload(mass, std::vector{0.08, -0.15, 0.21},
                      std::vector{0.051, 0.004, -0.007, 0.043, 0.011, 0.033});
}

/// The description with the payload as another link, fixed to `tip`.
std::string with_link(std::string urdf, const std::string& tip, const Payload& p) {
  std::ostringstream text;
  text << std::setprecision(17) << "<joint name=\"grip\" type=\"fixed\"><parent link=\"" << tip
       << "\"/><child link=\"load\"/></joint><link name=\"load\"><inertial><origin xyz=\""
       << p.com[0] << " " << p.com[1] << " " << p.com[2] << "\"/><mass value=\"" << p.mass
       << "\"/><inertia ixx=\"" << p.inertia[0] << "\" ixy=\"" << p.inertia[1] << "\" ixz=\""
       << p.inertia[2] << "\" iyy=\"" << p.inertia[4] << "\" iyz=\"" << p.inertia[5] << "\" izz=\""
       << p.inertia[8] << "\"/></inertial></link></robot>";
  return urdf.replace(urdf.rfind("</robot>"), std::string::npos, text.str());
}

class PayloadOfEveryMethod : public ::testing::TestWithParam<test::Variant> {};

/// Everything that depends on the inertia, compared relative to its size.
void expect_equal_dynamics(Dynamics& one, Dynamics& other, RandomRobot& robot, double tolerance) {
  const int n = one.size();
  const auto size = static_cast<std::size_t>(n);
  const std::vector<double> q = robot.positions(n), qd = robot.rates(n), qdd = robot.rates(n);
  std::vector<double> a(size), b(size), da(size * size), db(size * size);
  const auto near = [tolerance](const std::vector<double>& x, const std::vector<double>& y,
                                const char* what) {
    double largest = 1;
    for (const double v : y) largest = std::max(largest, std::abs(v));
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(x[i], y[i], tolerance * largest) << what << " " << i;
    }
  };
  one.inverse_dynamics(q, qd, qdd, a), other.inverse_dynamics(q, qd, qdd, b);
  near(a, b, "inverse dynamics");
  one.bias(q, qd, a), other.bias(q, qd, b);
  near(a, b, "bias");
  one.gravity(q, a), other.gravity(q, b);
  near(a, b, "gravity");
  one.inertia_matrix(q, da), other.inertia_matrix(q, db);
  near(da, db, "inertia matrix");
  const MechanicalEnergy ea = one.energy(q, qd), eb = other.energy(q, qd);
  near({ea.kinetic, ea.potential}, {eb.kinetic, eb.potential}, "energy");
  near({one.gibbs_function(q, qd, qdd)}, {other.gibbs_function(q, qd, qdd)}, "Gibbs function");
}

TEST_P(PayloadOfEveryMethod, EqualsADescriptionWithThePayload) {
  for (int n = 1; n <= 9; ++n) {
    for (unsigned seed = 0; seed < 12; ++seed) {
      SCOPED_TRACE(std::to_string(n) + " joints, seed " + std::to_string(seed));
      RandomRobot robot(n, 100 * static_cast<unsigned>(n) + seed, {.prismatic = 0.3, .fixed = 0.5});
      const Chain empty = Chain::from_urdf_text(robot.urdf());
      const std::string tip = empty.tip().name;
      const Payload payload = some_payload();
      const Chain loaded =
          Chain::from_urdf_text(with_link(robot.urdf(), tip, payload), {.tip = tip});
      Dynamics described = GetParam().make(loaded), set = GetParam().make(empty);
      set.set_payload(payload);
      expect_equal_dynamics(set, described, robot, 1e-10);
      // And back again: nothing of the payload remains.
      Dynamics never = GetParam().make(empty);
      set.set_payload({});
      expect_equal_dynamics(set, never, robot, 1e-12);
    }
  }
}

TEST_P(PayloadOfEveryMethod, TorqueIsLinearInTheShareOfABlend) {
  RandomRobot robot(6, 5);
  const Chain chain = Chain::from_urdf_text(robot.urdf());
  Dynamics dynamics = GetParam().make(chain);
  const Payload from = some_payload(1), to = make_payload(4, std::vector{-0.3, 0.1, 0.0}, {});
  const std::vector<double> q = robot.positions(6), qd = robot.rates(6), qdd = robot.rates(6);
  std::vector<double> first(6), last(6), tau(6);
  dynamics.set_payload(from), dynamics.inverse_dynamics(q, qd, qdd, first);
  dynamics.set_payload(to), dynamics.inverse_dynamics(q, qd, qdd, last);
  for (const double share : {0.0, 0.1, 0.5, 0.93, 1.0}) {
    const Payload between = blended(from, to, share);
    EXPECT_TRUE(is_physical(between)) << payload_flaw(between);
    dynamics.set_payload(between), dynamics.inverse_dynamics(q, qd, qdd, tau);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(tau[i], first[i] + share * (last[i] - first[i]), 1e-10 * (1 + std::abs(last[i])));
    }
  }
}

TEST_P(PayloadOfEveryMethod, ChangesWithoutAllocation) {
  Dynamics dynamics = GetParam().make(Chain::from_urdf_text(RandomRobot(7, 3).urdf()));
  const Payload to = some_payload();
  const long before = ::test::allocations();
  bool physical = true;
  for (int k = 0; k <= 1000; ++k) {
    const Payload payload = blended({}, to, 1e-3 * k);
    physical = physical && is_physical(payload);
    dynamics.set_payload(payload);
  }
  EXPECT_EQ(::test::allocations() - before, 0);
  EXPECT_TRUE(physical);
}

INSTANTIATE_TEST_SUITE_P(Methods, PayloadOfEveryMethod, ::testing::ValuesIn(test::variants()),
                         test::variant_test_name);

TEST(Payload, BlendOfNothingAndNothingIsNothing) {
  EXPECT_EQ(blended({}, {}, 0.5).mass, 0);
  EXPECT_TRUE(is_physical(blended({}, some_payload(), 0.25)));
  EXPECT_NEAR(blended({}, some_payload(), 0.25).mass, 3.7 / 4, 1e-15);
}

TEST(Payload, ImpossibleBodiesAreRefusedWithValueAndRemedy) {
  const auto refusal = [](double mass, std::vector<double> com, std::vector<double> inertia) {
    try {
      make_payload(mass, com, inertia);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto contains = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_EQ(refusal(-1, {}, {}), "payload.mass is -1 kg; give 0 … 10000 kg");
  EXPECT_PRED2(contains, refusal(kNan, {}, {}), "payload.mass is nan kg");
  EXPECT_PRED2(contains, refusal(1, {0, kNan, 0}, {}), "payload.com: y is nan m; give meters");
  EXPECT_PRED2(contains, refusal(1, {0, 0, 250}, {}), "payload.com: z is 250 m");
  EXPECT_PRED2(contains, refusal(1, {0, 0}, {}), "payload.com has 2 values; give x, y, z");
  EXPECT_PRED2(contains, refusal(1, {}, {1, 0, 0}), "payload.inertia has 3 values; give ixx, ixy");
  EXPECT_PRED2(contains, refusal(1, {}, {1, 0, 0, 1, 0, HUGE_VAL}),
               "payload.inertia has the value");
  EXPECT_PRED2(contains, refusal(1, {}, {-0.1, 0, 0, 1, 0, 1}),
               "payload.inertia is not positive definite (smallest eigenvalue -0.1)");
  EXPECT_PRED2(contains, refusal(1, {}, {1, 0, 0, 1, 0, 2.5}),
               "payload.inertia breaks the triangle inequality");
  EXPECT_EQ(refusal(1, {}, {1, 0, 0, 1, 0, 2}), "") << "a thin plate";
  EXPECT_EQ(refusal(0, {0.1, 0, 0}, {1, 0, 0, 1, 0, 1}), "") << "no payload";
  EXPECT_PRED2(contains, refusal(0, {}, {-1, 0, 0, 1, 0, 1}), "positive definite");
  EXPECT_FALSE(is_physical({0, {}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}));
  EXPECT_FALSE(is_physical({1, {}, {1, 0.1, 0, 0, 1, 0, 0, 0, 1}})) << "not symmetric";
}

TEST(Payload, IsReadFromText) {
  const Payload p = parse_payload("5,0.1,-0.2,3e-1,0.5,0.01,0.02,0.6,0.03,0.7");
  EXPECT_EQ(p.mass, 5);
  EXPECT_EQ(p.com, (Vector3{0.1, -0.2, 0.3}));
  EXPECT_EQ(p.inertia, (Matrix3{0.5, 0.01, 0.02, 0.01, 0.6, 0.03, 0.02, 0.03, 0.7}));
  EXPECT_EQ(parse_payload("2.5").mass, 2.5);
  EXPECT_EQ(parse_payload("2,0,0,1").com[2], 1);
  for (const char* wrong : {"", "1,2", "1,2,3,4,5", "heavy", "1,0,0,x", "1,0,0,0,", "-3"}) {
    EXPECT_THROW(parse_payload(wrong), std::invalid_argument) << wrong;
  }
}

}  // namespace
}  // namespace ga_dynamics
