// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/plan_table.hpp"

#include "daemon/adapters/store/postgres_schema.hpp"
#include "daemon/adapters/store/schema.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

Plan make_plan(std::uint64_t id, PlanState state = PlanState::kProposed) {
  Plan plan;
  plan.id = id;
  plan.revision = 1;
  plan.state = state;
  plan.target = make_incident(1).finding.cause;
  plan.actuator = "infiniband_port";
  plan.reason = "INC-1: link down";
  plan.created = at_second(1);
  plan.updated = at_second(2);
  if (is_over(state)) plan.finished = at_second(10);
  return plan;
}

Plan full_plan() {
  Plan plan = make_plan(17, PlanState::kVerifying);
  plan.revision = 9;
  plan.action = RemedyAction::kDrainNode;
  plan.target = {EntityKind::kHost, "", {}, {}, "dgx-04", "dgx-04"};
  plan.actuator = "slurm";
  plan.incident = 0xFFFF'FFFF'FFFF'FFF0;
  plan.incident_began = at_second(4);
  plan.undone_once = true;
  plan.aborted = true;
  plan.left_in_service = true;
  plan.read_back = true;
  plan.kept_out = "ann rejected its return PLAN-9: the cable is 'out'";
  plan.undoes = 3;
  plan.inverse = RemedyAction::kRaiseLinkCost;
  plan.reason = "'); DROP TABLE plan; --";
  plan.requested_by = "weftd";
  plan.approved_by = "åsa@mgmt-1";
  plan.jobs = {"slurm:17", "", "slurm:18"};
  for (std::uint8_t i = 0; i < 12; ++i)  // more than ten: positions sort as numbers
    plan.candidates.push_back({static_cast<RemedyAction>(i % 6),
                               {EntityKind::kLink,
                                "compute",
                                {NodeGuid{0xFFFFFFFFFFFFFFF0}, PortNum{i}},
                                {NodeGuid{2}, PortNum{512}},
                                "a - b"},
                               0.1 * i,
                               1.0 / 3,
                               i % 2 == 0,
                               "costs " + std::to_string(i)});
  for (std::size_t i = 0; i < static_cast<std::size_t>(Guard::kCount); ++i)
    plan.guards.push_back({static_cast<Guard>(i), static_cast<GuardResult>(i % 4), "because " + std::to_string(i)});
  for (std::size_t i = 0; i < static_cast<std::size_t>(PlanState::kCount); ++i)
    plan.steps.push_back({at_second(static_cast<std::int64_t>(i)), static_cast<PlanState>(i), "kim", "step"});
  plan.expires = at_second(3600);
  plan.started = TimePoint(Duration(1'700'000'000'123'456'789));
  plan.intent = PlanIntent::kApply;
  plan.in_force = true;
  plan.unresolved = true;
  plan.windows_good = 2;
  plan.windows_needed = 4'000'000'000;
  plan.outcome = "it is so";
  plan.neighbours = {NodeGuid{2}, NodeGuid{0xFFFF'FFFF'FFFF'FFF0}};
  plan.routes_before = {4096, 3};
  plan.end = {NodeGuid{0xFFFF'FFFF'FFFF'FFF0}, PortNum{254}};
  return plan;
}

void expect_same(const Entity& a, const Entity& b) {
  EXPECT_EQ(a.identity(), b.identity());
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.port, b.port);
  EXPECT_EQ(a.peer, b.peer);
}

void expect_same(const Plan& a, const Plan& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.revision, b.revision);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.action, b.action);
  expect_same(a.target, b.target);
  EXPECT_EQ(a.actuator, b.actuator);
  EXPECT_EQ(a.incident, b.incident);
  EXPECT_EQ(a.incident_began, b.incident_began);
  EXPECT_EQ(a.kept_out, b.kept_out);
  EXPECT_EQ(a.undone_once, b.undone_once);
  EXPECT_EQ(a.aborted, b.aborted);
  EXPECT_EQ(a.left_in_service, b.left_in_service);
  EXPECT_EQ(a.read_back, b.read_back);
  EXPECT_EQ(a.undoes, b.undoes);
  EXPECT_EQ(a.inverse, b.inverse);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.requested_by, b.requested_by);
  EXPECT_EQ(a.approved_by, b.approved_by);
  EXPECT_EQ(a.jobs, b.jobs);
  ASSERT_EQ(a.candidates.size(), b.candidates.size());
  for (std::size_t i = 0; i < a.candidates.size(); ++i) {
    const Candidate& x = a.candidates[i];
    const Candidate& y = b.candidates[i];
    EXPECT_EQ(x.action, y.action);
    expect_same(x.target, y.target);
    EXPECT_EQ(x.cost_ratio, y.cost_ratio);
    EXPECT_EQ(x.harm_ratio, y.harm_ratio);
    EXPECT_EQ(x.allowed, y.allowed);
    EXPECT_EQ(x.explanation, y.explanation);
  }
  EXPECT_EQ(a.guards, b.guards);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.created, b.created);
  EXPECT_EQ(a.updated, b.updated);
  EXPECT_EQ(a.expires, b.expires);
  EXPECT_EQ(a.started, b.started);
  EXPECT_EQ(a.finished, b.finished);
  EXPECT_EQ(a.intent, b.intent);
  EXPECT_EQ(a.in_force, b.in_force);
  EXPECT_EQ(a.unresolved, b.unresolved);
  EXPECT_EQ(a.windows_good, b.windows_good);
  EXPECT_EQ(a.windows_needed, b.windows_needed);
  EXPECT_EQ(a.outcome, b.outcome);
  EXPECT_EQ(a.neighbours, b.neighbours);
  EXPECT_EQ(a.routes_before, b.routes_before);
  EXPECT_EQ(a.end, b.end);
}

