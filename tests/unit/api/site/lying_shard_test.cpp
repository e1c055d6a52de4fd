// SPDX-License-Identifier: Apache-2.0
// What one shard says that refuses, or tells what cannot be, takes nothing from the others.

#include "tests/unit/api/site/lying_shard.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "api/site/site_topology.hpp"
#include "tests/unit/api/site/shard.hpp"
#include "tests/unit/api/small_fabric.hpp"
#include "tests/unit/api/small_plans.hpp"

namespace weft::api {
namespace {

using grpc::StatusCode;

/// north is a shard with one host, three incidents and one plan; west, number 3, lies.
class LyingShardTest : public ::testing::Test {
 protected:
  LyingShardTest() {
    NodeHealth health;
    health.node = "host-1";
    health.fabric = "ib0";
    health.verdict = HealthVerdict::kHealthy;
    auto snapshot = with_plans(make_snapshot(1, {SmallFabric(2, "ib0").build()},
                                             {make_incident(101), make_incident(201), make_incident(301)}, {health}),
                               {make_plan(1)});
    auto site = std::make_shared<Site>();
    site->own = "north";
    site->shards = {{"north", 1, "n", 1, {north.address()}, {}, {}}, {"west", 3, "w", 1, {west.address()}, {}, {}}};
    snapshot->site = site;
    north.publication.publish(snapshot);
  }
  ~LyingShardTest() override { north.site.stop(); }

  template <typename Response, typename Request>
  Result<Response> ask(void (SiteQueries::*question)(const Request&, SiteQueries::Done<Response>) const,
                       const Request& request) {
    return north.ask(question, request);
  }
  Result<v1::BatchGetHealthResponse> many(const std::vector<std::string>& names) {
    v1::BatchGetHealthRequest request;
    for (const std::string& name : names) request.add_nodes(name);
    return ask(&SiteQueries::batch_get_health, request);
  }
  Result<v1::NodeHealth> health() { return ask(&SiteQueries::get_health, std::string("host-1")); }
  Result<v1::ListIncidentsResponse> incidents(const v1::ListIncidentsRequest& request = {}) {
    return ask(&SiteQueries::list_incidents, request);
  }
  std::string trouble() {
    const v1::Status status = north.site.status();
    EXPECT_TRUE(status.shards(1).answers()) << status.shards(1).trouble();
    return status.shards(1).trouble();
  }
  /// west is named, and north is there.
  template <typename Response>
  static void expect_missing(const Result<Response>& answer, const std::string& what) {
    ASSERT_TRUE(answer) << what << ": " << answer.error().message;
    ASSERT_EQ(answer->missing_shards_size(), 1) << what;
    EXPECT_EQ(answer->missing_shards(0), "west") << what;
  }
  std::vector<std::string> topology_misses(const std::string& fabric) {
    std::vector<std::string> missing;
    std::promise<Result<void>> promise;
    north.site.read_topology(
        fabric,
        [&missing](v1::Topology& part) {
          missing.insert(missing.end(), part.missing_shards().begin(), part.missing_shards().end());
          return true;
        },
        [&promise](Result<void> how) { promise.set_value(std::move(how)); });
    EXPECT_TRUE(promise.get_future().get());
    return missing;
  }
  void tell(const google::protobuf::MessageLite& message) { west.say({message.SerializeAsString()}); }

