// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/maintenance_table.hpp"

#include <set>

#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

MaintenanceWindow window_on(std::uint64_t id, Entity entity) {
  MaintenanceWindow window;
  window.id = id;
  window.entity = std::move(entity);
  window.from = at_second(0);
  window.until = at_second(7200);
  window.reason = "it's \"new\" firmware";
  window.added_by = "åsa";
  window.added = at_second(-5);
  return window;
}

MaintenanceList restored(SqlStore& store, TimePoint since = at_second(0)) {
  auto all = store.restore(since);
  EXPECT_TRUE(all) << all.error().message;
  return all ? all->maintenance : MaintenanceList{};
}

using MaintenanceTable = OnEachEngine;
INSTANTIATE_ON_EACH_ENGINE(MaintenanceTable);

TEST_P(MaintenanceTable, WhatIsSavedComesBackAfterARestart) {
  const TempDir dir;
  MaintenanceWindow host =
      window_on(1, {EntityKind::kNode, "compute", {NodeGuid{0xFFFF'0000'0000'0001}, {}}, {}, "dgx-04"});
  host.host = "dgx-04";
  host.nodes = {NodeGuid{0xFFFF'0000'0000'0001}, NodeGuid{0x2}};
  const MaintenanceWindow link =
      window_on(2, {EntityKind::kLink, "compute", {NodeGuid{3}, PortNum{4}}, {NodeGuid{5}, PortNum{6}}, "a - b"});
  Entity collector{EntityKind::kCollector, "", {}, {}, "node-7"};
  collector.host = "node-7";
  MaintenanceWindow alone = window_on(3, collector);
  alone.host = "node-7";
  {
    const auto store = must_open(dir.path());
    for (const MaintenanceWindow& window : {host, link, alone}) ASSERT_TRUE(store->save_maintenance(window));
  }
  const auto store = must_open(dir.path());
  const MaintenanceList found = restored(*store);
  ASSERT_EQ(found.size(), 3U);
  for (const auto& [one, wanted] : {std::pair(found[0], host), std::pair(found[1], link), std::pair(found[2], alone)}) {
    EXPECT_EQ(one.id, wanted.id);
    EXPECT_EQ(one.entity.identity(), wanted.entity.identity());
    EXPECT_EQ(one.entity.label, wanted.entity.label);
    EXPECT_EQ(one.host, wanted.host);
    EXPECT_EQ(std::set(one.nodes.begin(), one.nodes.end()), std::set(wanted.nodes.begin(), wanted.nodes.end()));
    EXPECT_EQ(one.from, wanted.from);
    EXPECT_EQ(one.until, wanted.until);
    EXPECT_EQ(one.ended, kNever);
    EXPECT_EQ(one.reason, wanted.reason);
    EXPECT_EQ(one.added_by, wanted.added_by);
    EXPECT_EQ(one.added, wanted.added);
  }
}

TEST_P(MaintenanceTable, AnEndIsKeptForTheRecordUntilItsRetention) {
  const TempDir dir;
  StoreOptions options;
  options.incident_retention = std::chrono::hours(24);
  const auto store = must_open(dir.path(), options);
  MaintenanceWindow window = window_on(1, {EntityKind::kFabric, "", {}, {}, "everything"});
  ASSERT_TRUE(store->save_maintenance(window));
  window.ended = at_second(600);
  window.ended_by = "bob";
  ASSERT_TRUE(store->save_maintenance(window));
  const MaintenanceList found = restored(*store);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().ended, at_second(600));
  EXPECT_EQ(found.front().ended_by, "bob");
  EXPECT_TRUE(restored(*store, at_second(601)).empty()) << "over before what is asked for";
  ASSERT_TRUE(store->maintain(at_second(600 + 86000), {}));
  EXPECT_EQ(restored(*store).size(), 1U);
  ASSERT_TRUE(store->maintain(at_second(600 + 87000), {}));
  EXPECT_TRUE(restored(*store).empty());
  EXPECT_EQ(store->restore(at_second(0))->maintenance_ids.next(), 2U) << "an id is never given twice";
}

TEST(MaintenanceTableOnFiles, AFullDiskChangesNothing) {
  const TempDir dir;
  const auto store = must_open(dir.path());
  store->limit_growth(1);
  MaintenanceWindow window = window_on(1, {EntityKind::kFabric, "", {}, {}, std::string(100'000, 'x')});
  EXPECT_FALSE(store->save_maintenance(window));
  store->limit_growth(0);
  EXPECT_TRUE(restored(*store).empty());
  EXPECT_TRUE(store->save_maintenance(window));
}

}  // namespace
}  // namespace weft::store
