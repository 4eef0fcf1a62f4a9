// SPDX-License-Identifier: Apache-2.0

// Arms whose dynamics are known: formulas from a textbook, and numbers from elsewhere.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/minimal_parameters.hpp"

namespace ga_dynamics {
namespace {

using Values = std::vector<double>;
constexpr double kPi = std::numbers::pi;
constexpr double kG = 9.81;

const Method kMethods[] = {Method::kTensor, Method::kVector, Method::kDalembert, Method::kMinimal};

LinkInertia diagonal(double mass, const Vector3& com, const Vector3& moments) {
  return {mass, com, {moments[0], 0, 0, 0, moments[1], 0, 0, 0, moments[2]}};
}

TEST(ClosedForm, PendulumAboutAHorizontalAxis) {
  // m = 2 kg at l = 0.7 m, 0.05 kg m² about the center; the axis along y, the rod along x at q = 0.
  const Chain chain = Chain::from_urdf_text(R"(
    <robot name="pendulum"><link name="base"/>
      <joint name="hinge" type="continuous">
        <parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
      </joint>
      <link name="rod"><inertial><origin xyz="0.7 0 0"/><mass value="2"/>
        <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.05"/></inertial></link>
    </robot>)");
  const double inertia = 0.05 + 2 * 0.7 * 0.7;
  for (const Method method : kMethods) {
    Dynamics dynamics(chain, {.method = method});
    for (double angle = -3; angle < 3; angle += 0.37) {
      const Values q{angle}, qd{1.3}, qdd{-2.1};
      Values tau(1), d(1);
      dynamics.inverse_dynamics(q, qd, qdd, tau);
      dynamics.inertia_matrix(q, d);
      // Rotation about +y lowers the rod's end for positive angles.
      EXPECT_NEAR(tau[0], inertia * qdd[0] - 2 * kG * 0.7 * std::cos(angle), 1e-13);
      EXPECT_NEAR(d[0], inertia, 1e-14);
    }
  }
}

TEST(ClosedForm, TwoLinkArmInAVerticalPlane) {
  // J.J. Craig, Introduction to Robotics, §6.7, with link inertias: axes along y-normal plane,
  // gravity along −y.
  const double l1 = 0.5, m1 = 3, m2 = 2, c1 = 0.25, c2 = 0.2, i1 = 0.07, i2 = 0.03;
  std::vector<DhJoint> rows(2);
  rows[0].body = diagonal(m1, {c1, 0, 0}, {0.01, i1, i1});
  rows[1].dh.a = l1;
  rows[1].body = diagonal(m2, {c2, 0, 0}, {0.01, i2, i2});
  const Chain chain = Chain::from_dh(rows, {0, -kG, 0});
  const double t1 = 0.4, t2 = -1.1, v1 = 0.9, v2 = -1.7, a1 = 2.5, a2 = -0.6;
  const double cos2 = std::cos(t2), sin2 = std::sin(t2);
  const double d11 = i1 + m1 * c1 * c1 + i2 + m2 * (l1 * l1 + c2 * c2 + 2 * l1 * c2 * cos2);
  const double d12 = i2 + m2 * (c2 * c2 + l1 * c2 * cos2), d22 = i2 + m2 * c2 * c2;
  const double k = m2 * l1 * c2 * sin2;
  const double g1 = (m1 * c1 + m2 * l1) * kG * std::cos(t1) + m2 * c2 * kG * std::cos(t1 + t2);
  const double g2 = m2 * c2 * kG * std::cos(t1 + t2);
  const double expected1 = d11 * a1 + d12 * a2 - k * (2 * v1 * v2 + v2 * v2) + g1;
  const double expected2 = d12 * a1 + d22 * a2 + k * v1 * v1 + g2;
  for (const Method method : kMethods) {
    Dynamics dynamics(chain, {.method = method});
    const Values q{t1, t2}, qd{v1, v2}, qdd{a1, a2};
    Values tau(2), d(4), g(2);
    dynamics.inverse_dynamics(q, qd, qdd, tau);
    dynamics.inertia_matrix(q, d);
    dynamics.gravity(q, g);
    EXPECT_NEAR(tau[0], expected1, 1e-13);
    EXPECT_NEAR(tau[1], expected2, 1e-13);
    EXPECT_NEAR(d[0], d11, 1e-14);
    EXPECT_NEAR(d[1], d12, 1e-14);
    EXPECT_NEAR(d[2], d12, 1e-14);
    EXPECT_NEAR(d[3], d22, 1e-14);
    EXPECT_NEAR(g[0], g1, 1e-13);
    EXPECT_NEAR(g[1], g2, 1e-13);
  }
}

TEST(ClosedForm, PrismaticLiftCarriesItsWeight) {
  std::vector<DhJoint> rows(1);
  rows[0].type = JointType::kPrismatic;
  rows[0].body.mass = 4;
  Dynamics dynamics(Chain::from_dh(rows));
  Values tau(1);
  dynamics.inverse_dynamics(Values{0.3}, Values{0.5}, Values{2.0}, tau);
  EXPECT_DOUBLE_EQ(tau[0], 4 * (kG + 2.0));
}

/// The PUMA 560 in standard DH frames as the Robotics Toolbox carries it (P. Corke,
/// models/mdl_puma560.m), as a URDF: the link frame stands on the joint, the body in the frame
/// behind Rz(θ)Tz(d)Tx(a)Rx(α).
class ToolboxPuma : public ::testing::Test {
 protected:
  static std::string urdf() {
    struct Row {
      double alpha, a, d, m, r[3], i[3], jm, b, tc[2], gear;
    };
    const Row rows[6] = {
        {kPi / 2, 0, 0, 0, {0, 0, 0}, {0, 0.35, 0}, 200e-6, 1.48e-3, {0.395, 0.435}, 62.6111},
        {0,
         0.4318,
         0,
         17.4,
         {-0.3638, 0.006, 0.2275},
         {0.13, 0.524, 0.539},
         200e-6,
         0.817e-3,
         {0.126, 0.071},
         107.815},
        {-kPi / 2,
         0.0203,
         0.15005,
         4.8,
         {-0.0203, -0.0141, 0.070},
         {0.066, 0.086, 0.0125},
         200e-6,
         1.38e-3,
         {0.132, 0.105},
         53.7063},
        {kPi / 2,
         0,
         0.4318,
         0.82,
         {0, 0.019, 0},
         {1.8e-3, 1.3e-3, 1.8e-3},
         33e-6,
         71.2e-6,
         {11.2e-3, 16.9e-3},
         76.0364},
        {-kPi / 2,
         0,
         0,
         0.34,
         {0, 0, 0},
         {0.3e-3, 0.4e-3, 0.3e-3},
         33e-6,
         82.6e-6,
         {9.26e-3, 14.5e-3},
         71.923},
        {0,
         0,
         0,
         0.09,
         {0, 0, 0.032},
         {0.15e-3, 0.15e-3, 0.04e-3},
         33e-6,
         36.7e-6,
         {3.96e-3, 10.5e-3},
         76.686}};
    std::string text = "<robot name='puma'><link name='link0'/>";
    std::string control = "<ros2_control name='drives' type='system'>";
    std::string origin = "<origin/>";
    const auto number = [](double v) {
      char buffer[40];
      std::snprintf(buffer, sizeof buffer, "%.17g", v);
      return std::string(buffer);
    };
    for (int k = 0; k < 6; ++k) {
      const Row& r = rows[k];
      const std::string at = std::to_string(k + 1);
      text += "<joint name='joint" + at + "' type='continuous'>" + origin + "<parent link='link" +
              std::to_string(k) + "'/><child link='link" + at + "'/><axis xyz='0 0 1'/></joint>";
      // the center of mass: behind Tz(d)Tx(a)Rx(alpha)
      const double ca = std::cos(r.alpha), sa = std::sin(r.alpha);
      text += "<link name='link" + at + "'><inertial><origin xyz='" + number(r.a + r.r[0]) + " " +
              number(ca * r.r[1] - sa * r.r[2]) + " " + number(r.d + sa * r.r[1] + ca * r.r[2]) +
              "' rpy='" + number(r.alpha) + " 0 0'/><mass value='" + number(r.m) +
              "'/><inertia ixx='" + number(r.i[0]) + "' iyy='" + number(r.i[1]) + "' izz='" +
              number(r.i[2]) + "' ixy='0' ixz='0' iyz='0'/></inertial></link>";
      origin = "<origin xyz='" + number(r.a) + " 0 " + number(r.d) + "' rpy='" + number(r.alpha) +
               " 0 0'/>";
      control += "<joint name='joint" + at + "'><param name='armature'>" +
                 number(r.jm * r.gear * r.gear) + "</param><param name='viscous_friction'>" +
                 number(r.b * r.gear * r.gear) +
                 "</param><param name='coulomb_friction_positive'>" + number(r.tc[0] * r.gear) +
                 "</param><param name='coulomb_friction_negative'>" + number(r.tc[1] * r.gear) +
                 "</param></joint>";
    }
    return text + control + "</ros2_control></robot>";
  }

