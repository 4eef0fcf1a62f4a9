// SPDX-License-Identifier: Apache-2.0
#include "cli/output_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace ga_tools {

namespace fs = std::filesystem;

OutputFolder::OutputFolder(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  for (fs::path missing = whole; !missing.empty() && !fs::exists(missing, error);
       missing = missing.parent_path()) {
    // "a/b/" has an empty name at its end.
    if (missing.has_filename()) made_.push_back(missing);
  }
  fs::create_directories(path, error);
  std::string problem;
  if (error || !fs::is_directory(path)) {
    problem = "cannot be made a folder" + (error ? " (" + error.message() + ")" : std::string());
  } else if (::access(path.c_str(), W_OK | X_OK) != 0) {
    problem = "no file can be written there (" + std::generic_category().message(errno) + ")";
  }
  if (problem.empty()) return;
  remove_made();
  throw std::runtime_error("--output " + path.string() + ": " + problem + "; name another one");
}

OutputFolder::~OutputFolder() { remove_made(); }

void OutputFolder::remove_made() {
  std::error_code ignored;
  // Only empty folders are removed this way.
  for (const fs::path& folder : made_) fs::remove(folder, ignored);
  made_.clear();
}

}  // namespace ga_tools
