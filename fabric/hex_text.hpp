// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bytes, as hashes and keys are written.

#include <span>
#include <string>

namespace weft {

/// Two lower-case hexadecimal digits for each byte.
std::string hex_text(std::span<const unsigned char> bytes);

}  // namespace weft
