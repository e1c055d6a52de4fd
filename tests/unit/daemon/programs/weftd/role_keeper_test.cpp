// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/daemon/programs/weftd/role_keeper_testing.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

/// Remembers how far back it was read.
class ReadStore final : public IdleStore {
 public:
  Result<store::Restored> restore(TimePoint since) override {
    incidents_since = since;
    return store::Restored{};
  }
  Result<RemedyMemory> restore_remedies(TimePoint since) override {
    plans_since = since;
    return RemedyMemory{};
  }
  Result<ClockMemory> restore_clock() override { return clock; }

  ClockMemory clock;
  TimePoint incidents_since = kNever, plans_since = kNever;
};

TEST(ReadLedger, ForgetsNothingBecauseTheClockWasSetForward) {
  const config::WeftdConfig config;
  const TimePoint before = TimePoint(20'000h);
  ReadStore store;
  store.clock = {before + 960h, {{before, 960h}}};  // noted, by a weftd that went on
  ASSERT_TRUE(read_ledger(store, config, before + 960h, true));
  EXPECT_LT(store.plans_since, before - 1h);
  EXPECT_LT(store.incidents_since, before - 1h);
  store.clock = {before, {}};  // while no weftd ran, or it passed so long
  ASSERT_TRUE(read_ledger(store, config, before + 960h, true));
  EXPECT_LT(store.plans_since, before - 1h);
  EXPECT_LT(store.incidents_since, before - 1h);
}

TEST_F(RoleKeeperTest, AStandbyWatchesAndOpensNothing) {
  start(false);
  sweep(3);
  fabric.unlink(fabric.port_towards("leaf-1", "spine-0"));
  sweep(5);
  EXPECT_TRUE(shown().empty());
  EXPECT_TRUE(publication.load()->fabrics.front().watching);
  EXPECT_GT(ledger.moments, 0) << "port history is its own";
  const Leadership& leadership = publication.load()->leadership;
  EXPECT_TRUE(leadership.is_shared);
  EXPECT_FALSE(leadership.leads);
  EXPECT_EQ(leadership.leader, "a, process 1");
}

TEST_F(RoleKeeperTest, AStandbySaysWhyItDoesNotKnowAHost) {
  start(false);
  ledger.collectors = {mark_of("only-by-its-collector", clock.time - 1h)};
  view.seen.mark = "second";
  sweep(3);
  const auto unknown = [this] {
    std::vector<NodeHealth> all;
    for (const NodeHealth& each : *publication.load()->health)
      if (each.verdict == HealthVerdict::kUnknown) all.push_back(each);
    return all;
  };
  ASSERT_FALSE(unknown().empty());
  for (const NodeHealth& each : unknown()) {
    ASSERT_FALSE(each.reasons.empty()) << each.node;
    EXPECT_EQ(each.reasons.back().incident, 0U);
    EXPECT_EQ(each.reasons.back().message, "this weftd stands by and hears no collectors; ask the leader at a:50051");
  }
  take_lease();
  sweep(2);
  for (const NodeHealth& each : unknown())
    for (const HealthReason& why : each.reasons) EXPECT_EQ(why.message.find("stands by"), std::string::npos);
}

TEST_F(RoleKeeperTest, AStandbyShowsWhatTheLeaderStores) {
  start(false);
  sweep(1);
  Incident incident;
  incident.id = 12;
  incident.revision = 3;
  incident.opened = incident.updated = clock.time;
  ledger.incidents[12] = incident;
  ledger.collectors = {mark_of("node-1", clock.time)};
  sweep(1);
  EXPECT_TRUE(shown().empty()) << "nothing tells that something was stored";
  view.seen.mark = "second";
  ledger.away = true;
  sweep(4);
  EXPECT_TRUE(shown().empty());
  EXPECT_GE(publication.load()->leadership.behind, 2s);
  EXPECT_EQ(publication.load()->leadership.trouble, "this weftd cannot read the store: the database is not reachable");
  EXPECT_EQ(publication.load()->leadership.leader, "a, process 1");
  ledger.away = false;
  sweep(2);
  EXPECT_EQ(role->leadership().trouble, "");
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_EQ(shown().front().id, 12U);
  EXPECT_EQ(shown().front().revision, 3U);
  ASSERT_EQ(publication.load()->hosts->size(), 1U);
  EXPECT_EQ(publication.load()->hosts->front()->state, CollectorState::kConnected);
  sweep(1);
  EXPECT_LT(publication.load()->leadership.behind, 1s);
}

TEST_F(RoleKeeperTest, AStandbyRefusesAndNamesTheLeader) {
  start(false);
  const auto refused = role->refusal(CommandKind::kChange);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::kUnavailable);
  EXPECT_EQ(refused->message, "standby: a, process 1 leads at a:50051");
  EXPECT_TRUE(role->refusal(CommandKind::kBrake));
  EXPECT_FALSE(role->may_tell());
  EXPECT_FALSE(role->refusal(CommandKind::kRead));
  const auto stream = std::make_shared<FakeStream>();
  core->hosts().hello(stream, {.host = "node-0", .spool = 1, .version = "1", .interval = 1s, .oldest_sequence = 0});
  ASSERT_TRUE(stream->ended);
  EXPECT_EQ(stream->ended->code, ErrorCode::kUnavailable);
  EXPECT_EQ(stream->ended->message, refused->message);
  take_lease();
  sweep(1);
  const auto second = std::make_shared<FakeStream>();
  core->hosts().hello(second, {.host = "node-0", .spool = 1, .version = "1", .interval = 1s, .oldest_sequence = 0});
  EXPECT_FALSE(second->ended);
  EXPECT_FALSE(role->refusal(CommandKind::kChange));
}

