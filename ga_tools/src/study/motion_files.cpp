// SPDX-License-Identifier: Apache-2.0
#include "study/motion_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "ga_dynamics/number.hpp"
#include "ga_motion/state_file.hpp"

namespace ga_tools {

using ga_motion::InputError;
using ga_motion::LineReader;
using ga_motion::StateColumns;
using ga_motion::StateReader;

namespace {

constexpr std::size_t kMostPoints = 100000;

using Time = StateColumns::Time;

std::ifstream open(const std::string& file) {
  if (std::filesystem::is_directory(file)) {
    throw std::runtime_error(file + ": is a folder; name a CSV file");
  }
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file + ": the file cannot be read");
  return in;
}

StateReader reader_of(std::istream& in, const std::string& file, const StateColumns& columns) {
  const auto source = [&in](char* to, std::size_t size) {
    in.read(to, static_cast<std::streamsize>(size));
    return static_cast<std::size_t>(in.gcount());
  };
  return {LineReader(source, file), columns};
}

/// Number of fields of the first line that is not blank, if it begins with a number.
std::optional<std::size_t> numbers_in_first_line(const std::string& file) {
  std::ifstream in = open(file);
  for (std::string line; std::getline(in, line);) {
    line = line.substr(0, line.find('#'));
    if (ga_dynamics::trimmed(line).empty()) continue;
    double value = 0;
    const bool number =
        ga_dynamics::is_number(ga_dynamics::trimmed(line.substr(0, line.find(','))), value);
    if (!number) return std::nullopt;
    return static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) + 1;
  }
  return std::nullopt;
}

/// The quantities of the richest table that the first line fits.
std::vector<std::string> quantities_in(const std::string& file,
                                       const std::vector<std::string>& joints) {
  const auto numbers = numbers_in_first_line(file);
  std::vector<std::string> quantities{"q", "qd", "qdd"};
  for (; quantities.size() > 1; quantities.pop_back()) {
    if (numbers) {
      if (*numbers == 1 + quantities.size() * joints.size()) break;
      continue;
    }
    try {
      std::ifstream in = open(file);
      reader_of(in, file, StateColumns(quantities, joints, Time::kFirst));
      break;
    } catch (const InputError&) {
      continue;  // columns are missing
    }
  }
  return quantities;
}

void check_times(const std::string& file, const std::vector<double>& times) {
  constexpr double kShortest = 1e-9;  // s
  const auto text = [](double value) { return ga_dynamics::number_text(value, 9) + " s"; };
  if (times.size() < 2) {
    throw std::runtime_error(file + (times.empty() ? ": has no line" : ": has one line") +
                             " of numbers; give two or more: the time and a position per joint");
  }
  if (times.front() != 0) {
    throw std::runtime_error(file + ": the first line is at " + text(times.front()) +
                             "; begin with 0 s");
  }
  for (std::size_t k = 1; k < times.size(); ++k) {
    if (times[k] - times[k - 1] >= kShortest) continue;
    throw std::runtime_error(file + ": row " + std::to_string(k + 1) + " is at " + text(times[k]) +
                             ", after " + text(times[k - 1]) +
                             "; give times that increase by 1 ns or more");
  }
}

}  // namespace

FileSamples read_samples(const std::string& file, const std::vector<std::string>& joints) {
  const std::vector<std::string> quantities = quantities_in(file, joints);
  std::ifstream in = open(file);
  const StateColumns columns(quantities, joints, Time::kFirst);
  StateReader reader = reader_of(in, file, columns);
  FileSamples samples;
  samples.note = reader.note();
  const auto n = static_cast<std::ptrdiff_t>(joints.size());
  for (std::vector<double> row(columns.names().size()); reader.next(row);) {
    samples.times.push_back(row[0]);
    auto at = row.begin() + 1;
    for (auto* const table : {&samples.q, &samples.qd, &samples.qdd}) {
      if (at == row.end()) break;
      table->emplace_back(at, at + n);
      at += n;
    }
  }
  check_times(file, samples.times);
  return samples;
}

FileSamples read_way_points(const std::string& file, const std::vector<std::string>& joints) {
  std::ifstream in = open(file);
  const StateColumns columns({"q"}, joints);
  StateReader reader = reader_of(in, file, columns);
  FileSamples points;
  points.note = reader.note();
  for (std::vector<double> row(columns.names().size()); reader.next(row);) {
    if (points.q.size() == kMostPoints) {
      throw std::runtime_error(file + ": has more than " + std::to_string(kMostPoints) +
                               " way-points; give fewer, the path is smooth between them");
    }
    points.q.push_back(row);
  }
  if (points.q.size() < 2) {
    throw std::runtime_error(file +
                             (points.q.empty() ? ": has no way-point" : ": has one way-point") +
                             "; give two or more: a line each, with a position per joint");
  }
  return points;
}

}  // namespace ga_tools
