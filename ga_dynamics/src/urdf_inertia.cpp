// SPDX-License-Identifier: Apache-2.0
#include "inertia_check.hpp"
#include "urdf_parts.hpp"

namespace ga_dynamics::urdf {
namespace {

void check_tensor(const UrdfInertial& inertial, int line, const std::string& owner,
                  const Report& report) {
  const Matrix3 tensor{inertial.ixx, inertial.ixy, inertial.ixz, inertial.ixy, inertial.iyy,
                       inertial.iyz, inertial.ixz, inertial.iyz, inertial.izz};
  if (tensor == Matrix3{}) {
    return;  // a point mass, or a frame without mass
  }
  if (inertial.mass == 0) {
    report.warn(
        owner, line,
        "inertia is not zero but the mass is; give the mass, or set the inertia to zero as well");
  }
  if (const std::string flaw = inertia_flaw(tensor); !flaw.empty()) {
    report.fault(owner, line, flaw);
  } else if (const std::string odd = triangle_flaw(tensor); !odd.empty()) {
    report.warn(owner, line, odd);
  }
}

}  // namespace

UrdfInertial read_inertial(const Element& inertial, const std::string& owner,
                           const Report& report) {
  UrdfInertial result;
  result.origin = read_origin(inertial, owner, report);

  const Element& mass = required_child(inertial, "mass", owner, report);
  result.mass = required_number(mass, "value", owner);
  if (result.mass < 0) {
    report.fault(owner, mass.GetLineNum(),
                 "mass is negative (" + to_text(result.mass) + "); give kilograms, zero or more");
    result.mass = 0;
  }

  const Element& inertia = required_child(inertial, "inertia", owner, report);
  result.ixx = required_number(inertia, "ixx", owner);
  result.ixy = required_number(inertia, "ixy", owner);
  result.ixz = required_number(inertia, "ixz", owner);
  result.iyy = required_number(inertia, "iyy", owner);
  result.iyz = required_number(inertia, "iyz", owner);
  result.izz = required_number(inertia, "izz", owner);
  check_tensor(result, inertia.GetLineNum(), owner, report);
  return result;
}

}  // namespace ga_dynamics::urdf
