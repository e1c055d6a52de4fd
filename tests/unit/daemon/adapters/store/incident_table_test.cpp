// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/incident_table.hpp"

#include <cmath>
#include <limits>

#include "daemon/adapters/store/schema.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

void expect_same(const Entity& a, const Entity& b) {
  EXPECT_EQ(a.identity(), b.identity());
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.port, b.port);
  EXPECT_EQ(a.peer, b.peer);
}

void expect_same(const Incident& a, const Incident& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.revision, b.revision);
  EXPECT_EQ(a.finding.kind, b.finding.kind);
  EXPECT_EQ(a.finding.severity, b.finding.severity);
  EXPECT_EQ(a.state, b.state);
  expect_same(a.finding.cause, b.finding.cause);
  ASSERT_EQ(a.finding.affected.size(), b.finding.affected.size());
  for (std::size_t i = 0; i < a.finding.affected.size(); ++i) expect_same(a.finding.affected[i], b.finding.affected[i]);
  ASSERT_EQ(a.finding.evidence.size(), b.finding.evidence.size());
  for (std::size_t i = 0; i < a.finding.evidence.size(); ++i) {
    const Evidence& x = a.finding.evidence[i];
    const Evidence& y = b.finding.evidence[i];
    EXPECT_EQ(x.signal, y.signal);
    EXPECT_EQ(x.description, y.description);
    EXPECT_TRUE(x.value == y.value || (std::isnan(x.value) && std::isnan(y.value)));
    EXPECT_EQ(x.threshold, y.threshold);
    EXPECT_EQ(x.unit, y.unit);
    EXPECT_EQ(x.observed, y.observed);
    expect_same(x.where, y.where);
    EXPECT_EQ(x.window, y.window);
  }
  EXPECT_EQ(a.finding.waiting.total, b.finding.waiting.total);
  ASSERT_EQ(a.finding.waiting.links.size(), b.finding.waiting.links.size());
  for (std::size_t i = 0; i < a.finding.waiting.links.size(); ++i) {
    const WaitingLink& x = a.finding.waiting.links[i];
    const WaitingLink& y = b.finding.waiting.links[i];
    expect_same(x.sender, y.sender);
    EXPECT_EQ(x.towards, y.towards);
    EXPECT_EQ(x.waits_for, y.waits_for);
    EXPECT_EQ(x.stall_ratio, y.stall_ratio);
    EXPECT_EQ(x.utilization_ratio, y.utilization_ratio);
  }
  EXPECT_TRUE(same_advice(a.finding.advice, b.finding.advice));
  EXPECT_EQ(a.finding.advice.reasons, b.finding.advice.reasons);
  ASSERT_EQ(a.finding.advice.suspects.size(), b.finding.advice.suspects.size());
  for (std::size_t i = 0; i < a.finding.advice.suspects.size(); ++i) {
    EXPECT_EQ(a.finding.advice.suspects[i].share, b.finding.advice.suspects[i].share);
    expect_same(a.finding.advice.suspects[i].where, b.finding.advice.suspects[i].where);
  }
  EXPECT_EQ(a.finding.jobs, b.finding.jobs);
  EXPECT_EQ(a.beginnings, b.beginnings);
  EXPECT_EQ(a.finding.confidence, b.finding.confidence);
  EXPECT_EQ(a.finding.summary, b.finding.summary);
  EXPECT_EQ(a.opened, b.opened);
  EXPECT_EQ(a.updated, b.updated);
  EXPECT_EQ(a.resolved, b.resolved);
  EXPECT_EQ(a.occurrences, b.occurrences);
  EXPECT_EQ(a.acknowledged_by, b.acknowledged_by);
  EXPECT_EQ(a.silenced_until, b.silenced_until);
  EXPECT_EQ(a.finding.maintenance, b.finding.maintenance);
  EXPECT_EQ(a.worst_severity, b.worst_severity);
  EXPECT_EQ(a.headline, b.headline);
  EXPECT_EQ(a.timeline, b.timeline);
}

