// SPDX-License-Identifier: Apache-2.0
#ifndef GA_TOOLS__CHAIN_ARGUMENTS_HPP_
#define GA_TOOLS__CHAIN_ARGUMENTS_HPP_

// The options that select a chain, common to all commands that read a URDF.

#include <string>
#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_tools {

using ga_dynamics::ChainOptions;

/// As given on the command line.
struct ChainArguments {
  std::string base, tip;
  std::vector<double> gravity;      ///< empty: the default; else x y z
  std::vector<std::string> freeze;  ///< JOINT, JOINT=POSITION or all
  bool strict = false;
  bool allow_missing_inertia = false;
};

/// Throws DescriptionError.
ChainOptions chain_options(const ChainArguments& arguments);

/// Adds them to a CLI11 application. A template, so that this library does not depend on CLI11.
template <class App>
void add_chain_options(App& app, ChainArguments& to, const std::string& group = "Robot") {
  app.add_option("--base", to.base, "First link of the chain (default: the root)")
      ->option_text("LINK")
      ->group(group);
  app.add_option("--tip", to.tip,
                 "Last link (default: end of the longest chain of joints,\nbefore its gripper)")
      ->option_text("LINK")
      ->group(group);
  app.add_option("--freeze", to.freeze,
                 "Treat the joint as fixed, at 0 or at the position in rad or m;\n"
                 "repeatable. all: every joint off the chain, at 0")
      ->allow_extra_args(false)
      ->option_text("JOINT[=POSITION]")
      ->group(group);
  app.add_option("--gravity", to.gravity, "m/s², in the root link's frame (default: 0 0 -9.81)")
      ->expected(3)
      ->option_text("X Y Z")
      ->group(group);
  app.add_flag("--allow-missing-inertia", to.allow_missing_inertia,
               "Treat moving links without <inertial> as massless")
      ->group(group);
  app.add_flag("--strict", to.strict, "Treat warnings about the description as errors")
      ->group(group);
}

}  // namespace ga_tools

#endif  // GA_TOOLS__CHAIN_ARGUMENTS_HPP_