  StillClock clock;
  LyingShard west;
  Shard north{clock};
};

TEST_F(LyingShardTest, AShardThatRefusesIsMissingWithItsReason) {
  for (const auto code : {StatusCode::INVALID_ARGUMENT, StatusCode::FAILED_PRECONDITION, StatusCode::NOT_FOUND,
                          StatusCode::DATA_LOSS, StatusCode::INTERNAL, StatusCode::UNIMPLEMENTED}) {
    const std::string what = "code " + std::to_string(code);
    west.say({{}, {code, "west says no to " + what}});
    expect_missing(many({"host-1"}), what);
    EXPECT_EQ(many({"host-1"})->nodes(0).verdict(), v1::NodeHealth::HEALTHY);
    EXPECT_NE(trouble().find("BatchGetHealth: west says no to " + what), std::string::npos) << trouble();
    expect_missing(incidents(), what);
    EXPECT_EQ(incidents()->incidents_size(), 3) << what;
    expect_missing(ask(&SiteQueries::list_health, v1::ListHealthRequest()), what);
    expect_missing(ask(&SiteQueries::list_nodes, v1::ListNodesRequest()), what);
    v1::ListWorstLinksRequest worst;
    worst.set_by(v1::ListWorstLinksRequest::ERRORS);
    expect_missing(ask(&SiteQueries::list_worst_links, worst), what);
    v1::ListWorstRequest harm;
    harm.set_of(v1::ListWorstRequest::CABLES);
    expect_missing(ask(&SiteQueries::list_worst, harm), what);
    expect_missing(ask(&SiteQueries::get_cabling_differences, v1::GetCablingDifferencesRequest()), what);
    v1::GetJobHealthRequest job;
    job.set_job("j");
    job.add_nodes("host-1");
    expect_missing(ask(&SiteQueries::get_job_health, job), what);
    EXPECT_EQ(topology_misses(""), std::vector<std::string>{"west"}) << what;
    const auto plan = ask(&SiteQueries::get_plan, std::string("PLAN-3"));
    ASSERT_FALSE(plan);
    if (code == StatusCode::NOT_FOUND) {
      EXPECT_EQ(plan.error().code, ErrorCode::kNotFound);
      EXPECT_EQ(health()->missing_shards_size(), 0) << "it may say so of one name";
    } else {
      EXPECT_EQ(plan.error().code, ErrorCode::kUnavailable) << what;
      expect_missing(health(), what);
    }
  }
  tell(v1::ListIncidentsResponse());
  EXPECT_EQ(incidents()->missing_shards_size(), 0);
  EXPECT_NE(trouble().find("BatchGetHealth"), std::string::npos) << "that is not mended yet";
}

TEST_F(LyingShardTest, WhatIsWellAgainIsNoTrouble) {
  west.say({{}, {StatusCode::INVALID_ARGUMENT, "unknown filter"}});
  expect_missing(incidents(), "");
  EXPECT_EQ(trouble(), "it does not answer ListIncidents: unknown filter");
  tell(v1::ListIncidentsResponse());
  EXPECT_EQ(incidents()->missing_shards_size(), 0);
  EXPECT_EQ(trouble(), "");
}

TEST_F(LyingShardTest, AQuestionThatTheOwnShardRefusesTooIsTheCallersError) {
  west.say({{}, {StatusCode::INVALID_ARGUMENT, "invalid page token"}});
  v1::ListIncidentsRequest request;
  request.set_page_token("site/west:4:1.xx");  // a person's
  EXPECT_EQ(incidents(request).error().code, ErrorCode::kInvalidArgument);
  request.set_page_token("site/west:7:1.INC-3");
  expect_missing(incidents(request), "a good one");
  EXPECT_EQ(many({""}).error().code, ErrorCode::kInvalidArgument);
  v1::ListWorstLinksRequest worst;
  worst.set_limit(-1);
  EXPECT_EQ(ask(&SiteQueries::list_worst_links, worst).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(LyingShardTest, WhatCannotBeReadIsNotBelieved) {
  const std::string bad_text = std::string("\x0a\x09\x0a\x07INC-303", 11) + std::string("\x0a\x04\x3a\x02\xff\xfe", 6);
  for (const std::string& bytes : {std::string("\xff\xff\xff\xff"), bad_text}) {
    west.say({bytes});
    expect_missing(health(), "garbage");
    expect_missing(many({"host-1"}), "garbage");
    expect_missing(incidents(), "garbage");
    EXPECT_EQ(incidents()->incidents_size(), 3) << "nothing of it";
    EXPECT_NE(trouble().find("cannot be read"), std::string::npos) << trouble();
  }
}

// A stream in which something cannot be read would else stay open, and say nothing any more.
TEST_F(LyingShardTest, AStreamThatCannotBeReadEnds) {
  tell(v1::ListIncidentsResponse());
  EXPECT_TRUE(incidents()) << "it was reached";
  for (const bool stays_open : {false, true}) {
    LyingShard::Answer answer{"\xff\xff\xff\xff"};
    answer.stays_open = stays_open;
    west.say(answer);
    EXPECT_EQ(topology_misses(""), std::vector<std::string>{"west"});
    EXPECT_EQ(trouble(), "it does not answer GetTopology: what it says cannot be read");
  }
}

TEST_F(LyingShardTest, WhatDoesNotFitTheQuestionIsNotBelieved) {
  tell(v1::BatchGetHealthResponse());
  expect_missing(many({"host-1"}), "no nodes");
  EXPECT_NE(trouble().find("BatchGetHealth"), std::string::npos) << trouble();
  v1::BatchGetHealthResponse other;
  other.add_nodes()->set_node("host-1");
  other.mutable_nodes(0)->set_verdict(v1::NodeHealth::UNHEALTHY);
  tell(other);
  EXPECT_EQ(many({"host-1"})->nodes(0).verdict(), v1::NodeHealth::UNHEALTHY) << "that one fits";
  other.mutable_nodes(0)->set_node("not-host-1");
  tell(other);
  expect_missing(many({"host-1"}), "another name");
  EXPECT_EQ(many({"host-1"})->nodes(0).node(), "host-1");
  tell(v1::NodeHealth());
  expect_missing(health(), "no name");

  v1::JobHealth job;
  job.set_job("j");
  tell(job);
  v1::GetJobHealthRequest of_job;
  of_job.set_job("j");
  of_job.add_nodes("host-1");
  expect_missing(ask(&SiteQueries::get_job_health, of_job), "not the nodes");
}

TEST_F(LyingShardTest, IdsOfAnotherShardAreNotBelieved) {
  for (const char* id : {"INC-101", "INC-2", "x", ""}) {
    v1::ListIncidentsResponse page;
    page.add_incidents()->set_id("INC-3");
    page.add_incidents()->set_id(id);
    tell(page);
    expect_missing(incidents(), id);
    EXPECT_EQ(incidents()->incidents_size(), 3) << id;
  }
  v1::ListIncidentsResponse page;
  page.add_incidents()->set_id("INC-103");
  tell(page);
  EXPECT_EQ(incidents()->incidents_size(), 4);
  EXPECT_EQ(incidents()->missing_shards_size(), 0);
  v1::ListPlansResponse plans;
  plans.add_plans()->set_id("PLAN-1");
  tell(plans);
  expect_missing(ask(&SiteQueries::list_plans, v1::ListPlansRequest()), "plans");
  v1::ListMaintenanceResponse windows;
  windows.add_windows()->set_id("MW-2");
  tell(windows);
  expect_missing(ask(&SiteQueries::list_maintenance, v1::ListMaintenanceRequest()), "windows");
  v1::Plan plan;
  plan.set_id("PLAN-103");
  tell(plan);
  EXPECT_EQ(ask(&SiteQueries::get_plan, std::string("PLAN-3")).error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(ask(&SiteQueries::get_plan, std::string("PLAN-103")));
}

}  // namespace
}  // namespace weft::api
