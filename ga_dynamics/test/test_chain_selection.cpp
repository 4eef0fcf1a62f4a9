// SPDX-License-Identifier: Apache-2.0

// Which chain is chosen without being told, what has to be decided, and in which words.

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_dynamics {
namespace {

/// A description by its joints; links come with them, and all have inertia.
class Robot {
 public:
  Robot& add(const std::string& name, const std::string& parent, const std::string& child,
             const std::string& type = "continuous", const std::string& inside = "") {
    add_link(parent);
    add_link(child);
    joints_ += "<joint name='" + name + "' type='" + type +
               "'><origin xyz='0.1 0 0.2'/><parent link='" + parent + "'/><child link='" + child +
               "'/><axis xyz='0 1 0'/>" + inside + "</joint>\n";
    return *this;
  }
  /// `count` revolute joints in a row: link NAME1, NAME2, …
  Robot& arm(const std::string& name, const std::string& parent, int count) {
    std::string last = parent;
    for (int i = 1; i <= count; ++i) {
      const std::string next = name + std::to_string(i);
      add(next + "_joint", last, next);
      last = next;
    }
    return *this;
  }
  UrdfModel model() const {
    return read_urdf_text("<robot name='r'>" + links_ + joints_ + "</robot>");
  }
  ChainSelection survey(const ChainOptions& options = {}) const {
    return survey_chain(model(), options);
  }
  Chain chain(const ChainOptions& options = {}) const {
    return Chain::from_model(model(), options);
  }

 private:
  void add_link(const std::string& name) {
    const std::string start = "<link name='" + name + "'>";
    if (links_.find(start) != std::string::npos) return;
    links_ += start +
              "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "
              "iyz='0'/></inertial></link>\n";
  }
  std::string links_, joints_;
};

void expect_words(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words)
    EXPECT_NE(text.find(word), std::string::npos) << "'" << word << "' not in: " << text;
}

std::string question(const ChainSelection& selection) {
  return selection.questions.empty() ? "no question" : selection.questions.front().text;
}

const char* const kLimit = "<limit lower='0' upper='0.04' velocity='1' effort='20'/>";

TEST(DefaultTip, IsBeforeAParallelGripper) {
  Robot robot;
  robot.arm("a", "base", 6)
      .add("mount", "a6", "flange", "fixed")
      .add("hand_mount", "flange", "hand", "fixed");
  robot.add("tcp", "hand", "hand_tcp", "fixed");
  robot.add("finger_1", "hand", "left", "prismatic", kLimit);
  robot.add("finger_2", "hand", "right", "prismatic", kLimit);
  const Chain chain = robot.chain();
  EXPECT_EQ(chain.size(), 6);
  EXPECT_EQ(chain.tip().name, "hand");
  ASSERT_EQ(chain.warnings().size(), 1U);
  expect_words(chain.warnings()[0], {"'finger_1' (line", "'finger_2'", "gripper", "fixed at 0",
                                     "--freeze finger_1=POSITION", "--freeze all"});
  EXPECT_DOUBLE_EQ(chain.joints()[5].body.mass, 6) << "a6, flange, hand, hand_tcp and the fingers";
  EXPECT_THROW(robot.chain({.strict = true}), DescriptionError);
  EXPECT_TRUE(robot.chain({.freeze_off_chain = true}).warnings().empty());
  EXPECT_TRUE(robot.chain({.freeze = {{"finger_1", 0.02}, {"finger_2", 0.02}}}).warnings().empty());
}

TEST(DefaultTip, IsBeforeAGripperWithOneDrivenFinger) {
  Robot robot;
  robot.arm("a", "base", 6).add("left", "a6", "l", "prismatic", kLimit);
  robot.add("right", "a6", "r", "prismatic", std::string(kLimit) + "<mimic joint='left'/>");
  EXPECT_EQ(robot.chain().tip().name, "a6");
  EXPECT_EQ(robot.chain().size(), 6);
}

TEST(DefaultTip, IsBeforeALinkageGripper) {
  // As the common two-finger linkages: one driven knuckle, five joints that follow it.
  Robot robot;
  robot.arm("a", "base", 6).add("driver", "a6", "l_knuckle");
  robot.add("m1", "l_knuckle", "l_finger", "continuous", "<mimic joint='driver'/>");
  robot.add("m2", "a6", "l_inner", "continuous", "<mimic joint='driver'/>");
  robot.add("m3", "a6", "r_knuckle", "continuous", "<mimic joint='driver'/>");
  robot.add("m4", "r_knuckle", "r_finger", "continuous", "<mimic joint='driver'/>");
  EXPECT_EQ(robot.chain().tip().name, "a6");
}

TEST(DefaultTip, IsBeforeAHandWithFingersOfSeveralJoints) {
  Robot robot;
  robot.arm("a", "base", 7).arm("thumb", "a7", 4);
  for (const char* finger : {"index", "middle", "ring"}) robot.arm(finger, "a7", 3);
  const ChainSelection selection = robot.survey();
  EXPECT_EQ(question(selection), "no question");
  EXPECT_EQ(robot.chain().tip().name, "a7");
  EXPECT_EQ(selection.gripper.size(), 13U);
  ASSERT_EQ(selection.branches.size(), 1U) << "fingers are no branches to choose from";
  EXPECT_EQ(selection.reason, "the only branch besides the gripper, with 7 actuated joints");
}

TEST(DefaultTip, AWristIsNoGripper) {
  // The last joint, and a passive linkage that follows a joint of the arm.
  Robot robot;
  robot.arm("a", "base", 6);
  robot.add("linkage", "a2", "rod", "continuous", "<mimic joint='a3_joint'/>");
  EXPECT_EQ(robot.survey().tip, find_link(robot.model(), "a6"));
  // It moves with the chain, so it loads it: leaving it out needs a request.
  expect_words(question(robot.survey()), {"joint 'linkage'", "--freeze all"});
}

TEST(DefaultTip, AWristJointBesideASlideIsNoGripper) {
  const Robot robot = Robot()
                          .arm("a", "base", 6)
                          .add("slide", "a5", "finger", "prismatic",
                               "<limit lower='0' upper='0.05' effort='20' velocity='0.1'/>");
  EXPECT_EQ(robot.survey().tip, find_link(robot.model(), "a6"));
  try {
    robot.chain();
    FAIL() << "two branches of six joints: one has to be chosen";
  } catch (const DescriptionError& error) {
    expect_words(error.what(), {"--tip a6", "--tip finger"});
  }
}

TEST(DefaultTip, TheTipCanLieInAFinger) {
  Robot robot;
  robot.arm("a", "base", 6).add("left", "a6", "l").add("right", "a6", "r");
  const Chain chain = robot.chain({.tip = "l"});
  EXPECT_EQ(chain.size(), 7);
  EXPECT_EQ(chain.tip().name, "l");
}

TEST(DefaultTip, AFingerThatFollowsTheChainIsAQuestion) {
  Robot robot;
  robot.arm("a", "base", 6).add("left", "a6", "l");
  robot.add("right", "a6", "r", "continuous", "<mimic joint='left'/>");
  expect_words(question(robot.survey({.tip = "l"})), {"'right'", "--freeze all"});
}

TEST(TwoArms, AreListedWithTheOptionsToPaste) {
  Robot robot;
  robot.add("lift", "base", "torso", "prismatic", kLimit).arm("l", "torso", 7).arm("r", "torso", 7);
  robot.arm("head", "torso", 2);
  const ChainSelection selection = robot.survey();
  expect_words(question(selection), {"ambiguous", "2 branches", "8 actuated joints",
                                     "--tip l7 --freeze all or --tip r7 --freeze all"});
  ASSERT_EQ(selection.branches.size(), 3U);
  EXPECT_EQ(selection.branches[0].choose, "--tip l7 --freeze all");
  EXPECT_EQ(selection.branches[2].choose, "--tip head2 --freeze all");
  EXPECT_EQ(selection.branches[2].joints, 3);
  EXPECT_EQ(selection.joints.size(), 8U) << "the first is surveyed all the same";
  EXPECT_EQ(robot.chain({.tip = "r7", .freeze_off_chain = true}).size(), 8);
  EXPECT_THROW(robot.chain({.tip = "r7"}), DescriptionError);
}

TEST(TwoArms, OnAFixedTorsoDoNotConcernEachOther) {
  Robot robot;
  robot.add("mount", "base", "torso", "fixed").arm("l", "torso", 7).arm("r", "torso", 7);
  EXPECT_EQ(robot.survey().branches[1].choose, "--tip r7");
  EXPECT_EQ(robot.chain({.tip = "r7", .strict = true}).size(), 7);
}

TEST(Options, AreSpelledAsParametersWhereTheyAreParameters) {
  Robot robot;
  robot.arm("l arm", "base", 2).arm("r", "base", 2);
  expect_words(question(robot.survey({.spelling = OptionSpelling::kParameters})),
               {"parameter tip: 'l arm2' or parameter tip: r2"});
  expect_words(question(robot.survey()), {"--tip 'l arm2' or --tip r2"});
  Robot branched;
  branched.arm("a", "base", 3).arm("camera", "a1", 1);
  expect_words(question(branched.survey({.spelling = OptionSpelling::kParameters})),
               {"parameter freeze_off_chain: true", "parameter freeze: camera1_joint"});
}

TEST(Questions, JointsThatCannotBeOnAChainAreSurveyedAsFrozen) {
  Robot robot;
  robot.add("free", "world", "base", "floating").arm("a", "base", 6);
  const ChainSelection selection = robot.survey();
  expect_words(question(selection), {"joint 'free'", "floating", "--freeze free"});
  ASSERT_EQ(selection.questions.size(), 1U);
  EXPECT_EQ(selection.questions[0].joints.size(), 1U);
  EXPECT_EQ(selection.joints.size(), 6U);
  EXPECT_EQ(robot.chain({.freeze = {{"free", 0}}}).size(), 6);
}

TEST(Questions, NoActuatedJoint) {
  Robot robot;
  robot.add("m", "base", "cup", "fixed");
  expect_words(question(robot.survey()), {"no moving joint", "'base'"});
  EXPECT_TRUE(robot.survey().joints.empty());
}

TEST(Questions, ManyBranchesAreSurveyedInReasonableTime) {
  Robot robot;
  for (int i = 0; i < 300; ++i) {
    robot.add("j" + std::to_string(i), "base", "leg" + std::to_string(i) + "_");
  }
  const ChainSelection selection = robot.survey();
  EXPECT_EQ(selection.branches.size(), 200U) << "as many as one may read";
  expect_words(question(selection), {"ambiguous", "…"});
}

TEST(FreezeArgument, IsAJointAPositionOrAll) {
  ChainOptions options;
  add_frozen("all", options);
  EXPECT_TRUE(options.freeze_off_chain);
  add_frozen("elbow", options);
  add_frozen("wrist=-.5", options);
  add_frozen("a=b=+1e-1", options);
  EXPECT_EQ(options.freeze,
            (std::map<std::string, double>{{"elbow", 0}, {"wrist", -.5}, {"a=b", .1}}));
  for (const char* bad : {"x=", "x=up", "x=nan", "x=1 2", "elbow=1"}) {
    EXPECT_THROW(add_frozen(bad, options), DescriptionError) << bad;
  }
}

}  // namespace
}  // namespace ga_dynamics