std::vector<std::uint64_t> ids(const RemedyMemory& restored) {
  std::vector<std::uint64_t> result;
  for (const Plan& plan : restored.plans) result.push_back(plan.id);
  return result;
}

std::uint64_t ended(const RemedyMemory& restored, RemedyAction action, PlanState state) {
  return restored.ended[static_cast<std::size_t>(action)][static_cast<std::size_t>(state)];
}

using Plans = OnEachEngine;
INSTANTIATE_ON_EACH_ENGINE(Plans);

TEST_P(Plans, AFreshStoreHasNone) {
  const TempDir dir;
  const auto restored = must_open(dir.path())->restore_remedies(kNever);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_TRUE(restored->plans.empty());
  EXPECT_EQ(restored->ids.next(), 1U);
  EXPECT_EQ(restored->holds, RemedyHolds{});
  EXPECT_EQ(restored->ended, decltype(restored->ended){});
}

TEST_P(Plans, ComeBackWhole) {
  const TempDir dir;
  const Plan plan = full_plan();
  const auto saved = must_open(dir.path())->save_plans({{plan}}, nullptr, {});
  ASSERT_TRUE(saved) << saved.error().message;
  const auto restored = must_open(dir.path())->restore_remedies(kNever);
  ASSERT_TRUE(restored) << restored.error().message;
  ASSERT_EQ(restored->plans.size(), 1U);
  expect_same(restored->plans[0], plan);
  EXPECT_EQ(restored->ids.next(), 18U);
}

TEST_P(Plans, ThatItWasUpBeforeItsProbationBeganAnewIsKept) {
  const TempDir dir;
  Plan plan = full_plan();
  plan.windows_good = 0;
  plan.was_up = true;
  ASSERT_TRUE(must_open(dir.path())->save_plans({{plan}}, nullptr, {}));
  EXPECT_EQ(must_open(dir.path())->restore_remedies(kNever)->plans.at(0).windows_good, 1U) << "for one sweep at least";
}

TEST_P(Plans, ANewRevisionReplacesTheOldOneWithAllItsParts) {
  const TempDir dir;
  auto store = must_open(dir.path());
  Plan plan = full_plan();
  ASSERT_TRUE(store->save_plans({{plan}}, nullptr, {}));
  plan.revision = 10;
  plan.candidates.resize(1);
  plan.guards.clear();
  plan.steps.resize(2);
  plan.jobs = {"other"};
  ASSERT_TRUE(store->save_plans({{plan}}, nullptr, {}));
  const auto restored = store->restore_remedies(kNever);
  ASSERT_EQ(restored->plans.size(), 1U);
  expect_same(restored->plans[0], plan);
}

