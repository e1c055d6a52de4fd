// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "analyzer/parts/host_parts.hpp"
#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

/// "gpu-0" has two adapters on the subnet "rail"; the PCIe link of the first is short.
struct ReasonHosts {
  ReasonHosts() {
    HostWatch& host = hosts["gpu-0"];
    host.name = "gpu-0";
    host.has_reading = true;
    auto inventory = std::make_shared<HostInventory>();
    FactTable table;
    for (int i = 0; i < 2; ++i) {
      HostPort& port = inventory->ports.emplace_back();
      port.device = "mlx5_" + std::to_string(i);
      port.number = 1;
      port.pci_address = "0000:1" + std::to_string(i) + ":00.0";
      port.state = PortState::kActive;
      port.rate_bits_per_second = 400'000'000'000;
      table.ports.push_back({port.device,
                             1,
                             {{ConfigFact::kPcieLinks, FactSource::kSysfs,
                               port.pci_address + (i == 0 ? " 32x8/32x16/32x16" : " 32x16/32x16/32x16")}}});
    }
    take_inventory(host, inventory, slots);
    for (std::size_t i = 0; i < host.ports.size(); ++i) {
      note_up(host, host.ports[i], 400'000'000'000);
      host.ports[i].place.emplace();
      host.ports[i].place->port = port_entity(i + 1);
    }
    HostReading reading;
    reading.taken = reading.facts_at = now;
    reading.inventory = inventory;
    reading.facts = std::make_shared<const FactTable>(tidy(std::move(table)));
    parts.take(host, reading);
    now += std::chrono::hours(1);
    std::vector<Finding> own;
    parts.judge(hosts, true, now, own);
    found = own.size();
  }
  static Entity port_entity(std::uint64_t guid) {
    Entity port{.kind = EntityKind::kPort, .fabric = "rail", .port = {}, .peer = {}, .label = "a port"};
    port.port = {NodeGuid{guid}, PortNum{1}};
    return port;
  }
  static Entity link_of(const Entity& port) {
    Entity link = port;
    link.kind = EntityKind::kLink;
    link.peer = link.port;
    link.port = {NodeGuid{77}, PortNum{3}};
    return link;
  }
  /// How often the summary of a finding with that cause names the part.
  std::size_t reasons(IncidentKind kind, const Entity& cause) const {
    std::vector<Finding> findings{make_finding(kind, Severity::kWarning, cause)};
    findings[0].summary = "slow";
    parts.explain(findings, now);
    const auto count =
        static_cast<std::size_t>(std::ranges::count(findings[0].evidence, kPartSignal, &Evidence::signal));
    EXPECT_EQ(count != 0, findings[0].summary == "slow; HOST_DEGRADED there: PCIe link 0000:10:00.0 runs at x8 of x16")
        << findings[0].summary;
    return count;
  }

  TimePoint now{std::chrono::seconds(1'800'000'000)};
  Hosts hosts;
  PortSlots slots;
  HostParts parts{Thresholds{}};
  std::size_t found = 0;
};

TEST(PartReasons, WhatIsToldOfItsPortNamesIt) {
  const ReasonHosts world;
  ASSERT_EQ(world.found, 1U);
  const Entity own = ReasonHosts::port_entity(1);
  EXPECT_EQ(world.reasons(IncidentKind::kSlowReceiver, own), 1U);
  EXPECT_EQ(world.reasons(IncidentKind::kRdmaErrors, own), 1U);
  EXPECT_EQ(world.reasons(IncidentKind::kLinkDegraded, ReasonHosts::link_of(own)), 1U);
  EXPECT_EQ(world.reasons(IncidentKind::kSlowReceiver, ReasonHosts::port_entity(2)), 0U) << "another adapter";
  EXPECT_EQ(world.reasons(IncidentKind::kLinkDown, own), 0U) << "a cable is not pulled by a slot";
  Entity elsewhere = own;
  elsewhere.fabric = "another";
  EXPECT_EQ(world.reasons(IncidentKind::kSlowReceiver, elsewhere), 0U);
}

TEST(PartReasons, AStragglerIsAsSlowAsItsSlowestAdapter) {
  const ReasonHosts world;
  Entity other = ReasonHosts::port_entity(2);
  other.host = "gpu-0";
  EXPECT_EQ(world.reasons(IncidentKind::kStraggler, other), 1U);
  EXPECT_EQ(world.reasons(IncidentKind::kRdmaErrors, other), 0U);
  other.host = "gpu-1";
  EXPECT_EQ(world.reasons(IncidentKind::kStraggler, other), 0U);
}

}  // namespace
}  // namespace weft::analyzer
