// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <urdf_parser/urdf_parser.h>

#include <chrono>
#include <clocale>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <locale>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ga_dynamics/urdf_model.hpp"

namespace {

using namespace ga_dynamics;

/// What read_urdf_text throws; empty, with a failed test, if it accepts the text.
std::string error_of(const std::string& text, bool strict = false) {
  try {
    read_urdf_text(text, {strict});
  } catch (const DescriptionError& error) {
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text.substr(0, 500);
  return {};
}

void expect_words(const std::string& message, std::initializer_list<const char*> words) {
  for (const char* const word : words) {
    EXPECT_NE(message.find(word), std::string::npos) << "'" << word << "' not in: " << message;
  }
}

/// Line 1 <robot>, line 2 link base, line 3 link arm, line 4 joint shoulder, line 5 its content,
/// from line 7 on `more`.
std::string two_links(const std::string& type, const std::string& joint_content,
                      const std::string& more = "") {
  return "<robot name='r'>\n<link name='base'/>\n<link name='arm'/>\n<joint name='shoulder' "
         "type='" +
         type + "'><parent link='base'/><child link='arm'/>\n" + joint_content + "\n</joint>\n" +
         more + "</robot>";
}

/// Line 1 <robot>, line 2 link forearm, line 3 its <inertial>, line 4 `content`.
std::string one_link(const std::string& content) {
  return "<robot name='r'>\n<link name='forearm'>\n<inertial>\n" + content +
         "\n</inertial></link></robot>";
}

std::string inertia(const std::string& mass, const std::string& six) {
  std::istringstream values(six);
  std::string text = "<mass value='" + mass + "'/><inertia", value;
  for (const char* const name : {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}) {
    values >> value;
    text += std::string(" ") + name + "='" + value + "'";
  }
  return text + "/>";
}

const UrdfJoint& shoulder(const UrdfModel& model) {
  return model.joints.at(static_cast<std::size_t>(find_joint(model, "shoulder")));
}

const char* const kLimit = "<limit lower='-1' upper='2' velocity='3' effort='4'/>";

void expect_vector(const Vector3& actual, const Vector3& expected, double tolerance = 0) {
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(actual[i], expected[i], tolerance) << "component " << i;
  }
}

// ---- the whole text ------------------------------------------------------------------------

TEST(UrdfText, EmptyIsAnError) {
  expect_words(error_of(""), {"empty", "<robot"});
  expect_words(error_of(" \n\t"), {"empty", "<robot"});
  expect_words(error_of("<!-- nothing -->"), {"no element", "<robot"});
}

TEST(UrdfText, MalformedXmlTellsTheLine) {
  expect_words(error_of("<robot name='r'>\n<link name='a'>\n</robot>"),
               {"malformed XML", "line 2", "MISMATCHED", "close every tag"});
}

TEST(UrdfText, RepeatedAttributeIsAnError) {
  expect_words(error_of("<robot name='r'>\n<link name='a' name='b'/></robot>"),
               {"line 2", "each name once"});
}

TEST(UrdfText, ForeignRootIsAnError) {
  expect_words(error_of("\n<sdf/>"), {"<sdf>", "line 2", "<robot>"});
}

TEST(UrdfText, NothingMayStandBesideTheRoot) {
  const std::string robot = "<robot name='r'><link name='a'/></robot>";
  expect_words(error_of(robot + "\n<robot/>"), {"<robot>", "line 2", "one root"});
  expect_words(error_of("junk\n" + robot), {"line 1", "'junk'", "remove"});
}

TEST(UrdfText, NulByteIsAnError) {
  const std::string text = "<robot name='r'>\n<link name='a'/></robot>";
  expect_words(error_of(text + std::string(1, '\0')), {"line 2", "NUL", "UTF-8"});
}

TEST(UrdfText, ByteOrderMarkIsNoHindrance) {
  EXPECT_EQ(read_urdf_text("\xEF\xBB\xBF<robot name='r'><link name='a'/></robot>").name, "r");
}

TEST(UrdfText, UnexpandedXacroElementIsAnError) {
  expect_words(
      error_of("<robot name='r'>\n<link name='a'/>\n<xacro:property name='x' value='1'/></robot>"),
      {"<xacro:property>", "line 3", "xacro FILE > robot.urdf"});
}

TEST(UrdfText, UnexpandedXacroExpressionIsAnError) {
  expect_words(error_of(one_link("<mass value='${m}'/>")),
               {"link 'forearm'", "line 4", "'${m}'", "xacro FILE > robot.urdf"});
  expect_words(error_of(two_links("fixed", "<origin xyz='0 0 ${ 2 * h }'/>")),
               {"joint 'shoulder'", "line 5", "xacro FILE > robot.urdf"});
  expect_words(error_of("<robot name='r'><link name='$(arg p)a'/></robot>"),
               {"link", "xacro FILE"});
}

TEST(UrdfText, DeepNestingIsAnErrorNotAStackOverflow) {
  std::string text = "<robot name='r'>";
  for (int i = 0; i < 1'000'000; ++i) {
    text += "<a>";
  }
  expect_words(error_of(text), {"malformed XML", "line 1", "nested deeper"});
}

TEST(UrdfText, ManyAttributesAreRefusedInLinearTime) {
  std::string text = "<robot name='r'>\n<link";
  for (int i = 0; i < 1'000'000; ++i) {
    text += " a" + std::to_string(i) + "='>'";
  }
  expect_words(error_of(text + "/></robot>"), {"<link", "line 2", "100 attributes"});
}

TEST(UrdfText, AttributesInCommentsAndDataDoNotCount) {
  std::string quotes;
  for (int i = 0; i < 3000; ++i) {
    quotes += "a='' ";
  }
  const UrdfModel model = read_urdf_text(
      "<?xml version='1.0'?><!-- > <x " + quotes + " --><robot name='r'><link name='a'/><gazebo>" +
      "<![CDATA[> <x " + quotes + "]]>" + quotes + "</gazebo></robot>");
  EXPECT_EQ(model.links.size(), 1u);
}

TEST(UrdfText, TooLongIsAnError) {
  expect_words(error_of(std::string(kMaxUrdfBytes + 1, ' ')), {"longer than 16 MiB"});
}

TEST(UrdfText, LongChainIsReadInLinearTime) {
  constexpr int kJoints = 100'000;  // quadratic code would take minutes
  std::string text = "<robot name='r'><link name='l0'/>";
  for (int i = 1; i <= kJoints; ++i) {
    const std::string n = std::to_string(i);
    text += "<link name='l" + n + "'/><joint name='j" + n + "' type='fixed'><parent link='l" +
            std::to_string(i - 1) + "'/><child link='l" + n + "'/></joint>";
  }
  const auto start = std::chrono::steady_clock::now();
  const UrdfModel model = read_urdf_text(text + "</robot>");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(model.joints.back().parent, kJoints - 1);
}

TEST(UrdfText, MessagesShortenAndCleanWhatTheyQuote) {
  std::string name = "a\tb";
  for (int i = 0; i < 100; ++i) {
    name += "\u00e9";  // two bytes each: the cut must not fall between them
  }
  const std::string message =
      error_of("<robot name='r'><link name='" + name + "'/><link name='" + name + "'/></robot>");
  expect_words(message, {"link 'a b\u00e9", "\u00e9...' (line 1)"});
  EXPECT_LT(message.size(), 200u);
}

TEST(UrdfText, NamelessRobotIsAWarning) {
  const UrdfModel model = read_urdf_text("\n<robot><link name='a'/></robot>");
  ASSERT_EQ(model.warnings.size(), 1u);
  expect_words(model.warnings[0], {"robot", "line 2", "add name"});
}

TEST(UrdfText, StrictMakesWarningsErrors) {
  expect_words(error_of("\n<robot><link name='a'/></robot>", true),
               {"robot", "line 2", "add name"});
}

// ---- files ---------------------------------------------------------------------------------

TEST(UrdfFile, MissingFileAndDirectoryAreNamed) {
  const auto message = [](const std::filesystem::path& path) -> std::string {
    try {
      read_urdf_file(path);
    } catch (const DescriptionError& error) {
      return error.what();
    }
    return "accepted";
  };
  expect_words(message("/no/such/robot.urdf"), {"/no/such/robot.urdf", "No such file", "check"});
  expect_words(message(std::filesystem::temp_directory_path()), {"is a directory"});
  expect_words(message("/dev/zero"), {"/dev/zero", "longer than 16 MiB"});
}

TEST(UrdfFile, ReadsLikeTextAndPutsThePathBeforeErrors) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("test_urdf_reader_" + std::to_string(std::random_device{}()) + ".urdf");
  std::ofstream(path) << one_link(inertia("2", "1 0 0 1 0 1"));
  EXPECT_EQ(read_urdf_file(path).links.at(0).inertial->mass, 2);
  std::ofstream(path) << one_link(inertia("-2", "1 0 0 1 0 1"));
  try {
    read_urdf_file(path);
    ADD_FAILURE() << "accepted a negative mass";
  } catch (const DescriptionError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(path.string() + ": link 'forearm' (line 4)"))
        << error.what();
  }
  std::filesystem::remove(path);
}

