// SPDX-License-Identifier: Apache-2.0
// weftctl's verbs about plans, against a server whose daemon is made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "tests/unit/api/small_plans.hpp"
#include "tests/unit/daemon/programs/weftctl/verbs_fixture.hpp"

namespace weft::ctl {
namespace {

using api::make_plan;
using api::make_snapshot;
using api::with_plans;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Verbs, PlansAreATable) {
  EXPECT_EQ(say(Exit::kGood, show_plans, WhichPlans::kOpen, false), "No open plans.\n");
  Plan verifying = make_plan(2, PlanState::kVerifying);
  verifying.windows_good = 1;
  verifying.windows_needed = 5;
  Plan over = make_plan(3, PlanState::kExpired);
  over.outcome = "not approved in time";
  over.incident = 0;
  auto snapshot = with_plans(make_snapshot(1, {}), {make_plan(1), verifying, over});
  snapshot->remedy.hands_off = true;
  snapshot->remedy.hands_off_reason = "kim: a visitor";
  publication.publish(snapshot);
  EXPECT_EQ(
      say(Exit::kGood, show_plans, WhichPlans::kOpen, false),
      "Everything is stopped (hands-off), also what persons order: kim: a visitor\n"
      "  to release it: weftctl hands-off off --reason ...\n"
      "ID      ACTION        STATE          TARGET                                INCIDENT  UPDATED   REASON OR "
      "OUTCOME\n"
      "PLAN-1  ISOLATE_LINK  PROPOSED       leaf-1 port 1 - host-1 mlx5_0 port 1  INC-1     just now  INC-1: link "
      "of host-1 is down\n"
      "PLAN-2  ISOLATE_LINK  VERIFYING 1/5  leaf-1 port 1 - host-1 mlx5_0 port 1  INC-1     just now  INC-1: link "
      "of host-1 is down\n");
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kAll, false), HasSubstr("not approved in time"));
  EXPECT_EQ(say(Exit::kGood, show_plans, WhichPlans::kAll, true), "PLAN-1\nPLAN-2\nPLAN-3\n");
  EXPECT_EQ(json(Exit::kGood, show_plans, WhichPlans::kAll, false)["plans"].size(), 3U);
}

TEST_F(Verbs, LinksAndNodesSayWhichPlanHoldsThem) {
  api::SmallFabric fabric;
  publication.publish(make_snapshot(1, {fabric.build()}));
  EXPECT_THAT(say(Exit::kGood, show_nodes, NodeChoice{}), Not(HasSubstr("DRAINED BY")));
  Plan raised = make_plan(7, PlanState::kCommitted);
  raised.action = RemedyAction::kRaiseLinkCost;
  raised.in_force = true;
  Plan drain = make_plan(8, PlanState::kVerifying);
  drain.action = RemedyAction::kDrainNode;
  drain.target = {.kind = EntityKind::kHost, .fabric = {}, .port = {}, .peer = {}, .label = "host-2"};
  drain.target.host = "host-2";
  drain.in_force = true;
  publication.publish(with_plans(make_snapshot(2, {fabric.build()}), {raised, drain}));
  const std::string links = say(Exit::kGood, show_links, LinkChoice());
  EXPECT_THAT(links, HasSubstr("up (cost raised by PLAN-7)"));
  EXPECT_THAT(links, Not(HasSubstr("PLAN-8")));
  const std::string nodes = say(Exit::kGood, show_nodes, NodeChoice{});
  EXPECT_THAT(nodes, HasSubstr("DRAINED BY"));
  EXPECT_THAT(nodes, HasSubstr("PLAN-8, VERIFYING"));
  EXPECT_EQ(json(Exit::kGood, show_links, LinkChoice())["links"][0]["hold"]["action"], "RAISE_LINK_COST");
  raised.action = RemedyAction::kIsolateLink;
  raised.state = PlanState::kVerifying;
  publication.publish(with_plans(make_snapshot(3, {fabric.build()}), {raised}));
  EXPECT_THAT(say(Exit::kGood, show_links, LinkChoice()), HasSubstr("up, though PLAN-7 took it out"));
  api::SmallFabric::take_down(fabric.ports[1]);
  publication.publish(with_plans(make_snapshot(4, {fabric.build()}), {raised}));
  EXPECT_THAT(say(Exit::kGood, show_links, LinkChoice()), HasSubstr("(taken out by PLAN-7, VERIFYING)"));
}

