// SPDX-License-Identifier: Apache-2.0
#include "arm/calibration_table.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "arm/transmission.hpp"

namespace puma_hardware {

namespace {

/// First entry of the segment to use; the end segments extrapolate.
template <typename Before>
std::size_t segment(const std::vector<IndexEntry>& entries, const Before& before) noexcept {
  const auto after = std::partition_point(entries.begin(), entries.end(), before);
  const auto at = static_cast<std::size_t>(after - entries.begin());
  return std::clamp<std::size_t>(at, 1, entries.size() - 1) - 1;
}

double slope(const IndexEntry& from, const IndexEntry& to) noexcept {
  return (to.volts - from.volts) / static_cast<double>(to.count - from.count);
}

std::size_t segment_at_count(const std::vector<IndexEntry>& entries, double count) noexcept {
  return segment(entries, [count](const IndexEntry& entry) {
    return static_cast<double>(entry.count) <= count;
  });
}

using nlohmann::json;

constexpr const char* kFormat = "PUMA calibration";
constexpr int kVersion = 1;
constexpr const char *kVariant = "pcl818.variant", *kJumper = "pcl818.jumper_10v";
/// A joint has some 100 motor turns of 1000 counts.
constexpr std::int64_t kMostCounts = 10'000'000;
constexpr double kMostVolts = 10;
/// Index pulses of a joint; fewer leave its turn ambiguous.
constexpr std::size_t kLeastPulses = 4;
/// Motor turns that an index pulse may be beyond the joint's limits: as many as a potentiometer has.
/// Whether the arm stands within its limits is checked when the table is used.
constexpr double kTurnsBeyond = 100;
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
            {"pcl818.range_code", settings.cards.pcl818.range_code},
            {kVariant, to_string(settings.cards.pcl818.variant)},
            {kJumper, settings.cards.pcl818.jumper_10v}};
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

constexpr int kMostLinks = 20;

/// The file that a path means: that of a link, so that the link stays. Throws CardError if something
/// is there that is not a regular file.
std::string target_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    fail(path, fs::is_directory(status)
                   ? "it is a folder; name a file in it"
                   : "it is a device, a pipe or a socket; name a regular file");
  }
  fs::path target = path;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, error)); ++links) {
    const fs::path next = fs::read_symlink(target, error);
    if (error || links == kMostLinks) fail(path, "the link cannot be followed");
    target = target.parent_path() / next;  // of an absolute path, that path
  }
  return target;
}

/// A new file in the folder of another, which it replaces as a whole. Otherwise it is removed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& path)
      : path_(path),
        target_(target_of(path)),
        name_(target_ + ".new-" + std::to_string(::getpid())),
        out_(name_, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC) {
    if (!out_.opened()) fail_with_errno(path_, "cannot write " + name_);
  }
  ~TemporaryFile() {
    if (!replaced_) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void replace(const std::string& text) {
    if (!out_.write(text) || !out_.sync()) fail_with_errno(path_, "cannot write " + name_);
    target_of(path_);  // what stands there now
    if (std::rename(name_.c_str(), target_.c_str()) != 0) {
      fail_with_errno(path_, "cannot replace it");
    }
    replaced_ = true;
    // The rename is durable only once the directory is synced.
    const std::filesystem::path folder = std::filesystem::path(target_).parent_path();
    Descriptor directory(folder.empty() ? "." : folder.string(),
                         O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!directory.opened() || !directory.sync()) {
      fail_with_errno(path_, "cannot sync its directory");
    }
  }

 private:
  std::string path_, target_, name_;
  Descriptor out_;
  bool replaced_ = false;
};

JointTable read_joint(const std::string& path, const json& found, const ArmSettings& settings,
                      std::size_t i) {
  const json expected = depends_on(settings, i);
  const json& made_for = found.at("settings");
  for (const auto& [name, value] : expected.items()) {
    // Files of earlier releases do not have these two.
    if ((name == kVariant || name == kJumper) && !made_for.contains(name)) continue;
    const json there = made_for.contains(name) ? made_for.at(name) : json();
    if (there != value) {
      fail(path, settings.joints[i].name + ": it was made with " + name + " = " + there.dump() +
                     ", which is now " + value.dump() + kRebuild);
    }
  }
  JointTable table;
  for (const json& entry : found.at("index")) {
    const json &count = entry.at(0), &volts = entry.at(1);
    if (!count.is_number_integer() || !(std::abs(count.get<double>()) <= kMostCounts)) {
      fail(path, settings.joints[i].name + ": the count " + count.dump() +
                     " of an index pulse is not a whole number up to " +
                     std::to_string(kMostCounts) + kRebuild);
    }
    if (!(volts.get<double>() >= 0 && volts.get<double>() <= kMostVolts)) {
      fail(path, settings.joints[i].name + ": the potentiometer's " + volts.dump() +
                     " V are not between 0 and 10" + kRebuild);
    }
    table.entries.push_back({count.get<std::int64_t>(), volts.get<double>()});
  }
  return table;
}

}  // namespace

