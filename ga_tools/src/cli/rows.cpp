// SPDX-License-Identifier: Apache-2.0
#include "cli/rows.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <system_error>

#include "cli/output.hpp"
#include "ga_dynamics/urdf_model.hpp"
#include "ga_motion/state_file.hpp"

namespace ga_tools::cli {

using namespace ga_dynamics;
using namespace ga_motion;
namespace {

using In = std::span<const double>;
using Out = std::span<double>;

std::size_t count(const Dynamics& d) { return static_cast<std::size_t>(d.size()); }

RowTask inverse_task(Dynamics& d) {
  return {{"q", "qd", "qdd"}, joint_columns("tau", d.size()), [&d, n = count(d)](In in, Out out) {
            d.inverse_dynamics(in.first(n), in.subspan(n, n), in.last(n), out);
          }};
}

RowTask forward_task(Dynamics& d) {
  return {{"q", "qd", "tau"}, joint_columns("qdd", d.size()), [&d, n = count(d)](In in, Out out) {
            const bool regular = d.forward_dynamics(in.first(n), in.subspan(n, n), in.last(n), out);
            // stream_rows() reports what is not finite.
            if (!regular) std::ranges::fill(out, std::numeric_limits<double>::quiet_NaN());
          }};
}

/// d11, d12, …; from ten joints on d1_1, because d111 would be ambiguous.
RowTask inertia_task(Dynamics& d) {
  RowTask task{{"q"}, {}, [&d](In in, Out out) { d.inertia_matrix(in, out); }};
  const std::string separator = d.size() < 10 ? "" : "_";
  for (int row = 1; row <= d.size(); ++row) {
    for (int column = 1; column <= d.size(); ++column) {
      task.outputs.push_back("d" + std::to_string(row) + separator + std::to_string(column));
    }
  }
  return task;
}

RowTask bias_task(Dynamics& d) {
  return {{"q", "qd"}, joint_columns("tau", d.size()), [&d, n = count(d)](In in, Out out) {
            d.bias(in.first(n), in.last(n), out);
          }};
}

RowTask gravity_task(Dynamics& d) {
  return {{"q"}, joint_columns("tau", d.size()), [&d](In in, Out out) { d.gravity(in, out); }};
}

RowTask link_pose_task(Dynamics& d) {
  RowTask task{{"q"}, {}, {}};
  for (const ChainLink& link : d.chain().links()) {
    for (const char* const part : {".x", ".y", ".z", ".qx", ".qy", ".qz", ".qw"}) {
      task.outputs.push_back(csv_field(link.name + part));
    }
  }
  const auto poses = std::make_shared<std::vector<Pose>>(d.chain().links().size());
  task.evaluate = [&d, poses](In in, Out out) {
    d.link_poses(in, *poses);
    double* to = out.data();
    for (const Pose& pose : *poses) {
      to = std::ranges::copy(pose.translation, to).out;
      to = std::ranges::copy(quaternion_of(pose.rotation), to).out;
    }
  };
  return task;
}

constexpr RowCommand kCommands[] = {
    {"id", "Inverse dynamics: joint torques from the motion",
     "Reads q1…qn,qd1…qdn,qdd1…qddn; writes tau1…taun.",
     "  ga id robot.urdf --states motion.csv > torques.csv\n"
     "  ga id robot.urdf --states motion.csv --method mlc --drives\n"
     "  echo 0,0,0,0,0,0,0,0,0 | ga id three_joints.urdf --states -",
     false, inverse_task},
    {"fd", "Forward dynamics: joint accelerations from the torques",
     "Reads q1…qn,qd1…qdn,tau1…taun; writes qdd1…qddn.",
     "  ga fd robot.urdf --states torques.csv > accelerations.csv\n"
     "  ga fd robot.urdf --states torques.csv --payload 2.5 0 0 0.1",
     false, forward_task},
    {"inertia", "Inertia matrix D(q)",
     "Reads q1…qn; writes d11,d12,…,dnn row by row (d1_1,d1_2,… from ten joints on).",
     "  ga inertia robot.urdf --states poses.csv\n"
     "  echo 0,1.57 | ga inertia two_joints.urdf --states - --drives",
     false, inertia_task},
    {"bias", "Velocity and gravity torques, C(q,qd) + G(q)",
     "Reads q1…qn,qd1…qdn; writes tau1…taun.",
     "  ga bias robot.urdf --states motion.csv\n"
     "  ga bias robot.urdf --states motion.csv --gravity 0 0 0",
     false, bias_task},
    {"gravity", "Holding torques at rest, G(q)", "Reads q1…qn; writes tau1…taun.",
     "  ga gravity robot.urdf --states poses.csv\n"
     "  ga gravity hanging.urdf --states poses.csv --gravity 0 0 9.81",
     false, gravity_task},
    {"fk", "Forward kinematics: the pose of every link in the base frame",
     "Reads q1…qn; writes <link>.x,.y,.z,.qx,.qy,.qz,.qw for every link: meters, and a unit\n"
     "quaternion with qw >= 0. Links without inertia are accepted.",
     "  ga fk robot.urdf --states poses.csv\n"
     "  echo 0,1.57 | ga fk two_joints.urdf --states -",
     true, link_pose_task},
};

/// The bytes of a file, a pipe or standard input.
class StatesFile {
 public:
  /// Throws InputError if the file cannot be opened.
  explicit StatesFile(const std::string& path)
      : descriptor_(STDIN_FILENO), name_(path == "-" ? "standard input" : path) {
    if (path != "-") descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
    struct stat status {};
    if (::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
      total_bytes_ = static_cast<std::uint64_t>(status.st_size);
    }
  }
  ~StatesFile() {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
  }
  StatesFile(const StatesFile&) = delete;
  StatesFile& operator=(const StatesFile&) = delete;