TEST_F(Verbs, NodesAreInTheOrderInWhichPeopleCount) {
  api::SmallFabric fabric(3);
  fabric.nodes[1].name = "gpu-10 mlx5_0";
  fabric.nodes[2].name = "gpu-2 mlx5_7";
  fabric.nodes[3].name = "gpu-2 mlx5_0";
  publication.publish(make_snapshot(1, {fabric.build()}));
  const std::string nodes = say(Exit::kGood, show_nodes, NodeChoice{});
  const std::vector<std::size_t> places{nodes.find("gpu-2 mlx5_0"), nodes.find("gpu-2 mlx5_7"),
                                        nodes.find("gpu-10 mlx5_0"), nodes.find("leaf-1")};
  EXPECT_TRUE(std::ranges::is_sorted(places)) << nodes;
}

TEST_F(Verbs, LinksNameThePlanThatChangesThem) {
  api::SmallFabric fabric;
  Plan plan = make_plan(7, PlanState::kRollingBack);
  std::uint64_t revision = 0;
  const auto links = [&] {
    publication.publish(with_plans(make_snapshot(++revision, {fabric.build()}), {plan}));
    return say(Exit::kGood, show_links, LinkChoice());
  };
  EXPECT_THAT(links(), HasSubstr("up (PLAN-7, which took it out, brings it back)"));
  api::SmallFabric::take_down(fabric.ports[1]);
  fabric.ports[1].physical_state = PortPhysicalState::kDisabled;
  EXPECT_THAT(links(), HasSubstr("down (PLAN-7, which took it out, brings it back)")) << "and not just disabled";
  plan.state = PlanState::kExecuting;
  EXPECT_THAT(links(), Not(HasSubstr("PLAN-7"))) << "nothing was sent";
  plan.intent = PlanIntent::kApply;
  EXPECT_THAT(links(), HasSubstr("down (PLAN-7 takes it out)"));
}

TEST_F(Verbs, LinksSayHowTheirReturnGoes) {
  api::SmallFabric fabric;
  Plan out = make_plan(1, PlanState::kCommitted);
  Plan back = make_plan(3, PlanState::kVerifying);
  back.action = RemedyAction::kRestoreLink;
  back.undoes = 1;
  std::uint64_t revision = 0;
  const auto links = [&] {
    publication.publish(with_plans(make_snapshot(++revision, {fabric.build()}), {out, back}));
    return say(Exit::kGood, show_links, LinkChoice());
  };
  EXPECT_THAT(links(), ::testing::AnyOf(HasSubstr("up (on probation, PLAN-3)"),
                                        HasSubstr("down (PLAN-3 waits until it is up)")));
  back.state = PlanState::kRolledBack;
  back.in_force = true;
  EXPECT_THAT(links(), HasSubstr("(taken out by PLAN-1, again by PLAN-3)"));
  out.in_force = true;
  back.in_force = false;
  back.state = PlanState::kApproved;
  EXPECT_THAT(links(), HasSubstr("(taken out by PLAN-1, PLAN-3 brings it back)"));
}

TEST_F(Verbs, OnePlanIsAStory) {
  publication.publish(with_plans(make_snapshot(1, {}), {make_plan(7)}));
  EXPECT_THAT(say(Exit::kGood, show_plan, "7"), HasSubstr("PLAN-7  ISOLATE_LINK  PROPOSED\n"));
  EXPECT_EQ(json(Exit::kGood, show_plan, "7")["guards"][1]["guard"], "BUDGET");
  EXPECT_EQ(fails(show_plan, "8").exit, Exit::kBadNews);
  EXPECT_EQ(fails(show_plan, "eight").exit, Exit::kWrongUsage);
}

