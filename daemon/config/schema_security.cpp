// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>

#include "api/access/identity.hpp"
#include "api/access/letters.hpp"
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
      {"security.proxy.certificates",
       [](WeftdConfig& c) -> Field { return &c.security.proxy.certificates; },
       {},
       "",
       "Names (common name or DNS name) in the client certificates of reverse proxies that tell weftd over HTTPS who "
       "their user is, in user_header and groups_header. Only such a proxy, or one with secret_file, is believed: a "
       "request of anybody else with one of these headers is refused. Such a name has no entry in certificate_roles. "
       "While there is a trusted proxy, everybody must say who he is."},
      {"security.proxy.secret_file",
       [](WeftdConfig& c) -> Field { return &c.security.proxy.secret_file; },
       {},
       "",
       "File with a secret of 32 to 256 characters (openssl rand -hex 32) that a reverse proxy on this machine sends "
       "in the header X-Weft-Proxy-Secret. It counts from loopback addresses alone. Only its owner and group may have "
       "access."},
      {"security.proxy.user_header",
       [](WeftdConfig& c) -> Field { return &c.security.proxy.user_header; },
       {},
       "",
       "Header in which a trusted proxy names its user: 1 to 128 visible characters, without commas. The audit trail "
       "has the name of the proxy behind it, \"alice via gateway.example\"."},
      {"security.proxy.groups_header",
       [](WeftdConfig& c) -> Field { return &c.security.proxy.groups_header; },
       {},
       "",
       "Header in which a trusted proxy lists the user's groups, separated by commas."},
      {"security.proxy.group_roles",
       [](WeftdConfig& c) -> Field { return &c.security.proxy.group_roles; },
       {},
       "",
       "Roles by group: \"fabric-operators=operator\". Of several that fit, the one that may most counts. Roles are "
       "viewer, operator and admin. Letters must be of the same case."},
      {"security.proxy.default_role",
       [](WeftdConfig& c) -> Field { return &c.security.proxy.default_role; },
       {},
       "",
       "Role of users of a trusted proxy who are in no group of group_roles. none: they are refused.",
       "",
       {"none", "viewer", "operator", "admin"}},
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

using Contradictions = std::vector<std::pair<std::string, std::string>>;

void check_proxy(const Security& security, Contradictions& found) {
  const auto must = [&found](bool holds, const char* key, std::string message) {
    if (!holds) found.emplace_back(key, std::move(message));
  };
  const TrustedProxy& proxy = security.proxy;
  const bool gives_roles = !proxy.group_roles.empty() || proxy.default_role != "none";
  must(proxy.certificates.empty() || !security.client_authorities.empty(), "security.proxy.certificates",
       "takes security.client_authorities: no certificate could be checked");
  must(!gives_roles || proxy.is_set(),
       proxy.group_roles.empty() ? "security.proxy.default_role" : "security.proxy.group_roles",
       "takes security.proxy.certificates or security.proxy.secret_file: no proxy is trusted");
  must(gives_roles || !proxy.is_set(),
       proxy.certificates.empty() ? "security.proxy.secret_file" : "security.proxy.certificates",
       "gives no user a role: set security.proxy.group_roles, or security.proxy.default_role");
  for (const auto& [key, name] : {std::pair("security.proxy.user_header", &proxy.user_header),
                                  std::pair("security.proxy.groups_header", &proxy.groups_header)})
    if (const auto good = api::access::check_identity_header(*name); !good) must(false, key, good.error().message);
  must(!api::access::same_letters(proxy.user_header, proxy.groups_header), "security.proxy.groups_header",
       "must be another header than security.proxy.user_header");
  for (const std::string& text : proxy.group_roles)
    if (const auto rule = api::access::parse_group_rule(text); !rule)
      must(false, "security.proxy.group_roles", rule.error().message);
  for (const std::string& name : proxy.certificates) {
    must(!name.empty() && name.find('*') == std::string::npos, "security.proxy.certificates",
         '"' + name + "\" must be a whole name, without '*'");
    for (const std::string& text : security.certificate_roles)
      if (const auto rule = api::access::parse_certificate_rule(text); rule && api::access::matches(*rule, name))
        must(false, "security.proxy.certificates",
             '"' + name + "\" has a role by \"" + text +
                 "\" of security.certificate_roles: a proxy has none of its own");
  }
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
  must(!tls || tokens || enrolls || security.proxy.is_set() || (certificates && !security.certificate_roles.empty()),
       "security.certificate",
       "nobody could get in: set security.tokens_file, or security.client_authorities and security.certificate_roles, "
       "or security.enroll.certificate, security.proxy.certificates or security.proxy.secret_file");
  for (const std::string& rule : security.certificate_roles)
    if (const auto parsed = api::access::parse_certificate_rule(rule); !parsed)
      must(false, "security.certificate_roles", parsed.error().message);
  check_proxy(security, found);
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
