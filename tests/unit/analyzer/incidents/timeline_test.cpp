// SPDX-License-Identifier: Apache-2.0
#include "analyzer/incidents/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/incidents/incident_manager.hpp"
#include "tests/fakes/fabric_builder.hpp"

namespace weft::analyzer {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(TimelineText, OtherNumbersSayTheSame) {
  EXPECT_TRUE(differ_in_numbers_only("12 links wait", "7 links wait"));
  EXPECT_TRUE(differ_in_numbers_only("penalty was 3,000", "penalty was 750"));
  EXPECT_TRUE(differ_in_numbers_only("rate 3.2e-11, limit 1e-12", "rate 4e-9, limit 1e-12"));
  EXPECT_TRUE(differ_in_numbers_only("runs at 1X of 4X", "runs at 2X of 4X"));
  EXPECT_TRUE(differ_in_numbers_only("is down: 3 of 4.", "is down: 12 of 40."));
  EXPECT_TRUE(differ_in_numbers_only("", ""));
}

TEST(TimelineText, OtherNamesAndWordsDoNot) {
  EXPECT_FALSE(differ_in_numbers_only("reported by leaf-1 port 3", "reported by leaf-2 port 3"));
  EXPECT_FALSE(differ_in_numbers_only("h1 mlx5_0", "h1 mlx5_1"));
  EXPECT_FALSE(differ_in_numbers_only("at 0x0002c9", "at 0x0002ca"));
  EXPECT_FALSE(differ_in_numbers_only("is down", "is down; 3 nodes behind it"));
  EXPECT_FALSE(differ_in_numbers_only("gpu0104 is slow", "gpu0105 is slow"));
  EXPECT_FALSE(differ_in_numbers_only("1 1", "1"));
}

/// What a timeline says, one line for each entry, with seconds after `from`.
std::string written(const Incident& incident, TimePoint from) {
  std::string text;
  for (const TimelineEntry& entry : incident.timeline) {
    if (entry.left_out > 0) text += "... " + std::to_string(entry.left_out) + '\n';
    text += std::to_string(std::chrono::duration_cast<seconds>(entry.at - from).count()) + ' ' +
            to_string(entry.change) + ' ' + to_string(entry.severity) + ' ' + entry.text;
    if (!entry.who.empty()) text += " by " + entry.who;
    if (entry.numbers_at != kNever)
      text += " @" + std::to_string(std::chrono::duration_cast<seconds>(entry.numbers_at - from).count());
    text += '\n';
  }
  return text;
}

struct Timelines : testing::Test {
  Timelines() : fabric(fakes::FabricBuilder::fat_tree(2, 2, 2)) {
    const Sweep sweep = fabric.sweep();
    coverage = Coverage(sweep.topology, std::vector<std::uint8_t>(sweep.topology->ports().size(), 0xFF), true);
    now = start = fabric.now();
  }
  Finding down(const std::string& summary, Severity severity = Severity::kWarning) const {
    const LinkKey key = fabric.link_of(fabric.port_towards("leaf-1", "spine-0"));
    Finding finding;
    finding.kind = IncidentKind::kLinkDown;
    finding.severity = severity;
    finding.cause = {EntityKind::kLink, "test", key.low, key.high, "leaf-1 - spine-0"};
    finding.summary = summary;
    finding.jobs = {"slurm:1"};
    return finding;
  }
  void update(std::vector<Finding> findings) {
    now += seconds(1);
    manager.update("test", std::move(findings), coverage, now);
  }
  void resolve() {
    for (unsigned i = 0; i < IncidentPolicy{}.resolve_sweeps; ++i) update({});
  }
  const Incident& incident(std::uint64_t id = 1) const { return *manager.find(id); }

