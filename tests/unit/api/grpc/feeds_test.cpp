// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/feeds.hpp"

#include <gtest/gtest.h>

#include <map>

#include "api/grpc/fabric_feed.hpp"
#include "tests/unit/api/small_plans.hpp"

namespace weft::api {
namespace {

using Event = v1::WatchIncidentsResponse;

/// All that the feed has to say of the snapshot.
template <typename Feed>
std::vector<typename Feed::Message> drain(Feed& feed, const Snapshot& snapshot) {
  std::vector<typename Feed::Message> messages;
  typename Feed::Message message;
  while (feed.next(snapshot, message)) {
    messages.push_back(message);
    if (messages.size() > 100'000) {
      ADD_FAILURE() << "it never ends";
      break;
    }
  }
  return messages;
}

TEST(IncidentFeed, SendsTheStateThenTheMarkThenChanges) {
  IncidentFeed feed{v1::WatchIncidentsRequest()};
  EXPECT_TRUE(drain(feed, Snapshot{}).empty()) << "nothing is known yet, so nothing is complete";
  auto first = drain(feed, *make_snapshot(1, {}, {make_incident(1), make_incident(2, IncidentState::kResolved)}));
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].type(), Event::INITIAL);
  EXPECT_EQ(first[0].incident().id(), "INC-1");
  EXPECT_EQ(first[1].type(), Event::INITIAL_COMPLETE);
  EXPECT_TRUE(
      drain(feed, *make_snapshot(2, {}, {make_incident(1), make_incident(2, IncidentState::kResolved)})).empty());
  auto second = drain(feed, *make_snapshot(3, {},
                                           {make_incident(1, IncidentState::kResolved, 2),
                                            make_incident(2, IncidentState::kOpen, 5), make_incident(3)}));
  ASSERT_EQ(second.size(), 3U);
  std::map<std::string, int> states;
  for (const Event& event : second) {
    EXPECT_EQ(event.type(), Event::CHANGED);
    states[event.incident().id()] = event.incident().state();
  }
  EXPECT_EQ(states["INC-1"], v1::Incident::RESOLVED);
  EXPECT_EQ(states["INC-2"], v1::Incident::OPEN) << "a resolved one that re-opens is news";
  EXPECT_EQ(states["INC-3"], v1::Incident::OPEN);
}

TEST(IncidentFeed, ASlowReaderGetsTheLatestAndNeverMissesTheEnd) {
  IncidentFeed feed{v1::WatchIncidentsRequest()};
  drain(feed, *make_snapshot(1, {}, {}));
  // One thousand changes pass while the reader takes one message.
  Event message;
  ASSERT_TRUE(feed.next(*make_snapshot(2, {}, {make_incident(1, IncidentState::kOpen, 1)}), message));
  auto rest = drain(feed, *make_snapshot(1002, {}, {make_incident(1, IncidentState::kResolved, 1000)}));
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].incident().revision(), 1000U);
  EXPECT_EQ(rest[0].incident().state(), v1::Incident::RESOLVED);
  auto gone = drain(feed, *make_snapshot(1003, {}, {}));
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].type(), Event::EXPIRED);
  EXPECT_EQ(gone[0].incident().id(), "INC-1");
}

TEST(IncidentFeed, BusyIncidentsDoNotStarveTheOthers) {
  IncidentFeed feed{v1::WatchIncidentsRequest()};
  std::vector<Incident> incidents;
  for (std::uint64_t id = 1; id <= 10; ++id) incidents.push_back(make_incident(id));
  std::set<std::string> seen;
  // With each message that the reader takes, the first five change again.
  for (std::uint64_t round = 1; round <= 40 && seen.size() < 10; ++round) {
    for (std::size_t i = 0; i < 5; ++i) incidents[i].revision = round;
    Event message;
    ASSERT_TRUE(feed.next(*make_snapshot(round, {}, incidents), message));
    seen.insert(message.incident().id());
  }
  EXPECT_EQ(seen.size(), 10U);
}

