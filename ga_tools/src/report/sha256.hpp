// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ga_tools {

/// SHA-256 (FIPS 180-4) of the bytes, as 64 hexadecimal digits: what `sha256sum` prints.
std::string sha256(std::string_view bytes);

}  // namespace ga_tools
