// SPDX-License-Identifier: Apache-2.0
// Ports of hosts that failed while nobody led, or before weftd was started: what is known of how they were.
#include <gtest/gtest.h>

#include "tests/unit/analyzer/host_watching.hpp"
#include "tests/unit/analyzer/ports/found_hosts.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// A weftd that is started now, and was told what the one before it stored.
HostWatching restarted(const HostWatching& before) {
  HostWatching after(static_cast<unsigned>(before.names.size()));
  after.now = before.now + 10s;
  after.inventories = before.inventories;
  after.values = before.values;
  for (const std::string& name : before.names) after.analyzer.restore_ports(name, before.analyzer.ports_seen(name));
  return after;
}

TEST(HostHistory, APortThatWasUpInWhatWaitedIsDown) {
  HostWatching watching;
  watching.read(0, true);
  watching.judge();
  watching.set_up(false);
  watching.now += 1s;
  watching.read(0, true);
  watching.judge();
  EXPECT_TRUE(watching.book.all()->empty()) << "history opens nothing";
  watching.seconds(3);
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDown});
  EXPECT_TRUE(watching.analyzer.flaps("node-0").empty()) << "no more than what was counted";
}

TEST(HostHistory, AnEventThatWaitedSaysThatItsPortWasUp) {
  HostWatching watching;
  watching.set_up(false);
  watching.read(0, true);
  watching.event(false, 0, false, true);
  EXPECT_TRUE(watching.book.all()->empty());
  watching.seconds(3);
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDown});
}

TEST(HostHistory, WhatIsOverOpensNothing) {
  HostWatching watching;
  watching.read(0, true);
  watching.set_up(false);
  watching.event(false, 0, false, true);
  watching.read(0, true);
  watching.now += 5s;
  watching.event(true, 0, false, true);
  watching.set_up(true);
  watching.seconds(20);
  EXPECT_TRUE(watching.book.all()->empty());
}

TEST(HostHistory, APortThatWasNeverUpOrLongAgoOrIsSetDownIsNoTrouble) {
  HostWatching watching(3);
  watching.set_up(false, 0);
  for (unsigned host = 0; host < 3; ++host) watching.read(host, true);
  watching.port(1).administratively_down = true;
  watching.set_up(false, 1);
  watching.set_up(false, 2);
  watching.read(0, true);
  // What host 2 told is two days old, and its collector was heard just now.
  watching.now += 48h;
  watching.read(2, true);
  HostWatching other;
  other.now -= 48h;
  HostBatch old;
  old.is_late = true;
  old.reading.emplace();
  old.reading->taken = other.now;
  old.reading->inventory = other.inventories[0];
  old.reading->values = other.values[0];
  old.reading->present.assign(other.values[0].size(), 1);
  other.now += 48h;
  other.analyzer.hear("node-0", 1s, other.now);
  other.analyzer.take("node-0", old);
  other.set_up(false);
  other.seconds(5);
  EXPECT_TRUE(other.book.all()->empty());
  watching.silent[2] = 1;
  watching.seconds(3);
  EXPECT_TRUE(watching.book.all()->empty());
}

TEST(HostHistory, OneGoingDownThatWaitedIsOneFlap) {
  HostWatching watching;
  watching.seconds(3);
  watching.now += 20s;
  watching.event(false, 0, false, true);
  watching.set_up(false);
  watching.seconds(3);
  const auto flaps = watching.analyzer.flaps("node-0");
  ASSERT_EQ(flaps.size(), 1U);
  EXPECT_EQ(flaps.front().state.flaps, 1U);
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDown});
}

TEST(HostHistory, APortThatWasUpBeforeARestartIsMissedAndOneThatWasNotIsNot) {
  HostWatching before(2);
  before.set_up(false, 1);
  before.seconds(3);
  HostWatching after = restarted(before);
  after.set_up(false, 0);
  after.seconds(3);
  ASSERT_EQ(after.kinds(), Kinds{IncidentKind::kLinkDown});
  EXPECT_EQ(after.open().front().finding.cause.host, "node-0");
  EXPECT_TRUE(after.analyzer.flaps("node-0").empty());
  HostWatching well = restarted(before);
  well.seconds(5);
  EXPECT_TRUE(well.book.all()->empty());
}

