// SPDX-License-Identifier: Apache-2.0

// The calibration file: whole or not there, and only for the arm that it was made for.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "arm/calibration_table.hpp"

namespace puma_hardware {
namespace {

class CalibrationFileTest : public ::testing::Test {
 protected:
  CalibrationFileTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "puma-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ / "calibration.json";
    for (std::size_t i = 0; i < 6; ++i) {
      const JointSettings& joint = settings_.joints[i];
      for (int turn = -20; turn <= 20; ++turn) {
        table_.joints[i].entries.push_back(
            {static_cast<std::int64_t>(turn * joint.counts_per_rev) + 17,
             2.5 + joint.encoder_direction * turn * joint.pot_volts_per_rev + 0.001 * (turn % 3)});
      }
    }
  }
  ~CalibrationFileTest() override { std::filesystem::remove_all(folder_); }

  std::string refusal(const ArmSettings& settings) const {
    try {
      load_calibration(path_, settings);
    } catch (const CardError& error) {
      return error.what();
    }
    return "accepted";
  }
  std::string text() const {
    std::ifstream in(path_);
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
  }
  void write(const std::string& content) const { std::ofstream(path_) << content; }
  static bool contains(const std::string& whole, const std::string& part) {
    return whole.find(part) != std::string::npos;
  }

  ArmSettings settings_ = ArmSettings::from(ga_dynamics::Chain::from_urdf_file(PUMA_URDF), {});
  CalibrationTable table_;
  std::filesystem::path folder_, path_;
};

TEST_F(CalibrationFileTest, ComesBackAsItWasSaved) {
  save_calibration(path_, table_, settings_);
  const CalibrationTable back = load_calibration(path_, settings_);
  for (std::size_t i = 0; i < 6; ++i) {
    ASSERT_EQ(back.joints[i].entries.size(), table_.joints[i].entries.size());
    for (std::size_t k = 0; k < 41; ++k) {
      EXPECT_EQ(back.joints[i].entries[k].count, table_.joints[i].entries[k].count);
      EXPECT_EQ(back.joints[i].entries[k].volts, table_.joints[i].entries[k].volts);
    }
  }
}

TEST_F(CalibrationFileTest, ReplacesAnOldOneAsAWhole) {
  write("old");
  save_calibration(path_, table_, settings_);
  EXPECT_EQ(refusal(settings_), "accepted");
  int files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder_)) ++files;
  EXPECT_EQ(files, 1) << "nothing is left beside it";
}

TEST_F(CalibrationFileTest, KeepsTheOldOneWhenTheNewCannotBeWritten) {
  save_calibration(path_, table_, settings_);
  const std::string before = text();
  CalibrationTable bad = table_;
  bad.joints[0].entries[3].count += 1;
  EXPECT_THROW(save_calibration(path_, bad, settings_), CardError);
  std::filesystem::create_directory(path_.string() + ".new");
  EXPECT_THROW(save_calibration(path_, table_, settings_), CardError);
  EXPECT_EQ(text(), before);
}

TEST_F(CalibrationFileTest, NamesTheFolderThatIsNotThere) {
  try {
    save_calibration(folder_ / "nowhere" / "file.json", table_, settings_);
    ADD_FAILURE();
  } catch (const CardError& error) {
    EXPECT_TRUE(contains(error.what(), "nowhere/file.json: cannot write")) << error.what();
  }
  EXPECT_TRUE(contains(refusal(settings_), "cannot be read: No such file"));
}

TEST_F(CalibrationFileTest, ADirectoryInItsPlaceStays) {
  std::filesystem::create_directory(path_);
  EXPECT_THROW(save_calibration(path_, table_, settings_), CardError);
}

TEST_F(CalibrationFileTest, IsRefusedForAnotherConfiguration) {
  save_calibration(path_, table_, settings_);
  ArmSettings other = settings_;
  other.joints[1].gear_ratio = 107.36;
  EXPECT_TRUE(contains(refusal(other),
                       "joint2: it was made with gear_ratio = 107.815, which is now 107.36; build "
                       "it again"))
      << refusal(other);
  other = settings_;
  other.joints[0].counts_per_rev = 800;
  EXPECT_TRUE(contains(refusal(other), "joint1: it was made with encoder_counts_per_rev"));
  other = settings_;
  other.joints[2].encoder_direction = -1;
  EXPECT_TRUE(contains(refusal(other), "joint3: it was made with encoder_direction = 1"));
  other = settings_;
  other.joints[2].pot_direction = -1;
  EXPECT_TRUE(contains(refusal(other), "joint3: it was made with pot_direction"));
  other = settings_;
  std::swap(other.cards.pcl818.pot_channel[3], other.cards.pcl818.pot_channel[4]);
  EXPECT_TRUE(contains(refusal(other), "joint4: it was made with pcl818.pot_channel = 3"));
  other = settings_;
  std::swap(other.cards.pcl833.channel[3], other.cards.pcl833.channel[4]);
  EXPECT_TRUE(contains(refusal(other), "joint4: it was made with pcl833.channel = 3"));
  other = settings_;
  other.coupling.c65 = 0;
  EXPECT_TRUE(contains(refusal(other), "joint6: it was made with coupling_motor5"));
}

TEST_F(CalibrationFileTest, IsRefusedWhenDamagedOrForeign) {
  save_calibration(path_, table_, settings_);
  const std::string good = text();
  write(good.substr(0, good.size() / 2));
  EXPECT_TRUE(contains(refusal(settings_), "it is damaged"));
  write("{}");
  EXPECT_TRUE(contains(refusal(settings_), "it is not a PUMA calibration"));
  write("[1, 2]");
  EXPECT_TRUE(contains(refusal(settings_), "it is not a PUMA calibration"));
  std::string changed = good;
  changed.replace(changed.find("\"version\": 1"), 12, "\"version\": 2");
  write(changed);
  EXPECT_TRUE(contains(refusal(settings_), "its version is 2, this program reads 1"));
  changed = good;
  changed.replace(changed.find("\"joints\": ["), 11, "\"joints\": [7,");
  write(changed);
  EXPECT_TRUE(contains(refusal(settings_), "it has 7 joints, not 6"));
  changed = good;
  changed.replace(changed.find("\"gear_ratio\""), 12, "\"gear_rtaio\"");
  write(changed);
  EXPECT_TRUE(contains(refusal(settings_), "gear_ratio = null"));
}

}  // namespace
}  // namespace puma_hardware
