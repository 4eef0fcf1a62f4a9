// SPDX-License-Identifier: Apache-2.0
#include "ga_motion/via_points.hpp"

#include "ga_motion/state_reader.hpp"

namespace ga_motion {

ViaPoints read_via_points(std::istream& in, const std::vector<std::string>& joints) {
  const auto source = [&in](char* to, std::size_t size) {
    in.read(to, static_cast<std::streamsize>(size));
    return static_cast<std::size_t>(in.gcount());
  };
  const StateColumns columns({"q"}, joints, StateColumns::Time::kFirst);
  StateReader reader(LineReader(source, ""), columns);
  ViaPoints via;
  via.note = reader.note();
  for (std::vector<double> row(columns.names().size()); reader.next(row);) {
    via.times.push_back(row[0]);
    via.points.emplace_back(row.begin() + 1, row.end());
  }
  return via;
}

}  // namespace ga_motion
