// SPDX-License-Identifier: Apache-2.0
// What goes wrong on an Ethernet fabric, seen by collectors on its hosts alone unless said otherwise.
#include <algorithm>
#include <array>
#include <random>

#include "analyzer/incidents/health.hpp"
#include "tests/unit/analyzer/ethernet_watch.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

TEST(EthernetIncidents, AnHourOfPlausibleNoiseGivesNoFinding) {
  EthernetWatch watch;
  std::mt19937 random(20261122);
  std::uniform_real_distribution<double> share(0, 0.8), pause(0, 0.02);
  for (int second = 0; second < 3600; ++second) {
    for (auto& [name, host] : watch.told.hosts) {
      watch.load(name, share(random), share(random), pause(random), pause(random));
      // A reading is late, a counter is missing in another, a host starts anew.
      host.view().state = second % 97 < 3 && random() % 4 == 0 ? CollectorState::kSilent : CollectorState::kConnected;
      host.hide("pfc_pause", "eth2", random() % 50 == 0);
      if (second % 900 == 450 && name == "gpu-02") host.reboot();
    }
    ASSERT_EQ(watch.step(), 0U) << "second " << second << '\n' << watch.describe();
  }
  EXPECT_TRUE(watch.book.all()->empty());
}

TEST(EthernetIncidents, APulledCableIsOneIncidentThatNamesBothEnds) {
  EthernetWatch watch;
  watch.seconds(10);
  watch.told.host("gpu-01").port().state = PortState::kDown;
  watch.seconds(1);
  const Incident down = watch.only();
  EXPECT_EQ(down.finding.kind, IncidentKind::kLinkDown);
  EXPECT_EQ(down.finding.cause.kind, EntityKind::kLink);
  EXPECT_EQ(down.finding.cause.fabric, "ethernet");
  EXPECT_NE(down.finding.cause.label.find("leaf01 swp1"), std::string::npos) << down.finding.cause.label;
  EXPECT_NE(down.finding.cause.label.find("gpu-01 eth2"), std::string::npos) << down.finding.cause.label;
  EXPECT_EQ(down.finding.severity, Severity::kWarning) << "it may be back in a moment";
  for (const Evidence& evidence : down.finding.evidence) EXPECT_NE(evidence.signal, "port_unreadable");
  watch.seconds(30);
  EXPECT_EQ(watch.only().id, down.id);
  EXPECT_EQ(watch.only().finding.severity, Severity::kCritical) << watch.only().finding.summary;
  watch.told.host("gpu-01").port().state = PortState::kActive;
  watch.seconds(10);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  EXPECT_EQ(watch.book.all()->size(), 1U) << watch.describe();
}

TEST(EthernetIncidents, ALinkThatWasReadLateIsNoNewLink) {
  // weftd starts before collectors find it.
  EthernetWatch watch;
  for (auto& [name, host] : watch.told.hosts) host.view().state = CollectorState::kDisconnected;
  watch.seconds(5);
  for (auto& [name, host] : watch.told.hosts) host.view().state = CollectorState::kConnected;
  watch.seconds(30);
  watch.told.host("gpu-01").port().state = PortState::kDown;
  watch.seconds(60);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown);
  EXPECT_EQ(watch.only().occurrences, 1U) << watch.describe();
}

TEST(EthernetIncidents, AHostsEventOpensTheSameIncidentAtOnce) {
  EthernetWatch watch;
  watch.seconds(5);
  HostBatch batch;
  LinkEvent& event = batch.events.emplace_back();
  event.at = watch.told.now;
  event.device = event.netdev = "eth2";
  event.reason = "No cable";
  watch.host_rules.take("gpu-01", batch);
  watch.book.update(kHostsFabric, watch.host_rules.news(watch.told.now), Coverage::blind(), watch.told.now);
  const Incident told = watch.only();
  EXPECT_EQ(told.finding.cause.kind, EntityKind::kLink);
  EXPECT_TRUE(told.finding.summary.starts_with("Link " + told.finding.cause.label + " is down"))
      << told.finding.summary;
  watch.told.host("gpu-01").port().state = PortState::kDown;
  watch.seconds(10);
  EXPECT_EQ(watch.only().id, told.id) << watch.describe();
}

