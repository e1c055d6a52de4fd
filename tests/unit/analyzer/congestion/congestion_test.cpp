// SPDX-License-Identifier: Apache-2.0
// Congestion trees on a fat tree of 4 spines and 4 leaves with 4 hosts each, judged sweep by sweep as weftd does it.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "fabric/graph/path.hpp"
#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;

class CongestionTest : public ::testing::Test {
 protected:
  explicit CongestionTest(FabricBuilder built = FabricBuilder::fat_tree(4, 4, 4)) : watch(std::move(built)) {
    watch.fabric.route();
    for (PortIndex port = 0; port < watch.fabric.ports().size(); ++port)
      if (watch.fabric.ports()[port].peer != kNoIndex) quiet[port] = {0.3, 0.01};
    loads = quiet;
    watch.sweeps(2, [this] { pass(); });
  }
  struct Load {
    double share, stall;
  };
  static std::string host(unsigned leaf, unsigned number) {
    return "host-" + std::to_string(leaf) + "-" + std::to_string(number) + " mlx5_0";
  }
  PortIndex towards(const std::string& from, const std::string& to) { return watch.fabric.port_towards(from, to); }
  void set(const std::string& from, const std::string& to, double share, double stall) {
    loads[towards(from, to)] = {share, stall};
  }
  void pass() {
    for (const auto& [port, load] : loads)
      if (watch.fabric.ports()[port].is_up()) watch.fabric.load(port, load.share, load.stall);
  }
  void run(unsigned sweeps) {
    watch.sweeps(sweeps, [this] { pass(); });
  }
  /// The spine by which `leaf` sends to `to`.
  std::string spine_for(const std::string& leaf, const std::string& to) {
    const Path way = find_path(*watch.fabric.topology(), *watch.fabric.routes(),
                               watch.fabric.nodes()[watch.fabric.find(leaf)].first_port, watch.fabric.lid_of(to));
    return watch.fabric.nodes()[watch.fabric.ports()[way.hops.front().to].node].name;
  }
  /// Hosts of other leaves send to `to`, which cannot take it: its leaf's port is `full` (or held back), and so on
  /// back.
  void tree(const std::string& to, double share, double stall) {
    set("leaf-0", to, share, stall);
    for (unsigned leaf = 1; leaf < 4; ++leaf) {
      const std::string name = "leaf-" + std::to_string(leaf);
      const std::string spine = spine_for(name, to);
      set(spine, "leaf-0", 0.4, 0.4);
      set(name, spine, 0.4, 0.4);
      for (unsigned number = 0; number < 2; ++number) set(host(leaf, number), name, 0.3, 0.5);
    }
  }
  bool affects(const Incident& incident, const std::string& name) {
    return std::ranges::any_of(incident.finding.affected, [&](const Entity& entity) { return entity.label == name; });
  }
  static const Evidence* find(const Incident& incident, const std::string& signal) {
    const auto found = std::ranges::find(incident.finding.evidence, signal, &Evidence::signal);
    return found == incident.finding.evidence.end() ? nullptr : &*found;
  }
  Watch watch;
  std::map<PortIndex, Load> quiet, loads;
};

TEST_F(CongestionTest, ManyToOneIsIncastAtTheReceiversLinkWithTheSendersAsVictims) {
  const std::string to = host(0, 1);
  tree(to, 0.97, 0.02);
  set(spine_for("leaf-1", to), "leaf-0", 0.5, 0.4);
  set(host(0, 2), "leaf-0", 0.4, 0.4);
  run(3);
  EXPECT_TRUE(watch.open().empty()) << "three windows may be a phase";
  run(1);
  const Incident incident = watch.only();
  EXPECT_EQ(incident.finding.kind, IncidentKind::kCongestionIncast);
  EXPECT_EQ(link_of(incident), watch.link("leaf-0", to));
  EXPECT_EQ(incident.finding.severity, Severity::kWarning);
  for (unsigned leaf = 1; leaf < 4; ++leaf) EXPECT_TRUE(affects(incident, host(leaf, 0))) << leaf;
  EXPECT_FALSE(affects(incident, host(1, 3))) << "who does not wait is no victim";
  ASSERT_NE(find(incident, "utilization"), nullptr);
  EXPECT_NEAR(find(incident, "utilization")->value, 0.97, 0.01);
  ASSERT_NE(find(incident, "contributor"), nullptr);
}

