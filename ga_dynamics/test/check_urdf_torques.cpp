// SPDX-License-Identifier: Apache-2.0

// check_urdf_torques FILE…: torques of every branch of every description against urdfdom and KDL.
// A tool for check_urdf_folder.py. One line per chain: the relative error, or why there is none, a
// tab, the file, a tab, the tip link. Exit code 1 if an error is above 1e-9.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "ga_dynamics/chain.hpp"
#include "kdl_from_urdf.hpp"

namespace {

using namespace ga_dynamics;

constexpr double kAllowed = 1e-9;

bool check(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  bool good = true;
  const auto report = [&](const std::string& what, const std::string& tip) {
    std::printf("%s\t%s\t%s\n", what.c_str(), file.c_str(), tip.c_str());
  };
  try {
    const UrdfModel model = read_urdf_text(text);
    const ChainSelection selection = survey_chain(model, {.freeze_off_chain = true});
    for (const ChainBranch& branch : selection.branches) {
      const std::string& tip = model.links[static_cast<std::size_t>(branch.tip)].name;
      try {
        const Chain chain = Chain::from_model(
            model, {.tip = tip, .allow_missing_inertia = true, .freeze_off_chain = true});
        double mass = 0;
        for (const ChainJoint& joint : chain.joints()) mass += joint.body.mass;
        if (mass == 0) {
          report("no masses", tip);
          continue;
        }
        const double error = test::difference_from_kdl(text, chain);
        char number[32];
        std::snprintf(number, sizeof number, "%.2e", error);
        report(number, tip);
        good = good && error <= kAllowed;
      } catch (const std::exception& error) {
        report(error.what(), tip);
      }
    }
  } catch (const std::exception& error) {
    report(error.what(), "");
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  bool good = true;
  for (int i = 1; i < argc; ++i) good = check(argv[i]) && good;
  return good ? 0 : 1;
}
