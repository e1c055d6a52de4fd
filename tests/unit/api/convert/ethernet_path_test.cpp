// SPDX-License-Identifier: Apache-2.0
// Paths through an Ethernet fabric: all equal ways at once.
#include <gtest/gtest.h>

#include <limits>

#include "api/convert/path.hpp"
#include "tests/fakes/ethernet_fabric.hpp"

namespace weft::api {
namespace {

// Four spines, two leaves, two hosts on each.
class GetEthernetPath : public ::testing::Test {
 protected:
  GetEthernetPath() : fabric(fakes::EthernetFabric::leaf_spine(4, 2, 2)) {}
  Snapshot snapshot() {
    FabricView view;
    view.name = fabric.name();
    Sweep sweep = fabric.sweep();
    if (unknown_ways) sweep.multipath = nullptr;
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    std::vector<PortRates> rates(sweep.topology->ports().size(), PortRates{kNan, kNan, kNan, kNan, kNan, kNan});
    rates[fakes::EthernetFabric::find(*sweep.topology, "leaf01 swp50")].transmit_bits_per_second = 100e9;
    rates[fakes::EthernetFabric::find(*sweep.topology, "leaf01 swp50")].stall_ratio = 0.5;
    view.sweep = std::make_shared<const Sweep>(std::move(sweep));
    view.rates = std::make_shared<const std::vector<PortRates>>(std::move(rates));
    Snapshot result;
    result.fabrics.push_back(std::move(view));
    result.incidents = std::make_shared<const std::vector<std::shared_ptr<const Incident>>>(incidents);
    return result;
  }
  Result<v1::GetPathResponse> ask(const std::string& from, const std::string& to) {
    v1::GetPathRequest request;
    request.set_from(from);
    request.set_to(to);
    return get_path(snapshot(), request);
  }
  fakes::EthernetFabric fabric;
  bool unknown_ways = false;
  std::vector<std::shared_ptr<const Incident>> incidents;
};

TEST_F(GetEthernetPath, HasAllWaysWithTheirSharesAndLoads) {
  const auto answer = ask("gpu-01", "gpu-03");
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->paths_size(), 1);
  const v1::Path& path = answer->paths(0);
  EXPECT_EQ(path.end(), v1::Path::ARRIVED);
  EXPECT_EQ(path.ways(), 4U);
  EXPECT_EQ(path.from().node(), "gpu-01 eth2");
  EXPECT_EQ(path.from().name(), "eth2");
  EXPECT_EQ(path.to_lid(), 0U);
  EXPECT_EQ(path.description(), "4 ECMP paths");
  ASSERT_EQ(path.hops_size(), 10);
  const v1::PathHop& second = path.hops(2);
  EXPECT_EQ(second.from().node() + " " + second.from().name(), "leaf01 swp50");
  EXPECT_EQ(second.to().node() + " " + second.to().name(), "spine02 swp1");
  EXPECT_DOUBLE_EQ(second.share(), 0.25);
  EXPECT_EQ(second.stage(), 2U);
  EXPECT_TRUE(second.up());
  EXPECT_FALSE(second.state_unknown());
  EXPECT_EQ(second.rate_bits_per_second(), 400e9);
  EXPECT_TRUE(second.width().empty() && second.speed().empty()) << "those are InfiniBand's";
  EXPECT_DOUBLE_EQ(second.utilization_ratio(), 0.25);
  EXPECT_DOUBLE_EQ(second.stall_ratio(), 0.5);
  EXPECT_FALSE(path.hops(1).has_utilization_ratio()) << "absent is not zero";
  EXPECT_DOUBLE_EQ(path.hops(9).share(), 1);
}

TEST_F(GetEthernetPath, UnderstandsHostsInterfacesSwitchesAndTheirPorts) {
  for (const char* to : {"gpu-03", "gpu-03 eth2", "gpu-03:eth2"}) {
    const auto answer = ask("gpu-01 eth2", to);
    ASSERT_TRUE(answer) << to << ": " << answer.error().message;
    EXPECT_EQ(answer->paths(0).to().node(), "gpu-03 eth2") << to;
  }
  const auto of_switches = ask("leaf01", "leaf02 swp1");
  ASSERT_TRUE(of_switches) << of_switches.error().message;
  EXPECT_EQ(of_switches->paths(0).hops_size(), 8);
  EXPECT_EQ(of_switches->paths(0).to().name(), "swp1");
  for (const char* bad : {"gpu-09", "leaf01 swp9", "lid 3", "leaf01 port 1"})
    EXPECT_EQ(ask("gpu-01", bad).error().code, ErrorCode::kNotFound) << bad;
  EXPECT_EQ(ask("spine01", "spine02").error().code, ErrorCode::kFailedPrecondition);
}

TEST_F(GetEthernetPath, TwoHostsAreJoinedRailByRail) {
  for (const char* host : {"gpu-01", "gpu-03"}) fabric.cable("leaf03", std::string("swp-") + host, host, "eth3");
  const auto answer = ask("gpu-01", "gpu-03");
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->paths_size(), 2);
  for (const v1::Path& path : answer->paths()) EXPECT_EQ(path.from().name(), path.to().name());
  EXPECT_EQ(answer->paths(1).hops_size(), 2);
}

