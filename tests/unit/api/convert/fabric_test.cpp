// SPDX-License-Identifier: Apache-2.0
#include "api/convert/fabric.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/convert/queries.hpp"
#include "tests/fakes/ethernet_fabric.hpp"
#include "tests/fakes/fabric_builder.hpp"

namespace weft::api {
namespace {

v1::Link link_at(fakes::FabricBuilder& fabric, PortIndex port) {
  FabricView view;
  view.name = fabric.name();
  view.sweep = std::make_shared<const Sweep>(fabric.sweep());
  const Topology& topology = *view.sweep->topology;
  v1::Link link;
  link_to_proto(view, starts_link(topology, port) ? port : topology.port(port).peer, link);
  return link;
}

TEST(Links, HaveARateOnlyWhileTheyAreTrained) {
  fakes::FabricBuilder fabric = fakes::FabricBuilder::fat_tree(1, 2, 2);
  const PortIndex cable = fabric.port_of("host-1-0 mlx5_0", 1);
  EXPECT_FALSE(link_at(fabric, cable).width().empty());
  EXPECT_GT(link_at(fabric, cable).rate_bits_per_second(), 0);
  fabric.relink(cable, PortState::kInitialize);
  EXPECT_FALSE(link_at(fabric, cable).up());
  EXPECT_GT(link_at(fabric, cable).rate_bits_per_second(), 0) << "it waits for the subnet manager";
  // Only one end says that the link is down: the other one still has what it said last.
  fabric.relink(cable);
  for (const char* dark : {"host-1-0 mlx5_0", "leaf-1"}) {
    fabric.power_off(fabric.find(dark));
    const v1::Link down = link_at(fabric, cable);
    EXPECT_FALSE(down.up()) << dark;
    EXPECT_EQ(down.width() + down.speed(), "") << dark;
    EXPECT_EQ(down.rate_bits_per_second(), 0) << dark;
    fabric.power_on(fabric.find(dark));
  }
}

TEST(Nodes, OfAnEthernetFabricAreReadByTheirOwnCollectorsOnly) {
  fakes::EthernetFabric fabric = fakes::EthernetFabric::leaf_spine(2, 2, 1);
  FabricView view;
  view.name = fabric.name();
  view.stale_after = std::chrono::seconds(3);
  Sweep sweep = fabric.sweep();
  const Topology& topology = *sweep.topology;
  const PortIndex own = fakes::EthernetFabric::find(topology, "gpu-01 eth2");
  const PortIndex old = fakes::EthernetFabric::find(topology, "gpu-02 eth2");
  sweep.state_read_at.assign(topology.ports().size(), kNever);
  sweep.inferred_from_peer.assign(topology.ports().size(), 0);
  sweep.state_read_at[own] = sweep.finished;
  sweep.state_read_at[topology.port(own).peer] = sweep.finished;
  sweep.inferred_from_peer[topology.port(own).peer] = 1;
  sweep.state_read_at[old] = sweep.finished - std::chrono::minutes(1);
  view.sweep = std::make_shared<const Sweep>(std::move(sweep));
  const auto is_unread = [&](PortIndex port) {
    v1::Node node;
    node_to_proto(view, topology.port(port).node, node);
    EXPECT_TRUE(node.reachable());
    return node.unread();
  };
  EXPECT_FALSE(is_unread(own));
  EXPECT_TRUE(is_unread(topology.port(own).peer)) << "its host alone tells of the leaf";
  EXPECT_TRUE(is_unread(old)) << "its collector is silent";
}

struct LinkLists : testing::Test {
  Snapshot taken() {
    Snapshot snapshot;
    snapshot.fabrics.resize(1);
    snapshot.fabrics[0].name = fabric.name();
    snapshot.fabrics[0].sweep = std::make_shared<const Sweep>(fabric.sweep());
    snapshot.fabrics[0].absent_links = std::make_shared<const std::vector<AbsentLink>>(absent);
    std::vector<std::shared_ptr<const Plan>> all;
    for (const Plan& plan : plans) all.push_back(std::make_shared<const Plan>(plan));
    snapshot.plans = std::make_shared<const std::vector<std::shared_ptr<const Plan>>>(std::move(all));
    return snapshot;
  }
  v1::ListLinksResponse list() {
    const auto listed = list_links(taken(), {});
    EXPECT_TRUE(listed);
    return listed ? *listed : v1::ListLinksResponse{};
  }
  v1::Link at(const PortKey& key) {
    const v1::ListLinksResponse all = list();
    for (const v1::Link& listed : all.links())
      for (const v1::PortReference& each : {listed.a(), listed.b()})
        if (each.node_guid() == to_string(key.node) && each.port() == key.port.value) return listed;
    return {};
  }
  fakes::FabricBuilder fabric = fakes::FabricBuilder::fat_tree(2, 2, 1);
  PortIndex end = fabric.port_towards("leaf-1", "spine-0");
  LinkKey link = fabric.link_of(end);
  std::vector<Plan> plans;
  std::vector<AbsentLink> absent;
};

TEST_F(LinkLists, HaveLinksToNodesThatTheGraphDoesNotHave) {
  const int known = list().links_size();
  const PortKey gone{NodeGuid{0x99}, PortNum{1}}, here{link.low.node, PortNum{30}};
  absent.push_back({.ends = {{here, "leaf-1"}, {gone, "gpu-9 mlx5_0"}}, .is_seen = true});
  absent.push_back({.ends = {{{NodeGuid{0x98}, PortNum{1}}, "leaf-8"}, {{NodeGuid{0x97}, PortNum{2}}, "spine-8"}}});
  EXPECT_EQ(list().links_size(), known + 2);
  const v1::Link down = at(gone);
  EXPECT_EQ(down.a().node() + ' ' + down.b().node(), "leaf-1 gpu-9 mlx5_0");
  EXPECT_EQ(down.a().port(), 30U);
  EXPECT_FALSE(down.up() || down.state_unknown() || down.disabled());
  EXPECT_TRUE(at({NodeGuid{0x97}, PortNum{2}}).state_unknown()) << "neither end was seen";
  // Page by page they are the same.
  Snapshot snapshot;
  snapshot.fabrics.resize(1);
  snapshot.fabrics[0].name = fabric.name();
  snapshot.fabrics[0].sweep = std::make_shared<const Sweep>(fabric.sweep());
  snapshot.fabrics[0].absent_links = std::make_shared<const std::vector<AbsentLink>>(absent);
  v1::ListLinksRequest request;
  request.set_page_size(1);
  int pages = 0;
  do {
    const auto page = list_links(snapshot, request);
    ASSERT_TRUE(page);
    pages += page->links_size();
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(pages, known + 2);
}

TEST_F(LinkLists, NameThePlanThatTookALinkOut) {
  Plan& plan = plans.emplace_back();
  plan.id = 7;
  plan.target.kind = EntityKind::kLink;
  plan.target.fabric = fabric.name();
  plan.target.port = link.high;
  plan.target.peer = link.low;
  EXPECT_EQ(at(link.low).plan_id(), "") << "it is not in force";
  plan.in_force = true;
  EXPECT_EQ(at(link.low).plan_id(), "PLAN-7");
  plan.action = RemedyAction::kRaiseLinkCost;
  EXPECT_EQ(at(link.low).plan_id(), "") << "it is in service";
  plan.action = RemedyAction::kRestoreLink;
  EXPECT_EQ(at(link.low).plan_id(), "PLAN-7") << "it failed again";
  plan.target.fabric = "the name of another port";
  EXPECT_EQ(at(link.low).plan_id(), "PLAN-7") << "the ends of a link are the same under each name of a subnet";
}

TEST_F(LinkLists, TellWhichPlanHoldsALinkAndHow) {
  EXPECT_FALSE(at(link.low).has_hold());
  Plan& plan = plans.emplace_back();
  plan.id = 7;
  plan.target = {.kind = EntityKind::kLink, .fabric = fabric.name(), .port = link.low, .peer = link.high, .label = ""};
  plan.action = RemedyAction::kRaiseLinkCost;
  plan.state = PlanState::kCommitted;
  plan.reason = "it is slow";
  EXPECT_FALSE(at(link.low).has_hold()) << "it is not in force";
  plan.in_force = true;
  const v1::PlanHold raised = at(link.low).hold();
  EXPECT_EQ(raised.plan_id(), "PLAN-7");
  EXPECT_EQ(raised.action(), "RAISE_LINK_COST");
  EXPECT_EQ(raised.state(), "COMMITTED");
  EXPECT_EQ(raised.reason(), "it is slow");
  plan.kept_out = "ann rejected its return PLAN-9";
  EXPECT_EQ(at(link.low).hold().reason(), "it is slow; ann rejected its return PLAN-9");
  plan.action = RemedyAction::kIsolateLink;
  plan.state = PlanState::kVerifying;
  EXPECT_EQ(at(link.low).hold().action(), "ISOLATE_LINK");
  EXPECT_EQ(at(link.low).hold().state(), "VERIFYING");
  plan.action = RemedyAction::kRestoreLink;
  plan.inverse = RemedyAction::kRaiseLinkCost;
  EXPECT_EQ(at(link.low).hold().action(), "RAISE_LINK_COST") << "it failed on its way back";
}

TEST_F(LinkLists, TellWhichUnresolvedPlanMayHoldALink) {
  Plan& plan = plans.emplace_back();
  plan.id = 7;
  plan.target = {.kind = EntityKind::kLink, .fabric = fabric.name(), .port = link.low, .peer = link.high, .label = ""};
  plan.action = RemedyAction::kIsolateLink;
  plan.state = PlanState::kFailed;
  EXPECT_FALSE(at(link.low).has_may_hold());
  plan.unresolved = true;
  EXPECT_EQ(at(link.low).may_hold().plan_id(), "PLAN-7");
  EXPECT_FALSE(at(link.low).has_hold());
  EXPECT_EQ(at(link.low).plan_id(), "");
  plan.in_force = true;
  EXPECT_FALSE(at(link.low).has_may_hold()) << "that is known to hold it, as far as anything is";
  EXPECT_EQ(at(link.low).plan_id(), "PLAN-7");
  plan.in_force = false;
  plan.action = RemedyAction::kRaiseLinkCost;
  EXPECT_FALSE(at(link.low).has_may_hold()) << "it disables nothing";
}

TEST_F(LinkLists, TellWhichPlanReturnsALinkAndWhichTookItOut) {
  const auto add = [this](std::uint64_t id, RemedyAction action, PlanState state, std::uint64_t undoes) {
    Plan& plan = plans.emplace_back();
    plan.id = id;
    plan.target = {
        .kind = EntityKind::kLink, .fabric = fabric.name(), .port = link.low, .peer = link.high, .label = ""};
    plan.action = action;
    plan.state = state;
    plan.undoes = undoes;
  };
  add(1, RemedyAction::kIsolateLink, PlanState::kCommitted, 0);
  add(3, RemedyAction::kRestoreLink, PlanState::kVerifying, 1);
  EXPECT_FALSE(at(link.low).has_hold()) << "it is given back";
  EXPECT_EQ(at(link.low).returning().plan_id(), "PLAN-3");
  EXPECT_EQ(at(link.low).returning().action(), "RESTORE_LINK");
  EXPECT_EQ(at(link.low).returning().state(), "VERIFYING");
  plans.back().state = PlanState::kRolledBack;
  EXPECT_FALSE(at(link.low).has_returning()) << "it is over, and holds nothing";
  plans.back().in_force = true;
  EXPECT_EQ(at(link.low).plan_id(), "PLAN-1") << "that one took it out; PLAN-3 only failed to bring it back";
  EXPECT_EQ(at(link.low).hold().plan_id(), "PLAN-1");
  EXPECT_EQ(at(link.low).returning().plan_id(), "PLAN-3");
  add(5, RemedyAction::kRestoreLink, PlanState::kApproved, 3);
  EXPECT_EQ(at(link.low).plan_id(), "PLAN-1");
  EXPECT_EQ(at(link.low).returning().plan_id(), "PLAN-5");
  plans.erase(plans.begin());
  EXPECT_EQ(at(link.low).plan_id(), "PLAN-3") << "the one before is forgotten";
}

TEST_F(LinkLists, NodesTellWhichPlanDrainedTheirHost) {
  Plan& plan = plans.emplace_back();
  plan.id = 8;
  plan.target = {.kind = EntityKind::kHost, .fabric = {}, .port = {}, .peer = {}, .label = "host-0-0"};
  plan.target.host = "Host-0-0.example.org";
  plan.action = RemedyAction::kDrainNode;
  plan.state = PlanState::kVerifying;
  plan.in_force = true;
  const Snapshot snapshot = taken();
  const auto nodes = list_nodes(snapshot, {});
  ASSERT_TRUE(nodes);
  std::vector<std::string> held;
  for (const v1::Node& node : nodes->nodes())
    if (node.has_hold()) held.push_back(node.host() + ' ' + node.hold().plan_id() + ' ' + node.hold().state());
  EXPECT_EQ(held, std::vector<std::string>{"host-0-0 PLAN-8 VERIFYING"});
  const auto node = get_node(snapshot, "host-0-0 mlx5_0", fabric.now());
  ASSERT_TRUE(node);
  EXPECT_EQ(node->nodes(0).hold().action(), "DRAIN_NODE");
  TopologyParts parts(std::make_shared<const Snapshot>(snapshot), fabric.name(), fabric.now(), 0);
  v1::Topology part, all;
  while (*parts.next(part)) all.MergeFrom(part);
  EXPECT_EQ(std::ranges::count_if(all.nodes(), [](const v1::Node& each) { return each.has_hold(); }), 1);
}

TEST(UnknownNodes, AreNotKnownYetBeforeTheFirstSweep) {
  Snapshot snapshot;
  snapshot.fabrics.emplace_back().name = "ib0";
  v1::ListPortsRequest ports;
  ports.set_node("gpu-1");
  const auto expect = [&](const Error& error) {
    EXPECT_EQ(error.message, "gpu-1 is not known yet: the first sweep of the fabric is not complete");
    EXPECT_EQ(error.code, ErrorCode::kNotFound);
  };
  expect(get_node(snapshot, "gpu-1", kNever).error());
  expect(list_ports(snapshot, ports, kNever).error());
  expect(get_health(snapshot, "gpu-1").error());
  snapshot.site = std::make_shared<const Site>();
  EXPECT_EQ(get_health(snapshot, "gpu-1").error().code, ErrorCode::kNotFound) << "another shard may know it";
  snapshot.site = nullptr;
  snapshot.watches_subnets = false;
  snapshot.fabrics.clear();
  EXPECT_EQ(get_health(snapshot, "gpu-1").error().message, "no node named gpu-1");
}

TEST_F(LinkLists, TellWhichAreDisabled) {
  EXPECT_FALSE(at(link.low).disabled());
  fabric.unlink(end);
  EXPECT_FALSE(at(link.low).disabled()) << "only down";
  fabric.port(end).physical_state = PortPhysicalState::kDisabled;
  EXPECT_TRUE(at(link.low).disabled());
  EXPECT_TRUE(at(link.low).has_b());
}

TEST_F(LinkLists, HaveTheOneEndOfALinkThatWasDisabledBeforeItsDiscovery) {
  fabric.unlink(end);
  const int before = list().links_size();
  const PortKey key = fabric.key_of(end);
  fabric.port(end).physical_state = PortPhysicalState::kDisabled;
  fabric.rediscover();
  EXPECT_EQ(list().links_size(), before);
  const v1::Link half = at(key);
  EXPECT_EQ(half.a().port(), key.port.value);
  EXPECT_FALSE(half.has_b());
  EXPECT_FALSE(half.up());
  EXPECT_TRUE(half.disabled());
}

}  // namespace
}  // namespace weft::api
