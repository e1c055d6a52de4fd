// SPDX-License-Identifier: Apache-2.0
// Lists with conditions: incidents, the audit trail, the worst links, and what was done about an incident.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/http/router.hpp"
#include "api/publication/publication.hpp"
#include "tests/unit/api/small_plans.hpp"

namespace weft::api {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Lists : public ::testing::Test {
 protected:
  Lists() {
    SmallFabric fabric(2);
    fabric.rates[1].stall_ratio = 0.5;
    fabric.rates[4].stall_ratio = 0.25;  // the other end
    Incident flap = make_incident(2);
    flap.finding.kind = IncidentKind::kLinkFlap;
    flap.finding.severity = Severity::kWarning;
    flap.finding.jobs = {"slurm:77"};
    flap.finding.cause.label = "leaf-12 port 1 - gpu-0041 mlx5_0 port 1";
    flap.timeline = {{.at = kNow - std::chrono::seconds(70), .change = IncidentChange::kOpened, .text = "flaps"}};
    Plan plan = make_plan(7);
    plan.incident = 2;
    publication.publish(with_plans(
        make_snapshot(1, {fabric.build()}, {make_incident(1), flap, make_incident(3, IncidentState::kResolved)}),
        {plan}));
    for (std::uint64_t i = 1; i <= 5; ++i) {
      AuditRecord& record = remedies.trail.emplace_back();
      record.sequence = i;
      record.at = kNow - std::chrono::minutes(10 * (5 - i));
      record.who = i == 2 ? "ann" : "weftd";
      record.what = i % 2 == 0 ? "approved" : "proposed";
    }
  }
  HttpReply route(const std::string& target) {
    return Router(publication, clock, {}, {.remedies = &remedies}).handle({"GET", target, "", ""});
  }
  json get(const std::string& target) {
    const HttpReply reply = route(target);
    EXPECT_EQ(reply.status, 200U) << target << ": " << reply.body;
    return json::parse(reply.body);
  }
  std::string ids(const std::string& query) {
    std::string text;
    const json list = get("/api/v1/incidents" + query);
    for (const json& incident : list["incidents"])
      text += (text.empty() ? "" : " ") + incident["id"].get<std::string>();
    return text;
  }
  std::string sequences(const std::string& query) {
    std::string text;
    const json list = get("/api/v1/audit" + query);
    for (const json& record : list["records"])
      text += (text.empty() ? "" : " ") + record["sequence"].get<std::string>();
    return text;
  }
  void expect_refused(const std::string& target, const std::string& words) {
    const HttpReply reply = route(target);
    EXPECT_EQ(reply.status, 400U) << target;
    EXPECT_THAT(reply.body, HasSubstr(words)) << target;
  }

