// SPDX-License-Identifier: Apache-2.0
// SILENT_LOSS from the readings of collectors and the sweeps of a subnet to the incident.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "analyzer/host_analyzer.hpp"
#include "analyzer/incidents/incident_manager.hpp"
#include "tests/fakes/open_incidents.hpp"
#include "tests/unit/analyzer/loss/lossy_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// Collectors on all hosts, the subnet's sweeps, and a book: as weftd joins them.
struct Cluster {
  Cluster() {
    const Sweep first = lossy.second();
    for (const std::string& host : lossy.hosts) {
      auto inventory = std::make_shared<HostInventory>();
      HostPort& port = inventory->ports.emplace_back();
      port.device = "mlx5_0";
      port.number = 1;
      port.driver = "mlx5";
      port.port_guid = first.topology->port(lossy.port(host)).guid;
      for (const char* name : {"transmit_packets", "receive_packets", "sequence_nak", "out_of_sequence",
                               "retries_exhausted", "pcie_write_stall", "out_of_buffer"}) {
        HostSeries series{.device = "mlx5_0", .port = 1, .name = name};
        if (series.name == "sequence_nak") series.bits = 32;
        if (series.name == "pcie_write_stall") series.behaviour = CounterBehaviour::kGauge;
        inventory->series.push_back(std::move(series));
      }
      inventories[host] = std::move(inventory);
      intervals[host] = 1s;
      jobs[host] = "slurm:7";
    }
  }

  void seconds(int count) {
    for (int i = 0; i < count; ++i, ++passed) {
      FabricView view;
      view.name = lossy.fabric.name();
      view.watching = true;
      view.sweep = std::make_shared<const Sweep>(lossy.second());
      for (const std::string& host : lossy.hosts) {
        analyzer.hear(host, intervals[host], lossy.fabric.now());
        if (passed % (intervals[host] / 1s) != 0) continue;
        const TransferTotals& counted = lossy.totals[host];
        HostBatch batch;
        HostReading& reading = batch.reading.emplace();
        reading.taken = lossy.fabric.now();
        reading.inventory = inventories[host];
        // The NAKs have 32 bits, and come round early.
        reading.values = {counted.sent,
                          counted.received,
                          (0xFFFFFF00ULL + (count_sent_again ? counted.sent_again : 0)) & 0xFFFFFFFFULL,
                          counted.out_of_sequence,
                          exhausted[host],
                          stalled[host],
                          unposted[host]};
        reading.present.assign(reading.values.size(), 1);
        reading.jobs = {jobs[host]};
        analyzer.take(host, batch);
      }
      analyzer.join({&view, 1});
      auto analysis = analyzer.judge(lossy.fabric.now());
      book.update(kHostsFabric, std::move(analysis.findings), analysis.coverage, lossy.fabric.now());
    }
  }
  std::vector<Incident> open() const { return open_incidents(book); }

  LossyFabric lossy;
  std::map<std::string, std::shared_ptr<const HostInventory>> inventories;
  std::map<std::string, Duration> intervals;  ///< of readings, by host
  std::map<std::string, std::string> jobs;    ///< by host
  int passed = 0;                             ///< seconds
  bool count_sent_again = true;
  std::map<std::string, std::uint64_t> exhausted, stalled, unposted;
  HostAnalyzer analyzer{Thresholds{}, lossy.fabric.now()};
  IncidentManager book{IncidentPolicy{}, {}, 1};
};

TEST(SilentLoss, IsOneIncidentWithItsCauseItsHostsAndTheirJobs) {
  Cluster cluster;
  cluster.lossy.all_to_all();
  cluster.seconds(20);
  EXPECT_TRUE(cluster.open().empty());
  const LossSuspect cause = cluster.lossy.cable("leaf-1", "spine-0");
  cluster.lossy.lost_on[cause.sender] = 1e-3;
  cluster.seconds(20);
  ASSERT_EQ(cluster.open().size(), 1U);
  const Incident incident = cluster.open()[0];
  EXPECT_EQ(incident.finding.kind, IncidentKind::kSilentLoss);
  EXPECT_EQ(incident.finding.cause.kind, EntityKind::kLink);
  EXPECT_EQ(LinkKey(incident.finding.cause.port, incident.finding.cause.peer),
            cluster.lossy.fabric.link_of(cause.sender));
  EXPECT_EQ(incident.finding.cause.fabric, cluster.lossy.fabric.name());
  EXPECT_EQ(incident.finding.jobs, std::vector<std::string>{"slurm:7"});
  EXPECT_GE(incident.finding.affected.size(), 8U);
  EXPECT_GT(incident.finding.confidence, 0.9);
  const auto has = [&](std::string_view signal) {
    return std::ranges::any_of(incident.finding.evidence, [&](const Evidence& fact) { return fact.signal == signal; });
  };
  EXPECT_TRUE(has("lost_share"));
  EXPECT_TRUE(has("packet_balance"));
  EXPECT_TRUE(has("direction"));
  cluster.lossy.lost_on.clear();
  cluster.seconds(60);
  EXPECT_TRUE(cluster.open().empty());
}