TEST_F(CongestionTest, ReportsTheTreeOfWaitingLinks) {
  const std::string to = host(0, 1);
  tree(to, 0.35, 0.6);
  run(5);
  const WaitingTree waiting = watch.only().finding.waiting;
  ASSERT_FALSE(waiting.links.empty());
  const auto key = [&](const std::string& from, const std::string& behind) {
    return watch.fabric.key_of(towards(from, behind));
  };
  const auto position = [&](PortKey sender) {
    const auto found =
        std::ranges::find(waiting.links, sender, [](const WaitingLink& link) { return link.sender.port; });
    return static_cast<std::uint32_t>(found - waiting.links.begin());
  };
  EXPECT_EQ(waiting.links[0].sender.port, key("leaf-0", to));
  EXPECT_EQ(waiting.links[0].towards, to + " port 1");
  EXPECT_FALSE(waiting.links[0].waits_for);
  EXPECT_NEAR(waiting.links[0].stall_ratio, 0.6, 0.01);
  EXPECT_NEAR(waiting.links[0].utilization_ratio, 0.35, 0.01);
  std::set<std::string> spines;
  for (unsigned leaf = 1; leaf < 4; ++leaf) {
    const std::string name = "leaf-" + std::to_string(leaf);
    const std::string spine = spine_for(name, to);
    spines.insert(spine);
    for (const PortKey sender : {key(spine, "leaf-0"), key(name, spine), key(host(leaf, 1), name)})
      ASSERT_LT(position(sender), waiting.links.size()) << leaf;
    EXPECT_EQ(waiting.links[position(key(spine, "leaf-0"))].waits_for, 0U);
    EXPECT_EQ(waiting.links[position(key(name, spine))].waits_for, position(key(spine, "leaf-0")));
    EXPECT_EQ(waiting.links[position(key(host(leaf, 1), name))].waits_for, position(key(name, spine)));
  }
  EXPECT_EQ(waiting.total, 3 + 6 + spines.size());
  EXPECT_EQ(waiting.links.size(), waiting.total + 1);
}

TEST_F(CongestionTest, ResolvesWhenTheTrafficEnds) {
  const std::string to = host(0, 1);
  tree(to, 0.97, 0.02);
  set(host(0, 2), "leaf-0", 0.4, 0.4);
  run(5);
  ASSERT_EQ(watch.open().size(), 1U) << watch.describe();
  loads = quiet;
  run(10);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(CongestionTest, BlamesASlowReceiverNotItsLink) {
  tree(host(0, 1), 0.35, 0.6);
  run(5);
  const Incident incident = watch.only();
  EXPECT_EQ(incident.finding.kind, IncidentKind::kSlowReceiver);
  EXPECT_EQ(incident.finding.cause.kind, EntityKind::kPort);
  EXPECT_EQ(incident.finding.cause.port, watch.fabric.key_of(watch.fabric.port_of(host(0, 1), 1)));
  EXPECT_TRUE(affects(incident, host(2, 1)));
}

TEST_F(CongestionTest, ReportsAPfcStormAtOnceWhenAHostReceivesNothing) {
  tree(host(0, 1), 0, 1);
  run(1);
  EXPECT_TRUE(watch.open().empty());
  run(1);
  const Incident incident = watch.only();
  EXPECT_EQ(incident.finding.kind, IncidentKind::kPfcStorm);
  EXPECT_EQ(incident.finding.severity, Severity::kCritical);
  EXPECT_EQ(incident.finding.cause.port, watch.fabric.key_of(watch.fabric.port_of(host(0, 1), 1)));
}

TEST_F(CongestionTest, KeepsItsKindAfterOneWindowOfAnother) {
  tree(host(0, 1), 0.35, 0.6);
  set(host(0, 2), "leaf-0", 0.4, 0.4);
  run(5);
  const Incident before = watch.only();
  tree(host(0, 1), 0.95, 0.02);
  run(4);
  EXPECT_EQ(watch.only().id, before.id);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kSlowReceiver);
  run(1);
  const auto open = watch.open();
  EXPECT_TRUE(std::ranges::any_of(open, [](const Incident& incident) {
    return incident.finding.kind == IncidentKind::kCongestionIncast;
  })) << watch.describe();
}

