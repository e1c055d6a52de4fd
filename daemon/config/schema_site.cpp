// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "daemon/config/schema.hpp"
#include "daemon/config/value_text.hpp"
#include "fabric/site.hpp"

// site.*: one weftd, or one pair, of several on one database.

namespace weft::config {
namespace {

constexpr std::size_t kMostPatterns = 10'000;
constexpr std::size_t kLongestPattern = 255;

bool is_any(const Address& address) {
  return address.host == "0.0.0.0" || address.host == "::";
}

/// The same of what a person writes: "0" and "::0" are also taken for it.
bool is_any(const Peer& peer) {
  return peer.host.find_first_not_of("0.:") == std::string::npos;
}

/// It goes into a list with one pattern a line.
bool is_pattern(const std::string& text) {
  return !text.empty() && text.size() <= kLongestPattern &&
         std::ranges::all_of(text, [](unsigned char c) { return c > 0x20 && c != 0x7F; });
}

}  // namespace

std::vector<Key> site_schema() {
  return {
      {"site.shard",
       [](WeftdConfig& c) -> Field { return &c.site.shard; },
       {},
       "",
       "Name of this weftd's shard: 1 to 32 of a-z, 0-9 and _, the first one a letter. Several weftd, or pairs, with "
       "the same store.url and "
       "one "
       "name each are one site: each has its own fabrics, collectors and schema in the database, and any of them "
       "answers for all. Both of a pair have the same name. Empty: the database is this weftd's, or pair's, own."},
      {"site.address",
       [](WeftdConfig& c) -> Field { return &c.site.address; },
       {},
       "",
       "Address of this weftd's gRPC server for the other shards and for clients that asked the wrong one. Empty: "
       "listen.grpc, with the host's name in place of 0.0.0.0 or ::."},
      {"site.collectors",
       [](WeftdConfig& c) -> Field { return &c.site.collectors; },
       {},
       "",
       "Hosts whose collectors report to this shard, with * for any text and ? for one byte: \"gpu-1*\". A collector "
       "that asks another shard is told these addresses. Where patterns of two shards match, the shard whose name "
       "comes first has the host. A host that no pattern matches may report to any shard."},
      {"site.authorities",
       [](WeftdConfig& c) -> Field { return &c.site.authorities; },
       {},
       "",
       "PEM file with the CA of the other shards' certificates. Empty: they are asked without TLS, and a token is sent "
       "to loopback addresses alone. This and the next three files are read when a connection to another shard is "
       "first made."},
      {"site.certificate",
       [](WeftdConfig& c) -> Field { return &c.site.certificate; },
       {},
       "",
       "PEM file with the certificate that this weftd shows to the other shards. It needs the role viewer there."},
      {"site.key",
       [](WeftdConfig& c) -> Field { return &c.site.key; },
       {},
       "",
       "PEM file with the certificate's private key."},
      {"site.token_file",
       [](WeftdConfig& c) -> Field { return &c.site.token_file; },
       {},
       "",
       "File with a bearer token for the other shards, of role viewer, instead of a certificate."},
  };
}

std::vector<std::pair<std::string, std::string>> site_contradictions(const WeftdConfig& config) {
  std::vector<std::pair<std::string, std::string>> found;
  const SiteConfig& site = config.site;
  if (site.shard.empty()) {
    for (const auto& [key, is_set] :
         {std::pair{"site.collectors", !site.collectors.empty()}, std::pair{"site.address", !site.address.empty()}})
      if (is_set) found.emplace_back(key, "needs site.shard");
    return found;
  }
  if (!is_shard_name(site.shard))
    found.emplace_back("site.shard", "must be 1 to 32 of a-z, 0-9 and _, and begin with a letter");
  if (config.store.url.empty()) found.emplace_back("site.shard", "needs store.url: shards share a database");
  if (config.store.url.find("options=") != std::string::npos)
    found.emplace_back("store.url", "must not have options= where site.shard is set: weftd sets search_path there");
  if (site.address.size() > 1) found.emplace_back("site.address", "takes one address");
  if (site.address.size() == 1 && is_any(site.address.front()))
    found.emplace_back("site.address", "must be one that other shards can ask: " + site.address.front().host +
                                           " stands for all addresses of a host");
  if (site.collectors.size() > kMostPatterns)
    found.emplace_back("site.collectors", "has more than " + std::to_string(kMostPatterns) + " patterns");
  for (const std::string& pattern : site.collectors)
    if (!is_pattern(pattern))
      found.emplace_back("site.collectors", "\"" + pattern + "\" must be 1 to 255 bytes without blanks");
  if (site.certificate.empty() != site.key.empty())
    found.emplace_back(site.key.empty() ? "site.key" : "site.certificate",
                       "must be set too: a certificate and its key go together");
  const std::string address =
      site.address.empty() ? format_address(config.listen.grpc) : format_peer(site.address.front());
  // listen.grpc may be every address, whose host others ask by its name.
  const bool stays_here = is_loopback_address(address) && (!site.address.empty() || !is_any(config.listen.grpc));
  if (!site.token_file.empty() && site.authorities.empty() && !stays_here)
    found.emplace_back("site.token_file",
                       "would go to the other shards in clear text: set site.authorities, the CA of their "
                       "certificates");
  if (!site.certificate.empty() && site.authorities.empty())
    found.emplace_back("site.certificate", "takes TLS: set site.authorities too");
  return found;
}

}  // namespace weft::config
