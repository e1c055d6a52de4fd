// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/core.hpp"

#include <gtest/gtest.h>

#include "tests/unit/daemon/programs/weftd/core_fixture.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

TEST_F(CoreTest, NoIncidentIsShownBeforeItIsOnDisk) {
  start();
  core->add_fabric("test");
  sweep(3);
  settle();
  store.hold(true);
  fabric.unlink(fabric.port_towards("leaf-1", "spine-0"));
  sweep(5);
  core->tick();
  run_posted();
  EXPECT_TRUE(publication.load()->fabrics.front().watching) << "pictures go out meanwhile";
  EXPECT_LE(clock.time - publication.load()->taken, 2s);
  EXPECT_TRUE(shown().empty());
  store.hold(false);
  settle();
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_EQ(store.copy_of_saved().size(), 1U);
}

TEST_F(CoreTest, TheRecordTellsAnIncidentsLifeAndNothingTwice) {
  start();
  core->add_fabric("test");
  const std::uint64_t id = open_one();
  for (int i = 0; i < 3; ++i) core->acknowledge(id, "ann", note_answer());
  settle();
  EXPECT_EQ(answers.size(), 3U) << "each gets its answer";
  fabric.relink(fabric.port_towards("leaf-1", "spine-0"));
  sweep(8);
  settle();
  fabric.unlink(fabric.port_towards("leaf-1", "spine-0"));
  sweep(3);
  settle();
  std::vector<std::string> words = store.copy_of_words();
  std::erase(words, "updated");
  EXPECT_EQ(words, (std::vector<std::string>{"opened", "acknowledged", "resolved", "reopened"}));
}

TEST_F(CoreTest, WhatIsShownIsNeverNewerThanWhatIsOnDisk) {
  start();
  core->add_fabric("test");
  const std::uint64_t id = open_one();
  store.hold(true);
  core->acknowledge(id, "ann", note_answer());
  fabric.relink(fabric.port_towards("leaf-1", "spine-0"));
  sweep(8);
  EXPECT_EQ(shown().front().state, IncidentState::kOpen);
  store.hold(false);
  settle();
  EXPECT_EQ(shown().front().state, IncidentState::kResolved);
  EXPECT_EQ(store.copy_of_saved().at(id).revision, shown().front().revision);
}

TEST_F(CoreTest, AStoreThatRefusesDoesNotStopTheShowing) {
  start();
  core->add_fabric("test");
  store.refuses = true;
  const std::uint64_t id = open_one();
  EXPECT_NE(id, 0U);
  core->acknowledge(id, "ann", note_answer());
  settle();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_FALSE(answers.front()) << "it is not on disk, and that is said";
  EXPECT_EQ(shown().front().state, IncidentState::kAcknowledged);
}

TEST_F(CoreTest, AStoreThatThrowsDoesNotStopTheShowing) {
  start();
  core->add_fabric("test");
  store.throws = true;
  const std::uint64_t id = open_one();
  core->acknowledge(id, "ann", note_answer());
  settle();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_FALSE(answers.front());
}

TEST_F(CoreTest, TheCableOfALinkThatWasTakenOutBeforeARestartIsKnown) {
  const PortIndex end = fabric.port_towards("leaf-1", "spine-0");
  const LinkKey out = fabric.link_of(end);
  store::Restored restored;
  store::FabricMemory& memory = restored.fabrics.emplace_back();
  memory.fabric = "test";
  memory.state.links.push_back({out, {"leaf-1", NodeType::kSwitch}, {"spine-0", NodeType::kSwitch}});
  fabric.unlink(end);
  fabric.rediscover();
  start(std::move(restored));
  core->add_fabric("test");
  sweep(1);
  settle();
  const Topology& shown = *publication.load()->fabrics.front().sweep->topology;
  EXPECT_EQ(shown.link_of(shown.find_port(out.low)), out);
}

TEST_F(CoreTest, AFullLaneIsTriedAgain) {
  lane.emplace(runtime::LaneOptions{.name = "store", .capacity = 1, .when_full = runtime::WhenFull::kRefuse});
  start();
  core->add_fabric("test");
  sweep(3);
  settle();
  store.hold(true);
  fabric.unlink(fabric.port_towards("leaf-1", "spine-0"));
  sweep(5);
  store.hold(false);
  for (int i = 0; i < 5; ++i) {
    core->tick();
    settle();
  }
  EXPECT_EQ(shown().size(), 1U);
}