TEST(PlanFeed, SendsTheStateThenTheMarkThenChanges) {
  using Told = v1::WatchPlansResponse;
  PlanFeed feed{v1::WatchPlansRequest()};
  PlanFeed curious{[] {
    v1::WatchPlansRequest request;
    request.set_include_ended(true);
    return request;
  }()};
  EXPECT_TRUE(drain(feed, Snapshot{}).empty()) << "nothing is known yet, so nothing is complete";
  const auto first = with_plans(make_snapshot(1, {}), {make_plan(1), make_plan(2, PlanState::kCommitted)});
  const auto told = drain(feed, *first);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].type(), Told::INITIAL);
  EXPECT_EQ(told[0].plan().id(), "PLAN-1");
  EXPECT_EQ(told[1].type(), Told::INITIAL_COMPLETE);
  EXPECT_EQ(drain(curious, *first).size(), 3U);
  // What people see move is no new revision.
  Plan verifying = make_plan(1);
  verifying.windows_good = 3;
  const auto further = with_plans(make_snapshot(2, {}), {verifying, make_plan(2, PlanState::kCommitted)});
  const auto moved = drain(feed, *further);
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved[0].plan().windows_good(), 3U);
  verifying.guards[1].result = GuardResult::kRefused;
  EXPECT_EQ(drain(feed, *with_plans(make_snapshot(3, {}), {verifying, make_plan(2, PlanState::kCommitted)})).size(),
            1U);
  EXPECT_TRUE(drain(feed, *with_plans(make_snapshot(4, {}), {verifying, make_plan(2, PlanState::kCommitted)})).empty());
  const auto changed =
      drain(feed, *with_plans(make_snapshot(5, {}), {make_plan(1, PlanState::kExpired, 2), make_plan(3)}));
  ASSERT_EQ(changed.size(), 2U) << "PLAN-2 was never told of, and its end is none";
  EXPECT_EQ(changed[0].plan().state(), v1::Plan::EXPIRED);
  EXPECT_EQ(changed[1].type(), Told::CHANGED) << "new, but not of the first";
  const auto gone = drain(feed, *make_snapshot(6, {}));
  ASSERT_EQ(gone.size(), 2U) << "no list is no plan";
  EXPECT_EQ(gone[0].type(), Told::REMOVED);
}

TEST(PlanFeed, OfNoPlansIsCompleteAtOnce) {
  PlanFeed feed{v1::WatchPlansRequest()};
  const auto told = drain(feed, *make_snapshot(1, {}));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].type(), v1::WatchPlansResponse::INITIAL_COMPLETE);
}

TEST(HealthFeed, SendsChangesOfTheVerdictNotOfTheAge) {
  HealthFeed feed{v1::WatchHealthRequest()};
  std::vector<NodeHealth> health{make_health("a", 1, HealthVerdict::kHealthy),
                                 make_health("twin", 2, HealthVerdict::kHealthy),
                                 make_health("twin", 3, HealthVerdict::kUnknown)};
  EXPECT_EQ(drain(feed, *make_snapshot(1, {}, {}, health)).size(), 4U);
  health[0].data_age = std::chrono::seconds(9);
  EXPECT_TRUE(drain(feed, *make_snapshot(2, {}, {}, health)).empty());
  health[0].verdict = HealthVerdict::kUnhealthy;
  health.pop_back();
  auto news = drain(feed, *make_snapshot(3, {}, {}, health));
  ASSERT_EQ(news.size(), 2U);
  EXPECT_EQ(news[0].type(), v1::WatchHealthResponse::CHANGED);
  EXPECT_EQ(news[0].health().verdict(), v1::NodeHealth::UNHEALTHY);
  EXPECT_EQ(news[1].type(), v1::WatchHealthResponse::REMOVED);
  EXPECT_EQ(news[1].health().node(), "twin");
}