TEST_F(Verbs, WhoApprovesIsTold) {
  EXPECT_THAT(say(Exit::kGood, approve_plan, Decision{.id = "PLAN-1", .reason = "", .who = "ann", .revision = 5}),
              HasSubstr("PLAN-1  ISOLATE_LINK  APPROVED\n"));
  EXPECT_THAT(say(Exit::kGood, approve_plan, Decision{.id = "PLAN-1", .reason = "", .who = "ann", .revision = 5}),
              Not(HasSubstr("guards, in order")))
      << "they were read before";
  EXPECT_EQ(remedies.last().who, "ann");
  EXPECT_EQ(json(Exit::kGood, approve_plan, Decision{.id = "PLAN-1", .reason = "", .who = "ann"})["state"], "APPROVED");
  const Failure refused = fails(approve_plan, Decision{.id = "PLAN-2", .reason = "", .who = "ann"});
  EXPECT_EQ(refused.exit, Exit::kRefused);
  EXPECT_STREQ(refused.what(), "guard LEAF_CAPACITY: leaf-1 keeps 7 of 8");
  EXPECT_EQ(fails(approve_plan, Decision{.id = "PLAN-1", .reason = "", .who = "ann", .revision = 4}).exit,
            Exit::kRefused)
      << "it changed since";
  EXPECT_EQ(fails(approve_plan, Decision{.id = "PLAN-99", .reason = "", .who = "ann"}).exit, Exit::kBadNews);
  EXPECT_THAT(say(Exit::kGood, abort_plan, Decision{.id = "1", .reason = "wrong cable", .who = "ann"}),
              HasSubstr("ROLLING_BACK"));
  EXPECT_THAT(say(Exit::kGood, reject_plan, Decision{.id = "1", .reason = "not now", .who = "ann"}),
              HasSubstr("REJECTED"));
  EXPECT_EQ(remedies.last().why, "not now");
}

TEST_F(Verbs, WishesAreMade) {
  EXPECT_THAT(say(Exit::kGood, isolate_link, Wish{"leaf-1:7", "new cable", "ann"}),
              HasSubstr("ISOLATE_LINK  APPROVED"));
  EXPECT_EQ(remedies.last().action, RemedyAction::kIsolateLink);
  EXPECT_EQ(remedies.last().target, "leaf-1:7");
  EXPECT_EQ(remedies.last().why, "new cable");
  say(Exit::kGood, restore_link, Wish{"leaf-1:7", "", "ann"});
  EXPECT_EQ(remedies.last().action, RemedyAction::kRestoreLink);
  say(Exit::kGood, drain_node, Wish{"host-1", "disk", "ann"});
  EXPECT_EQ(remedies.last().action, RemedyAction::kDrainNode);
  say(Exit::kGood, undrain_node, Wish{"host-1", "", "ann"});
  EXPECT_EQ(remedies.last().action, RemedyAction::kUndrainNode);
  EXPECT_EQ(json(Exit::kGood, drain_node, Wish{"host-1", "disk", "ann"})["action"], "DRAIN_NODE");
  EXPECT_EQ(fails(drain_node, Wish{"nobody", "disk", "ann"}).exit, Exit::kBadNews);
  EXPECT_EQ(fails(drain_node, Wish{"busy", "disk", "ann"}).exit, Exit::kRefused);
  EXPECT_EQ(fails(isolate_link, Wish{"leaf-1:7", " ", "ann"}).exit, Exit::kWrongUsage) << "a reason of blanks is none";
}

