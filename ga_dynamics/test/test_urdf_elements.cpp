// SPDX-License-Identifier: Apache-2.0

// The elements of a description: origins, links and their inertias, joints, limits, drives.

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ga_dynamics/urdf_model.hpp"
#include "urdf_texts.hpp"

namespace ga_dynamics::test {
namespace {

// ---- origins -------------------------------------------------------------------------------

TEST(UrdfOrigin, RollPitchYawTurnAboutFixedAxes) {
  // Rz(90 deg) Rx(90 deg): x -> x -> y, y -> z -> z, z -> -y -> x.
  const Pose pose =
      shoulder(read_urdf_text(two_links("fixed",
                                        "<origin xyz='1 2 3' rpy='1.5707963267948966 0 "
                                        "1.5707963267948966'/>")))
          .origin;
  const Matrix3 expected{0, 0, 1, 1, 0, 0, 0, 1, 0};
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_NEAR(pose.rotation[i], expected[i], 1e-15) << i;
  }
  expect_vector(pose.translation, {1, 2, 3});
}

TEST(UrdfOrigin, OfTwoTheFirstCounts) {
  const std::string text =
      two_links("continuous", "<origin xyz='1 0 0'/>\n<origin xyz='2 0 0' rpy='1 0 0'/>");
  const UrdfModel model = read_urdf_text(text);
  expect_vector(shoulder(model).origin.translation, {1, 0, 0});
  EXPECT_EQ(shoulder(model).origin.rotation, Pose{}.rotation);
  ASSERT_EQ(model.warnings.size(), 1u);
  expect_words(model.warnings[0],
               {"joint 'shoulder'", "line 6", "second <origin>", "line 5", "counts", "keep one"});
  expect_words(error_of(text, true), {"joint 'shoulder'", "second <origin>"});
  EXPECT_EQ(read_urdf_text(one_link("<origin xyz='3 0 0'/><origin/>" + inertia("1", "1 0 0 1 0 1")))
                .links[0]
                .inertial->origin.translation,
            (Vector3{3, 0, 0}));
}

TEST(UrdfOrigin, QuaternionIsRefusedNotIgnored) {
  expect_words(error_of(two_links("fixed", "<origin quat_xyzw='0 0 0 1'/>")),
               {"joint 'shoulder'", "line 5", "quat_xyzw", "rpy"});
}

// ---- links and inertials -------------------------------------------------------------------

TEST(UrdfLink, NamelessAndDuplicateAreErrors) {
  expect_words(error_of("<robot name='r'>\n<link/></robot>"), {"link", "line 2", "add name"});
  expect_words(error_of("<robot name='r'>\n<link name=''/></robot>"), {"line 2", "add name"});
  expect_words(error_of("<robot name='r'>\n<link name='a'/>\n<link name='a'/></robot>"),
               {"link 'a'", "line 3", "line 2", "rename"});
}

TEST(UrdfLink, SecondInertialIsAnErrorNotAChoice) {
  expect_words(
      error_of(
          "<robot name='r'><link name='a'>\n<inertial><mass value='1'/><inertia ixx='1' ixy='0' "
          "ixz='0' iyy='1' iyz='0' izz='1'/></inertial>\n<inertial/></link></robot>"),
      {"link 'a'", "line 3", "second <inertial>", "line 2", "keep one"});
}

TEST(UrdfInertial, MissingPartsAreErrors) {
  expect_words(error_of(one_link("<inertia ixx='1'/>")),
               {"link 'forearm'", "line 3", "no <mass>", "add"});
  expect_words(error_of(one_link("<mass/>")), {"link 'forearm'", "line 4", "add value"});
  expect_words(error_of(one_link("<mass value='1'/>")),
               {"link 'forearm'", "line 3", "no <inertia>", "add"});
  expect_words(
      error_of(one_link("<mass value='1'/>\n<inertia ixx='1' ixy='0' ixz='0' iyy='1' izz='1'/>")),
      {"link 'forearm'", "line 5", "add iyz"});
}

TEST(UrdfInertial, NegativeMassIsAnError) {
  expect_words(error_of(one_link(inertia("-0.25", "1 0 0 1 0 1"))),
               {"link 'forearm'", "line 4", "(-0.25)", "zero or more"});
}

TEST(UrdfInertial, IndefiniteTensorTellsTheEigenvalue) {
  // [[2, 2.5], [2.5, 3]]: eigenvalues 2.5 -+ sqrt(0.25 + 6.25) = -0.0495098, 5.04951.
  EXPECT_EQ(
      error_of(one_link(inertia("1", "2 2.5 0 3 0 5"))),
      "link 'forearm' (line 4): inertia is not positive definite (smallest eigenvalue -0.0495098); "
      "check the signs of the products of inertia");
}

TEST(UrdfInertial, NegativeMomentTellsSo) {
  expect_words(error_of(one_link(inertia("1", "-1 0 0 1 0 1"))),
               {"link 'forearm'", "line 4", "smallest eigenvalue -1)", "must not be negative"});
  expect_words(error_of(one_link(inertia("1", "-1 0 0 -1 0 -1"))), {"smallest eigenvalue -1)"});
}

TEST(UrdfInertial, RoundOffBelowZeroIsTolerated) {
  EXPECT_NO_THROW(read_urdf_text(one_link(inertia("1", "-0.9e-9 0 0 1 0 1"))));
  EXPECT_THROW(read_urdf_text(one_link(inertia("1", "-1.1e-9 0 0 1 0 1"))), DescriptionError);
}

TEST(UrdfInertial, ExtremeScalesAreJudgedAlike) {
  for (const auto& [exponent, eigenvalue] :
       std::initializer_list<std::pair<std::string, const char*>>{{"e300", "-4.95098e+298"},
                                                                  {"e-300", "-4.95098e-302"}}) {
    const auto tensor = [e = exponent](const std::string& product) {
      return one_link(inertia("1", "2" + e + " " + product + e + " 0 3" + e + " 0 5" + e));
    };
    EXPECT_TRUE(read_urdf_text(tensor("2")).warnings.empty()) << exponent;
    expect_words(error_of(tensor("2.5")), {eigenvalue, "check the signs"});
  }
}

TEST(UrdfInertial, BrokenTriangleInequalityTellsThePrincipalMoments) {
  const std::string text = one_link(inertia("1", "1 0 0 2 0 3.5"));
  const UrdfModel model = read_urdf_text(text);
  ASSERT_EQ(model.warnings.size(), 1u);
  expect_words(model.warnings[0],
               {"link 'forearm'", "line 4", "triangle", "1, 2, 3.5", "center of mass"});
  expect_words(error_of(text, true), {"link 'forearm'", "line 4", "1, 2, 3.5"});
}

TEST(UrdfInertial, PrincipalMomentsOfACoupledTensorAreItsEigenvalues) {
  // The unit matrix plus the matrix of ones: eigenvalues 1, 1, 1 + 3.
  const UrdfModel model = read_urdf_text(one_link(inertia("1", "2 1 1 2 1 2")));
  ASSERT_EQ(model.warnings.size(), 1u);
  expect_words(model.warnings[0], {"principal moments 1, 1, 4)"});
}

TEST(UrdfInertial, ThinPlateOnTheTriangleBoundIsAccepted) {
  EXPECT_TRUE(
      read_urdf_text(one_link(inertia("1", "1 0 0 2 0 3.000002")), {true}).warnings.empty());
}

TEST(UrdfInertial, InertiaWithoutMassIsAWarning) {
  const std::string text = one_link(inertia("0", "1 0 0 1 0 1"));
  const UrdfModel model = read_urdf_text(text);
  ASSERT_EQ(model.warnings.size(), 1u);
  expect_words(model.warnings[0], {"link 'forearm'", "line 4", "give the mass"});
  expect_words(error_of(text, true), {"link 'forearm'", "give the mass"});
}

TEST(UrdfInertial, PointMassAndMasslessFrameAreAccepted) {
  EXPECT_NO_THROW(read_urdf_text(one_link(inertia("1", "0 0 0 0 0 0")), {true}));
  EXPECT_NO_THROW(read_urdf_text(one_link(inertia("0", "0 0 0 0 0 0")), {true}));
}

// ---- joints --------------------------------------------------------------------------------

TEST(UrdfJoint, NamelessTypelessAndDuplicateAreErrors) {
  const auto robot = [](const std::string& joint) {
    return "<robot name='r'><link name='a'/><link name='b'/>\n" + joint + "</robot>";
  };
  expect_words(error_of(robot("<joint type='fixed'/>")), {"joint", "line 2", "add name"});
  expect_words(error_of(robot("<joint name='j'/>")), {"joint 'j'", "line 2", "add type"});
  expect_words(error_of(robot("<joint name='j' type='hinge'/>")),
               {"joint 'j'", "line 2", "'hinge'", "use revolute"});
  const std::string joint =
      "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>";
  expect_words(error_of(robot(joint + "\n" + joint)), {"joint 'j'", "line 3", "line 2", "rename"});
}

TEST(UrdfJoint, MissingEndsAreErrors) {
  const auto robot = [](const std::string& ends) {
    return "<robot name='r'><link name='a'/>\n<joint name='j' type='fixed'>" + ends +
           "</joint></robot>";
  };
  expect_words(error_of(robot("<child link='a'/>")), {"joint 'j'", "line 2", "no <parent>", "add"});
  expect_words(error_of(robot("<parent link='a'/>")), {"joint 'j'", "line 2", "no <child>", "add"});
  expect_words(error_of(robot("\n<parent/>")), {"joint 'j'", "line 3", "<parent>", "add link"});
  expect_words(error_of(robot("<parent link='a'/><child link='x'/>")),
               {"joint 'j'", "line 2", "child link 'x'", "add the link"});
  expect_words(error_of(robot("<parent link='x'/><child link='a'/>")),
               {"joint 'j'", "parent link 'x'"});
  expect_words(error_of(robot("<parent link='a'/><child link='a'/>")),
               {"joint 'j'", "line 2", "both link 'a'", "two different"});
}

TEST(UrdfJoint, AxisDefaultsToX) {
  expect_vector(shoulder(read_urdf_text(two_links("continuous", ""))).axis, {1, 0, 0});
}

TEST(UrdfJoint, ZeroAxisIsAnErrorWhereItMoves) {
  for (const char* const type : {"revolute", "continuous", "prismatic", "planar"}) {
    for (const char* const axis : {"0 0 0", "0 -0 1e-9", "1e-200 0 0"}) {
      expect_words(error_of(two_links(type, "<axis xyz='" + std::string(axis) + "'/>")),
                   {"joint 'shoulder'", "line 5", axis, "is zero", "direction"});
    }
  }
}

TEST(UrdfJoint, ZeroAxisOfAFixedJointIsIgnored) {
  const UrdfModel model = read_urdf_text(two_links("fixed", "<axis xyz='0 0 0'/>"), {true});
  expect_vector(shoulder(model).axis, {1, 0, 0});
}

TEST(UrdfJoint, AxisOfAFixedJointIsNotRead) {
  for (const char* const axis : {"<axis/>", "<axis rpy='0 0 0'/>", "<axis xyz='a b'/>"}) {
    expect_vector(shoulder(read_urdf_text(two_links("fixed", axis), {true})).axis, {1, 0, 0});
  }
}

TEST(UrdfJoint, AxisWithoutXyzIsAnError) {
  expect_words(error_of(two_links("continuous", "<axis/>")),
               {"joint 'shoulder'", "line 5", "add xyz"});
}

TEST(UrdfJoint, LongAxisIsNormalisedWithAWarning) {
  const UrdfModel model = read_urdf_text(two_links("continuous", "<axis xyz='0 3 -4'/>"));
  expect_vector(shoulder(model).axis, {0, 0.6, -0.8}, 1e-16);
  ASSERT_EQ(model.warnings.size(), 1u);
  expect_words(model.warnings[0],
               {"joint 'shoulder'", "line 5", "'0 3 -4'", "norm 5", "xyz=\"0 0.6 -0.8\""});
}

TEST(UrdfJoint, RoundedUnitAxisIsNormalisedSilently) {
  const UrdfModel model =
      read_urdf_text(two_links("continuous", "<axis xyz='0.7071 0.7071 0'/>"), {true});
  expect_vector(shoulder(model).axis, {M_SQRT1_2, M_SQRT1_2, 0}, 1e-15);
}

TEST(UrdfJoint, HugeAxisDoesNotOverflow) {
  const UrdfModel model = read_urdf_text(two_links("continuous", "<axis xyz='0 1e308 1e308'/>"));
  expect_vector(shoulder(model).axis, {0, M_SQRT1_2, M_SQRT1_2}, 1e-15);
}

TEST(UrdfJoint, MimicFloatingAndPlanarAreRecorded) {
  EXPECT_EQ(shoulder(read_urdf_text(two_links("floating", ""))).type, UrdfJointType::kFloating);
  EXPECT_EQ(shoulder(read_urdf_text(two_links("planar", ""))).type, UrdfJointType::kPlanar);
  const UrdfModel model = read_urdf_text(two_links(
      "continuous", "<mimic joint='other'/>",
      "<link name='c'/><joint name='other' type='continuous'><parent link='arm'/><child link='c'/>"
      "</joint>"));
  EXPECT_TRUE(shoulder(model).mimic);
  EXPECT_EQ(shoulder(model).mimic_of, "other");
  EXPECT_FALSE(model.joints[1].mimic);
}

TEST(UrdfJoint, MimicOfNothingIsAnError) {
  expect_words(error_of(two_links("continuous", "<mimic/>")),
               {"joint 'shoulder'", "line 5", "add joint"});
  for (const char* const target : {"nothing", "shoulder"}) {
    expect_words(error_of(two_links("continuous", "<mimic joint='" + std::string(target) + "'/>")),
                 {"joint 'shoulder'", "line 4", target, "another joint"});
  }
}

// ---- limits --------------------------------------------------------------------------------

TEST(UrdfLimit, IsRead) {
  const UrdfModel model = read_urdf_text(two_links("revolute", kLimit), {true});
  EXPECT_EQ(shoulder(model).lower, -1);
  EXPECT_EQ(shoulder(model).upper, 2);
  EXPECT_EQ(shoulder(model).velocity, 3);
  EXPECT_EQ(shoulder(model).effort, 4);
}

TEST(UrdfLimit, AbsenceIsAWarningAndStaysEmpty) {
  for (const char* const type : {"revolute", "prismatic"}) {
    const UrdfModel model = read_urdf_text(two_links(type, ""));
    ASSERT_EQ(model.warnings.size(), 1u);
    expect_words(model.warnings[0], {"joint 'shoulder'", "line 4", "<limit>", "add"});
    EXPECT_FALSE(shoulder(model).lower || shoulder(model).upper || shoulder(model).velocity);
  }
}

TEST(UrdfLimit, WithoutRangeIsAWarningNotALockedJoint) {
  const UrdfModel model = read_urdf_text(two_links("revolute", "<limit velocity='3' effort='4'/>"));
  ASSERT_EQ(model.warnings.size(), 1u);
  expect_words(model.warnings[0], {"joint 'shoulder'", "line 5", "neither lower nor upper", "add"});
  EXPECT_FALSE(shoulder(model).lower || shoulder(model).upper);
  EXPECT_EQ(shoulder(model).velocity, 3);
}

TEST(UrdfLimit, OneEndAloneLeavesTheOtherAtZero) {
  const UrdfModel model = read_urdf_text(
      two_links("prismatic", "<limit upper='0.04' velocity='1' effort='1'/>"), {true});
  EXPECT_EQ(shoulder(model).lower, 0);
  EXPECT_EQ(shoulder(model).upper, 0.04);
}

TEST(UrdfLimit, ContinuousJointHasVelocityAndEffortOnly) {
  const UrdfModel model = read_urdf_text(two_links("continuous", kLimit), {true});
  EXPECT_FALSE(shoulder(model).lower || shoulder(model).upper);
  EXPECT_EQ(shoulder(model).velocity, 3);
  EXPECT_EQ(shoulder(model).effort, 4);
}

TEST(UrdfLimit, SwappedAndNotFiniteAreErrors) {
  expect_words(
      error_of(two_links("revolute", "<limit lower='2' upper='-1' velocity='1' effort='1'/>")),
      {"joint 'shoulder'", "line 5", "lower limit 2", "-1", "swap"});
  expect_words(error_of(two_links("revolute", "<limit lower='1' velocity='1' effort='1'/>")),
               {"joint 'shoulder'", "lower limit 1", "upper limit 0 (0 where absent)"});
  for (const char* const name : {"velocity", "effort"}) {
    expect_words(error_of(two_links("continuous", "<limit " + std::string(name) + "='inf'/>")),
                 {"joint 'shoulder'", "line 5", name, "'inf'", "finite"});
  }
}

TEST(UrdfLimit, EffortAndVelocityThatAreNotPositiveAreNotGiven) {
  // So do ABB's, KUKA's and other public descriptions write them.
  for (const char* const value : {"0", "0.0", "-1"}) {
    const std::string text =
        two_links("revolute", "<limit lower='-1' upper='2' velocity='" + std::string(value) +
                                  "' effort='" + value + "'/>");
    const UrdfModel model = read_urdf_text(text);
    EXPECT_FALSE(shoulder(model).velocity || shoulder(model).effort) << value;
    EXPECT_EQ(shoulder(model).lower, -1);
    ASSERT_EQ(model.warnings.size(), 2u);
    expect_words(model.warnings[0], {"effort", "joint 'shoulder' (line 4: ", "not given", "N m",
                                     "ros2_control", "no torque at all"});
    expect_words(model.warnings[1], {"velocity", "'shoulder'", "not given", "rad/s"});
    expect_words(error_of(text, true), {"effort", "'shoulder'", "not given"});
  }
  EXPECT_TRUE(read_urdf_text(two_links("fixed", "<limit velocity='0' effort='0'/>"), {true})
                  .warnings.empty())
      << "nothing moves there";
}

// ---- soft limits ---------------------------------------------------------------------------

/// A joint with limits -1 and 2 and these attributes of <safety_controller>.
std::string with_soft_limits(const std::string& attributes, const char* type = "revolute") {
  return two_links(type, std::string(kLimit) + "<safety_controller " + attributes + "/>");
}

TEST(UrdfSoftLimit, IsRead) {
  const UrdfModel model = read_urdf_text(
      with_soft_limits("soft_lower_limit='-0.9' soft_upper_limit='1.5' k_velocity='10'"), {true});
  EXPECT_EQ(shoulder(model).soft_lower, -0.9);
  EXPECT_EQ(shoulder(model).soft_upper, 1.5);
}

TEST(UrdfSoftLimit, TheZerosOfUrdfAreNotGiven) {
  for (const char* const attributes :
       {"k_velocity='10'", "k_velocity='10' soft_lower_limit='0' soft_upper_limit='0.0'"}) {
    const UrdfModel model = read_urdf_text(with_soft_limits(attributes), {true});
    EXPECT_FALSE(shoulder(model).soft_lower || shoulder(model).soft_upper) << attributes;
  }
  EXPECT_FALSE(shoulder(read_urdf_text(two_links("revolute", kLimit))).soft_lower);
  const UrdfModel one = read_urdf_text(with_soft_limits("soft_upper_limit='1'"), {true});
  EXPECT_EQ(shoulder(one).soft_lower, 0) << "as <limit> with one end";
  EXPECT_EQ(shoulder(one).soft_upper, 1);
}

TEST(UrdfSoftLimit, BeyondTheHardLimitIsAWarningAndEndsThere) {
  const std::string text = with_soft_limits("soft_lower_limit='-3' soft_upper_limit='1.5'");
  const UrdfModel model = read_urdf_text(text);
  EXPECT_EQ(shoulder(model).soft_lower, -1);
  EXPECT_EQ(shoulder(model).soft_upper, 1.5);
  ASSERT_EQ(model.warnings.size(), 1u);
  expect_words(model.warnings[0], {"joint 'shoulder'", "soft limits -3 … 1.5", "exceed", "-1 … 2",
                                   "soft_lower_limit"});
  expect_words(error_of(text, true), {"joint 'shoulder'", "exceed"});
}

TEST(UrdfSoftLimit, EmptyDisjointAndNotFiniteAreErrors) {
  expect_words(error_of(with_soft_limits("soft_lower_limit='1' soft_upper_limit='-1'")),
               {"joint 'shoulder'", "soft_lower_limit 1", "soft_upper_limit -1", "correct"});
  expect_words(error_of(with_soft_limits("soft_lower_limit='1'")),
               {"joint 'shoulder'", "soft_upper_limit 0 (0 where absent)"});
  for (const char* const attributes : {"soft_lower_limit='2' soft_upper_limit='4'",
                                       "soft_lower_limit='-4' soft_upper_limit='-1'"}) {
    expect_words(error_of(with_soft_limits(attributes)),
                 {"joint 'shoulder'", "outside the limits -1 … 2", "correct"});
  }
  expect_words(error_of(with_soft_limits("soft_lower_limit='nan' soft_upper_limit='1'")),
               {"joint 'shoulder'", "soft_lower_limit", "'nan'", "finite"});
}

TEST(UrdfSoftLimit, OfAContinuousJointIsNotUsed) {
  const UrdfModel model =
      read_urdf_text(with_soft_limits("soft_lower_limit='-1' soft_upper_limit='1'", "continuous"));
  EXPECT_FALSE(shoulder(model).soft_lower || shoulder(model).soft_upper);
  ASSERT_EQ(model.warnings.size(), 1u);
  expect_words(model.warnings[0], {"joint 'shoulder'", "soft limits -1 … 1", "remove"});
}

TEST(UrdfLimit, ManyEmptyLimitsAreOneWarning) {
  std::string more;
  for (int i = 0; i < 20; ++i) {
    const std::string number = std::to_string(i);
    more += "<link name='l" + number + "'/><joint name='j" + number +
            "' type='continuous'><parent link='arm'/><child link='l" + number +
            "'/><limit effort='0'/></joint>\n";
  }
  const UrdfModel model = read_urdf_text(two_links("continuous", "<limit effort='0'/>", more));
  ASSERT_EQ(model.warnings.size(), 1u);
  expect_words(model.warnings[0], {"joints 'shoulder' (line 4: 0), 'j0' (line 7: 0)", "13 more"});
}

// ---- drives --------------------------------------------------------------------------------

std::string control(const std::string& joint, const std::string& params) {
  return "<ros2_control name='s' type='system'>\n<joint name='" + joint + "'>\n" + params +
         "</joint></ros2_control>\n";
}

TEST(UrdfDrive, DynamicsTagGivesBothDirections) {
  const UrdfModel model =
      read_urdf_text(two_links("continuous", "<dynamics damping='0.5' friction='2'/>"), {true});
  EXPECT_EQ(shoulder(model).viscous_friction, 0.5);
  EXPECT_EQ(shoulder(model).coulomb_positive, 2);
  EXPECT_EQ(shoulder(model).coulomb_negative, 2);
  EXPECT_EQ(shoulder(model).armature, 0);
}

TEST(UrdfDrive, Ros2ControlOverridesDynamics) {
  const UrdfModel model = read_urdf_text(
      two_links(
          "continuous", "<dynamics damping='0.5' friction='2'/>",
          control(
              "shoulder",
              "<command_interface name='effort'><param name='min'>-9</param></command_interface>"
              "<param name='armature'> 1.14 <!-- kg m^2 --></param><param name='encoder'>x7</param>"
              "<param name='coulomb_friction_negative'>5</param><param "
              "name='coulomb_friction'>3</param>"
              "<param name='viscous_friction'>4.94</param>")),
      {true});
  EXPECT_EQ(shoulder(model).armature, 1.14);
  EXPECT_EQ(shoulder(model).viscous_friction, 4.94);
  EXPECT_EQ(shoulder(model).coulomb_positive, 3);
  EXPECT_EQ(shoulder(model).coulomb_negative, 5) << "the special one wins, in any order";
}

TEST(UrdfDrive, CommonCoulombFrictionGivesBothDirections) {
  const UrdfModel model =
      read_urdf_text(two_links("continuous", "<dynamics friction='2'/>",
                               control("shoulder", "<param name='coulomb_friction'>3</param>")));
  EXPECT_EQ(shoulder(model).coulomb_positive, 3);
  EXPECT_EQ(shoulder(model).coulomb_negative, 3);
}

TEST(UrdfDrive, OneDirectionAloneLeavesTheOther) {
  const UrdfModel model = read_urdf_text(
      two_links("continuous", "<dynamics friction='2'/>",
                control("shoulder", "<param name='coulomb_friction_positive'>7</param>")));
  EXPECT_EQ(shoulder(model).coulomb_positive, 7);
  EXPECT_EQ(shoulder(model).coulomb_negative, 2);
}

TEST(UrdfDrive, NegativeValuesAreErrors) {
  expect_words(error_of(two_links("continuous", "<dynamics friction='-2'/>")),
               {"joint 'shoulder'", "line 5", "<dynamics> friction", "(-2)", "magnitude"});
  for (const char* const name : {"armature", "viscous_friction", "coulomb_friction",
                                 "coulomb_friction_positive", "coulomb_friction_negative"}) {
    expect_words(error_of(two_links(
                     "continuous", "",
                     control("shoulder", "<param name='" + std::string(name) + "'>-6.5</param>"))),
                 {"joint 'shoulder'", "line 9", name, "(-6.5)", "magnitude"});
  }
}

TEST(UrdfDrive, NamesTheStateInterfacesOfAJoint) {
  const UrdfModel model = read_urdf_text(
      two_links("continuous", "",
                control("shoulder",
                        "<state_interface name='position'/><state_interface name='effort'/>"
                        "<command_interface name='velocity'/><state_interface/>")));
  EXPECT_EQ(shoulder(model).state_interfaces, (std::set<std::string>{"position", "effort"}));
}

TEST(UrdfDrive, MalformedParametersAreErrors) {
  const auto message = [](const std::string& params) {
    return error_of(two_links("continuous", "", control("shoulder", params)));
  };
  expect_words(message("<param>1</param>"), {"joint 'shoulder'", "line 9", "add name"});
  expect_words(message("<param name='armature'/>"), {"line 9", "armature", "empty", "number"});
  expect_words(message("<param name='armature'>big</param>"), {"line 9", "'big'", "not a number"});
  expect_words(message("<param name='armature'>0<!-- -->x5</param>"), {"'0x5'", "not a number"});
  expect_words(message("<param name='armature'><v/>1</param>"), {"line 9", "<v>", "only a number"});
  expect_words(error_of(two_links("fixed", "", "<ros2_control>\n<joint/></ros2_control>")),
               {"<ros2_control> joint", "line 8", "add name"});
}

TEST(UrdfDrive, ContradictingBlocksAreAnErrorEqualOnesAreNot) {
  const std::string one = control("shoulder", "<param name='armature'>1</param>");
  const std::string two = control("shoulder", "<param name='armature'>2</param>");
  EXPECT_EQ(shoulder(read_urdf_text(two_links("continuous", "", one + one))).armature, 1);
  expect_words(error_of(two_links("continuous", "", one + two)),
               {"joint 'shoulder'", "line 12", "armature is 2", "1 at line 9", "keep one"});
}

TEST(UrdfDrive, UnknownJointIsAWarning) {
  const UrdfModel model = read_urdf_text(two_links("continuous", "", control("elbow", "")));
  ASSERT_EQ(model.warnings.size(), 1u);
  expect_words(model.warnings[0], {"<ros2_control> joint 'elbow'", "line 8", "correct the name"});
}

// ---- faults --------------------------------------------------------------------------------

TEST(UrdfFaults, AreThrownOrCollected) {
  const std::pair<std::string, const char*> cases[] = {
      {two_links("continuous", "<axis xyz='0 0 0'/>"), "is zero"},
      {two_links("revolute", "<limit lower='2' upper='-1' velocity='1' effort='1'/>"), "swap"},
      {two_links("continuous", "<dynamics friction='-1'/>"), "negative (-1)"},
      {two_links("continuous", "<mimic joint='nobody'/>"), "does not exist"},
      {two_links("continuous", "<xacro:sensor/>"), "xacro FILE"},
      {two_links("continuous", "<axis xyz='0 0 1'/><axis xyz='0 1 0'/>"), "second <axis>"},
      {two_links("continuous", "<origin quat_xyzw='0 0 0 1'/>"), "quat_xyzw"},
      {one_link(inertia("-1", "1 0 0 1 0 1")), "mass is negative"},
      {one_link(inertia("1", "-1 0 0 1 0 1")), "not positive definite"},
  };
  for (const auto& [text, words] : cases) {
    expect_words(error_of(text), {words, "line"});
    const UrdfModel model = read_urdf_text(text, {.collect_faults = true});
    ASSERT_EQ(model.faults.size(), 1u) << text;
    EXPECT_EQ(model.faults[0], error_of(text));
    for (const UrdfJoint& joint : model.joints) {
      EXPECT_NEAR(std::hypot(joint.axis[0], joint.axis[1], joint.axis[2]), 1, 1e-15);
      EXPECT_GE(joint.coulomb_positive, 0);
      EXPECT_FALSE(joint.lower || joint.upper);
    }
  }
  EXPECT_THROW(read_urdf_text("<robot name='r'/>", {.collect_faults = true}), DescriptionError)
      << "there is no tree to show";
}

TEST(UrdfFaults, TellGivenDrivesFromAbsentOnes) {
  EXPECT_FALSE(shoulder(read_urdf_text(two_links("continuous", ""))).friction_given);
  const UrdfModel zero = read_urdf_text(two_links("continuous", "<dynamics friction='0'/>"));
  EXPECT_TRUE(shoulder(zero).friction_given);
  EXPECT_FALSE(shoulder(zero).armature_given);
  const UrdfModel armature = read_urdf_text(
      two_links("continuous", "", control("shoulder", "<param name='armature'>0.1</param>")));
  EXPECT_TRUE(shoulder(armature).armature_given);
  EXPECT_FALSE(shoulder(armature).friction_given);
}

}  // namespace
}  // namespace ga_dynamics::test
