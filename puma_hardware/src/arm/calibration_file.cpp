// SPDX-License-Identifier: Apache-2.0

// The calibration table as a file.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "arm/calibration_table.hpp"

namespace puma_hardware {

namespace {

using nlohmann::json;

constexpr const char* kFormat = "PUMA calibration";
constexpr int kVersion = 1;
constexpr const char* kRebuild = "; build it again with 'puma calibrate --build'";

/// The settings of a joint that its table is valid for.
json depends_on(const ArmSettings& settings, std::size_t i) {
  const JointSettings& joint = settings.joints[i];
  json j = {{"name", joint.name},
            {"gear_ratio", joint.gear_ratio},
            {"encoder_counts_per_rev", joint.counts_per_rev},
            {"encoder_direction", joint.encoder_direction},
            {"pot_direction", joint.pot_direction},
            {"pcl833.channel", settings.cards.pcl833.channel[i]},
            {"pcl818.pot_channel", settings.cards.pcl818.pot_channel[i]},
            {"pcl818.range_code", settings.cards.pcl818.range_code}};
  if (i == 4) j["coupling_joint4"] = settings.coupling.c54;
  if (i == 5) {
    j["coupling_joint4"] = settings.coupling.c64;
    j["coupling_motor5"] = settings.coupling.c65;
  }
  return j;
}

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw CardError("calibration file " + path + ": " + why);
}

[[noreturn]] void fail_with_errno(const std::string& path, const std::string& what) {
  fail(path, what + ": " + std::strerror(errno));
}

/// Closes on destruction; std::ofstream cannot sync.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : fd_(::open(path.c_str(), flags, 0644)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool opened() const { return fd_ >= 0; }
  bool write(const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t wrote = ::write(fd_, text.data() + done, text.size() - done);
      if (wrote < 0) return false;
      done += static_cast<std::size_t>(wrote);
    }
    return true;
  }
  bool sync() { return ::fsync(fd_) == 0; }

 private:
  int fd_;
};

JointTable read_joint(const std::string& path, const json& found, const ArmSettings& settings,
                      std::size_t i) {
  const json expected = depends_on(settings, i);
  const json& made_for = found.at("settings");
  for (const auto& [name, value] : expected.items()) {
    const json there = made_for.contains(name) ? made_for.at(name) : json();
    if (there != value) {
      fail(path, settings.joints[i].name + ": it was made with " + name + " = " + there.dump() +
                     ", which is now " + value.dump() + kRebuild);
    }
  }
  JointTable table;
  for (const json& entry : found.at("index")) {
    table.entries.push_back({entry.at(0).get<std::int64_t>(), entry.at(1).get<double>()});
  }
  return table;
}

}  // namespace

void save_calibration(const std::string& path, const CalibrationTable& table,
                      const ArmSettings& settings) {
  table.validate(settings);
  json joints = json::array();
  for (std::size_t i = 0; i < 6; ++i) {
    json index = json::array();
    for (const IndexEntry& entry : table.joints[i].entries) {
      index.push_back({entry.count, entry.volts});
    }
    joints.push_back({{"settings", depends_on(settings, i)}, {"index", index}});
  }
  const json file = {{"format", kFormat}, {"version", kVersion}, {"joints", joints}};

  const std::string beside = path + ".new";
  {
    Descriptor out(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    if (!out.opened()) fail_with_errno(path, "cannot write " + beside);
    if (!out.write(file.dump(1) + "\n") || !out.sync()) {
      fail_with_errno(path, "cannot write " + beside);
    }
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0) fail_with_errno(path, "cannot replace it");
  // The rename is durable only once the directory is synced.
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  Descriptor directory(folder.empty() ? "." : folder.string(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (!directory.opened() || !directory.sync()) fail_with_errno(path, "cannot sync its directory");
}

CalibrationTable load_calibration(const std::string& path, const ArmSettings& settings) {
  std::ifstream in(path);
  if (!in) fail_with_errno(path, "cannot be read");
  try {
    const json file = json::parse(in);
    if (!file.is_object() || file.value("format", "") != kFormat) {
      fail(path, "it is not a PUMA calibration");
    }
    if (const int version = file.value("version", 0); version != kVersion) {
      fail(path, "its version is " + std::to_string(version) + ", this program reads " +
                     std::to_string(kVersion) + kRebuild);
    }
    const json& joints = file.at("joints");
    if (joints.size() != 6) {
      fail(path, "it has " + std::to_string(joints.size()) + " joints, not 6" + kRebuild);
    }
    CalibrationTable table;
    for (std::size_t i = 0; i < 6; ++i) {
      table.joints[i] = read_joint(path, joints.at(i), settings, i);
    }
    table.validate(settings);
    return table;
  } catch (const json::exception& error) {
    fail(path, std::string("it is damaged (") + error.what() + ")" + kRebuild);
  }
}

}  // namespace puma_hardware
