// SPDX-License-Identifier: Apache-2.0
#pragma once
// The other side of Issuer: a collector's key, its request, and what it got. And the token that a person brings it.

#include <string>
#include <string_view>

#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::api::access {

/// A new private key, elliptic of P-256, in PEM (PKCS #8). kInternal.
Result<std::string> make_private_key();
/// A request (PKCS #10, DER) for the key in PEM. Its subject is empty: weftd writes the names. kInvalidArgument without
/// such a key.
Result<std::string> make_request(std::string_view key);

/// A certificate with its key.
struct OwnCertificate {
  std::string node;  ///< that it was enrolled for
  TimePoint begin = kNever;
  TimePoint end = kNever;
};
/// What is in `pem`: a private key, and certificates of which the first is its own. kInvalidArgument: there is no key,
/// no certificate, one of another key, or one that was not enrolled.
Result<OwnCertificate> read_own_certificate(std::string_view pem);

/// What `weftctl enroll` prints, in one line: "weft1:NODE:SECRET:AUTHORITY".
struct EnrollText {
  std::string node;
  std::string secret;
  std::string authority;  ///< PEM; that weftd's certificate must lead to
};
/// A secret for such a line: 32 random bytes in the letters of base64url (RFC 4648). kInternal.
Result<std::string> make_secret();
/// The line, without an end.
std::string format_enroll_text(const EnrollText& text);
/// Nothing but blanks, or "none", which the unit gives a collector that has no token (deploy/systemd).
bool is_no_token(std::string_view text);
/// Blanks around it do not matter. kInvalidArgument with what is wrong, never with the text.
Result<EnrollText> parse_enroll_text(std::string_view line);

}  // namespace weft::api::access
