// SPDX-License-Identifier: Apache-2.0
#pragma once
// store.url: where a PostgreSQL is, and what of such an address is not taken.

#include <map>
#include <string>
#include <vector>

#include "fabric/result.hpp"

namespace weft::store {

/// What libpq is to be told, and what people are.
struct PostgresAddress {
  std::map<std::string, std::string> options;  ///< keywords of libpq (PostgreSQL 15 documentation, 34.1.2)
  std::string name;                            ///< "postgresql://weft@db1:5432,db2:5432/weft"; no secret
  std::string schema{};                        ///< of shard_url(): our tables are there; empty: in the role's own
};

/// Whether a place that a person names is an address, not a directory.
bool is_url(const std::string& place);

/// Reads "postgresql://user@host,host/database?keyword=value". What it does not say is added: the server that takes
/// writes is looked for, silence is bounded, and over a network TLS must show the server's name (sslmode=verify-full).
/// kInvalidArgument for what is no such address; for one with a password, which belongs into a file (passfile); and for
/// a host that is neither this machine's nor asked to show its name.
Result<PostgresAddress> parse_postgres_address(const std::string& url);

/// Has the server's list of connections (pg_stat_activity) say whose this one is, and what it is for: "weftd
/// mgmt1/123 store", 123 being the process; of a shard "weftd mgmt1/123 north store". Where the address names its
/// connections itself (application_name), it does not.
void name_connection(PostgresAddress& address, const std::string& use);

/// Of keywords of libpq that list servers (`host`, `hostaddr`, `port`): those of each server alone, in that order.
std::vector<std::map<std::string, std::string>> each_server(const std::map<std::string, std::string>& options);

/// The schema with the tables of a site: see site_table.hpp.
inline constexpr const char* kSiteSchema = "weft_site";
/// The schema with the tables of a shard: "weft_shard_north".
std::string shard_schema(const std::string& shard);
/// The shard of such a schema; empty for any other.
std::string shard_of_schema(const std::string& schema);
/// `url` with the schema of that shard in place of the role's own; `url` itself where `shard` is empty. An address that
/// has `options` already keeps them not.
std::string shard_url(const std::string& url, const std::string& shard);

}  // namespace weft::store
