// SPDX-License-Identifier: Apache-2.0
#include "analyzer/parts/host_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/analyzer/parts/part_hosts.hpp"

namespace weft::analyzer {
namespace {

constexpr unsigned kHold = 300;

TEST(HostParts, TellsANarrowLinkAfterAWhileAndThatItIsRepaired) {
  PartHosts world;
  world.seconds(kHold + 60);
  EXPECT_TRUE(open_incidents(world.book).empty()) << describe_incidents(world.book);
  PartHosts::Port& port = world.hosts[1].ports[1];
  PartHosts::set_link(port, "32x8");
  world.changed();
  world.seconds(kHold - 10);
  EXPECT_TRUE(world.open().empty()) << "it may be training";
  world.seconds(20);
  const Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.kind, IncidentKind::kHostDegraded);
  EXPECT_EQ(incident.finding.severity, Severity::kWarning);
  EXPECT_EQ(incident.finding.cause.identity(), "host_port::gpu-1:mlx5_1:1");
  EXPECT_EQ(incident.finding.summary, "Adapter of gpu-1 mlx5_1 port 1: PCIe link 0000:11:00.0 runs at x8 of x16");
  // Nobody can read it for a while: it is not repaired.
  port.facts.erase(ConfigFact::kPcieLinks);
  world.changed();
  world.seconds(30);
  EXPECT_EQ(world.open().size(), 1U);
  PartHosts::set_link(port, "32x16");
  world.changed();
  world.seconds(10);
  EXPECT_TRUE(open_incidents(world.book).empty());
}

TEST(HostParts, WhatIsShortOnPurposeOrForMomentsIsNothing) {
  PartHosts world;
  std::vector<PartHosts::Port*> ports;
  for (PartHosts::Host& host : world.hosts)
    for (PartHosts::Port& port : host.ports) ports.push_back(&port);
  PartHosts::set_link(*ports[0], "32x8", "32x16/32x8");    // a short slot
  PartHosts::set_link(*ports[1], "16x16", "32x16/16x16");  // an older host
  PartHosts::set_link(*ports[2], "32x1");                  // nobody uses it, and it sleeps
  ports[2]->up = false;
  PartHosts::set_link(*ports[3], "32x1");  // made for a guest
  ports[3]->is_virtual = true;
  ports[4]->facts.erase(ConfigFact::kPcieLinks);
  world.changed();
  // It slows down while it is idle.
  for (unsigned i = 0; i < 12; ++i) {
    PartHosts::set_link(*ports[5], i % 2 == 0 ? "2.5x16" : "32x16");
    world.changed();
    world.seconds(60);
    EXPECT_TRUE(open_incidents(world.book).empty()) << describe_incidents(world.book);
  }
}

TEST(HostParts, OneIncidentForTheFunctionsOfAnAdapter) {
  PartHosts world(2, 1);
  PartHosts::Port second = world.hosts[0].ports[0];
  second.device = "mlx5_1";
  second.address = "0000:10:00.1";
  world.hosts[0].ports.push_back(second);
  for (PartHosts::Port& port : world.hosts[0].ports) {
    port.rate = 100'000'000'000;
    PartHosts::set_link(port, "16x8", "16x16/16x16");
  }
  world.changed();
  world.seconds(kHold + 20);
  const Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.cause.device, "mlx5_0");
  ASSERT_EQ(incident.finding.affected.size(), 1U);
  EXPECT_EQ(incident.finding.affected[0].device, "mlx5_1");
  EXPECT_EQ(incident.finding.severity, Severity::kWarning) << "126 Gb/s for two ports of 100";
}

TEST(HostParts, ARestartForgetsAndRepeatsNothing) {
  PartHosts world;
  PartHosts::set_link(world.hosts[0].ports[0], "32x8");
  world.changed();
  world.seconds(kHold + 20);
  const std::uint64_t id = only_incident(world.book).id;
  world.hosts[0].silent = true;
  world.begin();
  world.seconds(40);
  ASSERT_EQ(world.open().size(), 1U);
  EXPECT_EQ(world.open()[0].id, id) << "its host has not told yet";
  world.hosts[0].silent = false;
  world.hosts[0].facts_at = world.now;  // its collector was started anew, too
  world.seconds(20);
  EXPECT_EQ(only_incident(world.book).id, id);
  EXPECT_EQ(only_incident(world.book).occurrences, 1U);
  PartHosts::set_link(world.hosts[0].ports[0], "32x16");
  world.changed();
  world.seconds(10);
  EXPECT_TRUE(open_incidents(world.book).empty());
}

