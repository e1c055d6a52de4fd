// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/shard_ids.hpp"

#include <cstdint>
#include <utility>

#include "daemon/adapters/store/dialect.hpp"
#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/adapters/store/postgres_connection.hpp"
#include "daemon/adapters/store/site_table.hpp"
#include "fabric/acceptance.hpp"
#include "fabric/incident.hpp"
#include "fabric/maintenance.hpp"
#include "fabric/plan.hpp"
#include "fabric/site.hpp"

namespace weft::store {
namespace {

/// Empty while there is no site.
Result<Site> find_site(const PostgresAddress& address) {
  auto opened = PostgresConnection::open(address);
  if (!opened) return tl::unexpected<Error>(opened.error());
  Database database(std::move(*opened));
  Statement look(database, postgres::kHasTable);
  look.query("weft_site.shard");
  bool is_there = false;
  while (look.next()) is_there = look.integer(0) == 1;
  Site site = is_there ? read_site(database, "") : Site();
  if (auto outcome = database.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return site;
}

/// The first of them that is not of `shard`; empty: all are.
std::string other_id(Database& source, const char* sql, std::string (*name)(std::uint64_t), const Site& site,
                     const std::string& shard) {
  std::string other;
  Statement ids(source, sql);
  ids.query();
  while (ids.next()) {
    const SiteShard* const owner = site.owner_of(ids.bits(0));
    if (other.empty() && (owner == nullptr || owner->name != shard))
      other = name(ids.bits(0)) + (owner == nullptr ? " would be of no shard" : " would be of shard " + owner->name);
  }
  return other;
}

}  // namespace

Result<void> check_ids_for_shard(Database& source, const std::string& url) {
  const auto address = parse_postgres_address(url);
  if (!address) return tl::unexpected<Error>(address.error());
  const std::string shard = shard_of_schema(address->schema);
  if (shard.empty()) return {};
  const auto site = find_site(*address);
  if (!site) return tl::unexpected<Error>(site.error());
  if (site->shards.empty()) return {};
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::kFailedPrecondition, address->name + ": nothing was copied: " + why);
  };
  const SiteShard* const known = site->find(shard);
  if (known == nullptr) {
    const std::int64_t next = source.number("SELECT max(value) FROM number");
    if (auto outcome = source.outcome(); !outcome) return outcome;
    if (next <= 1) return {};
    return refuse("the site there has other shards, which may have given the ids of what " + source.name() +
                  " holds: only the first shard of a site may bring them");
  }
  std::string other = other_id(source, "SELECT id FROM incident ORDER BY id", incident_name, *site, shard);
  if (other.empty()) other = other_id(source, "SELECT id FROM plan ORDER BY id", plan_name, *site, shard);
  if (other.empty()) other = other_id(source, "SELECT id FROM maintenance ORDER BY id", maintenance_name, *site, shard);
  if (other.empty()) other = other_id(source, "SELECT id FROM acceptance ORDER BY id", acceptance_name, *site, shard);
  if (auto outcome = source.outcome(); !outcome) return outcome;
  if (other.empty()) return {};
  return refuse(
      "shard " + shard + " has number " + std::to_string(known->number) + " in its site, and " + other +
      ": only what was this shard's before may come back to it. A weftd on its own may become the first shard "
      "of a site only");
}

}  // namespace weft::store
