// SPDX-License-Identifier: Apache-2.0
#pragma once
// One-time tokens with which the collectors of new nodes get their first certificates.

#include <string>

#include "fabric/clock.hpp"

namespace weft {

/// A token as it is kept: its secret is known by its hash alone.
struct EnrollToken {
  std::string node;     ///< the only one that it is for
  std::string hash;     ///< SHA-256 of the secret, 64 hexadecimal digits
  std::string made_by;  ///< a person's name
  TimePoint made = kNever;
  TimePoint expires = kNever;
  TimePoint used = kNever;    ///< kNever: not yet
  std::string key_hash = {};  ///< of a used one: SHA-256 of the public key that the certificate is for

  bool operator==(const EnrollToken&) const = default;
};

/// Tokens that are kept at once.
inline constexpr std::size_t kMostEnrollTokens = 10'000;

}  // namespace weft
