// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/found_fabric.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "analyzer/ports/named_plan.hpp"
#include "tests/unit/analyzer/ports/found_hosts.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

std::set<std::string> links_of(const Topology& topology) {
  std::set<std::string> links;
  for (PortIndex i = 0; i < topology.ports().size(); ++i) {
    const PortIndex peer = topology.port(i).peer;
    if (peer == kNoIndex) continue;
    const std::string a = port_label(topology, i), b = port_label(topology, peer);
    links.insert(std::min(a, b) + " - " + std::max(a, b));
  }
  return links;
}

std::set<std::string> links_of(const ToldNeighbours& told) {
  std::set<std::string> links;
  for (const auto& [one, other] : told.cables) {
    const std::string a = one.system + ' ' + one.name, b = other.system + ' ' + other.name;
    links.insert(std::min(a, b) + " - " + std::max(a, b));
  }
  return links;
}

std::string unclear_of(const FoundFabric& fabric) {
  std::string text;
  for (const UnclearNeighbour& one : fabric.cabling()->unclear) text += one.where + ": " + one.why + '\n';
  return text;
}

struct FoundFabricTest : ::testing::Test {
  FoundFabric fabric{{.switch_port_pattern = "^(swp|Ethernet)", .ignored_interfaces = "^mgmt"}};
  TimePoint now{1'700'000'000s};

  bool update(const ToldNeighbours& told) {
    now += 1s;
    return fabric.update(told.tellers(), now);
  }
  std::set<std::string> links() const { return links_of(*fabric.topology()); }
  PortKey key(const std::string& label) const {
    const Topology& topology = *fabric.topology();
    for (PortIndex i = 0; i < topology.ports().size(); ++i)
      if (port_label(topology, i) == label) return topology.key_of(i);
    ADD_FAILURE() << "no port " << label;
    return {};
  }
  std::vector<KnownLink> known() const {
    std::vector<KnownLink> links;
    const Topology& topology = *fabric.topology();
    const auto end = [&](PortIndex i) {
      const Node& node = topology.node_of(topology.port(i));
      return KnownEnd{node.name, node.type, std::string(topology.port_name(i))};
    };
    for (PortIndex i = 0; i < topology.ports().size(); ++i) {
      const PortIndex peer = topology.port(i).peer;
      if (peer == kNoIndex || topology.key_of(peer) < topology.key_of(i)) continue;
      links.push_back({make_link_key(topology.key_of(i), topology.key_of(peer)), end(i), end(peer)});
    }
    return links;
  }
};

TEST_F(FoundFabricTest, BothEndsTellACableAndItIsOne) {
  const ToldNeighbours told = ToldNeighbours::leaf_spine();
  EXPECT_TRUE(update(told));
  EXPECT_EQ(links(), links_of(told));
  EXPECT_EQ(fabric.topology()->nodes().size(), 8U);
  EXPECT_EQ(fabric.bindings().size(), 16U);
  EXPECT_EQ(fabric.cabling()->cables, 8U);
  EXPECT_TRUE(fabric.cabling()->unclear.empty()) << unclear_of(fabric);
  EXPECT_TRUE(fabric.cabling()->old.empty());
  EXPECT_TRUE(Topology::validate(fabric.topology()->nodes(), fabric.topology()->ports()).empty());
  EXPECT_FALSE(update(told));
}

TEST_F(FoundFabricTest, ACableIsToldByOneEndAlone) {
  ToldNeighbours told = ToldNeighbours::leaf_spine();
  for (const char* silent : {"leaf01", "leaf02", "spine01", "spine02"}) told.silent.emplace_back(silent);
  told.cables.resize(4);  // nobody tells those between switches
  update(told);
  EXPECT_EQ(links(), links_of(told));
  EXPECT_EQ(fabric.bindings().size(), 4U);
}

TEST_F(FoundFabricTest, PortsAreBroughtTogetherWhateverTheirIdsAreMadeOf) {
  for (const PortIdType type :
       {PortIdType::kMac, PortIdType::kInterfaceName, PortIdType::kInterfaceAlias, PortIdType::kLocal}) {
    FoundFabric other{{.switch_port_pattern = "^swp", .ignored_interfaces = ""}};
    ToldNeighbours told = ToldNeighbours::leaf_spine();
    for (const char* system : {"leaf01", "leaf02", "spine01"}) told.id_types[system] = type;
    told.silent = {"leaf02"};
    other.update(told.tellers(), now);
    EXPECT_EQ(links_of(*other.topology()), links_of(told)) << to_string(type);
    told.silent.clear();
    other.update(told.tellers(), now + 1s);
    EXPECT_EQ(links_of(*other.topology()), links_of(told)) << to_string(type);
  }
}

TEST_F(FoundFabricTest, OfSwitchesThatAreReadFromOutsideTheDescriptionNamesThePort) {
  for (const PortIdType type : {PortIdType::kMac, PortIdType::kInterfaceName, PortIdType::kLocal}) {
    FoundFabric other{{.switch_port_pattern = "^swp", .ignored_interfaces = ""}};
    ToldNeighbours told = ToldNeighbours::leaf_spine();
    for (const char* system : {"leaf01", "leaf02", "spine01", "spine02"}) {
      told.id_types[system] = type;
      told.from_outside.emplace_back(system);
    }
    other.update(told.tellers(), now);
    EXPECT_EQ(links_of(*other.topology()), links_of(told)) << to_string(type);
    EXPECT_TRUE(other.cabling()->unclear.empty()) << unclear_of(other);
    // Without a word from the other side a description is no more than a text.
    told.forgetful = {"spine01"};
    FoundFabric half{{.switch_port_pattern = "^swp", .ignored_interfaces = ""}};
    half.update(told.tellers(), now);
    EXPECT_EQ(half.cabling()->unclear.size(), type == PortIdType::kInterfaceName ? 0U : 2U) << unclear_of(half);
  }
}

TEST_F(FoundFabricTest, WhoTellsNothingHasPulledNothing) {
  ToldNeighbours told = ToldNeighbours::leaf_spine();
  update(told);
  told.forgetful = {"leaf01", "gpu-01"};
  EXPECT_FALSE(update(told));
  EXPECT_EQ(links(), links_of(told));
  ASSERT_EQ(fabric.cabling()->old.size(), 1U);
  EXPECT_EQ(fabric.cabling()->old[0].a, "gpu-01 eth1");
  EXPECT_EQ(fabric.cabling()->old[0].told, now - 1s);
  told.silent = {"leaf01", "gpu-01"};
  EXPECT_EQ(links(), links_of(told));
  told.forgetful.clear();
  told.silent.clear();
  update(told);
  EXPECT_TRUE(fabric.cabling()->old.empty());
}

TEST_F(FoundFabricTest, ACableThatIsMovedLeadsElsewhereAndItsPortsKeepTheirNumbers) {
  ToldNeighbours told = ToldNeighbours::leaf_spine();
  update(told);
  const PortKey leaf = key("leaf01 swp2"), host = key("gpu-01 eth1");
  told.cables[0].first = {"leaf02", "swp7"};
  EXPECT_TRUE(update(told));
  EXPECT_EQ(links(), links_of(told));
  EXPECT_EQ(key("leaf01 swp2"), leaf);
  EXPECT_EQ(key("gpu-01 eth1"), host);
  EXPECT_EQ(unclear_of(fabric), "");
}

TEST_F(FoundFabricTest, CablesThatAreCrossedAreSeenCrossed) {
  ToldNeighbours told = ToldNeighbours::leaf_spine();
  update(told);
  std::swap(told.cables[0].first, told.cables[3].first);
  EXPECT_TRUE(update(told));
  EXPECT_EQ(links(), links_of(told));
}

TEST_F(FoundFabricTest, WhatSomebodySaidBeforeHeFellSilentTakesNoCableAway) {
  ToldNeighbours told = ToldNeighbours::leaf_spine();
  update(told);
  ToldNeighbours moved = told;
  moved.cables[0].first = {"leaf02", "swp7"};
  // Nobody could read leaf01 since before the cable was moved.
  std::vector<NeighbourTeller> tellers = moved.tellers();
  for (NeighbourTeller& teller : tellers)
    if (teller.name == "leaf01") teller = told.tellers()[4], teller.is_fresh = false;
  ASSERT_EQ(told.tellers()[4].name, "leaf01");
  fabric.update(tellers, now + 1s);
  fabric.update(tellers, now + 2s);
  EXPECT_EQ(links(), links_of(moved));
}

TEST_F(FoundFabricTest, ANameIsNoIdentity) {
  ToldNeighbours told = ToldNeighbours::leaf_spine();
  told.silent = {"leaf01", "leaf02"};
  told.claimed = {{"leaf02", "leaf01"}};
  update(told);
  EXPECT_EQ(fabric.topology()->nodes().size(), 8U);
  EXPECT_TRUE(unclear_of(fabric).starts_with("leaf01: another system, mac chassis of leaf0")) << unclear_of(fabric);
  // Nor may anybody have that of a collector.
  told = ToldNeighbours::leaf_spine();
  told.cables.push_back({{"leaf01", "swp9"}, {"evil", "eth0"}});
  told.silent = {"evil"};
  told.claimed = {{"evil", "gpu-03"}};
  FoundFabric other{{.switch_port_pattern = "^swp", .ignored_interfaces = ""}};
  other.update(told.tellers(), now);
  EXPECT_TRUE(links_of(*other.topology()).contains("chassis_of_evil eth0 - leaf01 swp9"));
  EXPECT_EQ(unclear_of(other),
            "gpu-03: it says the name of a collector, which does not confirm that this is its system\n");
}

TEST_F(FoundFabricTest, ANameGoesToTheCollectorThatHasIt) {
  ToldNeighbours told = ToldNeighbours::leaf_spine();
  told.cables.push_back({{"leaf01", "swp9"}, {"evil", "eth0"}});
  told.claimed = {{"evil", "gpu-03"}};
  told.silent = {"evil", "gpu-03", "leaf02"};
  update(told);
  EXPECT_TRUE(links().contains("gpu-03 eth0 - leaf01 swp9"));
  told.silent = {"evil"};
  update(told);
  EXPECT_TRUE(links().contains("chassis_of_evil eth0 - leaf01 swp9"));
  EXPECT_TRUE(links().contains("gpu-03 eth1 - leaf02 swp1"));
}

TEST_F(FoundFabricTest, WhatIsFoundAfterARestartHasTheSameNumbers) {
  ToldNeighbours told = ToldNeighbours::leaf_spine();
  update(told);
  told.cables.push_back({{"leaf01", "swp1s1"}, {"gpu-05", "eth1"}});
  update(told);
  const PortKey late = key("leaf01 swp1s1"), early = key("leaf01 swp52");
  const std::vector<KnownLink> kept = known();
  fabric = FoundFabric({.switch_port_pattern = "^swp", .ignored_interfaces = ""});
  fabric.restore(kept);
  EXPECT_EQ(links(), links_of(told));
  EXPECT_EQ(fabric.cabling()->old.size(), 9U);
  ToldNeighbours deaf = told;
  for (const NeighbourTeller& teller : told.tellers()) deaf.forgetful.push_back(teller.name);
  update(deaf);
  EXPECT_EQ(links(), links_of(told));
  EXPECT_EQ(fabric.bindings().size(), 18U);  // who hears nobody still reads his ports
  ToldNeighbours part = told;
  part.silent = {"leaf01", "gpu-02", "spine01"};
  update(part);
  EXPECT_EQ(links(), links_of(told));
  update(told);
  EXPECT_EQ(links(), links_of(told));
  EXPECT_EQ(key("leaf01 swp1s1"), late);
  EXPECT_EQ(key("leaf01 swp52"), early);
  EXPECT_TRUE(fabric.cabling()->old.empty());
}

TEST_F(FoundFabricTest, ANeighbourWhoIsSomebodyElseEachTimeIsNotBelievedForLong) {
  ToldNeighbours told = ToldNeighbours::leaf_spine();
  told.silent = {"evil"};
  for (int i = 0; i < 200; ++i) {
    ToldNeighbours now_told = told;
    now_told.cables.push_back({{"leaf01", "swp9"}, {"evil" + std::to_string(i), "eth0"}});
    now_told.silent = {"evil" + std::to_string(i)};
    update(now_told);
    EXPECT_LE(fabric.topology()->nodes().size(), 9U);
  }
  EXPECT_EQ(unclear_of(fabric), "leaf01 swp9: its neighbour changes again and again, and does not hear it\n");
}

TEST_F(FoundFabricTest, OfSeveralNeighboursTheOneCountsThatHearsUs) {
  const ToldNeighbours told = ToldNeighbours::leaf_spine();
  std::vector<NeighbourTeller> tellers = told.tellers();
  for (NeighbourTeller& teller : tellers) {
    if (teller.name != "leaf01") continue;
    NeighbourTable table = *teller.table;
    Neighbour firmware;  // an adapter that speaks LLDP itself
    firmware.chassis = {ChassisIdType::kMac, "02:99"};
    firmware.port = {PortIdType::kMac, "mac of eth1"};
    for (NeighbourPort& port : table.ports) port.neighbours.push_back(firmware);
    teller.table = std::make_shared<const NeighbourTable>(tidy(std::move(table)));
  }
  fabric.update(tellers, now);
  EXPECT_EQ(links(), links_of(told));
  EXPECT_EQ(unclear_of(fabric), "");
}

TEST_F(FoundFabricTest, TwoTellersWithOneChassisIdAreListedAndNotMixed) {
  ToldNeighbours told = ToldNeighbours::leaf_spine();
  std::vector<NeighbourTeller> tellers = told.tellers();
  NeighbourTable twin = *tellers[1].table;
  twin.chassis = tellers[0].table->chassis;
  tellers[1].table = std::make_shared<const NeighbourTable>(twin);
  fabric.update(tellers, now);
  EXPECT_TRUE(unclear_of(fabric).find("more than one system tells this chassis id") != std::string::npos)
      << unclear_of(fabric);
}

TEST_F(FoundFabricTest, ManagementPortsDoNotCount) {
  ToldNeighbours told = ToldNeighbours::leaf_spine();
  const std::set<std::string> fabric_links = links_of(told);
  told.cables.push_back({{"leaf01", "eth0"}, {"console", "Gi1"}});
  told.cables.push_back({{"gpu-01", "mgmt0"}, {"console", "Gi2"}});
  told.silent = {"console"};
  update(told);
  EXPECT_EQ(links(), fabric_links);
}

TEST_F(FoundFabricTest, APlanIsComparedByNames) {
  ToldNeighbours told = ToldNeighbours::leaf_spine();
  update(told);
  CablePlan plan;
  plan.nodes = {{"leaf01", true}, {"gpu-01", false}, {"leaf09", true}};
  plan.cables = {{{0, "swp1"}, {1, "eth1"}}, {{0, "swp60"}, {2, "swp1"}}};
  const PlanOnSubnet placed = plan_on_ethernet(plan, *fabric.topology());
  EXPECT_TRUE(placed.ignored.empty());
  EXPECT_EQ(Topology::validate(placed.topology->nodes(), placed.topology->ports()), "");
  const PortIndex at = placed.topology->find_port(key("leaf01 swp1"));
  ASSERT_NE(at, kNoIndex);
  EXPECT_EQ(placed.topology->key_of(placed.topology->port(at).peer), key("gpu-01 eth1"));
  EXPECT_TRUE(links_of(*placed.topology).contains("leaf01 swp60 - leaf09 swp1"));
}

struct FoundOfHosts : ::testing::Test, FoundHosts {};

TEST_F(FoundOfHosts, StatesAndCountersAreThoseOfWhoeverTellsTheChassis) {
  neighbours.silent = {"leaf01", "leaf02", "spine01", "spine02"};
  Sweep sweep = step();
  EXPECT_EQ(sweep.topology->nodes().size(), 6U);  // nobody tells of the spines
  EXPECT_EQ(sweep.topology->port(index(sweep, "leaf01 swp1")).state, PortState::kActive);
  EXPECT_EQ(sweep.inferred_from_peer[index(sweep, "leaf01 swp1")], 1);
  told.host("gpu-01").port().state = PortState::kDown;
  sweep = step();
  EXPECT_EQ(sweep.topology->port(index(sweep, "gpu-01 eth2")).state, PortState::kDown);
  EXPECT_EQ(sweep.topology->port(index(sweep, "leaf01 swp1")).state, PortState::kDown);
  ASSERT_TRUE(sweep.found);
  EXPECT_EQ(sweep.found->cables, 4U);
}

TEST_F(FoundOfHosts, ANewCableChangesNothingOfTheOthers) {
  neighbours.silent = {"leaf01", "leaf02", "spine01", "spine02"};
  told.host("gpu-02").port().state = PortState::kDown;
  Sweep sweep = step();
  sweep = step();
  const PortKey down = sweep.topology->key_of(index(sweep, "gpu-02 eth2"));
  const std::uint64_t epoch = sweep.topology->epoch();
  EXPECT_EQ(step().topology->epoch(), epoch);
  neighbours.cables[0].first = {"leaf02", "swp9"};
  sweep = step();
  EXPECT_NE(sweep.topology->epoch(), epoch);
  EXPECT_EQ(sweep.topology->key_of(index(sweep, "gpu-02 eth2")), down);
  EXPECT_EQ(sweep.topology->port(index(sweep, "gpu-02 eth2")).state, PortState::kDown);
  EXPECT_EQ(sweep.topology->port(index(sweep, "leaf02 swp9")).state, PortState::kActive);
}

}  // namespace
}  // namespace weft::analyzer
