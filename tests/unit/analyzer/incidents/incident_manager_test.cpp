// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/incidents/incident_manager.hpp"
#include "analyzer/ports/freshness.hpp"
#include "tests/fakes/fabric_builder.hpp"

namespace weft::analyzer {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

struct Book : testing::Test {
  Book() : fabric(fakes::FabricBuilder::fat_tree(2, 2, 2)) {
    Sweep sweep = fabric.sweep();
    coverage = Coverage(sweep.topology, std::vector<std::uint8_t>(sweep.topology->ports().size(), 0xFF), true);
    now = fabric.now();
  }
  Finding down(const std::string& a = "leaf-1", const std::string& b = "spine-0") const {
    const LinkKey key = fabric.link_of(fabric.port_towards(a, b));
    Finding finding;
    finding.kind = IncidentKind::kLinkDown;
    finding.cause = {EntityKind::kLink, "test", key.low, key.high, a + " - " + b};
    finding.evidence = {{"port_state", "Down", 1, 4, "", now, {EntityKind::kPort, "test", key.low, {}, a}}};
    finding.confidence = 0.9;
    finding.summary = "link " + a + " - " + b + " is down";
    return finding;
  }
  std::vector<Incident> update(std::vector<Finding> findings) {
    now += seconds(1);
    return book.update("test", std::move(findings), coverage, now);
  }
  void resolve() {
    for (unsigned i = 0; i < IncidentPolicy{}.resolve_sweeps; ++i) update({});
  }

