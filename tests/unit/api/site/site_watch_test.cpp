// SPDX-License-Identifier: Apache-2.0
// Streams of two shards of a site.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "tests/unit/api/site/shard.hpp"
#include "tests/unit/api/small_fabric.hpp"
#include "weft/v1/fabric.grpc.pb.h"
#include "weft/v1/health.grpc.pb.h"
#include "weft/v1/incident.grpc.pb.h"
#include "weft/v1/remedy.grpc.pb.h"

namespace weft::api {
namespace {

using Event = v1::WatchIncidentsResponse;

/// A stream that is read, from a server at an address.
template <typename Service, typename Message>
struct Stream {
  template <typename Method, typename Request>
  Stream(const std::string& address, Method method, const Request& request, bool from_shard = false)
      : stub(Service::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    if (from_shard) context.AddMetadata("weft-asked-by-shard", "west");
    reader = (stub.get()->*method)(&context, request);
  }
  Message read() {
    Message message;
    EXPECT_TRUE(reader->Read(&message)) << "the stream has ended";
    return message;
  }
  grpc::Status end() {
    Message rest;
    while (reader->Read(&rest)) {
    }
    return reader->Finish();
  }
  ~Stream() { context.TryCancel(); }

  std::unique_ptr<typename Service::Stub> stub;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<Message>> reader;
};

/// north has INC-1, which is resolved, and INC-101; south INC-2 and INC-102. Each has a host of its own, and
/// "host-both".
class SiteWatchTest : public ::testing::Test {
 protected:
  using Incidents = Stream<v1::IncidentService, Event>;

