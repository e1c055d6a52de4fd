// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/convert/maintenance.hpp"
#include "tests/fakes/ethernet_fabric.hpp"
#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

using ::testing::HasSubstr;

v1::AddMaintenanceRequest asked(const std::string& what) {
  v1::AddMaintenanceRequest request;
  request.set_what(what);
  request.mutable_length()->set_seconds(7200);
  request.set_reason("new firmware");
  return request;
}

struct WantedMaintenance : ::testing::Test {
  WantedMaintenance() : fabric(2), snapshot(make_snapshot(1, {fabric.build()})) {}
  Entity entity_of(const std::string& what) const {
    const auto window = wanted_maintenance(*snapshot, asked(what), kNow);
    EXPECT_TRUE(window) << window.error().message;
    return window ? window->entity : Entity{};
  }
  ErrorCode error_of(const v1::AddMaintenanceRequest& request) const {
    const auto window = wanted_maintenance(*snapshot, request, kNow);
    EXPECT_FALSE(window);
    return window ? ErrorCode::kInternal : window.error().code;
  }
  unsigned ports_of_leaf() const {
    const Topology& topology = *snapshot->fabrics.front().sweep->topology;
    return topology.node(topology.find_node(NodeGuid{kLeaf})).port_count;
  }
  SmallFabric fabric;
  std::shared_ptr<Snapshot> snapshot;
};

TEST_F(WantedMaintenance, ASwitchAHostAPortALinkAndEverything) {
  const auto leaf = wanted_maintenance(*snapshot, asked("leaf-1"), kNow);
  ASSERT_TRUE(leaf);
  EXPECT_EQ(leaf->entity.kind, EntityKind::kNode);
  EXPECT_EQ(leaf->nodes, std::vector<NodeGuid>{NodeGuid{kLeaf}});
  EXPECT_TRUE(leaf->host.empty());
  EXPECT_EQ(leaf->from, kNow);
  EXPECT_EQ(leaf->until, kNow + std::chrono::hours(2));
  const auto host = wanted_maintenance(*snapshot, asked("host-1"), kNow);
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_EQ(host->host, "host-1");
  EXPECT_EQ(host->entity.label, "host-1");
  EXPECT_FALSE(host->nodes.empty());
  const auto qualified = wanted_maintenance(*snapshot, asked("HOST-1.example.org"), kNow);
  ASSERT_TRUE(qualified) << qualified.error().message;
  EXPECT_EQ(qualified->nodes, host->nodes) << "the same host";
  EXPECT_EQ(entity_of(to_string(NodeGuid{kLeaf})).port.node, NodeGuid{kLeaf});
  for (const char* name : {"leaf-1 port 1", "leaf-1:1", "0x0000000000000010:1"})
    EXPECT_EQ(entity_of(name).port, (PortKey{NodeGuid{kLeaf}, PortNum{1}})) << name;
  // As incidents call it, from either end.
  for (const char* name : {"leaf-1 port 1 - host-1 mlx5_0 port 1", "host-1 mlx5_0 port 1 - leaf-1 port 1"}) {
    const Entity link = entity_of(name);
    EXPECT_EQ(link.kind, EntityKind::kLink) << name;
    EXPECT_TRUE(link.same_as(make_incident(1).finding.cause) || link.port < link.peer) << name;
  }
  EXPECT_EQ(entity_of("fabric").kind, EntityKind::kFabric);
  EXPECT_TRUE(entity_of("fabric").fabric.empty());
}

// Anybody may give an adapter a host's name, and many adapters have none.
TEST_F(WantedMaintenance, AHostHasTheAdaptersThatItsCollectorReports) {
  const auto reports = [](const std::string& host, std::vector<std::uint64_t> guids) {
    auto inventory = std::make_shared<HostInventory>();
    for (const std::uint64_t guid : guids) inventory->ports.emplace_back().node_guid = {guid};
    auto reading = std::make_shared<HostReading>();
    reading->inventory = std::move(inventory);
    auto view = std::make_shared<HostView>();
    view->host = host;
    view->reading = std::move(reading);
    return view;
  };
  using Nodes = std::vector<NodeGuid>;
  const auto nodes_of = [&](const std::string& host) {
    const auto window = wanted_maintenance(*snapshot, asked(host), kNow);
    EXPECT_TRUE(window) << window.error().message;
    return window ? window->nodes : Nodes{};
  };
  const auto tell = [&](std::vector<std::shared_ptr<const HostView>> hosts) {
    snapshot->hosts = std::make_shared<const std::vector<std::shared_ptr<const HostView>>>(std::move(hosts));
  };
  tell({reports("host-1.example.org", {0x101, 0x102})});
  EXPECT_EQ(nodes_of("host-1"), (Nodes{{0x101}, {0x102}})) << "whatever name it has";
  tell({reports("spare", {0x102})});
  EXPECT_EQ(nodes_of("spare"), (Nodes{{0x102}})) << "none bears its name";
  tell({reports("host-1", {0x101}), reports("host-2", {0x102})});
  EXPECT_EQ(nodes_of("host-1"), (Nodes{{0x101}}));
  tell({reports("thief", {0x101, 0x102})});
  EXPECT_EQ(nodes_of("host-1"), (Nodes{{0x101}})) << "the work is on what a person named";
}

