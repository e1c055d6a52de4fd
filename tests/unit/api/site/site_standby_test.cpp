// SPDX-License-Identifier: Apache-2.0
// What shards say of hosts whose leader is away.

#include <future>
#include <thread>

#include "tests/unit/api/site/two_shards.hpp"

namespace weft::api {
namespace {

using SiteStandbyTest = TwoShards;

// The database names the leader that died until another one leads.
TEST_F(SiteStandbyTest, AStandbyThatAnswersForALostLeaderIsToldOf) {
  const auto south_of_status = [&] {
    north.site.probe();
    for (int i = 0; i < 1000 && !north.site.status().shards(1).has_answered(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return north.site.status().shards(1);
  };
  EXPECT_EQ(south_of_status().trouble(), "");
  stands_by = true;
  publish(south, "south", 2);
  north.site.probe();
  for (int i = 0; i < 1000 && north.site.status().shards(1).trouble().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(north.site.status().shards(1).answers());
  EXPECT_EQ(north.site.status().shards(1).trouble(), "a standby answers: nobody leads it now");
}

TEST_F(SiteStandbyTest, AStandbyAsksItsLeaderWhereCollectorsCount) {
  Shard standby{clock};
  stands_by = true;
  publish(standby, "north", 1);
  const auto asked = [&](const std::string& node) {
    return wait<v1::NodeHealth>([&](auto done) { standby.site.get_health(node, done); });
  };
  for (const char* host : {"host-north", "host-south"}) {
    const auto found = asked(host);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->verdict(), v1::NodeHealth::HEALTHY);
    EXPECT_EQ(found->missing_shards_size(), 0);
  }
  EXPECT_EQ(asked("host-nowhere").error().code, ErrorCode::kNotFound);
  north.server->stop();
  EXPECT_EQ(asked("host-north").error().code, ErrorCode::kUnavailable);
  const auto found = asked("host-south");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->missing_shards_size(), 1);
  EXPECT_EQ(found->missing_shards(0), "north");
}

TEST_F(SiteStandbyTest, AStandbyWithoutALeaderKnowsWhatIsOpen) {
  Shard standby{clock};
  stands_by = true;
  publish(standby, "north", 1);
  auto snapshot = std::make_shared<Snapshot>(*standby.publication.load());
  NodeHealth sick = snapshot->health->front();
  sick.node = "host-south";
  sick.verdict = HealthVerdict::kUnhealthy;
  sick.reasons.push_back({.incident = 101, .severity = Severity::kCritical, .message = "a link is down", .ports = {}});
  snapshot->health = std::make_shared<const std::vector<NodeHealth>>(std::vector{snapshot->health->front(), sick});
  standby.publication.publish(snapshot);
  north.server->stop();
  const auto one = wait<v1::NodeHealth>([&](auto done) { standby.site.get_health("host-south", done); });
  ASSERT_TRUE(one) << one.error().message;
  const auto many = many_of(standby, {"host-north", "host-south"});
  ASSERT_TRUE(many) << many.error().message;
  EXPECT_EQ(many->nodes(0).verdict(), v1::NodeHealth::UNKNOWN) << "it hears nobody itself";
  for (const v1::NodeHealth* each : {&*one, &many->nodes(1)}) {
    EXPECT_EQ(each->verdict(), v1::NodeHealth::UNHEALTHY);
    ASSERT_EQ(each->missing_shards_size(), 1);
    EXPECT_EQ(each->missing_shards(0), "north");
  }
}

TEST_F(SiteStandbyTest, WhoAsksForALostCollectorKnowsItsHost) {
  std::promise<void> asked;
  north.site.find_collectors({"host-south"}, [&](const auto&) { asked.set_value(); });
  asked.get_future().get();
  EXPECT_EQ(many_of(south, {"host-north"})->nodes(0).verdict(), v1::NodeHealth::HEALTHY);
  north.server->stop();
  const auto many = many_of(south, {"host-south"});
  ASSERT_TRUE(many);
  EXPECT_EQ(many->nodes(0).verdict(), v1::NodeHealth::UNKNOWN);
  ASSERT_EQ(many->nodes(0).reasons_size(), 1);
  EXPECT_EQ(many->nodes(0).reasons(0).message(), "shard north, which knew it, tells nothing of it now");
}

}  // namespace
}  // namespace weft::api