// ---- numbers -------------------------------------------------------------------------------

TEST(UrdfNumber, PlainFormsAreRead) {
  for (const auto& [text, value] : std::initializer_list<std::pair<const char*, double>>{
           {"1", 1}, {"+1.5", 1.5}, {" \t2.\n", 2}, {".5", .5}, {"1e-3", 1e-3}, {"1E+2", 100}}) {
    const UrdfModel model = read_urdf_text(one_link(inertia(text, "1 0 0 1 0 1")));
    EXPECT_EQ(model.links[0].inertial->mass, value) << text;
  }
}

TEST(UrdfNumber, JunkIsAnError) {
  for (const char* const text :
       {"abc", "1,5", "1.5kg", "0x10", "1e", "+-1", "++1", "+", "1 2", "--1"}) {
    expect_words(
        error_of(one_link(inertia(text, "1 0 0 1 0 1"))),
        {"link 'forearm'", "line 4", "<mass> value", text, "is not a number", "plain decimal"});
  }
}

TEST(UrdfNumber, NotFiniteIsAnError) {
  for (const char* const text : {"nan", "inf", "-inf", "+infinity", "NaN"}) {
    expect_words(error_of(one_link(inertia("1", std::string(text) + " 0 0 1 0 1"))),
                 {"link 'forearm'", "line 4", "<inertia> ixx", text, "give a finite number"});
  }
}