TEST_F(CongestionTest, AFullUplinkBesideIdleOnesIsUnevenLoad) {
  set("leaf-1", "spine-2", 0.98, 0.02);
  for (unsigned number = 0; number < 3; ++number) set(host(1, number), "leaf-1", 0.4, 0.4);
  run(5);
  const Incident incident = watch.only();
  EXPECT_EQ(incident.finding.kind, IncidentKind::kCongestionUnevenLoad);
  EXPECT_EQ(link_of(incident), watch.link("leaf-1", "spine-2"));
  EXPECT_NEAR(find(incident, "sibling_utilization")->value, 0.3, 0.02);
  EXPECT_GE(incident.finding.confidence, 0.9);
}

TEST_F(CongestionTest, ComparesAFullDownlinkWithTheOtherDownlinksOfThatLeaf) {
  set("spine-2", "leaf-1", 0.98, 0.02);
  set("leaf-0", "spine-2", 0.5, 0.4);
  set("leaf-3", "spine-2", 0.5, 0.4);
  run(5);
  const Incident incident = watch.only();
  EXPECT_EQ(incident.finding.kind, IncidentKind::kCongestionUnevenLoad);
  EXPECT_EQ(link_of(incident), watch.link("leaf-1", "spine-2"));
}

TEST_F(CongestionTest, AllUplinksFullIsOneOversubscription) {
  for (unsigned spine = 0; spine < 4; ++spine) set("leaf-1", "spine-" + std::to_string(spine), 0.97, 0.02);
  for (unsigned number = 0; number < 4; ++number) set(host(1, number), "leaf-1", 0.6, 0.3);
  run(5);
  const Incident incident = watch.only();
  EXPECT_EQ(incident.finding.kind, IncidentKind::kCongestionOversubscribed);
  EXPECT_EQ(incident.finding.cause.label, "leaf-1");
  EXPECT_EQ(incident.finding.affected.size(), 4U);
  EXPECT_EQ(incident.finding.waiting.total, 4U) << "who waits for several is counted once";
  EXPECT_EQ(incident.finding.waiting.links.size(), 8U);
}

TEST_F(CongestionTest, LostUplinksAreNamedInTheOversubscriptionTheyMake) {
  watch.fabric.unlink(towards("leaf-1", "spine-0"));
  watch.fabric.unlink(towards("leaf-1", "spine-1"));
  watch.fabric.route();
  for (unsigned spine = 2; spine < 4; ++spine) set("leaf-1", "spine-" + std::to_string(spine), 0.97, 0.02);
  for (unsigned number = 0; number < 4; ++number) set(host(1, number), "leaf-1", 0.45, 0.4);
  run(5);
  const auto open = watch.open();
  const auto found = std::ranges::find(open, IncidentKind::kCongestionOversubscribed, incident_kind);
  ASSERT_NE(found, open.end()) << watch.describe();
  EXPECT_NE(found->finding.summary.find("some of them are down"), std::string::npos) << found->finding.summary;
  EXPECT_EQ(open.size(), 3U) << "and the two links: " << watch.describe();
}

struct SixUplinks : CongestionTest {
  SixUplinks() : CongestionTest(FabricBuilder::fat_tree(6, 4, 4)) {}
};

TEST_F(SixUplinks, AreTooFewOnAccountOfSeveralWhereSomeWentDownTogetherAndOneAlone) {
  for (unsigned spine = 0; spine < 3; ++spine) watch.fabric.unlink(towards("leaf-1", "spine-" + std::to_string(spine)));
  run(30);
  watch.fabric.unlink(towards("leaf-1", "spine-3"));
  run(5);
  watch.fabric.route();
  ASSERT_EQ(std::ranges::count(watch.open(), IncidentKind::kLinkDown, incident_kind), 2) << watch.describe();
  for (unsigned spine = 4; spine < 6; ++spine) set("leaf-1", "spine-" + std::to_string(spine), 0.97, 0.02);
  for (unsigned number = 0; number < 4; ++number) set(host(1, number), "leaf-1", 0.45, 0.4);
  run(5);
  EXPECT_EQ(std::ranges::count(watch.open(), IncidentKind::kCongestionOversubscribed, incident_kind), 1)
      << watch.describe();
}