TEST_P(Plans, ThoseThatMatterAreRestoredHoweverOld) {
  const TempDir dir;
  auto store = must_open(dir.path());
  std::vector<Plan> plans;
  for (std::uint64_t id = 1; id <= 10; ++id) plans.push_back(make_plan(id, static_cast<PlanState>(id - 1)));
  plans[5].in_force = true;           // committed
  plans[7].unresolved = true;         // failed
  plans[8].finished = at_second(20);  // rejected later
  ASSERT_TRUE(store->save_plans(plans, nullptr, {}));
  EXPECT_EQ(ids(*store->restore_remedies(at_second(15))), (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 8, 9}));
  EXPECT_EQ(ids(*store->restore_remedies(kNever)).size(), 10U);
}

TEST_P(Plans, EachIsCountedOnceWhenItEnds) {
  const TempDir dir;
  auto store = must_open(dir.path(), {.incident_retention = std::chrono::seconds(100)});
  Plan plan = make_plan(41);
  ASSERT_TRUE(store->save_plans({{plan}}, nullptr, {}));
  plan.state = PlanState::kCommitted;
  plan.finished = at_second(10);
  plan.in_force = true;
  ASSERT_TRUE(store->save_plans({{plan}}, nullptr, {}));
  plan.in_force = false;  // taken back by another plan
  ASSERT_TRUE(store->save_plans({{plan}}, nullptr, {}));
  const std::vector more{make_plan(42, PlanState::kRejected), make_plan(43, PlanState::kRejected)};
  ASSERT_TRUE(store->save_plans(more, nullptr, {}));
  EXPECT_EQ(store->maintain(at_second(500), {}), false);
  store.reset();
  const auto restored = must_open(dir.path())->restore_remedies(kNever);
  EXPECT_TRUE(restored->plans.empty());
  EXPECT_EQ(restored->ids.next(), 44U) << "an id is given once";
  EXPECT_EQ(ended(*restored, RemedyAction::kIsolateLink, PlanState::kCommitted), 1U);
  EXPECT_EQ(ended(*restored, RemedyAction::kIsolateLink, PlanState::kRejected), 2U);
  EXPECT_EQ(ended(*restored, RemedyAction::kDrainNode, PlanState::kRejected), 0U);
}

TEST_P(Plans, RetentionSparesWhatIsNotSettledAndWorksInSteps) {
  const TempDir dir;
  auto store = must_open(dir.path(), {.incident_retention = std::chrono::seconds(100)});
  std::vector<Plan> plans;
  for (std::uint64_t id = 1; id <= 500; ++id) {
    plans.push_back(make_plan(id, id == 7 ? PlanState::kApproved : PlanState::kCommitted));
    plans.back().in_force = id == 8;
    plans.back().unresolved = id == 9;
  }
  const AuditRecord record{0, at_second(1), "kim", "approved", 10, 1, "", ""};
  ASSERT_TRUE(store->save_plans(plans, nullptr, {{record}}));
  EXPECT_EQ(store->maintain(at_second(90), {}), false);
  EXPECT_EQ(store->restore_remedies(kNever)->plans.size(), 500U);
  int steps = 1;
  while (*store->maintain(at_second(500), {}) && steps < 100) ++steps;
  EXPECT_GT(steps, 1);
  EXPECT_LT(steps, 100);
  EXPECT_EQ(ids(*store->restore_remedies(kNever)), (std::vector<std::uint64_t>{7, 8, 9}));
  EXPECT_EQ(store->audit(0, 10)->size(), 1U) << "the trail is kept";
}

TEST_P(Plans, AClockThatWasSetMakesNeitherPlansNorIncidentsOld) {
  const TempDir dir;
  auto store = must_open(dir.path(), {.incident_retention = std::chrono::seconds(100)});
  Plan plan = make_plan(1, PlanState::kCommitted);
  plan.finished = at_second(10);
  Incident incident = make_incident(3);
  incident.state = IncidentState::kResolved;
  incident.resolved = at_second(10);
  ASSERT_TRUE(store->save_plans({{plan}}, nullptr, {}));
  ASSERT_TRUE(store->save_incidents({{incident}}, {}));
  const auto kept = [&] {
    return store->restore_remedies(kNever)->plans.size() + store->restore(kNever)->incidents.size();
  };
  const Duration decade = std::chrono::hours(24 * 3650);
  const ClockStep forward{at_second(40), decade}, back{at_second(50) + decade, -decade};
  const ClockMemory ahead{at_second(50) + decade, {forward}};
  ASSERT_TRUE(store->maintain(at_second(50) + decade, ahead));
  EXPECT_EQ(kept(), 2U) << "ten years forward";
  ASSERT_TRUE(store->maintain(at_second(50) + decade, {at_second(40), {}}));
  EXPECT_EQ(kept(), 2U) << "nobody has noted the step yet";
  ASSERT_TRUE(store->maintain(at_second(60), {at_second(60), {forward, back}}));
  EXPECT_EQ(kept(), 2U) << "and back";
  ASSERT_TRUE(store->maintain(at_second(5), {at_second(50) + decade, {forward}}));
  EXPECT_EQ(kept(), 2U) << "back, not noted yet";
  ASSERT_TRUE(store->maintain(at_second(141) + decade, {at_second(141) + decade, {forward}}));
  EXPECT_EQ(kept(), 0U) << "time passes all the same";
}

