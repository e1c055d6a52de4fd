// SPDX-License-Identifier: Apache-2.0
// What users ask for over HTTP: plans and incidents, and who may.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/access/gate.hpp"
#include "api/http/commands.hpp"
#include "api/http/router.hpp"
#include "api/publication/publication.hpp"
#include "api/site/site_queries.hpp"
#include "tests/unit/api/acceptance_commands.hpp"
#include "tests/unit/api/small_plans.hpp"

namespace weft::api {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class FakeIncidents final : public AcceptanceCommands {
 public:
  void acknowledge(std::uint64_t incident, std::string who, Callback callback) override {
    if (incident != 1) return callback(fail(ErrorCode::kNotFound, "no such incident"));
    Incident changed = make_incident(1, IncidentState::kAcknowledged, 2);
    changed.acknowledged_by = std::move(who);
    callback(changed);
  }
  void silence(std::uint64_t incident, TimePoint until, std::string, Callback callback) override {
    Incident changed = make_incident(incident, IncidentState::kOpen, 2);
    changed.silenced_until = until;
    callback(changed);
  }
  void add_maintenance(MaintenanceWindow window, MaintenanceCallback callback) override {
    window.id = 3;
    callback(window);
  }
  void end_maintenance(std::uint64_t id, std::string who, MaintenanceCallback callback) override {
    MaintenanceWindow window;
    window.id = id;
    window.ended_by = std::move(who);
    callback(window);
  }
};

class HttpCommands : public ::testing::Test {
 protected:
  HttpCommands() {
    publication.publish(with_plans(make_snapshot(1, {SmallFabric(2).build()}, {make_incident(1)},
                                                 {make_health("host-1 mlx5_0", 0x101, HealthVerdict::kHealthy)}),
                                   {make_plan(1)}));
  }
  HttpReply send(HttpRequest request, access::Gate* gate = nullptr) {
    request.peer = "192.0.2.7:4711";
    HttpReply reply;
    reply.status = 0;
    Router(publication, clock, {}, {&incidents, &remedies, gate}).answer(request, [&reply](HttpReply answered) {
      reply = std::move(answered);
    });
    return reply;
  }
  static HttpRequest post_request(const std::string& target, const std::string& body) {
    HttpRequest request{"POST", target, "", ""};
    request.host = "127.0.0.1:9640";
    request.content_type = "application/json; charset=utf-8";
    request.body = body;
    return request;
  }
  HttpReply post(const std::string& target, const std::string& body) { return send(post_request(target, body)); }

  json answer_of(const std::string& target, const std::string& body) {
    const HttpReply reply = post(target, body);
    EXPECT_EQ(reply.status, 200) << reply.body;
    return json::parse(reply.body);
  }

