// SPDX-License-Identifier: Apache-2.0
#include "fabric/maintenance.hpp"

#include "analyzer/incidents/health.hpp"
#include "tests/unit/analyzer/host_watching.hpp"
#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::Test;

MaintenanceWindow window_on(Entity entity, TimePoint from, Duration length, std::uint64_t id = 1) {
  MaintenanceWindow window;
  window.id = id;
  window.entity = std::move(entity);
  if (window.entity.kind == EntityKind::kNode) window.nodes = {window.entity.port.node};
  window.from = window.added = from;
  window.until = from + length;
  window.reason = "new firmware";
  window.added_by = "ann";
  return window;
}

MaintenanceListPtr list_of(MaintenanceList windows) {
  return std::make_shared<const MaintenanceList>(std::move(windows));
}

struct Maintenance : Test {
  Maintenance() : watch(FabricBuilder::fat_tree(2, 3, 4)) { watch.sweeps(3); }
  void plan(MaintenanceList windows) {
    const auto list = list_of(std::move(windows));
    planned = *list;
    watch.book.set_maintenance_windows(list);
    watch.analyzer.set_maintenance_windows(list);
  }
  /// leaf-1 is switched off for longer than the window: what is open within it, and after it.
  std::pair<Incident, Incident> outlast(MaintenanceWindow window) {
    plan({std::move(window)});
    watch.fabric.power_off(watch.fabric.find("leaf-1"));
    watch.sweeps(10);
    Incident before = watch.only();
    watch.sweeps(15);
    return {std::move(before), watch.only()};
  }
  Entity node(const std::string& name) const {
    const Node& found = watch.fabric.nodes()[watch.fabric.find(name)];
    return {.kind = EntityKind::kNode, .fabric = "test", .port = {found.guid, {}}, .peer = {}, .label = name};
  }
  Entity link(PortIndex end) const {
    const LinkKey key = watch.fabric.link_of(end);
    return {.kind = EntityKind::kLink, .fabric = "test", .port = key.low, .peer = key.high, .label = "a link"};
  }
  std::vector<Incident> alarms() const {
    std::vector<Incident> found = watch.open();
    std::erase_if(found, [](const Incident& incident) { return incident.finding.maintenance != 0; });
    return found;
  }
  NodeHealth health_of(const std::string& name) {
    FabricView view;
    view.name = "test";
    view.watching = true;
    view.sweep = std::make_shared<const Sweep>(watch.last_sweep);
    for (const NodeHealth& health : assess(std::span(&view, 1), {}, *watch.book.all(), planned, watch.fabric.now()))
      if (health.node == name) return health;
    ADD_FAILURE() << "no host " << name;
    return {};
  }

  Watch watch;
  MaintenanceList planned;
};