TEST(EthernetIncidents, ASilentCollectorIsTheOnlyTrouble) {
  for (const bool switch_too : {false, true}) {
    EthernetWatch watch;
    if (switch_too) watch.told.add(watch.plan, "leaf01");
    watch.seconds(10);
    watch.told.host("gpu-01").view().state = CollectorState::kSilent;
    watch.seconds(120);
    const Incident lost = watch.only();
    EXPECT_EQ(lost.finding.kind, IncidentKind::kTelemetryLost);
    EXPECT_EQ(lost.finding.cause.kind, EntityKind::kCollector);
    EXPECT_EQ(lost.finding.cause.host, "gpu-01");
    EXPECT_EQ(watch.book.all()->size(), 1U) << watch.describe();
  }
}

TEST(EthernetIncidents, ASwitchesCollectorThatFallsSilentIsTheOnlyTrouble) {
  EthernetWatch watch;
  watch.told.add(watch.plan, "leaf01");
  watch.seconds(10);
  watch.told.host("leaf01").view().state = CollectorState::kSilent;
  watch.seconds(120);
  EXPECT_EQ(watch.only().finding.cause.host, "leaf01");
  EXPECT_EQ(watch.book.all()->size(), 1U) << watch.describe();
}

TEST(EthernetIncidents, ASwitchNobodyReadsIsDownWhenAllItsHostsSaySo) {
  EthernetWatch watch;
  watch.seconds(10);
  for (const char* host : {"gpu-01", "gpu-02"}) watch.told.host(host).port().state = PortState::kDown;
  watch.seconds(5);
  const Incident down = watch.only();
  EXPECT_EQ(down.finding.kind, IncidentKind::kSwitchDown) << watch.describe();
  EXPECT_EQ(down.finding.cause.label, "leaf01");
}

TEST(EthernetIncidents, AHostThatDiesUnderASwitchThatTellsIsOneNodeDown) {
  EthernetWatch watch;
  ToldHost& leaf = watch.told.add(watch.plan, "leaf01");
  watch.seconds(10);
  watch.told.host("gpu-01").view().state = CollectorState::kDisconnected;
  leaf.port(0).state = PortState::kDown;  // swp1
  watch.seconds(120);
  const Incident down = watch.only();
  EXPECT_EQ(down.finding.kind, IncidentKind::kNodeDown) << watch.describe();
  EXPECT_EQ(down.finding.cause.label, "gpu-01");
  EXPECT_EQ(watch.book.all()->size(), 1U) << watch.describe();
}

// Its collector is the sweep: what is open of it neither goes on nor ends here without it.
TEST(EthernetIncidents, AHostThatReportsToAnotherShardIsNotDown) {
  EthernetWatch watch;
  watch.host_rules.set_others(true);
  watch.seconds(10);
  HostPort& port = watch.told.host("gpu-01").port();
  port.state = PortState::kDown;
  watch.seconds(10);
  const Incident down = watch.only();
  ASSERT_EQ(down.finding.kind, IncidentKind::kLinkDown);
  EXPECT_TRUE(watch.host_rules.is_told_by("gpu-01.example.com", down.finding.cause));
  EXPECT_TRUE(watch.host_rules.is_told_by("leaf01", down.finding.cause));
  EXPECT_FALSE(watch.host_rules.is_told_by("gpu-0", down.finding.cause));
  watch.told.host("gpu-01").view().state = CollectorState::kDisconnected;
  watch.seconds(5);  // so long the other shard may take to be asked
  const auto pass = [&](const PortsThere& ports) {
    for (unsigned i = 0; i < 60; ++i) {
      watch.host_rules.hear_elsewhere("gpu-01", "south", ports, watch.told.now);
      watch.step();
    }
  };
  pass({});
  for (const IncidentPtr& incident : *watch.book.all()) EXPECT_NE(incident->finding.kind, IncidentKind::kNodeDown);
  EXPECT_TRUE(watch.book.find(down.id)->is_open()) << watch.describe();
  pass({.active = {port_name(port.device, port.number)}});
  EXPECT_FALSE(watch.book.find(down.id)->is_open()) << watch.describe();
}

TEST(EthernetIncidents, WhatIsOpenOfAHostEndsWithIt) {
  for (const bool is_dead : {false, true}) {
    EthernetWatch watch;
    watch.seconds(10);
    watch.told.host("gpu-01").port().state = PortState::kDown;
    watch.seconds(10);
    const auto kind = is_dead ? IncidentKind::kNodeDown : IncidentKind::kLinkDown;
    watch.told.host("gpu-01").view().state = CollectorState::kDisconnected;
    if (is_dead) watch.seconds(60);
    EXPECT_EQ(watch.open().front().finding.kind, kind) << watch.describe();
    watch.host_rules.forget("gpu-01");
    watch.seconds(120);
    EXPECT_TRUE(watch.open().empty()) << watch.describe();
  }
}