TEST(SilentLoss, EndsWithItsCableAndDoesNotMoveToTheNextOneInThePort) {
  for (const bool is_replaced : {false, true}) {
    Cluster cluster;
    cluster.lossy.all_to_all();
    cluster.seconds(20);
    const PortIndex sender = cluster.lossy.cable("leaf-1", "spine-0").sender;
    cluster.lossy.lost_on[sender] = 1e-3;
    cluster.seconds(20);
    ASSERT_EQ(cluster.open().size(), 1U);
    cluster.lossy.lost_on.clear();
    cluster.seconds(7);
    ASSERT_EQ(cluster.open().size(), 1U) << "a window without losses does not end it";
    cluster.lossy.flows.clear();
    cluster.lossy.pull(sender);
    if (is_replaced) {
      const PortIndex other = cluster.lossy.fabric.port_towards("spine-1", "leaf-2");
      cluster.lossy.pull(other);
      cluster.lossy.fabric.connect(sender, other);
    }
    cluster.seconds(60);
    EXPECT_TRUE(cluster.open().empty());
    EXPECT_EQ(cluster.book.all()->size(), 1U) << "the other cable is healthy";
  }
}

TEST(SilentLoss, IsFoundBesideACollectorThatReadsSeldom) {
  Cluster cluster;
  cluster.lossy.all_to_all();
  cluster.intervals["host-3-3 mlx5_0"] = 10min;
  cluster.lossy.lost_on[cluster.lossy.cable("leaf-1", "spine-0").sender] = 1e-3;
  cluster.seconds(30);
  EXPECT_EQ(cluster.open().size(), 1U);
}

TEST(SilentLoss, IsFoundWhereAllCollectorsReadSeldom) {
  Cluster cluster;
  cluster.lossy.all_to_all();
  for (auto& [host, interval] : cluster.intervals) interval = 10s;
  cluster.lossy.lost_on[cluster.lossy.cable("leaf-1", "spine-0").sender] = 1e-3;
  cluster.seconds(150);
  EXPECT_EQ(cluster.open().size(), 1U);
}

TEST(SilentLoss, IsNoneOnALinkThatIsBlamedForItsErrors) {
  Cluster cluster;
  cluster.lossy.all_to_all();
  cluster.seconds(20);
  const LossSuspect cause = cluster.lossy.cable("leaf-1", "spine-0");
  const LinkKey link = cluster.lossy.fabric.link_of(cause.sender);
  // Its counters have come to their top and tell nothing more; the rules over the subnet know all the same.
  std::vector<Finding> findings(1);
  findings[0].kind = IncidentKind::kLinkErrors;
  findings[0].cause = {.kind = EntityKind::kLink,
                       .fabric = cluster.lossy.fabric.name(),
                       .port = link.low,
                       .peer = link.high,
                       .label = "leaf-1 - spine-0"};
  cluster.lossy.lost_on[cause.sender] = 1e-3;
  for (int i = 0; i < 40; ++i) {
    cluster.analyzer.complete(cluster.lossy.fabric.name(), findings, cluster.lossy.fabric.now());
    cluster.seconds(1);
    ASSERT_TRUE(cluster.open().empty()) << i << ": " << cluster.open()[0].finding.summary;
  }
  // And it is one again when nobody else blames it any more.
  cluster.seconds(180);
  ASSERT_EQ(cluster.open().size(), 1U);
  EXPECT_EQ(cluster.open()[0].finding.kind, IncidentKind::kSilentLoss);
}

