// SPDX-License-Identifier: Apache-2.0
#ifndef URDF_TEXTS_HPP_
#define URDF_TEXTS_HPP_

// Small descriptions, and what the reader says of them.

#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>
#include <sstream>
#include <string>

#include "ga_dynamics/urdf_model.hpp"

namespace ga_dynamics::test {

/// What read_urdf_text throws; empty, with a failed test, if it accepts the text.
inline std::string error_of(const std::string& text, bool strict = false) {
  try {
    read_urdf_text(text, {strict});
  } catch (const DescriptionError& error) {
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text.substr(0, 500);
  return {};
}

inline void expect_words(const std::string& message, std::initializer_list<const char*> words) {
  for (const char* const word : words) {
    EXPECT_NE(message.find(word), std::string::npos) << "'" << word << "' not in: " << message;
  }
}

/// Line 1 <robot>, line 2 link base, line 3 link arm, line 4 joint shoulder, line 5 its content,
/// from line 7 on `more`.
inline std::string two_links(const std::string& type, const std::string& joint_content,
                             const std::string& more = "") {
  return "<robot name='r'>\n<link name='base'/>\n<link name='arm'/>\n<joint name='shoulder' "
         "type='" +
         type + "'><parent link='base'/><child link='arm'/>\n" + joint_content + "\n</joint>\n" +
         more + "</robot>";
}

/// Line 1 <robot>, line 2 link forearm, line 3 its <inertial>, line 4 `content`.
inline std::string one_link(const std::string& content) {
  return "<robot name='r'>\n<link name='forearm'>\n<inertial>\n" + content +
         "\n</inertial></link></robot>";
}

inline std::string inertia(const std::string& mass, const std::string& six) {
  std::istringstream values(six);
  std::string text = "<mass value='" + mass + "'/><inertia", value;
  for (const char* const name : {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}) {
    values >> value;
    text += std::string(" ") + name + "='" + value + "'";
  }
  return text + "/>";
}

inline const UrdfJoint& shoulder(const UrdfModel& model) {
  return model.joints.at(static_cast<std::size_t>(find_joint(model, "shoulder")));
}

inline constexpr const char* kLimit = "<limit lower='-1' upper='2' velocity='3' effort='4'/>";

inline void expect_vector(const Vector3& actual, const Vector3& expected, double tolerance = 0) {
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(actual[i], expected[i], tolerance) << "component " << i;
  }
}

}  // namespace ga_dynamics::test

#endif  // URDF_TEXTS_HPP_
