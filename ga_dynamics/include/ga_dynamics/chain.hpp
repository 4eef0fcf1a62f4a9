// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CHAIN_HPP_
#define GA_DYNAMICS__CHAIN_HPP_

// A serial arm: what the algorithms need to know of it, and the names and frames its user knows it
// by; its payload; and which joints of a description form it.
//
// The default chain runs from the root link along the branch with the most actuated joints, and
// ends before the gripper. A gripper is detected from the tree alone: branches that carry nothing but
// mimic joints, and parallel fingers, which are two or more branches on one body with fewer joints
// each than there are between the root and that body.
//
// Units: SI.

#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ga_dynamics/urdf_model.hpp"

namespace ga_dynamics {

enum class JointType { kRevolute, kContinuous, kPrismatic };

/// Modified Denavit–Hartenberg parameters, meters and radians:
/// T(i-1,i) = Tx(a) Rx(alpha) Ry(beta) Rz(theta) Tz(d), z of frame i on joint axis i. The joint
/// variable adds to theta (revolute) or d (prismatic). beta is 0 but for axes that are nearly, not
/// exactly, parallel: their common normal is far away or ill-defined, and Hayati's extra angle
/// keeps the frames near the arm and full precision.
struct DhParameters {
  double alpha = 0, a = 0, d = 0, theta = 0, beta = 0;
};

/// T(i−1,i) at zero of the joint variable; exact for twists of 0, ±90° and 180°.
Pose dh_pose(const DhParameters& dh);

/// Mass [kg], center of mass [m] and inertia tensor about the center of mass [kg m²], in the axes
/// of a stated frame.
struct LinkInertia {
  double mass = 0;
  Vector3 com{0, 0, 0};
  Matrix3 inertia{0, 0, 0, 0, 0, 0, 0, 0, 0};
};

/// What the motor and gear add at the joint; magnitudes, SI (N m or N at the joint).
struct Drive {
  double armature = 0;          ///< rotor inertia seen at the joint
  double viscous = 0;           ///< N m s/rad or N s/m
  double coulomb_positive = 0;  ///< friction while the joint moves in its positive direction
  double coulomb_negative = 0;  ///< and in its negative direction

  /// Magnitude of the Coulomb friction of a motion in this direction.
  double coulomb(double direction) const noexcept {
    return direction > 0 ? coulomb_positive : coulomb_negative;
  }
  /// The torque that friction takes at a velocity [rad/s, m/s]; Coulomb friction rises with
  /// tanh(rate / smoothing), for `smoothing` = 0 it jumps.
  double friction(double rate, double smoothing) const noexcept {
    const double sign = rate > 0 ? 1 : rate < 0 ? -1 : 0;
    const double rise = smoothing > 0 ? std::tanh(rate / smoothing) : sign;
    return viscous * rate + coulomb(rate) * rise;
  }
};

/// Limits of a joint; infinite: none. Goals and references stay within the soft limits, [goal_lower(),
/// goal_upper()]. `lower` and `upper` are the hard limits: the hardware stops an arm that leaves
/// them. The mechanical stops are at or beyond the hard limits (PlantOptions::stop_margin).
struct JointLimits {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  double velocity = std::numeric_limits<double>::infinity();
  double effort = std::numeric_limits<double>::infinity();
  double soft_lower = -std::numeric_limits<double>::infinity();
  double soft_upper = std::numeric_limits<double>::infinity();

  /// Ends of the range of goals: the soft limits, or the hard ones where there are none.
  double goal_lower() const noexcept { return soft_lower > lower ? soft_lower : lower; }
  double goal_upper() const noexcept { return soft_upper < upper ? soft_upper : upper; }
};

/// One joint and the rigid body that it moves (all links fixed to it lumped together).
struct ChainJoint {
  std::string name;
  std::string link;  ///< the link that the joint carries
  JointType type = JointType::kRevolute;
  DhParameters dh;
  LinkInertia body;  ///< in frame i
  JointLimits limits;
  Drive drive;
  std::map<std::string, std::string> parameters;  ///< of the joint in <ros2_control>, as text
  std::set<std::string> state_interfaces;         ///< of the joint there, e.g. "effort"