TEST_F(WantedMaintenance, AFabricGoesByItsName) {
  const Entity named = entity_of("ib0");
  EXPECT_EQ(named.kind, EntityKind::kFabric);
  EXPECT_EQ(named.fabric, "ib0");
  EXPECT_EQ(named.label, "fabric ib0");
  v1::AddMaintenanceRequest both = asked("ib0");
  both.set_fabric("ib0");
  EXPECT_TRUE(wanted_maintenance(*snapshot, both, kNow));
  snapshot->fabrics.push_back(snapshot->fabrics.front());
  snapshot->fabrics.back().name = "ib1";
  both.set_fabric("ib1");
  EXPECT_EQ(wanted_maintenance(*snapshot, both, kNow).error().message, "two fabrics are named: ib0 and ib1");
  snapshot->fabrics.back().name = "leaf-1";
  EXPECT_EQ(entity_of("leaf-1").kind, EntityKind::kNode) << "a fabric that is called like a switch";
}

// All shards list it, and those of others are not under maintenance.
TEST_F(WantedMaintenance, EverythingOfAShardIsSaidToBeOfThatShard) {
  EXPECT_EQ(entity_of("fabric").label, "everything");
  auto site = std::make_shared<Site>();
  site->own = "south";
  snapshot->site = site;
  EXPECT_EQ(entity_of("fabric").label, "everything of shard south");
  EXPECT_TRUE(entity_of("fabric").fabric.empty());
  EXPECT_EQ(entity_of("ib0").label, "fabric ib0");
}

TEST_F(WantedMaintenance, EthernetPortsGoByTheirNames) {
  const auto ethernet = fakes::EthernetFabric::leaf_spine(2, 2, 2);
  FabricView view;
  view.name = ethernet.name();
  view.sweep = std::make_shared<const Sweep>(ethernet.sweep());
  const Topology& topology = *view.sweep->topology;
  snapshot->fabrics.push_back(view);
  const PortKey leaf = topology.key_of(fakes::EthernetFabric::find(topology, "leaf01 swp2"));
  const PortKey host = topology.key_of(fakes::EthernetFabric::find(topology, "gpu-02 eth2"));
  for (const char* name : {"leaf01 swp2", "leaf01:swp2"}) {
    EXPECT_EQ(entity_of(name).port, leaf) << name;
    EXPECT_EQ(entity_of(name).label, "leaf01 swp2");
  }
  for (const char* name : {"leaf01 swp2 - gpu-02 eth2", "gpu-02:eth2 - leaf01:swp2"}) {
    const Entity link = entity_of(name);
    EXPECT_EQ(link.kind, EntityKind::kLink) << name;
    EXPECT_EQ((LinkKey{link.port, link.peer}), make_link_key(leaf, host));
    EXPECT_EQ(link.label, "leaf01 swp2 - gpu-02 eth2");
  }
  EXPECT_EQ(entity_of("gpu-02 eth2").kind, EntityKind::kNode);
  EXPECT_EQ(entity_of("gpu-02").label, "gpu-02");
  EXPECT_EQ(entity_of("leaf-1 port 1").label, "leaf-1 port 1") << "numbers are InfiniBand's";
  for (const char* name : {"leaf01 port 2", "leaf01 swp9", "leaf01 swp1 - gpu-02 eth2", "swp2"})
    EXPECT_EQ(error_of(asked(name)), ErrorCode::kNotFound) << name;
}