TEST_F(RoleKeeperTest, ALeaderWritesWithTheEpochToWhichItRose) {
  take_lease();
  ledger.leads = 8;
  start(true);
  sweep(1);
  view.must_rise = true;
  sweep(2);
  EXPECT_EQ(ledger.leads, 8) << "the database did not answer";
  raised = 31;
  sweep(1);
  EXPECT_EQ(ledger.leads, 31);
  EXPECT_EQ(publication.load()->leadership.epoch, 31);
  EXPECT_NE(went_back_text(view).find("has led with epoch 30"), std::string::npos) << went_back_text(view);
  EXPECT_EQ(went_back_text(store::LeaseView{}), "");
}

TEST_F(RoleKeeperTest, ANewLeaderGoesOnWithTheIncidentsOfTheOneBefore) {
  start(false);
  sweep(3);
  fabric.unlink(fabric.port_towards("leaf-1", "spine-0"));
  sweep(3);
  // The leader has found it, and this one has not read that yet.
  Incident known;
  {
    fakes::FabricBuilder twin = fakes::FabricBuilder::fat_tree(2, 3, 2);
    analyzer::FabricAnalyzer rules("test", config.analyzer);
    analyzer::IncidentManager book(config.incidents, {}, 41);
    std::vector<Incident> changed;
    for (int i = 0; i < 6; ++i) {
      if (i == 3) twin.unlink(twin.port_towards("leaf-1", "spine-0"));
      const Sweep next = twin.sweep();
      auto analysis = rules.analyze(next, next.finished);
      for (Incident& each : book.update("test", std::move(analysis.findings), analysis.coverage, next.finished))
        changed.push_back(each);
    }
    ASSERT_FALSE(changed.empty());
    known = changed.back();
  }
  ledger.incidents[known.id] = known;
  ledger.collectors = {mark_of("node-1", clock.time - 1h)};
  take_lease();
  sweep(1);
  EXPECT_EQ(led, 1);
  EXPECT_EQ(told_before.count("events-1"), 1U);
  EXPECT_EQ(ledger.leads, 8);
  EXPECT_TRUE(publication.load()->leadership.leads);
  fabric.unlink(fabric.port_towards("leaf-0", "spine-1"));  // during the takeover
  sweep(3);
  const auto all = shown();
  ASSERT_EQ(all.size(), 2U) << "a collector that was never heard by this one is not silent yet";
  EXPECT_EQ(all[0].id, known.id) << "no incident is opened twice";
  EXPECT_EQ(all[0].opened, known.opened);
  EXPECT_EQ(all[1].id, 100U);
  EXPECT_EQ(ledger.incidents.size(), 2U);
  fabric.relink(fabric.port_towards("leaf-1", "spine-0"));
  sweep(8);
  EXPECT_EQ(ledger.incidents.at(known.id).state, IncidentState::kResolved);
}

TEST_F(RoleKeeperTest, ALedgerThatCannotBeReadIsTriedAgain) {
  start(false);
  ledger.away = true;
  take_lease();
  sweep(4);
  EXPECT_EQ(led, 0);
  const Leadership meanwhile = publication.load()->leadership;
  EXPECT_EQ(meanwhile.leader, "") << "nobody leads, and this weftd least of all";
  EXPECT_EQ(meanwhile.since, kNever);
  EXPECT_EQ(meanwhile.trouble,
            "this weftd holds the lease and cannot read the store yet: the database is not reachable");
  EXPECT_GE(meanwhile.silence, 2s) << "the alert sees it";
  const auto refused = role->refusal(CommandKind::kChange);
  ASSERT_TRUE(refused);
  EXPECT_TRUE(refused->message.starts_with("standby: nobody leads; it could not take over for ")) << refused->message;
  ledger.away = false;
  sweep(1);
  EXPECT_EQ(led, 1);
  const Leadership afterwards = role->leadership();
  EXPECT_EQ(afterwards.leader, "b, process 2");
  EXPECT_EQ(afterwards.trouble, "");
  EXPECT_EQ(afterwards.since, clock.time) << "since it leads, not since it has the lease";
}

