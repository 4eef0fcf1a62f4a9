// SPDX-License-Identifier: Apache-2.0
#include "ga_hardware/described_chain.hpp"

namespace ga_hardware {

ga_dynamics::Vector3 vector_of(const std::vector<double>& v) { return {v[0], v[1], v[2]}; }

ga_dynamics::Chain chain_of(const std::string& urdf_text, ParameterText& parameters) {
  ga_dynamics::ChainOptions options;
  options.base = parameters.text("base");
  options.tip = parameters.text("tip");
  options.freeze = parameters.by_joint("freeze");
  options.freeze_off_chain = parameters.flag("freeze_off_chain", false);
  options.spelling = ga_dynamics::OptionSpelling::kParameters;
  options.gravity = vector_of(parameters.list("gravity", {0, 0, -9.81}));
  return ga_dynamics::Chain::from_urdf_text(urdf_text, options);
}

}  // namespace ga_hardware
