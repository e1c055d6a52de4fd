// SPDX-License-Identifier: Apache-2.0
#include "api/convert/stall_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/convert/times.hpp"
#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

Result<StallMapQuestion> ask(const v1::GetStallMapRequest& request, std::vector<FabricView> fabrics) {
  return parse_stall_map(make_snapshot(1, std::move(fabrics)), request, kNow);
}

/// A fabric of three switches, leaf-1 to leaf-3 (GUIDs 0x10 to 0x12), and its adapters.
FabricView three_switches() {
  SmallFabric fabric(2);
  for (unsigned number = 2; number <= 3; ++number) {
    Node leaf = fabric.nodes[0];
    leaf.guid = {kLeaf + number - 1};
    leaf.name = "leaf-" + std::to_string(number);
    leaf.first_port = static_cast<PortIndex>(fabric.ports.size());
    const auto node = static_cast<NodeIndex>(fabric.nodes.size());
    fabric.nodes.push_back(leaf);
    for (unsigned port = 0; port <= leaf.port_count; ++port) {
      fabric.ports.push_back(SmallFabric::up(node, port));
      fabric.ports.back().guid = leaf.guid == NodeGuid{} ? PortGuid{} : PortGuid{leaf.guid.value};
    }
  }
  fabric.counters = SampleTable::of_group(CounterGroup::kEverySweep, fabric.ports.size());
  fabric.rates.assign(fabric.ports.size(), {});
  fabric.state_read_at.assign(fabric.ports.size(), kNow);
  return fabric.build();
}

TEST(StallMap, AsksForThePortsOfSwitchesOnly) {
  const auto asked = ask({}, {three_switches()});
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->question.fabric, "ib0");
  EXPECT_EQ(asked->question.rows, 3U);
  for (const StallQuestion::Port& port : asked->question.ports) {
    EXPECT_LT(port.port.node.value, 0x100U) << "an adapter's";
    EXPECT_EQ(port.row, port.port.node.value - kLeaf);
    EXPECT_EQ(port.tick_seconds, 0.5F);
  }
  EXPECT_EQ(asked->rows, 64U);
  EXPECT_EQ(asked->question.to, kNow);
  EXPECT_EQ(asked->question.step, 30min) << "a day in 72 buckets at most";
}

TEST(StallMap, TellsTheWorstFirstAndHowManyThereAre) {
  v1::GetStallMapRequest request;
  request.set_rows(2);
  auto asked = ask(request, {three_switches()});
  ASSERT_TRUE(asked);
  StallAnswer answer{30min, 3, {}};
  answer.rows.push_back({0.1, {{kLeaf}, {2}}, {{0, 0.1}, {5, 0.1}}});
  answer.rows.push_back({0, {}, {{0, 0}}});
  answer.rows.push_back({0.4, {{kLeaf + 2}, {1}}, {{1, 0.4}}});
  const v1::GetStallMapResponse told = stall_map(*asked, answer);
  EXPECT_EQ(told.switches(), 3U);
  EXPECT_EQ(told.read_every(), 3U);
  EXPECT_EQ(told.buckets(), 49U) << "the day begins within the first";
  ASSERT_EQ(told.rows_size(), 2);
  EXPECT_EQ(told.rows(0).node(), "leaf-3");
  EXPECT_EQ(told.rows(0).node_guid(), "0x0000000000000012");
  EXPECT_EQ(told.rows(0).worst_port(), 1U);
  EXPECT_EQ(told.rows(1).node(), "leaf-1");
  EXPECT_THAT(told.rows(1).bucket(), ElementsAre(0, 5));
  EXPECT_THAT(told.rows(1).bucket_share(), ElementsAre(0.1, 0.1));
}

TEST(StallMap, ASwitchOfWhichNothingWasReadIsLeftOut) {
  auto asked = ask({}, {three_switches()});
  ASSERT_TRUE(asked);
  StallAnswer answer{30min, 1, {}};
  answer.rows.push_back({});
  answer.rows.push_back({0, {}, {{0, 0}}});
  answer.rows.push_back({});
  const v1::GetStallMapResponse told = stall_map(*asked, answer);
  EXPECT_EQ(told.switches(), 1U);
  ASSERT_EQ(told.rows_size(), 1);
  EXPECT_EQ(told.rows(0).node(), "leaf-2");
}

TEST(StallMap, RefusesWhatIsNone) {
  v1::GetStallMapRequest request;
  EXPECT_EQ(ask(request, {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ask(request, {SmallFabric(1, "ib0").build(), SmallFabric(1, "ib1").build()}).error().code,
            ErrorCode::kFailedPrecondition);
  request.set_fabric("ib1");
  EXPECT_EQ(ask(request, {SmallFabric(1, "ib0").build(), SmallFabric(1, "ib1").build()})->question.fabric, "ib1");
  request.set_fabric("ib2");
  EXPECT_EQ(ask(request, {SmallFabric().build()}).error().code, ErrorCode::kNotFound);
  request.clear_fabric();
  request.set_rows(1001);
  EXPECT_EQ(ask(request, {SmallFabric().build()}).error().code, ErrorCode::kInvalidArgument);
  request.clear_rows();
  request.set_points(241);
  EXPECT_EQ(ask(request, {SmallFabric().build()}).error().code, ErrorCode::kInvalidArgument);
  request.clear_points();
  set_timestamp(*request.mutable_from(), kNow + 1h);
  EXPECT_EQ(ask(request, {SmallFabric().build()}).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace weft::api