TEST_F(RoleKeeperTest, ALeaderThatCannotRenewPromisesNothingAndStaysALeader) {
  ledger.leads = 7;
  view.epoch = 7;
  view.is_held = true;
  start(true);
  EXPECT_FALSE(role->refusal(CommandKind::kChange));
  view.is_held = false;
  view.trouble = "the database is not reachable";
  sweep(1);
  const auto refused = role->refusal(CommandKind::kChange);
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->message.find("the database is not reachable"), std::string::npos);
  EXPECT_FALSE(refused->message.starts_with("standby: "));
  EXPECT_FALSE(role->refusal(CommandKind::kBrake)) << "a brake holds at once";
  EXPECT_TRUE(publication.load()->leadership.leads);
  EXPECT_FALSE(publication.load()->leadership.is_held);
  EXPECT_TRUE(role->may_tell()) << "people are paged while the database is away";
  EXPECT_EQ(role->key_end(), ".epoch7") << "another weftd may give the same ids";
  EXPECT_TRUE(lost.empty());
}

// Another leads meanwhile: it is not the one whose lease is not renewed.
TEST_F(RoleKeeperTest, ALeaderThatLostItsLeaseNamesTheOtherAsTheLeader) {
  ledger.leads = 7;
  view.epoch = 7;
  view.is_held = true;
  start(true);
  view.is_held = false;
  view.is_lost = true;
  view.seen.holder = "b, process 2";
  view.seen.address = "b:50051";
  const auto refused = role->refusal(CommandKind::kChange);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::kUnavailable);
  EXPECT_EQ(refused->message, "standby: b, process 2 leads at b:50051");
}

TEST_F(RoleKeeperTest, ALeaderThatWakesFromALongSleepTellsNobodyBeforeItHasAsked) {
  ledger.leads = 7;
  view.epoch = 7;
  view.is_held = true;
  start(true);
  EXPECT_TRUE(role->may_tell());
  view.is_held = false;
  EXPECT_FALSE(role->may_tell());
}

// Its beat failed as it woke, and before the next one its store was refused: the other one tells since then.
TEST_F(RoleKeeperTest, ALeaderWhoseStoreIsTakenTellsNobody) {
  ledger.leads = 7;
  view.epoch = 7;
  view.is_held = true;
  start(true);
  view.is_held = false;
  view.trouble = "server closed the connection unexpectedly";
  EXPECT_TRUE(role->may_tell());
  ledger.is_taken = true;
  EXPECT_FALSE(role->may_tell());
}

TEST_F(RoleKeeperTest, ALeaderThatWasReplacedIsToldOnce) {
  ledger.leads = 7;
  view.epoch = 7;
  view.is_held = true;
  start(true);
  view.epoch.reset();
  view.is_held = false;
  view.is_lost = true;
  view.seen.holder = "c, process 3";
  role->tick();
  role->tick();
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_NE(lost.front().find("c, process 3"), std::string::npos);
}

TEST_F(RoleKeeperTest, ALeaderShowsWhoWouldTakeOver) {
  view.epoch = 7;
  view.is_held = true;
  ledger.other = StandbyView{"b, process 2", 1s};
  start(true);
  const auto standby = [this] {
    role->tick();
    settle();
    role->tick();
    return role->leadership().standby;
  };
  ASSERT_TRUE(standby());
  EXPECT_EQ(standby()->holder, "b, process 2");
  EXPECT_TRUE(standby()->is_there());
  EXPECT_EQ(ledger.looks_for_standby, 1) << "not with each tick";
  clock.time += 4s;
  EXPECT_EQ(standby()->seen, 5s) << "it is as old as the question";
  ledger.other = StandbyView{};
  clock.time += 1s;
  EXPECT_EQ(standby()->holder, "");
  EXPECT_FALSE(standby()->is_there());
  ledger.away = true;
  clock.time += 5s;
  EXPECT_FALSE(standby()) << "nobody knows";
}

TEST_F(RoleKeeperTest, AStandbyLooksForNone) {
  ledger.other = StandbyView{"b, process 2", 1s};
  start(false);
  role->tick();
  settle();
  EXPECT_EQ(ledger.looks_for_standby, 0);
}

}  // namespace
}  // namespace weft::daemon