TEST(EthernetIncidents, ErrorsOfThePhysicalLayerAreOfTheLinkAtTheReceivingEnd) {
  for (const char* const counter : {"physical_symbol_errors", "fec_uncorrectable_blocks", "receive_errors"}) {
    EthernetWatch watch;
    ToldHost& gpu = watch.told.host("gpu-01");
    gpu.add_series("receive_errors", "eth2", CounterSource::kRdma);
    if (counter != std::string_view("receive_errors")) gpu.add_series(counter, "eth2");
    watch.seconds(5);
    for (int i = 0; i < 60; ++i) {
      watch.load("gpu-01", 0.5, 0.5);
      gpu.value(counter, "eth2") += 50;
      watch.seconds(1);
    }
    const Incident errors = watch.only();
    EXPECT_EQ(errors.finding.kind, IncidentKind::kLinkErrors) << counter << ": " << watch.describe();
    EXPECT_EQ(errors.finding.cause.kind, EntityKind::kLink);
    EXPECT_NE(errors.finding.summary.find(
                  "received at gpu-01 eth2: the cable or the transmitter of leaf01 swp1 is suspected"),
              std::string::npos)
        << errors.finding.summary;
  }
}

TEST(EthernetIncidents, AHostThatPausesItsSwitchIsASlowReceiver) {
  EthernetWatch watch;
  for (int second = 0; second < 30; ++second) {
    watch.load("gpu-01", 0.2, 0.05, second > 10 ? 0.6 : 0.0);
    watch.load("gpu-02", 0.05, 0.2, 0, second > 10 ? 0.7 : 0.0);
    watch.load("gpu-03", 0.1, 0.1);
    watch.load("gpu-04", 0.1, 0.1);
    watch.step();
  }
  const Incident slow = watch.only();
  EXPECT_EQ(slow.finding.kind, IncidentKind::kSlowReceiver) << watch.describe();
  EXPECT_EQ(slow.finding.cause.label, "gpu-02 eth2");
}

TEST(EthernetIncidents, AHostThatTakesNothingAtAllIsAPfcStorm) {
  EthernetWatch watch;
  for (int second = 0; second < 30; ++second) {
    const bool storm = second > 10;
    watch.load("gpu-01", storm ? 0.0 : 0.2, 0.05, storm ? 1.0 : 0.0);
    watch.load("gpu-02", 0.05, storm ? 0.0 : 0.2, 0, storm ? 1.0 : 0.0);
    watch.step();
  }
  const Incident storm = watch.only();
  EXPECT_EQ(storm.finding.kind, IncidentKind::kPfcStorm) << watch.describe();
  EXPECT_EQ(storm.finding.cause.label, "gpu-02 eth2");
}

TEST(EthernetIncidents, SeveralSendersIntoOneInterfaceAreAnIncast) {
  EthernetWatch watch(plan_of({{"leaf01", "swp1", "gpu-01", "eth2"},
                               {"leaf01", "swp2", "gpu-02", "eth2"},
                               {"leaf01", "swp3", "gpu-03", "eth2"},
                               {"leaf01", "swp4", "gpu-04", "eth2"}}));
  for (int second = 0; second < 30; ++second) {
    const bool all = second > 10;
    for (const char* sender : {"gpu-01", "gpu-02", "gpu-03"}) watch.load(sender, 0.33, 0.01, all ? 0.6 : 0.0);
    watch.load("gpu-04", 0.01, all ? 0.99 : 0.3);
    watch.step();
  }
  const Incident incast = watch.only();
  EXPECT_EQ(incast.finding.kind, IncidentKind::kCongestionIncast) << watch.describe();
  EXPECT_NE(incast.finding.cause.label.find("gpu-04 eth2"), std::string::npos) << incast.finding.cause.label;
}

TEST(EthernetIncidents, ALinkThatComesAndGoesIsOneFlap) {
  EthernetWatch watch;
  watch.seconds(10);
  for (int i = 0; i < 6; ++i) {
    watch.told.host("gpu-01").port().state = PortState::kDown;
    watch.told.host("gpu-01").value("carrier_down", "eth2") += 1;
    watch.seconds(2);
    watch.told.host("gpu-01").port().state = PortState::kActive;
    watch.seconds(4);
  }
  const Incident flap = watch.only();
  EXPECT_EQ(flap.finding.kind, IncidentKind::kLinkFlap) << watch.describe();
  EXPECT_EQ(flap.finding.cause.kind, EntityKind::kLink);
  EXPECT_NE(flap.finding.summary.find("reported by one end only"), std::string::npos) << flap.finding.summary;
}

