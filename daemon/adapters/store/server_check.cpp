// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/server_check.hpp"

#include <cstddef>
#include <future>
#include <map>
#include <utility>

#include "daemon/adapters/store/dialect.hpp"
#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/adapters/store/postgres_connection.hpp"
#include "daemon/adapters/store/sql.hpp"

namespace weft::store {
namespace {

/// What messages call one of each_server().
std::string server_name(const std::map<std::string, std::string>& server) {
  const auto value = [&server](const char* key) {
    const auto found = server.find(key);
    return found == server.end() ? std::string() : found->second;
  };
  const std::string port = value("port");
  return (value("host").empty() ? value("hostaddr") : value("host")) + (port.empty() ? "" : ":" + port);
}

/// Which database it has (see postgres::kIdentity); fails where it cannot be used.
Result<std::string> database_of_server(PostgresAddress address) {
  address.options["target_session_attrs"] = "any";  // a standby, too
  address.options["connect_timeout"] = "3";
  auto connection = PostgresConnection::make(address);
  connection->keep_lease();  // it is asked for no longer than that
  Database database(std::move(connection));
  Statement row(database, postgres::kIdentity);
  row.query();
  std::string identity;
  while (row.next()) identity = row.text(0);
  if (auto outcome = database.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return identity;
}

}  // namespace

std::vector<std::string> unusable_servers(const std::string& url) {
  std::vector<std::string> said;
  auto address = parse_postgres_address(url);
  if (!address) return said;
  name_connection(*address, "check");
  const auto servers = each_server(address->options);
  if (servers.size() < 2) return said;
  // At once: each one that says nothing takes its three seconds.
  std::vector<std::future<Result<std::string>>> answers;
  for (const auto& server : servers)
    answers.push_back(
        std::async(std::launch::async, database_of_server,
                   PostgresAddress{server, "its server " + server_name(server) + " cannot be used", address->schema}));
  std::string first, identity;
  for (std::size_t at = 0; at < servers.size(); ++at) {
    const std::string name = server_name(servers[at]);
    const auto found = answers[at].get();
    if (!found) {
      said.push_back(found.error().message);
    } else if (first.empty()) {
      first = name;
      identity = *found;
    } else if (*found != identity) {
      said.push_back("its servers " + first + " and " + name +
                     " have different databases: neither is the other's standby");
    }
  }
  return said;
}

}  // namespace weft::store