TEST_F(CoreTest, EveryCommandIsAnsweredOnce) {
  start();
  core->add_fabric("test");
  const std::uint64_t id = open_one();
  store.hold(true);
  core->acknowledge(id, "ann", note_answer());
  core->silence(id, clock.time + 1h, "ann", note_answer());
  core->acknowledge(id + 99, "ann", note_answer());
  EXPECT_EQ(answers.size(), 1U) << "that there is none such is known at once";
  store.hold(false);
  settle();
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0].error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(answers[1] && answers[2]);
  EXPECT_EQ(answers[1]->state, IncidentState::kAcknowledged);
  EXPECT_EQ(answers[2]->silenced_until, clock.time + 1h);
  EXPECT_EQ(shown().front().silenced_until, clock.time + 1h) << "answered when it is shown";
}

TEST_F(CoreTest, WhatTheDiskRefusedOfAFabricIsOfferedAgain) {
  start();
  core->add_fabric("test");
  store.refuses = true;
  sweep();
  settle();
  EXPECT_EQ(store.links_asked, 1);
  EXPECT_EQ(store.nodes_asked, 1);
  store.refuses = false;
  sweep();
  settle();
  EXPECT_EQ(store.links_asked, 2) << "after a restart nobody would know which links there were";
  EXPECT_EQ(store.nodes_asked, 2);
  sweep();
  settle();
  EXPECT_EQ(store.links_asked, 2) << "unchanged and on disk";
}

TEST_F(CoreTest, AtTheEndNobodyIsLeftWithoutAnAnswer) {
  start();
  core->add_fabric("test");
  const std::uint64_t id = open_one();
  store.hold(true);
  core->acknowledge(id, "ann", note_answer());
  core->silence(id, clock.time + 1h, "ann", note_answer());
  store.hold(false);
  lane->stop();
  run_posted();
  core->stop();
  core->acknowledge(id, "ann", note_answer());
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_TRUE(answers[0]) << "it was on disk in time";
  for (const std::size_t i : {1U, 2U}) {
    ASSERT_FALSE(answers[i]);
    EXPECT_EQ(answers[i].error().code, ErrorCode::kUnavailable);
  }
}

TEST_F(CoreTest, WhatIsOpenInASubnetThatIsNotWatchedAnyMoreResolves) {
  Incident old;
  old.id = 7;
  old.revision = 1;
  old.finding.kind = IncidentKind::kTelemetryLost;
  old.finding.cause.fabric = "gone";
  old.opened = old.updated = clock.time - 1h;
  store::Restored restored;
  restored.incidents = {old};
  restored.incident_ids = 8;
  start(restored);
  core->add_fabric("test");
  sweep();
  core->tick();
  settle();
  EXPECT_TRUE(shown().front().is_open()) << "its adapter may yet be found";
  fabric.advance(15min);
  sweep();
  core->tick();
  settle();
  EXPECT_FALSE(shown().front().is_open());
  EXPECT_EQ(store.copy_of_saved().at(7).state, IncidentState::kResolved);
}

TEST_F(CoreTest, WhatIsOpenInASubnetThatIsTakenAwayResolves) {
  start();
  core->add_fabric("test");
  open_one();
  core->remove_fabric("test");
  settle();
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_FALSE(shown().front().is_open());
}