TEST(HostHistory, ADeviceThatWentWhileWeftdWasAwayIsMissedForADayAndARenamedOneIsNot) {
  HostWatching before(2);
  before.seconds(3);
  HostWatching after = restarted(before);
  after.port(1).device = "rocep1";
  after.inventories[0] = std::make_shared<HostInventory>();
  after.values[0].clear();
  after.seconds(5);
  ASSERT_EQ(after.kinds(), Kinds{IncidentKind::kLinkDown});
  EXPECT_EQ(after.open().front().finding.cause.label, "node-0 mlx5_0 port 1 (eth0)");
  const std::uint64_t revision = after.analyzer.seen_revision("node-0");
  EXPECT_EQ(after.analyzer.ports_seen("node-1").front().device, "rocep1");
  after.now += 25h;
  after.seconds(20);
  EXPECT_TRUE(after.open().empty());
  EXPECT_TRUE(after.analyzer.ports_seen("node-0").empty());
  EXPECT_NE(after.analyzer.seen_revision("node-0"), revision) << "it is to be stored that it is forgotten";
}

TEST(HostHistory, TheRateOfBeforeTellsWhichPortsAreForManagement) {
  HostWatching before;
  auto two = std::make_shared<HostInventory>(*before.inventory);
  HostPort second = two->ports.front();
  second.device = second.netdev = "eno1";
  second.number = 0;
  second.rate_bits_per_second = 1'000'000'000;
  two->ports.push_back(second);
  before.inventories[0] = two;
  before.seconds(3);
  HostWatching after = restarted(before);
  after.port().rate_bits_per_second = 0;
  after.set_up(false);
  after.seconds(3);
  ASSERT_EQ(after.kinds(), Kinds{IncidentKind::kLinkDown});
  EXPECT_EQ(after.open().front().finding.summary,
            "Link at node-0 mlx5_0 port 1 (eth0) is down; it is the only link of node-0; it hurts job slurm:0");
}

TEST(HostHistory, OnlyNewsOfPortsIsToBeStored) {
  HostWatching watching;
  EXPECT_EQ(watching.analyzer.seen_revision("node-0"), 0U);
  watching.seconds(3);
  const std::uint64_t revision = watching.analyzer.seen_revision("node-0");
  EXPECT_NE(revision, 0U);
  watching.set_up(false);
  watching.seconds(3);
  watching.set_up(true);
  watching.seconds(3);
  EXPECT_EQ(watching.analyzer.seen_revision("node-0"), revision);
}

HostInventory one_adapter(const char* device, std::uint64_t guid, const char* netdev = "", bool up = true) {
  HostInventory inventory;
  HostPort& port = inventory.ports.emplace_back();
  port.device = device;
  port.number = 1;
  port.netdev = netdev;
  port.port_guid = PortGuid{guid};
  port.state = up ? PortState::kActive : PortState::kDown;
  port.rate_bits_per_second = 400'000'000'000;
  return inventory;
}
HostInventory both(HostInventory a, const HostInventory& b) {
  a.ports.insert(a.ports.end(), b.ports.begin(), b.ports.end());
  return a;
}
void set(HostWatching& watching, HostInventory inventory) {
  watching.inventories[0] = std::make_shared<HostInventory>(std::move(inventory));
  watching.values[0].clear();
}

/// All hosts of a fabric that was found, and what is open of them.
struct FoundPorts : FoundHosts {
  void seconds(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      FabricView view;
      view.name = "ethernet";
      view.watching = true;
      view.sweep = std::make_shared<const Sweep>(step());
      hear(rules);
      rules.join(std::vector{view});
      judge(rules);
    }
  }
  void hear(HostAnalyzer& by) {
    for (auto& [name, host] : told.hosts) {
      HostBatch batch;
      batch.reading = *host.view().reading;
      by.hear(name, ToldFabric::kSecond, told.now);
      by.take(name, batch);
    }
  }
  void judge(HostAnalyzer& by) {
    Analysis judged = by.judge(told.now);
    book.update(kHostsFabric, std::move(judged.findings), judged.coverage, told.now);
  }

  HostAnalyzer rules{Thresholds{}, told.now};
  IncidentManager book{IncidentPolicy{}, {}, 1};
};

