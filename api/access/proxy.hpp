// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reverse proxies that have asked somebody who he is, and tell it in headers. A proxy is known by what nobody else can
// claim: its client certificate, or a secret on this machine. An address alone is none.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/access/access.hpp"
#include "api/access/sha256.hpp"
#include "fabric/result.hpp"

namespace weft::api::access {

/// The header in which a proxy on this machine shows its secret.
inline constexpr std::string_view kProxySecretHeader = "X-Weft-Proxy-Secret";

/// "fabric-operators=operator".
struct GroupRule {
  std::string group;
  Role role = Role::kViewer;

  bool operator==(const GroupRule&) const = default;
};
/// kInvalidArgument with a sentence; also for the role collector, which is no person's.
Result<GroupRule> parse_group_rule(std::string_view text);
/// Whether a header of that name may say who somebody is: letters, digits and '-', at most 64, and none that means
/// something else. kInvalidArgument with a sentence.
Result<void> check_identity_header(std::string_view name);
/// 32 to 256 visible characters. kInvalidArgument with a sentence, never with the secret.
Result<void> check_proxy_secret(std::string_view secret);

/// Which proxies are believed, and what their users may.
struct ProxyRules {
  std::vector<std::string> certificates;  ///< names in their client certificates; case does not matter
  std::optional<Sha256> secret;           ///< of a proxy on this machine; none: it shows a certificate
  std::string user_header, groups_header;
  std::vector<GroupRule> groups;  ///< of several that fit, the one that may most counts
  std::optional<Role> others;     ///< of users without such a group; none: they are refused

  /// There is a proxy that is believed.
  bool is_set() const { return secret || !certificates.empty(); }
  bool operator==(const ProxyRules&) const = default;
};

/// A header's name and value, as they were sent.
using HeaderField = std::pair<std::string, std::string>;

/// What a request's headers say.
struct ProxyWord {
  bool is_proxy = false;          ///< the peer is one: nothing but what it says counts, or a token
  std::optional<Principal> user;  ///< "alice via gateway.example"; none: it names nobody
};
/// `certificate_names`: as Shown has them. `is_local`: the peer is on this machine. Refused is (kUnauthenticated)
/// whoever sends such headers and is no proxy, and of a proxy what is there twice, with '_' for '-', empty, too long or
/// has control characters: some other program may have read it in another way. kPermissionDenied: a user without a
/// role.
Result<ProxyWord> hear_proxy(const ProxyRules& rules, std::span<const HeaderField> fields,
                             std::span<const std::string> certificate_names, bool is_local);

}  // namespace weft::api::access
