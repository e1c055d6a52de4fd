// SPDX-License-Identifier: Apache-2.0
// Lists of a whole site over HTTP, where another shard answers what weftd never would.

#include "api/http/site_replies.hpp"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "api/publication/publication.hpp"
#include "api/site/site_queries.hpp"
#include "tests/unit/api/small_fabric.hpp"
#include "weft/v1/incident.grpc.pb.h"

namespace weft::api {
namespace {

/// Says that it is south, and that another page follows each page.
class EndlessIncidents final : public v1::IncidentService::Service {
 public:
  grpc::Status List(grpc::ServerContext* context, const v1::ListIncidentsRequest*,
                    v1::ListIncidentsResponse* response) override {
    const int page = ++asked;
    context->AddInitialMetadata("weft-answering-shard", "/2/south");
    if (has_entries) response->add_incidents()->set_id("INC-2");
    response->set_next_page_token(is_always_new ? std::to_string(page) : "the same");
    return grpc::Status::OK;
  }

  std::atomic<int> asked = 0;
  bool has_entries = true, is_always_new = true;
};

class SiteReplies : public ::testing::Test {
 protected:
  SiteReplies() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&south);
    server = builder.BuildAndStart();
    auto snapshot = make_snapshot(1, {}, {make_incident(1)}, {});
    auto site_of = std::make_shared<Site>();
    site_of->own = "north";
    site_of->shards = {{"north", 1, "n", 1, {"127.0.0.1:1"}},
                       {"south", 2, "s", 1, {"127.0.0.1:" + std::to_string(port)}}};
    snapshot->site = site_of;
    publication.publish(snapshot);
  }
  ~SiteReplies() override { site.stop(); }
  nlohmann::json get(const std::string& target) {
    std::promise<HttpReply> promise;
    EXPECT_TRUE(site_reply(site, *parse_target(target), [&](HttpReply reply) { promise.set_value(std::move(reply)); }));
    const HttpReply reply = promise.get_future().get();
    EXPECT_EQ(reply.status, 200U) << reply.body;
    return nlohmann::json::parse(reply.body);
  }

  StillClock clock;
  Publication publication;
  EndlessIncidents south;
  int port = 0;
  std::unique_ptr<grpc::Server> server;
  SiteQueries site{publication, clock, {}};
};

TEST_F(SiteReplies, AListThatNeverEndsIsCutAndSaysSo) {
  const auto answer = get("/api/v1/incidents");
  EXPECT_LE(south.asked, 1000);
  EXPECT_NE(answer["nextPageToken"], "");
  EXPECT_GT(answer["incidents"].size(), 1U);
}

TEST_F(SiteReplies, AShardWhoseListDoesNotGetOnIsMissing) {
  south.has_entries = false;
  auto answer = get("/api/v1/incidents");
  EXPECT_EQ(south.asked, 1);
  EXPECT_EQ(answer["missingShards"], nlohmann::json({"south"}));
  EXPECT_EQ(answer["nextPageToken"], "");
  EXPECT_EQ(answer["incidents"].size(), 1U) << "the own shard's";
}

TEST_F(SiteReplies, TheTopologyOfAllShards) {
  auto snapshot = std::make_shared<Snapshot>(*publication.load());
  snapshot->fabrics = {SmallFabric(2).build()};
  publication.publish(snapshot);
  const auto answer = get("/api/v1/topology");
  EXPECT_EQ(answer["nodes"].size(), 3U);
  EXPECT_EQ(answer["nodes"][0]["shard"], "north");
  EXPECT_EQ(answer["links"].size(), 2U);
  EXPECT_GT(answer["ports"].size(), 4U);
  EXPECT_EQ(answer["missingShards"], nlohmann::json({"south"})) << "it has no such service";
}

TEST_F(SiteReplies, CablingDifferencesAreAskedOfAllShards) {
  EXPECT_EQ(get("/api/v1/topology/differences")["missingShards"], nlohmann::json({"north", "south"}))
      << "not swept yet";
  auto snapshot = std::make_shared<Snapshot>(*publication.load());
  snapshot->fabrics = {SmallFabric(2).build()};
  publication.publish(snapshot);
  const auto answer = get("/api/v1/topology/differences");
  EXPECT_EQ(answer["fabrics"].size(), 0U);
  EXPECT_EQ(answer["missingShards"], nlohmann::json({"south"})) << "it has no such service";
}

TEST_F(SiteReplies, AShardThatGivesOnePageForEverIsMissing) {
  south.is_always_new = false;
  const auto answer = get("/api/v1/incidents");
  EXPECT_EQ(south.asked, 2);
  EXPECT_EQ(answer["missingShards"], nlohmann::json({"south"}));
  EXPECT_EQ(answer["nextPageToken"], "");
}

}  // namespace
}  // namespace weft::api