  /// At most `size` bytes, as soon as there are any; 0 at the end. Throws InputError.
  std::size_t read(char* to, std::size_t size) {
    for (;;) {
      const ssize_t got = ::read(descriptor_, to, size);
      if (got >= 0) {
        bytes_read_ += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) fail(errno);
    }
  }

  const std::string& name() const { return name_; }
  std::uint64_t bytes_read() const { return bytes_read_; }
  /// 0 unless it is a regular file.
  std::uint64_t total_bytes() const { return total_bytes_; }

 private:
  [[noreturn]] void fail(int error) const {
    if (error == EISDIR) throw InputError(name_ + ": is a directory; give a file of states");
    throw InputError(name_ + ": cannot be read (" + std::generic_category().message(error) +
                     "); give a file of states, or - for standard input");
  }

  int descriptor_;
  std::string name_;
  std::uint64_t bytes_read_ = 0, total_bytes_ = 0;
};

/// Writes the row's fields with `put`, separated by commas.
template <class Row, class Put>
void put_row(const Row& row, Output& output, Put put) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) output.put(',');
    put(row[i]);
  }
  output.put('\n');
}

void check_finite(const RowTask& task, const std::vector<double>& row, const StateReader& reader) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (std::isfinite(row[i])) continue;
    throw InputError(reader.place() + ": " + task.outputs[i] +
                     " is not finite; the state is too large, or the inertia matrix singular");
  }
}

}  // namespace

std::span<const RowCommand> row_commands() { return kCommands; }

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
  put_row(task.outputs, output, [&](const std::string& name) { output.put(name); });

  std::vector<double> in(columns.names().size()), out(task.outputs.size());
  try {
    for (; reader.next(in); ++rows) {
      task.evaluate(in, out);
      check_finite(task, out, reader);
      put_row(out, output, [&](double value) { output.put_number(value); });
    }
  } catch (const InputError&) {
    output.flush();
    throw;
  }
  output.close();
}

}  // namespace ga_tools::cli
