// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tables of a site in PostgreSQL: the schema weft_site, beside a schema for each shard. They say which shards there
// are, with which numbers, where they are asked, and what they own.

#include <cstdint>
#include <string>

#include "daemon/adapters/store/sql.hpp"
#include "daemon/adapters/store/start_waits.hpp"
#include "fabric/id_series.hpp"
#include "fabric/result.hpp"
#include "fabric/site.hpp"

namespace weft::store {

/// The place of a shard in its site. Without a site: all zero.
struct SitePlace {
  std::uint64_t number = 0;    ///< of the shard; see id_series.hpp
  std::uint64_t first_id = 1;  ///< see Site
  bool is_new = false;         ///< the site did not list the shard before
  bool is_unused = false;      ///< the number was never its before
  bool made_schema = false;    ///< there was no schema of its name before
  /// Ids to come, where the shard's own tables know of `next`.
  IdSeries ids(std::uint64_t next) const {
    return IdSeries::of_shard(number == 0 || next > first_id ? next : first_id, number);
  }
};

/// What join_site() would find.
struct SiteFound {
  bool has_schema = false;  ///< of the shard
  SitePlace place{};        ///< that it would get
  std::string name{};       ///< of the schema, as messages call it, where it is not there
  std::string text{};       ///< for people, where it has no schema
  std::string owner{};      ///< the same: who has the shard, and what it owns; empty: nobody told
};

/// Makes what is missing of the site's tables and of the shard's schema, in one transaction, and gives the shard its
/// number, the same one each time, also when it was taken out meanwhile. `url` as of StoreOptions. kPermissionDenied,
/// with what to do, where the role may not make schemas and they are missing; kFailedPrecondition for a shard with
/// incidents or plans of its own that comes to a site with other shards; kResourceExhausted when the site has
/// kMostShards - 1. It waits up to a minute for another start, and where a column is to be added that an older weftd
/// did not have, for those who use the table: `tell` hears who that is; then it fails with kTimeout.
Result<SitePlace> join_site(const std::string& url, const std::string& shard, const TellWait& tell = {});
/// Looks what that would do, and fails where it would, but for what others use. Nothing is changed or waited for:
/// kTimeout, with who is in the way, while another start is joining.
Result<SiteFound> look_at_site(const std::string& url, const std::string& shard);
/// The same for a start, which waits for others as join_site() does.
Result<SiteFound> wait_to_look_at_site(const std::string& url, const std::string& shard, const TellWait& tell = {});
/// Undoes what a join_site() with `place.is_new` did to the list of shards, after a start that failed, and frees the
/// number if it is unused and no id was given. `seat`: of the weftd that joined. False: left as it is, because another
/// weftd has joined or an id was given. The schema stays. It waits for another start as join_site() does.
Result<bool> leave_site(const std::string& url, const std::string& shard, const SitePlace& place,
                        const std::string& seat, const TellWait& tell = {});

/// What a weftd says of itself to its site.
struct SiteMember {
  std::string shard;
  std::string address;       ///< of its gRPC server, HOST:PORT
  std::string holder;        ///< see LeaseState
  std::int64_t epoch = 0;    ///< of the lease that it has; 0: it stands by
  std::string fabrics{};     ///< one a line
  std::string collectors{};  ///< one a line
  std::uint64_t number = 0;  ///< of the shard
  std::string seat{};        ///< where this weftd is: the same after a restart, another one for each weftd of a shard
  std::string machine{};     ///< of loopback_name()
  /// A line for each InfiniBand fabric that was swept: its name, and GUIDs of some of its switches, the same ones for
  /// all who see the same subnet.
  std::string switches{};
  bool operator==(const SiteMember&) const = default;
};

/// In place of what that weftd said before; forgets others of the shard that said nothing for an hour. False: the site
/// does not list the shard with that number, and nothing is written. Failures stay in the Database.
bool write_member(Database& database, const SiteMember& member);
/// That weftd ends: what it said stays known, but is no more held against what others of its shard say.
void leave_member(Database& database, const SiteMember& member);
/// All shards, and what their weftd say of them; `own` is left empty. `machine`: of loopback_name(), here; loopback
/// addresses of others are left out. Failures stay in the Database.
Site read_site(Database& database, const std::string& machine);

}  // namespace weft::store
