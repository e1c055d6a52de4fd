// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fabric/counters.hpp"
#include "fabric/host.hpp"
#include "fabric/ids.hpp"
#include "fabric/incident.hpp"
#include "fabric/link_rate.hpp"
#include "fabric/samples.hpp"
#include "fabric/topology.hpp"

namespace weft {
namespace {

TEST(Guid, IsReadAsPeopleWriteIt) {
  EXPECT_EQ(parse_guid("0x2c5eab0300b87b40"), 0x2c5eab0300b87b40U);
  EXPECT_EQ(parse_guid("2c5e:ab03:00b8:7b40"), 0x2c5eab0300b87b40U);
  EXPECT_EQ(parse_guid("0xA"), 10U);
  for (const char* bad : {"", "0x", ":1", "1:", "1::2", "0x12345678901234567", "0x12 ", "xyz"})
    EXPECT_FALSE(parse_guid(bad)) << bad;
  EXPECT_EQ(to_string(NodeGuid{0x1}), "0x0000000000000001");
}

TEST(LinkRate, TwoLanesAreTheFifthBit) {
  EXPECT_EQ(lanes(16), 2);
  EXPECT_EQ(lanes(8), 12);
  EXPECT_EQ(lanes(3), 0) << "two bits are no width";
  EXPECT_EQ(widest_lanes(1 | 16), 2);
  EXPECT_EQ(widest_lanes(2 | 16), 4) << "the highest bit is not the widest link";
  EXPECT_DOUBLE_EQ(link_bits_per_second(2, kSpeedNdr), 400e9);
  EXPECT_DOUBLE_EQ(link_bits_per_second(2, kSpeedXdr), 800e9);
  EXPECT_EQ(fastest(kSpeedSdr | kSpeedHdr), kSpeedHdr);
}

TEST(Catalogue, NamesAreUniqueAndWidthsAreOnesTheStandardHas) {
  for (const CounterInfo& info : counter_catalogue()) {
    EXPECT_EQ(find_counter(info.name), &info);
    EXPECT_TRUE(info.is_swept() || info.on_hosts) << info.name;
  }
  for (const CounterInfo& info : swept_counters()) {
    EXPECT_EQ(&counter_info(info.id), &info);
    EXPECT_TRUE(info.narrow_bits == 0 || info.narrow_bits == 4 || info.narrow_bits == 8 || info.narrow_bits == 16 ||
                info.narrow_bits == 32);
    EXPECT_TRUE(info.narrow_bits != 0 || info.wide_bits == 64);
    EXPECT_EQ(info.instances == 1, info.instance_label.empty());
  }
}

TEST(SampleTable, AbsentIsNotZeroAndSaturationIsRemembered) {
  SampleTable table({CounterId::kSymbolErrors, CounterId::kVirtualLaneTransmitWait}, 2);
  const auto symbol = table.column(CounterId::kSymbolErrors);
  const auto lane3 = table.column(CounterId::kVirtualLaneTransmitWait, 3);
  EXPECT_EQ(table.columns(), 17U);
  EXPECT_EQ(table.column(CounterId::kLinkDowned), SampleTable::kNoColumn);
  EXPECT_FALSE(table.present(0, symbol));
  table.set(1, symbol, 0xFFFF, true);
  table.set(1, lane3, 7, false);
  EXPECT_TRUE(table.saturated(1, symbol));
  EXPECT_FALSE(table.saturated(1, lane3));
  EXPECT_EQ(table.value(1, lane3), 7U);
  EXPECT_FALSE(table.present(0, lane3));
  table.grow(3);
  EXPECT_EQ(table.value(1, symbol), 0xFFFFU);
}

TEST(Topology, ValidateFindsContradictions) {
  Node node;
  node.guid = {1};
  node.type = NodeType::kSwitch;
  node.port_count = 1;
  std::vector<Port> ports(2);
  ports[0].node = ports[1].node = 0;
  ports[1].number = {1};
  EXPECT_EQ(Topology::validate(std::vector{node}, ports), "");
  ports[1].peer = 7;
  EXPECT_NE(Topology::validate(std::vector{node}, ports), "");
  ports[1].peer = kNoIndex;
  node.port_count = 200;
  EXPECT_NE(Topology::validate(std::vector{node}, ports), "");
}

TEST(HostName, IsTheDescriptionWithoutTheDevice) {
  Node node;
  node.type = NodeType::kChannelAdapter;
  node.name = "a08-p1-dgx-04-c01 mlx5_5";
  EXPECT_EQ(host_name(node), "a08-p1-dgx-04-c01");
  node.name = "plain";
  EXPECT_EQ(host_name(node), "plain");
  node.name = "MF0;leaf 1";
  node.type = NodeType::kSwitch;
  EXPECT_EQ(host_name(node), "MF0;leaf 1");
}

TEST(IncidentNames, RoundTrip) {
  EXPECT_EQ(parse_incident_name(incident_name(17)), 17U);
  EXPECT_EQ(parse_incident_name("17"), 17U);
  EXPECT_FALSE(parse_incident_name("INC-"));
  EXPECT_FALSE(parse_incident_name("17x"));
  EXPECT_EQ(parse_incident_kind("TELEMETRY_LOST"), IncidentKind::kTelemetryLost);
}

TEST(Adapters, TellMachinesApart) {
  const auto of = [](std::vector<std::uint64_t> guids) {
    HostInventory inventory;
    for (const std::uint64_t guid : guids) inventory.ports.emplace_back().node_guid = NodeGuid{guid};
    return inventory;
  };
  EXPECT_EQ(adapters_of(of({})), 0U);
  EXPECT_EQ(adapters_of(of({0})), 0U) << "an interface without an adapter's GUID";
  EXPECT_EQ(adapters_of(of({1, 2})), adapters_of(of({2, 1, 0, 2})));
  EXPECT_NE(adapters_of(of({1, 2})), adapters_of(of({1})));
  HostInventory shared = of({1, 2});
  shared.ports.back().is_virtual_function = true;
  EXPECT_EQ(adapters_of(shared), adapters_of(of({1})));
}

}  // namespace
}  // namespace weft