CountRange count_range(const ArmSettings& settings) {
  const Transmission transmission(settings);
  CountRange range;
  range.low.fill(std::numeric_limits<double>::infinity());
  range.high.fill(-std::numeric_limits<double>::infinity());
  for (unsigned corner = 0; corner < 64; ++corner) {  // of the joints' ranges
    std::array<double, 6> q, counts;
    for (std::size_t i = 0; i < 6; ++i) {
      q[i] = (corner >> i & 1) != 0 ? settings.joints[i].upper : settings.joints[i].lower;
    }
    transmission.joints_to_counts(q, counts);
    for (std::size_t i = 0; i < 6; ++i) {
      range.low[i] = std::min(range.low[i], counts[i]);
      range.high[i] = std::max(range.high[i], counts[i]);
    }
  }
  return range;
}

double JointTable::volts_per_count(double count) const noexcept {
  const std::size_t k = segment_at_count(entries, count);
  return slope(entries[k], entries[k + 1]);
}

double JointTable::volts_at(double count) const noexcept {
  const std::size_t k = segment_at_count(entries, count);
  return entries[k].volts +
         slope(entries[k], entries[k + 1]) * (count - static_cast<double>(entries[k].count));
}

double JointTable::count_at(double volts) const noexcept {
  const bool rising = entries.back().volts > entries.front().volts;
  const std::size_t k = segment(entries, [volts, rising](const IndexEntry& entry) {
    return rising ? entry.volts <= volts : entry.volts >= volts;
  });
  return static_cast<double>(entries[k].count) +
         (volts - entries[k].volts) / slope(entries[k], entries[k + 1]);
}

double JointTable::lowest_volts() const noexcept {
  return std::min(entries.front().volts, entries.back().volts);
}

double JointTable::highest_volts() const noexcept {
  return std::max(entries.front().volts, entries.back().volts);
}

void CalibrationTable::validate(const ArmSettings& settings) const {
  const auto [low, high] = count_range(settings);
  for (std::size_t i = 0; i < 6; ++i) {
    const JointSettings& joint = settings.joints[i];
    const auto& entries = joints[i].entries;
    const std::string what = "calibration table of " + joint.name + ": ";
    if (entries.size() < kLeastPulses) {
      throw CardError(what + "it has " + std::to_string(entries.size()) +
                      " index pulses, at least " + std::to_string(kLeastPulses) +
                      " are needed; move the joint further when building");
    }
    const double beyond = kTurnsBeyond * joint.counts_per_rev;
    for (const IndexEntry& entry : entries) {
      const auto count = static_cast<double>(entry.count);
      if (!(count >= low[i] - beyond && count <= high[i] + beyond)) {
        throw CardError(what + "the index pulse at count " + std::to_string(entry.count) +
                        " is far beyond the joint's limits, which are at counts " +
                        std::to_string(std::llround(low[i])) + " to " +
                        std::to_string(std::llround(high[i])) +
                        "; the table was built from a wrong position, or changed: build it again");
      }
    }
    const auto per_rev = static_cast<std::int64_t>(joint.counts_per_rev);
    const int direction = joint.encoder_direction * joint.pot_direction;
    for (std::size_t k = 1; k < entries.size(); ++k) {
      const IndexEntry &before = entries[k - 1], &entry = entries[k];
      const std::int64_t step = entry.count - before.count;
      const std::string between = "between the index pulses at counts " +
                                  std::to_string(before.count) + " and " +
                                  std::to_string(entry.count);
      if (step <= 0 || step % per_rev != 0) {
        throw CardError(what + between + " the distance is not a multiple of " +
                        std::to_string(per_rev) +
                        " counts; check encoder_counts_per_rev and the index wire");
      }
      const double volts = direction * (entry.volts - before.volts);
      const double expected =
          joint.pot_volts_per_rev * static_cast<double>(step) / joint.counts_per_rev;
      if (!(volts > 0.5 * expected && volts < 2 * expected)) {
        char numbers[160];
        std::snprintf(numbers, sizeof numbers,
                      " the potentiometer changes by %.4f V, %.4f V expected; check pot_direction, "
                      "pot_volts_per_rev and pcl818.pot_channel",
                      direction * volts, direction * expected);
        throw CardError(what + between + numbers);
      }
    }
  }
}

void check_writable(const std::string& path) {
  const TemporaryFile file(path);  // removed at once
}

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

  TemporaryFile(path).replace(file.dump(1) + "\n");
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