TEST_P(Plans, RetentionOfIncidentsDoesNotShortenThatOfPlansThatALimitCounts) {
  const TempDir dir;
  auto store = must_open(
      dir.path(), {.incident_retention = std::chrono::seconds(100), .plan_retention = std::chrono::seconds(1000)});
  ASSERT_TRUE(store->save_plans({{make_plan(1, PlanState::kRolledBack)}}, nullptr, {}));  // over at 10 s
  EXPECT_EQ(store->maintain(at_second(1009), {at_second(1009), {}}), false);
  EXPECT_EQ(ids(*store->restore_remedies(kNever)), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(store->maintain(at_second(1011), {at_second(1011), {}}), false);
  EXPECT_TRUE(store->restore_remedies(kNever)->plans.empty());
}

TEST_P(Plans, RetentionSparesThoseOfAnOpenIncident) {
  const TempDir dir;
  auto store = must_open(dir.path(), {.incident_retention = std::chrono::seconds(100)});
  Incident incident = make_incident(3);
  incident.state = IncidentState::kOpen;
  ASSERT_TRUE(store->save_incidents({{incident}}, {}));
  std::vector<Plan> plans{make_plan(1, PlanState::kRejected), make_plan(2, PlanState::kRejected)};
  plans[0].incident = 3;
  plans[1].incident = 4;
  ASSERT_TRUE(store->save_plans(plans, nullptr, {}));
  EXPECT_EQ(store->maintain(at_second(500), {}), false);
  EXPECT_EQ(ids(*store->restore_remedies(at_second(400))), (std::vector<std::uint64_t>{1})) << "it is not tried again";
  incident.state = IncidentState::kResolved;
  incident.resolved = at_second(350);
  ASSERT_TRUE(store->save_incidents({{incident}}, {}));
  EXPECT_TRUE(store->restore_remedies(at_second(400))->plans.empty());
}

TEST_P(Plans, HowAutomationStandsIsKept) {
  const TempDir dir;
  const RemedyHolds state{true, "kim: a visitor", true, "40 links in 5 min", at_second(7), {{9, "ffff0b7a5d3f2468"}}};
  ASSERT_TRUE(must_open(dir.path())->save_plans({}, &state, {}));
  auto store = must_open(dir.path());
  EXPECT_EQ(store->restore_remedies(kNever)->holds, state);
  ASSERT_TRUE(store->save_plans({{make_plan(1)}}, nullptr, {}));
  EXPECT_EQ(store->restore_remedies(kNever)->holds, state) << "nothing was said of it";
  const RemedyHolds free;
  ASSERT_TRUE(store->save_plans({}, &free, {}));
  RemedyHolds left = store->restore_remedies(kNever)->holds;
  EXPECT_EQ(left.others, state.others) << "what was once seen is not seen for the first time again";
  left.others.clear();
  EXPECT_EQ(left, RemedyHolds{});
}

TEST_P(Plans, WhatTheClockShowedIsKept) {
  const TempDir dir;
  EXPECT_EQ(*must_open(dir.path())->restore_clock(), ClockMemory{}) << "nobody looked yet";
  for (const ClockMemory& memory : {ClockMemory{at_second(9), {{at_second(3), std::chrono::hours(25)}}},
                                    ClockMemory{at_second(20), {}, std::chrono::hours(7), "5b1d"}}) {
    ASSERT_TRUE(must_open(dir.path())->save_clock(memory));
    EXPECT_EQ(*must_open(dir.path())->restore_clock(), memory);
  }
}

TEST_P(Plans, EachStoreHasAnIdOfItsOwnThatItKeeps) {
  const TempDir one, other;
  const auto id = [](const TempDir& dir) { return must_open(dir.path())->restore_remedies(kNever)->installation; };
  const std::string first = id(one);
  EXPECT_EQ(first.size(), 16U);
  EXPECT_EQ(first.find_first_not_of("0123456789abcdef"), std::string::npos) << first;
  EXPECT_EQ(id(one), first) << "kept over a restart";
  EXPECT_NE(id(other), first);
  if (GetParam() == Engine::kSqlite) {
    const TempDir copied;
    std::filesystem::copy(one.path() / "weft.db", copied.path() / "weft.db");
    EXPECT_EQ(id(copied), first) << "a copy takes itself for the same";
  }
  by_hand(one.path()).run("DELETE FROM installation");
  const auto without = SqlStore::open(one.path(), options_for(one.path()));
  EXPECT_FALSE(without && (*without)->restore_remedies(kNever)) << "without one nothing could be told apart";
}

TEST(PlansOnFiles, ADatabaseFromBeforeIsGivenAnId) {
  const TempDir dir;
  Schema old = state_schema();
  old.migrations = old.migrations.first(8);
  ASSERT_TRUE(open_database(dir.path() / "weft.db", old));
  EXPECT_EQ(must_open(dir.path())->restore_remedies(kNever)->installation.size(), 16U);
}

// Plans of a weftd that did not store what persons said of them.
TEST_P(Plans, OfBeforeThatPersonsAbortedAreKnown) {
  const TempDir dir;
  Schema old = state_schema();
  old.migrations = old.migrations.first(24);
  if (GetParam() == Engine::kSqlite)
    ASSERT_TRUE(open_database(dir.path() / "weft.db", old));
  else
    ASSERT_TRUE(open_postgres(url_of(dir.path()), old));
  {
    auto database = by_hand(dir.path());
    const auto add = [&database](int id, const char* action, const char* outcome, const char* kept_out) {
      Statement(database,
                "INSERT INTO plan (id, revision, state, over, action, actuator, incident, undoes, reason, "
                "requested_by, approved_by, created, updated, expires, started, finished, intent, in_force, "
                "unresolved, windows_good, windows_needed, outcome, kept_out) VALUES (?, 1, 'ROLLING_BACK', 0, ?, "
                "'', 0, 0, '', '', '', 1, 1, 0, 1, 0, 'APPLY', 0, 0, 0, 0, ?, ?)")
          .run(id, action, outcome, kept_out);
    };
    const char* failed = "it failed again: the link went down";
    add(1, "RESTORE_LINK", failed, "ann aborted its return PLAN-12: the wrong cable");
    add(2, "RESTORE_LINK", failed, "ann aborted its return PLAN-2: the wrong cable");
    add(3, "UNDRAIN_NODE", "it failed again: it is unhealthy", "ann aborted its return PLAN-3");
    add(4, "RESTORE_LINK", failed, "ann took it out of service, with PLAN-1");
    add(5, "ISOLATE_LINK", "it did not help", "ann aborted its return PLAN-5");
    add(6, "RESTORE_LINK", "aborted by ann: no", "ann aborted its return PLAN-6: no");
    ASSERT_TRUE(database.outcome()) << database.outcome().error().message;
  }
  ASSERT_TRUE(must_open(dir.path()));
  const auto ids_with = [&dir](const char* what) {
    auto database = by_hand(dir.path());
    Statement rows(database, std::string("SELECT id FROM plan WHERE ") + what + " = 1 ORDER BY id");
    rows.query();
    std::vector<std::int64_t> ids;
    while (rows.next()) ids.push_back(rows.integer(0));
    return ids;
  };
  EXPECT_EQ(ids_with("aborted"), (std::vector<std::int64_t>{2, 3, 6}));
  EXPECT_EQ(ids_with("read_back"), (std::vector<std::int64_t>{1, 2, 3, 4})) << "what failed by itself had been back";
}

TEST_P(Plans, ABreakerThatNobodyKnowsOfIsDamageAndNotWhole) {
  const TempDir dir;
  ASSERT_TRUE(must_open(dir.path()));
  by_hand(dir.path()).run("DELETE FROM remedy");
  const auto restored = must_open(dir.path())->restore_remedies(kNever);
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, ErrorCode::kCorrupt);
}

