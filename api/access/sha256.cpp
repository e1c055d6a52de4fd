// SPDX-License-Identifier: Apache-2.0
#include "api/access/sha256.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace weft::api::access {

Sha256 sha256(std::string_view text) {
  Sha256 hash{};
  unsigned length = 0;
  EVP_Digest(text.data(), text.size(), hash.data(), &length, EVP_sha256(), nullptr);
  return hash;
}

bool same_hash(const Sha256& a, const Sha256& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace weft::api::access