TEST_F(WantedMaintenance, WhatIsNotThereIsSaid) {
  for (const char* name : {"leaf-9", "leaf-1 port 99", "leaf-1 port", "host-1 mlx5_0 port 1 - host-2 mlx5_0 port 1"})
    EXPECT_EQ(error_of(asked(name)), ErrorCode::kNotFound) << name;
  for (const char* name : {"leaf-1 port 99", "leaf-1:99"})
    EXPECT_EQ(wanted_maintenance(*snapshot, asked(name), kNow).error().message,
              "leaf-1 has no port 99: its ports are 1 to " + std::to_string(ports_of_leaf()))
        << name;
  EXPECT_EQ(error_of(asked("")), ErrorCode::kInvalidArgument);
  v1::AddMaintenanceRequest no_length = asked("leaf-1");
  no_length.clear_length();
  EXPECT_EQ(error_of(no_length), ErrorCode::kInvalidArgument);
  v1::AddMaintenanceRequest elsewhere = asked("fabric");
  elsewhere.set_fabric("ib9");
  EXPECT_EQ(error_of(elsewhere), ErrorCode::kNotFound);
  elsewhere.set_what("leaf-1");
  EXPECT_EQ(error_of(elsewhere), ErrorCode::kNotFound) << "nobody means it to be left out";
}

TEST_F(WantedMaintenance, AnyTimeIsOneOrRefused) {
  const auto begun_at = [this](std::int64_t seconds) {
    v1::AddMaintenanceRequest request = asked("leaf-1");
    request.mutable_from()->set_seconds(seconds);
    request.mutable_length()->set_seconds(315'576'000'000);  // the longest that JSON has
    return wanted_maintenance(*snapshot, request, kNow);
  };
  for (const std::int64_t seconds :
       std::initializer_list<std::int64_t>{-9'223'372'035, 0, 9'000'000'000, 9'223'372'035}) {
    const auto window = begun_at(seconds);
    ASSERT_TRUE(window) << seconds << window.error().message;
    EXPECT_LT(window->from, window->until) << seconds;
  }
  EXPECT_GT(begun_at(9'223'372'035)->from, kNow + std::chrono::hours(24 * 366)) << "the daemon refuses it";
  EXPECT_EQ(begun_at(253'402'300'799).error().message, "from must lie between the years 1678 and 2262");
}

TEST_F(WantedMaintenance, NamesThatNothingCanHaveAreNotLookedFor) {
  std::string dashes;
  while (dashes.size() < 60'000) dashes += "leaf-1:1 - ";
  const auto refused = wanted_maintenance(*snapshot, asked(dashes), kNow);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_LT(refused.error().message.size(), 200U) << "and are not repeated";
  EXPECT_EQ(error_of(asked(dashes.substr(0, 8'000))), ErrorCode::kNotFound);
  EXPECT_EQ(error_of(asked("host-1.\n2026-11-26 info: MW-1 ended by root")), ErrorCode::kInvalidArgument)
      << "a host goes by what stands before the dot, and its name into the log";
}

TEST_F(WantedMaintenance, ListsByStateAndPage) {
  auto windows = std::make_shared<MaintenanceList>();
  for (std::uint64_t id = 1; id <= 5; ++id) {
    MaintenanceWindow window;
    window.id = id;
    window.entity.label = "leaf-1";
    window.from = kNow + std::chrono::hours(static_cast<int>(id) - 4);
    window.until = window.from + std::chrono::hours(2);
    windows->push_back(window);
  }
  snapshot->maintenance = windows;
  v1::ListMaintenanceRequest request;
  request.set_page_size(2);
  std::string states, ids;
  do {
    const auto page = list_maintenance(*snapshot, request, kNow);
    ASSERT_TRUE(page);
    EXPECT_LE(page->windows_size(), 2);
    for (const v1::MaintenanceWindow& window : page->windows()) {
      ids += window.id() + " ";
      states += v1::MaintenanceWindow::State_Name(window.state()) + " ";
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(ids, "MW-1 MW-2 MW-3 MW-4 MW-5 ");
  EXPECT_EQ(states, "OVER OVER ACTIVE ACTIVE PLANNED ");
  v1::ListMaintenanceRequest active;
  active.add_states(v1::MaintenanceWindow::ACTIVE);
  EXPECT_EQ(list_maintenance(*snapshot, active, kNow)->windows_size(), 2);
  EXPECT_EQ(get_maintenance(*snapshot, "mw-5", kNow)->state(), v1::MaintenanceWindow::PLANNED);
  EXPECT_EQ(get_maintenance(*snapshot, "MW-6", kNow).error().code, ErrorCode::kNotFound);
  EXPECT_THAT(get_maintenance(*snapshot, "INC-6", kNow).error().message, HasSubstr("MW-3"));
}

}  // namespace
}  // namespace weft::api
