// SPDX-License-Identifier: Apache-2.0
#pragma once
// A site on a real PostgreSQL.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/adapters/store/site_registry.hpp"
#include "daemon/adapters/store/site_table.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {

class SiteTest : public OnEachEngine {
 protected:
  void SetUp() override {
    OnEachEngine::SetUp();
    if (!IsSkipped()) url = PostgresServer::shared().database_url(dir.path().filename().string());
  }
  std::unique_ptr<SqlStore> open(const TempDir& place, const std::string& shard) const {
    auto store = SqlStore::open(place.path(), {.url = url, .shard = shard});
    if (store) return std::move(*store);
    ADD_FAILURE() << store.error().message;
    return nullptr;
  }
  /// A weftd of that shard, which has joined; `address` is also where it is.
  static SiteMember member(const std::string& shard, std::uint64_t number, const std::string& address) {
    SiteMember member{shard, address, address + ", process 1"};
    member.number = number;
    member.seat = address;
    member.machine = "here";
    return member;
  }
  /// Starts a registry and waits until it has read the site anew, `change` being done before.
  static SitePtr next_of(const SiteRegistry& registry, const std::function<bool(const Site&)>& wanted) {
    for (int i = 0; i < 1000 && !wanted(*registry.site()); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return registry.site();
  }
  Database by_psql() const { return Database(std::move(*PostgresConnection::open(*parse_postgres_address(url)))); }

  const TempDir dir, other, third;
  std::string url;
};

}  // namespace weft::store
