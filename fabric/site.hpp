// SPDX-License-Identifier: Apache-2.0
#pragma once
// A site: several weftd, or pairs of them, on one database. Each is a shard, with fabrics and collectors of its own.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/result.hpp"

namespace weft {

/// One shard, as the database has it.
struct SiteShard {
  std::string name;
  std::uint64_t number = 0;  ///< 1 to kMostShards - 1; see id_series.hpp
  std::string leader;        ///< "host, process 123"; empty: none has told yet
  std::int64_t epoch = 0;    ///< of its leader
  /// Of the gRPC servers of its weftd, HOST:PORT, the leader's first.
  std::vector<std::string> addresses{};
  std::vector<std::string> fabrics{};     ///< that it watches
  std::vector<std::string> collectors{};  ///< names of hosts with '*' and '?', as site.collectors has them
  std::string trouble{};                  ///< why it has no address that can be asked; empty: it has, or told none
  std::string disagreement{};             ///< how its weftd differ in what they own; empty: they do not
  bool is_new = false;                    ///< no weftd of it has led yet: it owns nothing, and is not asked
  bool operator==(const SiteShard&) const = default;
};

/// All shards of a site, as one of them knows it. Immutable once published.
struct Site {
  std::string database{};         ///< tells it from every other site; copies of its database have another
  std::string own;                ///< name of the shard that this weftd belongs to
  std::uint64_t first_id = 1;     ///< ids below are of `elder`, whatever their digits
  std::string elder{};            ///< the shard that was a weftd of its own before; empty: none
  std::vector<SiteShard> shards;  ///< sorted by name
  bool is_left = false;           ///< it lists `own` no more, which is then alone in `shards`
  bool operator==(const Site&) const = default;

  /// The shard of that name; null when there is none.
  const SiteShard* find(std::string_view name) const;
  /// All but the own one and those that are new, sorted by name: whom to ask.
  std::vector<SiteShard> others() const;
  /// The shard that gave the id of an incident, a plan or a maintenance window; null when none has that number.
  const SiteShard* owner_of(std::uint64_t id) const;
  /// The shard that the collector of `host` belongs to: the first by name with a pattern that matches, and null when no
  /// pattern does.
  const SiteShard* collected_by(std::string_view host) const;
};

/// Null where weftd is on its own.
using SitePtr = std::shared_ptr<const Site>;

/// Whether `name` is matched by `pattern`, where '*' stands for any text, also none, and '?' for one byte. Letters are
/// compared without regard to case, as in names of hosts (RFC 4343).
bool matches_pattern(std::string_view pattern, std::string_view name);

/// Whether a shard may have the name: 1 to 32 of a-z, 0-9 and _, the first a letter.
bool is_shard_name(std::string_view name);

/// What a shard is called where it must be no other: "SITE/NUMBER/NAME".
std::string shard_identity(const Site& site, const SiteShard& shard);
/// The same of the own shard; empty where the site does not list it.
std::string own_identity(const Site& site);

/// Whether `address` (HOST:PORT, IPv6 in brackets) means the machine of whoever reads it: loopback addresses (RFC 1122,
/// 3.2.1.3; RFC 4291, 2.5.3), the unspecified ones, and localhost (RFC 6761, 6.3). No other name: who resolves it says
/// where it leads.
bool is_loopback_address(std::string_view address);

/// "shard north: ask mgmt1:9641, mgmt2:9641": for refusals.
std::string where_to_ask(const SiteShard& shard);

/// What a weftd answers of something that another shard owns: kFailedPrecondition, "INC-203 belongs to …", with the
/// shard's addresses as Error::owners.
Error belongs_to(const std::string& what, const SiteShard& shard);

/// What a weftd answers a collector that belongs to another shard: kUnavailable, "elsewhere: gpu-7 belongs to shard
/// north: ask mgmt1:9641, mgmt2:9641".
Error elsewhere(const std::string& host, const SiteShard& shard);
/// The addresses in a message of elsewhere(), at most 16; none in any other message. What stands there is what another
/// machine says: who follows it decides which address may be asked.
std::vector<std::string> addresses_elsewhere(std::string_view message);

}  // namespace weft