TEST_F(CoreTest, AnIncidentThatNoPlanLooksAfterAnyMoreIsOpenAgain) {
  store::Restored restored;
  Incident incident;
  incident.id = 7;
  incident.finding.kind = IncidentKind::kLinkFlap;
  incident.finding.severity = Severity::kWarning;
  const LinkKey key = fabric.link_of(fabric.port_towards("leaf-1", "spine-0"));
  incident.finding.cause = {
      .kind = EntityKind::kLink, .fabric = "test", .port = key.low, .peer = key.high, .label = "leaf-1 - spine-0"};
  incident.opened = incident.updated = fabric.now();
  incident.state = IncidentState::kAcknowledged;
  incident.acknowledged_by = "weftd (PLAN-2)";
  restored.incidents = {incident};
  restored.incident_ids = 8;
  RemedyMemory memory;
  for (const std::uint64_t id : {2, 3}) {
    Plan plan;
    plan.id = id;
    plan.incident = 7;
    plan.target = incident.finding.cause;
    plan.action = id == 2 ? RemedyAction::kIsolateLink : RemedyAction::kRestoreLink;
    plan.undoes = id == 2 ? 0 : 2;
    plan.state = PlanState::kCommitted;
    plan.requested_by = "weftd";
    plan.started = plan.finished = fabric.now();
    plan.in_force = id == 2;
    memory.plans.push_back(std::move(plan));
  }
  memory.ids = 4;
  for (const bool is_held : {true, false}) {
    memory.plans[0].in_force = is_held;
    start(restored, memory);
    core->add_fabric("test");
    core->take_plans();
    settle();
    ASSERT_EQ(shown().size(), 1U);
    EXPECT_EQ(shown().front().state, is_held ? IncidentState::kAcknowledged : IncidentState::kOpen);
  }
  EXPECT_EQ(shown().front().timeline.back().text, "PLAN-2 looks after it no more: PLAN-3 brought its target back");
  EXPECT_EQ(store.copy_of_words().back(), "open again");
}

TEST_F(CoreTest, ResolvedIncidentsLeaveThePictureWhenTheyAreOld) {
  config.incidents.retention = 1h;
  start();
  core->add_fabric("test");
  open_one();
  fabric.relink(fabric.port_towards("leaf-1", "spine-0"));
  sweep(8);
  settle();
  ASSERT_FALSE(shown().front().is_open());
  fabric.advance(2h);
  sweep(2);  // with the first one the clock is looked at: it may have been set
  settle();
  EXPECT_TRUE(shown().empty());
}

TEST_F(CoreTest, AClockThatIsSetBackHidesNoSilence) {
  start();
  core->add_fabric("test");
  sweep(3);
  settle();
  clock.time -= 1h;
  for (int i = 0; i < 60; ++i) {
    clock.time += 500ms;
    core->tick();
    settle();
  }
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_EQ(shown().front().finding.kind, IncidentKind::kTelemetryLost);
  EXPECT_LE(clock.time - publication.load()->taken, 2s);
}

TEST_F(CoreTest, SilenceIsTroubleAndEndsWithTheNextSweeps) {
  start();
  core->add_fabric("test");
  sweep(3);
  core->take_trouble("test", "mlx5_0 is gone");
  settle();
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_EQ(shown().front().finding.kind, IncidentKind::kTelemetryLost);
  EXPECT_FALSE(core->is_watching("test"));
  sweep(4);
  settle();
  EXPECT_FALSE(shown().front().is_open());
  EXPECT_TRUE(core->is_watching("test"));
}

TEST_F(CoreTest, SaysWhichCountersMovedAlsoAfterANewDiscovery) {
  config.metrics.scrape_interval = 4s;
  start();
  core->add_fabric("test");
  const PortIndex port = fabric.port_towards("leaf-1", "spine-0");
  const PortKey key = fabric.key_of(port);
  const auto shown_as = [&](Duration later) {
    const FabricView& view = publication.load()->fabrics.front();
    const auto column = view.sweep->counters->column(CounterId::kSymbolErrors);
    return view.counters_moved->shown(view.sweep->topology->find_port(key), column, clock.steady() + later);
  };
  sweep(2);
  settle();
  EXPECT_EQ(shown_as(0s), ShownAs::kNot);
  fabric.add_counter(port, CounterId::kSymbolErrors, 3);
  sweep();
  settle();
  EXPECT_EQ(shown_as(0s), ShownAs::kAtZero);
  EXPECT_EQ(shown_as(6s - 1ns), ShownAs::kAtZero) << "one and a half times the longest interval";
  EXPECT_EQ(shown_as(6s), ShownAs::kAsRead);
  fabric.rediscover();
  sweep(2);
  settle();
  EXPECT_EQ(shown_as(0s), ShownAs::kAtZero);
  EXPECT_EQ(shown_as(6s), ShownAs::kAsRead);
}

TEST_F(CoreTest, SaysNothingOfMovementsWhereAllSeriesAreShown) {
  config.metrics.zeros = true;
  start();
  core->add_fabric("test");
  sweep(2);
  settle();
  EXPECT_EQ(publication.load()->fabrics.front().counters_moved, nullptr);
}

}  // namespace
}  // namespace weft::daemon