TEST(HostHistory, APortWhoseCableLeadsElsewhereNowIsNotMissedAfterARestart) {
  FoundPorts found;
  ToldHost& leaf = found.told.add(found.plan, "leaf01");
  found.seconds(70);
  auto& cable = found.neighbours.cables.front();  // leaf01 swp1 to gpu-01 eth2
  found.neighbours.ports.push_back(cable.first);
  cable.first = {"leaf02", "swp9"};
  leaf.port(0).state = PortState::kDown;
  found.seconds(70);
  EXPECT_TRUE(found.book.all()->empty()) << describe_incidents(found.book);
  // The fabric of the next process has cables alone: that port is not on it.
  HostAnalyzer after(Thresholds{}, found.told.now);
  for (const auto& [name, host] : found.told.hosts) after.restore_ports(name, found.rules.ports_seen(name));
  leaf.port(1).state = PortState::kDown;
  for (int i = 0; i < 5; ++i) {
    found.step();
    found.hear(after);
    found.judge(after);
  }
  EXPECT_EQ(only_incident(found.book).finding.cause.label, "leaf01 swp2") << describe_incidents(found.book);
}

// What was up before a restart, what is there after it, and what is missed.
struct Renamed {
  const char* what;
  HostInventory before, after;
  const char* missed;
};

TEST(HostHistory, PortsAreKnownByTheirGuids) {
  const std::vector<Renamed> cases{
      {"an IPoIB interface before and after", one_adapter("mlx5_0", 0xB0, "ib0"),
       one_adapter("ibp26s0", 0xB0, "ibp26s0"), ""},
      {"one without a cable gets the name of the other",
       both(one_adapter("mlx5_0", 0xA0), one_adapter("mlx5_1", 0xA1, "", false)),
       both(one_adapter("mlx5_0", 0xA1, "", false), one_adapter("mlx5_1", 0xA0)), ""},
      {"two exchange their names", both(one_adapter("mlx5_0", 0xA0), one_adapter("mlx5_1", 0xA1)),
       both(one_adapter("mlx5_0", 0xA1), one_adapter("mlx5_1", 0xA0)), ""},
      {"the first is gone, and the second has its name", both(one_adapter("mlx5_0", 0xA0), one_adapter("mlx5_1", 0xA1)),
       one_adapter("mlx5_0", 0xA1),
       "Link at node-0 0x00000000000000a0 port 1 is down: the device is gone; 1 of 2 links of node-0 is up; it hurts "
       "job slurm:0"},
      {"a new adapter in the same place", one_adapter("mlx5_0", 0xA0), one_adapter("mlx5_0", 0xA9), ""},
      {"a new adapter that does not come up", one_adapter("mlx5_0", 0xA0), one_adapter("mlx5_0", 0xA9, "", false),
       "Link at node-0 mlx5_0 port 1 is down; it is the only link of node-0; it hurts job slurm:0"},
  };
  for (const Renamed& each : cases)
    for (const bool restart : {false, true}) {
      HostWatching before;
      set(before, each.before);
      before.seconds(3);
      HostWatching after = restart ? restarted(before) : std::move(before);
      set(after, each.after);
      after.seconds(5);
      EXPECT_EQ(after.open().empty() ? "" : after.open().front().finding.summary, each.missed)
          << each.what << (restart ? ", over a restart" : "");
      EXPECT_LE(after.open().size(), 1U) << each.what;
    }
}

TEST(HostHistory, AnAdapterInThePlaceOfAnotherHasItsOwnRate) {
  HostWatching before;
  set(before, both(one_adapter("mlx5_0", 0xA0), one_adapter("mlx5_1", 0xA1)));
  before.seconds(3);
  HostWatching after = restarted(before);
  HostInventory slower = both(one_adapter("mlx5_0", 0xA8), one_adapter("mlx5_1", 0xA9));
  for (HostPort& port : slower.ports) port.rate_bits_per_second = 100'000'000'000;
  set(after, slower);
  after.seconds(3);
  slower.ports.front().state = PortState::kDown;
  slower.ports.front().rate_bits_per_second = 0;
  set(after, slower);
  after.seconds(3);
  ASSERT_EQ(after.kinds(), Kinds{IncidentKind::kLinkDown});
  EXPECT_EQ(after.open().front().finding.summary,
            "Link at node-0 mlx5_0 port 1 is down; 1 of 2 links of node-0 is up; it hurts job slurm:0");
}