  bool revolute() const { return type != JointType::kPrismatic; }
};

/// Where a link of the description sits: fixed in the frame of `body` (0: the base, i: moved by
/// joint i).
struct ChainLink {
  std::string name;
  int body = 0;
  Pose pose;
};

/// One joint given by its modified-DH row and the body behind it (in frame i).
struct DhJoint {
  JointType type = JointType::kRevolute;
  DhParameters dh;
  LinkInertia body;
  Drive drive;
  JointLimits limits;
  std::string name;  ///< empty: joint1, joint2, …
};

/// How messages spell the options: `--tip hand` or `parameter tip: hand`.
enum class OptionSpelling { kCommandLine, kParameters };

struct ChainOptions {
  std::string base = {};  ///< empty: the root link
  std::string tip = {};   ///< empty: the end of the longest actuated chain, before its gripper
  /// Acceleration of gravity, m/s², in the ROOT link's frame, whichever link is the base: the fixed
  /// joints between root and base carry it over. A moving joint in between must be frozen by name;
  /// `freeze_off_chain` is enough if it cannot turn gravity (prismatic, or turning about it).
  Vector3 gravity{0, 0, -9.81};
  bool strict = false;  ///< every warning is an error: implausible inertias, missing limits, …
  bool allow_missing_inertia = false;  ///< moving bodies without <inertial> count as massless
  std::map<std::string, double> freeze = {};  ///< joints to treat as fixed, at this position
  /// Every moving joint off the chain is fixed at 0. Without it only a gripper's joints are, with a
  /// warning.
  bool freeze_off_chain = false;
  /// Angles closer than this to 0, ±90° or 180° [rad] and gravity closer than this to the first
  /// axis count as exact.
  double snap = 5e-14;
  OptionSpelling spelling = OptionSpelling::kCommandLine;
};

/// An immutable serial chain. Construction and link_index() throw DescriptionError, naming the
/// element and the remedy; construction allocates. The other accessors are real-time safe and do
/// not throw.
class Chain {
 public:
  static Chain from_urdf_text(std::string_view text, const ChainOptions& options = {});
  static Chain from_urdf_file(const std::filesystem::path& path, const ChainOptions& options = {});
  static Chain from_model(const UrdfModel& model, const ChainOptions& options = {});
  /// Rows as in the literature; gravity [m/s²] in frame 0. Links are called base, link1, …
  static Chain from_dh(const std::vector<DhJoint>& rows, const Vector3& gravity = {0, 0, -9.81});

  /// The same chain with a body fixed to the tip link, given in the tip link's frame.
  Chain with_payload(const LinkInertia& payload) const;
  /// The same chain with another gravity acceleration, m/s², in the root link's frame.
  Chain with_gravity(const Vector3& gravity) const;

  int size() const { return static_cast<int>(joints_.size()); }
  const std::vector<ChainJoint>& joints() const { return joints_; }
  /// Links in the base's subtree, the base first; those behind frozen joints and grippers included,
  /// those behind moving joints off the chain not.
  const std::vector<ChainLink>& links() const { return links_; }
  /// Index into links(). Throws DescriptionError, naming the links there are.
  int link_index(std::string_view name) const;
  int tip_index() const { return tip_; }  ///< into links()
  const ChainLink& base() const { return links_.front(); }
  const ChainLink& tip() const { return links_[static_cast<std::size_t>(tip_)]; }
  /// Frame 0 in the base link's frame. Frame 0 coincides with frame 1 at zero, so row 1 of the DH
  /// table is all zero.
  const Pose& frame0() const { return frame0_; }
  const Vector3& gravity_in_root() const { return gravity_in_root_; }  ///< as it was given
  const Vector3& gravity() const { return gravity_; }                  ///< in the base link's frame
  const Vector3& gravity_in_frame0() const { return gravity0_; }
  /// Named oddities that were accepted.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Chain() = default;
  void set_gravity(const Vector3& gravity);

