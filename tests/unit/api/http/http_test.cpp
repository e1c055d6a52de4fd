// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "api/http/router.hpp"
#include "api/http/server.hpp"
#include "api/publication/publication.hpp"
#include "tests/unit/api/http/wire.hpp"
#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string body_of(const std::string& answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? std::string() : answer.substr(end + 4);
}

/// A chunked body put together; fails the test when its framing is wrong.
std::string unchunked(const std::string& answer) {
  std::string rest = body_of(answer);
  std::string body;
  for (;;) {
    const std::size_t line = rest.find("\r\n");
    if (line == std::string::npos) {
      ADD_FAILURE() << "a chunk is torn";
      return body;
    }
    const std::size_t length = std::stoul(rest.substr(0, line), nullptr, 16);
    if (rest.size() < line + 2 + length + 2) {
      ADD_FAILURE() << "the end is missing";
      return body;
    }
    body += rest.substr(line + 2, length);
    rest.erase(0, line + 2 + length + 2);
    if (length == 0) return body;
  }
}

class Http : public ::testing::Test {
 protected:
  void start(HttpOptions options = {}) {
    options.port = 0;
    auto started = HttpServer::start(options, publication, clock, {});
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(*started);
  }
  std::string ask(const std::string& text) const {
    const Wire wire(server->port());
    wire.say(text);
    return wire.hear_all();
  }
  std::string get(const std::string& path, const std::string& headers = "") const {
    return ask("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers + "\r\n");
  }
  void publish_small() {
    SmallFabric fabric(2);
    fabric.nodes[0].name = "MF0;rack/U1 <b>";
    fabric.set(1, CounterId::kSymbolErrors, 0);
    publication.publish(make_snapshot(
        1, {fabric.build()},
        {make_incident(1), make_incident(2, IncidentState::kAcknowledged), make_incident(3, IncidentState::kResolved)},
        {make_health("host-1", 0x101, HealthVerdict::kDegraded)}));
  }
  HttpReply route(const std::string& target, const std::string& method = "GET") {
    return Router(publication, clock, {}).handle({method, target, "", ""});
  }
  static std::string whole(const HttpReply& reply) {
    if (!reply.stream) return reply.body;
    std::string body;
    std::string piece;
    while (reply.stream(piece)) body += piece;
    return body;
  }

  Publication publication;
  StillClock clock;
  std::unique_ptr<HttpServer> server;
};

TEST_F(Http, ATakenPortIsSaidSo) {
  start();
  HttpOptions options;
  options.port = server->port();
  const auto second = HttpServer::start(options, publication, clock, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(second.error().message, HasSubstr("Address already in use"));
}

TEST_F(Http, ReadyOnlyWithAPicture) {
  start();
  EXPECT_THAT(get("/healthz"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(get("/readyz"), StartsWith("HTTP/1.1 503"));
  publish_small();
  EXPECT_THAT(get("/readyz"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Http, AScrapeMayAskForGroups) {
  publish_small();
  const std::string some = whole(route("/metrics?collect[]=errors&collect%5B%5D=incidents"));
  EXPECT_THAT(some, AllOf(HasSubstr("weft_port_symbol_errors_total{"), HasSubstr("weft_incidents{"),
                          Not(HasSubstr("weft_port_up{")), Not(HasSubstr("weft_store_ok"))));
  const HttpReply refused = route("/metrics?collect[]=errors&collect[]=cpu");
  EXPECT_EQ(refused.status, 400U);
  EXPECT_THAT(refused.body, AllOf(HasSubstr("'cpu' is no group of metrics"), HasSubstr("fabrics, incidents, plans")));
}

TEST_F(Http, AScrapeMayAskForTheNamesOfAnExporter) {
  publish_small();
  const std::string page = whole(route("/metrics?names=infiniband_exporter"));
  EXPECT_THAT(page,
              AllOf(HasSubstr("infiniband_switch_port_symbol_error_total{guid=\"0x0000000000000010\",port=\"1\"} 0"),
                    Not(HasSubstr("weft_"))));
  EXPECT_THAT(whole(route("/metrics?names=infiniband_exporter&collect[]=ports")),
              AllOf(HasSubstr("infiniband_switch_uplink_info{"), Not(HasSubstr("symbol_error"))));
  const HttpReply elsewhere = route("/metrics?names=node_exporter");
  EXPECT_EQ(elsewhere.status, 400U);
  EXPECT_THAT(elsewhere.body, HasSubstr("names=node_exporter is on weft-collector's /metrics"));
  const HttpReply unknown = route("/metrics?names=telegraf");
  EXPECT_EQ(unknown.status, 400U);
  EXPECT_THAT(unknown.body, HasSubstr("there are no names 'telegraf'; there are names=node_exporter"));
  EXPECT_EQ(route("/metrics?names=infiniband_exporter&names=infiniband_exporter").status, 400U);
}

TEST_F(Http, GroupsThatAreNotConfiguredAreRefused) {
  publish_small();
  HttpCommandTargets desks;
  desks.groups = MetricGroups();
  desks.groups.add(MetricGroup::kErrors);
  const Router router(publication, clock, {}, desks);
  EXPECT_THAT(whole(router.handle({"GET", "/metrics", "", ""})),
              AllOf(HasSubstr("weft_port_symbol_errors_total{"), Not(HasSubstr("weft_incidents{"))));
  const HttpReply refused = router.handle({"GET", "/metrics?collect[]=ports", "", ""});
  EXPECT_EQ(refused.status, 400U);
  EXPECT_THAT(refused.body, HasSubstr("the group 'ports' is not in metrics.groups, which are errors"));
}

TEST_F(Http, WhoAsksForALeaderGetsOneThatHoldsItsLease) {
  publish_small();
  start();
  EXPECT_THAT(get("/readyz?role=leader"), StartsWith("HTTP/1.1 200")) << "one with a database of its own always leads";
  EXPECT_THAT(get("/api/v1/incidents"), Not(HasSubstr("weft-role")));
  for (const char* path : {"/readyz?role=king", "/readyz?rol=leader", "/readyz?role=", "/readyz?role=leader&verbose=1"})
    EXPECT_THAT(get(path), StartsWith("HTTP/1.1 400")) << path;
  Snapshot standby = *publication.load();
  standby.leadership = {.is_shared = true,
                        .leads = false,
                        .is_held = false,
                        .epoch = 7,
                        .leader = "a, process 1",
                        .address = "a:50051",
                        .since = kNever,
                        .silence = std::chrono::seconds(1),
                        .behind = std::chrono::seconds(2),
                        .trouble = "its commits wait"};
  publication.publish(std::make_shared<const Snapshot>(standby));
  EXPECT_THAT(get("/readyz"), StartsWith("HTTP/1.1 200")) << "it is warm";
  const std::string reply = get("/readyz?role=leader");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(reply, HasSubstr("standby: a, process 1 leads at a:50051"));
  EXPECT_THAT(unchunked(get("/metrics")), HasSubstr("\nweft_leader 0\n"));
  EXPECT_THAT(get("/"), AllOf(StartsWith("HTTP/1.1 302"), Not(HasSubstr("weft-role")))) << "the page asks by itself";
  for (const char* path : {"/api/v1/incidents", "/api/v1/nodes", "/api/v1/incidents/INC-99"})
    EXPECT_THAT(get(path), HasSubstr("\r\nweft-role: standby\r\nweft-behind: 2\r\nweft-troubled: 1\r\n")) << path;
  standby.leadership.leads = true;
  publication.publish(std::make_shared<const Snapshot>(standby));
  EXPECT_THAT(get("/readyz?role=leader"), StartsWith("HTTP/1.1 503")) << "it does not hold its lease";
  EXPECT_THAT(get("/api/v1/incidents"), AllOf(HasSubstr("\r\nweft-role: leader\r\n"), Not(HasSubstr("weft-behind"))));
  standby.leadership.is_held = true;
  standby.taken = clock.now() - std::chrono::seconds(4);
  publication.publish(std::make_shared<const Snapshot>(standby));
  EXPECT_THAT(get("/readyz?role=leader"), StartsWith("HTTP/1.1 503")) << "it has just woken";
  standby.taken = clock.now();
  publication.publish(std::make_shared<const Snapshot>(standby));
  EXPECT_THAT(get("/readyz?role=leader"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(unchunked(get("/metrics")), Not(HasSubstr("weft_standby_seen"))) << "it is not known";
  for (const auto& [seen, value] : {std::pair{"b, process 2", 1}, {"", 0}}) {
    standby.leadership.standby = StandbyView{seen, std::chrono::seconds(2)};
    publication.publish(std::make_shared<const Snapshot>(standby));
    EXPECT_THAT(unchunked(get("/metrics")), HasSubstr("\nweft_standby_seen " + std::to_string(value) + "\n"));
  }
  standby.leadership.standby = StandbyView{"b, process 2", std::chrono::seconds(11)};
  publication.publish(std::make_shared<const Snapshot>(standby));
  EXPECT_THAT(unchunked(get("/metrics")), HasSubstr("\nweft_standby_seen 0\n")) << "it hangs";
}

TEST_F(Http, MetricsInBothFormatsAndChunked) {
  publish_small();
  start();
  const std::string text = get("/metrics");
  EXPECT_THAT(text, HasSubstr("text/plain; version=0.0.4"));
  EXPECT_THAT(unchunked(text), HasSubstr("\nweft_port_up{"));
  const std::string open = get("/metrics", "Accept: application/openmetrics-text;version=1.0.0\r\n");
  EXPECT_THAT(open, HasSubstr("application/openmetrics-text; version=1.0.0"));
  EXPECT_TRUE(unchunked(open).ends_with("# EOF\n"));
  const std::string packed = get("/metrics", "Accept-Encoding: gzip\r\n");
  EXPECT_THAT(packed, HasSubstr("Content-Encoding: gzip"));
  EXPECT_THAT(unchunked(packed), StartsWith("\x1f\x8b"));
  const std::string old = ask("GET /metrics HTTP/1.0\r\n\r\n");
  EXPECT_THAT(old, Not(HasSubstr("chunked")));
  EXPECT_TRUE(body_of(old).starts_with("# HELP weft_"));
  EXPECT_EQ(body_of(old), unchunked(text));
}

TEST_F(Http, JsonIsProtobufsMapping) {
  publish_small();
  const json ports = json::parse(whole(route("/api/v1/ports?node=0x10")));
  ASSERT_EQ(ports["ports"].size(), 4U);
  const json& port = ports["ports"][1];
  EXPECT_EQ(port["nodeGuid"], "0x0000000000000010");
  EXPECT_EQ(port["state"], "ACTIVE");
  EXPECT_EQ(port["physicalState"], "LINK_UP");
  EXPECT_EQ(port["peer"]["node"], "host-1 mlx5_0");
  EXPECT_EQ(port["stale"], false) << "fields that hold zero are printed";
  ASSERT_EQ(port["counters"].size(), 1U);
  EXPECT_EQ(port["counters"][0]["value"], "0");
  EXPECT_FALSE(port["counters"][0].contains("instance"));
  EXPECT_FALSE(port["rates"].contains("stallRatio")) << "not known is not there";

  const json incident = json::parse(whole(route("/api/v1/incidents/INC-1")));
  EXPECT_EQ(incident["kind"], "LINK_DOWN");
  EXPECT_EQ(incident["severity"], "CRITICAL");
  EXPECT_EQ(incident["state"], "OPEN");
  EXPECT_EQ(incident["cause"]["kind"], "LINK");
  EXPECT_EQ(incident["cause"]["peerGuid"], "0x0000000000000101");
  EXPECT_FALSE(incident.contains("resolved"));
  EXPECT_FALSE(incident["evidence"][0].contains("window")) << "a state has none";
  EXPECT_TRUE(incident["waiting"].empty());
  const json health = json::parse(whole(route("/api/v1/nodes/host-1%20mlx5_0/health")));
  EXPECT_EQ(health["verdict"], "DEGRADED");
  EXPECT_EQ(health["recommendedAction"], "NONE");
  const json status = json::parse(whole(route("/api/v1/fabrics")));
  EXPECT_EQ(status["fabrics"][0]["linksUp"], 2);
  const json topology = json::parse(whole(route("/api/v1/topology")));
  EXPECT_EQ(topology["nodes"].size(), 3U);
  EXPECT_EQ(topology["ports"].size(), 6U);
  EXPECT_EQ(topology["links"].size(), 2U);
}

TEST_F(Http, AnIncidentSaysWhoWaitsForWhom) {
  Incident incident = make_incident(1);
  incident.finding.evidence[0].window = std::chrono::milliseconds(1500);
  const auto port = [](std::uint8_t number, const char* label) {
    return Entity{EntityKind::kPort, "ib0", {{kLeaf}, {number}}, {}, label};
  };
  incident.finding.waiting.links = {{port(1, "leaf-1 port 1"), "host-1 mlx5_0 port 1", std::nullopt, 0.5, 0.25},
                                    {port(2, "leaf-1 port 2"), "x", 0, 0.125, 1}};
  incident.finding.waiting.total = 38;
  publication.publish(make_snapshot(1, {}, {incident}));
  const json told = json::parse(whole(route("/api/v1/incidents/INC-1")));
  EXPECT_EQ(told["evidence"][0]["window"], "1.500s");
  EXPECT_EQ(told["waitingTotal"], "38");
  ASSERT_EQ(told["waiting"].size(), 2U);
  EXPECT_EQ(told["waiting"][0]["sender"]["label"], "leaf-1 port 1");
  EXPECT_EQ(told["waiting"][0]["towards"], "host-1 mlx5_0 port 1");
  EXPECT_EQ(told["waiting"][0]["stallRatio"], 0.5);
  EXPECT_EQ(told["waiting"][0]["utilizationRatio"], 0.25);
  EXPECT_FALSE(told["waiting"][0].contains("waitsFor")) << "here the waiting ends";
  EXPECT_EQ(told["waiting"][1]["waitsFor"], 0);
}

TEST_F(Http, NodesAreFoundByAnyOfTheirNames) {
  publish_small();
  for (const char* name : {"0x10", "MF0;rack/U1%20%3Cb%3E", "MF0%3Brack%2FU1%20%3Cb%3E"})
    EXPECT_EQ(json::parse(whole(route(std::string("/api/v1/nodes/") + name)))["nodes"][0]["guid"], "0x0000000000000010")
        << name;
  EXPECT_EQ(route("/api/v1/nodes/nobody").status, 404U);
  EXPECT_EQ(route("/api/v1/nodes/nobody/health").status, 404U);
  EXPECT_EQ(route("/api/v1/ports?node=nobody").status, 404U);
  EXPECT_EQ(json::parse(whole(route("/api/v1/ports?node=host-1+mlx5_0")))["ports"].size(), 1U);
}

TEST_F(Http, IncidentsByState) {
  publish_small();
  const auto count = [&](const std::string& query) {
    return json::parse(whole(route("/api/v1/incidents" + query)))["incidents"].size();
  };
  EXPECT_EQ(count(""), 3U);
  EXPECT_EQ(count("?state=open"), 2U) << "an acknowledged one goes on";
  EXPECT_EQ(count("?state=acknowledged"), 1U);
  EXPECT_EQ(count("?state=resolved"), 1U);
  EXPECT_EQ(route("/api/v1/incidents?state=new").status, 400U);
  EXPECT_EQ(route("/api/v1/incidents/INC-99").status, 404U);
  EXPECT_EQ(route("/api/v1/incidents/bogus").status, 400U);
}

TEST_F(Http, ErrorsAreJson) {
  publish_small();
  const HttpReply missing = route("/api/v1/wishes");
  EXPECT_EQ(missing.status, 404U);
  EXPECT_EQ(json::parse(missing.body)["code"], "NOT_FOUND");
  EXPECT_FALSE(json::parse(missing.body)["message"].get<std::string>().empty());
  EXPECT_EQ(route("/metrics", "POST").status, 405U);
  EXPECT_EQ(route("/api/v1/nodes?page_size=x").status, 400U);
  EXPECT_EQ(route("/api/v1/nodes?page_token=x").status, 400U);
  EXPECT_EQ(route("/api/v1/nodes?a=1&a=2").status, 400U);
  EXPECT_EQ(route("/api/v1/nodes?contain=host").status, 400U) << "a misspelt condition must not give all";
  EXPECT_EQ(route("/api/v1/nodes?fabric=other").status, 404U);
  EXPECT_EQ(route("/%zz").status, 400U);
  EXPECT_EQ(route("/%00").status, 400U);
  EXPECT_EQ(route("*").status, 400U);
  EXPECT_EQ(route("/nothing").status, 404U);
}

TEST_F(Http, LongListsAreWholeWithoutPagesAndPagedWhenAsked) {
  std::vector<FabricView> views;
  for (int i = 0; i < 3; ++i) views.push_back(SmallFabric(200, "ib" + std::to_string(i)).build());
  std::vector<NodeHealth> health;
  for (int i = 0; i < 500; ++i)
    health.push_back(
        make_health("n" + std::to_string(1000 + i / 2), static_cast<std::uint64_t>(i), HealthVerdict::kUnknown));
  publication.publish(make_snapshot(1, views, {}, health));
  for (const auto& [path, list, count] : {std::tuple{"nodes", "nodes", 603U},
                                          {"ports", "ports", 1206U},
                                          {"links", "links", 600U},
                                          {"health", "nodes", 500U}}) {
    const HttpReply reply = route(std::string("/api/v1/") + path);
    EXPECT_TRUE(reply.stream) << path;
    const json all = json::parse(whole(reply));
    EXPECT_EQ(all[list].size(), count) << path;
    EXPECT_EQ(all["nextPageToken"], "");
    std::size_t paged = 0;
    std::string token;
    do {
      const json page = json::parse(whole(route(std::string("/api/v1/") + path + "?page_size=33&page_token=" + token)));
      EXPECT_LE(page[list].size(), 33U);
      paged += page[list].size();
      token = page["nextPageToken"];
    } while (!token.empty());
    EXPECT_EQ(paged, count) << path;
  }
  const json topology = json::parse(whole(route("/api/v1/topology")));
  EXPECT_EQ(topology["nodes"].size(), 603U);
  EXPECT_EQ(topology["ports"].size(), 1206U);
  EXPECT_EQ(topology["links"].size(), 600U);
}

TEST_F(Http, ThePageShowsWhatIsOpenAndEscapesIt) {
  publish_small();
  SmallFabric fabric(1);
  Incident incident = make_incident(9);
  incident.finding.summary = "<script>alert(1)</script>";
  publication.publish(make_snapshot(2, {fabric.build()}, {incident}));
  const std::string page = route("/plain").body;
  EXPECT_THAT(page, HasSubstr("INC-9"));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST_F(Http, ThePlainPageSaysThatItIsOfOneShard) {
  const auto snapshot = make_snapshot(2, {SmallFabric(1).build()}, {});
  auto site = std::make_shared<Site>();
  site->own = "north";
  site->shards.push_back({"north", 1, {}, 0});
  snapshot->site = site;
  publication.publish(snapshot);
  EXPECT_THAT(route("/plain").body, Not(HasSubstr("shard")));
  auto two = std::make_shared<Site>(*site);
  two->shards.push_back({"south", 2, {}, 0});
  const auto later = std::make_shared<Snapshot>(*snapshot);
  later->site = two;
  publication.publish(later);
  EXPECT_THAT(route("/plain").body, HasSubstr("Of shard north alone; other shards of the site: south."));
}

TEST_F(Http, ThePageShowsTheWorstSeverityBesideThePresentOne) {
  SmallFabric fabric(1);
  Incident incident = make_incident(9);
  incident.finding.severity = incident.worst_severity = Severity::kWarning;
  publication.publish(make_snapshot(1, {fabric.build()}, {incident}));
  EXPECT_THAT(route("/plain").body, Not(HasSubstr("worst")));
  incident.worst_severity = Severity::kCritical;
  publication.publish(make_snapshot(2, {fabric.build()}, {incident}));
  EXPECT_THAT(route("/plain").body, HasSubstr("worst CRITICAL"));
}

TEST_F(Http, ThePageShowsTheAgeOfTheLastOpening) {
  SmallFabric fabric(1);
  Incident incident = make_incident(9);
  incident.opened = clock.now() - std::chrono::hours(3);
  publication.publish(make_snapshot(1, {fabric.build()}, {incident}));
  EXPECT_THAT(route("/plain").body, HasSubstr("<td>3 h ago</td>"));
  incident.timeline = {{.at = incident.opened, .change = IncidentChange::kOpened, .text = ""},
                       {.at = clock.now() - std::chrono::seconds(36), .change = IncidentChange::kReopened, .text = ""},
                       {.at = clock.now(), .change = IncidentChange::kUpdated, .text = ""}};
  publication.publish(make_snapshot(2, {fabric.build()}, {incident}));
  EXPECT_THAT(route("/plain").body, HasSubstr("<td>36 s ago</td>"));
}

TEST_F(Http, ThePageShowsThatAnIncidentIsSilenced) {
  SmallFabric fabric(1);
  Incident incident = make_incident(9);
  publication.publish(make_snapshot(1, {fabric.build()}, {incident}));
  EXPECT_THAT(route("/plain").body, HasSubstr("<td>OPEN</td>"));
  incident.silenced_until = clock.now() + std::chrono::hours(1);
  publication.publish(make_snapshot(2, {fabric.build()}, {incident}));
  EXPECT_THAT(route("/plain").body, HasSubstr("<td>OPEN (silenced until "));
}

TEST_F(Http, HeadHasNoBodyAndConnectionsAreKept) {
  publish_small();
  start();
  const Wire wire(server->port());
  wire.say("HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string first = wire.hear_until("\r\n\r\n");
  EXPECT_THAT(first, HasSubstr("Content-Length: 3"));
  EXPECT_THAT(wire.hear_until("ok\n"), StartsWith("HTTP/1.1 200"));
  wire.say("HEAD /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(wire.hear_all().ends_with("\r\n\r\n"));
}

TEST_F(Http, BadRequestsEndWithAReasonOrNotAtAll) {
  start();
  EXPECT_THAT(ask("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask("GET / HTTP/1.1\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n"), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(ask("POST / HTTP/1.1\r\nContent-Length: 10000000\r\n\r\n"), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(ask("DELETE /api/v1/nodes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), StartsWith("HTTP/1.1 405"));
}

TEST_F(Http, DawdlersAreCutOff) {
  HttpOptions options;
  options.request_timeout = std::chrono::milliseconds(200);
  start(options);
  const Wire wire(server->port());
  wire.say("GET / HT");
  EXPECT_EQ(wire.hear_all(), "") << "closed without an answer";
}

TEST_F(Http, TooManyConnectionsAreRefused) {
  HttpOptions options;
  options.max_connections = 1;
  start(options);
  const Wire first(server->port());
  first.say("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(first.hear_until("ok\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Wire(server->port()).hear_all(), StartsWith("HTTP/1.1 503"));
}

TEST_F(Http, AScrapeNobodyReadsHoldsUpNoOtherAndStopsWithTheServer) {
  std::vector<FabricView> views;
  for (int i = 0; i < 40; ++i) {
    SmallFabric fabric(200, "ib" + std::to_string(i));
    for (Node& node : fabric.nodes) node.guid.value += static_cast<std::uint64_t>(i) << 32;
    for (PortIndex port = 0; port < fabric.ports.size(); ++port)
      for (const CounterId id : fabric.counters.counters()) fabric.set(port, id, 1);
    views.push_back(fabric.build());
  }
  publication.publish(make_snapshot(1, views));
  HttpOptions options;
  options.max_streams = 2;
  options.max_streams_per_address = 1;
  start(options);
  const Wire sleeper(server->port());
  sleeper.say("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(sleeper.hear_until("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(get("/healthz"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(get("/metrics"), StartsWith("HTTP/1.1 503")) << "one at a time, as configured";
  const auto scrape_from = [this](const Wire& wire) {
    wire.say("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    return wire.hear_until("\r\n\r\n");
  };
  const Wire other(server->port(), 2);
  EXPECT_THAT(scrape_from(other), StartsWith("HTTP/1.1 200")) << "another address has its turn";
  EXPECT_THAT(scrape_from(Wire(server->port(), 3)), StartsWith("HTTP/1.1 503")) << "two of all addresses";
  server->stop();
  server.reset();
}

TEST_F(Http, ManyNodesAndJobsByParametersOfOneName) {
  publish_small();
  const HttpReply many = route("/api/v1/health?node=nobody&node=host-1&node=host-1");
  EXPECT_EQ(many.status, 200U);
  const auto nodes = nlohmann::json::parse(whole(many))["nodes"];
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0]["verdict"], "UNKNOWN");
  EXPECT_EQ(nodes[1]["node"], "host-1");
  EXPECT_EQ(nodes[2]["verdict"], "DEGRADED");
  EXPECT_EQ(nlohmann::json::parse(whole(route("/api/v1/health")))["nodes"].size(), 1U)
      << "without names all, as before";
  const auto job = nlohmann::json::parse(whole(route("/api/v1/jobs/slurm%3A7/health?node=host-1")));
  EXPECT_EQ(job["job"], "slurm:7");
  EXPECT_EQ(job["verdict"], "DEGRADED");
  EXPECT_EQ(route("/api/v1/jobs/slurm:7/health").status, 404U);
  EXPECT_EQ(route("/api/v1/ports?node=host-1&node=host-2").status, 400U) << "one only, and not the first of two";
  EXPECT_EQ(route("/api/v1/path?from=a&from=b&to=c").status, 400U);
}

}  // namespace
}  // namespace weft::api
