// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__OUTPUT_FOLDER_HPP_
#define CLI__OUTPUT_FOLDER_HPP_

#include <filesystem>
#include <vector>

namespace ga_tools {

/// A folder for results, made before the work that gives them: a name that is of no use is reported
/// at once. If the work fails, the destructor removes the folders that were made for it.
class OutputFolder {
 public:
  /// Throws std::runtime_error naming --output if there can be no such folder, or no file in it.
  explicit OutputFolder(const std::filesystem::path& path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  void keep() { made_.clear(); }

 private:
  void remove_made();

  std::vector<std::filesystem::path> made_;  ///< the deepest first
};

}  // namespace ga_tools

#endif  // CLI__OUTPUT_FOLDER_HPP_
