// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "ga_tools/commands.hpp"

namespace ga_tools {

namespace fs = std::filesystem;

fs::path share_folder(const std::string& package) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  for (fs::path at = program.parent_path(); at.has_relative_path(); at = at.parent_path()) {
    for (const fs::path& prefix : {at, at / package}) {
      if (fs::exists(prefix / "share" / package)) return prefix / "share" / package;
    }
  }
  throw std::runtime_error("share/" + package + " is not installed above " + program.string() +
                           "; install " + package + " beside it");
}

}  // namespace ga_tools
