// SPDX-License-Identifier: Apache-2.0
#include "api/convert/path.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/fakes/fabric_builder.hpp"

namespace weft::api {
namespace {

constexpr const char* kNear = "host-0-0 mlx5_0";
constexpr const char* kFar = "host-2-1 mlx5_0";

// Two spines, three leaves of two hosts, routed.
class GetPath : public ::testing::Test {
 protected:
  GetPath() : fabric(fakes::FabricBuilder::fat_tree(2, 3, 2)) { fabric.route(); }
  Snapshot snapshot() {
    FabricView view;
    view.name = fabric.name();
    view.sweep = std::make_shared<const Sweep>(fabric.sweep());
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    std::vector<PortRates> rates(fabric.ports().size(), PortRates{kNan, kNan, kNan, kNan, kNan, kNan});
    for (PortIndex port = 0; port < rates.size(); ++port)
      if (fabric.nodes()[fabric.ports()[port].node].name == kNear) {
        rates[port].transmit_bits_per_second = 100e9;
        rates[port].stall_ratio = 0.25;
      }
    view.rates = std::make_shared<const std::vector<PortRates>>(std::move(rates));
    Snapshot result;
    result.fabrics.push_back(std::move(view));
    result.incidents = std::make_shared<const std::vector<std::shared_ptr<const Incident>>>(incidents);
    return result;
  }
  Result<v1::GetPathResponse> ask(const std::string& from, const std::string& to, const std::string& name = {}) {
    v1::GetPathRequest request;
    request.set_from(from);
    request.set_to(to);
    request.set_fabric(name);
    return get_path(snapshot(), request);
  }
  void blame(EntityKind kind, PortKey port, PortKey peer = {}) {
    auto incident = std::make_shared<Incident>();
    incident->id = incidents.size() + 1;
    incident->finding.cause = {kind, fabric.name(), port, peer, "it"};
    incidents.push_back(incident);
  }
  fakes::FabricBuilder fabric;
  std::vector<std::shared_ptr<const Incident>> incidents;
};

TEST_F(GetPath, ShowsEachCableWithItsLoad) {
  const auto answer = ask(kNear, kFar);
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->paths_size(), 1);
  const v1::Path& path = answer->paths(0);
  EXPECT_EQ(path.end(), v1::Path::ARRIVED);
  ASSERT_EQ(path.hops_size(), 4);
  const v1::PathHop& first = path.hops(0);
  EXPECT_EQ(first.from().node(), kNear);
  EXPECT_EQ(first.to().node(), "leaf-0");
  EXPECT_TRUE(first.up());
  EXPECT_EQ(first.width() + " " + first.speed(), "4X HDR");
  EXPECT_DOUBLE_EQ(first.utilization_ratio(), 0.5);
  EXPECT_DOUBLE_EQ(first.stall_ratio(), 0.25);
  EXPECT_FALSE(path.hops(1).has_utilization_ratio()) << "absent is not zero";
}

TEST_F(GetPath, UnderstandsHostsNodesPortsAndLids) {
  const std::string lid = std::to_string(fabric.lid_of(kFar).value);
  for (const std::string& to : {std::string("host-2-1"), std::string(kFar), "lid " + lid, "LID " + lid,
                                std::string(kFar) + " port 1", to_string(fabric.nodes()[fabric.find(kFar)].guid)}) {
    const auto answer = ask("host-0-0", to);
    ASSERT_TRUE(answer) << to << ": " << answer.error().message;
    EXPECT_EQ(answer->paths(0).to().node(), kFar) << to;
  }
  EXPECT_TRUE(ask("leaf-1 port 3", kFar));
  for (const char* bad : {"host-9-9", "lid 4000", "lid ", "lid 99999", "host-2-1 mlx5_0 port 2", "leaf-1 port x"})
    EXPECT_EQ(ask("host-0-0", bad).error().code, ErrorCode::kNotFound) << bad;
  EXPECT_EQ(ask("", kFar).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ask(kNear, kFar, "elsewhere").error().code, ErrorCode::kNotFound);
}

TEST_F(GetPath, TwoHostsAreJoinedRailByRail) {
  fakes::FabricBuilder rails;
  const NodeIndex hub = rails.add_switch("hub", 8);
  std::uint8_t port = 1;
  for (const char* host : {"a", "b"})
    for (const char* rail : {" mlx5_0", " mlx5_1"})
      rails.connect(rails.nodes()[hub].first_port + port++,
                    rails.nodes()[rails.add_adapter(std::string(host) + rail)].first_port);
  rails.route();
  fabric = std::move(rails);
  const auto answer = ask("a", "b");
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->paths_size(), 2);
  for (const v1::Path& path : answer->paths()) EXPECT_EQ(path.from().node().substr(1), path.to().node().substr(1));
}

TEST_F(GetPath, NamesTheIncidentsThatBlameAHop) {
  const PortIndex end = fabric.port_of(kNear, 1);
  const LinkKey link = fabric.link_of(end);
  blame(EntityKind::kLink, link.low, link.high);
  blame(EntityKind::kNode, {fabric.nodes()[fabric.find("leaf-0")].guid, {}});
  blame(EntityKind::kPort, fabric.key_of(fabric.port_of("host-1-0 mlx5_0", 1)));
  const auto answer = ask(kNear, kFar);
  ASSERT_TRUE(answer);
  const v1::Path& path = answer->paths(0);
  ASSERT_EQ(path.hops(0).incident_ids_size(), 2);
  EXPECT_EQ(path.hops(0).incident_ids(0), "INC-1");
  ASSERT_EQ(path.hops(1).incident_ids_size(), 1) << "it leaves the leaf that is blamed";
  EXPECT_EQ(path.hops(3).incident_ids_size(), 0);
}

TEST_F(GetPath, SaysThatItDoesNotArriveAndWhy) {
  fabric.send(fabric.find("leaf-0"), fabric.lid_of(kFar), kNoEgress);
  const auto answer = ask(kNear, kFar);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->paths(0).end(), v1::Path::NO_ROUTE);
  EXPECT_NE(answer->paths(0).description().find("leaf-0 has no route"), std::string::npos);
}

TEST_F(GetPath, BeforeTablesWereReadThatIsSaid) {
  auto unread = fakes::FabricBuilder::fat_tree(2, 3, 2);
  for (PortIndex port = 0; port < unread.ports().size(); ++port)
    unread.port(port).lid = Lid{static_cast<std::uint16_t>(port + 1)};
  fabric = std::move(unread);
  EXPECT_EQ(ask(kNear, kFar).error().code, ErrorCode::kFailedPrecondition);
}

}  // namespace
}  // namespace weft::api