TEST(HostHistory, WhatSomebodySetDownIsNotMissedWhenItsDeviceIsGone) {
  for (const bool late : {false, true}) {
    HostWatching before;
    before.seconds(3);
    before.port().administratively_down = true;
    before.set_up(false);
    before.now += 1s;
    before.read(0, late);
    HostWatching after = restarted(before);
    for (HostWatching* each : {&before, &after}) {
      each->inventories[0] = std::make_shared<HostInventory>();
      each->values[0].clear();
      each->seconds(5);
      EXPECT_TRUE(each->book.all()->empty()) << late;
    }
  }
}

TEST(HostHistory, WhatWaitedOnACopiedDiskIsOfAnotherHost) {
  for (const bool is_copied : {true, false})
    for (const bool its_own_waited_too : {true, false}) {
      HostWatching watching;
      set(watching, both(one_adapter("mlx5_0", 0xA0), one_adapter("mlx5_1", 0xA1)));
      watching.read(0, true);
      set(watching, one_adapter("mlx5_0", is_copied ? 0xC0 : 0xA0));
      if (its_own_waited_too) watching.read(0, true);
      watching.seconds(5);
      EXPECT_EQ(watching.book.all()->empty(), is_copied) << describe_incidents(watching.book);
    }
}

TEST(HostHistory, APortThatFlappedHasItsName) {
  HostWatching before;
  before.seconds(3);
  HostWatching after(1);
  after.now = before.now + 10s;
  HostFlapState flap;
  flap.device = "mlx5_0";
  flap.port = 1;
  after.analyzer.restore("node-0", std::vector{flap});
  after.analyzer.restore_ports("node-0", before.analyzer.ports_seen("node-0"));
  after.inventories[0] = std::make_shared<HostInventory>();
  after.values[0].clear();
  after.seconds(5);
  ASSERT_EQ(after.kinds(), Kinds{IncidentKind::kLinkDown});
  EXPECT_EQ(after.open().front().finding.cause.label, "node-0 mlx5_0 port 1 (eth0)");
}

KnownSubnet subnet_of_one(NodeGuid adapter, bool is_swept) {
  return {.name = "ib0",
          .host_links = std::make_shared<std::vector<KnownLink>>(
              std::vector{KnownLink{.key = make_link_key({NodeGuid{0x10}, PortNum{3}}, {adapter, PortNum{1}}),
                                    .low = {"leaf-1", NodeType::kSwitch},
                                    .high = {"node-0 mlx5_0", NodeType::kChannelAdapter}}}),
          .sight = is_swept ? SubnetSight::kSwept : SubnetSight::kUnswept};
}

// Their links are in the ledger of the subnet: its sweeps tell that they are down, and where nobody sweeps collectors.
TEST(HostHistory, PortsThatSweepsCoverAreToldByThese) {
  for (const bool is_gone : {false, true}) {
    HostWatching before;
    HostInventory inventory = one_adapter("mlx5_0", 0xA1);
    inventory.ports.front().node_guid = NodeGuid{0xA0};
    inventory.ports.front().link_layer = LinkLayer::kInfiniBand;
    set(before, inventory);
    before.seconds(3);
    for (const auto& [adapter, is_swept] :
         {std::pair{NodeGuid{0xA0}, true}, {NodeGuid{0xA0}, false}, {NodeGuid{0xB0}, true}}) {
      HostWatching after = restarted(before);
      after.analyzer.set_known({subnet_of_one(adapter, is_swept)});
      inventory.ports.front().state = PortState::kDown;
      set(after, is_gone ? HostInventory{} : inventory);
      after.seconds(5);
      const bool is_known = adapter == NodeGuid{0xA0};
      EXPECT_EQ(after.book.all()->empty(), is_known && is_swept) << is_gone << describe_incidents(after.book);
      if (!is_known || is_swept) continue;
      // As the sweeps name it.
      ASSERT_EQ(after.kinds(), Kinds{IncidentKind::kLinkDown});
      EXPECT_EQ(after.open().front().finding.cause.label, "leaf-1 port 3 - node-0 mlx5_0 port 1");
      EXPECT_EQ(after.open().front().finding.cause.fabric, "ib0");
      inventory.ports.front().state = PortState::kActive;
      set(after, inventory);
      after.seconds(120);
      EXPECT_EQ(after.kinds(), Kinds{}) << describe_incidents(after.book);
    }
  }
}

}  // namespace
}  // namespace weft::analyzer
