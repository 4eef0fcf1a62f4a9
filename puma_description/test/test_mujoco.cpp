// SPDX-License-Identifier: Apache-2.0
// MuJoCo accepts the descriptions and computes the same inertia matrix as ga_dynamics.

#include <gtest/gtest.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "ga_dynamics/dynamics.hpp"

namespace {

constexpr std::size_t kJoints = 6;
constexpr int kConfigurations = 100;
constexpr double kTolerance = 1e-9;  // relative to the largest element of the matrix

struct FreeModel {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
};
struct FreeData {
  void operator()(mjData* data) const { mj_deleteData(data); }
};

std::filesystem::path description(const std::string& robot) {
  return std::filesystem::path(PUMA_URDF) / (robot + ".urdf");
}

/// The description without <visual> tags: MuJoCo does not support package:// URIs.
std::string without_visuals(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream stream;
  stream << file.rdbuf();
  std::string text = stream.str();
  const std::string open = "<visual>", close = "</visual>";
  for (auto begin = text.find(open); begin != std::string::npos; begin = text.find(open, begin)) {
    text.erase(begin, text.find(close, begin) + close.size() - begin);
  }
  return text;
}

using Model = std::unique_ptr<mjModel, FreeModel>;

/// Null if MuJoCo rejects the text; `error` contains the reason, or a warning.
Model load(const std::string& text, std::string& error) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("puma" + std::to_string(std::random_device{}()) + ".urdf");
  std::ofstream(path) << text;
  std::array<char, 1000> message{};
  Model model(mj_loadXML(path.c_str(), nullptr, message.data(), static_cast<int>(message.size())));
  std::filesystem::remove(path);
  error = message.data();
  return model;
}

void replace(std::string& text, const std::string& old, const std::string& replacement) {
  const auto begin = text.find(old);
  ASSERT_NE(begin, std::string::npos) << old;
  text.replace(begin, old.size(), replacement);
}

class MujocoTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::string error;
    model = load(without_visuals(description(GetParam())), error);
    ASSERT_TRUE(model) << error;
    EXPECT_EQ(error, "") << "MuJoCo warns";
    data.reset(mj_makeData(model.get()));
    ASSERT_EQ(model->nv, static_cast<int>(kJoints));
  }

  /// Compares the inertia matrices at random configurations within the limits.
  void expect_same_inertia(ga_dynamics::Dynamics& dynamics) {
    std::mt19937 generator(5);
    std::vector<double> q(kJoints), ours(kJoints * kJoints), theirs(kJoints * kJoints);
    for (int k = 0; k < kConfigurations; ++k) {
      for (std::size_t i = 0; i < kJoints; ++i) {
        const auto& limits = dynamics.chain().joints()[i].limits;
        q[i] = std::uniform_real_distribution(limits.lower, limits.upper)(generator);
        data->qpos[i] = q[i];
      }
      mj_forward(model.get(), data.get());
      mj_fullM(model.get(), theirs.data(), data->qM);
      dynamics.inertia_matrix(q, ours);
      const double largest = *std::max_element(theirs.begin(), theirs.end());
      for (std::size_t i = 0; i < ours.size(); ++i) {
        ASSERT_NEAR(ours[i], theirs[i], kTolerance * largest)
            << "configuration " << k << ", element " << i / kJoints << ',' << i % kJoints;
      }
    }
  }

  Model model;
  std::unique_ptr<mjData, FreeData> data;
};

TEST_P(MujocoTest, JointsAreInOurOrder) {
  for (int i = 0; i < model->njnt; ++i) {
    EXPECT_EQ(mj_id2name(model.get(), mjOBJ_JOINT, i), "joint" + std::to_string(i + 1));
  }
}

TEST_P(MujocoTest, RigidBodiesHaveTheSameInertiaMatrix) {
  ga_dynamics::Dynamics dynamics(
      ga_dynamics::Chain::from_urdf_file(description(GetParam()), {.strict = true}));
  expect_same_inertia(dynamics);
}

// URDF has no tag for rotor inertia, so MuJoCo gets it separately.
TEST_P(MujocoTest, ArmatureAddsToTheDiagonalAlike) {
  ga_dynamics::Dynamics dynamics(ga_dynamics::Chain::from_urdf_file(description(GetParam())),
                                 {.drives = ga_dynamics::Drives::kArmature});
  for (std::size_t i = 0; i < kJoints; ++i) {
    const double armature = dynamics.chain().joints()[i].drive.armature;
    EXPECT_GT(armature, 0);
    model->dof_armature[i] = armature;
  }
  expect_same_inertia(dynamics);
}

TEST_P(MujocoTest, GravityLoadIsTheSame) {
  ga_dynamics::Dynamics dynamics(ga_dynamics::Chain::from_urdf_file(description(GetParam())));
  const std::vector<double> q{0.3, -0.5, 0.7, 1.1, -0.4, 0.2};
  std::vector<double> ours(kJoints);
  std::copy(q.begin(), q.end(), data->qpos);
  mj_forward(model.get(), data.get());
  dynamics.gravity(q, ours);
  for (std::size_t i = 0; i < kJoints; ++i) {
    EXPECT_NEAR(ours[i], data->qfrc_bias[i], 1e-9) << "joint " << i + 1;
  }
}

// MuJoCo ignores pairs of parent and child.
TEST_P(MujocoTest, CollisionShapesAreClearOfEachOtherInUsualPoses) {
  const std::vector<std::array<double, kJoints>> poses{
      {0, 0, 0, 0, 0, 0}, {0, 0, M_PI_2, 0, 0, 0}, {0, -M_PI_2, M_PI_2, 0, 0, 0}};
  for (const auto& pose : poses) {
    std::copy(pose.begin(), pose.end(), data->qpos);
    mj_forward(model.get(), data.get());
    EXPECT_EQ(data->ncon, 0) << "joints 2 and 3 at " << pose[1] << ", " << pose[2];
  }
}

TEST_P(MujocoTest, TheWristBendsThroughItsRangeWithoutTouchingItself) {
  mj_resetData(model.get(), data.get());
  const double lower = model->jnt_range[2 * 4], upper = model->jnt_range[2 * 4 + 1];
  for (int k = 0; k <= 100; ++k) {
    data->qpos[4] = lower + k * (upper - lower) / 100;
    mj_forward(model.get(), data.get());
    EXPECT_EQ(data->ncon, 0) << "joint 5 at " << data->qpos[4];
  }
}

INSTANTIATE_TEST_SUITE_P(Descriptions, MujocoTest, testing::Values("puma560", "puma600"),
                         [](const auto& robot) { return robot.param; });

// The reason why the description does not contain the published tensor.
TEST(PublishedTensorOfLink3, IsRefused) {
  std::string text = without_visuals(description("puma560")), error;
  replace(text, "ixx=\"0.068501\"", "ixx=\"0.066\"");
  replace(text, "iyy=\"0.015001\"", "iyy=\"0.0125\"");
  replace(text, "izz=\"0.083499\"", "izz=\"0.086\"");
  EXPECT_FALSE(load(text, error));
  EXPECT_NE(error.find("A + B >= C"), std::string::npos) << error;
}

}  // namespace
