// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "api/http/router.hpp"
#include "api/publication/history_desk.hpp"
#include "api/publication/publication.hpp"
#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;

/// Remembers what it is asked, and answers when it is told to.
struct Desk final : HistoryDesk {
  void read(HistoryQuestion asked, Callback take) override {
    question = std::move(asked);
    callback = std::move(take);
  }
  void read_stall(StallQuestion asked, StallCallback take) override {
    stall_question = std::move(asked);
    stall_callback = std::move(take);
  }
  std::optional<HistoryQuestion> question;
  Callback callback;
  std::optional<StallQuestion> stall_question;
  StallCallback stall_callback;
};

class HistoryReply : public ::testing::Test {
 protected:
  HistoryReply() {
    SmallFabric fabric(2);
    fabric.nodes[0].name = "MF0;rack/7";
    publication.publish(make_snapshot(1, {fabric.build()}));
  }
  void ask(const std::string& target) {
    reply.reset();
    desk.question.reset();
    Router(publication, clock, {}, {.history = &desk}).answer({"GET", target, "", ""}, [this](HttpReply got) {
      reply = std::move(got);
    });
  }
  Publication publication;
  StillClock clock;
  Desk desk;
  std::optional<HttpReply> reply;
};

TEST_F(HistoryReply, ComesWhenTheDiskHasAnswered) {
  ask("/api/v1/ports/host-1%20mlx5_0:1/history?points=24&counters=symbol_errors,link_downed&still=1");
  ASSERT_FALSE(reply);
  ASSERT_TRUE(desk.question);
  EXPECT_EQ(desk.question->ports, (std::vector<PortKey>{{{0x101}, {1}}}));
  EXPECT_EQ(desk.question->counters, (std::vector<CounterId>{CounterId::kSymbolErrors, CounterId::kLinkDowned}));
  EXPECT_EQ(desk.question->step, 1h);
  desk.callback(HistoryAnswer{1h, {{{{0x101}, {1}}, {{CounterId::kSymbolErrors, false, 5, {{3, 5, 1h, 0.1}}}}}}});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200U);
  const json body = json::parse(reply->body);
  EXPECT_EQ(body["ports"][0]["counters"][0]["bucket"], json::array({3}));
  EXPECT_EQ(body["ports"][0]["counters"][0]["total"], "5");
}

TEST_F(HistoryReply, APortIsAlsoASegmentAndANameMayHaveSlashes) {
  ask("/api/v1/ports/MF0;rack/7/2/history");
  ASSERT_TRUE(desk.question) << reply->body;
  EXPECT_EQ(desk.question->ports, (std::vector<PortKey>{{{kLeaf}, {2}}}));
  ask("/api/v1/ports/MF0;rack/7/history");
  ASSERT_TRUE(desk.question);
  EXPECT_EQ(desk.question->ports.size(), 4U);
}

TEST_F(HistoryReply, TimesAreRfc3339OrSeconds) {
  ask("/api/v1/ports/host-1%20mlx5_0/history?from=1699990000&to=2023-11-14T21:00:00Z");
  ASSERT_TRUE(desk.question) << reply->body;
  EXPECT_LE(desk.question->from, TimePoint(1699990000s));
  EXPECT_EQ(desk.question->to, TimePoint(1699995600s));
  ask("/api/v1/ports/host-1%20mlx5_0/history?from=yesterday");
  EXPECT_EQ(reply->status, 400U);
  EXPECT_THAT(reply->body, HasSubstr("from must be a time such as"));
}

TEST_F(HistoryReply, TheSwitchesOfAFabricAreOneAnswer) {
  ask("/api/v1/switches/stall?fabric=ib0&points=24&rows=10");
  ASSERT_FALSE(reply);
  ASSERT_TRUE(desk.stall_question);
  EXPECT_EQ(desk.stall_question->rows, 1U);
  EXPECT_EQ(desk.stall_question->step, 1h);
  desk.stall_callback(StallAnswer{1h, 1, {{0.25, {{kLeaf}, {2}}, {{3, 0.25}}}}});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200U);
  const json row = json::parse(reply->body)["rows"][0];
  EXPECT_EQ(row["node"], "MF0;rack/7");
  EXPECT_EQ(row["worstPort"], 2);
  EXPECT_EQ(row["bucketShare"], json::array({0.25}));
  for (const auto& [target, status] : {std::pair{"?fabric=ib9", 404U}, {"?rows=x", 400U}, {"?rows=1001", 400U}}) {
    ask(std::string("/api/v1/switches/stall") + target);
    ASSERT_TRUE(reply) << target;
    EXPECT_EQ(reply->status, status) << target;
  }
}

TEST_F(HistoryReply, SaysWhatIsWrong) {
  ask("/api/v1/ports/host-9/history");
  EXPECT_EQ(reply->status, 404U);
  ask("/api/v1/ports/host-1%20mlx5_0/history?counters=nothing");
  EXPECT_EQ(reply->status, 400U);
  ask("/api/v1/ports/host-1%20mlx5_0/history");
  desk.callback(fail(ErrorCode::kResourceExhausted, "too many"));
  EXPECT_EQ(reply->status, 503U);
  HttpReply without;
  Router(publication, clock, {}).answer({"GET", "/api/v1/ports/host-1%20mlx5_0/history", "", ""}, [&](HttpReply got) {
    without = std::move(got);
  });
  EXPECT_EQ(without.status, 503U);
}

}  // namespace
}  // namespace weft::api