  fakes::FabricBuilder fabric;
  Coverage coverage;
  TimePoint now;
  IncidentManager book{IncidentPolicy{}, {}, 1};
};

TEST_F(Book, OpensOnceAndShowsOnlyWhatAPersonShouldSee) {
  const std::vector<Incident> opened = update({down()});
  ASSERT_EQ(opened.size(), 1U);
  EXPECT_EQ(opened[0].id, 1U);
  EXPECT_EQ(opened[0].revision, 1U);
  EXPECT_EQ(opened[0].opened, now);
  const auto shown = book.all();
  Finding moved = down();
  moved.evidence[0].value = 1.2;
  EXPECT_TRUE(update({moved}).empty()) << "a number moved a little";
  EXPECT_EQ(book.all(), shown) << "the same list as before";
  moved.severity = Severity::kCritical;
  ASSERT_EQ(update({moved}).size(), 1U);
  EXPECT_EQ(book.find(1)->revision, 2U);
}

TEST_F(Book, ALinkThatIsDownForAMomentIsNotCritical) {
  Finding bad = down();
  bad.severity = Severity::kCritical;
  const auto severity = [&] { return book.find(1)->finding.severity; };
  update({bad});
  for (int i = 0; i < 29; ++i) update({bad});
  EXPECT_EQ(severity(), Severity::kWarning);
  ASSERT_EQ(update({bad}).size(), 1U) << "half a minute is over";
  EXPECT_EQ(severity(), Severity::kCritical);
  resolve();
  update({bad});
  EXPECT_EQ(severity(), Severity::kWarning) << "it begins anew";
  resolve();
  bad.jobs = {"slurm:7"};
  update({bad});
  EXPECT_EQ(severity(), Severity::kCritical) << "a job is hurt";
}

TEST_F(Book, WhatIsCriticalStaysSoWhenTheClockIsSetBack) {
  Finding bad = down();
  bad.severity = Severity::kCritical;
  for (int i = 0; i < 40; ++i) update({bad});
  now -= hours(1);
  update({bad});
  EXPECT_EQ(book.find(1)->finding.severity, Severity::kCritical);
}

TEST_F(Book, AnIdleHostThatIsDownForAMomentIsForTheRecord) {
  Finding bad = down();
  bad.kind = IncidentKind::kNodeDown;
  bad.severity = Severity::kCritical;
  update({bad});
  EXPECT_EQ(book.find(1)->finding.severity, Severity::kCritical) << "nobody knows whether jobs run there";
  resolve();
  bad.evidence.push_back({"no_job", "its collector named no job", 1, 0, "", now, bad.cause});
  for (int i = 0; i < 30; ++i) update({bad});
  EXPECT_EQ(book.find(1)->finding.severity, Severity::kInfo);
  update({bad});
  EXPECT_EQ(book.find(1)->finding.severity, Severity::kCritical) << "half a minute is over";
}

TEST_F(Book, AnIdleHostThatWaitsForTheSubnetManagerIsForTheRecord) {
  Finding bad = down();
  bad.severity = Severity::kCritical;
  const Finding of_any_host = bad;
  bad.evidence.push_back({"no_job", "its collector named no job", 1, 0, "", now, bad.cause});
  const Finding not_trained = bad;
  bad.evidence.push_back({"waits_for_manager", "it has trained", 1, 0, "", now, bad.cause});
  for (int i = 0; i < 60; ++i) update({bad});
  EXPECT_EQ(book.find(1)->finding.severity, Severity::kInfo) << "it comes back";
  update({not_trained});
  EXPECT_EQ(book.find(1)->finding.severity, Severity::kCritical) << "it does not: half a minute is long over";
  resolve();
  bad = of_any_host;
  bad.evidence.push_back({"waits_for_manager", "it has trained", 1, 0, "", now, bad.cause});
  for (int i = 0; i < 40; ++i) update({bad});
  EXPECT_EQ(book.find(1)->finding.severity, Severity::kCritical) << "jobs may run there";
}

TEST_F(Book, AHostWhoseJobsItEndedIsNotIdle) {
  Finding bad = down();
  bad.severity = Severity::kCritical;
  bad.jobs = {"slurm:7"};
  update({bad});
  bad.jobs.clear();
  bad.evidence.push_back({"no_job", "its collector named no job", 1, 0, "", now, bad.cause});
  update({bad});
  EXPECT_EQ(book.find(1)->finding.severity, Severity::kCritical);
}

TEST_F(Book, WhatWasCriticalBeforeARestartStaysSo) {
  Finding bad = down();
  bad.severity = Severity::kCritical;
  for (int i = 0; i < 40; ++i) update({bad});
  book = IncidentManager(IncidentPolicy{}, {*book.find(1)}, 2);
  EXPECT_TRUE(update({bad}).empty());
  EXPECT_EQ(book.find(1)->finding.severity, Severity::kCritical);
}

TEST_F(Book, ShowsNewNumbersAtMostOnceAMinute) {
  update({down()});
  Finding moved = down();
  unsigned shown = 0;
  for (int i = 1; i <= 180; ++i) {
    moved.evidence[0].value *= 2;
    shown += static_cast<unsigned>(update({moved}).size());
  }
  EXPECT_EQ(shown, 3U);
}

TEST_F(Book, ShowsNewNumbersWhenTheClockWasSetBack) {
  update({down()});
  now -= hours(1);
  Finding moved = down();
  unsigned shown = 0;
  for (int i = 1; i <= 121; ++i) {
    moved.evidence[0].value *= 3;
    shown += static_cast<unsigned>(update({moved}).size());
  }
  EXPECT_EQ(shown, 3U) << "at once, and once a minute from then on";
}

TEST_F(Book, SummaryCountsRepetitions) {
  update({down()});
  resolve();
  EXPECT_EQ(update({down()})[0].finding.summary, down().summary) << "twice may be chance";
  resolve();
  const std::vector<Incident> third = update({down()});
  EXPECT_EQ(third[0].finding.summary, down().summary + "; the 3rd time in 7 days");
  const auto evidence = std::ranges::find(third[0].finding.evidence, "beginnings", &Evidence::signal);
  ASSERT_NE(evidence, third[0].finding.evidence.end());
  EXPECT_EQ(evidence->value, 3);
  EXPECT_EQ(evidence->window, Duration(hours(7 * 24)));
  EXPECT_TRUE(update({down()}).empty()) << "and is not said anew while it lasts";
  resolve();
  now += hours(30);
  const std::vector<Incident> fourth = update({down()});
  EXPECT_NE(fourth[0].id, third[0].id) << "another incident";
  EXPECT_EQ(fourth[0].finding.summary, down().summary + "; the 4th time in 7 days") << "of the same trouble";
  resolve();
  now += hours(6 * 24);
  EXPECT_EQ(update({down()})[0].finding.summary, down().summary) << "the first three are too long ago";
}

TEST_F(Book, DoesNotCountARepetitionThatWasPartOfAnotherIncident) {
  for (unsigned i = 0; i < 2; ++i) {
    update({down()});
    resolve();
  }
  update({down()});
  Finding whole = down();
  whole.kind = IncidentKind::kSwitchDown;
  whole.cause = {EntityKind::kNode, "test", {fabric.nodes()[0].guid, {}}, {}, "a switch"};
  whole.affected = {down().cause};
  update({whole});
  EXPECT_FALSE(book.find(1)->is_open());
  EXPECT_EQ(book.find(1)->beginnings.size(), 2U);
  resolve();
  EXPECT_NE(update({down()})[0].finding.summary.find("the 3rd time"), std::string::npos);
}

TEST_F(Book, BeginningsOutliveARestartAndAreBounded) {
  for (unsigned i = 0; i < 40; ++i) {
    update({down()});
    resolve();
  }
  EXPECT_EQ(book.find(1)->beginnings.size(), kMostBeginnings);
  book = IncidentManager(IncidentPolicy{}, {*book.find(1)}, 2);
  EXPECT_EQ(update({down()})[0].finding.summary, down().summary + "; the 32nd time or more in 7 days");
  Incident old = *book.find(1);
  old.state = IncidentState::kResolved;
  old.resolved = now;
  old.beginnings.clear();
  old.opened = now - hours(1);
  book = IncidentManager(IncidentPolicy{}, {old}, 2);
  EXPECT_EQ(update({down()})[0].beginnings.size(), 2U) << "one that was stored without counts once";
}

TEST_F(Book, UpdatesTheWaitingTreeAtMostOnceAMinute) {
  const auto waiting = [&](const std::string& label, std::uint8_t port) {
    Finding finding = down();
    finding.waiting.links = {{{EntityKind::kPort, "test", {NodeGuid{9}, PortNum{port}}, {}, label}, "x port 1"}};
    finding.waiting.total = port;
    return finding;
  };
  EXPECT_EQ(update({waiting("a", 1)})[0].finding.waiting.links.at(0).sender.label, "a");
  unsigned shown = 0;
  for (unsigned i = 1; i <= 180; ++i)
    shown += static_cast<unsigned>(update({waiting("b", static_cast<std::uint8_t>(1 + i))}).size());
  EXPECT_EQ(shown, 3U);
  EXPECT_EQ(book.find(1)->finding.waiting.links.at(0).sender.label, "b");
  for (unsigned i = 0; i < 60; ++i) update({down()});
  EXPECT_TRUE(book.find(1)->finding.waiting.links.empty()) << "nobody waits any more";
}

TEST_F(Book, ResolvesAfterCleanSweepsThatObservedTheCause) {
  update({down()});
  update({});
  update({});
  EXPECT_TRUE(book.find(1)->is_open());
  update({down()});
  update({});
  update({});
  for (int i = 0; i < 20; ++i) book.update("test", {}, Coverage::blind(), now += seconds(1));
  for (int i = 0; i < 20; ++i) book.update("other", {}, coverage, now += seconds(1));
  EXPECT_TRUE(book.find(1)->is_open()) << "blindness and other fabrics say nothing";
  const std::vector<Incident> resolved = update({});
  ASSERT_EQ(resolved.size(), 1U);
  EXPECT_EQ(resolved[0].state, IncidentState::kResolved);
  EXPECT_EQ(resolved[0].resolved, now);
  EXPECT_FALSE(book.find(1)->is_open());
}

// After a restart nothing is missed of counters that were never read, and yet they are not read.
TEST_F(Book, LostTelemetryIsOverWhenCountersAreReadAgain) {
  Finding lost;
  lost.kind = IncidentKind::kTelemetryLost;
  lost.cause = {.kind = EntityKind::kNode,
                .fabric = "test",
                .port = {fabric.nodes()[fabric.find("leaf-1")].guid, {}},
                .peer = {},
                .label = "leaf-1"};
  lost.summary = "its counters can no longer be read";
  lost.evidence = {{kCountersReadAt, "too old", 1, 0, "", now, lost.cause}};
  Finding of_several = lost;
  of_several.cause = {.kind = EntityKind::kFabric, .fabric = "test", .port = {}, .peer = {}, .label = "test"};
  of_several.affected = {lost.cause};
  Finding silent = lost;
  silent.cause.port.node = fabric.nodes()[fabric.find("leaf-0")].guid;
  silent.evidence.clear();
  update({lost, of_several, silent});
  const auto topology = fabric.topology();
  const auto with = [&](std::uint8_t bits) {
    coverage = Coverage(topology, std::vector<std::uint8_t>(topology->ports().size(), bits), true);
    for (int i = 0; i < 20; ++i) update({});
  };
  with(Coverage::kStateFresh | Coverage::kActive);
  EXPECT_TRUE(book.find(1)->is_open());
  EXPECT_TRUE(book.find(2)->is_open());
  EXPECT_FALSE(book.find(3)->is_open()) << "it answers again";
  with(Coverage::kStateFresh | Coverage::kActive | Coverage::kCountersFresh);
  EXPECT_FALSE(book.find(1)->is_open());
  EXPECT_FALSE(book.find(2)->is_open());
}

TEST_F(Book, ReopensTheSameIncident) {
  update({down()});
  const TimePoint opened = now;
  resolve();
  now += hours(1);
  update({down()});
  ASSERT_EQ(book.all()->size(), 1U);
  EXPECT_EQ(book.find(1)->occurrences, 2U);
  EXPECT_EQ(book.find(1)->state, IncidentState::kOpen);
  EXPECT_EQ(book.find(1)->opened, opened);
  EXPECT_EQ(book.find(1)->resolved, kNever);
  resolve();
  now += hours(25);
  update({down()});
  EXPECT_EQ(book.all()->size(), 2U) << "the next day it is another one";
  EXPECT_EQ(book.find(2)->occurrences, 1U);
}

TEST_F(Book, SameTroubleTwiceInOneSweepIsOne) {
  Finding again = down();
  again.summary = "the same in other words";
  EXPECT_EQ(update({down(), again}).size(), 1U);
  EXPECT_EQ(book.all()->size(), 1U);
}

TEST_F(Book, FoldsALinkIntoTheOutageOfItsSwitch) {
  update({down(), down("leaf-1", "spine-1")});
  Finding whole;
  whole.kind = IncidentKind::kSwitchDown;
  whole.cause = {EntityKind::kNode, "test", {fabric.nodes()[fabric.find("leaf-1")].guid, {}}, {}, "leaf-1"};
  whole.affected = {down().cause};
  update({whole, down("leaf-1", "spine-1")});
  EXPECT_FALSE(book.find(1)->is_open());
  EXPECT_NE(book.find(1)->finding.summary.find("INC-3"), std::string::npos) << book.find(1)->finding.summary;
  EXPECT_TRUE(book.find(2)->is_open()) << "not part of it";
  update({down()});
  EXPECT_EQ(book.find(1)->occurrences, 2U);
}

TEST_F(Book, LinksThatAreNotActivatedAreFoldedInAllAndListedInPart) {
  Finding waiting = down();
  waiting.kind = IncidentKind::kLinksNotActivated;
  waiting.cause = {EntityKind::kFabric, "test", {}, {}, "test"};
  for (std::uint64_t node = 1; node <= 3000; ++node)
    waiting.affected.push_back({EntityKind::kLink, "test", {{node}, {1}}, {{node + 10'000}, {1}}, "a link"});
  Finding last = down();
  last.cause = waiting.affected.back();
  update({last});
  update({waiting});
  EXPECT_FALSE(book.find(1)->is_open());
  EXPECT_EQ(book.find(2)->finding.affected.size(), 1024U);
  EXPECT_TRUE(update({waiting}).empty()) << "nothing has changed";
}

TEST_F(Book, AnAcknowledgementCanBeTakenBack) {
  update({down()});
  EXPECT_EQ(book.take_back_acknowledgement(7, "", now).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(book.take_back_acknowledgement(1, "", now)->revision, 1U) << "nobody looks after it";
  ASSERT_TRUE(book.acknowledge(1, "weftd (PLAN-7)", now));
  const auto open = book.take_back_acknowledgement(1, "PLAN-7 looks after it no more", now);
  ASSERT_TRUE(open);
  EXPECT_EQ(open->state, IncidentState::kOpen);
  EXPECT_EQ(open->acknowledged_by, "");
  EXPECT_EQ(open->revision, 3U);
  EXPECT_EQ(open->occurrences, 1U) << "it is the same trouble";
  EXPECT_EQ(open->timeline.back().text, "PLAN-7 looks after it no more");
}

TEST_F(Book, AcknowledgementLastsUntilItIsResolved) {
  update({down()});
  EXPECT_EQ(book.acknowledge(7, "ada", now).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(book.acknowledge(1, "", now).error().code, ErrorCode::kInvalidArgument);
  const auto taken = book.acknowledge(1, "ada", now);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->state, IncidentState::kAcknowledged);
  EXPECT_EQ(taken->revision, 2U);
  EXPECT_EQ(book.acknowledge(1, "ada", now)->revision, 2U) << "saying it again changes nothing";
  Finding worse = down();
  worse.severity = Severity::kCritical;
  update({worse});
  EXPECT_EQ(book.find(1)->state, IncidentState::kAcknowledged);
  EXPECT_EQ(book.find(1)->acknowledged_by, "ada");
  resolve();
  EXPECT_EQ(book.acknowledge(1, "ada", now).error().code, ErrorCode::kFailedPrecondition);
  update({down()});
  EXPECT_EQ(book.find(1)->state, IncidentState::kOpen);
  EXPECT_EQ(book.find(1)->acknowledged_by, "");
}

TEST_F(Book, SilenceEndsAtItsTimeOrOnRequest) {
  update({down()});
  EXPECT_EQ(book.silence(1, now + hours(1), now)->silenced_until, now + hours(1));
  EXPECT_EQ(book.silence(1, now, now)->silenced_until, kNever);
  EXPECT_FALSE(book.silence(2, now, now));
  resolve();
  const auto refused = book.silence(1, now + hours(1), now);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kFailedPrecondition) << "it pages nobody";
}

TEST_F(Book, ContinuesAfterARestart) {
  update({down(), down("leaf-0", "spine-0")});
  ASSERT_TRUE(book.acknowledge(2, "ada", now));
  std::vector<Incident> stored;
  for (const IncidentPtr& incident : *book.all()) stored.insert(stored.begin(), *incident);
  book = IncidentManager(IncidentPolicy{}, stored, 1);
  EXPECT_EQ(book.next_id(), 3U) << "ids are never given twice";
  EXPECT_TRUE(update({down(), down("leaf-0", "spine-0")}).empty());
  EXPECT_EQ(book.find(2)->acknowledged_by, "ada");
  resolve();
  EXPECT_FALSE(book.find(1)->is_open());
}

TEST_F(Book, ForgetsResolvedOnesAfterTheirTimeOrWhenThereAreTooMany) {
  IncidentPolicy policy;
  policy.retained_incidents = 1;
  book = IncidentManager(policy, {}, 1);
  update({down(), down("leaf-0", "spine-0"), down("leaf-0", "spine-1")});
  for (int i = 0; i < 4; ++i) update({down()});
  ASSERT_EQ(book.all()->size(), 2U);
  EXPECT_TRUE(book.find(1)->is_open()) << "open ones stay, however many";
  EXPECT_EQ(book.find(2), nullptr) << "the oldest goes first";
  now += hours(8 * 24);
  update({down()});
  EXPECT_EQ(book.all()->size(), 1U);
  update({down(), down("leaf-0", "spine-1")});
  EXPECT_EQ(book.all()->back()->id, 4U) << "a new one, with a new id";
}

TEST_F(Book, ForgetsFirstWhatHasBeenOverForLongest) {
  IncidentPolicy policy;
  policy.retained_incidents = 1;
  book = IncidentManager(policy, {}, 1);
  update({down(), down("leaf-0", "spine-0")});
  for (int i = 0; i < 4; ++i) update({down()});
  ASSERT_FALSE(book.find(2)->is_open());
  for (int i = 0; i < 4; ++i) update({});
  EXPECT_EQ(book.find(2), nullptr);
  ASSERT_NE(book.find(1), nullptr) << "it is over since a moment ago, and was opened first";
}

TEST_F(Book, DoesNotForgetWhatIsOldByAClockThatWasSetForward) {
  update({down()});
  resolve();
  const ClockMemory before{now, {}};
  now += hours(400 * 24);
  book.set_clock(before);  // nobody has noted the step yet
  update({});
  EXPECT_NE(book.find(1), nullptr);
  book.set_clock({now, {{before.until, hours(400 * 24)}}});
  update({});
  EXPECT_NE(book.find(1), nullptr);
  now += hours(8 * 24);
  book.set_clock({now, {{before.until, hours(400 * 24)}}});
  update({});
  EXPECT_EQ(book.find(1), nullptr) << "that time has passed";
}

TEST_F(Book, ReopensWhatWasOverAMomentAgoThoughTheClockWasSetForward) {
  update({down()});
  resolve();
  const TimePoint before = now;
  now += hours(25);
  book.set_clock({now, {{before, hours(25)}}});
  update({down()});
  EXPECT_EQ(book.find(2), nullptr) << "it is the same trouble";
  EXPECT_EQ(book.find(1)->state, IncidentState::kOpen);
  resolve();
  now += hours(25);  // that time passed
  book.set_clock({now, {{before, hours(25)}}});
  update({down()});
  EXPECT_NE(book.find(2), nullptr);
}

TEST_F(Book, EvidenceIsBoundedAndKeepsItsBeginning) {
  Finding finding = down();
  for (int i = 0; i < 50; ++i) {
    now += minutes(2);
    finding.evidence[0].signal = "signal_" + std::to_string(i);
    update({finding});
  }
  const Incident& incident = *book.find(1);
  EXPECT_EQ(incident.finding.evidence.size(), IncidentPolicy{}.evidence_limit);
  EXPECT_EQ(incident.finding.evidence.front().signal, "signal_0");
  EXPECT_EQ(incident.finding.evidence.back().signal, "signal_49");
}

}  // namespace
}  // namespace weft::analyzer
