// SPDX-License-Identifier: Apache-2.0
// Plans and automation as JSON and as metrics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/http/router.hpp"
#include "api/metrics/remedy_families.hpp"
#include "api/publication/publication.hpp"
#include "tests/unit/api/small_plans.hpp"

namespace weft::api {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class RemedyPages : public ::testing::Test {
 protected:
  HttpReply route(const std::string& target, const std::string& method = "GET") {
    return Router(publication, clock, {}).handle({method, target, "", ""});
  }
  json get(const std::string& target) {
    const HttpReply reply = route(target);
    EXPECT_EQ(reply.status, 200U) << target;
    std::string body = reply.body;
    if (reply.stream)
      for (std::string piece; reply.stream(piece);) body += piece;
    return json::parse(body);
  }
  std::vector<std::string> ids(const std::string& query) {
    std::vector<std::string> found;
    const json list = get("/api/v1/plans" + query);
    for (const json& plan : list["plans"]) found.push_back(plan["id"]);
    return found;
  }

  Publication publication;
  StillClock clock;
};

TEST_F(RemedyPages, ThePlainPageShowsBrakesPlansAndWhatIsUnderWay) {
  publication.publish(make_snapshot(1, {}));
  EXPECT_THAT(route("/plain").body, HasSubstr("Open plans of remedies: 0"));
  EXPECT_THAT(route("/plain").body, Not(HasSubstr("is stopped")));
  Plan verifying = make_plan(7, PlanState::kVerifying);
  verifying.windows_good = 3;
  verifying.windows_needed = 10;
  Plan refused = make_plan(8);
  refused.guards[1].result = GuardResult::kRefused;
  refused.reason = "<b>";
  Plan held = make_plan(5, PlanState::kCommitted);
  held.in_force = true;
  held.outcome = "the symptom is gone";
  auto snapshot = with_plans(make_snapshot(2, {}), {held, make_plan(6, PlanState::kCommitted), verifying, refused});
  snapshot->remedy.hands_off = true;
  snapshot->remedy.hands_off_reason = "kim: <a visitor>";
  snapshot->remedy.file_brake = "/run/stop exists";
  snapshot->remedy.breaker_tripped = true;
  snapshot->remedy.breaker_reason = "40 links in 5 min";
  snapshot->remedy.silent_managers = {{"ib0", kNow - std::chrono::minutes(3)}};
  snapshot->remedy.under_way = {
      {.plan = 9, .action = RemedyAction::kDrainNode, .target = "n1", .since = kNow - std::chrono::seconds(12)}};
  publication.publish(snapshot);
  const std::string page = route("/plain").body;
  for (const char* part :
       {"Everything is stopped (hands-off) by a person, also what persons order: kim: &lt;a visitor&gt;",
        "Everything is stopped by the hands-off file, also what persons order: /run/stop exists",
        "The circuit breaker is tripped: 40 links in 5 min",
        "The subnet manager of fabric ib0 does not answer (noticed 3 min ago): ",
        "Under way: PLAN-9 DRAIN_NODE n1, begun 12 s ago", "Open plans of remedies: 2", "VERIFYING 3/10",
        "PROPOSED (refused)", "&lt;b&gt;", "by plans that are over: 1", "PLAN-5", "INC-1: link of host-1 is down"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_THAT(page, Not(HasSubstr("PLAN-6")));
}

TEST_F(RemedyPages, ThePlainPageNamesWhatIsHeldAsWeftctlDoes) {
  Plan out = make_plan(1, PlanState::kCommitted);
  out.reason = "errors on the link";
  Plan back = make_plan(2, PlanState::kRolledBack);
  back.action = RemedyAction::kRestoreLink;
  back.undoes = 1;
  back.in_force = true;
  back.only_by_hand = true;
  back.started = kNow - std::chrono::hours(5);
  back.held_since = kNow - std::chrono::minutes(7);
  back.outcome = "it did not help: errors";
  publication.publish(with_plans(make_snapshot(1, {}), {out, back}));
  const std::string page = route("/plain").body;
  EXPECT_THAT(page, HasSubstr("PLAN-1</a></td><td>ISOLATE_LINK</td>"));
  EXPECT_THAT(page,
              HasSubstr("<td>7 min ago</td><td>errors on the link; PLAN-2 did not bring it back: it did not help: "
                        "errors; it comes back only by hand</td>"));
  EXPECT_THAT(page, Not(HasSubstr("5 h")));
}

TEST_F(RemedyPages, PlansAreListedByState) {
  publication.publish(
      with_plans(make_snapshot(1, {}), {make_plan(1, PlanState::kCommitted), make_plan(2),
                                        make_plan(3, PlanState::kVerifying), make_plan(4, PlanState::kRolledBack)}));
  EXPECT_EQ(ids("").size(), 4U);
  EXPECT_EQ(ids("?state=all").size(), 4U);
  EXPECT_EQ(ids("?state=open"), (std::vector<std::string>{"PLAN-2", "PLAN-3"}));
  EXPECT_EQ(ids("?state=proposed"), (std::vector<std::string>{"PLAN-2"}));
  EXPECT_EQ(ids("?state=ROLLED_BACK"), (std::vector<std::string>{"PLAN-4"}));
  EXPECT_TRUE(ids("?state=expired").empty());
  EXPECT_EQ(route("/api/v1/plans?state=fine").status, 400U);
  const json page = get("/api/v1/plans?page_size=3");
  EXPECT_EQ(page["plans"].size(), 3U);
  EXPECT_EQ(ids("?page_size=3&page_token=" + page["nextPageToken"].get<std::string>()),
            (std::vector<std::string>{"PLAN-4"}));
}

TEST_F(RemedyPages, ManyPlansAreSentAsOneList) {
  std::vector<Plan> plans;
  for (std::uint64_t id = 1; id <= 150; ++id) plans.push_back(make_plan(id));
  publication.publish(with_plans(make_snapshot(1, {}), plans));
  EXPECT_EQ(ids("").size(), 150U);
}

TEST_F(RemedyPages, OnePlanIsShownAsPeopleSpellIt) {
  Plan plan = make_plan(7);
  plan.guards.push_back({Guard::kLeafCapacity, GuardResult::kRefused, "leaf-1 would keep 7 of 8"});
  publication.publish(with_plans(make_snapshot(1, {}), {plan}));
  const json shown = get("/api/v1/plans/PLAN-7");
  EXPECT_EQ(shown["state"], "PROPOSED");
  EXPECT_EQ(shown["action"], "ISOLATE_LINK");
  EXPECT_EQ(shown["incidentId"], "INC-1");
  EXPECT_EQ(shown["refused"], true);
  EXPECT_EQ(shown["guards"][2]["guard"], "LEAF_CAPACITY");
  EXPECT_EQ(shown["guards"][2]["result"], "REFUSED");
  EXPECT_EQ(shown["candidates"][1]["action"], "NOTHING");
  EXPECT_EQ(shown["candidates"][0]["costRatio"], 0.0065);
  EXPECT_FALSE(shown.contains("finished"));
  EXPECT_EQ(get("/api/v1/plans/7")["id"], "PLAN-7");
  EXPECT_EQ(route("/api/v1/plans/8").status, 404U);
  EXPECT_EQ(route("/api/v1/plans/bogus").status, 400U);
  EXPECT_EQ(route("/api/v1/plans/7", "POST").status, 405U) << "nothing is changed over HTTP";
}

TEST_F(RemedyPages, HowAutomationStands) {
  auto snapshot = make_snapshot(1, {});
  snapshot->remedy.hands_off = true;
  snapshot->remedy.hands_off_reason = "kim: \xFF";
  publication.publish(snapshot);
  const json status = get("/api/v1/remedy");
  EXPECT_EQ(status["handsOff"], true);
  EXPECT_EQ(status["handsOffReason"], "kim: \xEF\xBF\xBD");
  EXPECT_EQ(status["breakerTripped"], false);
  EXPECT_FALSE(status.contains("breakerSince"));
}

std::string expose(const Snapshot& snapshot, MetricsFormat format = MetricsFormat::kText) {
  std::string text;
  append_remedy_families(text, snapshot, format);
  return text;
}

TEST(RemedyMetrics, OpenPlansAreCountedAndZeroIsSaid) {
  std::vector<Plan> plans{make_plan(1), make_plan(2), make_plan(3, PlanState::kVerifying),
                          make_plan(4, PlanState::kFailed)};
  plans[1].action = RemedyAction::kDrainNode;
  plans[3].unresolved = true;
  const std::string text = expose(*with_plans(make_snapshot(1, {}), plans));
  EXPECT_THAT(text, HasSubstr("# TYPE weft_plans gauge\n"));
  EXPECT_THAT(text, HasSubstr("weft_plans{action=\"ISOLATE_LINK\",state=\"PROPOSED\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("weft_plans{action=\"ISOLATE_LINK\",state=\"VERIFYING\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("weft_plans{action=\"DRAIN_NODE\",state=\"PROPOSED\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("weft_plans{action=\"DRAIN_NODE\",state=\"APPROVED\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("state=\"FAILED\""))) << "that one is over";
  EXPECT_THAT(text, Not(HasSubstr("NOTHING")));
  EXPECT_THAT(text, HasSubstr("weft_plans_unresolved 1\n"));
}

TEST(RemedyMetrics, WhatEndedIsACounter) {
  auto snapshot = make_snapshot(1, {});
  snapshot->figures.plans_ended[static_cast<std::size_t>(RemedyAction::kIsolateLink)]
                               [static_cast<std::size_t>(PlanState::kRolledBack)] = 12;
  EXPECT_THAT(expose(*snapshot), HasSubstr("weft_actions_total{action=\"ISOLATE_LINK\",result=\"ROLLED_BACK\"} 12\n"));
  EXPECT_THAT(expose(*snapshot), HasSubstr("weft_actions_total{action=\"UNDRAIN_NODE\",result=\"COMMITTED\"} 0\n"));
  EXPECT_THAT(expose(*snapshot), Not(HasSubstr("result=\"PROPOSED\"")));
  EXPECT_THAT(expose(*snapshot, MetricsFormat::kOpenMetrics), HasSubstr("# TYPE weft_actions counter\n"));
}

TEST(RemedyMetrics, TheFileIsABrakeOfItsOwn) {
  auto snapshot = make_snapshot(1, {});
  snapshot->remedy.file_brake = "/run/stop exists";
  snapshot->remedy.under_way = {{7, RemedyAction::kDrainNode, "n1", kNow}};
  const std::string text = expose(*snapshot);
  EXPECT_THAT(text, HasSubstr("weft_remedy_hands_off 1\n"));
  EXPECT_THAT(text, HasSubstr("weft_remedy_hands_off_person 0\n"));
  EXPECT_THAT(text, HasSubstr("weft_remedy_hands_off_file 1\n"));
  EXPECT_THAT(text, HasSubstr("weft_remedy_orders_under_way 1\n"));
}

TEST(RemedyMetrics, IncidentsWithoutAPlanAreCounted) {
  auto snapshot = make_snapshot(1, {});
  EXPECT_THAT(expose(*snapshot), HasSubstr("weft_remedy_without_plan 0\n"));
  snapshot->remedy.without_plan = 3;
  snapshot->remedy.undone_by_others = 2;
  EXPECT_THAT(expose(*snapshot), HasSubstr("weft_remedy_undone_by_others 2\n"));
  EXPECT_THAT(expose(*snapshot), HasSubstr("weft_remedy_without_plan 3\n"));
}

TEST(RemedyMetrics, AutomationAsAWhole) {
  auto snapshot = make_snapshot(1, {});
  EXPECT_THAT(expose(*snapshot), HasSubstr("weft_breaker_tripped 0\n"));
  snapshot->remedy = {true, "", true, "", kNow, {}, "", {}, kNever, 3, 4, 2};
  const std::string text = expose(*snapshot);
  EXPECT_THAT(text, HasSubstr("weft_breaker_tripped 1\n"));
  EXPECT_THAT(text, HasSubstr("weft_remedy_hands_off 1\n"));
  EXPECT_THAT(text, HasSubstr("weft_remedy_hands_off_person 1\n"));
  EXPECT_THAT(text, HasSubstr("weft_remedy_hands_off_file 0\n"));
  EXPECT_THAT(text, HasSubstr("weft_remedy_out_of_service 2\n"));
  EXPECT_THAT(text, HasSubstr("weft_remedy_actions_last_hour 3\n"));
  EXPECT_THAT(text, HasSubstr("weft_remedy_actions_per_hour 4\n"));
}

}  // namespace
}  // namespace weft::api