  std::vector<ChainJoint> joints_;
  std::vector<ChainLink> links_;
  int tip_ = 0;
  Pose frame0_;
  Pose base_in_root_;
  Vector3 gravity_in_root_{0, 0, 0};
  Vector3 gravity_{0, 0, 0};
  Vector3 gravity0_{0, 0, 0};
  double snap_ = 0;
  std::vector<std::string> warnings_;
};

/// Rigid sum of two bodies given in the same frame.
LinkInertia lump(const LinkInertia& one, const LinkInertia& other);
/// The body given in a frame that sits at `pose`, seen from outside of it.
LinkInertia transformed(const Pose& pose, const LinkInertia& body);

// --- the payload ---

/// A rigid body fixed to the tip link, given in that link's frame. Chain::with_payload() and
/// Dynamics::set_payload() carry it.
using Payload = LinkInertia;

/// The largest mass [kg], and the largest coordinate [m] of the center of mass, that are plausible.
inline constexpr double kLargestPayload = 10000, kFarthestPayload = 100;

/// True if a rigid body with these parameters exists: finite, mass zero or more, inertia symmetric
/// and positive semi-definite with moments that meet the triangle inequality, no inertia without
/// mass. Real-time safe.
bool is_physical(const Payload& payload) noexcept;

/// Empty if the payload is physical, otherwise the element, its value and the remedy: "payload.mass
/// is -1 kg; give zero or more". Allocates.
std::string payload_flaw(const Payload& payload);

/// From mass, center of mass (three values or none) and inertia about it (ixx ixy ixz iyy iyz izz,
/// or none). Throws std::invalid_argument with the payload's flaw, or for another number of values.
Payload make_payload(double mass, std::span<const double> com, std::span<const double> inertia);

/// From text like MASS[,X,Y,Z[,IXX,IXY,IXZ,IYY,IYZ,IZZ]]. Throws std::invalid_argument.
Payload parse_payload(const std::string& text);

/// The body whose mass, first and second moments are a share 1 − `share` of those of `from` and
/// `share` of those of `to`. Physical if both are and `share` is between 0 and 1. Torques depend
/// linearly on the share. Real-time safe.
Payload blended(const Payload& from, const Payload& to, double share) noexcept;

// --- the selection of the chain in a description; everything here allocates ---

/// A branch of the tree that a chain can end at.
struct ChainBranch {
  int tip = 0;           ///< link index
  int joints = 0;        ///< actuated joints between the base and the tip
  std::string choose{};  ///< the options that choose it, to paste: "--tip left_hand --freeze all"
};

/// What has to be decided before forces can be computed.
struct ChainQuestion {
  std::string text;         ///< names the elements, the reason and the options to give
  std::vector<int> joints;  ///< joint indices: frozen at 0, they leave nothing to decide
};

struct ChainSelection {
  int base = 0, tip = 0;    ///< link indices
  std::vector<int> joints;  ///< actuated joints from base to tip, indices
  std::string reason;       ///< why this tip: "the longest branch: 7 actuated joints, …"

  /// Every branch behind the base, most joints first; the gripper's fingers are not among them.
  std::vector<ChainBranch> branches;

  // Moving joints off the chain, behind the base. What is frozen by name is in none of them.
  std::vector<int> gripper;    ///< taken as fixed at 0
  std::vector<int> on_base;    ///< carried by the base: no influence on the chain's forces
  std::vector<int> dependent;  ///< the chain's forces depend on their positions: a question

  Pose base_in_root;  ///< with the frozen joints in between at their positions

  std::vector<ChainQuestion> questions;
  std::vector<std::string> warnings;
};

/// Selects a chain and reports what is undecided instead of throwing: an ambiguous tip (the first
/// one is taken), moving joints between root and base, mimic, floating and planar joints on the
/// chain, joints off it that its forces depend on, no actuated joint at all (`joints` is empty).
/// Throws DescriptionError for options that do not fit the description: unknown base, tip or frozen
/// joints, a tip that is not behind the base.
ChainSelection survey_chain(const UrdfModel& model, const ChainOptions& options);

/// The same, but throws DescriptionError with the first question, if there is any.
ChainSelection select_chain(const UrdfModel& model, const ChainOptions& options);

/// Reads an argument of --freeze into the options: `JOINT`, `JOINT=POSITION` [rad, m], or `all` for
/// every moving joint off the chain. Throws DescriptionError.
void add_frozen(const std::string& argument, ChainOptions& options);

}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__CHAIN_HPP_
