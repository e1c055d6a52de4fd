// SPDX-License-Identifier: Apache-2.0
#include "api/site/shard_peers.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "api/site/rpc.hpp"
#include "api/site/shard_stream.hpp"
#include "weft/v1/fabric.grpc.pb.h"
#include "weft/v1/incident.grpc.pb.h"

namespace weft::api {
namespace {

/// A site whose other shard cannot be reached.
SitePtr lonely_site() {
  Site site{.database = "site", .own = "north", .shards = {}};
  site.shards.push_back({"north", 1, {}, 0});
  site.shards.push_back({"south", 2, {}, 0, {"127.0.0.1:0"}});  // nobody can listen there
  return std::make_shared<const Site>(std::move(site));
}

// The last channel must not be released on gRPC's thread of callbacks: that thread would wait for itself, and then use
// the queue that it has destroyed.
TEST(ShardPeers, stop_while_a_question_ends) {
  const SitePtr site = lonely_site();
  for (int round = 0; round < 200; ++round) {
    int answers = 0;
    {
      ShardPeers peers({});
      peers.ask<v1::FabricService, v1::ListNodesRequest, v1::ListNodesResponse>(
          site, site->shards.back(), {}, rpc(&Calls<v1::FabricService>::ListNodes), true,
          [&answers](const ShardAnswer<v1::ListNodesResponse>& answer) {
            EXPECT_TRUE(answer.is_missing);
            ++answers;
          });
      std::this_thread::sleep_for(std::chrono::microseconds(20 * round));
    }
    ASSERT_EQ(answers, 1);
  }
}

TEST(ShardPeers, a_late_answer_shows_at_once) {
  ShardPeers peers({});
  peers.note("south", true, {});
  EXPECT_TRUE(peers.reached()["south"].answers);
  peers.note_late("south");
  EXPECT_FALSE(peers.reached()["south"].answers);
  EXPECT_EQ(peers.reached()["south"].trouble, "no answer within 1 s");
  peers.note("south", true, {});
  EXPECT_TRUE(peers.reached()["south"].answers) << "it answered another question";
}

TEST(ShardPeers, what_is_not_answered_for_now_shows_at_once_and_is_no_silence) {
  ShardPeers peers({});
  peers.note("south", true, {});
  peers.judge("south", "ListAuditRequest", "its database is away", true);
  EXPECT_TRUE(peers.reached()["south"].answers);
  EXPECT_EQ(peers.reached()["south"].trouble, "its database is away");
  peers.judge("south", "ListAuditRequest", {});
  EXPECT_EQ(peers.reached()["south"].trouble, "");
}

TEST(ShardPeers, stop_while_a_stream_ends) {
  using Stream = ShardStream<v1::IncidentService, v1::WatchIncidentsRequest, v1::WatchIncidentsResponse>;
  const SitePtr site = lonely_site();
  for (int round = 0; round < 200; ++round) {
    int ends = 0;
    {
      ShardPeers peers({});
      const auto opened = Stream::open(
          peers, site, site->shards.back(), {},
          [](auto& stub, grpc::ClientContext* context, const auto* request, auto* reactor) {
            stub.async()->Watch(context, request, reactor);
          },
          {}, [](const v1::WatchIncidentsResponse&) { return true; }, [&ends](const Result<void>&) { ++ends; });
      ASSERT_TRUE(opened) << opened.error().message;
      std::this_thread::sleep_for(std::chrono::microseconds(20 * round));
    }
    ASSERT_EQ(ends, 1);
  }
}

}  // namespace
}  // namespace weft::api