TEST_P(Plans, AnUnknownWordIsDamageAndNotAGuess) {
  for (const char* damage : {"UPDATE plan SET state = 'FINE'", "UPDATE plan SET intent = 'PERHAPS'",
                             "UPDATE plan_guard SET result = 'MAYBE'", "UPDATE plan_candidate SET action = 'JUMP'",
                             "UPDATE plan_end SET port = 70000"}) {
    const TempDir dir;
    ASSERT_TRUE(must_open(dir.path())->save_plans({{full_plan()}}, nullptr, {}));
    {
      auto database = by_hand(dir.path());
      database.run(damage);
      ASSERT_TRUE(database.outcome());
    }
    const auto restored = must_open(dir.path())->restore_remedies(kNever);
    ASSERT_FALSE(restored) << damage;
    EXPECT_EQ(restored.error().code, ErrorCode::kCorrupt);
  }
}

TEST(PlansOnFiles, OfADatabaseThatKnewNothingOfThemThereAreNone) {
  const TempDir dir;
  Schema old = state_schema();
  old.migrations = old.migrations.first(5);
  ASSERT_TRUE(open_database(dir.path() / "weft.db", old));
  auto store = must_open(dir.path());
  EXPECT_EQ(store->restore_remedies(kNever)->ids.next(), 1U);
  EXPECT_TRUE(store->save_plans({{full_plan()}}, nullptr, {{AuditRecord{}}}));
  EXPECT_EQ(store->verify_audit()->records, 1U);
}