TEST(SilentLoss, IsNoneOnAFullLinkThatNobodyReads) {
  Cluster cluster;
  for (const char* from : {"host-0-0 mlx5_0", "host-2-0 mlx5_0", "host-3-0 mlx5_0"})
    cluster.lossy.flows.push_back({from, "host-1-0 mlx5_0"});
  cluster.lossy.fabric.freeze_counters(cluster.lossy.fabric.find("leaf-1"));
  const LossSuspect full = cluster.lossy.cable("leaf-1", "host-1-0 mlx5_0");
  cluster.lossy.lost_on[full.sender] = 1e-4;
  const LinkKey link = cluster.lossy.fabric.link_of(full.sender);
  std::vector<Finding> findings(1);
  findings[0].kind = IncidentKind::kCongestionIncast;
  findings[0].cause = {.kind = EntityKind::kLink,
                       .fabric = cluster.lossy.fabric.name(),
                       .port = link.low,
                       .peer = link.high,
                       .label = "leaf-1 - host-1-0"};
  for (int i = 0; i < 60; ++i) {
    cluster.analyzer.complete(cluster.lossy.fabric.name(), findings, cluster.lossy.fabric.now());
    cluster.seconds(1);
    ASSERT_TRUE(cluster.open().empty()) << i << ": " << cluster.open()[0].finding.summary;
  }
  cluster.seconds(200);
  EXPECT_EQ(cluster.open().size(), 1U) << "it is not full any more, and still loses packets";
}

TEST(SilentLoss, OfOnePacketInAMillionShowsInMinutes) {
  for (const auto& [share, severity] : {std::pair{2e-6, Severity::kWarning}, {5e-7, Severity::kInfo}}) {
    SCOPED_TRACE(share);
    Cluster cluster;
    for (int i = 0; i < 4; ++i)
      cluster.lossy.flows.push_back(
          {"host-0-" + std::to_string(i) + " mlx5_0", "host-1-" + std::to_string(i) + " mlx5_0", 4'000'000});
    const LossSuspect cause = cluster.lossy.cable("host-0-0 mlx5_0", "leaf-0");
    cluster.seconds(10);
    cluster.lossy.lost_on[cause.sender] = share;
    cluster.seconds(50);
    EXPECT_TRUE(cluster.open().empty());
    cluster.seconds(150);
    ASSERT_EQ(cluster.open().size(), 1U);
    EXPECT_EQ(cluster.open()[0].finding.severity, severity);
    EXPECT_EQ(LinkKey(cluster.open()[0].finding.cause.port, cluster.open()[0].finding.cause.peer),
              cluster.lossy.fabric.link_of(cause.sender));
    EXPECT_EQ(cluster.open()[0].occurrences, 1U);
    cluster.lossy.lost_on.clear();
    cluster.seconds(150);
    EXPECT_TRUE(cluster.open().empty());
  }
}

TEST(SilentLoss, OfOnePacketInTenMillionIsToldByTheFabricWhereHostsSentAgain) {
  for (const bool sent_again : {true, false}) {
    SCOPED_TRACE(sent_again);
    Cluster cluster;
    cluster.count_sent_again = sent_again;  // counters that do not agree about what they count look the same
    for (int i = 0; i < 4; ++i)
      cluster.lossy.flows.push_back(
          {"host-0-" + std::to_string(i) + " mlx5_0", "host-1-" + std::to_string(i) + " mlx5_0"});
    const LossSuspect cause = cluster.lossy.cable("host-0-0 mlx5_0", "leaf-0");
    cluster.lossy.lost_on[cause.sender] = 1e-7;
    for (int i = 0; i < 200; ++i) {
      for (Flow& flow : cluster.lossy.flows) flow.packets = i % 5 < 2 ? 10'000'000 : 100;
      cluster.seconds(1);
    }
    ASSERT_EQ(cluster.open().size(), sent_again ? 1U : 0U);
    if (!sent_again) continue;
    const Finding finding = cluster.open()[0].finding;
    EXPECT_EQ(finding.kind, IncidentKind::kSilentLoss);
    EXPECT_EQ(finding.severity, Severity::kInfo);
    EXPECT_EQ(LinkKey(finding.cause.port, finding.cause.peer), cluster.lossy.fabric.link_of(cause.sender));
    EXPECT_TRUE(
        std::ranges::any_of(finding.evidence, [](const Evidence& fact) { return fact.signal == "packet_balance"; }));
    EXPECT_TRUE(
        std::ranges::none_of(finding.evidence, [](const Evidence& fact) { return fact.signal == "lost_share"; }));
    cluster.lossy.flows.clear();
    cluster.lossy.pull(cause.sender);
    cluster.seconds(60);
    EXPECT_TRUE(cluster.open().empty());
  }
}

