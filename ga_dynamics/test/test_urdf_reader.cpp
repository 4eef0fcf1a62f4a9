// SPDX-License-Identifier: Apache-2.0

// Descriptions as a whole: text, files, numbers, the tree, and the same text through urdfdom.

#include <gtest/gtest.h>
#include <urdf_parser/urdf_parser.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <locale>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ga_dynamics/urdf_model.hpp"
#include "urdf_texts.hpp"

namespace ga_dynamics::test {
namespace {

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

/// Processor time for reading a chain, the least of several attempts, in seconds.
double reading_time(int joints, int attempts) {
  std::string text = "<robot name='r'><link name='l0'/>";
  for (int i = 1; i <= joints; ++i) {
    const std::string n = std::to_string(i);
    text += "<link name='l" + n + "'/><joint name='j" + n + "' type='fixed'><parent link='l" +
            std::to_string(i - 1) + "'/><child link='l" + n + "'/></joint>";
  }
  text += "</robot>";
  double least = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::clock_t start = std::clock();
    const UrdfModel model = read_urdf_text(text);
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    EXPECT_EQ(model.joints.back().parent, joints - 1);
  }
  return least;
}

TEST(UrdfText, LongChainIsReadInLinearTime) {
  // Eight times the joints take about 8 times as long; 64 times if each one walks through all.
  EXPECT_LT(reading_time(16'000, 5), 24 * reading_time(2'000, 20));
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
      const urdf::Vector3 axis = theirs->axis;  // and does not normalize
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

TEST(UrdfdomToo, TheFirstOfTwoOriginsCounts) {
  const std::string text =
      two_links("continuous", "<origin xyz='1 0 0'/><origin xyz='2 0 0'/><axis xyz='0 0 1'/>");
  const urdf::ModelInterfaceSharedPtr theirs = urdf::parseURDF(text);
  ASSERT_TRUE(theirs);
  EXPECT_EQ(theirs->getJoint("shoulder")->parent_to_joint_origin_transform.position.x, 1);
  EXPECT_EQ(shoulder(read_urdf_text(text)).origin.translation[0], 1);
}

}  // namespace
}  // namespace ga_dynamics::test
