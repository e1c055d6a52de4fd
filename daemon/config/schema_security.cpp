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
       "File (PEM) of the certificate that gRPC and HTTPS show, followed by those between it and its authority. Empty: "
       "plain text. This and the other files here are looked at every two seconds and taken anew without a restart; as "
       "long "
       "as what they hold is no good, the last good ones stay in force, and weft_security_files_refused says so."},
      {"security.key",
       [](WeftdConfig& c) -> Field { return &c.security.key; },
       {},
       "",
       "File (PEM) of that certificate's private key, without a password. Nobody but its owner and group may read it."},
      {"security.client_authorities",
       [](WeftdConfig& c) -> Field { return &c.security.client_authorities; },
       {},
       "",
       "File (PEM) of the authorities whose certificates clients may show; certificate_roles says what they are worth. "
       "Empty: "
       "clients show none."},
      {"security.require_client_certificate",
       [](WeftdConfig& c) -> Field { return &c.security.require_client_certificate; },
       {},
       "",
       "Whether a connection without a client's certificate is refused, even for one with a token. Off: people's "
       "browsers "
       "rarely have one, and scripts may come with a token."},
      {"security.certificate_roles",
       [](WeftdConfig& c) -> Field { return &c.security.certificate_roles; },
       {},
       "",
       "Which role the name in a client's certificate (common name or DNS name) has: \"alice=operator\", "
       "\"*.compute.example=collector\". '*' stands for anything without a dot, once. The first that fits counts. "
       "Roles are "
       "viewer (reads), operator (acts on incidents, plans, links and hosts), admin (everything) and collector (speaks "
       "for its "
       "own node alone, whose name is the certificate's or that up to the first dot)."},
      {"security.tokens_file",
       [](WeftdConfig& c) -> Field { return &c.security.tokens_file; },
       {},
       "",
       "File of bearer tokens, on each line \"NAME ROLE SHA256 [node=NAME] [expires=2027-01-31T12:00:00Z]\", the hash "
       "as "
       "`printf %s TOKEN | sha256sum` gives it. Nobody but its owner and group may read it. Empty: no tokens."},
      {"security.allow_plain_text",
       [](WeftdConfig& c) -> Field { return &c.security.allow_plain_text; },
       {},
       "",
       "Serve without TLS on addresses that others can reach. Without tokens_file everybody who reaches them may do "
       "everything; with it, everybody on the way can read the tokens. For networks that are protected otherwise."},
      {"security.max_requests_per_second",
       [](WeftdConfig& c) -> Field { return &c.security.max_requests_per_second; },
       {1, 1e6},
       "requests",
       "How many calls and HTTP requests a second one principal may begin, after a burst of twice as many; more get "
       "RESOURCE_EXHAUSTED. A scheduler that asks for 1,000 nodes a second one by one has room. Nothing is counted "
       "without "
       "certificates and tokens."},
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
  must(!tls || tokens || (certificates && !security.certificate_roles.empty()), "security.certificate",
       "nobody could get in: set security.tokens_file, or security.client_authorities and security.certificate_roles");
  for (const std::string& rule : security.certificate_roles)
    if (const auto parsed = api::access::parse_certificate_rule(rule); !parsed)
      must(false, "security.certificate_roles", parsed.error().message);
  const auto may_listen = [&](const Address& address, const char* key) {
    must(tls || security.allow_plain_text || is_loopback(address), key,
         format_address(address) +
             " is no loopback address: others could read and do everything there; set security.certificate and "
             "security.key, or security.allow_plain_text = true");
  };
  may_listen(config.listen.http, "listen.http");
  may_listen(config.listen.grpc, "listen.grpc");
  return found;
}

}  // namespace weft::config
