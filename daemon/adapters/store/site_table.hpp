// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tables of a site in PostgreSQL: the schema weft_site, beside a schema for each shard. They say which shards there
// are, with which numbers, where they are asked, and what they own.

#include <cstdint>
#include <string>

#include "daemon/adapters/store/sql.hpp"
#include "fabric/id_series.hpp"
#include "fabric/result.hpp"
#include "fabric/site.hpp"

namespace weft::store {

/// The place of a shard in its site. Without a site: all zero.
struct SitePlace {
  std::uint64_t number = 0;    ///< of the shard; see id_series.hpp
  std::uint64_t first_id = 1;  ///< see Site
  /// Ids to come, where the shard's own tables know of `next`.
  IdSeries ids(std::uint64_t next) const {
    return IdSeries::of_shard(number == 0 || next > first_id ? next : first_id, number);
  }
};

/// What join_site() would find.
struct SiteFound {
  bool has_schema = false;  ///< of the shard
  std::string text;         ///< for people, where it has none
};

/// Makes what is missing of the site's tables and of the shard's schema, in one transaction, and gives the shard its
/// number, the same one each time. `url` as of StoreOptions. kPermissionDenied, with what to do, where the role may not
/// make schemas and they are missing; kFailedPrecondition for a shard with incidents or plans of its own that
/// comes to a site with other shards; kResourceExhausted when the site has kMostShards - 1.
Result<SitePlace> join_site(const std::string& url, const std::string& shard);
/// Looks only.
Result<SiteFound> look_at_site(const std::string& url, const std::string& shard);

/// What a weftd says of itself to its site.
struct SiteMember {
  std::string shard;
  std::string address;       ///< of its gRPC server, HOST:PORT
  std::string holder;        ///< see LeaseState
  std::int64_t epoch = 0;    ///< of the lease that it has; 0: it stands by
  std::string fabrics{};     ///< one a line
  std::string collectors{};  ///< one a line
  bool operator==(const SiteMember&) const = default;
};

/// In place of what that weftd said before; forgets others of the shard that said nothing for an hour. Failures stay in
/// the Database.
void write_member(Database& database, const SiteMember& member);
/// All shards, and what their weftd say of them; `own` is left empty. Failures stay in the Database.
Site read_site(Database& database);

}  // namespace weft::store
