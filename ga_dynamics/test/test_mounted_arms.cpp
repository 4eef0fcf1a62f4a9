// SPDX-License-Identifier: Apache-2.0

// Gravity is given in the root link's frame, wherever the chain begins: arms on floors, walls,
// ceilings and on moving bases, against urdfdom and KDL, and against the chain from the root.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "kdl_from_urdf.hpp"

namespace ga_dynamics {
namespace {

std::string link(const std::string& name) {
  return "<link name='" + name +
         "'><inertial><origin xyz='0.1 0.02 0.03'/><mass value='2'/><inertia ixx='0.1' iyy='0.2' "
         "izz='0.15' ixy='0.01' ixz='0' iyz='0.02'/></inertial></link>\n";
}

std::string joint(const std::string& name, const std::string& type, const std::string& parent,
                  const std::string& child, const std::string& rpy, const std::string& axis) {
  return "<joint name='" + name + "' type='" + type + "'><origin xyz='0.1 0 0.3' rpy='" + rpy +
         "'/><parent link='" + parent + "'/><child link='" + child + "'/><axis xyz='" + axis +
         "'/><limit lower='-3' upper='3' velocity='1' effort='1'/></joint>\n";
}

/// world – (mount) – plate – (fixed, turned) – base – three joints
std::string mounted(const std::string& rpy, const std::string& type = "fixed",
                    const std::string& axis = "0 0 1") {
  return "<robot name='r'>\n" + link("world") + link("plate") + link("base") + link("a") +
         link("b") + link("c") + joint("mount", type, "world", "plate", rpy, axis) +
         joint("plate_to_base", "fixed", "plate", "base", "0.3 -0.2 0.5", "0 0 1") +
         joint("j1", "continuous", "base", "a", "0 0 0", "0 0 1") +
         joint("j2", "revolute", "a", "b", "1.5707963267948966 0 0", "0 0 1") +
         joint("j3", "prismatic", "b", "c", "0 0.4 0", "1 0 0") + "</robot>";
}

std::vector<double> torques(const Chain& chain) {
  Dynamics dynamics(chain);
  const std::vector<double> q{0.4, -0.7, 0.2}, qd{1, 2, -0.5}, qdd{0.3, 1, -2};
  std::vector<double> torque(3);
  dynamics.inverse_dynamics(q, qd, qdd, torque);
  return torque;
}

class Mount : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Mounts, Mount,
                         testing::Values("0 0 0", "1.5707963267948966 0 0",  // wall
                                         "0 1.5707963267948966 0", "0 -1.5707963267948966 0",
                                         "3.141592653589793 0 0",  // ceiling
                                         "0.2 1.1 -2.3"));

TEST_P(Mount, TorquesDoNotDependOnWhichLinkIsTheBase) {
  const std::string text = mounted(GetParam());
  const Chain from_root = Chain::from_urdf_text(text);
  ASSERT_EQ(from_root.base().name, "world");
  const std::vector<double> expected = torques(from_root);
  for (const char* const base : {"plate", "base"}) {
    const Chain chain = Chain::from_urdf_text(text, {.base = base});
    const std::vector<double> found = torques(chain);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(found[i], expected[i], 1e-12 * std::abs(expected[i]) + 1e-12) << base;
    }
    EXPECT_LT(test::difference_from_kdl(text, chain), 1e-13) << base;
    EXPECT_EQ(chain.gravity_in_root(), (Vector3{0, 0, -9.81}));
    const std::vector<double> again = torques(chain.with_gravity({1, 2, 3}));
    const std::vector<double> there = torques(from_root.with_gravity({1, 2, 3}));
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(again[i], there[i], 1e-11);
  }
  EXPECT_LT(test::difference_from_kdl(text, from_root), 1e-13);
}

TEST(Mounts, GravityInTheBaseFrameIsTurned) {
  const Chain ceiling = Chain::from_urdf_text(mounted("3.141592653589793 0 0"), {.base = "plate"});
  EXPECT_NEAR(ceiling.gravity()[2], 9.81, 1e-14);
  const Chain wall = Chain::from_urdf_text(mounted("1.5707963267948966 0 0"), {.base = "plate"});
  EXPECT_NEAR(wall.gravity()[1], -9.81, 1e-14);
  EXPECT_NEAR(wall.gravity()[2], 0, 1e-14);
}

std::string error_of(const std::string& text, const ChainOptions& options) {
  try {
    Chain::from_urdf_text(text, options);
  } catch (const DescriptionError& error) {
    return error.what();
  }
  return "no error";
}

TEST(MovingMounts, AreAnErrorUnlessTheirPositionIsGiven) {
  const std::string text = mounted("0 0 0", "revolute", "0 1 0");
  for (const bool freeze_others : {false, true}) {
    const std::string said = error_of(text, {.base = "base", .freeze_off_chain = freeze_others});
    for (const char* const word : {"joint 'mount' (line 8)", "base link 'base'",
                                   "root link 'world'", "gravity", "--freeze mount=POSITION"}) {
      EXPECT_NE(said.find(word), std::string::npos) << word << " not in: " << said;
    }
  }
  const double tilt = 0.7;
  const std::vector<double> tilted =
      torques(Chain::from_urdf_text(text, {.base = "base", .freeze = {{"mount", tilt}}}));
  const std::vector<double> fixed =
      torques(Chain::from_urdf_text(mounted("0 0.7 0"), {.base = "base"}));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(tilted[i], fixed[i], 1e-12);
}

TEST(MovingMounts, ThatCannotTurnGravityMayBeFrozenWithAllOthers) {
  for (const auto& [type, axis] :
       {std::pair{"prismatic", "1 0 0"}, std::pair{"continuous", "0 0 1"},
        std::pair{"continuous", "0 0 -1"}}) {
    const std::string text = mounted("0 0 0", type, axis);
    EXPECT_NE(error_of(text, {.base = "base"}).find("--freeze mount"), std::string::npos) << type;
    const std::vector<double> found =
        torques(Chain::from_urdf_text(text, {.base = "base", .freeze_off_chain = true}));
    const std::vector<double> expected =
        torques(Chain::from_urdf_text(mounted("0 0 0"), {.base = "base"}));
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << type;
  }
  // Under another gravity the same joint turns it.
  EXPECT_NE(error_of(mounted("0 0 0", "continuous", "0 0 1"),
                     {.base = "base", .gravity = {0, -9.81, 0}, .freeze_off_chain = true})
                .find("--freeze mount"),
            std::string::npos);
  EXPECT_EQ(error_of(mounted("0 0 0", "revolute", "0 1 0"),
                     {.base = "base", .gravity = {0, 0, 0}, .freeze_off_chain = true}),
            "no error");
}

TEST(MovingMounts, FloatingBasesAreFixedByName) {
  const std::string text = mounted("0 0 0", "floating");
  EXPECT_NE(error_of(text, {.base = "base", .freeze_off_chain = true}).find("--freeze mount"),
            std::string::npos);
  EXPECT_EQ(Chain::from_urdf_text(text, {.base = "base", .freeze = {{"mount", 0}}}).size(), 3);
}

}  // namespace
}  // namespace ga_dynamics
