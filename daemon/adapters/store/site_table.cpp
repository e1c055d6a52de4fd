// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/site_table.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/adapters/store/dialect.hpp"
#include "daemon/adapters/store/entity_columns.hpp"
#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/adapters/store/postgres_connection.hpp"
#include "daemon/adapters/store/postgres_schema.hpp"
#include "daemon/adapters/store/start_waits.hpp"
#include "daemon/platform/cli/terminal_text.hpp"

namespace weft::store {
namespace {

constexpr std::uint64_t kMostMembers = 8;  ///< of a shard that are asked
/// Of what a weftd tells that is shown in one sentence.
constexpr std::size_t kMostShown = 8, kLongestShown = 64;

Result<Database> open_site(const std::string& url) {
  auto address = parse_postgres_address(url);
  if (!address) return fail(address.error().code, "store.url " + address.error().message);
  name_connection(*address, "start");
  address->schema = kSiteSchema;
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

std::uint64_t number_of(Database& database, const char* sql, const std::string& shard) {
  Statement known(database, sql);
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

/// A number that no other shard has or had with ids.
std::uint64_t unused_number(Database& database, const std::string& schema, const std::string& shard) {
  const auto last = static_cast<std::uint64_t>(database.number("SELECT last_number FROM weft_site.site"));
  const auto freed =
      static_cast<std::uint64_t>(database.number("SELECT count(*) FROM weft_site.given WHERE shard IS NULL"));
  const std::uint64_t next_id = next_id_in(database, schema);
  auto number = static_cast<std::uint64_t>(
      database.number("SELECT coalesce(min(number), 0) FROM weft_site.given WHERE shard IS NULL"));
  if (number == 0) number = last + 1;
  if (number >= kMostShards)
    database.fail(ErrorCode::kResourceExhausted,
                  "the site has had " + std::to_string(last) +
                      " shards already, which is the most that it can have; the guide, site.md, says how to take back "
                      "the number of one that never gave an id");
  if (last > freed && next_id > 1)
    database.fail(ErrorCode::kFailedPrecondition,
                  "the schema " + schema +
                      " has incidents or plans of a weftd on its own, whose ids other shards may have given too: only "
                      "the first shard of a site may bring them");
  Statement(database, "UPDATE weft_site.site SET last_number = greatest(last_number, ?::BIGINT)").run(number);
  Statement(database,
            "INSERT INTO weft_site.given VALUES (?, ?) ON CONFLICT (number) DO UPDATE SET shard = excluded.shard")
      .run(number, shard);
  if (last == freed && next_id > 1)
    Statement(database, "UPDATE weft_site.site SET first_id = ?, elder = ?").run(next_id, shard);
  return number;
}

/// Adds what is missing of tables that an older weftd made; `looks`: only says where the role may not.
void complete_tables(Database& database, bool looks) {
  std::vector<std::string> additions;
  std::string forbidden;
  Statement missing(database, postgres::kMissingOfSite);
  missing.query();
  while (missing.next()) {
    additions.push_back(missing.text(1));
    if (missing.integer(2) == 0) forbidden = missing.text(0);
  }
  if (!forbidden.empty())
    database.fail(ErrorCode::kPermissionDenied, database.name() + ": must be owner of table " + forbidden);
  if (looks || additions.empty()) return;
  database.run(postgres::kWaitShortly);
  for (const std::string& addition : additions) database.run(addition.c_str());
}

/// What join_site() does within its transaction; `looks`: for look().
SiteFound join(Database& database, const std::string& shard, bool looks) {
  const std::string schema = shard_schema(shard);
  SiteFound found;
  SitePlace& place = found.place;
  // Who only looks holds up nobody.
  if (looks) database.run(postgres::kWaitShortly);
  database.run(postgres::kOneAtATime);
  if (!has_schema(database, "weft_site")) database.run("CREATE SCHEMA weft_site");
  found.has_schema = has_schema(database, schema);
  place.made_schema = !found.has_schema;
  if (place.made_schema) database.run(("CREATE SCHEMA " + schema).c_str());
  database.run(postgres::kCreateSite);
  complete_tables(database, looks);
  place.number = number_of(database, "SELECT number FROM weft_site.shard WHERE name = ?", shard);
  place.is_new = place.number == 0;
  if (place.is_new && !database.failed()) {
    place.number = number_of(database, "SELECT number FROM weft_site.given WHERE shard = ?", shard);
    place.is_unused = place.number == 0;
    if (place.is_unused) place.number = unused_number(database, schema, shard);
    // Until it leads, nobody waits for a shard that may never start: its name may be mistyped.
    if (!looks)
      Statement(database, "INSERT INTO weft_site.shard (name, number, has_led) VALUES (?, ?, ?::BIGINT = 0)")
          .run(shard, place.number, place.is_unused ? std::int64_t{1} : std::int64_t{0});
  }
  place.first_id = static_cast<std::uint64_t>(database.number("SELECT first_id FROM weft_site.site"));
  return found;
}

/// Of a weftd of the shard. `is_here`: on this machine.
void add_address(SiteShard& shard, const std::string& address, bool is_here) {
  std::vector<std::string>& addresses = shard.addresses;
  // Both weftd of a pair may be behind one.
  if (address.empty() || addresses.size() >= kMostMembers || usage::printable(address) != address ||
      std::ranges::find(addresses, address) != addresses.end())
    return;
  if (is_here || !is_loopback_address(address)) {
    addresses.push_back(address);
    shard.trouble.clear();
  } else if (addresses.empty()) {
    shard.trouble =
        "its address " + address + " is a loopback address of another host: set site.address or listen.grpc there";
  }
}

/// The lines of what a weftd tells; of more than a weftd may have, none.
std::vector<std::string> few_lines(const std::string& text) {
  constexpr std::ptrdiff_t kMostLines = 10'000;
  return std::ranges::count(text, '\n') > kMostLines ? std::vector<std::string>() : lines(text);
}

/// What a weftd of a shard tells that those of one shard have in common.
struct Told {
  std::string address;
  std::vector<std::string> fabrics, collectors;  ///< as SiteShard has them, sorted
  /// Of SiteMember::switches, by fabric.
  std::map<std::string, std::set<std::string>> switches{};
};

std::map<std::string, std::set<std::string>> switches_of(const std::string& text) {
  std::map<std::string, std::set<std::string>> by_fabric;
  for (const std::string& line : lines(text)) {
    std::istringstream words(line);
    std::string fabric, guid;
    words >> fabric;
    while (words >> guid) by_fabric[fabric].insert(guid);
  }
  return by_fabric;
}

/// A fabric of that name in both, of which neither sees a switch of the other's; empty: none.
std::string other_subnet(const Told& first, const Told& other) {
  for (const auto& [fabric, guids] : first.switches) {
    const auto found = other.switches.find(fabric);
    if (found == other.switches.end()) continue;
    if (std::ranges::none_of(guids, [&](const std::string& guid) { return found->second.contains(guid); }))
      return fabric;
  }
  return {};
}

/// Other weftd write these texts, and whoever has their password.
std::string shown(const std::string& text) {
  return usage::printable(text.size() <= kLongestShown ? text : text.substr(0, kLongestShown) + "...");
}

std::string one_line(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostShown); ++i) text += (i == 0 ? "" : ", ") + shown(names[i]);
  if (names.size() > kMostShown) text += " and " + std::to_string(names.size() - kMostShown) + " more";
  return text.empty() ? "none" : text;
}

/// Of a long list those that the other one lacks, if any: not all are shown. Both are sorted.
std::vector<std::string> without(const std::vector<std::string>& names, const std::vector<std::string>& others) {
  if (names.size() <= kMostShown) return names;
  std::vector<std::string> own;
  std::ranges::set_difference(names, others, std::back_inserter(own));
  return own.empty() ? names : own;
}

/// Empty: they agree. One that has not told of fabrics yet agrees.
std::string disagreement(const Told& first, const Told& other) {
  const char* const kAdvice =
      ": a takeover changes what the shard owns. Compare the weftd.toml of both, site.shard first";
  if (!first.fabrics.empty() && !other.fabrics.empty() && first.fabrics != other.fabrics)
    return "its weftd at " + shown(first.address) + " watches " + one_line(first.fabrics) + ", the one at " +
           shown(other.address) + " " + one_line(other.fabrics) + kAdvice;
  if (const std::string fabric = other_subnet(first, other); !fabric.empty())
    return "its weftd at " + shown(first.address) + " and the one at " + shown(other.address) +
           " watch different subnets, which both call " + shown(fabric) + kAdvice;
  if (first.collectors != other.collectors)
    return "its weftd at " + shown(first.address) + " has site.collectors " +
           one_line(without(first.collectors, other.collectors)) + ", the one at " + shown(other.address) + " " +
           one_line(without(other.collectors, first.collectors)) + kAdvice;
  return {};
}

/// See look_at_site().
Result<SiteFound> look(Database& database, const std::string& shard) {
  SiteFound found;
  require_server(database);
  {
    const Transaction transaction(database);  // never committed
    found = join(database, shard, true);
    if (!database.failed()) {
      const Site site = read_site(database, {});
      if (const SiteShard* const known = site.find(shard); known != nullptr && !known->leader.empty())
        found.owner = "shard " + shard + " was last led by " + shown(known->leader) + ", which watches " +
                      one_line(known->fabrics) + ", with site.collectors " + one_line(known->collectors);
    }
  }
  if (auto outcome = database.outcome(); !outcome)
    return tl::unexpected<Error>(may_not_create(outcome.error(), shard_schema(shard)));
  if (!found.has_schema) {
    found.name = database.name() + " (schema " + shard_schema(shard) + ")";
    found.text = database.name() + " is reachable, without a schema " + shard_schema(shard) + " yet: shard " + shard +
                 " would be new, with number " + std::to_string(found.place.number);
  }
  return found;
}

/// What leave_site() does, in one transaction.
Result<bool> leave(Database& database, const std::string& shard, const SitePlace& place, const std::string& seat) {
  Transaction transaction(database);
  database.run(postgres::kOneAtATime);
  bool is_out = next_id_in(database, shard_schema(shard)) == 1 || !place.is_unused;
  if (is_out) {
    Statement(database, postgres::kTakeOut).run(shard, place.number, seat);
    is_out = database.changes() == 1;
  }
  if (is_out && place.is_unused)
    Statement(database, "UPDATE weft_site.given SET shard = NULL WHERE number = ?").run(place.number);
  // Else it would be in the way of a schema that is to get its name.
  const std::string schema = shard_schema(shard);
  if (is_out && place.made_schema &&
      database.number(
          ("SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('" + schema + "')").c_str()) == 0)
    database.run(("DROP SCHEMA IF EXISTS " + schema).c_str());
  if (auto done = transaction.commit(); !done) return tl::unexpected<Error>(done.error());
  return is_out;
}

}  // namespace

Result<SitePlace> join_site(const std::string& url, const std::string& shard, const TellWait& tell) {
  auto opened = open_site(url);
  if (!opened) return tl::unexpected<Error>(opened.error());
  const auto attempt = [&]() -> Result<SitePlace> {
    Transaction transaction(*opened);
    const SiteFound found = join(*opened, shard, false);
    if (auto done = transaction.commit(); !done)
      return tl::unexpected<Error>(may_not_create(done.error(), shard_schema(shard)));
    return found.place;
  };
  return wait_for_others(tell, attempt);
}

Result<SiteFound> look_at_site(const std::string& url, const std::string& shard) {
  auto opened = open_site(url);
  if (!opened) return tl::unexpected<Error>(opened.error());
  return look(*opened, shard);
}

Result<SiteFound> wait_to_look_at_site(const std::string& url, const std::string& shard, const TellWait& tell) {
  auto opened = open_site(url);
  if (!opened) return tl::unexpected<Error>(opened.error());
  return wait_for_others(tell, [&] { return look(*opened, shard); });
}

Result<bool> leave_site(const std::string& url, const std::string& shard, const SitePlace& place,
                        const std::string& seat, const TellWait& tell) {
  auto opened = open_site(url);
  if (!opened) return tl::unexpected<Error>(opened.error());
  return wait_for_others(tell, [&] { return leave(*opened, shard, place, seat); });
}

bool write_member(Database& database, const SiteMember& member) {
  Statement(database, postgres::kTellSite)
      .run(member.seat, member.machine, member.address, member.holder, member.epoch, member.fabrics, member.collectors,
           member.switches, member.shard, member.number);
  if (database.failed() || database.changes() == 0) return false;
  Statement(database, postgres::kNoteLeader).run(member.shard, member.epoch);
  Statement(database, postgres::kForgetMembers).run(member.shard);
  return true;
}

void leave_member(Database& database, const SiteMember& member) {
  Statement(database, postgres::kLeaveSite).run(member.shard, member.seat);
}

Site read_site(Database& database, const std::string& machine) {
  Site site;
  Statement first(database, "SELECT first_id, elder, (" + std::string(postgres::kIdentity) + ") FROM weft_site.site");
  first.query();
  while (first.next()) {
    site.first_id = first.bits(0);
    site.elder = first.text(1);
    site.database = first.text(2);
  }
  Statement members(database, postgres::kReadMembers);
  members.query();
  Told first_told;
  while (members.next()) {
    const std::string name = members.text(0);
    if (site.shards.empty() || site.shards.back().name != name) {
      SiteShard shard;
      shard.name = name;
      shard.number = members.bits(1);
      shard.epoch = members.integer(4);
      if (shard.epoch > 0) shard.leader = members.text(3);
      shard.fabrics = few_lines(members.text(5));
      shard.collectors = few_lines(members.text(6));
      shard.is_new = members.integer(8) == 1;
      site.shards.push_back(std::move(shard));
      first_told = {};
    }
    const std::string address = members.text(2), where = members.text(7);
    if (members.integer(9) == 1) {
      Told told{address, few_lines(members.text(5)), few_lines(members.text(6)), switches_of(members.text(10))};
      std::ranges::sort(told.fabrics);
      std::ranges::sort(told.collectors);
      std::string& found = site.shards.back().disagreement;
      if (members.integer(11) == 1)
        found = "its weftd at " + shown(address) + " tells more than a weftd would: that is not read";
      else if (first_told.address.empty())
        first_told = std::move(told);
      else if (found.empty())
        found = disagreement(first_told, told);
    }
    add_address(site.shards.back(), address, !where.empty() && where == machine);
  }
  return site;
}

}  // namespace weft::store