  SiteWatchTest() {
    publish(north, "north", {make_incident(1, IncidentState::kResolved), make_incident(101)});
    publish(south, "south", {make_incident(2), make_incident(102)});
  }
  void publish(Shard& shard, const std::string& name, const std::vector<Incident>& incidents) {
    std::vector<NodeHealth> health;
    const std::vector<std::string> nodes{"host-both", "host-" + name};
    for (std::size_t i = 0; i < nodes.size(); ++i)
      health.push_back(make_health(nodes[i], 0x101 + i, name == "north" ? HealthVerdict::kHealthy : verdict_in_south));
    FabricView view = SmallFabric(2, "ib-" + name).build();
    CablingDifferences cabling;
    cabling.planned_links = name == "north" ? 3 : 4;
    view.cabling = std::make_shared<const CablingDifferences>(cabling);
    auto snapshot =
        with_plans(make_snapshot(++revision, {view}, incidents, health), {make_plan(name == "north" ? 1 : 2)});
    snapshot->leadership.is_shared = true;
    snapshot->leadership.leads = name == "north" || !south_stands_by;
    auto site = std::make_shared<Site>();
    site->own = name;
    site->shards = {{"north", 1, "n", 1, {north.address()}, {"ib-north"}, {}},
                    {"south", 2, "s", 1, south_at.empty() ? std::vector{south.address()} : south_at, {"ib-south"}, {}}};
    if (without_south) site->shards.pop_back();
    snapshot->site = site;
    shard.publication.publish(snapshot);
  }
  /// What the stream says at its beginning, by id; `missing` are the shards that do not answer.
  std::map<std::string, Event> beginning(Incidents& stream, const std::vector<std::string>& missing = {}) {
    std::map<std::string, Event> all;
    while (true) {
      Event event = stream.read();
      if (event.type() == Event::INITIAL_COMPLETE) {
        EXPECT_EQ(std::vector<std::string>(event.missing_shards().begin(), event.missing_shards().end()), missing);
        return all;
      }
      EXPECT_EQ(event.type(), Event::INITIAL);
      EXPECT_TRUE(all.emplace(event.incident().id(), event).second) << event.incident().id();
      if (all.size() > 10) return all;
    }
  }
  static std::set<std::string> ids(const std::map<std::string, Event>& events) {
    std::set<std::string> all;
    for (const auto& [id, event] : events) all.insert(id);
    return all;
  }
  Incidents watch(bool resolved = false) {
    v1::WatchIncidentsRequest request;
    request.set_include_resolved(resolved);
    return {north.address(), &v1::IncidentService::Stub::Watch, request};
  }
  /// As weftd does every two seconds, until the end of the test.
  void keep_looking() {
    looking = std::jthread([this](const std::stop_token& end) {
      while (!end.stop_requested()) {
        north.site.probe();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
    });
  }

  StillClock clock;
  std::uint64_t revision = 0;
  HealthVerdict verdict_in_south = HealthVerdict::kUnhealthy;
  bool south_stands_by = false, without_south = false;
  std::vector<std::string> south_at;  ///< empty: its own address
  Shard north{clock}, south{clock};
  std::jthread looking;
};

TEST_F(SiteWatchTest, IncidentsOfAllShardsThenTheirChanges) {
  auto stream = watch();
  const auto begun = beginning(stream);
  EXPECT_EQ(ids(begun), (std::set<std::string>{"INC-101", "INC-2", "INC-102"}));
  EXPECT_EQ(begun.at("INC-101").incident().shard(), "north");
  EXPECT_EQ(begun.at("INC-2").incident().shard(), "south");
  publish(south, "south", {make_incident(2, IncidentState::kResolved, 2), make_incident(102)});
  Event event = stream.read();
  EXPECT_EQ(event.type(), Event::CHANGED);
  EXPECT_EQ(event.incident().id(), "INC-2");
  EXPECT_EQ(event.incident().state(), v1::Incident::RESOLVED);
  publish(south, "south", {make_incident(102)});
  event = stream.read();
  EXPECT_EQ(event.type(), Event::EXPIRED);
  EXPECT_EQ(event.incident().id(), "INC-2");
  EXPECT_EQ(event.incident().shard(), "south");
  publish(north, "north", {make_incident(101), make_incident(201)});
  event = stream.read();
  EXPECT_EQ(event.incident().id(), "INC-201");
  EXPECT_EQ(event.incident().shard(), "north");
}

TEST_F(SiteWatchTest, WhoComesLaterIsToldTheSame) {
  auto first = watch();
  beginning(first);
  publish(south, "south", {make_incident(2, IncidentState::kResolved, 2), make_incident(102, IncidentState::kOpen, 7)});
  for (int events = 0; events < 2; ++events) EXPECT_EQ(first.read().type(), Event::CHANGED);
  auto second = watch(true);
  const auto all = beginning(second);
  EXPECT_EQ(ids(all), (std::set<std::string>{"INC-1", "INC-101", "INC-2", "INC-102"}));
  EXPECT_EQ(all.at("INC-102").incident().revision(), 7U);
  auto third = watch();
  EXPECT_EQ(ids(beginning(third)), (std::set<std::string>{"INC-101", "INC-102"}));
}

TEST_F(SiteWatchTest, AShardThatAsksIsToldTheOwnPartAlone) {
  Incidents stream(north.address(), &v1::IncidentService::Stub::Watch, v1::WatchIncidentsRequest(), true);
  EXPECT_EQ(ids(beginning(stream)), (std::set<std::string>{"INC-101"}));
}

TEST_F(SiteWatchTest, AStandbyLeavesItToItsLeader) {
  south_stands_by = true;
  publish(south, "south", {make_incident(2)});
  Incidents of_shard(south.address(), &v1::IncidentService::Stub::Watch, v1::WatchIncidentsRequest(), true);
  const grpc::Status refused = of_shard.end();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(refused.error_message().find("standby: "), 0U) << refused.error_message();
  // The other weftd of the pair leads.
  Shard leader(clock);
  south_stands_by = false;
  publish(leader, "south", {make_incident(302)});
  south_at = {south.address(), leader.address()};
  publish(north, "north", {make_incident(101)});
  auto stream = watch();
  EXPECT_EQ(ids(beginning(stream)), (std::set<std::string>{"INC-101", "INC-302"}));
}

TEST_F(SiteWatchTest, AShardThatIsAwayIsNamedAndToldOfWhenItIsBack) {
  south_at = {"127.0.0.1:1"};
  publish(north, "north", {make_incident(101)});
  keep_looking();
  auto stream = watch();
  EXPECT_EQ(ids(beginning(stream, {"south"})), (std::set<std::string>{"INC-101"}));
  south_at.clear();
  publish(north, "north", {make_incident(101)});
  std::set<std::string> told;
  Event event = stream.read();
  for (; event.type() == Event::CHANGED; event = stream.read()) told.insert(event.incident().id());
  EXPECT_EQ(event.type(), Event::MISSING_SHARDS) << "after all that it owns";
  EXPECT_EQ(event.missing_shards_size(), 0);
  EXPECT_EQ(told, (std::set<std::string>{"INC-2", "INC-102"}));
}

TEST_F(SiteWatchTest, WhatChangedWhileAShardWasAwayIsToldAndNothingTwice) {
  keep_looking();
  auto stream = watch();
  beginning(stream);
  south_at = {"127.0.0.1:1"};  // where north looks for it
  publish(north, "north", {make_incident(101)});
  south.server->stop();  // all streams end
  Event event = stream.read();
  ASSERT_EQ(event.type(), Event::MISSING_SHARDS);
  ASSERT_EQ(event.missing_shards_size(), 1);
  EXPECT_EQ(event.missing_shards(0), "south");
  // Another weftd of the shard: INC-2 is no longer kept, INC-102 as before, INC-202 new.
  Shard again(clock);
  south_at = {again.address()};
  publish(again, "south", {make_incident(102), make_incident(202)});
  publish(north, "north", {make_incident(101)});
  std::map<std::string, Event> told;
  for (event = stream.read(); event.type() != Event::MISSING_SHARDS; event = stream.read())
    told.emplace(event.incident().id(), event);
  EXPECT_EQ(event.missing_shards_size(), 0);
  EXPECT_EQ(ids(told), (std::set<std::string>{"INC-2", "INC-202"}));
  EXPECT_EQ(told.at("INC-2").type(), Event::EXPIRED);
  EXPECT_EQ(told.at("INC-202").type(), Event::CHANGED);
  looking.request_stop();
  looking.join();
}

TEST_F(SiteWatchTest, WhatAShardOwnedIsGoneWhenItIsTakenOut) {
  keep_looking();
  auto stream = watch();
  beginning(stream);
  without_south = true;
  publish(north, "north", {make_incident(101)});
  std::set<std::string> gone;
  for (int events = 0; events < 2; ++events) {
    const Event event = stream.read();
    EXPECT_EQ(event.type(), Event::EXPIRED);
    gone.insert(event.incident().id());
  }
  EXPECT_EQ(gone, (std::set<std::string>{"INC-2", "INC-102"}));
}

TEST_F(SiteWatchTest, AnotherShardAtItsAddressIsNotBelieved) {
  south_at = {north.address()};
  publish(north, "north", {make_incident(101)});
  auto stream = watch();
  EXPECT_EQ(ids(beginning(stream, {"south"})), (std::set<std::string>{"INC-101"}));
}

TEST_F(SiteWatchTest, PlansOfAllShards) {
  Stream<v1::RemedyService, v1::WatchPlansResponse> stream(north.address(), &v1::RemedyService::Stub::WatchPlans,
                                                           v1::WatchPlansRequest());
  std::map<std::string, std::string> shards;
  for (auto event = stream.read(); event.type() == v1::WatchPlansResponse::INITIAL; event = stream.read())
    shards[event.plan().id()] = event.plan().shard();
  EXPECT_EQ(shards, (std::map<std::string, std::string>{{"PLAN-1", "north"}, {"PLAN-2", "south"}}));
}

TEST_F(SiteWatchTest, VerdictsOfAllShards) {
  using Message = v1::WatchHealthResponse;
  v1::WatchHealthRequest request;
  request.add_nodes("host-both");
  request.add_nodes("host-south");
  Stream<v1::HealthService, Message> stream(north.address(), &v1::HealthService::Stub::Watch, request);
  std::set<std::string> said;
  const auto text = [](const v1::NodeHealth& health) {
    return health.node() + ' ' + health.shards(0) + ' ' + v1::NodeHealth::Verdict_Name(health.verdict());
  };
  for (auto event = stream.read(); event.type() == Message::INITIAL; event = stream.read())
    said.insert(text(event.health()));
  EXPECT_EQ(said, (std::set<std::string>{"host-both north HEALTHY", "host-both south UNHEALTHY",
                                         "host-south south UNHEALTHY"}));
  verdict_in_south = HealthVerdict::kDegraded;
  publish(south, "south", {});
  std::set<std::string> changed;
  for (int events = 0; events < 2; ++events) changed.insert(text(stream.read().health()));
  EXPECT_EQ(changed, (std::set<std::string>{"host-both south DEGRADED", "host-south south DEGRADED"}));
}

TEST_F(SiteWatchTest, FabricsOfAllShards) {
  Stream<v1::FabricService, v1::WatchFabricResponse> stream(north.address(), &v1::FabricService::Stub::Watch,
                                                            v1::WatchFabricRequest());
  std::set<std::string> rediscovered;
  while (rediscovered.size() < 2) {
    const auto message = stream.read();
    if (message.rediscovered()) rediscovered.insert(message.fabric().shard() + ' ' + message.fabric().name());
  }
  EXPECT_EQ(rediscovered, (std::set<std::string>{"north ib-north", "south ib-south"}));
}

TEST_F(SiteWatchTest, TheTopologyOfAllShards) {
  const auto read_all = [this](const std::string& fabric, grpc::Status& status) {
    v1::GetTopologyRequest request;
    request.set_fabric(fabric);
    Stream<v1::FabricService, v1::Topology> stream(north.address(), &v1::FabricService::Stub::GetTopology, request);
    v1::Topology all;
    for (v1::Topology part; stream.reader->Read(&part);) all.MergeFrom(part);
    status = stream.reader->Finish();
    return all;
  };
  grpc::Status status;
  const auto counts = [](const v1::Topology& all) {
    std::map<std::string, int> nodes;
    for (const auto& node : all.nodes()) ++nodes[node.shard()];
    for (const auto& port : all.ports()) EXPECT_NE(port.shard(), "");
    for (const auto& link : all.links()) EXPECT_NE(link.shard(), "");
    return nodes;
  };
  const auto both = read_all("", status);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(counts(both), (std::map<std::string, int>{{"north", 3}, {"south", 3}}));
  EXPECT_GT(both.links_size(), 2);
  EXPECT_EQ(counts(read_all("ib-south", status)), (std::map<std::string, int>{{"south", 3}}));
  read_all("nowhere", status);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  south_at = {"127.0.0.1:1"};
  publish(north, "north", {});
  const auto alone = read_all("", status);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(counts(alone), (std::map<std::string, int>{{"north", 3}}));
  ASSERT_EQ(alone.missing_shards_size(), 1);
  EXPECT_EQ(alone.missing_shards(0), "south");
  read_all("ib-south", status);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << "south may have it";
}

TEST_F(SiteWatchTest, CablingDifferencesOfAllShards) {
  const auto stub =
      v1::FabricService::NewStub(grpc::CreateChannel(north.address(), grpc::InsecureChannelCredentials()));
  const auto ask = [&](const std::string& fabric, v1::GetCablingDifferencesResponse& response) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    v1::GetCablingDifferencesRequest request;
    request.set_fabric(fabric);
    response.Clear();
    return stub->GetCablingDifferences(&context, request, &response);
  };
  v1::GetCablingDifferencesResponse response;
  ASSERT_TRUE(ask("", response).ok());
  ASSERT_EQ(response.fabrics_size(), 2);
  EXPECT_EQ(response.fabrics(0).shard() + response.fabrics(1).shard(), "northsouth");
  EXPECT_EQ(response.fabrics(1).planned_links(), 4U);
  ASSERT_TRUE(ask("ib-south", response).ok());
  ASSERT_EQ(response.fabrics_size(), 1);
  EXPECT_EQ(ask("nowhere", response).error_code(), grpc::StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace weft::api
