// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/analyzer/parts/part_hosts.hpp"

namespace weft::analyzer {
namespace {

constexpr unsigned kGaugeHold = 60;

/// The first port of the first host has a module of two lanes.
struct ModuleHosts : PartHosts {
  ModuleHosts() {
    Port& port = module();
    port.facts[ConfigFact::kModuleTemperatureLimits] = "-5 0 70 75";
    port.facts[ConfigFact::kModuleBiasLimits] = "2 3 75 80";
    port.facts[ConfigFact::kModuleTransmitPowerLimits] = "0.1 0.2 2 3";
    port.gauges[{"module_temperature", kNoLane}] = 40'000;
    for (std::uint8_t lane = 0; lane < 2; ++lane) {
      port.gauges[{"module_bias", lane}] = 50'000;
      port.gauges[{"module_transmit_power", lane}] = 1'000'000;
    }
    changed();
    seconds(20);
  }
  Port& module() { return hosts[0].ports[0]; }
  std::optional<std::int64_t>& temperature() { return module().gauges[{"module_temperature", kNoLane}]; }
  std::optional<std::int64_t>& bias(std::uint8_t lane) { return module().gauges[{"module_bias", lane}]; }
  std::optional<std::int64_t>& power(std::uint8_t lane) { return module().gauges[{"module_transmit_power", lane}]; }
  std::string summary() const {
    const std::vector<Incident> found = open(IncidentKind::kModuleDegraded);
    return found.size() == 1 ? found[0].finding.summary : std::to_string(found.size()) + " incidents";
  }
};

TEST(ModuleParts, IsJudgedByItsOwnLimits) {
  ModuleHosts world;
  world.seconds(200);
  EXPECT_TRUE(open_incidents(world.book).empty()) << describe_incidents(world.book);
  world.temperature() = 71'000;
  world.seconds(kGaugeHold - 10);
  EXPECT_TRUE(open_incidents(world.book).empty()) << "for moments";
  world.seconds(20);
  Incident incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.kind, IncidentKind::kModuleDegraded);
  EXPECT_EQ(incident.finding.severity, Severity::kInfo);
  EXPECT_EQ(incident.finding.summary, "Module at gpu-0 mlx5_0 port 1: module temperature is above its warning limit");
  world.temperature() = 76'500;
  world.seconds(kGaugeHold + 10);
  incident = only_incident(world.book);
  EXPECT_EQ(incident.finding.severity, Severity::kWarning);
  const auto evidence = std::ranges::find(incident.finding.evidence, "module_temperature", &Evidence::signal);
  ASSERT_NE(evidence, incident.finding.evidence.end());
  EXPECT_EQ(evidence->value, 76.5);
  EXPECT_EQ(evidence->threshold, 75);
  world.temperature() = 60'000;
  world.seconds(30);
  EXPECT_EQ(world.open(IncidentKind::kModuleDegraded).size(), 1U) << "it may come back";
  world.seconds(kGaugeHold);
  EXPECT_TRUE(open_incidents(world.book).empty());
}

TEST(ModuleParts, ALaserThatAgesIsNamedWithItsLane) {
  ModuleHosts world;
  world.bias(1) = 81'000;
  world.seconds(kGaugeHold + 10);
  EXPECT_EQ(world.summary(), "Module at gpu-0 mlx5_0 port 1: laser bias of lane 1 is above its alarm limit");
  world.power(0) = 90'000;
  world.seconds(kGaugeHold + 10);
  EXPECT_EQ(world.summary(),
            "Module at gpu-0 mlx5_0 port 1: laser bias of lane 1 is above its alarm limit; "
            "transmit power of lane 0 is below its alarm limit");
}

TEST(ModuleParts, LanesThatAreOffAndPortsThatAreDownSayNothing) {
  ModuleHosts world;
  world.bias(1) = 0;
  world.power(1) = 100;
  world.seconds(200);
  EXPECT_EQ(world.summary(), "0 incidents") << "a lane that is switched off";
  world.module().up = false;
  world.bias(0) = 90'000;
  world.changed();
  world.seconds(200);
  EXPECT_EQ(world.summary(), "0 incidents");
}

TEST(ModuleParts, WhatNamesNoLimitsIsNotJudged) {
  ModuleHosts world;
  world.module().facts.erase(ConfigFact::kModuleTemperatureLimits);
  world.changed();
  world.temperature() = 150'000;
  world.seconds(200);
  EXPECT_EQ(world.summary(), "0 incidents");
}

TEST(ModuleParts, WhatIsNotReadIsNotRepairedUntilItIsForgotten) {
  ModuleHosts world;
  world.temperature() = 80'000;
  world.seconds(kGaugeHold + 10);
  ASSERT_EQ(world.open(IncidentKind::kModuleDegraded).size(), 1U);
  world.temperature().reset();
  world.seconds(300);
  EXPECT_EQ(world.open(IncidentKind::kModuleDegraded).size(), 1U);
  world.seconds(400);
  EXPECT_EQ(world.summary(), "0 incidents");
}

TEST(ModuleParts, AnotherModuleBeginsAnew) {
  ModuleHosts world;
  world.temperature() = 80'000;
  world.seconds(kGaugeHold + 10);
  ASSERT_EQ(world.open(IncidentKind::kModuleDegraded).size(), 1U);
  world.module().facts[ConfigFact::kModuleTemperatureLimits] = "-5 0 85 90";
  world.changed();
  world.seconds(10);
  EXPECT_EQ(world.summary(), "0 incidents");
}

TEST(ModuleParts, ARestartKeepsWhatItWas) {
  ModuleHosts world;
  world.temperature() = 80'000;
  world.seconds(kGaugeHold + 10);
  const std::uint64_t id = only_incident(world.book).id;
  world.temperature().reset();
  world.begin();
  world.seconds(40);
  EXPECT_EQ(only_incident(world.book).id, id) << "nobody has read it since";
  world.temperature() = 80'000;
  world.seconds(10);
  EXPECT_EQ(only_incident(world.book).id, id) << "it lasted long enough before";
  world.temperature() = 50'000;
  world.seconds(2 * kGaugeHold);
  EXPECT_TRUE(open_incidents(world.book).empty());
}

}  // namespace
}  // namespace weft::analyzer
