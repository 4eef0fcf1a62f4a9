// SPDX-License-Identifier: Apache-2.0
#include "cli/stream_rows.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "cli/errors.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/states_file.hpp"
#include "ga_motion/state_file.hpp"

namespace ga_tools::cli {

using namespace ga_dynamics;
using namespace ga_motion;
namespace {

void put_row(const RowTask& task, const std::vector<double>& row, const StateReader& reader,
             Output& output) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!std::isfinite(row[i])) {
      throw InputError(reader.place() + ": " + task.outputs[i] +
                       " is not finite; the state is too large, or the inertia matrix singular");
    }
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) output.put(',');
    output.put_number(row[i]);
  }
  output.put('\n');
}

}  // namespace

void stream_rows(const RowTask& task, const std::vector<std::string>& joints,
                 const std::string& states, bool show) {
  StatesFile file(states);
  Output output;
  Progress progress(show);
  std::uint64_t rows = 0;
  const auto source = [&](char* to, std::size_t size) {
    output.flush();
    progress.update(rows, file.bytes_read(), file.total_bytes());
    return file.read(to, size);
  };
  const StateColumns columns(task.inputs, joints);
  StateReader reader(LineReader(source, file.name()), columns);
  if (show && !reader.note().empty()) {
    std::fprintf(stderr, "ga: note: %s\n", reader.note().c_str());
  }

  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    if (i > 0) output.put(',');
    output.put(task.outputs[i]);
  }
  output.put('\n');

  std::vector<double> in(columns.names().size()), out(task.outputs.size());
  try {
    for (; reader.next(in); ++rows) {
      task.evaluate(in, out);
      put_row(task, out, reader, output);
    }
  } catch (const InputError&) {
    output.flush();
    throw;
  }
  output.close();
}

}  // namespace ga_tools::cli