/// Two jobs, each on a pair of leaves of its own: they have no host and no cable in common.
void run_two_jobs(Cluster& cluster) {
  for (const std::string& host : cluster.lossy.hosts)
    if (host.starts_with("host-2-") || host.starts_with("host-3-")) cluster.jobs[host] = "slurm:8";
  for (const auto& [from, to] : {std::pair{"host-0-", "host-1-"}, {"host-2-", "host-3-"}})
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b)
        cluster.lossy.flows.push_back(
            {from + std::to_string(a) + " mlx5_0", to + std::to_string(b) + " mlx5_0", 10'000'000});
}

TEST(SilentLoss, OfOnePacketInAMillionShowsBesideAGreatOneElsewhere) {
  Cluster cluster;
  run_two_jobs(cluster);
  const PortIndex great = cluster.lossy.cable("leaf-0", "spine-0").sender;
  const PortIndex rare = cluster.lossy.cable("leaf-2", "spine-1").sender;
  cluster.lossy.lost_on[great] = 1e-4;
  cluster.seconds(90);
  cluster.lossy.lost_on[rare] = 7e-7;
  cluster.seconds(400);
  std::vector<LinkKey> links;
  for (const Incident& incident : cluster.open())
    links.emplace_back(incident.finding.cause.port, incident.finding.cause.peer);
  EXPECT_EQ(links.size(), 2U);
  for (const PortIndex sender : {great, rare})
    EXPECT_NE(std::ranges::find(links, cluster.lossy.fabric.link_of(sender)), links.end()) << sender;
}

TEST(SilentLoss, OfSecondsIsNotReportedOnByLongerWindows) {
  Cluster cluster;
  run_two_jobs(cluster);
  cluster.seconds(85);
  cluster.lossy.lost_on[cluster.lossy.cable("leaf-0", "spine-0").sender] = 3e-5;
  cluster.seconds(14);
  ASSERT_EQ(cluster.open().size(), 1U);
  cluster.lossy.lost_on.clear();
  cluster.seconds(45);
  for (int i = 0; i < 200; ++i) {
    cluster.seconds(1);
    ASSERT_TRUE(cluster.open().empty()) << i << " s later the longer windows remember it";
  }
  ASSERT_EQ(cluster.book.all()->size(), 1U);
  EXPECT_EQ(cluster.book.all()->front()->occurrences, 1U);
}

TEST(SilentLoss, StaysOpenAcrossARestart) {
  Cluster cluster;
  cluster.lossy.all_to_all();
  cluster.lossy.lost_on[cluster.lossy.cable("leaf-1", "spine-0").sender] = 1e-3;
  cluster.seconds(20);
  ASSERT_EQ(cluster.open().size(), 1U);
  const std::uint64_t revision = cluster.open()[0].revision;
  cluster.analyzer = HostAnalyzer(Thresholds{}, cluster.lossy.fabric.now());
  for (int i = 0; i < 60; ++i) {
    cluster.seconds(1);
    ASSERT_EQ(cluster.open().size(), 1U) << i;
  }
  EXPECT_EQ(cluster.open()[0].occurrences, 1U);
  EXPECT_GE(cluster.open()[0].revision, revision);
}

