// SPDX-License-Identifier: Apache-2.0
#ifndef VARIANTS_HPP_
#define VARIANTS_HPP_

// Every method on every instruction set that this build and this processor have, for suites that
// all of them run.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ga_dynamics/dynamics.hpp"

namespace ga_dynamics::test {

struct Variant {
  const char* name;
  Method method;
  Isa isa;

  Dynamics make(const Chain& chain, Drives drives = Drives::kNone) const {
    return Dynamics(chain, {.method = method, .drives = drives, .isa = isa});
  }
};

inline std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const auto& [name, method] :
       {std::pair{"Tensor", Method::kTensor}, std::pair{"Vector", Method::kVector},
        std::pair{"Dalembert", Method::kDalembert}, std::pair{"Minimal", Method::kMinimal}}) {
    all.push_back({name, method, Isa::kGeneric});
  }
  const Chain probe = Chain::from_dh({DhJoint{}});
  if (Dynamics(probe).isa() == Isa::kAvx2) {
    const std::vector<Variant> generic = all;
    for (Variant v : generic) {
      v.isa = Isa::kAvx2;
      all.push_back(v);
    }
  }
  return all;
}

inline std::string variant_name(const Variant& variant) {
  return std::string(variant.name) + (variant.isa == Isa::kAvx2 ? "Avx2" : "Generic");
}
inline std::string variant_test_name(const ::testing::TestParamInfo<Variant>& tested) {
  return variant_name(tested.param);
}

}  // namespace ga_dynamics::test

#endif  // VARIANTS_HPP_
