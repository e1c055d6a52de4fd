// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "api/http/router.hpp"
#include "api/publication/publication.hpp"
#include "tests/unit/api/http/wire.hpp"
#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

using nlohmann::json;

class CollectorsOverHttp : public ::testing::Test {
 protected:
  json collectors(const std::string& query) {
    const HttpReply reply = Router(publication, clock, {}).handle({"GET", "/api/v1/collectors" + query, "", ""});
    std::string body = reply.body;
    for (std::string piece; reply.stream && reply.stream(piece);) body += piece;
    return json::parse(body)["collectors"];
  }

  Publication publication;
  StillClock clock;
};

TEST_F(CollectorsOverHttp, TheCollectorOfOneHost) {
  auto snapshot = make_snapshot(1, {SmallFabric(2).build()});
  auto hosts = std::make_shared<std::vector<std::shared_ptr<const HostView>>>();
  for (const char* name : {"host-1", "host-2", "host-22"}) {
    auto host = std::make_shared<HostView>();
    host->host = name;
    hosts->push_back(host);
  }
  snapshot->hosts = hosts;
  publication.publish(snapshot);
  const auto asked = [&](const std::string& query) {
    std::vector<std::string> names;
    for (const json& each : collectors(query)) names.push_back(each["host"]);
    return names;
  };
  EXPECT_EQ(asked("").size(), 3U);
  EXPECT_EQ(asked("?host=host-2"), std::vector<std::string>{"host-2"});
  EXPECT_TRUE(asked("?host=nobody").empty());
}

TEST_F(CollectorsOverHttp, WhatACollectorReadLast) {
  auto inventory = std::make_shared<HostInventory>();
  inventory->series.push_back({.device = "mlx5_1", .port = 1, .name = "module_temperature"});
  inventory->series.push_back({.device = "mlx5_1", .port = 1, .name = "module_receive_power", .lane = 2});
  inventory->series.push_back({.device = "mlx5_1", .port = 1, .name = "module_supply"});
  inventory->series.push_back({.device = "mlx5_1", .port = 1, .name = "vendor_thing", .is_raw = true});
  auto reading = std::make_shared<HostReading>();
  reading->inventory = inventory;
  reading->values = {41'500, 812'000, 0, 5};
  reading->present = {1, 1, 0, 1};
  auto host = std::make_shared<HostView>();
  host->host = "host-1";
  host->reading = reading;
  auto snapshot = make_snapshot(1, {SmallFabric(2).build()});
  snapshot->hosts = std::make_shared<std::vector<std::shared_ptr<const HostView>>>(1, host);
  publication.publish(snapshot);
  const auto ports = [&](const std::string& query) { return collectors(query)[0]["ports"]; };
  EXPECT_TRUE(ports("").empty()) << "only when asked: there are thousands of hosts";
  const json shown = ports("?readings=1");
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0]["device"], "mlx5_1");
  ASSERT_EQ(shown[0]["counters"].size(), 2U) << "what was not read is absent, and a name without a unit";
  EXPECT_EQ(shown[0]["counters"][0]["value"], "41500");
  EXPECT_EQ(shown[0]["counters"][1]["instance"], 2);
  EXPECT_EQ(shown[0]["counters"][1]["unit"], "nanowatts");
}

}  // namespace
}  // namespace weft::api
