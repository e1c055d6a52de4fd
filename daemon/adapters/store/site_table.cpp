// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/site_table.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/adapters/store/dialect.hpp"
#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/adapters/store/postgres_connection.hpp"

namespace weft::store {
namespace {

constexpr std::uint64_t kMostMembers = 8;  ///< of a shard that are asked

Result<Database> open_site(const std::string& url) {
  const auto address = parse_postgres_address(url);
  if (!address) return fail(address.error().code, "store.url " + address.error().message);
  auto opened = PostgresConnection::open(*address);
  if (!opened) return tl::unexpected<Error>(opened.error());
  return Database(std::move(*opened));
}

bool has_schema(Database& database, const std::string& schema) {
  Statement look(database, postgres::kHasSchema);
  look.query(schema);
  std::int64_t count = 0;
  while (look.next()) count = look.integer(0);
  return count > 0;
}

Error may_not_create(const Error& error, const std::string& schema) {
  if (error.code != ErrorCode::kPermissionDenied) return error;
  return {error.code, error.message +
                          ". The role of store.url may not make schemas: let the database's owner run CREATE SCHEMA "
                          "weft_site AUTHORIZATION role; CREATE SCHEMA " +
                          schema + " AUTHORIZATION role"};
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) all.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

/// The number of the shard; 0: it has none yet.
std::uint64_t number_of(Database& database, const std::string& shard) {
  Statement known(database, "SELECT number FROM weft_site.shard WHERE name = ?");
  known.query(shard);
  std::uint64_t number = 0;
  while (known.next()) number = known.bits(0);
  return number;
}

/// The greatest of the next ids in the shard's own tables; 1 where none was given or there are no tables.
std::uint64_t next_id_in(Database& database, const std::string& schema) {
  Statement look(database, postgres::kHasTable);
  look.query(schema + ".number");
  bool is_there = false;
  while (look.next()) is_there = look.integer(0) == 1;
  if (!is_there) return 1;
  const std::int64_t next = database.number(("SELECT max(value) FROM " + schema + ".number").c_str());
  return next < 1 ? 1 : static_cast<std::uint64_t>(next);
}

}  // namespace

Result<SitePlace> join_site(const std::string& url, const std::string& shard) {
  auto opened = open_site(url);
  if (!opened) return tl::unexpected<Error>(opened.error());
  Database& database = *opened;
  const std::string schema = shard_schema(shard);
  SitePlace place;
  Transaction transaction(database);
  database.run(postgres::kOneAtATime);
  if (!has_schema(database, "weft_site")) database.run("CREATE SCHEMA weft_site");
  if (!has_schema(database, schema)) database.run(("CREATE SCHEMA " + schema).c_str());
  database.run(postgres::kCreateSite);
  place.number = number_of(database, shard);
  if (place.number == 0 && !database.failed()) {
    const auto last = static_cast<std::uint64_t>(database.number("SELECT last_number FROM weft_site.site"));
    const std::uint64_t next_id = next_id_in(database, schema);
    place.number = last + 1;
    if (place.number >= kMostShards)
      database.fail(ErrorCode::kResourceExhausted,
                    "the site has had " + std::to_string(last) + " shards already, which is the most that it can have");
    if (last > 0 && next_id > 1)
      database.fail(
          ErrorCode::kFailedPrecondition,
          "the schema " + schema +
              " has incidents or plans of a weftd on its own, whose ids other shards may have given too: only "
              "the first shard of a site may bring them");
    Statement(database, "INSERT INTO weft_site.shard VALUES (?, ?)").run(shard, place.number);
    Statement(database, "UPDATE weft_site.site SET last_number = ?").run(place.number);
    if (last == 0 && next_id > 1)
      Statement(database, "UPDATE weft_site.site SET first_id = ?, elder = ?").run(next_id, shard);
  }
  place.first_id = static_cast<std::uint64_t>(database.number("SELECT first_id FROM weft_site.site"));
  if (auto done = transaction.commit(); !done) return tl::unexpected<Error>(may_not_create(done.error(), schema));
  return place;
}

Result<SiteFound> look_at_site(const std::string& url, const std::string& shard) {
  auto opened = open_site(url);
  if (!opened) return tl::unexpected<Error>(opened.error());
  SiteFound found{.has_schema = has_schema(*opened, shard_schema(shard)), .text = {}};
  if (!found.has_schema)
    found.text = opened->name() + " is reachable, without a schema " + shard_schema(shard) + " yet";
  if (auto outcome = opened->outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return found;
}

void write_member(Database& database, const SiteMember& member) {
  Statement(database, postgres::kTellSite)
      .run(member.shard, member.address, member.holder, member.epoch, member.fabrics, member.collectors);
  Statement(database, postgres::kForgetMembers).run(member.shard);
}

Site read_site(Database& database) {
  Site site;
  Statement first(database, "SELECT first_id, elder FROM weft_site.site");
  first.query();
  while (first.next()) {
    site.first_id = first.bits(0);
    site.elder = first.text(1);
  }
  // A leader's first, the newest of those that led; then those that spoke last.
  Statement members(
      database,
      "SELECT s.name, s.number, coalesce(m.address, ''), coalesce(m.holder, ''), coalesce(m.epoch, 0), "
      "coalesce(m.fabrics, ''), coalesce(m.collectors, '') FROM weft_site.shard s LEFT JOIN "
      "weft_site.member m ON m.shard = s.name ORDER BY s.name, coalesce(m.epoch, 0) DESC, m.updated DESC");
  members.query();
  while (members.next()) {
    const std::string name = members.text(0);
    if (site.shards.empty() || site.shards.back().name != name) {
      SiteShard shard;
      shard.name = name;
      shard.number = members.bits(1);
      shard.epoch = members.integer(4);
      if (shard.epoch > 0) shard.leader = members.text(3);
      shard.fabrics = lines(members.text(5));
      shard.collectors = lines(members.text(6));
      site.shards.push_back(std::move(shard));
    }
    std::vector<std::string>& addresses = site.shards.back().addresses;
    if (const std::string address = members.text(2); !address.empty() && addresses.size() < kMostMembers)
      addresses.push_back(address);
  }
  return site;
}

}  // namespace weft::store
