// SPDX-License-Identifier: Apache-2.0
#pragma once
// From what a caller shows to who he is: tokens and names of certificates.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/access/access.hpp"
#include "api/access/proxy.hpp"
#include "api/access/sha256.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::api::access {

/// A token is known by its hash alone: who reads the file cannot use it.
struct Token {
  std::string name;  ///< of whom it was given to
  Role role = Role::kViewer;
  std::string node;  ///< of a collector; empty otherwise
  Sha256 hash{};
  std::optional<TimePoint> expires;  ///< from then on it counts no more; none: it does not expire

  bool operator==(const Token&) const = default;
};

/// A file of tokens: on each line "NAME ROLE SHA256 [node=NAME] [expires=2027-01-31T12:00:00Z]", fields set apart by
/// blanks;
/// '#' begins a comment. kInvalidArgument, with the line's number, for anything else: also a hash or name given twice,
/// a collector without a node, a node of anybody else. At most 100,000 tokens.
Result<std::vector<Token>> parse_tokens(std::string_view text);

/// Begins the URI by which a certificate that weftd signed for a collector names its node: "weft://collector/dgx-01".
/// Such a certificate is that collector's, and nobody else's, whatever its other names are.
inline constexpr std::string_view kNodeUri = "weft://collector/";
/// A name that such a certificate may have: letters, digits, '.', '-' and '_', the first a letter or digit, at most 64
/// (RFC 5280, upper bound of a common name). kInvalidArgument with a sentence.
Result<void> check_node_name(std::string_view name);

/// "alice=operator", "*.compute.example=collector". '*' stands for one or more characters other than a dot, once.
struct CertificateRule {
  std::string pattern;
  Role role = Role::kViewer;
};
/// kInvalidArgument with a sentence.
Result<CertificateRule> parse_certificate_rule(std::string_view text);
/// Case of letters does not matter (RFC 6125, 6.4.1).
bool matches(const CertificateRule& rule, std::string_view name);

/// Who is who. Nothing in it: nobody is anybody's.
struct Rules {
  std::vector<Token> tokens;
  std::vector<CertificateRule> certificates;  ///< the first that fits one of a certificate's names counts
  bool enrolls = false;                       ///< certificates with kNodeUri are collectors' without a rule
  ProxyRules proxies{};                       ///< whom their word is taken for users
  bool anybody_reads = false;                 ///< who shows nothing is anybody(): there is no [security]
  double requests_per_second = 0;  ///< of one principal, after a burst of twice as many; 0: as many as it likes
};

/// What a caller shows of himself.
struct Shown {
  std::string_view authorization;  ///< the header or metadata of that name, whole; empty: none
  std::span<const std::string>
      certificate_names;                  ///< of the client certificate that TLS has verified: certificate_names()
  std::string_view peer;                  ///< address, for limits and logs; may be empty
  const Principal* account = nullptr;     ///< of this host, who may act, and whom the kernel vouches for; null: none
  std::span<const HeaderField> fields{};  ///< all headers of an HTTP request; needed where proxies are trusted
  bool is_local = false;                  ///< the peer is on this machine
};

/// Who it is. A token, where one is shown, counts alone: kUnauthenticated when it is unknown or expired, whatever the
/// certificate or the account says. All tokens are compared, each in constant time. Then the word of a proxy counts,
/// see hear_proxy(), whose refusals come before everything. nullopt when nothing is shown, or a certificate that no
/// rule knows.
Result<std::optional<Principal>> identify(const Rules& rules, const Shown& shown, TimePoint now);

}  // namespace weft::api::access