TEST(UrdfNumber, OverflowIsAnErrorAndUnderflowIsZero) {
  expect_words(error_of(one_link(inertia("1e999", "1 0 0 1 0 1"))), {"'1e999'", "too large"});
  expect_words(error_of(one_link(inertia("-1e999", "1 0 0 1 0 1"))), {"'-1e999'", "too large"});
  const UrdfModel model = read_urdf_text(one_link(inertia("1", "1 1e-999 0 1 0 1")));
  EXPECT_EQ(model.links[0].inertial->ixy, 0);
}

TEST(UrdfNumber, DoesNotFollowTheLocale) {
  struct DecimalComma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
  };
  const std::locale before =
      std::locale::global(std::locale(std::locale::classic(), new DecimalComma));
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // the C library's as well, where it is installed
  const UrdfModel model = read_urdf_text(one_link(inertia("0.5", "1 0 0 1 0 1")));
  const std::string overflow = error_of(one_link(inertia("0.5e999", "1 0 0 1 0 1")));
  const std::string message = error_of(one_link(inertia("-0.5", "1 0 0 1 0 1")));
  std::locale::global(before);
  EXPECT_EQ(model.links[0].inertial->mass, 0.5);
  expect_words(message, {"(-0.5)"});
  expect_words(overflow, {"'0.5e999'", "too large"});
}

TEST(UrdfNumber, VectorsNeedExactlyThree) {
  for (const char* const text : {"", "1", "1 2", "1 2 3 4"}) {
    expect_words(error_of(two_links("fixed", "<origin xyz='" + std::string(text) + "'/>")),
                 {"joint 'shoulder'", "line 5", "<origin> xyz", text, "exactly three"});
  }
  expect_words(error_of(two_links("fixed", "<origin rpy='0 x 0'/>")),
               {"<origin> rpy", "'x'", "not a number"});
}

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
               {"link 'forearm'", "line 4", "triangle", "1, 2, 3.5", "centre of mass"});
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

