// SPDX-License-Identifier: Apache-2.0

// What becomes a chain, in which frames, and what is refused with which words.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ga_dynamics/dynamics.hpp"

namespace ga_dynamics {
namespace {

constexpr double kPi = std::numbers::pi;

std::string inertial(double mass = 1) {
  return "<inertial><origin xyz='0.1 0 0'/><mass value='" + std::to_string(mass) +
         "'/><inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial>";
}
std::string link(const std::string& name, const std::string& inside = inertial()) {
  return "<link name='" + name + "'>" + inside + "</link>\n";
}
std::string joint(const std::string& name, const std::string& parent, const std::string& child,
                  const std::string& type = "continuous",
                  const std::string& inside = "<axis xyz='0 0 1'/>") {
  return "<joint name='" + name + "' type='" + type + "'><origin xyz='0.5 0 0'/><parent link='" +
         parent + "'/><child link='" + child + "'/>" + inside + "</joint>\n";
}
std::string robot(const std::string& inside) { return "<robot name='r'>\n" + inside + "</robot>"; }

/// base – a – b – tool (fixed)
std::string two_joints() {
  return robot(link("base", "") + link("a") + link("b") + link("tool", "") +
               joint("j1", "base", "a") + joint("j2", "a", "b") +
               joint("mount", "b", "tool", "fixed"));
}

std::string error_of(const std::string& text, const ChainOptions& options = {}) {
  try {
    Chain::from_urdf_text(text, options);
  } catch (const DescriptionError& error) {
    return error.what();
  }
  return "no error";
}

void expect_words(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words)
    EXPECT_NE(text.find(word), std::string::npos) << "'" << word << "' not in: " << text;
}

TEST(ChainSelection, RootToTheEndByDefault) {
  const Chain chain = Chain::from_urdf_text(two_joints());
  EXPECT_EQ(chain.size(), 2);
  EXPECT_EQ(chain.base().name, "base");
  EXPECT_EQ(chain.tip().name, "tool");
  EXPECT_EQ(chain.joints()[0].name, "j1");
  EXPECT_EQ(chain.joints()[1].link, "b");
}

TEST(ChainSelection, BaseAndTipByName) {
  const Chain chain =
      Chain::from_urdf_text(two_joints(), {.base = "a", .tip = "b", .freeze_off_chain = true});
  EXPECT_EQ(chain.size(), 1);
  EXPECT_EQ(chain.base().name, "a");
  EXPECT_EQ(chain.tip().name, "b");
}

TEST(ChainSelection, UnknownLinksAreNamedWithTheKnownOnes) {
  expect_words(error_of(two_joints(), {.base = "bsae"}), {"base link 'bsae'", "base, a, b, tool"});
  expect_words(error_of(two_joints(), {.tip = "hand"}), {"tip link 'hand'", "base, a, b, tool"});
}

TEST(ChainSelection, TipBeforeBaseIsRefused) {
  expect_words(error_of(two_joints(), {.base = "b", .tip = "a"}),
               {"'a'", "not behind", "'b'", "exchange"});
}

TEST(ChainSelection, BaseEqualToTipIsRefused) {
  expect_words(error_of(two_joints(), {.base = "a", .tip = "a"}),
               {"no moving joint between", "'a'"});
}

TEST(ChainSelection, NoMovingJointIsRefused) {
  expect_words(error_of(robot(link("base", "") + link("a") + joint("j", "base", "a", "fixed"))),
               {"no moving joint", "'base'"});
}

TEST(ChainSelection, EqualBranchesAreAmbiguous) {
  const std::string text = robot(link("base", "") + link("left") + link("right") +
                                 joint("jl", "base", "left") + joint("jr", "base", "right"));
  expect_words(error_of(text), {"ambiguous", "2 branches", "1 actuated joint;", "name the tip",
                                "--tip left or --tip right"});
}

TEST(ChainSelection, TheLongerBranchWins) {
  // A joint on a moving link changes the chain's torques with its position; it has to be known.
  const std::string text =
      robot(link("base", "") + link("a") + link("left") + link("right") + link("hand") +
            joint("ja", "base", "a") + joint("jl", "a", "left") + joint("jr", "a", "right") +
            joint("jh", "right", "hand"));
  expect_words(error_of(text), {"joint 'jl' (line 8)", "not on the chain", "'base' to 'hand'",
                                "--freeze all", "--freeze jl=POSITION"});
  const Chain chain = Chain::from_urdf_text(text, {.freeze = {{"jl", 0.4}}});
  EXPECT_EQ(chain.size(), 3);
  EXPECT_EQ(chain.tip().name, "hand");
  EXPECT_EQ(Chain::from_urdf_text(text, {.freeze_off_chain = true}).tip().name, "hand");
}

TEST(ChainSelection, JointsThatTheBaseCarriesNeedNotBeFrozen) {
  const std::string text =
      robot(link("base", "") + link("wheel") + link("a") + link("b") +
            joint("jw", "base", "wheel") + joint("j1", "base", "a") + joint("j2", "a", "b"));
  const Chain chain = Chain::from_urdf_text(text, {.strict = true});
  EXPECT_EQ(chain.tip().name, "b");
  EXPECT_THROW(chain.link_index("wheel"), DescriptionError) << "its position is unknown";
  EXPECT_GE(Chain::from_urdf_text(text, {.freeze_off_chain = true}).link_index("wheel"), 0);
}

TEST(ChainSelection, FixedBranchesBehindTheLastJointAreNotAmbiguous) {
  const std::string text =
      robot(link("base", "") + link("a") + link("camera") + link("tool") + joint("j", "base", "a") +
            joint("m1", "a", "camera", "fixed") + joint("m2", "a", "tool", "fixed"));
  const Chain chain = Chain::from_urdf_text(text);
  EXPECT_EQ(chain.tip().name, "a");
  EXPECT_DOUBLE_EQ(chain.joints()[0].body.mass, 3);
}

TEST(ChainSelection, FrozenJointOnTheChainIsPartOfTheBody) {
  const Chain chain = Chain::from_urdf_text(two_joints(), {.freeze = {{"j2", kPi / 2}}});
  ASSERT_EQ(chain.size(), 1);
  EXPECT_DOUBLE_EQ(chain.joints()[0].body.mass, 2);
  Dynamics dynamics(chain);
  std::vector<Pose> poses(chain.links().size());
  dynamics.link_poses(std::vector<double>{0.0}, poses);
  const Pose& tool = poses[static_cast<std::size_t>(chain.link_index("tool"))];
  EXPECT_NEAR(tool.translation[0], 1.0, 1e-15);
  EXPECT_NEAR(tool.translation[1], 0.5, 1e-15);
}

TEST(ChainSelection, UnknownFrozenJointIsRefused) {
  expect_words(error_of(two_joints(), {.freeze = {{"j9", 0.0}}}),
               {"joint 'j9'", "not in the description"});
  expect_words(error_of(two_joints(), {.freeze = {{"j2", NAN}}}), {"joint 'j2'", "not finite"});
}

TEST(ChainErrors, FloatingPlanarAndMimicJointsOnTheChain) {
  const auto with = [](const std::string& type, const std::string& inside) {
    return robot(link("base", "") + link("a") + link("b") + joint("j1", "base", "a", type, inside) +
                 joint("j2", "a", "b"));
  };
  expect_words(error_of(with("floating", "")),
               {"joint 'j1'", "line 5", "floating", "degree of freedom"});
  expect_words(error_of(with("planar", "<axis xyz='0 0 1'/>")), {"joint 'j1'", "planar"});
  expect_words(error_of(with("continuous", "<axis xyz='0 0 1'/><mimic joint='j2'/>")),
               {"joint 'j1'", "mimics", "'j2'"});
}

TEST(ChainErrors, MissingInertiaOnAMovingBodyUnlessAllowed) {
  const std::string text = robot(link("base", "") + link("a", "") + link("b") +
                                 joint("j1", "base", "a") + joint("j2", "a", "b"));
  expect_words(error_of(text), {"link 'a'", "joint 'j1'", "no <inertial>", "allow"});
  EXPECT_DOUBLE_EQ(
      Chain::from_urdf_text(text, {.allow_missing_inertia = true}).joints()[0].body.mass, 0);
}

TEST(ChainErrors, InertiaOfAFixedChildIsEnough) {
  const std::string text = robot(link("base", "") + link("a", "") + link("shell") +
                                 joint("j1", "base", "a") + joint("m", "a", "shell", "fixed"));
  EXPECT_DOUBLE_EQ(Chain::from_urdf_text(text).joints()[0].body.mass, 1);
}

TEST(ChainErrors, NonFiniteGravity) {
  expect_words(error_of(two_joints(), {.gravity = {0, 0, INFINITY}}), {"gravity", "finite"});
}

TEST(ChainErrors, StrictTurnsImplausibleInertiasIntoErrors) {
  const std::string path = std::string(GA_ROBOTS) + "/puma560_akb.urdf";
  const Chain chain = Chain::from_urdf_file(path);
  ASSERT_EQ(chain.warnings().size(), 3U);
  expect_words(chain.warnings()[0], {"link 'link1'", "mass"});
  expect_words(chain.warnings()[1], {"link 'link1'", "triangle inequality"});  // Izz alone
  expect_words(chain.warnings()[2], {"link 'link3'", "triangle inequality", "0.0125"});
  EXPECT_THROW(Chain::from_urdf_file(path, {.strict = true}), DescriptionError);
}

TEST(ChainErrors, HugeNumbersAreRefusedNotComputedWith) {
  std::string text = two_joints();
  text.replace(text.find("0.5 0 0"), 7, "1e300 0 0");
  text.replace(text.find("0.5 0 0"), 7, "1e300 0 0");
  expect_words(error_of(text), {"joint 'j2'", "too large", "meters"});
}

TEST(ChainErrors, DhTable) {
  EXPECT_THROW(Chain::from_dh({}), DescriptionError);
  DhJoint row;
  row.dh.a = NAN;
  EXPECT_THROW(Chain::from_dh({row}), DescriptionError);
  row.dh.a = 0;
  row.body.mass = -1;
  EXPECT_THROW(Chain::from_dh({row}), DescriptionError);
  row.body = {1, {0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, -0.1}};
  EXPECT_THROW(Chain::from_dh({row}), DescriptionError);
  row.body = {1, {0, 0, 0}, {1, 0.1, 0, 0, 1, 0, 0, 0, 1}};
  EXPECT_THROW(Chain::from_dh({row}), DescriptionError) << "not symmetric";
  row.body.inertia = {};
  row.drive.armature = NAN;
  EXPECT_THROW(Chain::from_dh({row}), DescriptionError);
  row.drive.armature = 0;
  row.limits.lower = 1, row.limits.upper = -1;
  EXPECT_THROW(Chain::from_dh({row}), DescriptionError);
}

TEST(ChainErrors, ZerosAreAMissingInertia) {
  const std::string zeros =
      "<inertial><mass value='0'/><inertia ixx='0' iyy='0' izz='0' ixy='0' ixz='0' iyz='0'/>"
      "</inertial>";
  const std::string text = robot(link("base", "") + link("a", zeros) + link("b") +
                                 joint("j1", "base", "a") + joint("j2", "a", "b"));
  expect_words(error_of(text), {"link 'a'", "zeros"});
}

TEST(ChainErrors, ModelThatNobodyRead) {
  EXPECT_THROW(Chain::from_model(UrdfModel{}), DescriptionError);
}

TEST(DynamicsErrors, SingularInertiaIsReported) {
  // Two coincident axes with nothing between them: the sum of their accelerations is all that
  // shows.
  std::vector<DhJoint> rows(2);
  rows[1].body = {1, {0.1, 0, 0}, {0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}};
  const Chain chain = Chain::from_dh(rows);
  for (const Method method :
       {Method::kTensor, Method::kVector, Method::kDalembert, Method::kMinimal}) {
    Dynamics dynamics(chain, {.method = method});
    std::vector<double> q{0.3, 0.4}, qdd(2);
    EXPECT_FALSE(dynamics.forward_dynamics(q, q, q, qdd));
  }
  Dynamics sound(Chain::from_urdf_text(two_joints()));
  std::vector<double> q{0.3, 0.4}, qdd(2);
  EXPECT_TRUE(sound.forward_dynamics(q, q, q, qdd));
}

TEST(DynamicsWrenches, OfTwoLinksOfOneBodyAddUp) {
  const Chain chain = Chain::from_urdf_text(two_joints());
  Dynamics dynamics(chain);
  const std::vector<double> zero(2, 0.0);
  std::vector<double> tau(2);
  dynamics.set_external_wrench(chain.link_index("b"), {0, 1, 0}, {0, 0, 0});     // at 0.5 of j1
  dynamics.set_external_wrench(chain.link_index("tool"), {0, 1, 0}, {0, 0, 0});  // at 1.0 of j1
  dynamics.inverse_dynamics(zero, zero, zero, tau);
  EXPECT_NEAR(tau[0], -1.5, 1e-14);
  EXPECT_NEAR(tau[1], -0.5, 1e-14);
  dynamics.set_external_wrench(chain.link_index("tool"), {0, 3, 0}, {0, 0, 0});
  dynamics.inverse_dynamics(zero, zero, zero, tau);
  EXPECT_NEAR(tau[0], -3.5, 1e-14);
}

TEST(DynamicsEnergy, PotentialIsMeasuredFromTheBaseLink) {
  std::string text = two_joints();
  text.replace(text.find("0.5 0 0"), 7, "0 0 0.7");  // joint 1 stands 0.7 m above the base
  const Chain chain = Chain::from_urdf_text(text);
  Dynamics dynamics(chain);
  const std::vector<double> zero(2, 0.0);
  EXPECT_NEAR(dynamics.energy(zero, zero).potential, 2 * 9.81 * 0.7, 1e-12);
}

TEST(ChainFrames, PumaGetsItsPublishedTable) {
  const Chain chain = Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf");
  const double alpha[] = {0, -kPi / 2, 0, kPi / 2, -kPi / 2, kPi / 2};
  const double a[] = {0, 0, 0.4318, -0.0203, 0, 0};
  // On the parallel axes 2 and 3 only the sum of d2 = 0.2435 and d3 = -0.0934 matters; it is d3
  // here.
  const double d[] = {0, 0, 0.1501, 0.4331, 0, 0};
  for (std::size_t i = 0; i < 6; ++i) {
    const DhParameters& dh = chain.joints()[i].dh;
    EXPECT_EQ(dh.alpha, alpha[i]) << "joint " << i + 1;
    EXPECT_NEAR(dh.a, a[i], 1e-15) << "joint " << i + 1;
    EXPECT_NEAR(dh.d, d[i], 1e-15) << "joint " << i + 1;
    EXPECT_EQ(dh.theta, 0) << "joint " << i + 1;
    EXPECT_EQ(dh.beta, 0) << "joint " << i + 1;
  }
}

TEST(ChainFrames, NearlyParallelAxesKeepTheirFramesClose) {
  std::string text = robot(link("base", "") + link("a") + link("b") + joint("j1", "base", "a") +
                           joint("j2", "a", "b"));
  const std::string tilted = "<origin xyz='0.5 0 0' rpy='1e-7 2e-7 0'/>";
  text.replace(text.rfind("<origin xyz='0.5 0 0'/>"), 23, tilted);
  const Chain chain = Chain::from_urdf_text(text);
  const DhParameters& dh = chain.joints()[1].dh;
  EXPECT_NE(dh.beta, 0);
  EXPECT_NEAR(dh.a, 0.5, 1e-6);
  EXPECT_NEAR(dh.d, 0, 1e-6);
}

TEST(ChainFrames, SnapMakesRoundedRightAnglesExact) {
  std::string text = robot(link("base", "") + link("a") + link("b") + joint("j1", "base", "a") +
                           joint("j2", "a", "b"));
  text.replace(text.rfind("<origin xyz='0.5 0 0'/>"), 23,
               "<origin xyz='0.5 0 0' rpy='1.570796 0 0'/>");
  EXPECT_NE(std::abs(Chain::from_urdf_text(text).joints()[1].dh.alpha), kPi / 2);
  EXPECT_EQ(std::abs(Chain::from_urdf_text(text, {.snap = 1e-6}).joints()[1].dh.alpha), kPi / 2);
}

TEST(ChainFrames, RoundedRightAnglesOfADhTableAreExact) {
  const auto alpha = [](double given) {
    DhJoint row;
    row.body = {1, {0.1, 0, 0}, {0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}};
    DhJoint turned = row;
    turned.dh.alpha = given;
    return Chain::from_dh({row, turned}).joints()[1].dh.alpha;
  };
  for (const double rounding : {-3e-14, 3e-14}) {
    EXPECT_EQ(alpha(kPi / 2 + rounding), kPi / 2);
    EXPECT_EQ(alpha(-kPi / 2 + rounding), -kPi / 2);
    EXPECT_EQ(alpha(2.5 * kPi + rounding), kPi / 2) << "a turn more";
    EXPECT_EQ(std::abs(alpha(kPi + rounding)), kPi);
    EXPECT_EQ(alpha(rounding), 0);
  }
  EXPECT_NEAR(alpha(kPi / 2 + 1e-12), kPi / 2 + 1e-12, 1e-15) << "that is no rounding";
}

TEST(ChainPayload, AddsABodyInTheTipFrame) {
  const Chain chain = Chain::from_urdf_text(two_joints());
  const LinkInertia payload{2, {0.1, 0, 0}, {}};
  const Chain loaded = chain.with_payload(payload);
  EXPECT_DOUBLE_EQ(loaded.joints()[1].body.mass, 3);
  EXPECT_DOUBLE_EQ(chain.joints()[1].body.mass, 1);
  // With gravity along −y the payload's moment about joint 2 is m g (0.5 + 0.1), about joint 1
  // another 0.5 m more.
  Dynamics empty(chain.with_gravity({0, -9.81, 0})), carrying(loaded.with_gravity({0, -9.81, 0}));
  const std::vector<double> q{0, 0};
  std::vector<double> g(2), g_loaded(2);
  empty.gravity(q, g);
  carrying.gravity(q, g_loaded);
  EXPECT_NEAR(g_loaded[1] - g[1], 2 * 9.81 * 0.6, 1e-12);
  EXPECT_NEAR(g_loaded[0] - g[0], 2 * 9.81 * 1.1, 1e-12);
}

TEST(ChainPayload, BadPayloadIsRefused) {
  const Chain chain = Chain::from_urdf_text(two_joints());
  EXPECT_THROW(chain.with_payload({-1, {0, 0, 0}, {}}), DescriptionError);
  EXPECT_THROW(chain.with_payload({1, {NAN, 0, 0}, {}}), DescriptionError);
}

TEST(ChainDrives, FromTheDescription) {
  const Chain chain = Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf");
  EXPECT_DOUBLE_EQ(chain.joints()[1].drive.armature, 4.71);
  EXPECT_DOUBLE_EQ(chain.joints()[1].drive.viscous, 9.50);
  EXPECT_DOUBLE_EQ(chain.joints()[1].drive.coulomb_positive, 13.6);
  EXPECT_DOUBLE_EQ(chain.joints()[1].drive.coulomb_negative, 7.7);
  EXPECT_DOUBLE_EQ(chain.joints()[1].limits.effort, 186.4);
  const Chain scara = Chain::from_urdf_file(std::string(GA_ROBOTS) + "/scara.urdf");
  EXPECT_DOUBLE_EQ(scara.joints()[2].drive.viscous, 20);
  EXPECT_DOUBLE_EQ(scara.joints()[2].drive.coulomb_negative, 5);
  EXPECT_EQ(scara.joints()[3].limits.upper, INFINITY);
}

TEST(DynamicsOptions, DrivesAddArmatureAndFriction) {
  const Chain chain = Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf");
  Dynamics rigid(chain), driven(chain, {.drives = Drives::kAll});
  const std::vector<double> q(6, 0.2), qd{0.5, -0.5, 0, 1, -1, 0}, qdd(6, 2.0);
  std::vector<double> tau(6), with(6), back(6);
  rigid.inverse_dynamics(q, qd, qdd, tau);
  driven.inverse_dynamics(q, qd, qdd, with);
  EXPECT_NEAR(with[0] - tau[0], 1.14 * 2 + 5.80 * 0.5 + 24.7, 1e-12);
  EXPECT_NEAR(with[1] - tau[1], 4.71 * 2 - 9.50 * 0.5 - 7.7, 1e-12);
  EXPECT_NEAR(with[2] - tau[2], 0.83 * 2, 1e-12);
  driven.forward_dynamics(q, qd, with, back);
  for (const double v : back) EXPECT_NEAR(v, 2.0, 1e-11);
}

}  // namespace
}  // namespace ga_dynamics