TEST(EthernetIncidents, ALinkSlowerThanItWasIsOneIncidentOfTheCable) {
  EthernetWatch watch;
  ToldHost& leaf = watch.told.add(watch.plan, "leaf01");
  watch.seconds(10);
  leaf.port(0).rate_bits_per_second = 100'000'000'000;
  watch.told.host("gpu-01").port().rate_bits_per_second = 100'000'000'000;
  watch.seconds(10);
  const Incident slow = watch.only();
  EXPECT_EQ(slow.finding.kind, IncidentKind::kLinkDegraded) << watch.describe();
  EXPECT_EQ(slow.finding.cause.kind, EntityKind::kLink);
  EXPECT_EQ(slow.finding.evidence.size(), 2U) << "both ends tell";
  leaf.port(0).rate_bits_per_second = ToldHost::kRate;
  watch.told.host("gpu-01").port().rate_bits_per_second = ToldHost::kRate;
  watch.seconds(30);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST(EthernetIncidents, AfterARestartNothingIsClaimedBeforeCollectorsSpeak) {
  EthernetWatch watch;
  watch.seconds(10);
  const AnalyzerState known = watch.rules.state();
  EXPECT_EQ(known.links.size(), 4U) << "those between switches were never seen";
  watch.rules = FabricAnalyzer("ethernet", Thresholds{});
  watch.rules.restore(known);
  watch.host_rules = HostAnalyzer(Thresholds{}, watch.told.now);
  watch.told.fabric = *EthernetFabric::make(watch.plan, "ethernet", ToldFabric::kSecond);
  auto hosts = std::exchange(watch.told.hosts, {});
  for (int second = 0; second < 60; ++second) ASSERT_EQ(watch.step(), 0U) << watch.describe();
  // The first to speak tell of trouble that nobody else can deny.
  hosts.at("gpu-01").port().state = PortState::kDown;
  hosts.at("gpu-03").port().state = PortState::kDown;
  watch.told.hosts = std::move(hosts);
  watch.seconds(3);
  std::size_t down = 0;
  for (const Incident& incident : watch.open()) down += incident.finding.kind == IncidentKind::kLinkDown;
  EXPECT_EQ(down, 2U) << watch.describe();
  EXPECT_EQ(watch.open().size(), 2U) << watch.describe();
}

TEST(EthernetIncidents, FailedTransfersAreThePortsOnTheFabric) {
  EthernetWatch watch;
  watch.told.host("gpu-01").add_series("retries_exhausted", "eth2");
  watch.seconds(10);
  watch.told.host("gpu-01").value("retries_exhausted", "eth2") = 3;
  watch.seconds(3);
  const Incident failed = watch.only();
  EXPECT_EQ(failed.finding.kind, IncidentKind::kRdmaErrors) << watch.describe();
  EXPECT_EQ(failed.finding.cause.kind, EntityKind::kPort);
  EXPECT_EQ(failed.finding.cause.fabric, "ethernet");
  EXPECT_EQ(failed.finding.cause.label, "gpu-01 eth2");
}

TEST(EthernetIncidents, HealthIsOfWhatIsReadAndElseUnknown) {
  EthernetWatch watch;
  watch.told.add(watch.plan, "leaf01");
  watch.seconds(10);
  const auto verdict = [&](const std::string& node) {
    FabricView view;
    view.name = "ethernet";
    view.watching = true;
    view.sweep = std::make_shared<const Sweep>(watch.told.last);
    for (const NodeHealth& health :
         assess(std::vector{view}, watch.told.views(), *watch.book.all(), MaintenanceList{}, watch.told.now))
      if (health.node == node) return health.verdict;
    ADD_FAILURE() << "nothing is said of " << node;
    return HealthVerdict::kUnknown;
  };
  EXPECT_EQ(verdict("gpu-01"), HealthVerdict::kHealthy);
  EXPECT_EQ(verdict("leaf01"), HealthVerdict::kHealthy) << "its collector reads all of its ports";
  EXPECT_EQ(verdict("leaf02"), HealthVerdict::kUnknown) << "nobody tells of its links to the spines";
  EXPECT_EQ(verdict("spine01"), HealthVerdict::kUnknown);
  watch.told.host("gpu-01").port().state = PortState::kDown;
  watch.seconds(3);
  EXPECT_NE(verdict("gpu-01"), HealthVerdict::kHealthy);
}

}  // namespace
}  // namespace weft::analyzer