TEST(HealthFeed, FollowsOnlyTheNodesAskedFor) {
  v1::WatchHealthRequest request;
  request.add_nodes("b");
  HealthFeed feed{request};
  auto news = drain(feed, *make_snapshot(1, {}, {},
                                         {make_health("a", 1, HealthVerdict::kHealthy),
                                          make_health("b", 2, HealthVerdict::kHealthy)}));
  ASSERT_EQ(news.size(), 2U);
  EXPECT_EQ(news[0].health().node(), "b");
}

TEST(FabricFeed, SendsSummariesAndDifferences) {
  SmallFabric fabric(2);
  FabricFeed feed{v1::WatchFabricRequest()};
  auto first = drain(feed, *make_snapshot(1, {fabric.build()}));
  ASSERT_EQ(first.size(), 1U);
  EXPECT_TRUE(first[0].rediscovered());
  EXPECT_EQ(first[0].changed_ports_size(), 0);
  EXPECT_EQ(first[0].fabric().links_up(), 2U);
  const FabricView unchanged = fabric.build();
  EXPECT_EQ(drain(feed, *make_snapshot(2, {unchanged})).size(), 1U) << "a new sweep, a new summary";
  EXPECT_TRUE(drain(feed, *make_snapshot(3, {unchanged})).empty());

  SmallFabric::take_down(fabric.ports[1]);
  fabric.nodes[1].reachable = false;
  auto news = drain(feed, *make_snapshot(4, {fabric.build()}));
  ASSERT_EQ(news.size(), 1U);
  EXPECT_FALSE(news[0].rediscovered());
  ASSERT_EQ(news[0].changed_ports_size(), 1);
  EXPECT_EQ(news[0].changed_ports(0).state(), v1::Port::DOWN);
  ASSERT_EQ(news[0].changed_nodes_size(), 1);
  EXPECT_EQ(news[0].changed_nodes(0).name(), "host-1 mlx5_0");

  fabric.epoch = 2;
  auto anew = drain(feed, *make_snapshot(5, {fabric.build()}));
  ASSERT_EQ(anew.size(), 1U);
  EXPECT_TRUE(anew[0].rediscovered());

  FabricView lost = fabric.build();
  drain(feed, *make_snapshot(6, {lost}));
  lost.watching = false;
  lost.status = "waiting for mlx5_0 port 1";
  auto away = drain(feed, *make_snapshot(7, {lost}));
  ASSERT_EQ(away.size(), 1U) << "the adapter going away is news without a sweep";
  EXPECT_FALSE(away[0].fabric().watching());
}

TEST(FabricFeed, ManyChangesComeInSeveralMessages) {
  SmallFabric fabric(200);
  FabricFeed feed{v1::WatchFabricRequest()};
  for (Port& port : fabric.ports) port.speed_active = kSpeedHdr;
  SmallFabric larger(200);
  larger.nodes.insert(larger.nodes.end(), fabric.nodes.begin() + 1, fabric.nodes.end());
  const auto offset = static_cast<PortIndex>(larger.ports.size());
  for (std::size_t i = 201; i < larger.nodes.size(); ++i) {
    larger.nodes[i].guid.value += 0x1000;
    larger.nodes[i].first_port = offset + static_cast<PortIndex>(i - 201);
    Port port = SmallFabric::up(static_cast<NodeIndex>(i), 1);
    larger.ports.push_back(port);
  }
  larger.state_read_at.assign(larger.ports.size(), kNow);
  ASSERT_EQ(Topology::validate(larger.nodes, larger.ports), "");
  drain(feed, *make_snapshot(1, {larger.build()}));
  for (Port& port : larger.ports) port.speed_active = kSpeedHdr;
  auto news = drain(feed, *make_snapshot(2, {larger.build()}));
  ASSERT_EQ(news.size(), 2U);
  EXPECT_EQ(news[0].changed_ports_size(), 500);
  std::set<std::pair<std::string, std::uint32_t>> ports;
  for (const auto& message : news)
    for (const auto& port : message.changed_ports()) ports.emplace(port.node_guid(), port.port());
  EXPECT_EQ(ports.size(), larger.ports.size());
}

}  // namespace
}  // namespace weft::api