  Chain chain_ = Chain::from_urdf_text(urdf());
  const Values nominal_{0, kPi / 4, kPi, 0, kPi / 4, 0};
};

void expect_near(const Values& value, const Values& expected, double tolerance) {
  ASSERT_EQ(value.size(), expected.size());
  for (std::size_t i = 0; i < value.size(); ++i)
    EXPECT_NEAR(value[i], expected[i], tolerance) << "component " << i + 1;
}

// The expected values are those of the tests of the Robotics Toolbox for Python
// (tests/test_DHRobot.py), 4 or 6 digits.
TEST_F(ToolboxPuma, GravityLoad) {
  for (const Method method : kMethods) {
    Dynamics dynamics(chain_, {.method = method});
    Values g(6);
    dynamics.gravity(nominal_, g);
    expect_near(g, {0, 31.6399, 6.0351, 0, 0.0283, 0}, 6e-5);
  }
}

TEST_F(ToolboxPuma, InverseDynamicsWithDrives) {
  const Values zero(6, 0.0), one(6, 1.0);
  for (const Method method : kMethods) {
    Dynamics dynamics(chain_, {.method = method, .drives = Drives::kAll});
    Values tau(6);
    dynamics.inverse_dynamics(nominal_, zero, one, tau);
    expect_near(tau, {3.35311, 36.0025, 7.42596, 0.190043, 0.203441, 0.194133}, 6e-5);
    dynamics.inverse_dynamics(nominal_, one, one, tau);
    expect_near(tau, {32.4952, 60.867, 17.7436, 1.45452, 1.29911, 0.713781}, 6e-4);
    dynamics.inverse_dynamics(nominal_, one, zero, tau);
    expect_near(tau, {29.1421, 56.5044, 16.3528, 1.26448, 1.12392, 0.519648}, 6e-4);
  }
}

TEST_F(ToolboxPuma, InertiaMatrixWithDrives) {
  for (const Method method : kMethods) {
    Dynamics dynamics(chain_, {.method = method, .drives = Drives::kAll});
    Values d(36);
    dynamics.inertia_matrix(nominal_, d);
    expect_near({d[0], d[7], d[14], d[21], d[28], d[35]},
                {3.6594, 4.4137, 0.9378, 0.1925, 0.1713, 0.1941}, 6e-5);
    expect_near({d[1], d[2], d[8], d[3], d[10], d[16]},
                {-0.4044, 0.1006, 0.3509, -0.0025, 0.0024, 0.0015}, 6e-5);
  }
}

TEST_F(ToolboxPuma, ForwardDynamicsWithDrives) {
  for (const Method method : kMethods) {
    Dynamics dynamics(chain_, {.method = method, .drives = Drives::kAll});
    Values qdd(6);
    dynamics.forward_dynamics(nominal_, Values{0.1, 0.2, 0.8, 0.2, 0.5, 1},
                              Values{1, 3.2, 1.8, 0.1, 0.7, 4.6}, qdd);
    expect_near(qdd, {-7.4102, -9.8432, -10.9694, -4.4314, -0.9881, 21.0228}, 2e-4);
  }
}

// Values below: computed with a spatial Newton–Euler and a world-frame Kane formulation that agree
// to 1e-13.

/// The PUMA 600 of the paper on PC-based control (Tables 5–7) with d4 = +0.433 and, its tensors
/// being lost, those of Armstrong, Khatib and Burdick.
Chain paper_puma() {
  const double alpha[] = {0, -kPi / 2, 0, kPi / 2, -kPi / 2, kPi / 2},
               a[] = {0, 0, 0.432, -0.02, 0, 0};
  const double d[] = {0, 0, -0.15, 0.433, 0, 0};
  const LinkInertia bodies[] = {diagonal(10.521, {0, -0.054, 0}, {0.35, 0.35, 0.35}),
                                diagonal(15.781, {0.1398, 0, 0.1491}, {0.13, 0.524, 0.539}),
                                diagonal(8.767, {-0.00032, -0.197, 0}, {0.066, 0.0125, 0.066}),
                                diagonal(1.052, {0, 0, -0.057}, {1.8e-3, 1.8e-3, 1.3e-3}),
                                diagonal(1.052, {0, -0.007, 0}, {0.3e-3, 0.3e-3, 0.4e-3}),
                                diagonal(0.351, {0, 0, 0.0372}, {0.15e-3, 0.15e-3, 0.04e-3})};
  std::vector<DhJoint> rows(6);
  for (std::size_t i = 0; i < 6; ++i) {
    rows[i].dh = {alpha[i], a[i], d[i], 0, 0};
    rows[i].body = bodies[i];
  }
  return Chain::from_dh(rows);
}

TEST(ReferenceValues, PaperPuma) {
  const Values q{.1, -.2, .3, -.4, .5, -.6}, qd{.6, -.5, .4, -.3, .2, -.1},
      qdd{1, -2, 3, -4, 5, -6};
  for (const Method method : kMethods) {
    Dynamics dynamics(paper_puma(), {.method = method});
    Values tau(6), h(6), g(6), d(36);
    dynamics.inverse_dynamics(q, qd, qdd, tau);
    dynamics.bias(q, qd, h);
    dynamics.gravity(q, g);
    dynamics.inertia_matrix(q, d);
    expect_near(tau,
                {3.658001408372, -75.83567416570, -2.380944590248, -5.354876504371e-3,
                 -1.149699798200e-1, -3.540407472749e-4},
                2e-11);
    expect_near(h,
                {-0.5830347530889, -71.00967018827, -2.997008449977, -5.174808563437e-3,
                 -1.152207537394e-1, 6.757926458752e-7},
                2e-11);
    expect_near(g, {0, -70.09393575699, -2.272739238706, -3.733909340715e-3, -1.117304423753e-1, 0},
                2e-11);
    expect_near({d[0], d[1], d[2], d[7], d[8], d[14]},
                {4.017409820885, .4919864313644, .4125404276190, 4.444987193747, 1.170136436257,
                 .8370047020068},
                2e-12);
    expect_near({d[21], d[28], d[35], d[3], d[23]},
                {1.788775605558e-3, 1.087275840000e-3, 4e-5, 6.402220314036e-3, 3.510330247561e-5},
                2e-14);
  }
}

TEST(ReferenceValues, PaperPumaMinimalParameters) {
  const MinimalParameters minimal(paper_puma());
  EXPECT_EQ(minimal.values().size(), 36U);
  const auto value = [&](const std::string& name) {
    for (const MlcValue& v : minimal.values()) {
      if (v.name == name) return v.value;
    }
    ADD_FAILURE() << name << " is not in the set";
    return 0.0;
  };
  EXPECT_NEAR(value("U33_1"), 3.92584057, 1e-8);
  EXPECT_NEAR(value("U11-U22_2"), -2.796719023, 1e-9);
  EXPECT_NEAR(value("U33_2"), 3.763602319, 1e-9);
  EXPECT_NEAR(value("U13_2"), .3982435954, 1e-10);
  EXPECT_NEAR(value("kx_2"), 7.0540878, 1e-9);
  EXPECT_NEAR(value("ky_3"), -2.73015, 1e-9);
  EXPECT_NEAR(value("U33_3"), .8218832956, 1e-10);
}

/// Revolute, prismatic, revolute, prismatic, revolute, none of it symmetric.
Chain alternating_chain() {
  const double alpha[] = {.3, -kPi / 2, .7, kPi / 2, -.4}, a[] = {0, .2, .3, -.1, .25},
               d[] = {.1, 0, -.15, 0, .2};
  const double theta[] = {0, .4, 0, -.3, 0}, mass[] = {3, 2.5, 2, 1.5, 1};
  const Vector3 com[] = {
      {.1, .02, -.03}, {0, .05, .1}, {.12, -.04, .02}, {.03, .01, -.06}, {.05, -.02, .08}};
  const Matrix3 tensor{.05, .002, -.001, .002, .06, .003, -.001, .003, .04};
  std::vector<DhJoint> rows(5);
  for (std::size_t i = 0; i < 5; ++i) {
    rows[i].type = i % 2 == 1 ? JointType::kPrismatic : JointType::kRevolute;
    rows[i].dh = {alpha[i], a[i], d[i], theta[i], 0};
    rows[i].body = {mass[i], com[i], tensor};
    for (double& entry : rows[i].body.inertia) entry *= 1 - .12 * static_cast<double>(i);
  }
  return Chain::from_dh(rows);
}

TEST(ReferenceValues, AlternatingChain) {
  const Values q{.3, .25, -.7, .4, 1.1}, qd{.5, -.3, .8, .2, -.6}, qdd{1, .5, -1.5, 2, -1};
  for (const Method method : kMethods) {
    Dynamics dynamics(alternating_chain(), {.method = method});
    Values tau(5), h(5), d(25);
    dynamics.inverse_dynamics(q, qd, qdd, tau);
    dynamics.bias(q, qd, h);
    dynamics.inertia_matrix(q, d);
    expect_near(tau,
                {8.334623017807, 23.957316369277, -1.377509425458, 16.856926228874, 0.297418567455},
                2e-12);
    expect_near(h,
                {6.828047231059, 20.152119789747, 0.067380485748, 12.759998098954, 0.281008239285},
                2e-12);
    expect_near({d[0], d[1], d[2], d[6], d[12], d[18], d[24], d[8]},
                {1.513554108888, 2.316856430074, .1119368100200, 7, .7718858062141, 2.5, .0237,
                 -1.231812162486},
                2e-12);
  }
}

}  // namespace
}  // namespace ga_dynamics
