// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

#include "cli/description.hpp"
#include "cli/output.hpp"
#include "ga_dynamics/algorithm/operation_count.hpp"
#include "ga_dynamics/minimal_parameters.hpp"
#include "ga_dynamics/number.hpp"

namespace ga_tools::cli {

using namespace ga_dynamics;
namespace {

constexpr int kReadableDigits = 9;

std::string show(double value) {
  if (std::isinf(value)) return "-";  // no limit
  return number_text(value == 0 ? 0.0 : value, kReadableDigits);
}

/// Without the rounding errors of a sum whose terms are of the size `scale`.
std::string show(double value, double scale) {
  return show(std::abs(value) < 1e-15 * scale ? 0.0 : value);
}

/// Names come from the file: their control characters must not reach the terminal.
std::string printable_lines(std::string text) {
  for (char& c : text) {
    if ((static_cast<unsigned char>(c) < ' ' && c != '\n') || c == '\x7f') c = '?';
  }
  return text;
}

std::size_t index(int i) { return static_cast<std::size_t>(i); }

std::string degrees(double radians) { return show(radians * 180 / std::numbers::pi); }

std::string show(const Vector3& v) { return show(v[0]) + " " + show(v[1]) + " " + show(v[2]); }

std::string joint_name(const Chain& chain, int joint) {
  return std::to_string(joint + 1) + " (" + chain.joints()[index(joint)].name + ")";
}

std::string summary_section(const Description& d) {
  const UrdfModel& model = d.model;
  const auto moving =
      std::count_if(model.joints.begin(), model.joints.end(),
                    [](const UrdfJoint& joint) { return joint.type != UrdfJointType::kFixed; });
  std::string text = "Robot       " + d.file + "\n" + "Name        " + model.name + "\n" +
                     "Tree        " + std::to_string(model.links.size()) + " links, " +
                     std::to_string(moving) + " moving joints, root link " +
                     model.links[index(model.root)].name + "\n" + "Base link   " +
                     model.links[index(d.selection.base)].name + "\n";
  if (!d.chain) return text;
  const Chain& chain = *d.chain;
  double mass = 0;
  for (const ChainJoint& joint : chain.joints()) mass += joint.body.mass;
  text += "Tip link    " + chain.tip().name + "\n" + "Chosen as   " + d.selection.reason + "\n" +
          "Joints      " + std::to_string(chain.size()) + "\n" + "Links       " +
          std::to_string(chain.links().size()) + "\n" + "Total mass  " + show(mass) +
          " kg, moved by the joints\n" + "Gravity     " + show(chain.gravity_in_root()) +
          " m/s² in the root link's frame\n";
  if (chain.gravity() != chain.gravity_in_root()) {
    text += "            " + show(chain.gravity()) + " m/s² in the base link's frame\n";
  }
  return text;
}

std::string missing_section(const Description& d) {
  std::string text;
  if (!d.missing.empty()) {
    text += "\nMissing for torques\n";
    for (const Missing& missing : d.missing) text += "  - " + missing.message + "\n";
  }
  if (!d.not_given.empty()) {
    text += "\nNot given, and taken as none\n";
    for (const std::string& what : d.not_given) text += "  - " + what + "\n";
  }
  return text;
}

/// One line per link, indented where the tree branches.
std::string tree_section(const Description& d) {
  constexpr std::size_t kMostLines = 400;
  constexpr int kDeepest = 30;
  const UrdfModel& model = d.model;
  const std::vector<JointRole> roles = joint_roles(d);
  std::vector<int> number(model.joints.size(), 0);
  for (std::size_t i = 0; i < d.selection.joints.size(); ++i) {
    number[index(d.selection.joints[i])] = static_cast<int>(i) + 1;
  }
  std::string text = "\nTree (link, and the joint that carries it)\n";
  struct Open {
    int link, depth;
  };
  std::vector<Open> open{{model.root, 0}};
  std::size_t lines = 0;
  while (!open.empty()) {
    const Open here = open.back();
    open.pop_back();
    if (++lines > kMostLines) {
      text += "  … and " + std::to_string(model.links.size() - kMostLines) +
              " more (--json lists all)\n";
      break;
    }
    const UrdfLink& link = model.links[index(here.link)];
    text += std::string(2 + 2 * static_cast<std::size_t>(std::min(here.depth, kDeepest)), ' ') +
            link.name;
    if (link.parent_joint >= 0) {
      const UrdfJoint& joint = model.joints[index(link.parent_joint)];
      text += "  (" + joint.name + ", " + name_of(joint.type);
      if (joint.mimic) text += ", mimics " + joint.mimic_of;
      const JointRole role = roles[index(link.parent_joint)];
      if (const int place = number[index(link.parent_joint)]; place > 0) {
        text += ", joint " + std::to_string(place) + " of the chain";
      } else if (role == JointRole::kOnBase) {
        text += ", no influence on the chain";
      } else if (role != JointRole::kFixed && role != JointRole::kOutside) {
        text += std::string(", ") + name_of(role);
      }
      text += ")";
    }
    if (here.link == d.selection.base) text += "  <- base";
    if (d.chain && here.link == d.selection.tip) text += "  <- tip";
    text += "\n";
    const int deeper = here.depth + (link.child_joints.size() > 1 ? 1 : 0);
    for (auto joint = link.child_joints.rbegin(); joint != link.child_joints.rend(); ++joint) {
      open.push_back({model.joints[index(*joint)].child, deeper});
    }
  }
  return text;
}

std::string branches_section(const Description& d) {
  constexpr std::size_t kMostRows = 40;
  const std::vector<ChainBranch>& branches = d.selection.branches;
  if (branches.size() < 2) return "";
  TextTable table({"", "tip link", "options", "joints"}, 2);
  for (std::size_t i = 0; i < std::min(branches.size(), kMostRows); ++i) {
    const ChainBranch& branch = branches[i];
    table.add({branch.tip == d.selection.tip ? "*" : "", d.model.links[index(branch.tip)].name,
               branch.choose, std::to_string(branch.joints)});
  }
  std::string text =
      "\nBranches to choose from, * the one shown here (actuated joints from the base)\n" +
      table.text();
  if (branches.size() > kMostRows) {
    text += "  … and " + std::to_string(branches.size() - kMostRows) + " more\n";
  }
  return text;
}

std::string joints_section(const Description& d) {
  const Chain& chain = *d.chain;
  const auto driven = [](const ChainJoint& joint) {
    const Drive& drive = joint.drive;
    return drive.armature != 0 || drive.viscous != 0 || drive.coulomb_positive != 0 ||
           drive.coulomb_negative != 0;
  };
  const bool drives = std::any_of(chain.joints().begin(), chain.joints().end(), driven);
  std::vector<std::string> header{"#",     "joint", "moves link", "type",
                                  "lower", "upper", "velocity",   "effort"};
  if (drives) {
    for (const char* const name : {"armature", "viscous", "coulomb +", "coulomb -"}) {
      header.emplace_back(name);
    }
  }
  TextTable table(std::move(header), 3);
  for (int i = 0; i < chain.size(); ++i) {
    const ChainJoint& joint = chain.joints()[index(i)];
    std::vector<std::string> row{std::to_string(i + 1),
                                 joint.name,
                                 joint.link,
                                 name_of(d.model.joints[index(d.selection.joints[index(i)])].type),
                                 show(joint.limits.lower),
                                 show(joint.limits.upper),
                                 show(joint.limits.velocity),
                                 show(joint.limits.effort)};
    if (drives) {
      for (const double value : {joint.drive.armature, joint.drive.viscous,
                                 joint.drive.coulomb_positive, joint.drive.coulomb_negative}) {
        row.push_back(show(value));
      }
    }
    table.add(std::move(row));
  }
  return "\nJoints (rad and N m, prismatic m and N; - where no limit is given)\n" + table.text();
}

std::string dh_section(const Chain& chain) {
  const bool nearly_parallel =
      std::any_of(chain.joints().begin(), chain.joints().end(),
                  [](const ChainJoint& joint) { return joint.dh.beta != 0; });
  std::vector<std::string> header{"#", "joint", "alpha [deg]", "alpha [rad]", "a [m]"};
  if (nearly_parallel) header.emplace_back("beta [rad]");
  for (const char* const name : {"d [m]", "theta [deg]", "theta [rad]"}) header.emplace_back(name);
  TextTable table(std::move(header), 1);
  for (int i = 0; i < chain.size(); ++i) {
    const ChainJoint& joint = chain.joints()[index(i)];
    const DhParameters& dh = joint.dh;
    std::vector<std::string> row{std::to_string(i + 1), joint.name, degrees(dh.alpha),
                                 show(dh.alpha), show(dh.a)};
    if (nearly_parallel) row.push_back(show(dh.beta));
    const char* const plus_q = " + q";
    row.push_back(show(dh.d) + (joint.revolute() ? "    " : plus_q));
    row.push_back(degrees(dh.theta) + (joint.revolute() ? plus_q : "    "));
    row.push_back(show(dh.theta) + (joint.revolute() ? plus_q : "    "));
    table.add(std::move(row));
  }
  std::string text =
      "\nModified Denavit-Hartenberg table: T(i-1,i) = Tx(a) Rx(alpha) Ry(beta) Rz(theta) Tz(d)\n" +
      table.text();
  if (nearly_parallel) {
    text +=
        "  beta: Hayati's angle, for axes that are nearly, not exactly, parallel. If they should "
        "be\n"
        "  parallel, --snap with the size of beta makes them so.\n";
  }

  TextTable frame0({"", "x axis", "y axis", "z axis", "origin [m]"}, 0);
  const Pose& pose = chain.frame0();
  for (std::size_t row = 0; row < 3; ++row) {
    frame0.add({std::string(1, "xyz"[row]), show(pose.rotation[3 * row], 1),
                show(pose.rotation[3 * row + 1], 1), show(pose.rotation[3 * row + 2], 1),
                show(pose.translation[row], 1)});
  }
  return text + "\nFrame 0 in the base link's frame (frame 1 is in it at zero)\n" + frame0.text() +
         "  Gravity in frame 0: " + show(chain.gravity_in_frame0()) + " m/s²\n";
}

std::string bodies_section(const Chain& chain) {
  TextTable table({"#", "link", "mass [kg]", "x [m]", "y [m]", "z [m]", "Ixx", "Iyy", "Izz", "Ixy",
                   "Ixz", "Iyz"},
                  1);
  for (int i = 0; i < chain.size(); ++i) {
    const ChainJoint& joint = chain.joints()[index(i)];
    const LinkInertia& body = joint.body;
    const double largest = std::max({body.inertia[0], body.inertia[4], body.inertia[8]});
    std::vector<std::string> row{std::to_string(i + 1), joint.link, show(body.mass)};
    for (const double value : body.com) row.push_back(show(value, 1));
    for (const std::size_t index : {0U, 4U, 8U, 1U, 2U, 5U}) {
      row.push_back(show(body.inertia[index], largest));
    }
    table.add(std::move(row));
  }
  return "\nBodies, fixed links included, in their DH frames (center of mass; inertia tensor about "
         "it, kg m²)\n" +
         table.text();
}

std::string minimal_section(const Chain& chain, bool list) {
  if (chain.size() > kMostJointsCounted) return "";
  const MinimalParameters minimal(chain);
  const int n = chain.size();
  const int r = minimal.first_revolute(), s = minimal.first_nonparallel();
  std::string text = "\nMinimal parameters: " + std::to_string(minimal.values().size()) +
                     (list ? "" : " (--minimal lists them)") + "\n";
  text += "  r, the first revolute joint: " + (r < n ? joint_name(chain, r) : "none") + "\n";
  text += "  s, the first revolute joint not parallel to r: " +
          (s < n ? joint_name(chain, s) : "none") + "\n";
  if (chain.gravity() == Vector3{0, 0, 0}) {
    text += "  Without gravity the set is sufficient, but may not be minimal.\n";
  }
  if (!list) return text;
  TextTable table({"#", "parameter", "joint", "value"}, 2);
  for (std::size_t i = 0; i < minimal.values().size(); ++i) {
    const MlcValue& value = minimal.values()[i];
    table.add({std::to_string(i + 1), value.name, chain.joints()[index(value.joint)].name,
               number_text(value.value, kExactDigits)});
  }
  return text + table.text();
}

std::string operations_section(const Chain& chain) {
  TextTable table({"", "algorithm", "products", "sums"}, 1);
  const std::pair<CountedAlgorithm, const char*> algorithms[] = {
      {CountedAlgorithm::kTensor, "inverse dynamics, tensor form"},
      {CountedAlgorithm::kVector, "inverse dynamics, vector form"},
      {CountedAlgorithm::kMinimal, "inverse dynamics, minimal parameters"},
      {CountedAlgorithm::kBias, "bias"},
      {CountedAlgorithm::kGravity, "gravity"},
      {CountedAlgorithm::kInertia, "inertia matrix"},
      {CountedAlgorithm::kForward, "forward dynamics"},
  };
  for (const auto& [algorithm, name] : algorithms) {
    if (chain.size() > kMostJointsCounted) {
      table.add({"", name, "-", "-"});
      continue;
    }
    const OperationCount count = count_operations(chain, algorithm);
    table.add({"", name, std::to_string(count.products), std::to_string(count.sums)});
  }
  return "\nOperations of one call, specialized to this robot's zeros and right angles (sines and "
         "cosines not counted)\n" +
         table.text();
}

std::string warnings_section(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return "";
  std::string text = "\nWarnings\n";
  for (const std::string& warning : warnings) text += "  " + warning + "\n";
  return text;
}

}  // namespace

std::string info_text(const Description& description, const InfoOptions& options) {
  std::string text = summary_section(description) + missing_section(description) +
                     tree_section(description) + branches_section(description);
  if (description.chain) {
    const Chain& chain = *description.chain;
    text += joints_section(description) + dh_section(chain);
    const bool any_mass = std::any_of(chain.joints().begin(), chain.joints().end(),
                                      [](const ChainJoint& joint) { return joint.body.mass > 0; });
    if (any_mass) {
      text += bodies_section(chain) + minimal_section(chain, options.list_minimal) +
              operations_section(chain);
    }
  }
  return printable_lines(text + (options.quiet ? "" : warnings_section(description.warnings)));
}

}  // namespace ga_tools::cli