TEST_F(CongestionTest, FoldsCongestionThatALostLinkCausesIntoThatLinksIncident) {
  watch.fabric.unlink(towards("leaf-1", "spine-0"));
  watch.fabric.route();
  set("leaf-1", "spine-2", 0.98, 0.02);
  for (unsigned number = 0; number < 3; ++number) set(host(1, number), "leaf-1", 0.4, 0.4);
  run(6);
  const Incident incident = watch.only();
  EXPECT_EQ(incident.finding.kind, IncidentKind::kLinkDown);
  EXPECT_NE(incident.finding.summary.find("overloads the remaining links"), std::string::npos)
      << incident.finding.summary;
  EXPECT_NE(find(incident, "victim_wait"), nullptr);
  EXPECT_FALSE(affects(incident, host(1, 0))) << "whom it affects would be taken for down";
}

TEST_F(CongestionTest, BlamesADegradedLinkThatIsOverloaded) {
  for (const PortIndex end : {towards("leaf-1", "spine-2"), towards("spine-2", "leaf-1")})
    watch.fabric.port(end).width_active = 1;
  set("leaf-1", "spine-2", 0.99, 0.02);
  for (unsigned number = 0; number < 3; ++number) set(host(1, number), "leaf-1", 0.2, 0.5);
  run(5);
  const Incident incident = watch.only();
  EXPECT_EQ(incident.finding.kind, IncidentKind::kLinkDegraded);
  EXPECT_NE(incident.finding.summary.find("is stalled"), std::string::npos) << incident.finding.summary;
  EXPECT_TRUE(affects(incident, host(1, 0)));
  EXPECT_NE(find(incident, "victim_wait"), nullptr);
}

TEST_F(CongestionTest, ReportsADeadlockWhenLinksWaitInACycleWithoutTraffic) {
  // leaf-0 → spine-0 → leaf-1 → spine-1 → leaf-0: no up/down routing would do this.
  const std::string circle[] = {"leaf-0", "spine-0", "leaf-1", "spine-1"};
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string& at = circle[i];
    const std::string& next = circle[(i + 1) % 4];
    watch.fabric.send(watch.fabric.find(at), watch.fabric.lid_of(host(3, 3)),
                      watch.fabric.ports()[towards(at, next)].number);
    set(at, next, 0, 1);
  }
  set(host(0, 0), "leaf-0", 0, 1);
  run(1);
  EXPECT_TRUE(watch.open().empty());
  run(1);
  const Incident incident = watch.only();
  EXPECT_EQ(incident.finding.kind, IncidentKind::kDeadlock);
  EXPECT_EQ(incident.finding.severity, Severity::kCritical);
  EXPECT_EQ(incident.finding.affected.size(), 4U) << "three other links and the host";
  ASSERT_EQ(incident.finding.waiting.links.size(), 5U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_FALSE(incident.finding.waiting.links[i].waits_for) << i;
    const std::string next = incident.finding.waiting.links[(i + 1) % 4].sender.label;
    EXPECT_TRUE(incident.finding.waiting.links[i].towards.starts_with(next.substr(0, next.find(" port") + 5)))
        << "each leads to the next: " << incident.finding.waiting.links[i].towards << ", " << next;
  }
}

TEST_F(CongestionTest, ReportsNoDeadlockForAStuckHostWithoutKnownRoutes) {
  watch.fabric = FabricBuilder::fat_tree(4, 4, 4);  // the same, without tables
  const std::string to = host(0, 1);
  set("leaf-0", to, 0, 1);
  for (unsigned leaf = 1; leaf < 4; ++leaf) {
    const std::string name = "leaf-" + std::to_string(leaf);
    set("spine-0", "leaf-0", 0, 1);
    set(name, "spine-0", 0, 1);
    set(host(leaf, 0), name, 0, 1);
  }
  run(5);
  const auto open = watch.open();
  ASSERT_EQ(open.size(), 1U) << watch.describe();
  EXPECT_EQ(open.front().finding.kind, IncidentKind::kPfcStorm);
}

TEST_F(CongestionTest, TwoRootsAtOnceAreTwoIncidentsWithTheirOwnVictims) {
  const std::string to = host(0, 1);
  tree(to, 0.35, 0.6);
  set("leaf-2", host(2, 3), 0.2, 0.7);
  set(host(2, 2), "leaf-2", 0.3, 0.4);
  run(5);
  const auto open = watch.open();
  ASSERT_EQ(open.size(), 2U) << watch.describe();
  for (const Incident& incident : open) EXPECT_EQ(incident.finding.kind, IncidentKind::kSlowReceiver);
}

