// SPDX-License-Identifier: Apache-2.0
#include "cli/experiments.hpp"

#include <algorithm>

#include "cli/errors.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"

namespace ga_tools::cli {

using namespace ga_motion;

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all{
      {"mata-table5",
       "Mata et al. 2002, Table 5: forward dynamics of two links, single precision against double",
       single_precision_text},
      {"mata-line", "Mata et al. 2002, §5.2: a PUMA on a straight line, errors of its joints",
       joint_errors_text},
      {"provenzano-table2",
       "Provenzano et al., Table 2: a PUMA on a straight line, errors of its tool",
       tool_errors_text},
      {"control-figure4",
       "Mata, Valera et al. (PC-based PUMA control), Figure 4: torques along a straight line",
       line_torques_text},
      {"dalembert-figures",
       "D'Alembert paper, Figures 3 to 5: a hydraulic arm with a load of 3200 N",
       hydraulic_arm_text},
  };
  return all;
}

std::string experiments_list() {
  std::size_t width = 0;
  for (const Experiment& e : experiments()) width = std::max(width, std::string(e.name).size());
  std::string text;
  for (const Experiment& e : experiments()) {
    text +=
        "  " + (e.name + std::string(width + 2 - std::string(e.name).size(), ' ')) + e.title + "\n";
  }
  return text;
}

void run_experiments(const std::vector<std::string>& only, bool quiet) {
  for (const std::string& name : only) {
    const bool known = std::any_of(experiments().begin(), experiments().end(),
                                   [&](const Experiment& e) { return name == e.name; });
    if (!known) {
      std::string names;
      for (const Experiment& e : experiments()) {
        names += (names.empty() ? "" : ", ") + std::string(e.name);
      }
      throw InputError("--only " + name + ": no such experiment; give one of " + names);
    }
  }
  Output output;
  bool first = true;
  for (const Experiment& e : experiments()) {
    if (!only.empty() && std::find(only.begin(), only.end(), e.name) == only.end()) continue;
    std::string text;
    {
      Progress progress(!quiet, Progress::Beside::kAnyOutput);
      const auto tell = [&](const std::string& what) {
        progress.say(std::string(e.name) + ": " + what);
      };
      tell("begins");
      text = e.text(tell);
    }
    output.put((first ? "" : "\n") + std::string(e.title) + " [" + e.name + "]\n" + text);
    output.flush();
    first = false;
  }
  output.close();
}

}  // namespace ga_tools::cli
