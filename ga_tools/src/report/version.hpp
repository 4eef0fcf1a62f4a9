// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ga_tools {

/// The package's version and, built within a git checkout, the commit: "0.1.0 (96d32a3-dirty)".
const char* version();

}  // namespace ga_tools