  Publication publication;
  StillClock clock;
  FakeIncidents incidents;
  FakeRemedies remedies;
};

TEST_F(HttpCommands, DoWhatGrpcDoes) {
  const HttpReply approved = post("/api/v1/plans/PLAN-1/approve", R"({"revision":"5","who":"ann"})");
  EXPECT_EQ(approved.status, 200U) << approved.body;
  EXPECT_EQ(json::parse(approved.body)["state"], "APPROVED");
  EXPECT_EQ(remedies.last().who, "ann");
  EXPECT_EQ(json::parse(post("/api/v1/plans/1/abort", R"({"reason":"wrong cable"})").body)["state"], "ROLLING_BACK");
  EXPECT_EQ(json::parse(post("/api/v1/plans/1/reject", R"({"id":"1","reason":"not now"})").body)["state"], "REJECTED");
  EXPECT_EQ(remedies.last().why, "not now");
  EXPECT_EQ(remedies.last().who, "192.0.2.7:4711") << "where nobody is known and nobody says";
  EXPECT_EQ(json::parse(post("/api/v1/incidents/INC-1/acknowledge", "").body)["state"], "ACKNOWLEDGED");
  EXPECT_EQ(post("/api/v1/incidents/INC-1/silence", R"({"until":"2100-01-01T00:00:00Z"})").status, 200U);
  EXPECT_EQ(post("/api/v1/remedy/hands-off", R"({"handsOff":true,"reason":"a storm of plans","who":"ann"})").status,
            200U);
  EXPECT_EQ(remedies.last().why, "a storm of plans");
  EXPECT_EQ(remedies.last().who, "ann");
  EXPECT_EQ(post("/api/v1/remedy/hands-off", R"({"handsOff":true})").status, 400U) << "it takes a reason";
}

TEST_F(HttpCommands, MaintenanceOfWhatAnotherShardHasNamesThatShard) {
  auto snapshot = std::make_shared<Snapshot>(*publication.load());
  auto of_site = std::make_shared<Site>();
  of_site->own = "north";
  of_site->shards = {{"north", 1, "n", 1, {"127.0.0.1:1"}, {"ib0"}, {}},
                     {"south", 2, "s", 1, {"127.0.0.1:1"}, {"ib-south"}, {}}};
  snapshot->site = of_site;
  publication.publish(snapshot);
  SiteQueries site{publication, clock, {}};
  const auto add = [&](const std::string& what) {
    HttpRequest request;
    request.method = "POST";
    request.target = "/api/v1/maintenance";
    request.content_type = "application/json";
    request.body = what;
    HttpReply reply;
    Router(publication, clock, {}, {&incidents, &remedies, nullptr, {}, &site})
        .answer(request, [&reply](HttpReply answered) { reply = std::move(answered); });
    return reply;
  };
  for (const char* what : {R"({"what":"ib-south","length":"60s","reason":"x"})",
                           R"({"what":"fabric","fabric":"ib-south","length":"60s","reason":"x"})"}) {
    const HttpReply refused = add(what);
    EXPECT_EQ(json::parse(refused.body)["code"], "FAILED_PRECONDITION") << refused.body;
    EXPECT_NE(refused.body.find("ib-south belongs to shard south"), std::string::npos) << refused.body;
  }
  EXPECT_EQ(add(R"({"what":"host-1 mlx5_0","length":"60s","reason":"x"})").status, 200U);
}

TEST_F(HttpCommands, OpenAndEndMaintenance) {
  const HttpReply added =
      post("/api/v1/maintenance", R"({"what":"host-1 mlx5_0","length":"3600s","reason":"new cables","who":"ann"})");
  EXPECT_EQ(added.status, 200U) << added.body;
  const json window = json::parse(added.body);
  EXPECT_EQ(window["id"], "MW-3");
  EXPECT_EQ(window["reason"], "new cables");
  EXPECT_EQ(window["addedBy"], "ann");
  EXPECT_EQ(post("/api/v1/maintenance", R"({"what":"host-9","length":"3600s"})").status, 404U);
  EXPECT_EQ(post("/api/v1/maintenance", R"({"what":"host-1 mlx5_0"})").status, 400U) << "it takes a length";
  EXPECT_EQ(post("/api/v1/maintenance", R"({"what":"host-1 mlx5_0","length":"60s","reason":"a\nb"})").status, 400U);
  EXPECT_EQ(json::parse(post("/api/v1/maintenance/MW-3/end", "{}").body)["id"], "MW-3");
  EXPECT_EQ(post("/api/v1/maintenance/window/end", "{}").status, 400U);
}

TEST_F(HttpCommands, SayWhatIsWrong) {
  EXPECT_EQ(post("/api/v1/plans/PLAN-1/approve", R"({"revision":4})").status, 409U) << "another revision";
  EXPECT_EQ(post("/api/v1/plans/PLAN-2/approve", "{}").status, 409U) << "a guard refuses";
  EXPECT_EQ(post("/api/v1/plans/PLAN-9/approve", "{}").status, 404U);
  EXPECT_EQ(post("/api/v1/incidents/INC-9/acknowledge", "{}").status, 404U);
  for (const auto& [target, body] : {std::pair{"/api/v1/plans/x/approve", "{}"},
                                     {"/api/v1/plans/1/approve", R"({"id":"2"})"},
                                     {"/api/v1/plans/1/approve", R"({"id":)"},
                                     {"/api/v1/plans/1/approve", "[]"},
                                     {"/api/v1/plans/1/approve", R"({"force":true})"},
                                     {"/api/v1/plans/1/reject", "{}"},
                                     {"/api/v1/plans/1/abort", "{}"},
                                     {"/api/v1/plans/1/reject", R"({"reason":" "})"},
                                     {"/api/v1/incidents/1/silence", "{}"},
                                     {"/api/v1/incidents/1/silence", R"({"until":"1980-01-01T00:00:00Z"})"},
                                     {"/api/v1/incidents/1/silence", R"({"until":"tomorrow"})"}}) {
    const HttpReply reply = post(target, body);
    EXPECT_EQ(reply.status, 400U) << target << ' ' << body;
    EXPECT_EQ(json::parse(reply.body)["code"], "INVALID_ARGUMENT");
  }
  EXPECT_EQ(post("/api/v1/plans/1/burn", "{}").status, 404U);
  const HttpReply not_here = post("/api/v1/plans/1", "{}");
  EXPECT_EQ(not_here.status, 405U);
  EXPECT_THAT(not_here.headers, ::testing::Contains(std::pair<std::string, std::string>("Allow", "GET, HEAD")));
  EXPECT_EQ(send({"GET", "/api/v1/plans/1/approve", "", ""}).status, 405U);
}

TEST_F(HttpCommands, NothingIsReadIntoHandsOffThatIsNotThere) {
  for (const char* body :
       {R"({"reason":"stop it"})", R"({"handsOff":null,"reason":"stop it"})", R"({"who":"ann","reason":"x"})"}) {
    const HttpReply reply = post("/api/v1/remedy/hands-off", body);
    EXPECT_EQ(reply.status, 400U) << body;
    EXPECT_THAT(reply.body, HasSubstr("handsOff is required")) << body;
  }
  EXPECT_EQ(remedies.times(), 0U) << "automation does not go on";
  EXPECT_EQ(post("/api/v1/remedy/hands-off", R"({"handsOff":false,"reason":"done"})").status, 200U);
  EXPECT_EQ(post("/api/v1/remedy/hands-off", R"({"hands_off":true,"reason":"done"})").status, 200U);
}

TEST_F(HttpCommands, NoKeyStandsThereTwice) {
  for (const auto& [target, body] :
       {std::pair{"/api/v1/remedy/hands-off", R"({"handsOff":true,"handsOff":false,"reason":"x"})"},
        {"/api/v1/remedy/hands-off", R"({"handsOff":true,"hands_off":false,"reason":"x"})"},
        {"/api/v1/plans/1/reject", R"({"reason":"a","reason":"b"})"},
        {"/api/v1/maintenance", R"({"what":"host-1 mlx5_0","what":"fabric","length":"60s","reason":"x"})"}}) {
    const HttpReply reply = post(target, body);
    EXPECT_EQ(reply.status, 400U) << body << ' ' << reply.body;
  }
  EXPECT_EQ(remedies.times(), 0U);
}

TEST_F(HttpCommands, OfOtherSitesAreRefused) {
  HttpRequest request = post_request("/api/v1/plans/1/approve", "{}");
  request.content_type = "text/plain";
  EXPECT_EQ(send(request).status, 400U) << "a form can send it";
  request.content_type = "application/json";
  request.origin = "http://127.0.0.1:9640";
  EXPECT_EQ(send(request).status, 200U);
  for (const char* origin :
       {"http://evil.example", "http://127.0.0.1", "http://127.0.0.1:96400", "null", "127.0.0.1:9640"}) {
    request.origin = origin;
    EXPECT_EQ(send(request).status, 403U) << origin;
  }
}

TEST_F(HttpCommands, WithoutSecurityAreRefused) {
  access::Gate gate(clock, {});
  gate.change({.tokens = {}, .certificates = {}, .anybody_reads = true});
  EXPECT_EQ(send(post_request("/api/v1/plans/1/approve", R"({"who":"cto"})"), &gate).status, 403U);
  EXPECT_EQ(remedies.times(), 0U);
  EXPECT_EQ(send({"GET", "/api/v1/plans", "", ""}, &gate).status, 200U);
  EXPECT_EQ(json::parse(send({"GET", "/api/v1/whoami", "", ""}, &gate).body),
            (json{{"name", "anybody"}, {"role", "viewer"}}));
}

TEST_F(HttpCommands, AreForThoseWhoMay) {
  access::Gate gate(clock, {});
  gate.change(
      {.tokens =
           {{.name = "ann", .role = access::Role::kOperator, .node = {}, .hash = access::sha256("a"), .expires = {}},
            {.name = "vic", .role = access::Role::kViewer, .node = {}, .hash = access::sha256("v"), .expires = {}}},
       .certificates = {},
       .requests_per_second = 0});
  HttpRequest request = post_request("/api/v1/plans/1/approve", R"({"who":"somebody else"})");
  request.host = "weft.example";
  const HttpReply unknown = send(request, &gate);
  EXPECT_EQ(unknown.status, 401U);
  EXPECT_EQ(unknown.headers.front().first, "WWW-Authenticate");
  request.authorization = "Bearer v";
  EXPECT_EQ(send(request, &gate).status, 403U);
  request.authorization = "Bearer a";
  EXPECT_EQ(send(request, &gate).status, 200U);
  EXPECT_EQ(remedies.last().who, "ann, for somebody else") << "who he says he is stands beside it";
  request.origin = "https://evil.example";
  EXPECT_EQ(send(request, &gate).status, 403U) << "also with a token";
  EXPECT_EQ(gate.figures().denied, 2U);
  HttpRequest whoami{"GET", "/api/v1/whoami", "", ""};
  EXPECT_EQ(send(whoami, &gate).status, 401U);
  whoami.authorization = "Bearer v";
  EXPECT_EQ(json::parse(send(whoami, &gate).body), (json{{"name", "vic"}, {"role", "viewer"}}));
}

TEST_F(HttpCommands, EveryRouteOfTheTableIsServedAndRefusedWithoutRights) {
  access::Gate gate(clock, {});
  for (const access::Permission& route : access::http_permissions()) {
    const std::string method(route.method.substr(0, route.method.find(' ')));
    std::string path(route.method.substr(method.size() + 1));
    for (const auto& [place, example] :
         {std::pair<std::string, std::string>{"{node...}", "host-1%20mlx5_0"}, {"{id}", "1"}})
      if (const std::size_t at = path.find(place); at != std::string::npos) path.replace(at, place.size(), example);
    HttpRequest request = post_request(path, "{}");
    request.method = method;
    const HttpReply reply = send(request);
    EXPECT_THAT(reply.body, ::testing::Not(HasSubstr("no such path"))) << route.method;
    EXPECT_NE(reply.status, 0U) << route.method;
    EXPECT_EQ(send(request, &gate).status == 401U, route.right != access::Right::kNone) << route.method;
  }
}

TEST_F(HttpCommands, AnswersOfASiteSayWhoseTheyAre) {
  const std::vector<std::pair<std::string, std::string>> commands = {
      {"/api/v1/plans/PLAN-1/approve", "{}"},
      {"/api/v1/incidents/INC-1/acknowledge", "{}"},
      {"/api/v1/maintenance", R"({"what": "leaf-1", "reason": "r", "length": "60s"})"},
      {"/api/v1/maintenance/MW-3/end", "{}"}};
  for (const auto& [target, body] : commands) EXPECT_EQ(answer_of(target, body)["shard"], "") << target;
  auto snapshot = std::make_shared<Snapshot>(*publication.load());
  auto site = std::make_shared<Site>();
  site->own = "north";
  snapshot->site = site;
  publication.publish(snapshot);
  for (const auto& [target, body] : commands) EXPECT_EQ(answer_of(target, body)["shard"], "north") << target;
}

}  // namespace
}  // namespace weft::api
