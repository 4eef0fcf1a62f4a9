// SPDX-License-Identifier: Apache-2.0

/// The robot description as plain data, poses among them, and the two functions that read it.
///
/// The reader trusts nothing in the text: every value that reaches a UrdfModel is finite, every
/// reference resolves, the links form one tree, every axis is a unit vector and every inertia is
/// positive semidefinite (to 1e-9 of its largest moment). Anything else is a DescriptionError, or a
/// fault of the model where the caller asks for it. What a chain can be built from (no mimic,
/// floating or planar joints on its way) is for the chain's construction to decide.
///
/// What urdfdom accepts and can mean one thing only is read, with a warning: a second <origin> (the
/// first counts, as there), limits of effort and velocity that are not positive (not given), axes
/// that are not unit vectors.
///
/// Units: SI throughout (m, rad, kg, kg m^2, N, N m, s). Real-time: the functions of poses are
/// real-time safe and do not throw; the others are not for the control path.
#ifndef GA_DYNAMICS__URDF_MODEL_HPP_
#define GA_DYNAMICS__URDF_MODEL_HPP_

#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ga_dynamics {

using Vector3 = std::array<double, 3>;
using Matrix3 = std::array<double, 9>;  // row-major

/// Takes coordinates in the child's frame to the parent's: p_parent = rotation p_child +
/// translation.
struct Pose {
  Matrix3 rotation{1, 0, 0, 0, 1, 0, 0, 0, 1};
  Vector3 translation{0, 0, 0};
};

Pose compose(const Pose& outer, const Pose& inner) noexcept;
Pose inverse(const Pose& pose) noexcept;

/// Unit quaternion x, y, z, w with w >= 0 of a rotation matrix.
std::array<double, 4> quaternion_of(const Matrix3& rotation) noexcept;
/// Logarithm of a rotation: its axis times its angle, 0 to pi rad. At pi the axis has either sign.
Vector3 rotation_vector(const Matrix3& rotation) noexcept;
/// Rotation by Euler angles z, y', z'' [rad], as the papers give orientations.
Matrix3 rotation_zyz(double z1, double y, double z2) noexcept;

/// Thrown for every bad robot description; what() names the element, the value and the remedy.
/// "(line N)" in the text is the line of the tag that holds the bad value.
class DescriptionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class UrdfJointType { kRevolute, kContinuous, kPrismatic, kFixed, kFloating, kPlanar };

/// Inertia about the center of mass, in the axes of `origin`; `origin` is given in the link's
/// frame.
struct UrdfInertial {
  Pose origin;
  double mass = 0;
  double ixx = 0, ixy = 0, ixz = 0, iyy = 0, iyz = 0, izz = 0;
};

struct UrdfLink {
  std::string name;
  std::optional<UrdfInertial> inertial;
  int line = 0;
  int parent_joint = -1;  // index into UrdfModel::joints; -1 for the root
  std::vector<int> child_joints;
};

struct UrdfJoint {
  std::string name;
  UrdfJointType type = UrdfJointType::kFixed;
  std::string parent_link, child_link;
  int parent = -1, child = -1;  // indices into UrdfModel::links
  Pose origin;
  Vector3 axis{1, 0, 0};  // unit, in the joint's frame
  /// Empty where the description gives none; velocity and effort also where they are not positive.
  /// `lower` and `upper` belong to revolute and prismatic joints only, and are both empty or both
  /// set.
  std::optional<double> lower, upper, velocity, effort;
  /// Of <safety_controller>, within `lower` and `upper`; both empty or both set. Two zeros, which are
  /// the defaults of URDF, count as not given.
  std::optional<double> soft_lower = std::nullopt, soft_upper = std::nullopt;
  bool mimic = false;
  std::string mimic_of;
  /// The drive as felt at the joint, magnitudes >= 0: from <dynamics damping friction>, overridden
  /// by the joint's <param name="armature | viscous_friction | coulomb_friction |
  /// coulomb_friction_positive | coulomb_friction_negative"> in <ros2_control>.
  double armature = 0, viscous_friction = 0, coulomb_positive = 0, coulomb_negative = 0;
  bool armature_given = false, friction_given = false;
  int line = 0;
  /// Every <param> of the joint in <ros2_control>, as text; of several with one name the first.
  std::map<std::string, std::string> parameters = {};
  std::set<std::string> state_interfaces = {};  ///< in <ros2_control>, e.g. "effort"
};

struct UrdfModel {
  std::string name;
  std::vector<UrdfLink> links;    // in the order of the text
  std::vector<UrdfJoint> joints;  // in the order of the text
  int root = -1;
  std::vector<std::string> warnings;  // each names its element, its line and a remedy
  /// What would make forces or limits wrong; no chain is built from a model that has any. Without
  /// UrdfReadOptions::collect_faults the first one is thrown instead.
  std::vector<std::string> faults;
};

struct UrdfReadOptions {
  bool strict = false;  // what would be a warning is an error
  /// For showing a description that cannot be computed with: indefinite inertias, negative masses,
  /// zero axes, crossed limits, unexpanded xacro and the like are listed, and reading goes on with
  /// a neutral value. What leaves no tree of links and joints is thrown all the same.
  bool collect_faults = false;
};

/// Longest description accepted, far above any real robot. It bounds what a bad file can cost: a
/// text of nothing but "<a/>" takes 33 times its length in memory.
inline constexpr std::size_t kMaxUrdfBytes = std::size_t{16} << 20;

/// Throws DescriptionError.
UrdfModel read_urdf_text(std::string_view text, const UrdfReadOptions& options = {});

/// Throws DescriptionError; its text begins with the path. Pipes are read like files.
UrdfModel read_urdf_file(const std::filesystem::path& path, const UrdfReadOptions& options = {});

/// Index of the link or joint with this name, -1 if there is none. Linear in their number.
int find_link(const UrdfModel& model, std::string_view name);
int find_joint(const UrdfModel& model, std::string_view name);

}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__URDF_MODEL_HPP_