TEST_F(GetEthernetPath, MarksWhatIsDownUnreadOrBlamed) {
  fabric.set_state("leaf01 swp49", PortState::kDown);
  fabric.set_state("leaf01 swp51", PortState::kUnknown);
  const auto topology = fabric.topology();
  auto incident = std::make_shared<Incident>();
  incident->id = 7;
  const LinkKey blamed = *topology->link_of(fakes::EthernetFabric::find(*topology, "leaf02 swp52"));
  incident->finding.cause = {EntityKind::kLink, fabric.name(), blamed.low, blamed.high, "it"};
  incidents.push_back(incident);
  const auto answer = ask("gpu-01", "gpu-03");
  ASSERT_TRUE(answer);
  const v1::Path& path = answer->paths(0);
  EXPECT_EQ(path.ways(), 3U);
  ASSERT_EQ(path.hops_size(), 9);
  EXPECT_EQ(path.hops(1).from().name(), "swp49");
  EXPECT_FALSE(path.hops(1).up());
  EXPECT_FALSE(path.hops(1).state_unknown());
  EXPECT_EQ(path.hops(1).share(), 0);
  EXPECT_FALSE(path.hops(3).up());
  EXPECT_TRUE(path.hops(3).state_unknown());
  EXPECT_NEAR(path.hops(3).share(), 1.0 / 3, 1e-12);
  ASSERT_EQ(path.hops(7).from().node(), "spine04");
  ASSERT_EQ(path.hops(7).incident_ids_size(), 1);
  EXPECT_EQ(path.hops(7).incident_ids(0), "INC-7");
}

TEST_F(GetEthernetPath, SaysThatNothingArrives) {
  fabric.set_state("gpu-03 eth2", PortState::kDown);
  const auto answer = ask("gpu-01", "gpu-03");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->paths(0).end(), v1::Path::LINK_DOWN);
  EXPECT_EQ(answer->paths(0).description(), "the link of gpu-03 eth2 is down");
  EXPECT_EQ(answer->paths(0).ways(), 0U);
  unknown_ways = true;
  EXPECT_EQ(ask("gpu-01", "gpu-03").error().code, ErrorCode::kFailedPrecondition);
}

TEST_F(GetEthernetPath, AnswersAreBounded) {
  // 24 rails under different names on either side: each goes with each, of which only the equal ones are shown.
  fabric = fakes::EthernetFabric();
  for (int i = 10; i < 34; ++i) {
    fabric.cable("leaf01", "swp" + std::to_string(i), "gpu-01", "rail" + std::to_string(i));
    fabric.cable("leaf01", "swp" + std::to_string(i + 100), "gpu-02", "rail" + std::to_string(i));
  }
  fabric.cable("leaf01", "swp50", "spine02", "swp1");
  EXPECT_EQ(ask("gpu-01", "gpu-02")->paths_size(), 24);
  EXPECT_EQ(ask("gpu-01", "gpu-02")->paths_left_out(), 0U);
  // 300 interfaces of a host to one end.
  fabric = fakes::EthernetFabric();
  fabric.cable("leaf01", "swp50", "spine02", "swp1");
  for (int i = 100; i < 300; ++i) fabric.cable("leaf01", "swp" + std::to_string(i), "gpu-01", "e" + std::to_string(i));
  for (int i = 300; i < 400; ++i) fabric.cable("leaf02", "swp" + std::to_string(i), "gpu-01", "e" + std::to_string(i));
  const auto many = ask("gpu-01", "leaf01");
  ASSERT_TRUE(many);
  EXPECT_EQ(many->paths_size(), 256);
  EXPECT_EQ(many->paths_left_out(), 44U);
}

}  // namespace
}  // namespace weft::api
