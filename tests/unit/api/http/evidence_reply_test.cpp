// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/http/router.hpp"
#include "api/publication/evidence_source.hpp"
#include "api/publication/publication.hpp"
#include "tests/unit/api/small_plans.hpp"

namespace weft::api {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class EvidenceReply : public ::testing::Test {
 protected:
  EvidenceReply() {
    SmallFabric fabric(2);
    fabric.nodes[0].name = "MF0;rack/7";
    Incident incident = make_incident(1, IncidentState::kAcknowledged);
    incident.acknowledged_by = "zelda";
    publication.publish(make_snapshot(1, {fabric.build()}, {incident}));
    source.version = "1.2.3";
  }
  HttpReply ask(const std::string& target) {
    std::optional<HttpReply> reply;
    Router(publication, clock, {}, {.evidence = &source}).answer({"GET", target, "", ""}, [&](HttpReply got) {
      reply = std::move(got);
    });
    return reply.value_or(HttpReply());
  }
  static std::string header(const HttpReply& reply, const std::string& name) {
    const auto found = std::ranges::find(reply.headers, name, &std::pair<std::string, std::string>::first);
    return found == reply.headers.end() ? "" : found->second;
  }
  Publication publication;
  StillClock clock;
  EvidenceSource source;
};

TEST_F(EvidenceReply, IsAFileToKeep) {
  const HttpReply reply = ask("/api/v1/incidents/INC-1/evidence");
  EXPECT_EQ(reply.status, 200U);
  EXPECT_EQ(reply.content_type, "text/html; charset=utf-8");
  EXPECT_EQ(header(reply, "Content-Disposition"), "attachment; filename=\"weft-INC-1.html\"");
  EXPECT_THAT(header(reply, "Content-Security-Policy"), HasSubstr("default-src 'none'"));
  EXPECT_THAT(reply.body, HasSubstr("weftd 1.2.3"));
  EXPECT_THAT(reply.body, Not(HasSubstr("zelda")));
  EXPECT_THAT(
      json::parse(ask("/api/v1/incidents/INC-1/evidence?jobs=1&format=json").body)["incident"]["acknowledgedBy"],
      "zelda");
}

TEST_F(EvidenceReply, AsJsonItIsWhatTheDocumentWasMadeFrom) {
  const HttpReply reply = ask("/api/v1/incidents/1/evidence?format=json");
  EXPECT_EQ(reply.status, 200U);
  EXPECT_EQ(reply.content_type, "application/json");
  const json body = json::parse(reply.body);
  EXPECT_EQ(body["incident"]["id"], "INC-1");
  EXPECT_EQ(body["html"], "");
  EXPECT_EQ(body["ports"].size(), 2U);
}

TEST_F(EvidenceReply, APortIsAlsoASegmentAndANameMayHaveSlashes) {
  EXPECT_EQ(json::parse(ask("/api/v1/ports/MF0;rack/7/2/evidence?format=json").body)["title"], "MF0;rack/7 port 2");
  EXPECT_EQ(json::parse(ask("/api/v1/ports/MF0;rack/7/evidence?format=json").body)["title"], "MF0;rack/7");
  EXPECT_EQ(header(ask("/api/v1/ports/MF0;rack/7/evidence"), "Content-Disposition"),
            "attachment; filename=\"weft-MF0-rack-7.html\"");
}

TEST_F(EvidenceReply, SaysWhatIsWrong) {
  for (const auto& [target, status] : {std::pair{"incidents/INC-9/evidence", 404U},
                                       {"incidents/x/evidence", 400U},
                                       {"ports/nobody/1/evidence", 404U},
                                       {"incidents/INC-1/evidence?format=pdf", 400U},
                                       {"incidents/INC-1/evidence?from=0", 400U},
                                       {"ports/host-1%20mlx5_0/evidence?from=yesterday", 400U},
                                       {"incidents/INC-1/evidences", 404U}})
    EXPECT_EQ(ask(std::string("/api/v1/") + target).status, status) << target;
}

}  // namespace
}  // namespace weft::api
