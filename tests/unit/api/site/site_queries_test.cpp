// SPDX-License-Identifier: Apache-2.0
// Two gRPC servers as two shards of a site.

#include "api/site/site_queries.hpp"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <future>
#include <set>
#include <thread>
#include <tuple>

#include "tests/unit/api/site/two_shards.hpp"
#include "tests/unit/api/small_fabric.hpp"
#include "tests/unit/api/small_plans.hpp"
#include "weft/v1/fabric.pb.h"
#include "weft/v1/health.pb.h"
#include "weft/v1/incident.grpc.pb.h"
#include "weft/v1/remedy.pb.h"

namespace weft::api {
namespace {

using SiteQueriesTest = TwoShards;

TEST_F(SiteQueriesTest, AListHasTheEntriesOfAllShardsAndSaysWhose) {
  const auto page = list();
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->incidents_size(), 10);
  EXPECT_EQ(page->incidents(0).shard(), "north") << "the own shard first";
  EXPECT_EQ(page->incidents(9).shard(), "south");
  EXPECT_EQ(page->next_page_token(), "");
  EXPECT_EQ(page->missing_shards_size(), 0);
}

TEST_F(SiteQueriesTest, PagesAreNeverLargerThanAskedAndLoseNothing) {
  for (const int size : {1, 2, 3, 4, 7}) {
    v1::ListIncidentsRequest request;
    request.set_page_size(size);
    std::multiset<std::string> found;
    for (int pages = 0; pages < 50; ++pages) {
      const auto page = list(request);
      ASSERT_TRUE(page) << page.error().message;
      EXPECT_LE(page->incidents_size(), size);
      for (const auto& incident : page->incidents()) found.insert(incident.id());
      request.set_page_token(page->next_page_token());
      if (request.page_token().empty()) break;
    }
    EXPECT_EQ(found.size(), 10U) << size;
    EXPECT_EQ(std::set<std::string>(found.begin(), found.end()).size(), 10U) << size;
  }
  v1::ListIncidentsRequest request;
  request.set_page_token("INC-3");
  EXPECT_EQ(list(request).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(SiteQueriesTest, OneThingComesFromTheShardThatGaveItsId) {
  EXPECT_EQ(get("INC-101")->shard(), "north");
  EXPECT_EQ(get("INC-102")->shard(), "south");
  EXPECT_EQ(get("902").error().code, ErrorCode::kNotFound) << "south says so";
  EXPECT_EQ(get("INC-107").error().code, ErrorCode::kNotFound) << "no shard has that number";
  EXPECT_EQ(get("x").error().code, ErrorCode::kInvalidArgument);
  const auto plan = wait<v1::Plan>([&](auto done) { north.site.get_plan("PLAN-2", done); });
  EXPECT_EQ(plan->shard(), "south");
}

TEST_F(SiteQueriesTest, HealthOfAnyHost) {
  const auto known = health("host-south");
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(known->verdict(), v1::NodeHealth::HEALTHY);
  ASSERT_EQ(known->shards_size(), 1);
  EXPECT_EQ(known->shards(0), "south");
  EXPECT_EQ(health("nobody").error().code, ErrorCode::kNotFound);
}

TEST_F(SiteQueriesTest, AShardThatIsAskedByAnotherDoesNotAskOn) {
  auto stub = v1::IncidentService::NewStub(grpc::CreateChannel(south.address(), grpc::InsecureChannelCredentials()));
  for (const bool from_shard : {false, true}) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    if (from_shard) context.AddMetadata("weft-asked-by-shard", "north");
    v1::ListIncidentsResponse page;
    ASSERT_TRUE(stub->List(&context, {}, &page).ok());
    EXPECT_EQ(page.incidents_size(), from_shard ? 5 : 10);
  }
}

TEST_F(SiteQueriesTest, WhatDoesNotAnswerIsNamed) {
  has_third = true;
  publish(north, "north", 1);
  const auto page = list();
  ASSERT_TRUE(page);
  EXPECT_EQ(page->incidents_size(), 10);
  ASSERT_EQ(page->missing_shards_size(), 1);
  EXPECT_EQ(page->missing_shards(0), "west");
  EXPECT_EQ(health("host-south")->missing_shards(0), "west");
  EXPECT_EQ(health("nobody").error().code, ErrorCode::kUnavailable) << "west may know it";
  const auto lost = get("INC-3");
  EXPECT_EQ(lost.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(lost.error().message.find("INC-3 belongs to shard west, which does not answer"), 0U)
      << lost.error().message;
  const v1::Status status = north.site.status();
  ASSERT_EQ(status.shards_size(), 3);
  EXPECT_TRUE(status.shards(0).answers());
  EXPECT_TRUE(status.shards(1).answers());
  EXPECT_FALSE(status.shards(2).answers());
  EXPECT_NE(status.shards(2).trouble(), "");
}

TEST_F(SiteQueriesTest, OnlyTheShardThatIsMeantIsBelieved) {
  Shard other(clock);
  const auto told = [&](const std::string& id, const char* own, std::uint64_t number) {
    publish(other, own, number);
    auto snapshot = std::make_shared<Snapshot>(*other.publication.load());
    auto site = std::make_shared<Site>(*snapshot->site);
    site->database = id;
    site->shards.back().number = number;
    site->is_left = number == 0;
    snapshot->site = id.empty() ? nullptr : site;
    other.publication.publish(snapshot);
  };
  const auto ask_at = [&](const std::vector<std::string>& addresses) {
    auto snapshot = std::make_shared<Snapshot>(*north.publication.load());
    auto site = std::make_shared<Site>(*snapshot->site);
    site->database = "site";
    site->shards[1].addresses = addresses;
    snapshot->site = site;
    north.publication.publish(snapshot);
  };
  const auto trouble = [&] { return north.site.status().shards(1).trouble(); };
  for (const auto& [id, own, number, what] :
       {std::tuple{"site", "north", 1, "shard 1/north answers at "},
        std::tuple{"site", "south", 3, "shard 3/south answers at "},
        std::tuple{"copy", "south", 2, "shard 2/south of another site answers at "},
        std::tuple{"", "south", 2, "it does not say which shard it is"},
        std::tuple{"site", "south", 0, "it does not say which"}}) {
    told(id, own, static_cast<std::uint64_t>(number));
    ask_at({});  // what was known of it is forgotten
    north.site.probe();
    ask_at({other.address()});
    north.site.probe();
    for (int i = 0; i < 1000 && trouble().find(other.address()) == std::string::npos; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_NE(trouble().find(what), std::string::npos) << what << ": " << trouble();
    const auto page = list();
    EXPECT_EQ(page->incidents_size(), 5) << what;
    ASSERT_EQ(page->missing_shards_size(), 1) << what;
    EXPECT_EQ(page->missing_shards(0), "south");
    EXPECT_EQ(get("INC-102").error().code, ErrorCode::kUnavailable) << what;
  }
}

TEST_F(SiteQueriesTest, AnotherShardAtTheFirstAddressIsPassedOver) {
  auto snapshot = std::make_shared<Snapshot>(*north.publication.load());
  auto site = std::make_shared<Site>(*snapshot->site);
  site->shards[1].addresses = {north.address(), south.address()};
  snapshot->site = site;
  north.publication.publish(snapshot);
  EXPECT_EQ(list()->incidents_size(), 10);
  EXPECT_EQ(get("INC-102")->shard(), "south");
}

TEST_F(SiteQueriesTest, AShardRefusesAQuestionForAnother) {
  auto stub = v1::IncidentService::NewStub(grpc::CreateChannel(south.address(), grpc::InsecureChannelCredentials()));
  for (const auto& [meant, code] :
       {std::pair{"/2/south", grpc::StatusCode::OK}, std::pair{"/1/north", grpc::StatusCode::FAILED_PRECONDITION}}) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    context.AddMetadata("weft-asked-by-shard", "north");
    context.AddMetadata("weft-meant-shard", meant);
    v1::ListIncidentsResponse page;
    EXPECT_EQ(stub->List(&context, {}, &page).error_code(), code);
    const auto& told = context.GetServerInitialMetadata();
    ASSERT_EQ(told.count("weft-answering-shard"), 1U);
    EXPECT_EQ(told.find("weft-answering-shard")->second, "/2/south");
  }
}

TEST_F(SiteQueriesTest, ATokenGoesNowhereInClearTextButToThisMachine) {
  SiteQueries with_token(north.publication, clock, {{}, {}, {}, {}, "secret"});
  const auto page_at = [&](const std::string& address) {
    auto snapshot = std::make_shared<Snapshot>(*north.publication.load());
    auto site = std::make_shared<Site>(*snapshot->site);
    site->shards[1].addresses = {address};
    snapshot->site = site;
    north.publication.publish(snapshot);
    return wait<v1::ListIncidentsResponse>([&](auto done) { with_token.list_incidents({}, done); });
  };
  EXPECT_EQ(page_at(south.address())->incidents_size(), 10);
  const auto page = page_at("mgmt9.invalid:9641");
  ASSERT_EQ(page->missing_shards_size(), 1);
  EXPECT_EQ(with_token.status().shards(1).trouble(),
            "site.token_file is not sent to mgmt9.invalid:9641 in clear text: set site.authorities for TLS");
}

TEST_F(SiteQueriesTest, AShardThatIsBackIsFoundByTheNextProbe) {
  auto snapshot = std::make_shared<Snapshot>(*north.publication.load());
  auto site = std::make_shared<Site>(*snapshot->site);
  site->shards[1].addresses = {"127.0.0.1:1", south.address()};
  snapshot->site = site;
  north.publication.publish(snapshot);
  EXPECT_EQ(list()->incidents_size(), 10) << "the second address is tried at once";
  site = std::make_shared<Site>(*site);
  site->shards[1].addresses = {"127.0.0.1:1"};
  snapshot = std::make_shared<Snapshot>(*snapshot);
  snapshot->site = site;
  north.publication.publish(snapshot);
  EXPECT_EQ(list()->missing_shards_size(), 1);
  publish(north, "north", 1);
  EXPECT_EQ(list()->missing_shards_size(), 1) << "it is left out until it is probed";
  for (int i = 0; i < 1000 && !north.site.figures()[1].answers; ++i) {
    north.site.probe();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(list()->incidents_size(), 10);
}

// What it will know is not known yet: that is no "no".
TEST_F(SiteQueriesTest, AShardWithoutASweepIsMissing) {
  const auto links = [&](const Shard& shard) {
    return wait<v1::ListLinksResponse>([&](auto done) { shard.site.list_links({}, done); });
  };
  const auto nodes = [&](const Shard& shard) {
    return wait<v1::ListNodesResponse>([&](auto done) { shard.site.list_nodes({}, done); });
  };
  is_swept = false;
  publish(south, "south", 2);
  EXPECT_EQ(health("host-nowhere").error().code, ErrorCode::kUnavailable);
  const std::string unknown = health("host-nowhere").error().message;
  EXPECT_NE(unknown.find(" in the shards that have swept; shard south has not swept yet"), std::string::npos)
      << "it answers: " << unknown;
  v1::ListPortsRequest ports_of;
  ports_of.set_node("host-nowhere");
  const auto ports = wait<v1::ListPortsResponse>([&](auto done) { north.site.list_ports(ports_of, done); });
  ASSERT_FALSE(ports);
  EXPECT_NE(ports.error().message.find("; shard south has not swept yet"), std::string::npos) << ports.error().message;
  std::promise<Error> command;
  north.site.refer("host-nowhere", {ErrorCode::kNotFound, "nothing of that name"},
                   [&command](Error error) { command.set_value(std::move(error)); });
  EXPECT_EQ(command.get_future().get().message,
            "nothing of that name in the shards that have swept; shard south has not swept yet");
  EXPECT_TRUE(health("host-south")) << "its collectors know that one";
  ASSERT_TRUE(health("host-north"));
  EXPECT_EQ(health("host-north")->missing_shards_size(), 1);
  for (const Shard* each : {&north, &south}) {
    ASSERT_TRUE(links(*each));
    ASSERT_EQ(links(*each)->missing_shards_size(), 1);
    EXPECT_EQ(links(*each)->missing_shards(0), "south");
    ASSERT_TRUE(nodes(*each));
    EXPECT_EQ(nodes(*each)->missing_shards_size(), 1);
  }
  EXPECT_EQ(list()->missing_shards_size(), 0) << "incidents are from the store";
  for (const Shard* each : {&north, &south}) {
    const auto many = many_of(*each, {"host-north", "host-nowhere"});
    ASSERT_TRUE(many);
    EXPECT_EQ(many->nodes(0).verdict(), v1::NodeHealth::HEALTHY);
    ASSERT_EQ(many->missing_shards_size(), 1);
    EXPECT_EQ(many->missing_shards(0), "south");
    const auto all = all_of(*each);
    ASSERT_TRUE(all);
    EXPECT_EQ(all->nodes_size(), 2) << "its collectors tell of one";
    ASSERT_EQ(all->missing_shards_size(), 1);
    EXPECT_EQ(all->missing_shards(0), "south");
    const auto job = job_of(*each, {"host-north"});
    ASSERT_TRUE(job);
    EXPECT_EQ(job->verdict(), v1::NodeHealth::UNKNOWN);
    ASSERT_EQ(job->missing_shards_size(), 1);
  }
  north.site.probe();
  for (int i = 0; i < 1000 && !north.site.status().shards(1).has_answered(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(north.site.status().shards(1).answers());
  EXPECT_EQ(north.site.status().shards(1).trouble(), "its first sweep is not complete");
  is_swept = true;
  publish(south, "south", 2);
  EXPECT_EQ(many_of(north, {"host-north"})->missing_shards_size(), 0);
  EXPECT_EQ(all_of(north)->missing_shards_size(), 0);
  EXPECT_EQ(job_of(north, {"host-north"})->verdict(), v1::NodeHealth::HEALTHY);
  EXPECT_TRUE(health("host-south"));
  EXPECT_EQ(links(north)->missing_shards_size(), 0);
}

// A host of two shards, of which the one that had it drained falls silent.
TEST_F(SiteQueriesTest, AHostThatASilentShardKnewIsNotHealthy) {
  extra = "host-both";
  publish(north, "north", 1);
  publish(south, "south", 2);
  const std::vector<std::string> names{"host-both", "host-north", "host-south", "host-nowhere"};
  ASSERT_TRUE(many_of(north, names));
  EXPECT_EQ(many_of(north, names)->nodes(0).verdict(), v1::NodeHealth::HEALTHY);
  EXPECT_EQ(many_of(north, names)->nodes(0).missing_shards_size(), 0);
  south.server->stop();
  const auto many = many_of(north, names);
  ASSERT_TRUE(many);
  for (const v1::NodeHealth& each : many->nodes()) {
    ASSERT_EQ(each.missing_shards_size(), 1) << each.node();
    EXPECT_EQ(each.missing_shards(0), "south");
  }
  EXPECT_EQ(many->nodes(0).verdict(), v1::NodeHealth::UNKNOWN);
  EXPECT_EQ(many->nodes(0).recommended_action(), v1::NodeHealth::WATCH);
  ASSERT_EQ(many->nodes(0).reasons_size(), 1);
  EXPECT_EQ(many->nodes(0).reasons(0).message(), "shard south, which knew it, tells nothing of it now");
  EXPECT_EQ(many->nodes(1).verdict(), v1::NodeHealth::HEALTHY) << "south did not know it";
  EXPECT_EQ(many->nodes(1).reasons_size(), 0);
  EXPECT_EQ(many->nodes(2).verdict(), v1::NodeHealth::UNKNOWN);
  EXPECT_EQ(many->nodes(2).reasons_size(), 1);
  EXPECT_EQ(many->nodes(3).reasons_size(), 0);
  ASSERT_TRUE(health("host-both"));
  EXPECT_EQ(health("host-both")->verdict(), v1::NodeHealth::UNKNOWN);
  EXPECT_EQ(health("host-north")->verdict(), v1::NodeHealth::HEALTHY);
  EXPECT_EQ(health("host-north")->missing_shards_size(), 1);
  const auto job = job_of(north, {"host-north", "host-both"});
  ASSERT_TRUE(job);
  EXPECT_EQ(job->nodes(0).verdict(), v1::NodeHealth::HEALTHY);
  EXPECT_EQ(job->nodes(1).verdict(), v1::NodeHealth::UNKNOWN);
  EXPECT_EQ(job->nodes(1).missing_shards_size(), 1);
  const auto all = all_of(north);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->nodes_size(), 2);
  EXPECT_EQ(all->nodes(0).missing_shards_size(), 1);
}

// Two spellings of one host have one verdict, and no spelling takes the room of a host.
TEST_F(SiteQueriesTest, ASilentShardKnewAHostByAllItsNames) {
  extra = "host-both";
  publish(north, "north", 1);
  publish(south, "south", 2);
  ASSERT_TRUE(many_of(north, {"host-both"}));
  south.server->stop();
  const auto many = many_of(north, {"HOST-BOTH", "host-both", "Host-both.example.org"});
  ASSERT_TRUE(many);
  for (const v1::NodeHealth& each : many->nodes()) EXPECT_EQ(each.verdict(), v1::NodeHealth::UNKNOWN) << each.node();
}

TEST_F(SiteQueriesTest, AHostThatAShardKnewByASingleQuestionIsNotHealthyEither) {
  extra = "host-both";
  publish(north, "north", 1);
  publish(south, "south", 2);
  EXPECT_EQ(health("host-both")->verdict(), v1::NodeHealth::HEALTHY);
  extra = "";
  publish(south, "south", 2);
  EXPECT_EQ(health("host-north")->verdict(), v1::NodeHealth::HEALTHY);
  const auto shown_when_silent = [&] {
    south.server->stop();
    return health("host-both")->verdict();
  };
  EXPECT_EQ(health("host-both")->shards_size(), 1) << "it is gone from south, which says so";
  EXPECT_EQ(shown_when_silent(), v1::NodeHealth::HEALTHY);
}

TEST_F(SiteQueriesTest, OnItsOwnItAnswersFromItsSnapshot) {
  auto snapshot = std::make_shared<Snapshot>(*north.publication.load());
  snapshot->site = nullptr;
  north.publication.publish(snapshot);
  const auto page = list();
  EXPECT_EQ(page->incidents_size(), 5);
  EXPECT_EQ(page->incidents(0).shard(), "");
  EXPECT_EQ(health("host-north")->shards_size(), 0);
  EXPECT_FALSE(north.site.has_others());
  EXPECT_TRUE(north.site.figures().empty());
}

TEST_F(SiteQueriesTest, AfterItsEndOthersAreMissing) {
  north.site.stop();
  const auto page = list();
  ASSERT_TRUE(page);
  EXPECT_EQ(page->incidents_size(), 5);
  EXPECT_EQ(page->missing_shards_size(), 1);
}

}  // namespace
}  // namespace weft::api
