// SPDX-License-Identifier: Apache-2.0
#ifndef RANDOM_ROBOT_HPP_
#define RANDOM_ROBOT_HPP_

// Robots for the tests: random geometry, generic or with the symmetries of real arms, as URDF text
// and, built from the same numbers without our code, as a chain of Orocos KDL.

#include <cmath>
#include <iomanip>
#include <kdl/chain.hpp>
#include <numbers>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace ga_dynamics::test {

struct RobotJoint {
  enum Type { kRevolute, kPrismatic, kFixed } type = kRevolute;
  double xyz[3] = {0, 0, 0}, rpy[3] = {0, 0, 0}, axis[3] = {0, 0, 1};
  double mass = 1, com[3] = {0, 0, 0}, com_rpy[3] = {0, 0, 0}, moments[3] = {1, 1, 1};
};

struct RobotKind {
  double prismatic = 0.3;  ///< share of prismatic joints
  double fixed = 0.15;     ///< chance of a fixed link behind a joint
  double aligned =
      0.4;  ///< chance that a joint's frame is at right angles, its axis along x, y or z
  double intersecting = 0.3;     ///< chance that a joint has no offset
  double nearly_parallel = 0.0;  ///< chance of an angle of 1e-3 … 1e-12 rad to a right-angled frame
};

class RandomRobot {
 public:
  RandomRobot(int joints, unsigned seed, const RobotKind& kind = {}) : random_(seed) {
    for (int i = 0; i < joints; ++i) {
      links_.push_back(random_joint(
          chance(kind.prismatic) ? RobotJoint::kPrismatic : RobotJoint::kRevolute, kind));
      if (chance(kind.fixed)) links_.push_back(random_joint(RobotJoint::kFixed, kind));
    }
  }

  std::string urdf() const {
    std::ostringstream text;
    text << std::setprecision(17) << "<robot name=\"random\"><link name=\"link0\"/>\n";
    for (std::size_t i = 0; i < links_.size(); ++i) {
      const RobotJoint& j = links_[i];
      const char* type = j.type == RobotJoint::kRevolute    ? "continuous"
                         : j.type == RobotJoint::kPrismatic ? "prismatic"
                                                            : "fixed";
      text << "<joint name=\"joint" << i + 1 << "\" type=\"" << type << "\"><origin"
           << vector("xyz", j.xyz) << vector("rpy", j.rpy) << "/><parent link=\"link" << i
           << "\"/><child link=\"link" << i + 1 << "\"/><axis" << vector("xyz", j.axis) << "/>"
           << (j.type == RobotJoint::kPrismatic
                   ? "<limit lower=\"-9\" upper=\"9\" effort=\"1\" velocity=\"1\"/>"
                   : "")
           << "</joint>\n<link name=\"link" << i + 1 << "\"><inertial><origin"
           << vector("xyz", j.com) << vector("rpy", j.com_rpy) << "/><mass value=\"" << j.mass
           << "\"/><inertia ixx=\"" << j.moments[0] << "\" iyy=\"" << j.moments[1] << "\" izz=\""
           << j.moments[2] << "\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>\n";
    }
    text << "</robot>";
    return text.str();
  }

  KDL::Chain kdl() const {
    KDL::Chain chain;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      const RobotJoint& j = links_[i];
      const KDL::Frame frame(KDL::Rotation::RPY(j.rpy[0], j.rpy[1], j.rpy[2]),
                             KDL::Vector(j.xyz[0], j.xyz[1], j.xyz[2]));
      const KDL::Vector axis = frame.M * KDL::Vector(j.axis[0], j.axis[1], j.axis[2]);
      const std::string name = "link" + std::to_string(i + 1);
      KDL::Joint joint(name, KDL::Joint::None);
      if (j.type == RobotJoint::kRevolute)
        joint = KDL::Joint(name, frame.p, axis, KDL::Joint::RotAxis);
      if (j.type == RobotJoint::kPrismatic)
        joint = KDL::Joint(name, frame.p, axis, KDL::Joint::TransAxis);
      const KDL::RigidBodyInertia at_com(
          j.mass, KDL::Vector::Zero(),
          KDL::RotationalInertia(j.moments[0], j.moments[1], j.moments[2]));
      const KDL::Frame com(KDL::Rotation::RPY(j.com_rpy[0], j.com_rpy[1], j.com_rpy[2]),
                           KDL::Vector(j.com[0], j.com[1], j.com[2]));
      chain.addSegment(KDL::Segment(name, joint, frame, com * at_com));
    }
    return chain;
  }

  /// Values for one joint vector: angles in ±pi, lengths and rates in ±1.
  std::vector<double> positions(int n) { return values(n, std::numbers::pi); }
  std::vector<double> rates(int n) { return values(n, 2.0); }

  std::vector<double> values(int n, double range) {
    std::vector<double> v(static_cast<std::size_t>(n));
    for (double& x : v) x = uniform(-range, range);
    return v;
  }
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  bool chance(double probability) { return uniform(0, 1) < probability; }

 private:
  RobotJoint random_joint(RobotJoint::Type type, const RobotKind& kind) {
    RobotJoint j;
    j.type = type;
    const bool aligned = chance(kind.aligned), tilted = chance(kind.nearly_parallel);
    const bool intersecting = chance(kind.intersecting);
    double length = 0;
    for (int k = 0; k < 3; ++k) {
      j.xyz[k] = intersecting ? 0 : chance(0.3) ? 0 : uniform(-0.5, 0.5);
      const double right = 0.5 * std::numbers::pi * std::floor(uniform(-2, 3));
      j.rpy[k] = aligned || tilted ? right : uniform(-3, 3);
      if (tilted) j.rpy[k] += std::pow(10.0, uniform(-12, -3));
      j.axis[k] = uniform(-1, 1);
      length += j.axis[k] * j.axis[k];
      j.com[k] = uniform(-0.2, 0.2);
      j.com_rpy[k] = uniform(-3, 3);
    }
    for (double& component : j.axis) component /= std::sqrt(length);
    if (aligned || tilted) {
      const auto along = static_cast<int>(uniform(0, 3));
      const double sign = chance(0.5) ? 1 : -1;
      for (int k = 0; k < 3; ++k) j.axis[k] = k == along ? sign : 0;
    }
    j.mass = uniform(0.1, 5);
    // principal moments of a box: the triangle inequality holds
    const double x = uniform(0.05, 0.4), y = uniform(0.05, 0.4), z = uniform(0.05, 0.4);
    j.moments[0] = j.mass / 12 * (y * y + z * z);
    j.moments[1] = j.mass / 12 * (x * x + z * z);
    j.moments[2] = j.mass / 12 * (x * x + y * y);
    return j;
  }
  static std::string vector(const char* name, const double* v) {
    std::ostringstream text;
    text << std::setprecision(17) << " " << name << "=\"" << v[0] << " " << v[1] << " " << v[2]
         << "\"";
    return text.str();
  }

  std::mt19937 random_;
  std::vector<RobotJoint> links_;
};

/// Largest difference over the largest magnitude of the reference.
template <class A, class B>
double relative_difference(const A& value, const B& reference) {
  double difference = 0, magnitude = 1e-300;
  for (std::size_t i = 0; i < value.size(); ++i) {
    difference = std::max(difference, std::abs(value[i] - reference[i]));
    magnitude = std::max(magnitude, std::abs(reference[i]));
    if (std::isnan(value[i]) || std::isnan(reference[i])) return INFINITY;
  }
  return difference / magnitude;
}

}  // namespace ga_dynamics::test

#endif  // RANDOM_ROBOT_HPP_