Incident full_incident() {
  Incident incident = make_incident(17);
  incident.revision = 5;
  incident.finding.kind = IncidentKind::kSwitchDown;
  incident.finding.severity = Severity::kCritical;
  incident.state = IncidentState::kAcknowledged;
  incident.finding.summary = "switch \"leaf-é\"; DROP TABLE incident; --";
  incident.finding.confidence = 0.1 + 0.2;
  incident.resolved = TimePoint(Duration(1'700'000'000'123'456'789));
  incident.occurrences = 3;
  incident.acknowledged_by = "åsa";
  incident.silenced_until = at_second(99);
  incident.finding.maintenance = 7;
  incident.finding.jobs = {"train-1", "", "train-2"};
  for (std::uint8_t i = 0; i < 12; ++i)  // more than ten: positions sort as numbers
    incident.finding.affected.push_back(
        {EntityKind::kPort, "compute", {NodeGuid{i}, PortNum{i}}, {}, "port " + std::to_string(i)});
  incident.finding.affected.push_back({EntityKind::kCollector, "", {}, {}, "the collector of dgx-04", "dgx-04"});
  incident.finding.evidence = {
      {"port_state",
       "was Active",
       4,
       0,
       "",
       at_second(3),
       {EntityKind::kPort, "compute", {NodeGuid{7}, PortNum{1}}, {}, "x"}},
      {"error_rate", "", 1e-300, 1e-12, "errors/bit", kNever, {}, std::chrono::milliseconds(1500)},
      {"nan", "", std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), "", kNever, {}}};
  for (std::uint8_t i = 0; i < 12; ++i) {
    WaitingLink& link = incident.finding.waiting.links.emplace_back();
    link.sender = {EntityKind::kPort, "compute", {NodeGuid{20U + i}, PortNum{i}}, {}, "sender " + std::to_string(i)};
    link.towards = "leaf-1 port " + std::to_string(i);
    if (i > 0) link.waits_for = i / 2U;
    link.stall_ratio = 0.1 * i;
    link.utilization_ratio = 1 - 0.05 * i;
  }
  incident.finding.waiting.total = 49;
  Advice& advice = incident.finding.advice;
  advice.is_clear = true;
  advice.first = "Reseat the cable's \"ends\"";
  for (std::uint8_t i = 0; i < 12; ++i) {
    advice.suspects.push_back({static_cast<LinkPart>(i % 4),
                               {EntityKind::kPort, "compute", {NodeGuid{40U + i}, PortNum{i}}, {}, "part"},
                               1.0 / (2 + i)});
    advice.reasons.push_back("reason " + std::to_string(i));
  }
  incident.beginnings = {at_second(1), at_second(20), at_second(300)};
  incident.worst_severity = Severity::kCritical;
  incident.headline = "switch \"leaf-é\" is down";
  for (std::uint32_t i = 0; i < 12; ++i)
    incident.timeline.push_back({.at = at_second(i),
                                 .change = static_cast<IncidentChange>(i % 9),
                                 .severity = static_cast<Severity>(i % 3),
                                 .text = "said '" + std::to_string(i),
                                 .who = i == 4 ? "åsa" : "",
                                 .numbers_at = i == 2 ? at_second(7) : kNever,
                                 .left_out = i == 9 ? 4'000'000'000U : 0});
  return incident;
}

using Incidents = OnEachEngine;
INSTANTIATE_ON_EACH_ENGINE(Incidents);

TEST_P(Incidents, ComeBackWhole) {
  const TempDir dir;
  const Incident incident = full_incident();
  ASSERT_TRUE(must_open(dir.path())->save_incidents({{incident}}, {}));
  const auto restored = must_open(dir.path())->restore(kNever);
  ASSERT_TRUE(restored) << restored.error().message;
  ASSERT_EQ(restored->incidents.size(), 1U);
  expect_same(restored->incidents[0], incident);
}

TEST(IncidentsOnFiles, OfADatabaseThatKnewNothingOfWaitingAreKept) {
  const TempDir dir;
  Schema old = state_schema();
  old.migrations = old.migrations.first(2);
  {
    auto database = open_database(dir.path() / "weft.db", old);
    ASSERT_TRUE(database) << database.error().message;
    database->run("INSERT INTO incident VALUES (7, 1, 'LINK_DOWN', 'CRITICAL', 'OPEN', 0.9, 'a', 1, 2, 0, 1, '', 0)");
    database->run("INSERT INTO entity VALUES (7, 'cause', 0, 'fabric', 'f', 0, 0, 0, 0, 'f', '', '')");
    database->run("INSERT INTO evidence VALUES (7, 0, 'port_state', 'is Down', 1, 4, '', 5)");
    ASSERT_TRUE(database->outcome());
  }
  const auto restored = must_open(dir.path())->restore(kNever);
  ASSERT_TRUE(restored) << restored.error().message;
  ASSERT_EQ(restored->incidents.size(), 1U);
  EXPECT_EQ(restored->incidents[0].finding.summary, "a");
  EXPECT_TRUE(restored->incidents[0].finding.waiting.links.empty());
  ASSERT_EQ(restored->incidents[0].finding.evidence.size(), 1U);
  EXPECT_EQ(restored->incidents[0].finding.evidence[0].window, Duration::zero());
  EXPECT_EQ(restored->incidents[0].worst_severity, Severity::kCritical) << "the only one that is known";
  EXPECT_EQ(restored->incidents[0].headline, "a");
  EXPECT_TRUE(restored->incidents[0].timeline.empty());
}

TEST_P(Incidents, ANewRevisionReplacesTheOldOneWithAllItsParts) {
  const TempDir dir;
  auto store = must_open(dir.path());
  Incident incident = full_incident();
  ASSERT_TRUE(store->save_incidents({{incident}}, {}));
  incident.revision = 6;
  incident.finding.evidence.resize(1);
  incident.finding.affected.clear();
  incident.finding.jobs = {"other"};
  incident.finding.waiting.links.resize(1);
  incident.timeline.resize(3);
  ASSERT_TRUE(store->save_incidents({{incident}}, {}));
  const auto restored = store->restore(kNever);
  ASSERT_EQ(restored->incidents.size(), 1U);
  expect_same(restored->incidents[0], incident);
}

TEST_P(Incidents, OpenOnesAndThoseResolvedLatelyAreRestored) {
  const TempDir dir;
  auto store = must_open(dir.path());
  Incident open = make_incident(1);
  Incident early = make_incident(2);
  early.state = IncidentState::kResolved;
  early.resolved = at_second(10);
  Incident late = early;
  late.id = 3;
  late.resolved = at_second(20);
  ASSERT_TRUE(store->save_incidents(std::vector{late, open, early}, {}));
  const auto restored = store->restore(at_second(15));
  ASSERT_EQ(restored->incidents.size(), 2U);
  EXPECT_EQ(restored->incidents[0].id, 1U);
  EXPECT_EQ(restored->incidents[1].id, 3U);
}

TEST_P(Incidents, IdsAreNeverGivenAgainAndOpeningsAreCounted) {
  const TempDir dir;
  auto store = must_open(dir.path(), {.incident_retention = std::chrono::seconds(100)});
  EXPECT_EQ(store->restore(kNever)->incident_ids.next(), 1U);
  Incident incident = make_incident(41);
  incident.occurrences = 1;
  ASSERT_TRUE(store->save_incidents({{incident}}, {}));
  incident.occurrences = 3;  // re-opened twice
  incident.state = IncidentState::kResolved;
  incident.resolved = at_second(10);
  ASSERT_TRUE(store->save_incidents({{incident}}, {}));
  ASSERT_TRUE(store->save_incidents({{incident}}, {}));
  const auto more = store->maintain(at_second(200), {});
  ASSERT_TRUE(more) << more.error().message;
  const auto restored = store->restore(kNever);
  EXPECT_TRUE(restored->incidents.empty());
  EXPECT_EQ(restored->incident_ids.next(), 42U);
  EXPECT_EQ(restored->opened[static_cast<std::size_t>(IncidentKind::kLinkDown)], 3U);
}

TEST_P(Incidents, RetentionSparesOpenOnesAndWorksInSteps) {
  const TempDir dir;
  auto store = must_open(dir.path(), {.incident_retention = std::chrono::seconds(100)});
  std::vector<Incident> incidents;
  std::vector<Event> events;
  for (std::uint64_t id = 1; id <= 500; ++id) {
    Incident incident = make_incident(id);
    incident.state = id == 7 ? IncidentState::kOpen : IncidentState::kResolved;
    incident.resolved = at_second(1);
    incidents.push_back(incident);
    events.push_back({at_second(1), id, "opened", "", ""});
  }
  ASSERT_TRUE(store->save_incidents(incidents, events));
  EXPECT_EQ(store->maintain(at_second(90), {}), false);
  EXPECT_EQ(store->restore(kNever)->incidents.size(), 500U);
  int steps = 1;
  while (*store->maintain(at_second(500), {}) && steps < 100) ++steps;
  EXPECT_GT(steps, 1);
  EXPECT_LT(steps, 100);
  ASSERT_EQ(store->restore(kNever)->incidents.size(), 1U);
  EXPECT_EQ(store->restore(kNever)->incidents[0].id, 7U);
  EXPECT_EQ(store->events(7)->size(), 1U);
  EXPECT_TRUE(store->events(8)->empty());
}

TEST_P(Incidents, EventsStayInTheirOrder) {
  const TempDir dir;
  const std::vector<Event> events{{at_second(1), 1, "opened", "", "a"},
                                  {at_second(1), 2, "opened", "", "b"},
                                  {at_second(0), 1, "acknowledged", "kim", "c"}};
  ASSERT_TRUE(must_open(dir.path())->save_incidents({}, events));
  auto store = must_open(dir.path());
  EXPECT_EQ(*store->events(1), (std::vector{events[0], events[2]}));
  EXPECT_TRUE(store->events(3)->empty());
}

TEST_P(Incidents, AnUnknownWordIsDamageAndNotAGuess) {
  const TempDir dir;
  ASSERT_TRUE(must_open(dir.path())->save_incidents({{make_incident(1)}}, {}));
  {
    auto database = by_hand(dir.path());
    database.run("UPDATE incident SET kind = 'LINK_SAD'");
    ASSERT_TRUE(database.outcome());
  }
  const auto restored = must_open(dir.path())->restore(kNever);
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace weft::store