  Publication publication;
  StillClock clock;
  FakeRemedies remedies;
};

TEST_F(Lists, OfIncidentsByAllConditionsTogether) {
  EXPECT_EQ(ids("?kind=link_flap"), "INC-2");
  EXPECT_EQ(ids("?kind=LINK_FLAP,LINK_DOWN&state=open"), "INC-1 INC-2");
  EXPECT_EQ(ids("?severity=warning,info"), "INC-2 INC-3");
  EXPECT_EQ(ids("?entity=gpu-0041"), "INC-2");
  EXPECT_EQ(ids("?entity=leaf-1"), "INC-1 INC-3");
  EXPECT_EQ(ids("?job=77"), "INC-2");
  EXPECT_EQ(ids("?job=77&kind=LINK_DOWN"), "");
  // kNow is 2023-11-14T22:13:20Z; the incidents opened 90 seconds before.
  EXPECT_EQ(ids("?to=2023-11-14T22:11:00Z"), "");
  EXPECT_EQ(ids("?from=1700000001"), "INC-1 INC-2") << "INC-3 was over";
  expect_refused("/api/v1/incidents?kind=LINK_GONE", "there is no kind LINK_GONE");
  expect_refused("/api/v1/incidents?kind=KIND_UNSPECIFIED", "there is no kind");
  expect_refused("/api/v1/incidents?severity=BAD", "there is no severity BAD");
  expect_refused("/api/v1/incidents?from=yesterday", "from must be a time");
  expect_refused("/api/v1/incidents?from=2&to=1", "the time ends before it begins");
}

TEST_F(Lists, OfTheWorstLinks) {
  const json worst = get("/api/v1/links/worst?by=stall");
  ASSERT_EQ(worst["links"].size(), 1U) << "each link once, by its worse end";
  EXPECT_EQ(worst["links"][0]["value"], 0.5);
  EXPECT_EQ(worst["links"][0]["at"]["node"], "leaf-1");
  EXPECT_EQ(worst["links"][0]["link"]["b"]["node"], "host-1 mlx5_0");
  EXPECT_EQ(get("/api/v1/links/worst?by=errors&limit=5")["links"].size(), 0U);
  EXPECT_EQ(get("/api/v1/links/worst")["links"].size(), 0U) << "by errors, unless it says";
  expect_refused("/api/v1/links/worst?by=beauty", "by must be one of errors, flaps, stall");
  expect_refused("/api/v1/links/worst?by=measure_unspecified", "by must be one of");
  expect_refused("/api/v1/links/worst?by=stall&limit=x", "limit must be a whole number");
  EXPECT_EQ(route("/api/v1/links/best").status, 404U);
}

TEST_F(Lists, OfWhatDidTheMostHarm) {
  const json worst = get("/api/v1/worst?from=1699990000");
  ASSERT_EQ(worst["things"].size(), 1U) << "cables, unless it says";
  EXPECT_EQ(worst["things"][0]["what"]["kind"], "LINK");
  EXPECT_EQ(worst["from"], "2023-11-14T19:26:40Z");
  EXPECT_EQ(get("/api/v1/worst?of=switches&by=times&limit=1")["things"][0]["what"]["label"], "leaf-1");
  expect_refused("/api/v1/worst?of=people", "of must be one of cables, modules, hosts, switches");
  expect_refused("/api/v1/worst?of=of_unspecified", "of must be one of");
  expect_refused("/api/v1/worst?by=beauty", "by must be one of harm, jobs, critical, times");
  expect_refused("/api/v1/worst?limit=x", "limit must be a whole number");
  expect_refused("/api/v1/worst?from=2&to=1", "the time ends before it begins");
  EXPECT_EQ(route("/api/v1/worst?fabric=ib9").status, 404U);
}

TEST_F(Lists, OfLinksThatContainAText) {
  EXPECT_GT(get("/api/v1/links")["links"].size(), 1U);
  for (const char* text : {"host-1", "HOST-1%20leaf", "host-1:1", "host-1%20port%201"}) {
    const json found = get(std::string("/api/v1/links?contains=") + text);
    ASSERT_EQ(found["links"].size(), 1U) << text;
    EXPECT_EQ(found["links"][0]["b"]["node"], "host-1 mlx5_0");
  }
  EXPECT_EQ(get("/api/v1/links?contains=host-1:2")["links"].size(), 0U);
  expect_refused("/api/v1/links?contains=a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q", "more than 16 words");
}

TEST_F(Lists, OfTheAuditTrail) {
  EXPECT_EQ(sequences(""), "1 2 3 4 5");
  EXPECT_EQ(sequences("?page_size=2"), "4 5");
  EXPECT_EQ(get("/api/v1/audit?page_size=2")["nextPageToken"], "4");
  EXPECT_EQ(sequences("?page_size=2&page_token=4"), "2 3");
  EXPECT_EQ(sequences("?who=ANN"), "2");
  EXPECT_EQ(sequences("?what=approved"), "2 4");
  EXPECT_EQ(sequences("?from=1699998800&to=1700000000"), "3 4");
  expect_refused("/api/v1/audit?page_size=x", "page_size must be a whole number");
  expect_refused("/api/v1/audit?page_token=x", "invalid page token");
  expect_refused("/api/v1/audit?to=soon", "to must be a time");
  remedies.is_tampered_with = true;
  EXPECT_EQ(route("/api/v1/audit").status, 500U);
  EXPECT_EQ(Router(publication, clock, {}).handle({"GET", "/api/v1/audit", "", ""}).status, 503U) << "nobody reads it";
}

TEST_F(Lists, OfWhatWasDoneAboutAnIncident) {
  const json timeline = get("/api/v1/incidents/INC-2/timeline");
  ASSERT_EQ(timeline["events"].size(), 2U);
  EXPECT_EQ(timeline["events"][0]["source"], "INCIDENT");
  EXPECT_EQ(timeline["events"][0]["what"], "OPENED");
  EXPECT_EQ(timeline["events"][0]["at"], "2023-11-14T22:12:10Z");
  EXPECT_EQ(timeline["events"][1]["planId"], "PLAN-7");
  EXPECT_EQ(timeline["events"][1]["who"], "weftd");
  EXPECT_EQ(route("/api/v1/incidents/INC-9/timeline").status, 404U);
  EXPECT_EQ(route("/api/v1/incidents/x/timeline").status, 400U);
  EXPECT_EQ(route("/api/v1/incidents/INC-2/other").status, 404U);
}

}  // namespace
}  // namespace weft::api
