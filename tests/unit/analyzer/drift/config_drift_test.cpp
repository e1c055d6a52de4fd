// SPDX-License-Identifier: Apache-2.0
#include "analyzer/drift/config_drift.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analyzer/host_analyzer.hpp"
#include "analyzer/incidents/incident_manager.hpp"
#include "tests/fakes/open_incidents.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// Hosts with adapters whose settings can be changed one by one.
struct Fleet {
  struct Adapter {
    std::map<ConfigFact, std::string> facts{{ConfigFact::kFirmware, "28.41.1000"},
                                            {ConfigFact::kBoard, "MT_0000000223"},
                                            {ConfigFact::kMtu, "4200"},
                                            {ConfigFact::kPcieWidth, "16"}};
    bool up = true;
    bool is_virtual = false;
  };
  struct Host {
    std::string name;
    std::string model = "DGXH100";
    std::vector<Adapter> adapters;
    bool silent = false;
    std::shared_ptr<const FactTable> table{};
    std::shared_ptr<const HostInventory> inventory{};
    TimePoint facts_at = kNever;
  };

  explicit Fleet(unsigned count = 64, unsigned adapters = 8, Duration rollout = 0s, SettingProfiles wanted = {})
      : profiles(std::move(wanted)) {
    begin(rollout), grow(count, adapters);
  }
  void begin(Duration rollout) {
    Thresholds thresholds;
    thresholds.config_drift.rollout = rollout;
    analyzer.emplace(thresholds, now);
    analyzer->set_profiles(std::make_shared<const SettingProfiles>(profiles));
  }
  void grow(unsigned count, unsigned adapters, const std::string& name = "gpu-") {
    for (unsigned i = 0; i < count; ++i)
      hosts.push_back({name + std::to_string(i), "DGXH100", std::vector<Adapter>(adapters)});
    changed();
  }
  /// Settings were changed: they are read again.
  void changed() {
    for (Host& host : hosts) {
      FactTable table;
      auto inventory = std::make_shared<HostInventory>();
      if (!host.model.empty())
        table.ports.push_back({"", 0, {{ConfigFact::kHostModel, FactSource::kSysfs, host.model}}});
      for (std::size_t i = 0; i < host.adapters.size(); ++i) {
        const Adapter& adapter = host.adapters[i];
        PortFacts port{"mlx5_" + std::to_string(i), 1, {}};
        for (const auto& [fact, value] : adapter.facts) port.facts.push_back({fact, FactSource::kSysfs, value});
        table.ports.push_back(std::move(port));
        HostPort& there = inventory->ports.emplace_back();
        there.device = "mlx5_" + std::to_string(i);
        there.number = 1;
        there.pci_address = "0000:1" + std::to_string(i) + ":00.0";
        there.link_layer = LinkLayer::kInfiniBand;
        there.state = adapter.up ? PortState::kActive : PortState::kDown;
        there.is_virtual_function = adapter.is_virtual;
      }
      table = tidy(std::move(table));
      if (!host.table || *host.table != table) {
        host.table = std::make_shared<const FactTable>(std::move(table));
        host.facts_at = now;
      }
      if (!host.inventory || host.inventory->ports != inventory->ports) host.inventory = std::move(inventory);
    }
  }
  void seconds(unsigned count, Duration step = 1s) {
    for (unsigned i = 0; i < count; ++i) {
      now += step;
      for (Host& host : hosts) {
        if (host.silent) continue;
        HostBatch batch;
        batch.reading.emplace();
        batch.reading->taken = now;
        batch.reading->inventory = host.inventory;
        batch.reading->facts = host.table;
        batch.reading->facts_at = host.facts_at;
        analyzer->hear(host.name, step, now);
        analyzer->take(host.name, batch);
      }
      auto analysis = analyzer->judge(now);
      book.update(kHostsFabric, std::move(analysis.findings), analysis.coverage, now);
    }
  }
  std::vector<Incident> drifts() const {
    std::vector<Incident> found;
    for (const Incident& incident : open_incidents(book))
      if (incident.finding.kind == IncidentKind::kConfigDrift) found.push_back(incident);
    return found;
  }
  const DriftReport& report() const { return *analyzer->drift(); }
  Adapter& adapter(std::size_t number) {
    const std::size_t each = hosts.front().adapters.size();
    return hosts[number / each].adapters[number % each];
  }