TEST_F(Verbs, AnOrderWithoutAnAnswerSaysWhatBecameOfIt) {
  client->patience = std::chrono::seconds(1);
  const Failure unanswered = fails(approve_plan, Decision{.id = "PLAN-3", .reason = "", .who = "ann"});
  EXPECT_EQ(unanswered.exit, Exit::kUnreachable);
  EXPECT_THAT(unanswered.what(), HasSubstr("check whether it was done before you repeat it"));
  Client nobody("127.0.0.1:1");
  std::ostringstream out;
  try {
    isolate_link(Session{nobody, out, false, true, false, api::kNow}, Wish{"leaf-1:7", "bad", "ann"});
    ADD_FAILURE() << out.str();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, Exit::kUnreachable);
    EXPECT_THAT(failure.what(), HasSubstr("Nothing was done, and nothing is kept for later"));
  }
}

TEST_F(Verbs, ALinksCostIsRaisedAndLowered) {
  EXPECT_THAT(say(Exit::kGood, raise_link_cost, Wish{"leaf-1:7", "slow", "ann"}),
              HasSubstr("RAISE_LINK_COST  APPROVED"));
  say(Exit::kGood, lower_link_cost, Wish{"leaf-1:7", "", "ann"});
  EXPECT_EQ(remedies.last().action, RemedyAction::kRestoreLink);
  EXPECT_TRUE(remedies.last().only_cost);
}

TEST_F(Verbs, ADryRunShowsGuardsAndDoesNothing) {
  const std::string seen =
      say(Exit::kGood, isolate_link, Wish{.target = "leaf-1:7", .reason = "", .who = "", .dry_run = true});
  EXPECT_THAT(seen, HasSubstr("ISOLATE_LINK  preview: nothing is done yet"));
  EXPECT_THAT(seen, HasSubstr("HANDS_OFF  passed"));
  EXPECT_THAT(seen, HasSubstr("alternatives, best first"));
  EXPECT_THAT(seen, ::testing::Not(HasSubstr("PLAN-")));
  EXPECT_TRUE(remedies.last().dry_run);
  EXPECT_EQ(remedies.times(), 1U);
  EXPECT_THAT(say(Exit::kRefused, isolate_link, Wish{.target = "full", .reason = "", .who = "", .dry_run = true}),
              HasSubstr("! LEAF_CAPACITY"));
}

TEST_F(Verbs, APersonAtATerminalSeesItAndIsAskedOnce) {
  const auto answer = [this](const std::string& typed, const Wish& wish) {
    std::ostringstream out;
    std::istringstream in(typed);
    Session session{*client, out, false, true, true, api::kNow};
    session.answers = &in;
    try {
      isolate_link(session, wish);
      return out.str();
    } catch (const Failure& failure) {
      return out.str() + failure.what();
    }
  };
  const Wish wish{.target = "leaf-1:7", .reason = "bad", .who = ""};
  for (const char* no : {"", "n\n", "\n", "yesterday\n"}) {
    EXPECT_THAT(answer(no, wish), HasSubstr("nothing was done")) << no;
    EXPECT_TRUE(remedies.last().dry_run);
  }
  const std::string done = answer("y\n", wish);
  EXPECT_THAT(done, HasSubstr("preview: nothing is done yet"));
  EXPECT_THAT(done, HasSubstr("do it? [y/N] "));
  EXPECT_THAT(done, HasSubstr("PLAN-9  ISOLATE_LINK  APPROVED"));
  EXPECT_FALSE(remedies.last().dry_run);
  Wish at_once = wish;
  at_once.yes = true;
  EXPECT_THAT(answer("", at_once), ::testing::Not(HasSubstr("do it?")));
  EXPECT_FALSE(remedies.last().dry_run);
  const std::string refused = answer("y\n", Wish{.target = "full", .reason = "bad", .who = ""});
  EXPECT_THAT(refused, HasSubstr("LEAF_CAPACITY: 6 of 8 are left"));
  EXPECT_THAT(refused, ::testing::Not(HasSubstr("do it?"))) << "what a guard refuses is not asked for";
}

