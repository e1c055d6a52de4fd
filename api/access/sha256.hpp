// SPDX-License-Identifier: Apache-2.0
#pragma once
// Secrets are kept and compared by their hashes.

#include <array>
#include <string_view>

namespace weft::api::access {

/// A SHA-256 digest.
using Sha256 = std::array<unsigned char, 32>;
/// FIPS 180-4.
Sha256 sha256(std::string_view text);
/// Takes as long whatever differs.
bool same_hash(const Sha256& a, const Sha256& b);

}  // namespace weft::api::access