TEST(SilentLoss, TakesInTheFailedTransfersThatItExplainsAndNoOthers) {
  Cluster cluster;
  cluster.lossy.flows = {{"host-1-0 mlx5_0", "host-2-0 mlx5_0"},
                         {"host-1-1 mlx5_0", "host-2-1 mlx5_0"},
                         {"host-3-0 mlx5_0", "host-0-1 mlx5_0"}};
  cluster.seconds(3);
  cluster.lossy.lost_on[cluster.lossy.port("host-1-0 mlx5_0")] = 1e-3;
  cluster.exhausted["host-1-0 mlx5_0"] += 1;
  cluster.exhausted["host-3-0 mlx5_0"] += 1;
  cluster.seconds(2);
  ASSERT_EQ(cluster.open().size(), 2U) << "before anybody knows why";
  cluster.seconds(20);
  const auto open = cluster.open();
  ASSERT_EQ(open.size(), 2U);
  const auto loss = std::ranges::find(open, IncidentKind::kSilentLoss, incident_kind);
  ASSERT_NE(loss, open.end());
  EXPECT_TRUE(std::ranges::any_of(loss->finding.evidence,
                                  [](const Evidence& fact) { return fact.signal == "retries_exhausted"; }));
  const auto errors = std::ranges::find(open, IncidentKind::kRdmaErrors, incident_kind);
  ASSERT_NE(errors, open.end());
  const PortIndex other = cluster.lossy.port("host-3-0 mlx5_0");
  EXPECT_EQ(errors->finding.cause.port, cluster.lossy.fabric.key_of(other));
  for (const IncidentPtr& incident : *cluster.book.all()) {
    if (incident->is_open()) continue;
    EXPECT_NE(incident->finding.summary.find("now part of " + incident_name(loss->id)), std::string::npos)
        << incident->finding.summary;
  }
}

TEST(SilentLoss, OfManyLinksAtOnceIsTheCountersOfHosts) {
  Cluster cluster;
  // Pairs that have no cable and no switch in common.
  for (const std::string leaf : {"0", "1", "2", "3"})
    cluster.lossy.flows.push_back({"host-" + leaf + "-0 mlx5_0", "host-" + leaf + "-1 mlx5_0"});
  cluster.seconds(40);
  // The fabric passes every packet on, and hosts count losses all the same.
  for (int i = 0; i < 120; ++i) {
    for (const Flow& flow : cluster.lossy.flows) {
      cluster.lossy.totals[flow.from].sent_again += 1000;
      cluster.lossy.totals[flow.to].out_of_sequence += 1000;
    }
    cluster.seconds(1);
    for (const Incident& incident : cluster.open())
      EXPECT_EQ(incident.finding.kind, IncidentKind::kCounterStuck) << incident.finding.summary;
  }
  ASSERT_EQ(cluster.open().size(), 1U);
  EXPECT_EQ(cluster.open()[0].finding.cause.kind, EntityKind::kFabric);
  EXPECT_NE(cluster.open()[0].finding.summary.find("SILENT_LOSS"), std::string::npos)
      << cluster.open()[0].finding.summary;
}

TEST(SlowReceiver, IsExplainedByItsHostsOwnStalls) {
  Cluster cluster;
  cluster.seconds(3);
  const auto told = [&](const std::string& host) {
    std::vector<Finding> findings(1);
    findings[0].kind = IncidentKind::kSlowReceiver;
    findings[0].confidence = 0.8;
    findings[0].cause = {.kind = EntityKind::kPort,
                         .fabric = cluster.lossy.fabric.name(),
                         .port = cluster.lossy.fabric.key_of(cluster.lossy.port(host)),
                         .peer = {},
                         .label = host};
    cluster.analyzer.complete(cluster.lossy.fabric.name(), findings, cluster.lossy.fabric.now());
    return findings[0];
  };
  const std::string slow = "host-1-0 mlx5_0";
  cluster.stalled[slow] = 9;
  cluster.seconds(2);
  EXPECT_TRUE(told(slow).evidence.empty()) << "that is any host's";
  cluster.stalled[slow] = 80;
  cluster.unposted[slow] = 12;
  cluster.seconds(1);
  cluster.stalled[slow] = 0;
  cluster.seconds(3);
  const Finding finding = told(slow);
  ASSERT_EQ(finding.evidence.size(), 2U);
  EXPECT_EQ(finding.evidence[0].signal, "pcie_write_stall");
  EXPECT_DOUBLE_EQ(finding.evidence[0].value, 0.8);
  EXPECT_EQ(finding.evidence[1].signal, "out_of_buffer");
  EXPECT_DOUBLE_EQ(finding.evidence[1].value, 12);
  EXPECT_DOUBLE_EQ(finding.confidence, 0.95);
  EXPECT_TRUE(told("host-1-1 mlx5_0").evidence.empty());
  EXPECT_DOUBLE_EQ(told("host-1-1 mlx5_0").confidence, 0.8);
  cluster.seconds(40);
  EXPECT_TRUE(told(slow).evidence.empty()) << "long ago";
}

}  // namespace
}  // namespace weft::analyzer
