// SPDX-License-Identifier: Apache-2.0
// Many alarms at once point at the sensor first.
#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;

struct MassAlarm : testing::Test {
  MassAlarm() : watch(FabricBuilder::fat_tree(4, 6, 6)) { watch.sweeps(15); }
  /// Ports that send down from leaves to hosts, at most so many: each is the end of another link.
  std::vector<PortIndex> ends(std::size_t most) const {
    std::vector<PortIndex> found;
    for (PortIndex port = 0; port < watch.fabric.ports().size() && found.size() < most; ++port) {
      const PortIndex peer = watch.fabric.ports()[port].peer;
      if (peer != kNoIndex && port < peer) found.push_back(port);
    }
    return found;
  }
  void errors_on(const std::vector<PortIndex>& ports, unsigned sweeps) {
    watch.sweeps(sweeps, [&] {
      for (const PortIndex port : ports) watch.fabric.add_counter(port, CounterId::kSymbolErrors, 100'000);
    });
  }
  std::size_t open_of(IncidentKind kind) const {
    std::size_t count = 0;
    for (const Incident& incident : watch.open()) count += incident.finding.kind == kind;
    return count;
  }
  Watch watch;
};

TEST_F(MassAlarm, ManyErrorsAtOnceAreOneCounterStuck) {
  errors_on(ends(60), 20);
  const Incident sensor = watch.only();
  EXPECT_EQ(sensor.finding.kind, IncidentKind::kCounterStuck) << watch.describe();
  EXPECT_EQ(sensor.finding.cause.kind, EntityKind::kFabric);
  EXPECT_EQ(sensor.finding.severity, Severity::kWarning);
  EXPECT_NE(sensor.finding.summary.find("LINK_ERRORS"), std::string::npos) << sensor.finding.summary;
  for (const IncidentPtr& incident : *watch.book.all())
    EXPECT_NE(incident->finding.kind, IncidentKind::kLinkErrors)
        << "not even for a moment: " << incident->finding.summary;
  watch.sweeps(120);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(MassAlarm, FewErrorsStaySeparateIncidents) {
  errors_on(ends(6), 20);
  EXPECT_EQ(open_of(IncidentKind::kLinkErrors), 6U) << watch.describe();
  EXPECT_EQ(open_of(IncidentKind::kCounterStuck), 0U);
}

TEST_F(MassAlarm, ErrorsOneAfterAnotherStaySeparateIncidents) {
  std::vector<PortIndex> bad;
  for (const PortIndex port : ends(30)) {
    bad.push_back(port);
    errors_on(bad, 5);
  }
  EXPECT_EQ(open_of(IncidentKind::kLinkErrors), 30U) << watch.describe();
  EXPECT_EQ(open_of(IncidentKind::kCounterStuck), 0U);
}

TEST_F(MassAlarm, ManyFlapsAtOnceAreOneCounterStuck) {
  watch.sweeps(30, [&, sweep = 0]() mutable {
    if (sweep++ % 5 != 0) return;
    for (const PortIndex port : ends(60)) watch.fabric.add_counter(port, CounterId::kLinkDowned, 1);
  });
  EXPECT_EQ(open_of(IncidentKind::kLinkFlap), 0U) << watch.describe();
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kCounterStuck);
  EXPECT_NE(watch.only().finding.summary.find("LINK_FLAP"), std::string::npos);
}

TEST_F(MassAlarm, ErrorsThatLastBecomeSeparateIncidents) {
  watch.thresholds.mass_hold = std::chrono::seconds(60);
  watch.restart();  // with the shorter time
  watch.sweeps(15);
  errors_on(ends(60), 30);
  ASSERT_EQ(open_of(IncidentKind::kLinkErrors), 0U) << watch.describe();
  errors_on(ends(60), 60);
  EXPECT_EQ(open_of(IncidentKind::kLinkErrors), 60U);
  watch.restart();
  errors_on(ends(60), 20);
  EXPECT_EQ(open_of(IncidentKind::kLinkErrors), 60U) << "what a restart finds is no wave";
}

TEST_F(MassAlarm, EarlierIncidentsStaySeparate) {
  const std::vector<PortIndex> all = ends(60);
  errors_on({all.front()}, 20);
  ASSERT_EQ(watch.only().finding.kind, IncidentKind::kLinkErrors);
  const std::uint64_t id = watch.only().id;
  errors_on(all, 20);
  EXPECT_TRUE(watch.book.find(id)->is_open()) << watch.describe();
  EXPECT_EQ(open_of(IncidentKind::kLinkErrors), 1U) << watch.describe();
  EXPECT_EQ(open_of(IncidentKind::kCounterStuck), 1U);
}

}  // namespace
}  // namespace weft::analyzer
