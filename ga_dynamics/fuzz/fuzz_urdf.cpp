// SPDX-License-Identifier: Apache-2.0

/// libFuzzer target: no text may do more than throw a DescriptionError, and what is accepted must
/// keep the promises of urdf_model.hpp. Build with clang++ -fsanitize=fuzzer,address,undefined and
/// run with the seeds in corpus/.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/dynamics.hpp"

namespace {

using namespace ga_dynamics;

void require(bool kept, const char* promise) {
  if (!kept) {
    std::fprintf(stderr, "broken promise: %s\n", promise);
    std::abort();
  }
}

void check_pose(const Pose& pose) {
  const Matrix3& r = pose.rotation;
  for (std::size_t i = 0; i < 3; ++i) {
    require(std::isfinite(pose.translation[i]), "translation is finite");
    for (std::size_t j = 0; j < 3; ++j) {
      const double dot =
          r[3 * i] * r[3 * j] + r[3 * i + 1] * r[3 * j + 1] + r[3 * i + 2] * r[3 * j + 2];
      require(std::abs(dot - (i == j ? 1 : 0)) < 1e-9, "rotation is orthonormal");
    }
  }
  const double determinant = r[0] * (r[4] * r[8] - r[5] * r[7]) -
                             r[1] * (r[3] * r[8] - r[5] * r[6]) +
                             r[2] * (r[3] * r[7] - r[4] * r[6]);
  require(determinant > 0, "rotation is proper");
}

void check_joint(const UrdfModel& model, int index) {
  const UrdfJoint& joint = model.joints[static_cast<std::size_t>(index)];
  const int links = static_cast<int>(model.links.size());
  require(joint.parent >= 0 && joint.parent < links, "parent is in range");
  require(joint.child >= 0 && joint.child < links, "child is in range");
  const UrdfLink& parent = model.links[static_cast<std::size_t>(joint.parent)];
  const UrdfLink& child = model.links[static_cast<std::size_t>(joint.child)];
  require(parent.name == joint.parent_link && child.name == joint.child_link, "names resolve");
  require(child.parent_joint == index, "child knows its joint");
  check_pose(joint.origin);
  const double norm = std::hypot(joint.axis[0], joint.axis[1], joint.axis[2]);
  require(std::abs(norm - 1) < 1e-12, "axis is a unit vector");
  require(joint.lower.has_value() == joint.upper.has_value(), "range has two ends or none");
  require(!joint.lower || *joint.lower <= *joint.upper, "range is not empty");
  require(joint.soft_lower.has_value() == joint.soft_upper.has_value(), "soft range has two ends");
  require(!joint.soft_lower || *joint.soft_lower < *joint.soft_upper, "soft range is not empty");
  require(!joint.soft_lower || !joint.lower ||
              (*joint.soft_lower >= *joint.lower && *joint.soft_upper <= *joint.upper),
          "soft range is inside the range");
  require(joint.velocity.value_or(0) >= 0 && joint.effort.value_or(0) >= 0, "limits are >= 0");
  for (const double value :
       {joint.armature, joint.viscous_friction, joint.coulomb_positive, joint.coulomb_negative,
        joint.lower.value_or(0), joint.upper.value_or(0), joint.velocity.value_or(0),
        joint.effort.value_or(0)}) {
    require(std::isfinite(value), "joint value is finite");
  }
  require(joint.armature >= 0 && joint.viscous_friction >= 0 && joint.coulomb_positive >= 0 &&
              joint.coulomb_negative >= 0,
          "drive is >= 0");
}

void check_promises(const UrdfModel& model) {
  require(!model.links.empty() && model.joints.size() + 1 == model.links.size(), "is one tree");
  require(model.root >= 0 && model.root < static_cast<int>(model.links.size()), "root in range");
  require(model.links[static_cast<std::size_t>(model.root)].parent_joint == -1, "root is a root");
  std::size_t child_joints = 0;
  for (const UrdfLink& link : model.links) {
    require(!link.name.empty() && link.line > 0, "link has a name and a line");
    child_joints += link.child_joints.size();
    for (const int joint : link.child_joints) {
      require(joint >= 0 && joint < static_cast<int>(model.joints.size()), "joint is in range");
    }
    if (link.inertial) {
      const UrdfInertial& i = *link.inertial;
      check_pose(i.origin);
      require(i.mass >= 0, "mass is >= 0");
      for (const double value : {i.mass, i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz}) {
        require(std::isfinite(value), "inertial is finite");
      }
    }
  }
  require(child_joints == model.joints.size(), "every joint hangs on one link");
  for (std::size_t i = 0; i < model.joints.size(); ++i) {
    check_joint(model, static_cast<int>(i));
  }
}

/// What may be shown of a model that has faults, as `ga info` does.
void show(const UrdfModel& model) {
  if (model.faults.empty()) check_promises(model);
  const ChainSelection selection = survey_chain(model, {});
  const int links = static_cast<int>(model.links.size());
  require(selection.tip >= 0 && selection.tip < links, "tip is in range");
  ChainOptions options{.base = model.links[static_cast<std::size_t>(selection.base)].name,
                       .tip = model.links[static_cast<std::size_t>(selection.tip)].name,
                       .allow_missing_inertia = true};
  for (const ChainQuestion& question : selection.questions) {
    require(!question.text.empty(), "a question says something");
    for (const int joint : question.joints) {
      options.freeze.emplace(model.joints[static_cast<std::size_t>(joint)].name, 0);
    }
  }
  if (selection.joints.empty()) return;
  UrdfModel sound = model;
  sound.faults.clear();
  const ChainSelection decided = survey_chain(sound, options);
  require(decided.questions.empty(), "freezing its joints answers every question");
  require(decided.joints == selection.joints, "the answers do not change the chain");
  const Chain chain = Chain::from_model(sound, options);
  require(chain.joints().size() == selection.joints.size(), "the chain is the surveyed one");
}

/// Every accepted model may become a chain; the chain's algorithms must run, whatever its numbers.
void exercise(const UrdfModel& model) {
  check_promises(model);
  const ChainOptions options{.allow_missing_inertia = true, .freeze_off_chain = true};
  const Chain chain = Chain::from_model(model, options);
  require(chain.size() > 0, "a chain has joints");
  const std::size_t n = chain.joints().size();
  if (n > 32) return;  // long chains are only slower
  const std::vector<double> q(n, 0.3);
  std::vector<double> tau(n), matrix(n * n), jacobian(6 * n);
  std::vector<Pose> poses(chain.links().size());
  for (const Method method :
       {Method::kTensor, Method::kVector, Method::kDalembert, Method::kMinimal}) {
    Dynamics dynamics(chain, {.method = method, .drives = Drives::kAll});
    dynamics.inverse_dynamics(q, q, q, tau);
    dynamics.forward_dynamics(q, q, q, tau);
    dynamics.inertia_matrix(q, matrix);
    dynamics.link_poses(q, poses);
    dynamics.jacobian(q, static_cast<int>(chain.links().size()) - 1, jacobian);
    dynamics.energy(q, q);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool strict : {false, true}) {
    try {
      const UrdfModel model = read_urdf_text(text, {strict});
      require(!strict || model.warnings.empty(), "strict leaves no warnings");
      exercise(model);
    } catch (const DescriptionError& error) {
      require(*error.what() != '\0', "an error says something");
    }
  }
  try {
    show(read_urdf_text(text, {.collect_faults = true}));
  } catch (const DescriptionError& error) {
    require(*error.what() != '\0', "an error says something");
  }
  return 0;
}
