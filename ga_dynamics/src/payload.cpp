// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "ga_dynamics/algorithm/linear.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_dynamics/number.hpp"
#include "inertia_check.hpp"

namespace ga_dynamics {
namespace {

constexpr int kDigits = 6;
constexpr const char* kAxes[] = {"x", "y", "z"};

std::string text(double value) { return number_text(value, kDigits); }

bool is_symmetric(const Matrix3& i) { return i[1] == i[3] && i[2] == i[6] && i[5] == i[7]; }

Sym3<double> to_sym(const Matrix3& m) { return {m[0], m[4], m[8], m[1], m[2], m[5]}; }

bool all_finite(const Payload& p) {
  double sum = p.mass * 0;
  for (const double v : p.com) sum += v * 0;
  for (const double v : p.inertia) sum += v * 0;
  return sum == 0;
}

}  // namespace

bool is_physical(const Payload& p) noexcept {
  if (!all_finite(p) || p.mass < 0 || p.mass > kLargestPayload || !is_symmetric(p.inertia)) {
    return false;
  }
  for (const double v : p.com) {
    if (std::abs(v) > kFarthestPayload) return false;
  }
  if (p.mass == 0) return p.inertia == Matrix3{};
  return is_inertia(p.inertia);
}

std::string payload_flaw(const Payload& p) {
  if (is_physical(p)) return {};
  if (!std::isfinite(p.mass) || p.mass < 0 || p.mass > kLargestPayload) {
    return "payload.mass is " + text(p.mass) + " kg; give 0 … " + text(kLargestPayload) + " kg";
  }
  for (std::size_t k = 0; k < p.com.size(); ++k) {
    if (std::isfinite(p.com[k]) && std::abs(p.com[k]) <= kFarthestPayload) continue;
    return std::string("payload.com: ") + kAxes[k] + " is " + text(p.com[k]) +
           " m; give meters in the tip link's frame, at most " + text(kFarthestPayload);
  }
  for (const double v : p.inertia) {
    if (!std::isfinite(v)) {
      return "payload.inertia has the value " + text(v) + "; give finite numbers in kg m²";
    }
  }
  if (!is_symmetric(p.inertia)) {
    return "payload.inertia is not symmetric; give ixy, ixz and iyz on both sides of the diagonal";
  }
  if (p.mass == 0) {
    return "payload.inertia is not zero, but payload.mass is; give a mass, or no inertia";
  }
  const std::string flaw = inertia_flaw(p.inertia);
  return "payload." + (flaw.empty() ? triangle_flaw(p.inertia) : flaw);
}

Payload make_payload(double mass, std::span<const double> com, std::span<const double> inertia) {
  if (!com.empty() && com.size() != 3) {
    throw std::invalid_argument("payload.com has " + std::to_string(com.size()) +
                                " values; give x, y, z in m, or none");
  }
  if (!inertia.empty() && inertia.size() != 6) {
    throw std::invalid_argument("payload.inertia has " + std::to_string(inertia.size()) +
                                " values; give ixx, ixy, ixz, iyy, iyz, izz in kg m², or none");
  }
  Payload payload{mass, {}, {}};
  std::copy(com.begin(), com.end(), payload.com.begin());
  if (!inertia.empty()) {
    payload.inertia = {inertia[0], inertia[1], inertia[2], inertia[1], inertia[3],
                       inertia[4], inertia[2], inertia[4], inertia[5]};
  }
  Payload checked = payload;
  if (mass == 0) checked.mass = 1;  // the inertia of no payload does not count, but must be valid
  if (const std::string flaw = payload_flaw(checked); !flaw.empty()) {
    throw std::invalid_argument(flaw);
  }
  return mass == 0 ? Payload{} : payload;
}

Payload parse_payload(const std::string& given) {
  constexpr const char* kForm = "; give MASS[,X,Y,Z[,IXX,IXY,IXZ,IYY,IYZ,IZZ]] in kg, m and kg m²";
  std::vector<double> values;
  for (std::size_t begin = 0; begin <= given.size();) {
    const std::size_t end = std::min(given.find(',', begin), given.size());
    const std::string item = given.substr(begin, end - begin);
    double value = 0;
    if (!is_number(item, value)) {
      throw std::invalid_argument("payload '" + given + "': '" + item + "' is not a number" +
                                  kForm);
    }
    values.push_back(value);
    begin = end + 1;
  }
  if (values.size() != 1 && values.size() != 4 && values.size() != 10) {
    throw std::invalid_argument("payload '" + given + "' has " + std::to_string(values.size()) +
                                " values" + kForm);
  }
  const std::span<const double> rest = std::span(values).subspan(1);
  return make_payload(values[0], rest.first(std::min<std::size_t>(rest.size(), 3)),
                      rest.size() > 3 ? rest.subspan(3) : std::span<const double>{});
}

Payload blended(const Payload& from, const Payload& to, double share) noexcept {
  if (share <= 0) return from;
  if (share >= 1) return to;
  const double a = (1 - share) * from.mass, b = share * to.mass;
  const double mass = a + b;
  if (!(mass > 0)) return {};
  const Vec3<double> com = (a / mass) * to_vec(from.com) + (b / mass) * to_vec(to.com);
  // Parts about the common center of mass: no difference of large numbers.
  const Sym3<double> inertia = (1 - share) * to_sym(from.inertia) + share * to_sym(to.inertia) +
                               a * point_inertia(to_vec(from.com) - com) +
                               b * point_inertia(to_vec(to.com) - com);
  return {mass,
          {com.x, com.y, com.z},
          {inertia.xx, inertia.xy, inertia.xz, inertia.xy, inertia.yy, inertia.yz, inertia.xz,
           inertia.yz, inertia.zz}};
}

}  // namespace ga_dynamics
