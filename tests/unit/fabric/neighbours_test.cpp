// SPDX-License-Identifier: Apache-2.0
#include "fabric/neighbours.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

Neighbour neighbour(const std::string& chassis, std::int64_t since) {
  Neighbour one;
  one.chassis = {ChassisIdType::kMac, chassis};
  one.port = {PortIdType::kInterfaceName, "swp1"};
  one.since = since;
  return one;
}

TEST(Neighbours, TextsArePrintableAsciiAndShort) {
  EXPECT_EQ(plain_text("leaf\x1b[31m\xff\xc3\xa9\x7f", 99), "leaf?[31m????");
  EXPECT_EQ(plain_text("abcdef", 3), "abc");
}

TEST(Neighbours, TablesAreInOrderAndEachInterfaceIsThereOnce) {
  NeighbourTable table;
  table.ports = {
      {.interface = "swp2", .own = {}, .own_description = {}, .neighbours = {neighbour("b", 2), neighbour("a", 5)}},
      {.interface = "swp1", .own = {}, .own_description = {}, .neighbours = {}},
      {.interface = "swp2", .own = {}, .own_description = {}, .neighbours = {}}};
  const NeighbourTable good = tidy(table);
  ASSERT_EQ(good.ports.size(), 2U);
  EXPECT_EQ(good.ports[0].interface, "swp1");
  ASSERT_EQ(good.ports[1].neighbours.size(), 2U);
  EXPECT_EQ(good.ports[1].neighbours[0].chassis.id, "a");
  EXPECT_EQ(tidy(good), good);
}

TEST(Neighbours, WhoHasBeenThereLongestStays) {
  NeighbourTable table;
  NeighbourPort& port = table.ports.emplace_back();
  port.interface = "eth1";
  for (int i = 0; i < 100; ++i) port.neighbours.push_back(neighbour("new" + std::to_string(i), 1000 + i));
  port.neighbours.push_back(neighbour("old", 10));
  const NeighbourTable good = tidy(table);
  EXPECT_EQ(good.ports[0].neighbours.size(), NeighbourLimits::kOfPort);
  EXPECT_EQ(good.ports[0].left_out, 101 - NeighbourLimits::kOfPort);
  EXPECT_TRUE(
      std::ranges::any_of(good.ports[0].neighbours, [](const Neighbour& one) { return one.chassis.id == "old"; }));
}

TEST(Neighbours, WhoFloodsOneInterfaceHidesNobodyAtAnother) {
  NeighbourTable table;
  for (std::size_t i = 0; i < NeighbourLimits::kPorts; ++i) {
    NeighbourPort& port = table.ports.emplace_back();
    port.interface = "swp" + std::to_string(i);
    for (int k = 0; k < 4; ++k) {
      port.neighbours.push_back(neighbour(std::to_string(i * 10) + std::to_string(k), k));
      if (i == 0) port.neighbours.back().port_description = std::string(4096, 'x');
    }
  }
  for (const NeighbourPort& port : tidy(table).ports) EXPECT_FALSE(port.neighbours.empty()) << port.interface;
}

}  // namespace
}  // namespace weft