TEST_F(Verbs, AutomationIsStoppedAndLooked) {
  EXPECT_THAT(say(Exit::kGood, show_automation),
              HasSubstr("Automation is not stopped.\nThe circuit breaker is not tripped.\n"));
  EXPECT_THAT(
      say(Exit::kGood, set_hands_off, true, "a visitor", "kim", false),
      ::testing::AllOf(HasSubstr("Everything is stopped (hands-off), also what persons order: kim: a visitor\n"),
                       ::testing::EndsWith("\nNo change is under way.\n")));
  auto stopped = make_snapshot(1, {});
  stopped->remedy.hands_off = true;
  publication.publish(stopped);
  EXPECT_EQ(json(Exit::kGood, set_hands_off, false, "gone", "kim", false)["handsOff"], false);
  EXPECT_EQ(fails(reset_breaker, "looked", "kim", false).exit, Exit::kRefused) << "it is not tripped";
  auto snapshot = make_snapshot(2, {});
  snapshot->remedy.breaker_tripped = true;
  publication.publish(snapshot);
  EXPECT_EQ(json(Exit::kBadNews, show_automation)["breakerTripped"], true);
}

TEST_F(Verbs, TheTrailIsReadFromItsEnd) {
  EXPECT_EQ(say(Exit::kGood, show_audit, AuditWish{.limit = 10U}), "The audit trail is empty.\n");
  for (std::uint64_t sequence = 1; sequence <= 2500; ++sequence)
    remedies.trail.push_back({sequence, api::kNow, "kim\x1b", "approved", 7, 0, "", "ab"});
  EXPECT_EQ(say(Exit::kGood, show_audit, AuditWish{.limit = 2U}),
            "LINE  TIME                     USER  ACTION    PLAN    INCIDENT  DETAIL\n"
            "2499  2023-11-14 22:13:20 UTC  kim?  approved  PLAN-7  -         -\n"
            "2500  2023-11-14 22:13:20 UTC  kim?  approved  PLAN-7  -         -\n"
            "The hashes of all 2500 lines match.\n");
  const auto records = json(Exit::kGood, show_audit, AuditWish{.limit = 0U})["records"];
  ASSERT_EQ(records.size(), 2500U);
  for (std::size_t i = 0; i < records.size(); ++i) ASSERT_EQ(records[i]["sequence"], std::to_string(i + 1));
  EXPECT_EQ(json(Exit::kGood, show_audit, AuditWish{.limit = 1500U})["records"].size(), 1500U);
  remedies.is_tampered_with = true;
  const Failure failure = fails(show_audit, AuditWish{.limit = 10U});
  EXPECT_EQ(failure.exit, Exit::kBadNews);
  EXPECT_THAT(failure.what(),
              ::testing::StartsWith("record 5 of the audit trail is missing; what to do: weftctl runbook"));
}

TEST_F(Verbs, TheTrailIsShownUpToADamagedRecord) {
  for (std::uint64_t sequence = 1; sequence <= 60; ++sequence)
    remedies.trail.push_back({sequence, api::kNow, "kim", "approved", 7, 0, "", "ab"});
  remedies.bad_record = 42;
  std::ostringstream out;
  try {
    show_audit(Session{*client, out, false, true, false, api::kNow}, {.limit = 3});
    ADD_FAILURE() << "it went well";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, Exit::kBadNews);
    EXPECT_THAT(failure.what(), ::testing::StartsWith("record 42 of the audit trail was changed"));
  }
  EXPECT_THAT(out.str(), HasSubstr("\n  58  "));
  EXPECT_THAT(out.str(), Not(HasSubstr("\n  57  ")));
  EXPECT_THAT(out.str(), ::testing::EndsWith("The hashes of the lines 43 to 60 match.\n"));
}