  fakes::FabricBuilder fabric;
  Coverage coverage;
  TimePoint now, start;
  IncidentManager manager{IncidentPolicy{}, {}, 1};
};

TEST_F(Timelines, KeepWhatAnIncidentWasAfterItEnded) {
  update({down("is down, reported by both ends", Severity::kCritical)});
  update({down("is down, reported by both ends", Severity::kCritical)});
  update({down("is trained, but the subnet manager has not activated it")});
  EXPECT_EQ(incident().listed_severity(), Severity::kWarning);
  EXPECT_EQ(incident().worst_severity, Severity::kCritical);
  EXPECT_EQ(incident().listed_summary(), "is trained, but the subnet manager has not activated it");
  resolve();
  EXPECT_EQ(incident().listed_severity(), Severity::kCritical);
  EXPECT_EQ(incident().listed_summary(), "is down, reported by both ends");
  EXPECT_EQ(incident().finding.severity, Severity::kWarning) << "as it was last";
  EXPECT_EQ(written(incident(), start),
            "1 OPENED CRITICAL is down, reported by both ends\n"
            "3 SEVERITY_CHANGED WARNING is trained, but the subnet manager has not activated it\n"
            "6 RESOLVED WARNING \n");
}

TEST_F(Timelines, OtherNumbersBringTheLastEntryUpToDate) {
  update({down("is down; 3 nodes behind it")});
  update({down("is down; 4 nodes behind it")});
  update({down("is down; 40 nodes behind it")});
  update({down("is down at one end")});
  update({down("is down at one end")});
  EXPECT_EQ(written(incident(), start),
            "1 OPENED WARNING is down; 40 nodes behind it @3\n"
            "4 UPDATED WARNING is down at one end\n");
  EXPECT_EQ(incident().headline, "is down; 3 nodes behind it");
}

TEST_F(Timelines, NumbersAreBroughtUpToDateAlsoAfterAnAcknowledgement) {
  update({down("3 wait")});
  ASSERT_TRUE(manager.acknowledge(1, "ada", now));
  ASSERT_TRUE(manager.acknowledge(1, "ada", now));
  update({down("4 wait")});
  EXPECT_EQ(written(incident(), start), "1 OPENED WARNING 4 wait @2\n1 ACKNOWLEDGED WARNING  by ada\n");
}

TEST_F(Timelines, ASilenceHasALengthInMinutes) {
  update({down("is down")});
  ASSERT_TRUE(manager.silence(1, now + hours(1) - std::chrono::milliseconds(700), now, "kim"));
  ASSERT_TRUE(manager.silence(1, now + std::chrono::seconds(45), now, "kim"));
  EXPECT_EQ(written(incident(), start),
            "1 OPENED WARNING is down\n1 SILENCED WARNING for 1 h by kim\n1 SILENCED WARNING for 45 s by kim\n");
}

TEST_F(Timelines, SayWhoSilencedAndAcknowledged) {
  update({down("is down")});
  ASSERT_TRUE(manager.silence(1, now + hours(2), now, "kim"));
  ASSERT_TRUE(manager.silence(1, now, now));
  EXPECT_EQ(written(incident(), start),
            "1 OPENED WARNING is down\n1 SILENCED WARNING for 2 h by kim\n1 SILENCE_ENDED WARNING \n");
}

TEST_F(Timelines, AReopenedIncidentHasAHeadlineAndAWorstSeverityOfItsOwn) {
  update({down("is down", Severity::kCritical)});
  resolve();
  update({down("is down at one end", Severity::kInfo)});
  EXPECT_EQ(incident().worst_severity, Severity::kInfo);
  EXPECT_EQ(incident().headline, "is down at one end");
  EXPECT_EQ(written(incident(), start),
            "1 OPENED CRITICAL is down\n4 RESOLVED CRITICAL \n5 REOPENED INFO is down at one end\n");
}

TEST_F(Timelines, SayOfWhatAnIncidentBecameAPart) {
  update({down("is down")});
  Finding whole = down("switch is down", Severity::kCritical);
  whole.kind = IncidentKind::kSwitchDown;
  whole.cause = {EntityKind::kNode, "test", {fabric.nodes()[fabric.find("leaf-1")].guid, {}}, {}, "leaf-1"};
  whole.affected = {down("").cause};
  update({whole});
  EXPECT_EQ(written(incident(), start), "1 OPENED WARNING is down\n2 FOLDED WARNING now part of INC-2\n");
  EXPECT_EQ(incident().listed_summary(), "is down (now part of INC-2)");
}

TEST_F(Timelines, AreBoundedAndKeepTheBeginningAndTheEnd) {
  for (int i = 0; i < 100; ++i) update({down("says h" + std::to_string(i))});
  const std::vector<TimelineEntry>& timeline = incident().timeline;
  ASSERT_EQ(timeline.size(), kMostTimelineEntries);
  EXPECT_EQ(timeline[0].text, "says h0");
  EXPECT_EQ(timeline[7].text, "says h7");
  EXPECT_EQ(timeline[8].text, "says h76");
  EXPECT_EQ(timeline[8].left_out, 68U);
  EXPECT_EQ(timeline.back().text, "says h99");
  EXPECT_EQ(std::ranges::count_if(timeline, [](const auto& entry) { return entry.left_out > 0; }), 1);
}

TEST_F(Timelines, WhatWentBeforeTheLastOpeningIsLeftOutFirst) {
  for (int i = 0; i < 20; ++i) update({down("before h" + std::to_string(i))});
  resolve();
  for (int i = 0; i < 30; ++i) update({down("after h" + std::to_string(i))});
  const std::vector<TimelineEntry>& timeline = incident().timeline;
  ASSERT_EQ(timeline.size(), kMostTimelineEntries);
  EXPECT_EQ(timeline[0].text, "before h19");
  EXPECT_EQ(timeline[0].left_out, 19U);
  EXPECT_EQ(timeline[2].change, IncidentChange::kReopened);
  update({down("after h30")});
  update({down("after h31")});
  update({down("after h32")});
  EXPECT_EQ(incident().timeline.size(), kMostTimelineEntries);
  EXPECT_EQ(incident().timeline[0].change, IncidentChange::kReopened);
  EXPECT_EQ(incident().timeline[0].left_out, 21U);
  EXPECT_EQ(incident().timeline[8].left_out, 1U);
}

TEST_F(Timelines, AnIncidentThatWasStoredWithoutOneBeginsIt) {
  update({down("is down")});
  Incident old = incident();
  old.timeline.clear();
  manager = IncidentManager(IncidentPolicy{}, {old}, 2);
  update({down("is down")});
  EXPECT_EQ(written(incident(), start), "") << "nothing is invented";
  update({down("is down at one end")});
  EXPECT_EQ(written(incident(), start), "3 UPDATED WARNING is down at one end\n");
}

TEST_F(Timelines, LongTextsAreCutBetweenCharacters) {
  std::string text(999, 'x');
  text += "éééé";
  update({down(text)});
  EXPECT_EQ(incident().timeline[0].text, std::string(999, 'x'));
  update({down(text + "é")});
  EXPECT_EQ(incident().timeline.size(), 1U) << "what was cut is no news";
}

TEST_F(Timelines, AStateThatLastsKeepsTheTimeWhenItWasFirstRead) {
  // By these times a person finds the end that went down first: a severity that changes later must not move them.
  const auto seen = [this](Severity severity, const std::string& state, double value) {
    Finding finding = down("link is down", severity);
    finding.evidence = {{"port_state", state, value, 4, "", now, finding.cause},
                        {"symbol_errors", "12 in 30 s", 12, 1, "", now, finding.cause, seconds(30)}};
    return finding;
  };
  const auto evidence = [this] { return manager.find(1)->finding.evidence; };
  update({seen(Severity::kWarning, "Down", 1)});
  ASSERT_EQ(evidence()[0].observed, start);
  now += seconds(29);
  update({seen(Severity::kCritical, "Down", 1)});
  ASSERT_EQ(manager.find(1)->revision, 2U);
  EXPECT_EQ(evidence()[0].observed, start);
  EXPECT_EQ(evidence()[1].observed, start + seconds(30)) << "what is counted over a time is newer";
  EXPECT_EQ(manager.last_evidence().front().second, start + seconds(30)) << "it was seen again all the same";
  update({seen(Severity::kWarning, "Initialize", 2)});
  EXPECT_EQ(evidence()[0].observed, start + seconds(31)) << "another state has another time";
  for (unsigned i = 0; i < IncidentPolicy{}.resolve_sweeps; ++i) update({});
  update({seen(Severity::kWarning, "Initialize", 2)});
  ASSERT_EQ(manager.find(1)->occurrences, 2U);
  EXPECT_EQ(evidence()[0].observed, now - seconds(1)) << "it went down again";
}

TEST_F(Timelines, TheLastFlapIsTheOneThatIsTold) {
  Finding flapping = down("link flaps");
  flapping.kind = IncidentKind::kLinkFlap;
  flapping.evidence = {{"port_state", "the link went down", 0, 0, "", start, flapping.cause}};
  update({flapping});
  flapping.severity = Severity::kCritical;
  flapping.evidence[0].observed = now;
  update({flapping});
  EXPECT_EQ(manager.find(1)->finding.evidence[0].observed, start + seconds(1));
}

TEST_F(Timelines, GoOnUnderAnotherNameOfTheSubnet) {
  Finding finding = down("is down");
  finding.affected.push_back(finding.cause);
  finding.evidence.push_back({.signal = "port_state", .description = "down", .unit = {}, .where = finding.cause});
  update({finding});
  const auto changed = manager.rename("test", "test@0x1", now);
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_EQ(changed[0].revision, 2U);
  EXPECT_EQ(incident().finding.cause.fabric, "test@0x1");
  EXPECT_EQ(incident().finding.affected.front().fabric, "test@0x1");
  EXPECT_EQ(incident().finding.evidence.front().where.fabric, "test@0x1");
  update({finding});
  ASSERT_TRUE(manager.find(2)) << "of another subnet";
  EXPECT_TRUE(incident(1).is_open());
  EXPECT_TRUE(manager.rename("test@0x2", "test", now).empty());
  manager.rename("test@0x1", "test", now);
  EXPECT_FALSE(incident(2).is_open()) << "there can be only one";
  EXPECT_EQ(incident(2).headline, "is down (it continues as INC-1)") << "which people know";
  update({finding});
  EXPECT_TRUE(incident(1).is_open());
  EXPECT_EQ(incident(1).finding.cause.fabric, "test");
  EXPECT_FALSE(manager.find(3));
}

}  // namespace
}  // namespace weft::analyzer
