// SPDX-License-Identifier: Apache-2.0
// The page's files, entity tags, and the map that the page draws.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "api/convert/fabric_map.hpp"
#include "api/http/files.hpp"
#include "api/publication/publication.hpp"
#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr Asset kFiles[] = {
    {"/", "text/html; charset=utf-8", "<p>page</p>", {}, "\"aa\"", false},
    {"/assets/a-1.js", "text/javascript", "let a = 1;", "squeezed", "\"bb\"", true},
    {"/runbooks/", "text/html; charset=utf-8", "<ul></ul>", {}, "\"cc\"", false},
    {"/runbooks/LINK_FLAP", "text/html; charset=utf-8", "<h1>flaps</h1>", {}, "\"dd\"", false},
};

std::string header(const HttpReply& reply, const std::string& name) {
  for (const auto& [key, value] : reply.headers)
    if (key == name) return value;
  return "";
}

std::string whole(const HttpReply& reply) {
  if (!reply.stream) return reply.body;
  std::string body;
  std::string piece;
  while (reply.stream(piece)) body += piece;
  return body;
}

std::string unzipped(const std::string& text) {
  z_stream stream{};
  inflateInit2(&stream, MAX_WBITS + 16);
  std::string in = text;
  std::string out(8 * 1024 * 1024, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

class Page : public ::testing::Test {
 protected:
  HttpReply route(const std::string& target, const std::string& encoding = "", const std::string& tags = "") {
    HttpRequest request{"GET", target, "", encoding};
    request.if_none_match = tags;
    return Router(publication, clock, {}, {.assets = kFiles}).handle(request);
  }
  Publication publication;
  StillClock clock;
};

TEST_F(Page, RunbooksAreServedToEverybodyByTheNameThatAnIncidentHas) {
  const HttpReply reply = route(runbook_path(IncidentKind::kLinkFlap));
  EXPECT_EQ(reply.status, 200U);
  EXPECT_EQ(reply.body, "<h1>flaps</h1>");
  EXPECT_THAT(header(reply, "Content-Security-Policy"), HasSubstr("default-src 'self'"));
  for (const char* path : {"/runbooks", "/runbooks/", "/runbooks/?x=1"})
    EXPECT_EQ(route(path).body, "<ul></ul>") << path;
  for (const char* path : {"/runbooks/LINK_FLAP.md", "/runbooks/link_flap", "/runbooks/../runbooks/LINK_FLAP",
                           "/runbooks/LINK_FLAP/x", "/runbooksx"})
    EXPECT_EQ(route(path).status, 404U) << path;
}

TEST_F(Page, FilesAreServedByNameAndByNothingElse) {
  const HttpReply page = route("/?x=1");
  EXPECT_EQ(page.status, 200U);
  EXPECT_EQ(page.body, "<p>page</p>");
  EXPECT_EQ(header(page, "Cache-Control"), "no-cache");
  EXPECT_THAT(header(page, "Content-Security-Policy"), HasSubstr("default-src 'self'"));
  EXPECT_THAT(header(page, "Content-Security-Policy"), HasSubstr("frame-ancestors 'none'"));
  const HttpReply script = route("/assets/a-1.js", "br, gzip");
  EXPECT_EQ(script.body, "squeezed");
  EXPECT_EQ(header(script, "Content-Encoding"), "gzip");
  EXPECT_THAT(header(script, "Cache-Control"), HasSubstr("immutable"));
  EXPECT_EQ(route("/assets/a-1.js").body, "let a = 1;");
  for (const char* path : {"/assets/", "/assets/a-1.jsx", "/assets/../assets/a-1.js", "/assets/%2e%2e/a-1.js",
                           "/assets/..%2fa-1.js", "//assets/a-1.js", "/index.html", "/etc/passwd"}) {
    const HttpReply refused = route(path);
    EXPECT_EQ(refused.status, 404U) << path;
    EXPECT_EQ(json::parse(refused.body)["code"], "NOT_FOUND") << path;
  }
}

TEST_F(Page, WithoutFilesThePlainPageStandsInForThem) {
  const HttpReply moved = Router(publication, clock, {}).handle({"GET", "/", "", ""});
  EXPECT_EQ(moved.status, 302U);
  EXPECT_EQ(header(moved, "Location"), "/plain");
  EXPECT_THAT(route("/plain").body, HasSubstr("Open incidents"));
}

TEST_F(Page, WithoutAPortItSaysWhyNothingIsMonitored) {
  Snapshot empty;
  empty.no_port = "no active InfiniBand port; do this";
  publication.publish(std::make_shared<const Snapshot>(empty));
  const std::string why = "o fabric is monitored yet: no active InfiniBand port; do this";
  EXPECT_EQ(route("/readyz").body, "not ready: n" + why + '\n');
  EXPECT_EQ(json::parse(route("/api/v1/map/state").body)["notReady"], 'n' + why);
  EXPECT_EQ(json::parse(route("/api/v1/status").body)["notReady"], 'n' + why);
  EXPECT_THAT(route("/plain").body, HasSubstr(">N" + why + ".<"));
}

TEST_F(Page, NodesWithoutFreshDataAreCountedAndNothingLooksGood) {
  SmallFabric fabric(2);
  fabric.set(1, CounterId::kSymbolErrors, 0);
  const auto publish = [&](std::uint64_t revision) {
    auto snapshot = make_snapshot(revision, {fabric.build()}, {}, {});
    snapshot->taken = kNow;
    publication.publish(std::move(snapshot));
    return json::parse(route("/api/v1/status").body)["fabrics"][0]["status"];
  };
  EXPECT_EQ(publish(1), "watching");
  EXPECT_THAT(route("/plain").body, HasSubstr("<span class=\"good\">watching</span>"));
  // Its states are read by another way than its counters.
  fabric.counters.set_read_at(1, kNow - std::chrono::minutes(1));
  EXPECT_EQ(publish(2), "watching; 1 node has no fresh data");
  EXPECT_THAT(route("/plain").body, HasSubstr("<span class=\"WARNING\">watching; 1 node has no fresh data</span>"));
  fabric.state_read_at.assign(fabric.ports.size(), kNow - std::chrono::minutes(1));
  EXPECT_EQ(publish(3), "watching; 3 nodes have no fresh data");
  fabric.nodes[2].reachable = false;
  EXPECT_EQ(publish(4), "watching; 2 nodes have no fresh data") << "the status itself counts who does not answer";
  fabric.view.watching = false;
  fabric.view.status = "the adapter is gone";
  EXPECT_EQ(publish(5), "the adapter is gone");
}

TEST_F(Page, WhoHasItAlreadyIsToldSo) {
  const HttpReply file = route("/", "", "\"zz\", W/\"aa\"");
  EXPECT_EQ(file.status, 304U);
  EXPECT_EQ(file.body, "");
  EXPECT_EQ(header(file, "ETag"), "\"aa\"");
  publication.publish(make_snapshot(1, {SmallFabric(2).build()}, {make_incident(1)}, {}));
  const HttpReply first = route("/api/v1/incidents");
  const std::string tag = header(first, "ETag");
  ASSERT_NE(tag, "");
  const HttpReply again = route("/api/v1/incidents", "", tag);
  EXPECT_EQ(again.status, 304U);
  EXPECT_EQ(again.body, "");
  publication.publish(make_snapshot(2, {SmallFabric(2).build()}, {make_incident(1), make_incident(2)}, {}));
  EXPECT_EQ(route("/api/v1/incidents", "", tag).status, 200U);
  EXPECT_EQ(route("/api/v1/incidents/77", "", "*").status, 404U) << "an error is never 'as before'";
}

TEST_F(Page, JsonIsCompressedWholeOrPieceByPiece) {
  publication.publish(make_snapshot(1, {SmallFabric(200).build()}, {}, {}));
  const HttpReply small = route("/api/v1/map", "gzip");
  ASSERT_FALSE(small.stream);
  EXPECT_EQ(unzipped(small.body), whole(route("/api/v1/map")));
  const HttpReply list = route("/api/v1/nodes", "gzip");
  ASSERT_TRUE(list.stream);
  EXPECT_EQ(unzipped(whole(list)), whole(route("/api/v1/nodes")));
  HttpReply large;
  large.body = std::string(1'500'000, 'x') + "end";
  const HttpReply squeezed = finish_reply({"GET", "/", "", "gzip"}, large);
  ASSERT_TRUE(squeezed.stream);
  EXPECT_EQ(unzipped(whole(squeezed)), large.body);
}

TEST(FabricMap, NamesWhatThereIsByPosition) {
  SmallFabric fabric(2);
  fabric.nodes[1].name = "a \"b\"\\\n\xff";
  const auto snapshot = make_snapshot(1, {fabric.build()}, {}, {});
  const json map = json::parse(fabric_map(*snapshot))["fabrics"][0];
  EXPECT_EQ(map["fabric"], "ib0");
  EXPECT_EQ(map["types"], "SCC");
  EXPECT_EQ(map["names"][1], "a \"b\"\\\n\xEF\xBF\xBD");
  EXPECT_EQ(map["guids"][0], "0x0000000000000010");
  EXPECT_EQ(map["links"], json::parse("[0,1,1,1,0,2,2,1]"));
  EXPECT_EQ(map["shape"], map_shape(snapshot->fabrics[0]));
}

TEST(FabricMap, NamesPodsAndRailsWhereThereAre) {
  SmallFabric fabric(2);
  FabricView view = fabric.build();
  EXPECT_FALSE(json::parse(fabric_map(*make_snapshot(1, {view}, {}, {})))["fabrics"][0].contains("pods"));
  const std::string before = map_shape(view);
  auto places = std::make_shared<Places>();
  places->pod_names = {"a", "b"};
  places->pods = {1, kNoIndex, 0};
  places->rails.assign(fabric.ports.size(), kNoIndex);
  view.places = places;
  const json without_rails = json::parse(fabric_map(*make_snapshot(1, {view}, {}, {})))["fabrics"][0];
  EXPECT_EQ(without_rails["pods"], json::parse("[\"a\",\"b\"]"));
  EXPECT_EQ(without_rails["podOf"], json::parse("[1,-1,0]"));
  EXPECT_FALSE(without_rails.contains("rails"));
  EXPECT_NE(map_shape(view), before);
  // Each adapter is of a rail of its own, so that their switch is of none.
  places->rail_names = {"0", "1"};
  for (const PortIndex port : {1U, 2U}) places->rails[port] = places->rails[fabric.ports[port].peer] = port - 1;
  const json with_rails = json::parse(fabric_map(*make_snapshot(1, {view}, {}, {})))["fabrics"][0];
  EXPECT_EQ(with_rails["rails"], json::parse("[\"0\",\"1\"]"));
  EXPECT_EQ(with_rails["railOf"], json::parse("[-1,0,1]"));
}

TEST(FabricMap, TheShapeChangesWithCablesAndNames) {
  SmallFabric fabric(2);
  const std::string before = map_shape(fabric.build());
  EXPECT_EQ(map_shape(SmallFabric(2).build()), before);
  fabric.nodes[1].name = "other";
  EXPECT_NE(map_shape(fabric.build()), before);
  EXPECT_NE(map_shape(SmallFabric(3).build()), before);
}

TEST(FabricMap, OneLetterTellsHowEachIs) {
  SmallFabric fabric(4);
  const auto now = kNow;
  fabric.rates[1].stall_ratio = 0.5;  // the switch's end of the first link; the adapter's is not known
  fabric.rates[1].error_rate = 1e-12;
  fabric.rates[fabric.ports[1].peer].utilization_ratio = 0.75;
  fabric.rates[1].utilization_ratio = 0.25;
  fabric.rates[2].stall_ratio = 0;
  fabric.rates[2].error_rate = 0;
  // The second adapter's end was not read for long, and the switch says that the link is down; of the third nobody is
  // sure.
  const PortIndex second = fabric.nodes[2].first_port;
  const PortIndex third = fabric.nodes[3].first_port;
  fabric.state_read_at[second] = fabric.state_read_at[third] = now - std::chrono::hours(1);
  SmallFabric::take_down(fabric.ports[2]);
  fabric.nodes[4].reachable = false;
  const auto snapshot = make_snapshot(
      1, {fabric.build()}, {},
      {make_health("host-1", 0x101, HealthVerdict::kHealthy), make_health("host-2", 0x102, HealthVerdict::kUnhealthy),
       make_health("leaf-1", kLeaf, HealthVerdict::kDegraded)});
  const json state = json::parse(fabric_map_state(*snapshot, now))["fabrics"][0];
  EXPECT_EQ(state["nodes"], "dhbux");
  EXPECT_EQ(state["links"], "udsu");
  EXPECT_EQ(state["traffic"], "v---");
  EXPECT_EQ(state["stall"], "g---");
  EXPECT_EQ(state["errors"], "I---");
  EXPECT_EQ(state["shape"], map_shape(snapshot->fabrics[0]));
}

TEST(FabricMap, DigitsKeepToTheirBounds) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(share_digit(nan), '-');
  EXPECT_EQ(share_digit(0), 'A');
  EXPECT_EQ(share_digit(1), '/');
  EXPECT_EQ(share_digit(7), '/');
  EXPECT_EQ(error_digit(nan), '-');
  EXPECT_EQ(error_digit(0), 'A');
  EXPECT_EQ(error_digit(1e-300), 'B');
  EXPECT_EQ(error_digit(1e-12), 'I');
  EXPECT_EQ(error_digit(std::numeric_limits<double>::infinity()), 'U');
}

TEST_F(Page, AWeftdOnItsOwnDrawsNoOtherShard) {
  EXPECT_EQ(route("/api/v1/map").status, 200U);
  EXPECT_EQ(route("/api/v1/map?shard=south").status, 404U);
  EXPECT_EQ(route("/api/v1/map/state?shard=south").status, 404U);
  auto snapshot = std::make_shared<Snapshot>();
  auto site = std::make_shared<Site>();
  site->own = "south";
  site->shards = {{"south", 1, "", 1, {}, {}, {}}};
  snapshot->site = site;
  publication.publish(snapshot);
  EXPECT_EQ(route("/api/v1/map/state?shard=south").status, 200U);
  EXPECT_EQ(route("/api/v1/map/state?shard=north").status, 404U);
}

TEST(FabricMap, BeforeTheFirstSweepThereIsNothing) {
  EXPECT_EQ(fabric_map(Snapshot{}), "{\"fabrics\":[]}");
  FabricView empty;
  empty.name = "ib0";
  empty.status = "waiting";
  Snapshot snapshot;
  snapshot.fabrics = {empty};
  EXPECT_EQ(fabric_map(snapshot), "{\"fabrics\":[]}");
  const json state = json::parse(fabric_map_state(snapshot, kNow));
  EXPECT_EQ(state["ready"], false);
  EXPECT_EQ(state["fabrics"][0]["status"], "waiting");
  EXPECT_FALSE(state["fabrics"][0].contains("nodes"));
}

}  // namespace
}  // namespace weft::api