TEST_F(Verbs, WatchTellsWhatBecomesOfPlans) {
  publication.publish(with_plans(make_snapshot(1, {}), {make_plan(1), make_plan(2, PlanState::kCommitted)}));
  std::ostringstream out;
  std::thread ending([&] {
    // The server's end is the watcher's: all it was to see is published before.
    for (std::uint64_t revision = 2; revision < 100; ++revision) {
      publication.publish(with_plans(make_snapshot(revision, {}), {make_plan(1, PlanState::kRejected, revision)}));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    server->stop();
  });
  try {
    watch_plans(Session{*client, out, false, true, false, api::kNow}, false);
    ADD_FAILURE() << "it ended by itself";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, Exit::kUnreachable);
  }
  ending.join();
  EXPECT_THAT(out.str(), HasSubstr("PLAN-1  ISOLATE_LINK  REJECTED"));
  EXPECT_EQ(out.str().find("REJECTED"), out.str().rfind("REJECTED")) << "what says the same is said once";
  EXPECT_THAT(out.str(), Not(HasSubstr("PLAN-2"))) << "it was over before";
}

// The verb of emergencies must not look as if it were for all.
TEST_F(Verbs, HandsOffOfAShardSaysThatItIsOfThatShardAlone) {
  EXPECT_THAT(say(Exit::kGood, set_hands_off, true, std::string("drill"), std::string("kim"), true),
              Not(HasSubstr("shard")));
  Snapshot snapshot = *publication.load();
  auto site = std::make_shared<Site>();
  site->own = "south";
  site->shards = {{.name = "north", .number = 1, .leader = "n", .addresses = {"mgmt1:9641", "mgmt2:9641"}},
                  {.name = "south", .number = 2, .leader = "s"}};
  snapshot.site = site;
  publication.publish(std::make_shared<const Snapshot>(snapshot));
  EXPECT_THAT(say(Exit::kGood, set_hands_off, true, std::string("drill"), std::string("kim"), true),
              HasSubstr("That is of shard south alone. Each other shard has a brake of its own: north (mgmt1:9641)\n"));
}

TEST_F(Verbs, SayThatNotAllIsStoredWithEachListOfPlans) {
  auto snapshot = api::make_snapshot(1, {});
  snapshot->figures.store_ok = false;
  snapshot->figures.store_status = "/var/lib/weft/weft.db: database or disk is full";
  publication.publish(snapshot);
  constexpr const char* kSaid =
      "Not all data is stored: /var/lib/weft/weft.db: database or disk is full\n"
      "Plans are shown as they were last stored; their changes since wait until they can be stored.\n";
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kOpen, false), ::testing::StartsWith(kSaid));
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kInForce, false), ::testing::StartsWith(kSaid));
  EXPECT_THAT(say(Exit::kBadNews, show_status), ::testing::HasSubstr(kSaid));
}

TEST_F(Verbs, ReleaseOfWhatIsWellAgainSaysThatItsProbationBeginsAnew) {
  Plan back = make_plan(6, PlanState::kRollingBack);
  back.action = RemedyAction::kRestoreLink;
  back.intent = PlanIntent::kApply;
  back.outcome = "it failed again: the link went down";
  back.waits_for =
      "automation is stopped: kim; its link is up again: its probation begins anew then; to end it and "
      "leave the link in service: weftctl abort PLAN-6 --leave-in-service --reason ...";
  auto snapshot = with_plans(make_snapshot(1, {}), {back});
  snapshot->remedy.hands_off = true;
  snapshot->remedy.hands_off_reason = "kim";
  publication.publish(snapshot);
  EXPECT_THAT(say(Exit::kGood, set_hands_off, false, std::string("done"), std::string("ann"), false),
              HasSubstr("ROLLING_BACK: the link is up again: its probation begins anew\n"));
  const std::string shown = say(Exit::kGood, show_plan, std::string("6"));
  EXPECT_THAT(shown, HasSubstr("now         the link is up again: its probation begins anew\n"));
  EXPECT_THAT(shown, HasSubstr("to leave it in service   weftctl abort PLAN-6 --leave-in-service --reason ...\n"));
  for (const WhichPlans which : {WhichPlans::kOpen, WhichPlans::kInForce}) {
    const std::string list = say(Exit::kGood, show_plans, which, false);
    EXPECT_THAT(list, Not(HasSubstr("out of service again")));
    EXPECT_THAT(list, Not(HasSubstr("--leave-in-service")));
  }
}

}  // namespace
}  // namespace weft::ctl