TEST(PlansOnFiles, ADiskThatRefusesChangesNothingAndTheSameCallIsGoodLater) {
  const TempDir dir;
  auto store = must_open(dir.path());
  Plan plan = make_plan(1);
  ASSERT_TRUE(
      store->save_plans({{plan}}, nullptr, {{AuditRecord{0, at_second(1), "weftd", "proposed", 1, 1, "", ""}}}));
  store->limit_growth(1);
  plan.revision = 2;
  plan.state = PlanState::kExecuting;
  plan.reason = std::string(20'000, 'x');
  const AuditRecord record{0, at_second(2), "weftd", "executing", 1, 1, "port 12 of leaf-1 is Active", ""};
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto saved = store->save_plans({{plan}}, nullptr, {{record}});
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().code, ErrorCode::kResourceExhausted) << saved.error().message;
    EXPECT_FALSE(store->status().ok);
    EXPECT_NE(store->status().message.find("plans are not written"), std::string::npos) << store->status().message;
    EXPECT_EQ(store->restore_remedies(kNever)->plans.at(0).revision, 1U);
    EXPECT_EQ(store->audit(0, 10)->size(), 1U);
  }
  const RemedyHolds stopped{true, std::string(20'000, 'x'), false, "", kNever};
  EXPECT_FALSE(store->save_plans({}, &stopped, {{record}}));
  EXPECT_EQ(store->restore_remedies(kNever)->holds, RemedyHolds{});
  store->limit_growth(0);
  ASSERT_TRUE(store->save_plans({{plan}}, nullptr, {{record}}));
  EXPECT_TRUE(store->status().ok) << store->status().message;
  EXPECT_EQ(store->restore_remedies(kNever)->plans.at(0).state, PlanState::kExecuting);
  EXPECT_EQ(store->verify_audit()->records, 2U);
}

TEST(PlansOnFiles, TheIncidentThatAPlanIsForIsOnDiskBeforeIt) {
  const TempDir dir;
  auto store = must_open(dir.path());
  store->limit_growth(1);
  Incident incident = make_incident(5);
  incident.finding.summary = std::string(20'000, 'x');
  ASSERT_FALSE(store->save_incidents({{incident}}, {}));
  EXPECT_FALSE(store->save_plans({{make_plan(1)}}, nullptr, {})) << "its incident's id could be given to another one";
  store->limit_growth(0);
  ASSERT_TRUE(store->save_plans({{make_plan(1)}}, nullptr, {}));
  EXPECT_EQ(store->restore(kNever)->incidents.size(), 1U);
}

TEST(PlansOnFiles, AFileThatWasRemovedIsNotWrittenOn) {
  const TempDir dir;
  auto store = must_open(dir.path());
  std::filesystem::rename(dir.path() / "weft.db", dir.path() / "aside");
  EXPECT_FALSE(store->save_plans({{make_plan(1)}}, nullptr, {}));
}

}  // namespace
}  // namespace weft::store
