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
  std::filesystem::create_directory(path_.string() + ".new-" + std::to_string(::getpid()));
  EXPECT_THROW(save_calibration(path_, table_, settings_), CardError);
  EXPECT_EQ(text(), before);
}

TEST_F(CalibrationFileTest, LeavesOtherFilesOfTheFolder) {
  const std::filesystem::path other = path_.string() + ".new";
  std::ofstream(other) << "mine";
  check_writable(path_);
  save_calibration(path_, table_, settings_);
  EXPECT_TRUE(std::filesystem::exists(other));
}

TEST_F(CalibrationFileTest, OnlyARegularFileIsReplaced) {
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& [path, what] : {std::pair{pipe, "it is a device, a pipe or a socket"},
                                   std::pair{folder_, "it is a folder"}}) {
    for (const bool only_checked : {true, false}) {
      try {
        only_checked ? check_writable(path) : save_calibration(path, table_, settings_);
        ADD_FAILURE() << path;
      } catch (const CardError& error) {
        EXPECT_TRUE(contains(error.what(), path.string() + ": " + what)) << error.what();
      }
    }
  }
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_THROW(check_writable("/dev/full"), CardError);
}

TEST_F(CalibrationFileTest, ALinkStaysAndItsFileIsReplaced) {
  const std::filesystem::path link = folder_ / "link.json";
  std::filesystem::create_symlink("calibration.json", link);
  for (int k = 0; k < 2; ++k) {  // first without a file
    save_calibration(link, table_, settings_);
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(path_)));
    EXPECT_EQ(refusal(settings_), "accepted");
  }
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

TEST_F(CalibrationFileTest, AbsurdCountsAndVoltsAreRefused) {
  save_calibration(path_, table_, settings_);
  const std::string good = text();
  const auto with_first_count = [&](const std::string& count) {
    std::string changed = good;
    const auto at = changed.find("-19983");  // joint 1, 20 turns below
    EXPECT_NE(at, std::string::npos);
    write(changed.replace(at, 6, count));
    return refusal(settings_);
  };
  for (const char* count : {"1000000000000000", "9223372036854775807", "18446744073709551615",
                            "-9223372036854775808", "1e15", "-19983.5", "\"-19983\""}) {
    const std::string why = with_first_count(count);
    EXPECT_TRUE(contains(why, "joint1: the count") || contains(why, "it is damaged"))
        << count << ": " << why;
  }
  EXPECT_TRUE(contains(with_first_count("-1999983"), "far beyond the joint's limits"));
  CalibrationTable shifted = table_;
  for (IndexEntry& entry : shifted.joints[2].entries) entry.count += 1'000'000'000'000'000;
  EXPECT_THROW(save_calibration(path_, shifted, settings_), CardError);
  CalibrationTable volts = table_;
  for (IndexEntry& entry : volts.joints[2].entries) entry.volts += 20;
  save_calibration(path_, volts, settings_);
  EXPECT_TRUE(contains(refusal(settings_), "are not between 0 and 10")) << refusal(settings_);
}

TEST_F(CalibrationFileTest, RemembersTheCardThatItWasMadeWith) {
  save_calibration(path_, table_, settings_);
  ArmSettings other = settings_;
  other.cards.pcl818.jumper_10v = true;
  EXPECT_TRUE(contains(refusal(other), "it was made with pcl818.jumper_10v = false"));
  other = settings_;
  other.cards.pcl818.variant = Pcl818Variant::k818;
  EXPECT_TRUE(contains(refusal(other), "it was made with pcl818.variant = \"818L\""));
  // Earlier releases did not write these two.
  std::string old = text();
  for (const std::string name :
       {"\"pcl818.jumper_10v\": false,", "\"pcl818.variant\": \"818L\","}) {
    ASSERT_NE(old.find(name), std::string::npos) << name;
    for (auto at = old.find(name); at != std::string::npos; at = old.find(name)) {
      old.erase(at, name.size());
    }
  }
  write(old);
  EXPECT_EQ(refusal(settings_), "accepted");
}

TEST_F(CalibrationFileTest, IsKnownToBeWritableBeforeTheArmMoves) {
  EXPECT_NO_THROW(check_writable(path_));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_THROW(check_writable(folder_ / "nowhere" / "file.json"), CardError);
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
