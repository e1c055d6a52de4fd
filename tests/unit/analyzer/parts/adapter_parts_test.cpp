// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/analyzer/parts/part_hosts.hpp"

namespace weft::analyzer {
namespace {

/// Adapters whose AER counters begin at what they counted in weeks before.
struct AdapterHosts : PartHosts {
  AdapterHosts() {
    for (Host& host : hosts)
      for (Port& port : host.ports) {
        for (const char* const name : {"pcie_correctable_errors", "pcie_nonfatal_errors", "pcie_fatal_errors"})
          port.counters[name] = 100'000;
        port.gauges[{"adapter_temperature", kNoLane}] = 60'000;
        port.facts[ConfigFact::kAdapterTemperatureLimits] = "- - 95 105";
        port.facts[ConfigFact::kKernelFault] = "none";
      }
    changed();
    seconds(20);
  }
  Port& port() { return hosts[0].ports[0]; }
  std::string summary() const {
    const std::vector<Incident> found = open();
    return found.size() == 1 ? found[0].finding.summary : std::to_string(found.size()) + " incidents";
  }
};

TEST(AdapterParts, WhatWasCountedBeforeIsNothing) {
  AdapterHosts world;
  world.seconds(400);
  EXPECT_TRUE(open_incidents(world.book).empty()) << describe_incidents(world.book);
  // The adapter was taken out and put in again.
  for (auto& [name, value] : world.port().counters) value = 0;
  world.seconds(100);
  EXPECT_TRUE(open_incidents(world.book).empty()) << describe_incidents(world.book);
}

TEST(AdapterParts, CorrectedErrorsAreToldAboveWhatTheStandardAllows) {
  AdapterHosts world;
  world.port().counters["pcie_correctable_errors"] +=
      3'600;  // 1e-12 of both directions at 32 GT/s x16 is 3,686 an hour
  world.seconds(10);
  EXPECT_EQ(world.summary(), "0 incidents");
  world.port().counters["pcie_correctable_errors"] += 100;
  world.seconds(10);
  EXPECT_EQ(world.summary(), "Adapter of gpu-0 mlx5_0 port 1: PCIe link makes more errors than the standard allows");
  const Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.severity, Severity::kWarning);
  ASSERT_EQ(incident.finding.evidence.size(), 1U);
  EXPECT_EQ(incident.finding.evidence[0].value, 3'700);
  EXPECT_NEAR(incident.finding.evidence[0].threshold, 3'686, 1);
  world.seconds(3'700);
  EXPECT_EQ(world.summary(), "0 incidents");
}

TEST(AdapterParts, ALinkThatIsNotKnownHasNoLimit) {
  AdapterHosts world;
  world.port().facts.erase(ConfigFact::kPcieLinks);
  world.changed();
  world.begin();
  world.seconds(20);
  world.port().counters["pcie_correctable_errors"] += 1'000'000;
  world.seconds(10);
  EXPECT_EQ(world.summary(), "0 incidents");
  world.port().counters["pcie_nonfatal_errors"] += 1;
  world.seconds(10);
  EXPECT_EQ(world.summary(), "Adapter of gpu-0 mlx5_0 port 1: PCIe transactions fail");
}

TEST(AdapterParts, OneFatalErrorIsToldForAnHour) {
  AdapterHosts world;
  world.port().counters["pcie_fatal_errors"] += 1;
  world.seconds(10);
  EXPECT_EQ(world.summary(), "Adapter of gpu-0 mlx5_0 port 1: PCIe link fails");
  const std::uint64_t id = only_incident(world.book).id;
  world.begin();
  world.seconds(1'000);
  EXPECT_EQ(only_incident(world.book).id, id) << "nobody has listened for an hour";
  world.seconds(3'000);
  EXPECT_EQ(world.summary(), "0 incidents");
}

TEST(AdapterParts, IsJudgedByItsOwnTemperatureLimits) {
  AdapterHosts world;
  world.port().gauges[{"adapter_temperature", kNoLane}] = 96'000;
  world.seconds(70);
  EXPECT_EQ(world.summary(), "Adapter of gpu-0 mlx5_0 port 1: adapter temperature is above its warning limit");
  EXPECT_EQ(only_incident(world.book).finding.severity, Severity::kInfo);
  world.port().gauges[{"adapter_temperature", kNoLane}] = 105'000;
  world.seconds(70);
  EXPECT_EQ(only_incident(world.book).finding.severity, Severity::kWarning);
}

TEST(AdapterParts, TheKernelsWordCounts) {
  AdapterHosts world;
  world.port().facts[ConfigFact::kKernelFault] =
      "health_compromised 2027-01-15 08:00:00 UTC: mlx5_core 0000:10:00.0: device's health compromised";
  world.changed();
  world.seconds(5);
  EXPECT_EQ(world.summary(), "Adapter of gpu-0 mlx5_0 port 1: firmware does not answer its driver");
  EXPECT_EQ(only_incident(world.book).finding.severity, Severity::kWarning);
  // It was given up.
  world.port().facts[ConfigFact::kKernelFault] =
      "recovery_aborted 2027-01-15 08:01:00 UTC: mlx5_core 0000:10:00.0: health recovery flow aborted";
  world.changed();
  world.seconds(5);
  EXPECT_EQ(only_incident(world.book).finding.severity, Severity::kCritical);
  // Nobody may read the log any more: that is no recovery.
  world.port().facts.erase(ConfigFact::kKernelFault);
  world.changed();
  world.seconds(30);
  EXPECT_EQ(world.open().size(), 1U);
  world.begin();
  world.seconds(60);
  EXPECT_EQ(world.open().size(), 1U) << "nor is a restart";
  world.port().facts[ConfigFact::kKernelFault] = "none";
  world.changed();
  world.seconds(10);
  EXPECT_EQ(world.summary(), "0 incidents");
}

TEST(AdapterParts, AModuleThatTheKernelNamesIsTheModules) {
  AdapterHosts world;
  world.port().facts[ConfigFact::kKernelFault] = "module_hot 2027-01-15 08:00:00 UTC: mlx5_core 0000:10:00.0: hot";
  world.hosts[1].ports[0].facts[ConfigFact::kKernelFault] = "no_such_key 2027-01-15 08:00:00 UTC: something newer";
  world.changed();
  world.seconds(5);
  EXPECT_EQ(only_incident(world.book).finding.kind, IncidentKind::kModuleDegraded);
  EXPECT_EQ(only_incident(world.book).finding.summary, "Module at gpu-0 mlx5_0 port 1: module is too hot");
}

TEST(AdapterParts, AllThatIsWrongIsOneIncident) {
  AdapterHosts world;
  PartHosts::set_link(world.port(), "32x8");
  world.port().gauges[{"adapter_temperature", kNoLane}] = 110'000;
  world.changed();
  world.seconds(400);
  EXPECT_EQ(world.summary(),
            "Adapter of gpu-0 mlx5_0 port 1: adapter temperature is above its alarm limit; "
            "PCIe link 0000:10:00.0 runs at x8 of x16");
}

}  // namespace
}  // namespace weft::analyzer