TEST(UrdfLimit, SwappedNegativeAndNotFiniteAreErrors) {
  expect_words(
      error_of(two_links("revolute", "<limit lower='2' upper='-1' velocity='1' effort='1'/>")),
      {"joint 'shoulder'", "line 5", "lower limit 2", "-1", "swap"});
  expect_words(error_of(two_links("revolute", "<limit lower='1' velocity='1' effort='1'/>")),
               {"joint 'shoulder'", "lower limit 1", "upper limit 0 (0 where absent)"});
  for (const char* const name : {"velocity", "effort"}) {
    expect_words(error_of(two_links("continuous", "<limit " + std::string(name) + "='-3'/>")),
                 {"joint 'shoulder'", "line 5", name, "(-3)", "magnitude"});
    expect_words(error_of(two_links("continuous", "<limit " + std::string(name) + "='inf'/>")),
                 {"joint 'shoulder'", "line 5", name, "'inf'", "finite"});
  }
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

// ---- the tree ------------------------------------------------------------------------------

/// Links a, b, c on lines 2 to 4 and fixed joints from line 5 on, each written as "parent child".
std::string tree(std::initializer_list<const char*> joints) {
  std::string text = "<robot name='r'>\n<link name='a'/>\n<link name='b'/>\n<link name='c'/>\n";
  for (const std::string joint : joints) {
    text += "<joint name='" + joint + "' type='fixed'><parent link='" + joint.substr(0, 1) +
            "'/><child link='" + joint.substr(2) + "'/></joint>\n";
  }
  return text + "</robot>";
}

TEST(UrdfTree, IsConnectedBothWays) {
  const UrdfModel model = read_urdf_text(tree({"c b", "c a"}), {true});
  EXPECT_EQ(model.root, find_link(model, "c"));
  EXPECT_EQ(model.links[2].child_joints, (std::vector<int>{0, 1}));
  EXPECT_EQ(model.links[2].parent_joint, -1);
  EXPECT_EQ(model.links[0].parent_joint, 1);
  EXPECT_EQ(model.joints[1].parent, 2);
  EXPECT_EQ(model.joints[1].child, 0);
  EXPECT_EQ(model.joints[1].line, 6);
  EXPECT_EQ(find_joint(model, "c a"), 1);
  EXPECT_EQ(find_joint(model, "a c"), -1);
  EXPECT_EQ(find_link(model, "d"), -1);
}

TEST(UrdfTree, NoLinksIsAnError) {
  expect_words(error_of("\n<robot name='r'/>"), {"robot 'r'", "line 2", "add at least one"});
}

TEST(UrdfTree, TwoParentsAreALoop) {
  expect_words(error_of(tree({"a b", "a c", "b c"})),
               {"link 'c'", "line 4", "'a c' (line 6)", "'b c' (line 7)", "loop", "remove one"});
}

TEST(UrdfTree, CycleOfAllLinksIsNamed) {
  expect_words(
      error_of(tree({"a b", "b c", "c a"})),
      {"line 2", "cycle", "'a' (line 2) -> 'b' (line 3) -> 'c' (line 4)", "remove a joint"});
}

TEST(UrdfTree, CycleBesideTheRootIsNamed) {
  expect_words(error_of(tree({"b c", "c b"})), {"cycle", "'b' (line 3)", "'c' (line 4)", "remove"});
}

TEST(UrdfTree, SeveralRootsAreNamed) {
  expect_words(error_of(tree({"a b"})),
               {"robot 'r'", "line 1", "2 root", "'a' (line 2), 'c' (line 4)", "connect"});
}

// ---- the same text through urdfdom ---------------------------------------------------------

struct RandomText {
  std::mt19937_64 engine{20240607};

  double number(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  }
  std::string three(double low, double high) {
    std::ostringstream text;
    text.precision(17);
    text << number(low, high) << " " << number(low, high) << " " << number(low, high);
    return text.str();
  }
  std::string origin() { return "<origin xyz='" + three(-1, 1) + "' rpy='" + three(-4, 4) + "'/>"; }

  std::string robot(int links) {
    std::ostringstream text;
    text.precision(17);
    text << "<robot name='random'>";
    for (int i = 0; i < links; ++i) {
      // Diagonally dominant with moments near 1: definite, and inside the triangle inequality.
      text << "<link name='l" << i << "'><inertial>" << origin() << "<mass value='" << number(0, 9)
           << "'/><inertia ixx='" << number(1, 1.2) << "' ixy='" << number(-.1, .1) << "' ixz='"
           << number(-.1, .1) << "' iyy='" << number(1, 1.2) << "' iyz='" << number(-.1, .1)
           << "' izz='" << number(1, 1.2) << "'/></inertial></link>\n";
      if (i > 0) {
        const char* const types[] = {"revolute", "continuous", "prismatic", "fixed"};
        text << "<joint name='j" << i << "' type='" << types[engine() % 4] << "'><parent link='l"
             << engine() % static_cast<unsigned>(i) << "'/><child link='l" << i << "'/>" << origin()
             << "<axis xyz='" << three(-1, 1) << "'/><limit lower='" << number(-3, 0) << "' upper='"
             << number(0, 3) << "' velocity='" << number(0, 9) << "' effort='" << number(0, 99)
             << "'/><dynamics damping='" << number(0, 1) << "' friction='" << number(0, 1)
             << "'/></joint>\n";
      }
    }
    return text.str() + "</robot>";
  }
};

void expect_same_pose(const Pose& ours, const urdf::Pose& theirs) {
  expect_vector(ours.translation, {theirs.position.x, theirs.position.y, theirs.position.z}, 1e-15);
  for (std::size_t column = 0; column < 3; ++column) {
    const urdf::Vector3 e(column == 0 ? 1 : 0, column == 1 ? 1 : 0, column == 2 ? 1 : 0);
    const urdf::Vector3 turned = theirs.rotation * e;
    expect_vector({ours.rotation[column], ours.rotation[3 + column], ours.rotation[6 + column]},
                  {turned.x, turned.y, turned.z}, 1e-14);
  }
}

class AgainstUrdfdom : public ::testing::Test {
 protected:
  const std::string text_ = RandomText{}.robot(30);
  const UrdfModel ours_ = read_urdf_text(text_);
  const urdf::ModelInterfaceSharedPtr theirs_ = urdf::parseURDF(text_);
};

TEST_F(AgainstUrdfdom, LinksAndInertialsAgree) {
  ASSERT_TRUE(theirs_);
  ASSERT_EQ(ours_.links.size(), 30u);
  EXPECT_EQ(ours_.links[static_cast<std::size_t>(ours_.root)].name, theirs_->getRoot()->name);
  for (const UrdfLink& link : ours_.links) {
    SCOPED_TRACE(link.name);
    const auto theirs = theirs_->getLink(link.name)->inertial;
    ASSERT_TRUE(theirs && link.inertial);
    expect_same_pose(link.inertial->origin, theirs->origin);
    EXPECT_DOUBLE_EQ(link.inertial->mass, theirs->mass);
    EXPECT_DOUBLE_EQ(link.inertial->ixx, theirs->ixx);
    EXPECT_DOUBLE_EQ(link.inertial->ixy, theirs->ixy);
    EXPECT_DOUBLE_EQ(link.inertial->ixz, theirs->ixz);
    EXPECT_DOUBLE_EQ(link.inertial->iyy, theirs->iyy);
    EXPECT_DOUBLE_EQ(link.inertial->iyz, theirs->iyz);
    EXPECT_DOUBLE_EQ(link.inertial->izz, theirs->izz);
  }
}

TEST_F(AgainstUrdfdom, JointsAgree) {
  ASSERT_TRUE(theirs_);
  ASSERT_EQ(ours_.joints.size(), 29u);
  for (const UrdfJoint& joint : ours_.joints) {
    SCOPED_TRACE(joint.name);
    const auto theirs = theirs_->getJoint(joint.name);
    EXPECT_EQ(joint.parent_link, theirs->parent_link_name);
    EXPECT_EQ(joint.child_link, theirs->child_link_name);
    expect_same_pose(joint.origin, theirs->parent_to_joint_origin_transform);
    if (joint.type != UrdfJointType::kFixed) {  // urdfdom leaves a fixed joint's axis at zero
      const urdf::Vector3 axis = theirs->axis;  // and does not normalise
      const double norm = std::hypot(axis.x, axis.y, axis.z);
      expect_vector(joint.axis, {axis.x / norm, axis.y / norm, axis.z / norm}, 1e-15);
    }
    if (joint.lower) {
      EXPECT_DOUBLE_EQ(*joint.lower, theirs->limits->lower);
      EXPECT_DOUBLE_EQ(*joint.upper, theirs->limits->upper);
    }
    EXPECT_DOUBLE_EQ(joint.velocity.value(), theirs->limits->velocity);
    EXPECT_DOUBLE_EQ(joint.effort.value(), theirs->limits->effort);
    EXPECT_DOUBLE_EQ(joint.viscous_friction, theirs->dynamics->damping);
    EXPECT_DOUBLE_EQ(joint.coulomb_positive, theirs->dynamics->friction);
  }
}

}  // namespace