TEST_F(CongestionTest, UsesRoutesToLeaveUnaffectedHostsOutOfTheVictims) {
  // spine-0 is stalled into leaf-0; leaf-3 sends nothing there by its tables, whatever it waits for.
  const std::string to = host(0, 1);
  const std::string spine = spine_for("leaf-1", to);
  tree(to, 0.35, 0.6);
  std::string other;
  for (unsigned number = 0; number < 4 && other.empty(); ++number)
    if (const std::string by = "spine-" + std::to_string(number); by != spine) other = by;
  set("leaf-3", other, 0.3, 0.3);
  run(5);
  const Incident incident = watch.only();
  EXPECT_EQ(incident.finding.kind, IncidentKind::kSlowReceiver);
  const LinkKey bystander = watch.link("leaf-3", other);
  EXPECT_TRUE(std::ranges::none_of(incident.finding.affected, [&](const Entity& entity) {
    return entity.kind == EntityKind::kLink && LinkKey{entity.port, entity.peer} == bystander;
  }));
}

TEST_F(CongestionTest, FindsTheRootOfPhasedTrafficFromItsTotalHarm) {
  // Two sweeps of five: never four of five.
  for (int phase = 0; phase < 3; ++phase) {
    tree(host(0, 1), 0.2, 0.6);
    run(2);
    loads = quiet;
    run(3);
  }
  const Incident incident = watch.only();
  EXPECT_EQ(incident.finding.kind, IncidentKind::kSlowReceiver);
  run(20);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(CongestionTest, FindsARootThatIsFullOnlyDuringBursts) {
  // Two thirds of the time there is nothing to send; in the third that is left the uplink is full.
  set("leaf-1", "spine-2", 0.34, 0.02);
  for (unsigned number = 0; number < 3; ++number) set(host(1, number), "leaf-1", 0.06, 0.27);
  for (const char* spine : {"spine-0", "spine-1", "spine-3"}) set("leaf-1", spine, 0.05, 0.01);
  run(12);
  const Incident incident = watch.only();
  EXPECT_EQ(incident.finding.kind, IncidentKind::kCongestionUnevenLoad);
  EXPECT_EQ(link_of(incident), watch.link("leaf-1", "spine-2"));
}

TEST_F(CongestionTest, AssignsAVictimOfTwoRootsToTheWorseOne) {
  set("leaf-1", "spine-2", 0.98, 0.02);
  set("leaf-1", "spine-3", 0.92, 0.02);
  for (unsigned number = 0; number < 3; ++number) set(host(1, number), "leaf-1", 0.4, 0.4);
  run(6);
  EXPECT_EQ(link_of(watch.only()), watch.link("leaf-1", "spine-2"));
}

TEST_F(CongestionTest, IsARootOfItsOwnWhereVictimsSendMoreThanGoesToTheOther) {
  const std::string to = host(0, 1);
  const std::string spine = spine_for("leaf-1", to), full = spine == "spine-2" ? "spine-3" : "spine-2";
  tree(to, 0.35, 0.6);
  for (unsigned number = 0; number < 4; ++number) set(host(1, number), "leaf-1", 0.4, 0.5);
  run(6);
  EXPECT_EQ(watch.open().size(), 1U) << watch.describe();
  set("leaf-1", full, 0.98, 0.02);  // all of them may wait for the slow host, but 1.2 of 1.6 do not go there
  run(6);
  const auto open = watch.open();
  ASSERT_EQ(open.size(), 2U) << watch.describe();
  const auto uneven = std::ranges::find(open, IncidentKind::kCongestionUnevenLoad,
                                        [](const Incident& incident) { return incident.finding.kind; });
  ASSERT_NE(uneven, open.end());
  EXPECT_EQ(link_of(*uneven), watch.link("leaf-1", full));
}

TEST_F(CongestionTest, SeesARootThatWasFullLatelyInPartsOfAPhase) {
  const std::string to = host(0, 1);
  const std::string spine = spine_for("leaf-1", to), full = spine == "spine-2" ? "spine-3" : "spine-2";
  const auto send = [&](double uplink, double share, double stall, unsigned sweeps) {
    tree(to, 0.35, 0.6);
    set("leaf-1", full, uplink, 0.02);
    for (unsigned number = 0; number < 4; ++number) set(host(1, number), "leaf-1", share, stall);
    run(sweeps);
  };
  for (int phase = 0; phase < 4; ++phase) {
    send(0.97, 0.4, 0.5, 1);  // alone less than 15 % of all the time
    send(0.5, 0.25, 0.3, 1);  // the end of it, and other hosts are still waited for
    send(0.1, 0.1, 0.01, 2);
  }
  const auto open = watch.open();
  ASSERT_EQ(open.size(), 2U) << watch.describe();
  EXPECT_TRUE(std::ranges::any_of(
      open, [&](const Incident& incident) { return link_of(incident) == watch.link("leaf-1", full); }));
}

TEST_F(CongestionTest, OneThatWaitsAndOneThatDoesNotMakeAnIncast) {
  // What comes from elsewhere is slowed down before, and waits there for something else.
  set("leaf-1", host(1, 0), 0.97, 0.02);
  set(host(1, 1), "leaf-1", 0.7, 0.25);
  run(5);
  const Incident incident = watch.only();
  EXPECT_EQ(incident.finding.kind, IncidentKind::kCongestionIncast);
  EXPECT_TRUE(affects(incident, host(1, 1)));
  ASSERT_NE(find(incident, "other_senders"), nullptr);
  EXPECT_NEAR(find(incident, "other_senders")->value, 0.27, 0.01);
}

TEST_F(CongestionTest, ALinkThatOneSenderFillsIsNoIncast) {
  set("leaf-1", host(1, 0), 0.97, 0.02);
  set(host(1, 1), "leaf-1", 0.95, 0.25);
  run(10);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(CongestionTest, ReportsNothingForBusyLinksWithoutStalls) {
  for (auto& [port, load] : loads) load = {0.95, 0.03};
  run(20);
  EXPECT_TRUE(watch.book.all()->empty()) << watch.describe();
}

TEST_F(CongestionTest, ReportsNothingForCongestionThatKeepsMoving) {
  for (int round = 0; round < 10; ++round) {
    tree(host(0, static_cast<unsigned>(round) % 4), round % 2 ? 0.97 : 0.3, round % 2 ? 0.02 : 0.6);
    run(3);
    loads = quiet;
    run(3);
  }
  EXPECT_TRUE(watch.book.all()->empty()) << watch.describe();
}

TEST_F(CongestionTest, KeepsItsIdentityOverANewDiscoveryAndABadWindow) {
  tree(host(0, 1), 0.35, 0.6);
  run(5);
  const Incident before = watch.only();
  watch.fabric.rediscover();
  watch.fabric.route();
  const auto old = watch.last_sweep.topology;
  const std::map<PortIndex, Load> was = std::exchange(loads, {});
  for (const auto& [port, load] : was) loads[watch.fabric.topology()->find_port(old->key_of(port))] = load;
  run(4);
  EXPECT_EQ(watch.only().id, before.id);
}

TEST_F(CongestionTest, DoesNotLookUpPortsOfAnEarlierDiscovery) {
  tree(host(0, 1), 0.35, 0.6);
  run(5);
  const Incident before = watch.only();
  // Half of the fabric is found no more: indices of before point elsewhere, or behind the end.
  for (unsigned leaf = 2; leaf < 4; ++leaf) {
    watch.fabric.silence(watch.fabric.find("leaf-" + std::to_string(leaf)));
    for (unsigned number = 0; number < 4; ++number) watch.fabric.silence(watch.fabric.find(host(leaf, number)));
  }
  watch.fabric.rediscover();
  loads.clear();
  run(1);
  const auto open = watch.open();
  const auto same = std::ranges::find(open, before.id, &Incident::id);
  ASSERT_NE(same, open.end()) << watch.describe();
  EXPECT_EQ(same->finding.waiting.links.at(0).sender.port, before.finding.waiting.links.at(0).sender.port);
  EXPECT_EQ(std::ranges::count(open, IncidentKind::kSlowReceiver, incident_kind), 1) << watch.describe();
}

}  // namespace
}  // namespace weft::analyzer