TEST(HostParts, ADriverThatIsLoadedAgainResolvesNothing) {
  PartHosts world;
  PartHosts::set_link(world.hosts[0].ports[0], "32x8");
  world.changed();
  world.seconds(kHold + 20);
  ASSERT_EQ(world.open().size(), 1U);
  world.hosts[0].ports[0].is_away = true;
  world.changed();
  world.seconds(2);
  world.hosts[0].ports[0].is_away = false;
  world.changed();
  world.seconds(10);
  ASSERT_EQ(world.open().size(), 1U);
  EXPECT_EQ(world.open()[0].occurrences, 1U);
}

TEST(HostParts, WhatMostAdaptersHaveInCommonIsOneRemark) {
  PartHosts world(8, 2);
  for (PartHosts::Host& host : world.hosts)
    for (PartHosts::Port& port : host.ports) PartHosts::set_link(port, "16x16");
  PartHosts::set_link(world.hosts[7].ports[1], "16x4");
  world.changed();
  world.seconds(kHold + 60);
  const std::vector<Incident> open = world.open();
  ASSERT_EQ(open.size(), 2U) << describe_incidents(world.book);
  const auto remark =
      std::ranges::find(open, Severity::kInfo, [](const Incident& one) { return one.finding.severity; });
  ASSERT_NE(remark, open.end());
  EXPECT_EQ(remark->finding.cause.kind, EntityKind::kCohort);
  EXPECT_EQ(remark->finding.affected.size(), 15U);
  const auto alone =
      std::ranges::find(open, Severity::kWarning, [](const Incident& one) { return one.finding.severity; });
  ASSERT_NE(alone, open.end());
  EXPECT_EQ(alone->finding.cause.label, "gpu-7 mlx5_1 port 1");
  // They come back one after the other after a restart: no flood.
  for (PartHosts::Host& host : world.hosts) host.silent = true;
  world.begin();
  for (PartHosts::Host& host : world.hosts) {
    host.silent = false;
    world.seconds(1);
    EXPECT_EQ(world.open().size(), 2U) << describe_incidents(world.book);
  }
  world.seconds(60);
  EXPECT_EQ(open_incidents(world.book).size(), 2U) << describe_incidents(world.book);
}

TEST(HostParts, IsTheReasonOfWhatElseIsWrongAtItsPort) {
  PartHosts world;
  PartHosts::set_link(world.hosts[0].ports[0], "32x8");
  world.changed();
  world.seconds(kHold + 20);
  for (PartHosts::Port& port : world.hosts[0].ports) ++port.counters["retries_exhausted"];
  world.seconds(2);
  const std::vector<Incident> errors = world.open(IncidentKind::kRdmaErrors);
  ASSERT_EQ(errors.size(), 2U) << describe_incidents(world.book);
  const auto reason_of = [](const Incident& incident) {
    const auto found = std::ranges::find(incident.finding.evidence, kPartSignal, &Evidence::signal);
    return found == incident.finding.evidence.end() ? std::string() : found->description;
  };
  EXPECT_TRUE(errors[0].finding.summary.ends_with("; HOST_DEGRADED there: PCIe link 0000:10:00.0 runs at x8 of x16"))
      << errors[0].finding.summary;
  EXPECT_TRUE(reason_of(errors[0]).starts_with(
      "HOST_DEGRADED of gpu-0 mlx5_0 port 1: PCIe link 0000:10:00.0 ran at 32 GT/s x8"))
      << reason_of(errors[0]);
  EXPECT_EQ(reason_of(errors[1]), "") << "another adapter";
}

TEST(HostParts, IsOffWhereNobodyWantsIt) {
  PartHosts world;
  PartHosts::set_link(world.hosts[0].ports[0], "32x8");
  world.changed();
  world.seconds(kHold + 20);
  ASSERT_EQ(world.open().size(), 1U);
  world.thresholds.parts.enabled = false;
  world.begin();
  world.seconds(40);
  EXPECT_TRUE(open_incidents(world.book).empty());
}

}  // namespace
}  // namespace weft::analyzer