TEST_F(Maintenance, AnIncidentThatBeginsInTheWindowPagesNobody) {
  plan({window_on(node("leaf-1"), watch.fabric.now(), hours(2), 7)});
  watch.fabric.power_off(watch.fabric.find("leaf-1"));
  watch.sweeps(10);
  EXPECT_TRUE(alarms().empty()) << watch.describe();
  const Incident shown = watch.only();
  EXPECT_EQ(shown.finding.kind, IncidentKind::kSwitchDown);
  EXPECT_EQ(shown.finding.severity, Severity::kInfo);
  EXPECT_EQ(shown.finding.maintenance, 7U);
  EXPECT_EQ(shown.finding.summary.rfind("Planned: Switch leaf-1", 0), 0U) << shown.finding.summary;
  EXPECT_NE(shown.finding.summary.find("maintenance MW-7 until 2023-11-15"), std::string::npos)
      << shown.finding.summary;
  EXPECT_NE(shown.finding.summary.find("new firmware"), std::string::npos) << shown.finding.summary;
  EXPECT_EQ(watch.book.opened(IncidentKind::kSwitchDown), 0U) << "nothing that counts as opened";
  watch.fabric.power_on(watch.fabric.find("leaf-1"));
  watch.sweeps(30);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(Maintenance, AFaultThatOutlastsTheWindowIsANewIncident) {
  const auto [before, after] = outlast(window_on(node("leaf-1"), watch.fabric.now(), seconds(20)));
  EXPECT_NE(after.id, before.id);
  EXPECT_EQ(after.finding.kind, IncidentKind::kSwitchDown);
  EXPECT_EQ(after.finding.severity, Severity::kCritical);
  EXPECT_EQ(after.finding.maintenance, 0U);
  EXPECT_GE(after.opened, planned.front().until);
  EXPECT_EQ(after.beginnings.size(), 1U);
  EXPECT_EQ(watch.book.opened(IncidentKind::kSwitchDown), 1U);
  const IncidentPtr planned_one = watch.book.find(before.id);
  EXPECT_FALSE(planned_one->is_open());
  EXPECT_NE(planned_one->finding.summary.find("(the maintenance window ended; it continues as " +
                                              incident_name(after.id) + ')'),
            std::string::npos);
}

TEST_F(Maintenance, WhatAPlanHoldsNoMoreIsNamedByThePlan) {
  MaintenanceWindow held = window_on(node("leaf-1"), watch.fabric.now(), seconds(20));
  held.id = kFirstPlanWindow + 7;
  const auto [before, after] = outlast(held);
  ASSERT_NE(after.id, before.id);
  EXPECT_NE(watch.book.find(before.id)->finding.summary.find("(PLAN-7 does not hold it any more; it continues as " +
                                                             incident_name(after.id) + ')'),
            std::string::npos)
      << watch.book.find(before.id)->finding.summary;
}

TEST_F(Maintenance, AWindowThatIsEndedEarlyIsOver) {
  MaintenanceWindow window = window_on(node("leaf-1"), watch.fabric.now(), hours(2));
  plan({window});
  watch.fabric.power_off(watch.fabric.find("leaf-1"));
  watch.sweeps(5);
  ASSERT_TRUE(alarms().empty());
  window.ended = watch.fabric.now();
  plan({window});
  watch.sweeps(1);
  EXPECT_EQ(alarms().size(), 1U) << watch.describe();
}

TEST_F(Maintenance, AnIncidentFromBeforeTheWindowStillAlarms) {
  const PortIndex end = watch.fabric.port_towards("leaf-1", "spine-0");
  watch.fabric.unlink(end);
  watch.sweeps(33);
  const Incident before = watch.only();
  plan({window_on(node("leaf-1"), watch.fabric.now(), seconds(40))});
  watch.sweeps(5);
  EXPECT_EQ(watch.only().id, before.id);
  EXPECT_EQ(watch.only().finding.severity, Severity::kCritical);
  // Then its switch goes down for the work: that is planned, and must not hide the link.
  watch.fabric.power_off(watch.fabric.find("leaf-1"));
  watch.sweeps(10);
  ASSERT_EQ(alarms().size(), 1U) << watch.describe();
  EXPECT_EQ(alarms().front().id, before.id);
  watch.fabric.power_on(watch.fabric.find("leaf-1"));
  watch.sweeps(30);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST_F(Maintenance, AnIncidentElsewhereStillAlarms) {
  plan({window_on(node("leaf-1"), watch.fabric.now(), hours(2))});
  watch.fabric.unlink(watch.fabric.port_towards("leaf-2", "spine-0"));
  watch.sweeps(5);
  EXPECT_EQ(alarms().size(), 1U) << watch.describe();
}

TEST_F(Maintenance, AWindowMayCoverAPortOrALink) {
  const PortIndex end = watch.fabric.port_towards("leaf-2", "spine-1");
  Entity port{.kind = EntityKind::kPort, .fabric = "test", .port = watch.fabric.key_of(end), .peer = {}, .label = "p"};
  for (const Entity& entity : {port, link(end)}) {
    plan({window_on(entity, watch.fabric.now(), hours(1))});
    watch.fabric.unlink(end);
    watch.sweeps(5);
    EXPECT_TRUE(alarms().empty()) << watch.describe();
    EXPECT_EQ(watch.open().size(), 1U);
    watch.fabric.relink(end);
    watch.sweeps(10);
    EXPECT_TRUE(watch.open().empty()) << watch.describe();
  }
  EXPECT_EQ(watch.book.all()->size(), 1U) << "the second time re-opens the first: " << watch.describe();
  EXPECT_EQ(watch.book.all()->front()->occurrences, 2U);
}

TEST_F(Maintenance, AWindowMayCoverAFabricAndItsTelemetry) {
  Entity fabric{.kind = EntityKind::kFabric, .fabric = "test", .port = {}, .peer = {}, .label = "test"};
  plan({window_on(fabric, watch.fabric.now(), hours(1))});
  watch.fabric.power_off(watch.fabric.find("spine-0"));
  watch.fabric.silence(watch.fabric.find("leaf-2"));
  watch.sweeps(10);
  EXPECT_TRUE(alarms().empty()) << watch.describe();
  EXPECT_GE(watch.open().size(), 2U) << watch.describe();
  const Analysis lost = watch.analyzer.silent(watch.fabric.now(), "the adapter is gone");
  watch.book.update("test", lost.findings, lost.coverage, watch.fabric.now());
  EXPECT_TRUE(alarms().empty()) << watch.describe();
}

TEST_F(Maintenance, FlapsAndRepetitionsDoNotCount) {
  const PortIndex end = watch.fabric.port_towards("leaf-1", "spine-0");
  plan({window_on(link(end), watch.fabric.now(), minutes(10))});
  for (int i = 0; i < 6; ++i) {
    watch.fabric.unlink(end);
    watch.fabric.add_counter(end, CounterId::kLinkDowned, 1);
    watch.sweeps(6);
    watch.fabric.relink(end);
    watch.sweeps(6);
  }
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  EXPECT_TRUE(watch.analyzer.state().flaps.empty());
  watch.fabric.advance(minutes(10));
  watch.sweeps(3);
  watch.fabric.unlink(end);
  watch.sweeps(3);
  const Incident real = watch.only();
  EXPECT_EQ(real.finding.kind, IncidentKind::kLinkDown);
  EXPECT_EQ(real.beginnings.size(), 1U);
  EXPECT_EQ(real.finding.summary.find("time in"), std::string::npos) << real.finding.summary;
}

TEST_F(Maintenance, ErrorsInTheWindowDoNotCountAgainstTheLink) {
  const PortIndex end = watch.fabric.port_towards("leaf-1", "spine-0");
  plan({window_on(link(end), watch.fabric.now(), seconds(60))});
  for (int i = 0; i < 50; ++i) {
    watch.fabric.add_counter(end, CounterId::kSymbolErrors, 500);
    watch.sweeps(1);
  }
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  watch.sweeps(60);
  EXPECT_TRUE(watch.open().empty()) << "nothing is left of it when the work is done: " << watch.describe();
}

TEST_F(Maintenance, PlannedIncidentsSurviveARestart) {
  plan({window_on(node("leaf-1"), watch.fabric.now(), hours(2))});
  watch.fabric.power_off(watch.fabric.find("leaf-1"));
  watch.sweeps(10);
  const std::uint64_t id = watch.only().id;
  watch.restart();
  plan(planned);
  watch.sweeps(10);
  EXPECT_EQ(watch.only().id, id);
  EXPECT_TRUE(watch.only().beginnings.empty());
}

TEST_F(Maintenance, HealthNamesTheWindowAndStaysHealthy) {
  watch.sweeps(3);
  ASSERT_EQ(health_of("host-1-0").verdict, HealthVerdict::kHealthy);
  const PortIndex access = watch.fabric.port_towards("leaf-1", "host-1-0 mlx5_0");
  plan({window_on(link(access), watch.fabric.now(), hours(2), 4)});
  watch.fabric.unlink(access);
  watch.sweeps(5);
  ASSERT_EQ(watch.open().size(), 1U);
  const NodeHealth host = health_of("host-1-0");
  EXPECT_EQ(host.verdict, HealthVerdict::kHealthy);
  EXPECT_EQ(host.action, RecommendedAction::kAvoidNewJobs);
  ASSERT_EQ(host.reasons.size(), 1U);
  EXPECT_EQ(host.reasons.front().maintenance, 4U);
  EXPECT_EQ(host.reasons.front().incident, 0U);
  EXPECT_EQ(host.reasons.front().message.rfind("maintenance MW-4 until ", 0), 0U) << host.reasons.front().message;
  EXPECT_EQ(health_of("host-2-0").action, RecommendedAction::kNone);

  plan({window_on(node("leaf-1"), watch.fabric.now(), hours(2), 5)});
  for (const char* name : {"host-1-0", "host-1-3", "leaf-1"})
    EXPECT_EQ(health_of(name).action, RecommendedAction::kAvoidNewJobs) << "it hangs from the switch: " << name;
  EXPECT_EQ(health_of("host-2-0").action, RecommendedAction::kNone);
}

TEST(HostMaintenance, AWindowOfAHostCoversItsPortsAndCollector) {
  HostWatching watching(2);
  watching.seconds(5);
  MaintenanceWindow window = window_on(
      {.kind = EntityKind::kCollector, .fabric = {}, .port = {}, .peer = {}, .label = "node-0", .host = "node-0"},
      watching.now, minutes(10));
  window.host = "node-0";
  const auto list = list_of({window});
  watching.book.set_maintenance_windows(list);
  watching.analyzer.set_maintenance_windows(list);
  for (int i = 0; i < 5; ++i) {
    watching.set_up(false);
    watching.seconds(2);
    watching.set_up(true);
    watching.seconds(2);
  }
  EXPECT_TRUE(watching.analyzer.flaps("node-0").empty());
  watching.set_up(false);
  watching.silent[1] = 1;
  watching.seconds(30);
  unsigned expected = 0, alarming = 0;
  for (const IncidentPtr& incident : *watching.book.all())
    if (incident->is_open()) ++(incident->finding.maintenance != 0 ? expected : alarming);
  EXPECT_EQ(expected, 1U) << "the port of node-0";
  EXPECT_EQ(alarming, 1U) << "the collector of node-1 is nobody's work";
}

/// A node that is racked while we watch.
struct BringUp : Test {
  BringUp() : watch(FabricBuilder::fat_tree(2, 3, 4)) {
    watch.sweeps(5);
    // Every port of a leaf has its cable: a switch of its own, at the end of a new cable.
    const NodeIndex added = watch.fabric.add_switch("leaf-new", 8);
    const NodeIndex host = watch.fabric.add_adapter("host-new mlx5_0");
    static_cast<void>(added);
    static_cast<void>(host);
    end = watch.fabric.port_of("leaf-new", 1);
    watch.fabric.connect(end, watch.fabric.port_of("host-new mlx5_0", 1));
    watch.sweeps(5);
  }
  void flap(unsigned times) {
    for (unsigned i = 0; i < times; ++i) {
      watch.fabric.unlink(end);
      watch.fabric.add_counter(end, CounterId::kLinkDowned, 1);
      watch.sweeps(5);
      watch.fabric.relink(end);
      watch.sweeps(5);
    }
  }
  Watch watch;
  PortIndex end = 0;
};

TEST_F(BringUp, TrainingUpAndDownIsNoFlapping) {
  flap(6);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  EXPECT_TRUE(watch.book.all()->empty()) << "nor was it ever called down: " << watch.describe();
}

TEST_F(BringUp, AnActivatedLinkFlapsAsAnyOther) {
  watch.sweeps(320);
  flap(6);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkFlap) << watch.describe();
}

TEST_F(BringUp, WhatIsStillDownWhenItIsOverIsReported) {
  watch.fabric.unlink(end);
  watch.sweeps(60);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  watch.sweeps(260);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown) << watch.describe();
}

TEST(Windows, Names) {
  EXPECT_EQ(maintenance_name(3), "MW-3");
  EXPECT_EQ(parse_maintenance_name("mw-17"), 17U);
  EXPECT_EQ(parse_maintenance_name("17"), 17U);
  for (const char* bad : {"", "MW-", "INC-3", "MW-0", "MW-3x"}) EXPECT_FALSE(parse_maintenance_name(bad)) << bad;
}

}  // namespace
}  // namespace weft::analyzer