  TimePoint now{std::chrono::seconds(1'700'000'000)};
  std::optional<HostAnalyzer> analyzer;
  IncidentManager book{IncidentPolicy{}, {}, 1};
  std::vector<Host> hosts;
  SettingProfiles profiles;
};

TEST(ConfigDrift, NothingDiffersInACleanFleet) {
  Fleet fleet;
  fleet.seconds(30);
  EXPECT_TRUE(fleet.drifts().empty());
  EXPECT_TRUE(fleet.report().differences.empty());
  EXPECT_EQ(fleet.report().hosts, 64U);
  EXPECT_EQ(fleet.report().groups, fleet.report().agreed);
  EXPECT_GT(fleet.report().groups, 0U);
}

TEST(ConfigDrift, OneIncidentNamesAllWhoDiffer) {
  Fleet fleet;
  fleet.adapter(17).facts[ConfigFact::kFirmware] = "28.39.1002";
  fleet.adapter(300).facts[ConfigFact::kFirmware] = "28.39.1002";
  fleet.changed();
  fleet.seconds(10);
  ASSERT_EQ(fleet.drifts().size(), 1U);
  const Finding finding = fleet.drifts()[0].finding;
  EXPECT_EQ(finding.severity, Severity::kInfo);
  EXPECT_EQ(finding.cause.kind, EntityKind::kCohort);
  EXPECT_EQ(
      finding.summary,
      "2 of 512 adapters of board MT_0000000223 in DGXH100, hosts gpu-# have firmware 28.39.1002, 510 have 28.41.1000");
  ASSERT_EQ(finding.affected.size(), 2U);
  EXPECT_EQ(finding.affected[0].label, "gpu-2 mlx5_1 port 1");
  EXPECT_EQ(finding.affected[1].label, "gpu-37 mlx5_4 port 1");
  EXPECT_EQ(finding.evidence[0].value, 2);
  // Repaired: over.
  fleet.adapter(17).facts[ConfigFact::kFirmware] = "28.41.1000";
  fleet.changed();
  fleet.seconds(10);
  ASSERT_EQ(fleet.drifts().size(), 1U);
  EXPECT_EQ(fleet.drifts()[0].finding.affected.size(), 1U);
  fleet.adapter(300).facts[ConfigFact::kFirmware] = "28.41.1000";
  fleet.changed();
  fleet.seconds(60);  // weftd has just begun to listen
  EXPECT_TRUE(fleet.drifts().empty());
}

TEST(ConfigDrift, SharesOfTheFleet) {
  for (const std::size_t step : {std::size_t{100}, std::size_t{20}}) {
    Fleet fleet;
    for (std::size_t i = 3; i < 512; i += step) fleet.adapter(i).facts[ConfigFact::kMtu] = "2044";
    fleet.changed();
    fleet.seconds(10);
    ASSERT_EQ(fleet.drifts().size(), 1U) << step;
    EXPECT_EQ(fleet.drifts()[0].finding.affected.size(), (512 - 3 + step - 1) / step);
    EXPECT_EQ(fleet.report().differences[0].values[0].value, "4200");
  }
  // Four in ten; the list is bounded, the count is not.
  Fleet fleet;
  for (std::size_t i = 0; i < 512; ++i)
    if (i * 7 % 10 < 4) fleet.adapter(i).facts[ConfigFact::kMtu] = "2044";
  fleet.changed();
  fleet.seconds(10);
  ASSERT_EQ(fleet.drifts().size(), 1U);
  EXPECT_EQ(fleet.drifts()[0].finding.affected.size(), kMostAffected);
  EXPECT_EQ(fleet.report().differences[0].differing, 205U);
  EXPECT_EQ(fleet.report().differences[0].holders.size(), kMostDriftHolders);
  EXPECT_EQ(fleet.report().differences[0].values[0].value, "4200");
}

/// Other boards, models, roles, places, ports that are not used and functions of guests: all set up otherwise.
TEST(ConfigDrift, NothingDiffersInAMixedFleet) {
  Fleet fleet(40, 4);
  fleet.grow(20, 2, "store-");
  for (std::size_t i = 0; i < fleet.hosts.size(); ++i) {
    Fleet::Host& host = fleet.hosts[i];
    if (i < 40) {
      host.adapters[3].facts[ConfigFact::kBoard] = "MT_0000000838";
      host.adapters[3].facts[ConfigFact::kFirmware] = "22.1.1";
      host.adapters[2].facts[ConfigFact::kMtu] = "1500";  // of another purpose, in every host
      host.adapters[2].facts[ConfigFact::kPcieWidth] = "8";
      if (i % 5 == 0) {  // not used
        host.adapters[1].up = false;
        host.adapters[1].facts[ConfigFact::kMtu] = "256";
      }
      if (i % 3 == 0) {
        host.adapters.push_back(
            {.facts = {{ConfigFact::kBoard, "MT_0000000223"}, {ConfigFact::kMtu, std::to_string(i)}},
             .up = true,
             .is_virtual = true});
      }
      if (i % 7 == 0) host.adapters[0].facts.erase(ConfigFact::kPcieWidth);  // not read: absent, not another value
    } else {
      for (auto& adapter : host.adapters) adapter.facts[ConfigFact::kMtu] = "9000";
    }
    if (i % 2 == 0 && i < 40) {
      host.model = "OTHER";
      for (auto& adapter : host.adapters)
        if (!adapter.is_virtual) adapter.facts[ConfigFact::kFirmware] += ".7";
    }
  }
  fleet.changed();
  fleet.seconds(20);
  EXPECT_TRUE(fleet.drifts().empty());
  for (const DriftDifference& one : fleet.report().differences)
    ADD_FAILURE() << row_of(one.fact).name << ' ' << one.group << ' ' << one.values[1].value;
}

TEST(ConfigDrift, AYoungRolloutIsNoIncident) {
  Fleet fleet(32, 4, 6h);
  fleet.seconds(60);
  // Host after host, within four hours: at the end those are few that have the old one.
  for (unsigned host = 0; host < 5; ++host) {
    for (auto& adapter : fleet.hosts[host].adapters) adapter.facts[ConfigFact::kFirmware] = "28.43.1";
    fleet.changed();
    fleet.seconds(20, 1min);
    EXPECT_TRUE(fleet.drifts().empty()) << host;
    EXPECT_EQ(fleet.report().differences.at(0).state, ConfigDriftState::kRollingOut);
  }
  for (unsigned host = 5; host < 31; ++host) {
    for (auto& adapter : fleet.hosts[host].adapters) adapter.facts[ConfigFact::kFirmware] = "28.43.1";
    fleet.changed();
    fleet.seconds(1, 5min);
    EXPECT_TRUE(fleet.drifts().empty()) << host;
  }
  fleet.seconds(4, 1h);
  EXPECT_TRUE(fleet.drifts().empty());
  // The last host was forgotten.
  fleet.seconds(8, 1h);
  ASSERT_EQ(fleet.drifts().size(), 1U);
  EXPECT_EQ(fleet.drifts()[0].finding.affected.size(), 4U);
  EXPECT_EQ(fleet.drifts()[0].finding.affected[0].host, "gpu-31");
  fleet.hosts[31].adapters.assign(4, fleet.hosts[0].adapters[0]);
  fleet.changed();
  fleet.seconds(10);
  EXPECT_TRUE(fleet.drifts().empty());
}

TEST(ConfigDrift, UndecidedIsSaidAndNeverGuessed) {
  Fleet few(4, 8);
  for (auto& adapter : few.hosts[1].adapters) adapter.facts[ConfigFact::kMtu] = "1500";
  few.changed();
  few.seconds(10);
  EXPECT_TRUE(few.drifts().empty());
  ASSERT_EQ(few.report().differences.size(), 1U);
  EXPECT_EQ(few.report().differences[0].state, ConfigDriftState::kTooFew);
  EXPECT_EQ(few.report().differences[0].differing, 0U);
  Fleet tie(10, 2);
  for (std::size_t i = 0; i < 20; ++i) tie.adapter(i).facts[ConfigFact::kMtu] = i < 10 ? "1500" : "9000";
  tie.changed();
  tie.seconds(10);
  EXPECT_TRUE(tie.drifts().empty());
  ASSERT_EQ(tie.report().differences.size(), 1U);
  EXPECT_EQ(tie.report().differences[0].state, ConfigDriftState::kNoMajority);
}

TEST(ConfigDrift, AbsentCollectorsChangeNothing) {
  Fleet fleet(20, 2);
  fleet.adapter(5).facts[ConfigFact::kMtu] = "1500";
  fleet.changed();
  fleet.seconds(10);
  ASSERT_EQ(fleet.drifts().size(), 1U);
  const std::string summary = fleet.drifts()[0].finding.summary;
  for (unsigned i = 0; i < 15; ++i) fleet.hosts[i].silent = true;  // the one that differs, too
  fleet.seconds(600);
  ASSERT_EQ(fleet.drifts().size(), 1U);
  EXPECT_EQ(fleet.drifts()[0].finding.summary, summary);
  // A host that is forgotten differs from nobody.
  fleet.analyzer->forget("gpu-2");
  fleet.seconds(20);
  EXPECT_TRUE(fleet.drifts().empty());
}

TEST(ConfigDrift, ARestartResolvesNothingThatItDidNotSee) {
  Fleet fleet(20, 2);
  fleet.adapter(5).facts[ConfigFact::kMtu] = "1500";
  fleet.changed();
  fleet.seconds(10);
  ASSERT_EQ(fleet.drifts().size(), 1U);
  const Incident before = fleet.drifts()[0];
  fleet.begin(0s);
  for (const Fleet::Host& host : fleet.hosts) fleet.analyzer->expect(host.name, fleet.now);
  fleet.analyzer->remember(before);
  fleet.hosts[2].silent = true;  // it is away while weftd starts
  fleet.seconds(300);
  ASSERT_EQ(fleet.drifts().size(), 1U);
  fleet.hosts[2].silent = false;
  fleet.seconds(20);
  ASSERT_EQ(fleet.drifts().size(), 1U);
  EXPECT_EQ(fleet.drifts()[0].id, before.id);
  fleet.adapter(5).facts[ConfigFact::kMtu] = "4200";
  fleet.changed();
  fleet.seconds(20);
  EXPECT_TRUE(fleet.drifts().empty());
}

/// What was told before a restart is no rollout after it; what changes after its repair may be one.
TEST(ConfigDrift, ARestartMakesNoOldDifferenceYoung) {
  Fleet fleet(20, 2);
  fleet.adapter(5).facts[ConfigFact::kMtu] = "1500";
  fleet.changed();
  fleet.seconds(10);
  ASSERT_EQ(fleet.drifts().size(), 1U);
  const Incident before = fleet.drifts()[0];
  fleet.begin(6h);
  for (const Fleet::Host& host : fleet.hosts) fleet.analyzer->expect(host.name, fleet.now);
  fleet.analyzer->remember(before);
  fleet.seconds(60);
  ASSERT_EQ(fleet.drifts().size(), 1U);
  ASSERT_EQ(fleet.report().differences.size(), 1U);
  EXPECT_EQ(fleet.report().differences[0].state, ConfigDriftState::kDiffers);
  fleet.adapter(5).facts[ConfigFact::kMtu] = "4200";
  fleet.changed();
  fleet.seconds(60);
  EXPECT_TRUE(fleet.drifts().empty());
  fleet.adapter(5).facts[ConfigFact::kMtu] = "1500";
  fleet.changed();
  fleet.seconds(60);
  EXPECT_TRUE(fleet.drifts().empty());
  EXPECT_EQ(fleet.report().differences.at(0).state, ConfigDriftState::kRollingOut);
}

SettingProfile wants(ConfigFact fact, std::vector<std::string> values, std::vector<std::string> hosts = {"*"}) {
  return {.name = "test",
          .hosts = std::move(hosts),
          .layer = LinkLayer::kUnknown,
          .boards = {},
          .settings = {{fact, std::move(values)}}};
}

/// A profile is right where all agree on something else, and on one host, too.
TEST(ConfigDrift, AProfileNeedsNoMajority) {
  for (const unsigned hosts : {1U, 20U}) {
    Fleet fleet(hosts, 2, 0s, {wants(ConfigFact::kMtu, {"9000"})});
    fleet.seconds(10);
    ASSERT_EQ(fleet.drifts().size(), 1U);
    EXPECT_EQ(fleet.drifts()[0].finding.summary,
              std::to_string(2 * hosts) + " of " + std::to_string(2 * hosts) +
                  " ports of profile test have MTU other than the expected 9000 bytes: " + std::to_string(2 * hosts) +
                  " have 4200");
    EXPECT_EQ(fleet.report().differences.at(0).state, ConfigDriftState::kNotAsExpected);
    for (std::size_t i = 0; i < 2 * hosts; ++i) fleet.adapter(i).facts[ConfigFact::kMtu] = "9000";
    fleet.changed();
    fleet.seconds(60);
    EXPECT_TRUE(fleet.drifts().empty()) << "all are as expected";
    EXPECT_TRUE(fleet.report().differences.empty());
  }
}

/// What a profile says is right is no deviation from most others, and these are none from it.
TEST(ConfigDrift, AProfileReplacesTheVoteOfItsHosts) {
  Fleet fleet(20, 1, 0s, {wants(ConfigFact::kMtu, {"9000"}, {"gpu-1?"})});
  for (std::size_t i = 10; i < 20; ++i) fleet.adapter(i).facts[ConfigFact::kMtu] = "9000";
  fleet.adapter(12).facts[ConfigFact::kMtu] = "1500";
  fleet.changed();
  fleet.seconds(10);
  ASSERT_EQ(fleet.drifts().size(), 1U);
  ASSERT_EQ(fleet.drifts()[0].finding.affected.size(), 1U);
  EXPECT_EQ(fleet.drifts()[0].finding.affected[0].host, "gpu-12");
  EXPECT_EQ(fleet.drifts()[0].finding.cause.label, "MTU of ports of profile test");
  EXPECT_EQ(fleet.report().differences.at(0).members, 10U);
}

TEST(ConfigDrift, AProfileMayWantOneOfSeveralValues) {
  Fleet fleet(4, 1, 0s, {wants(ConfigFact::kFirmware, {"28.41.*", "28.43.1014"})});
  fleet.adapter(1).facts[ConfigFact::kFirmware] = "28.43.1014";
  fleet.changed();
  fleet.seconds(10);
  EXPECT_TRUE(fleet.report().differences.empty());
  fleet.adapter(1).facts[ConfigFact::kFirmware] = "28.43.2000";
  fleet.changed();
  fleet.seconds(10);
  ASSERT_EQ(fleet.report().differences.size(), 1U);
  EXPECT_EQ(fleet.report().differences[0].expected, "28.41.* or 28.43.1014");
  EXPECT_EQ(fleet.report().differences[0].values.at(0).count, 3U);
}

/// What is not told is not right and not wrong: it is counted.
TEST(ConfigDrift, ASettingThatIsNotToldIsNotJudged) {
  Fleet fleet(4, 2, 0s, {wants(ConfigFact::kPfc, {"3"})});
  fleet.seconds(10);
  EXPECT_TRUE(fleet.report().differences.empty());
  EXPECT_EQ(fleet.report().untold, 8U);
}

/// Of two profiles the first one is right.
TEST(ConfigDrift, TheFirstProfileIsRight) {
  Fleet fleet(4, 1, 0s, {wants(ConfigFact::kMtu, {"4200"}, {"gpu-0"}), wants(ConfigFact::kMtu, {"9000"})});
  fleet.profiles[1].name = "others";
  fleet.begin(0s);
  fleet.seconds(10);
  ASSERT_EQ(fleet.report().differences.size(), 1U);
  EXPECT_EQ(fleet.report().differences[0].group, "profile others");
  EXPECT_EQ(fleet.report().differences[0].members, 3U);
}

TEST(ConfigDrift, BothPortsOfAnAdapterAreOneAdapter) {
  Fleet fleet(10, 2);
  for (Fleet::Host& host : fleet.hosts) {
    auto inventory = std::make_shared<HostInventory>(*host.inventory);
    inventory->ports[1].pci_address = "0000:10:00.1";
    host.inventory = inventory;
  }
  fleet.seconds(5);
  FactTable table = *fleet.hosts[0].table;
  for (PortFacts& port : table.ports)
    for (FactValue& fact : port.facts)
      if (fact.fact == ConfigFact::kFirmware) fact.value = "old";
  fleet.hosts[0].table = std::make_shared<const FactTable>(table);
  fleet.seconds(10);
  ASSERT_EQ(fleet.report().differences.size(), 1U);
  EXPECT_EQ(fleet.report().differences[0].members, 10U);
  EXPECT_EQ(fleet.report().differences[0].differing, 1U);
}

/// Whoever makes up makes and values costs no more than its own facts.
TEST(ConfigDrift, WhatIsMadeUpIsBounded) {
  Fleet fleet(30, 1);
  fleet.hosts.push_back({"hostile", "x", {}});
  for (unsigned i = 0; i < 1'500; ++i) {
    Fleet::Adapter adapter;
    adapter.facts[ConfigFact::kBoard] = "made up " + std::to_string(i) + "\n\x1b[31m\xff";
    fleet.hosts.back().adapters.push_back(adapter);
  }
  fleet.changed();
  fleet.seconds(10);
  EXPECT_TRUE(fleet.drifts().empty());
  EXPECT_GT(fleet.report().unjudged, 0U);
  for (unsigned i = 0; i < 30; ++i)
    fleet.hosts[i].adapters[0].facts[ConfigFact::kMtu] = i < 18 ? "9000" : std::to_string(i) + "\x07";
  fleet.changed();
  fleet.seconds(10);
  ASSERT_EQ(fleet.drifts().size(), 1U);
  EXPECT_LE(fleet.report().differences[0].values.size(), kMostDriftValues);
  EXPECT_GT(fleet.report().differences[0].values_left_out, 0U);
  const std::string summary = fleet.drifts()[0].finding.summary;
  for (const char letter : summary) EXPECT_GE(letter, ' ');
}

TEST(ConfigDrift, SwitchedOffItSaysNothing) {
  Fleet fleet(20, 2);
  Thresholds thresholds;
  thresholds.config_drift.enabled = false;
  fleet.analyzer.emplace(thresholds, fleet.now);
  fleet.adapter(5).facts[ConfigFact::kMtu] = "1500";
  fleet.changed();
  fleet.seconds(10);
  EXPECT_TRUE(fleet.drifts().empty());
  EXPECT_FALSE(fleet.report().is_enabled);
}

}  // namespace
}  // namespace weft::analyzer
