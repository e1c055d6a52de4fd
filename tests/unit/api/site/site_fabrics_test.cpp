// SPDX-License-Identifier: Apache-2.0
// What two shards of a site say of their fabrics, and who owns a name.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <set>
#include <type_traits>

#include "api/convert/fabric_map.hpp"
#include "api/site/site_token.hpp"
#include "tests/unit/api/site/shard.hpp"
#include "tests/unit/api/small_fabric.hpp"
#include "weft/v1/fabric.grpc.pb.h"
#include "weft/v1/maintenance.grpc.pb.h"
#include "weft/v1/remedy.grpc.pb.h"
#include "weft/v1/telemetry.pb.h"

namespace weft::api {
namespace {

/// The type of the answer to a question of SiteQueries.
template <typename Response, typename Request>
Response response_of(void (SiteQueries::*)(const Request&, SiteQueries::Done<Response>) const);

/// north watches "ib-north" with 2 hosts, south "ib-south" with 4: host-3 and host-4 are known in south alone.
class SiteFabricsTest : public ::testing::Test {
 protected:
  SiteFabricsTest() {
    north.remedies.trail = trail(3);
    south.remedies.trail = trail(5);
    publish_all();
  }
  static std::vector<AuditRecord> trail(std::uint64_t lines) {
    std::vector<AuditRecord> records;
    for (std::uint64_t sequence = 1; sequence <= lines; ++sequence)
      records.push_back({sequence, kNow, "kim", "approved", 7, 0, "", "ab"});
    return records;
  }
  void publish_all() {
    publish(north, "north", 2);
    publish(south, "south", 4);
  }
  void publish(Shard& shard, const std::string& name, unsigned hosts) {
    std::vector<NodeHealth> health{make_health("leaf-1", kLeaf, HealthVerdict::kHealthy)};
    for (unsigned host = hosts; host > 0; --host)
      health.insert(health.begin(), make_health("host-" + std::to_string(host), 0x100 + host, HealthVerdict::kUnknown));
    auto snapshot = make_snapshot(1, {SmallFabric(hosts, "ib-" + name).build()}, {}, health);
    if (name == unswept) snapshot->fabrics.clear();
    auto list = std::make_shared<std::vector<std::shared_ptr<const HostView>>>();
    auto host = std::make_shared<HostView>();
    host->host = "host-of-" + name;
    list->push_back(host);
    snapshot->hosts = list;
    snapshot->leadership.is_shared = stand_by;
    snapshot->leadership.leads = !stand_by;
    auto site = std::make_shared<Site>();
    site->own = name;
    site->shards = {{"north", 1, "n", 1, {north.address()}, {"ib-north"}, {}},
                    {"south", 2, "s", 1, {south.address()}, {"ib-south"}, {}}};
    if (has_more)
      for (const char* more : {"d", "c", "b", "a"})
        site->shards.insert(site->shards.begin(), {more, 9, "w", 1, {"127.0.0.1:1"}, {}, {}});
    snapshot->site = site;
    shard.publication.publish(snapshot);
  }
  template <typename Response, typename Request>
  Result<Response> ask(void (SiteQueries::*question)(const Request&, SiteQueries::Done<Response>) const,
                       const Request& request) {
    return north.ask(question, request);
  }
  Result<v1::ListPortsResponse> ports_of(const std::string& node) {
    v1::ListPortsRequest request;
    request.set_node(node);
    return ask(&SiteQueries::list_ports, request);
  }
  Result<v1::GetPathResponse> path(const std::string& from, const std::string& to) {
    v1::GetPathRequest request;
    request.set_from(from);
    request.set_to(to);
    return ask(&SiteQueries::get_path, request);
  }
  Result<std::string> map(const std::string& shard, bool state) {
    std::promise<Result<std::string>> promise;
    north.site.get_map(shard, state, [&promise](Result<std::string> json) { promise.set_value(std::move(json)); });
    return promise.get_future().get();
  }
  Error refer(const std::string& what) {
    std::promise<Error> promise;
    north.site.refer(what, {ErrorCode::kNotFound, "no such thing"},
                     [&promise](Error error) { promise.set_value(std::move(error)); });
    return promise.get_future().get();
  }
  template <typename Service, typename Method, typename Request, typename Response>
  grpc::Status call(Method method, const Request& request, Response& response) {
    auto stub = Service::NewStub(grpc::CreateChannel(north.address(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    return (stub.get()->*method)(&context, request, &response);
  }
  std::string belongs_to_south(const std::string& what) {
    return what + " belongs to shard south: ask " + south.address();
  }

  StillClock clock;
  bool has_more = false;  ///< four shards that do not answer
  bool stand_by = false;
  std::string unswept;  ///< that shard has fabrics to watch, and none yet
  Shard north{clock}, south{clock};
};

TEST_F(SiteFabricsTest, ListsHaveTheEntriesOfAllShards) {
  const auto nodes = ask(&SiteQueries::list_nodes, v1::ListNodesRequest());
  ASSERT_TRUE(nodes) << nodes.error().message;
  ASSERT_EQ(nodes->nodes_size(), 3 + 5);
  EXPECT_EQ(nodes->nodes(0).shard(), "north");
  EXPECT_EQ(nodes->nodes(7).shard(), "south");
  const auto links = ask(&SiteQueries::list_links, v1::ListLinksRequest());
  ASSERT_TRUE(links);
  EXPECT_EQ(std::ranges::count(links->links(), "south", &v1::Link::shard), 4);
  const auto collectors = ask(&SiteQueries::list_collectors, v1::ListCollectorsRequest());
  ASSERT_TRUE(collectors);
  ASSERT_EQ(collectors->collectors_size(), 2);
  EXPECT_EQ(collectors->collectors(1).host(), "host-of-south");
  EXPECT_EQ(collectors->collectors(1).shard(), "south");
}

TEST_F(SiteFabricsTest, ANameIsLookedForInAllShards) {
  const auto ports = ports_of("host-4");
  ASSERT_TRUE(ports) << ports.error().message;
  ASSERT_EQ(ports->ports_size(), 1);
  EXPECT_EQ(ports->ports(0).shard(), "south");
  EXPECT_EQ(ports_of("leaf-1")->ports_size(), (1 + 3) + (1 + 5)) << "there is one in each";
  const auto nobody = ports_of("nobody");
  EXPECT_EQ(nobody.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(nobody.error().message, "no node named nobody");
  v1::ListNodesRequest of_fabric;
  of_fabric.set_fabric("ib-south");
  EXPECT_EQ(ask(&SiteQueries::list_nodes, of_fabric)->nodes_size(), 5);
  of_fabric.set_fabric("ib-west");
  EXPECT_EQ(ask(&SiteQueries::list_nodes, of_fabric).error().code, ErrorCode::kNotFound);
}

TEST_F(SiteFabricsTest, APageIsGivenWhenAShardKnowsTheNameHoweverManyDoNot) {
  has_more = true;
  publish_all();
  v1::ListPortsRequest request;
  request.set_node("host-4");
  request.set_page_size(2);
  const auto page = ask(&SiteQueries::list_ports, request);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->ports_size(), 1) << "south is the last of six shards";
  EXPECT_EQ(page->missing_shards_size(), 4);
  const auto nobody = ports_of("nobody");
  EXPECT_EQ(nobody.error().code, ErrorCode::kUnavailable) << "the others may know it";
  EXPECT_NE(nobody.error().message.find("no answer from"), std::string::npos) << nobody.error().message;
}

TEST_F(SiteFabricsTest, ATokenNamesNoMoreShardsThanASiteMayHave) {
  v1::ListNodesRequest request;
  request.set_page_token(to_token(ShardTokens(100, {"gone", ""})));
  const auto gone = ask(&SiteQueries::list_nodes, request);
  ASSERT_TRUE(gone) << gone.error().message;
  EXPECT_EQ(gone->missing_shards_size(), 100);
  request.set_page_token(to_token(ShardTokens(101, {"gone", ""})));
  EXPECT_EQ(ask(&SiteQueries::list_nodes, request).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(SiteFabricsTest, NodesByAPartOfTheirName) {
  const auto found = [this](const std::string& part) {
    v1::ListNodesRequest request;
    request.set_contains(part);
    std::multiset<std::string> names;
    const auto nodes = ask(&SiteQueries::list_nodes, request);
    if (nodes)
      for (const auto& node : nodes->nodes()) names.insert(node.shard() + ' ' + node.name());
    return names;
  };
  EXPECT_EQ(found("HOST-2"), (std::multiset<std::string>{"north host-2 mlx5_0", "south host-2 mlx5_0"}));
  EXPECT_EQ(found("0104"), (std::multiset<std::string>{"south host-4 mlx5_0"})) << "of its GUID";
  EXPECT_TRUE(found("host-5").empty());
  EXPECT_EQ(found("").size(), 8U);
}

TEST_F(SiteFabricsTest, LinksByWhatTheyContain) {
  const auto found = [this](const std::string& text) {
    v1::ListLinksRequest request;
    request.set_contains(text);
    std::multiset<std::string> ends;
    const auto links = ask(&SiteQueries::list_links, request);
    if (links)
      for (const auto& link : links->links()) ends.insert(link.shard() + ' ' + link.b().node());
    return ends;
  };
  EXPECT_EQ(found("leaf-1 HOST-2"), (std::multiset<std::string>{"north host-2 mlx5_0", "south host-2 mlx5_0"}));
  EXPECT_EQ(found("leaf-1:4"), (std::multiset<std::string>{"south host-4 mlx5_0"}));
  EXPECT_EQ(found("host-4 port 1"), (std::multiset<std::string>{"south host-4 mlx5_0"}));
  EXPECT_TRUE(found("host-1 host-2").empty());
  EXPECT_EQ(found("").size(), 2U + 4U);
  v1::ListLinksRequest request;
  request.set_contains("a b c d e f g h i j k l m n o p q r");
  EXPECT_EQ(ask(&SiteQueries::list_links, request).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(SiteFabricsTest, PathsStayWithinTheirShard) {
  // No forwarding table was read in either: a shard that knows both ends says so, whatever the others say.
  EXPECT_EQ(path("host-3", "host-4").error().code, ErrorCode::kFailedPrecondition);
  const auto none = path("host-1", "nobody");
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_NE(none.error().message.find("south: no node or port is named nobody"), std::string::npos)
      << none.error().message;
  EXPECT_EQ(path("host-1", "").error().code, ErrorCode::kInvalidArgument);
}

// A shard that has not swept does not know what it has, nor whether it has a fabric of a name.
TEST_F(SiteFabricsTest, AShardThatHasNotSweptIsNamedWhereverCablesCount) {
  const std::vector<std::string> south_alone{"south"};
  unswept = "south";
  publish(south, "south", 4);
  for (const std::string asked : {"north", "south"}) {
    Shard& shard = asked == "north" ? north : south;
    const auto misses = [&](auto question, const auto& request) {
      using Response = std::remove_cvref_t<decltype(response_of(question))>;
      std::promise<Result<Response>> promise;
      (shard.site.*question)(request, [&promise](Result<Response> answer) { promise.set_value(std::move(answer)); });
      const auto answer = promise.get_future().get();
      if (!answer) return std::vector<std::string>{answer.error().message};
      return std::vector<std::string>(answer->missing_shards().begin(), answer->missing_shards().end());
    };
    v1::ListWorstLinksRequest worst;
    worst.set_by(v1::ListWorstLinksRequest::ERRORS);
    EXPECT_EQ(misses(&SiteQueries::list_worst_links, worst), south_alone) << asked;
    worst.set_fabric("ib-north");
    EXPECT_EQ(misses(&SiteQueries::list_worst_links, worst), south_alone) << asked;
    worst.set_fabric("ib-west");
    EXPECT_EQ(misses(&SiteQueries::list_worst_links, worst),
              std::vector<std::string>{"no fabric named ib-west in the shards that have swept; shard south has not "
                                       "swept yet"})
        << asked;
    v1::ListWorstRequest harm;
    harm.set_of(v1::ListWorstRequest::HOSTS);
    EXPECT_EQ(misses(&SiteQueries::list_worst, harm), south_alone) << asked;
    EXPECT_EQ(misses(&SiteQueries::get_cabling_differences, v1::GetCablingDifferencesRequest()), south_alone) << asked;
    v1::GetPathRequest path_to;
    path_to.set_from("host-1");
    path_to.set_to("host-4");
    const auto path_misses = misses(&SiteQueries::get_path, path_to);
    ASSERT_EQ(path_misses.size(), 1U);
    EXPECT_TRUE(path_misses.front().ends_with("; shard south has not swept yet")) << path_misses.front();
    for (const char* fabric : {"", "ib-north"}) {
      std::vector<std::string> missing;
      int nodes = 0;
      std::promise<Result<void>> promise;
      shard.site.read_topology(
          fabric,
          [&](v1::Topology& part) {
            missing.insert(missing.end(), part.missing_shards().begin(), part.missing_shards().end());
            nodes += part.nodes_size();
            return true;
          },
          [&promise](Result<void> how) { promise.set_value(std::move(how)); });
      ASSERT_TRUE(promise.get_future().get());
      EXPECT_EQ(missing, south_alone) << asked << fabric;
      EXPECT_EQ(nodes, 3);
    }
  }
}

TEST_F(SiteFabricsTest, EachTrailStaysItsOwn) {
  v1::ListAuditResponse both;
  using Stub = v1::RemedyService::Stub;
  ASSERT_TRUE(call<v1::RemedyService>(&Stub::ListAudit, v1::ListAuditRequest(), both).ok());
  ASSERT_EQ(both.records_size(), 3 + 5);
  EXPECT_EQ(both.records(2).shard(), "north");
  EXPECT_EQ(both.records(3).shard(), "south");
  EXPECT_EQ(both.records(3).sequence(), 1U);

  v1::ListAuditRequest of_south;
  of_south.set_shard("south");
  of_south.set_page_size(2);
  std::vector<std::uint64_t> found;
  do {
    v1::ListAuditResponse page;
    ASSERT_TRUE(call<v1::RemedyService>(&Stub::ListAudit, of_south, page).ok());
    for (const auto& record : page.records()) {
      EXPECT_EQ(record.shard(), "south");
      found.push_back(record.sequence());
    }
    of_south.set_page_token(page.next_page_token());
  } while (!of_south.page_token().empty() && found.size() < 10);
  EXPECT_EQ(found, (std::vector<std::uint64_t>{4, 5, 2, 3, 1}));

  south.remedies.is_tampered_with = true;
  v1::ListAuditResponse page;
  of_south.clear_page_token();
  const grpc::Status damaged = call<v1::RemedyService>(&Stub::ListAudit, of_south, page);
  EXPECT_EQ(damaged.error_code(), grpc::StatusCode::DATA_LOSS) << damaged.error_message();
  EXPECT_EQ(damaged.error_message(), "shard south: record 5 of the audit trail is missing");
  v1::ListAuditRequest of_north;
  of_north.set_shard("north");
  EXPECT_TRUE(call<v1::RemedyService>(&Stub::ListAudit, of_north, page).ok()) << "its chain is whole";
  of_north.set_shard("west");
  EXPECT_EQ(call<v1::RemedyService>(&Stub::ListAudit, of_north, page).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(SiteFabricsTest, ATrailThatCannotBeReadIsOneQuestionThatIsNotAnswered) {
  using Stub = v1::RemedyService::Stub;
  north.remedies.is_away = south.remedies.is_away = true;
  v1::ListAuditResponse page;
  const grpc::Status nothing = call<v1::RemedyService>(&Stub::ListAudit, v1::ListAuditRequest(), page);
  EXPECT_EQ(nothing.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(nothing.error_message(), "the database is not reachable: Connection refused");
  const auto shard = [&] { return north.site.status().shards(1); };
  EXPECT_TRUE(shard().answers()) << shard().trouble();
  EXPECT_EQ(shard().trouble(), "it does not answer ListAudit: the database is not reachable: Connection refused");
  const auto ports = ports_of("host-4 mlx5_0");
  ASSERT_TRUE(ports) << "other questions are asked all the same: " << ports.error().message;
  EXPECT_EQ(ports->missing_shards_size(), 0);

  north.remedies.is_away = false;
  ASSERT_TRUE(call<v1::RemedyService>(&Stub::ListAudit, v1::ListAuditRequest(), page).ok());
  EXPECT_EQ(page.records_size(), 3);
  ASSERT_EQ(page.missing_shards_size(), 1);
  EXPECT_EQ(page.missing_shards(0), "south");
  south.remedies.is_away = false;
  ASSERT_TRUE(call<v1::RemedyService>(&Stub::ListAudit, v1::ListAuditRequest(), page).ok());
  EXPECT_EQ(shard().trouble(), "");
}

TEST_F(SiteFabricsTest, TheDrawingOfAnyShard) {
  EXPECT_EQ(map("north", false), fabric_map(*north.publication.load()));
  EXPECT_EQ(map("south", false), fabric_map(*south.publication.load()));
  EXPECT_EQ(map("south", true), fabric_map_state(*south.publication.load(), clock.now()));
  EXPECT_EQ(map("west", true).error().code, ErrorCode::kNotFound);
  has_more = true;
  publish_all();
  const auto away = map("c", true);
  EXPECT_EQ(away.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(away.error().message.find("shard c does not answer: "), 0U) << away.error().message;
}

TEST_F(SiteFabricsTest, ADrawingOfManyPiecesIsWhole) {
  auto snapshot = std::make_shared<Snapshot>(*south.publication.load());
  snapshot->fabrics.front().status = std::string(13UL << 18, 'x');
  south.publication.publish(snapshot);
  const std::string whole = fabric_map_state(*snapshot, clock.now());
  ASSERT_GT(whole.size(), 3UL << 20) << "two pieces";
  // A sanitizer makes a second of work of each piece.
  const SiteQueries patient(north.publication, clock, {}, std::chrono::seconds(60));
  std::promise<Result<std::string>> promise;
  patient.get_map("south", true, [&promise](Result<std::string> json) { promise.set_value(std::move(json)); });
  const Result<std::string> drawn = promise.get_future().get();
  ASSERT_TRUE(drawn) << drawn.error().message;
  EXPECT_TRUE(*drawn == whole);
}

TEST_F(SiteFabricsTest, AStandbyHearsNoCollectors) {
  stand_by = true;
  publish(south, "south", 4);
  const auto collectors = ask(&SiteQueries::list_collectors, v1::ListCollectorsRequest());
  ASSERT_TRUE(collectors);
  EXPECT_EQ(collectors->collectors_size(), 1);
  ASSERT_EQ(collectors->missing_shards_size(), 1);
  EXPECT_EQ(collectors->missing_shards(0), "south");
  publish(north, "north", 2);
  EXPECT_EQ(ask(&SiteQueries::list_collectors, v1::ListCollectorsRequest())->missing_shards_size(), 2);
}

TEST_F(SiteFabricsTest, AStandbyAsksItsLeaderForCollectors) {
  Shard standby(clock);
  stand_by = true;
  publish(standby, "north", 2);
  for (const int size : {0, 1}) {
    v1::ListCollectorsRequest request;
    request.set_page_size(size);
    std::multiset<std::string> hosts;
    do {
      std::promise<Result<v1::ListCollectorsResponse>> promise;
      standby.site.list_collectors(
          request, [&promise](Result<v1::ListCollectorsResponse> page) { promise.set_value(std::move(page)); });
      const auto page = promise.get_future().get();
      ASSERT_TRUE(page) << page.error().message;
      EXPECT_EQ(page->missing_shards_size(), 0);
      for (const auto& each : page->collectors()) hosts.insert(each.shard() + ' ' + each.host());
      request.set_page_token(page->next_page_token());
    } while (!request.page_token().empty() && hosts.size() < 10);
    EXPECT_EQ(hosts, (std::multiset<std::string>{"north host-of-north", "south host-of-south"}));
  }
}

TEST_F(SiteFabricsTest, ACommandAboutANameOfAnotherShardNamesThatShard) {
  for (const char* what : {"host-4", "host-4 mlx5_0", "host-3:1", "host-3 port 1", "0x0000000000000104",
                           "host-4 mlx5_0 port 1 - leaf-1 port 4", "ib-south"}) {
    const Error error = refer(what);
    EXPECT_EQ(error.code, ErrorCode::kFailedPrecondition) << what;
    EXPECT_EQ(error.message, belongs_to_south(what));
  }
  EXPECT_EQ(refer("nobody").code, ErrorCode::kNotFound);
  EXPECT_EQ(refer("nobody").message, "no such thing");
  has_more = true;
  publish_all();
  EXPECT_EQ(refer("nobody").code, ErrorCode::kFailedPrecondition) << "who does not answer may know it";
  const Error one = refer("host-4");
  EXPECT_EQ(one.code, ErrorCode::kFailedPrecondition);
  EXPECT_TRUE(one.owners.empty()) << "it may be another one's";
  EXPECT_EQ(one.message.find("host-4 is a name in shard south: ask " + south.address() +
                             "; it may be one, too, in shards that do not tell: "),
            0U)
      << one.message;
}

// What is done must be done to the one that was meant.
TEST_F(SiteFabricsTest, ACommandAboutANameOfSeveralShardsIsSentToNone) {
  auto snapshot = std::make_shared<Snapshot>(*north.publication.load());
  snapshot->health = std::make_shared<std::vector<NodeHealth>>(
      std::vector<NodeHealth>{make_health("host-4", 0x999, HealthVerdict::kHealthy)});
  north.publication.publish(snapshot);
  const Error error = refer("host-4:99");
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_TRUE(error.owners.empty());
  EXPECT_EQ(error.message, "no such thing. Others know a node of that name: shard south: ask " + south.address());
}

TEST_F(SiteFabricsTest, CommandsAreRefusedOverGrpc) {
  v1::AddMaintenanceRequest work;
  work.set_what("host-4");
  work.set_reason("a test");
  work.mutable_length()->set_seconds(60);
  v1::MaintenanceWindow window;
  using Maintenance = v1::MaintenanceService::Stub;
  grpc::Status refused = call<v1::MaintenanceService>(&Maintenance::Add, work, window);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(refused.error_message(), belongs_to_south("host-4"));
  work.set_what("fabric");
  work.set_fabric("ib-south");
  refused = call<v1::MaintenanceService>(&Maintenance::Add, work, window);
  EXPECT_EQ(refused.error_message(), belongs_to_south("ib-south"));
  work.clear_reason();
  work.set_what("");
  EXPECT_EQ(call<v1::MaintenanceService>(&Maintenance::Add, work, window).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);

  auto snapshot = std::make_shared<Snapshot>(*south.publication.load());
  snapshot->health = std::make_shared<std::vector<NodeHealth>>(
      std::vector<NodeHealth>{make_health("nobody", 0x999, HealthVerdict::kHealthy)});
  south.publication.publish(snapshot);
  v1::DrainNodeRequest drain;
  drain.set_node("nobody");
  drain.set_reason("a test");
  v1::Plan plan;
  refused = call<v1::RemedyService>(&v1::RemedyService::Stub::DrainNode, drain, plan);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(refused.error_message(), belongs_to_south("nobody")) << "north's daemon does not know it";
  drain.set_node("busy");
  EXPECT_EQ(call<v1::RemedyService>(&v1::RemedyService::Stub::DrainNode, drain, plan).error_code(),
            grpc::StatusCode::ALREADY_EXISTS);
}

}  // namespace
}  // namespace weft::api
