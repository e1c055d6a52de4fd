// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>

#include "api/access/identity.hpp"
#include "daemon/config/schema.hpp"
#include "daemon/config/value_text.hpp"

// The table of the keys security.*.

namespace weft::config {

std::vector<Key> security_schema() {
  return {
      {"security.certificate",
       [](WeftdConfig& c) -> Field { return &c.security.certificate; },
       {},
       "",
       "PEM file with the server certificate for gRPC and HTTPS, followed by its intermediate certificates. Empty: no "
       "TLS. Weft checks this and the other files of this section every two seconds and reloads them without a "
       "restart. While their contents are invalid, the previous ones stay in use and weft_security_files_refused is "
       "1."},
      {"security.key",
       [](WeftdConfig& c) -> Field { return &c.security.key; },
       {},
       "",
       "PEM file with the certificate's private key, without a password. Only its owner and group may have access."},
      {"security.client_authorities",
       [](WeftdConfig& c) -> Field { return &c.security.client_authorities; },
       {},
       "",
       "PEM file with the CAs of client certificates; certificate_roles maps their names to roles. Empty: no client "
       "certificates."},
      {"security.require_client_certificate",
       [](WeftdConfig& c) -> Field { return &c.security.require_client_certificate; },
       {},
       "",
       "Refuse connections without a client certificate, even with a token. Off by default: browsers rarely have one, "
       "and scripts may use a token."},
      {"security.certificate_roles",
       [](WeftdConfig& c) -> Field { return &c.security.certificate_roles; },
       {},
       "",
       "Roles by the name in a client certificate (common name or DNS name): \"alice=operator\", "
       "\"*.compute.example=collector\". '*' matches anything without a dot and may occur once. The first match "
       "counts. Roles are viewer (reads), operator (acts on incidents, plans, links and hosts), admin (everything) and "
       "collector (reports for its own node only; the node's name is the certificate's, or its part up to the first "
       "dot)."},
      {"security.tokens_file",
       [](WeftdConfig& c) -> Field { return &c.security.tokens_file; },
       {},
       "",
       "File of bearer tokens, one per line: \"NAME ROLE SHA256 [node=NAME] [expires=2027-01-31T12:00:00Z]\", with the "
       "hash from `printf %s TOKEN | sha256sum`. Only its owner and group may have access. Empty: no tokens."},
      {"security.operator_group",
       [](WeftdConfig& c) -> Field { return &c.security.operator_group; },
       {},
       "",
       "Group of this host whose members have the role operator on listen.socket. It is looked up when weftd starts. "
       "Empty: only root and the user that weftd runs as may act there; they are admins."},
      {"security.allow_plain_text",
       [](WeftdConfig& c) -> Field { return &c.security.allow_plain_text; },
       {},
       "",
       "Serve without TLS on addresses other than loopback. Without tokens_file anyone who reaches them can read "
       "everything and report for any host; with tokens_file anyone on the network path can read the tokens. Only for "
       "networks that are protected by other means."},
      {"security.max_requests_per_second",
       [](WeftdConfig& c) -> Field { return &c.security.max_requests_per_second; },
       {1, 1e6},
       "requests",
       "Limit of calls and HTTP requests per second for one principal, with a burst of twice as many; beyond it they "
       "get RESOURCE_EXHAUSTED. The default allows a scheduler 1,000 single-node requests per second. No limit applies "
       "without certificates and tokens."},
      {"security.enroll.certificate",
       [](WeftdConfig& c) -> Field { return &c.security.enroll.certificate; },
       {},
       "",
       "PEM file with the certificate of the CA that signs collectors' certificates (weftctl enroll), followed by the "
       "intermediate certificates to one of client_authorities. It may be an intermediate CA of the site. Collectors "
       "with such a certificate need no entry in certificate_roles. Empty: weftd signs none."},
      {"security.enroll.key",
       [](WeftdConfig& c) -> Field { return &c.security.enroll.key; },
       {},
       "",
       "PEM file with the private key of security.enroll.certificate, without a password. Whoever has it can report "
       "for every node. Only its owner and group may have access."},
      {"security.enroll.authorities",
       [](WeftdConfig& c) -> Field { return &c.security.enroll.authorities; },
       {},
       "",
       "PEM file with the CAs that enrolled collectors trust: security.certificate must be from one of them. "
       "Collectors "
       "get them with each renewal, so that a new CA can be added before it is used. Empty: "
       "security.client_authorities."},
      {"security.enroll.lifetime",
       [](WeftdConfig& c) -> Field { return &c.security.enroll.lifetime; },
       {10, 825 * kDay},
       "",
       "Lifetime of collectors' certificates. Collectors renew them after two thirds of it."},
  };
}

namespace {

/// 127.0.0.0/8 (RFC 1122, 3.2.1.3) or ::1 (RFC 4291, 2.5.3).
bool is_loopback(const Address& address) {
  in_addr v4{};
  if (::inet_pton(AF_INET, address.host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return ::inet_pton(AF_INET6, address.host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> security_contradictions(const WeftdConfig& config) {
  std::vector<std::pair<std::string, std::string>> found;
  const auto must = [&found](bool holds, const char* key, std::string message) {
    if (!holds) found.emplace_back(key, std::move(message));
  };
  const Security& security = config.security;
  const bool tls = !security.certificate.empty();
  const bool certificates = !security.client_authorities.empty();
  const bool tokens = !security.tokens_file.empty();
  must(tls == !security.key.empty(), tls ? "security.key" : "security.certificate",
       "must be set too: TLS takes a certificate and its key");
  must(!certificates || tls, "security.client_authorities", "takes TLS: set security.certificate and security.key");
  must(!security.require_client_certificate || certificates, "security.require_client_certificate",
       "takes security.client_authorities: no certificate could be checked");
  must(security.certificate_roles.empty() || certificates, "security.certificate_roles",
       "takes security.client_authorities: no certificate could be checked");
  const bool enrolls = !security.enroll.certificate.empty();
  must(enrolls == !security.enroll.key.empty(), enrolls ? "security.enroll.key" : "security.enroll.certificate",
       "must be set too: a CA takes a certificate and its key");
  must(!enrolls || certificates, "security.enroll.certificate",
       "takes security.client_authorities: no certificate could be checked");
  must(!enrolls || !security.require_client_certificate, "security.enroll.certificate",
       "takes security.require_client_certificate = false: a new node has no certificate yet");
  must(!tls || tokens || enrolls || (certificates && !security.certificate_roles.empty()), "security.certificate",
       "nobody could get in: set security.tokens_file, or security.client_authorities and security.certificate_roles");
  for (const std::string& rule : security.certificate_roles)
    if (const auto parsed = api::access::parse_certificate_rule(rule); !parsed)
      must(false, "security.certificate_roles", parsed.error().message);
  const auto may_listen = [&](const Address& address, const char* key) {
    must(tls || security.allow_plain_text || is_loopback(address), key,
         format_address(address) +
             " is no loopback address: others could read everything there and report for any host; set "
             "security.certificate and "
             "security.key, or security.allow_plain_text = true");
  };
  may_listen(config.listen.http, "listen.http");
  may_listen(config.listen.grpc, "listen.grpc");
  return found;
}

}  // namespace weft::config
