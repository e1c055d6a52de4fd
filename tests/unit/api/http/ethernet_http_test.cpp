// SPDX-License-Identifier: Apache-2.0
// What the page and scripts get of an Ethernet fabric.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/convert/fabric_map.hpp"
#include "api/http/router.hpp"
#include "api/publication/publication.hpp"
#include "tests/fakes/ethernet_fabric.hpp"
#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

using fakes::EthernetFabric;
using nlohmann::json;

// Two spines, two leaves, a host on each; the second leaf's uplinks are read by nobody, the first's to spine02 is down.
class EthernetPages : public ::testing::Test {
 protected:
  EthernetPages() {
    auto fabric = EthernetFabric::leaf_spine(2, 2, 1);
    fabric.set_state("leaf01 swp50", PortState::kDown);
    fabric.set_state("leaf02 swp49", PortState::kUnknown);
    fabric.set_state("leaf02 swp50", PortState::kUnknown);
    FabricView view;
    view.name = fabric.name();
    view.watching = true;
    view.sweep = std::make_shared<const Sweep>(fabric.sweep());
    snapshot = std::make_shared<Snapshot>();
    snapshot->revision = 1;
    snapshot->taken = kNow;
    snapshot->fabrics.push_back(std::move(view));
    snapshot->health = std::make_shared<const std::vector<NodeHealth>>();
    publication.publish(snapshot);
  }
  json ask(const std::string& target) {
    HttpReply reply = Router(publication, clock, {}, {}).handle({"GET", target, "", ""});
    EXPECT_EQ(reply.status, 200U) << reply.body;
    std::string body = reply.body, piece;
    while (reply.stream && reply.stream(piece)) body += piece;
    return json::parse(body);
  }
  std::shared_ptr<Snapshot> snapshot;
  Publication publication;
  StillClock clock;
};

TEST_F(EthernetPages, TheMapHasInterfacesAsAdaptersOfTheirHosts) {
  const json map = json::parse(fabric_map(*snapshot))["fabrics"][0];
  const auto at = [&](const char* name) {
    const auto names = map["names"].get<std::vector<std::string>>();
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  };
  EXPECT_EQ(map["fabric"], "ethernet");
  EXPECT_EQ(map["hosts"][at("gpu-01 eth2")], "gpu-01");
  EXPECT_EQ(map["types"].get<std::string>()[at("gpu-01 eth2")], 'C');
  EXPECT_EQ(map["types"].get<std::string>()[at("spine02")], 'S');
  const auto ends = map["ends"].get<std::vector<std::string>>();
  ASSERT_EQ(ends.size() * 2, map["links"].size()) << "a name for each end";
  EXPECT_TRUE(std::ranges::count(ends, "leaf01 swp1") == 1 && std::ranges::count(ends, "gpu-01 eth2") == 1);
  const json state = json::parse(fabric_map_state(*snapshot, kNow))["fabrics"][0];
  // leaf01's three cables, then what spines have to leaf02, then leaf02's host.
  EXPECT_EQ(state["links"], "uudnnu") << "what nobody reads is neither up nor down";
}

TEST_F(EthernetPages, TheMapIsAnotherWhenAPortIsCalledOtherwise) {
  const auto shape = [](const char* port) {
    EthernetFabric fabric;
    fabric.cable("leaf01", port, "gpu-01", "eth2");
    FabricView view;
    view.sweep = std::make_shared<const Sweep>(fabric.sweep());
    return map_shape(view);
  };
  EXPECT_EQ(shape("swp1"), shape("swp1"));
  EXPECT_NE(shape("swp1"), shape("swp2"));
}

TEST_F(EthernetPages, PathsAndPortsHaveNames) {
  const json path = ask("/api/v1/path?from=gpu-01&to=gpu-02")["paths"][0];
  EXPECT_EQ(path["ways"], 1);
  EXPECT_EQ(path["hops"][0]["to"]["name"], "swp1");
  EXPECT_EQ(path["hops"][0]["share"], 1);
  EXPECT_EQ(path["hops"][2]["share"], 0);
  EXPECT_EQ(path["hops"][2]["from"]["name"], "swp50");
  EXPECT_EQ(path["description"], "one path of 2: the other is cut by links that are down");
  const json ports = ask("/api/v1/ports?node=leaf01")["ports"];
  ASSERT_EQ(ports.size(), 3U) << "without a port 0";
  EXPECT_EQ(ports[0]["name"], "swp1");
  EXPECT_EQ(ports[0]["peer"]["name"], "eth2");
  EXPECT_EQ(ports[0]["width"], "");
  EXPECT_EQ(ports[0]["rateBitsPerSecond"], 400e9);
  const json fabric = ask("/api/v1/status")["fabrics"][0];
  EXPECT_EQ(fabric["linkLayer"], "Ethernet");
  EXPECT_EQ(fabric["linksUnknown"], 2);
  EXPECT_TRUE(fabric["lastSweep"]["requests"].empty());
}

}  // namespace
}  // namespace weft::api
