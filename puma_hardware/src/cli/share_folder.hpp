// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__SHARE_FOLDER_HPP_
#define CLI__SHARE_FOLDER_HPP_

#include <filesystem>
#include <string>

namespace puma_hardware::cli {

/// The folder share/PACKAGE that belongs to the running program: of its own prefix
/// (PREFIX/lib/puma_hardware/puma, PREFIX/bin/puma), of a sibling prefix (colcon's isolated
/// layout), or of the build tree. Throws std::runtime_error where there is none.
std::filesystem::path share_folder(const std::string& package);

}  // namespace puma_hardware::cli

#endif  // CLI__SHARE_FOLDER_HPP_
