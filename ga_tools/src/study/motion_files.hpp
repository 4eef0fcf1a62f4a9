// SPDX-License-Identifier: Apache-2.0
#ifndef STUDY__MOTION_FILES_HPP_
#define STUDY__MOTION_FILES_HPP_

// Tables of motions and way-points as files.

#include <string>
#include <vector>

#include "ga_motion/time_parameterization.hpp"

namespace ga_tools {

struct FileSamples : ga_motion::MotionSamples {
  std::string note;  ///< which columns of the file are not read, for people
};

/// A table of t, positions and, if it has them, velocities and accelerations of all joints; columns as
/// in `ga motion`. Throws std::runtime_error, naming the file and the line.
FileSamples read_samples(const std::string& file, const std::vector<std::string>& joints);

/// A table of joint positions. Throws std::runtime_error, naming the file and the line.
FileSamples read_way_points(const std::string& file, const std::vector<std::string>& joints);

}  // namespace ga_tools

#endif  // STUDY__MOTION_FILES_HPP_
