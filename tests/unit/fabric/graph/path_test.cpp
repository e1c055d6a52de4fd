// SPDX-License-Identifier: Apache-2.0
#include "fabric/graph/path.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fakes/fabric_builder.hpp"

namespace weft {
namespace {

// Two spines, three leaves of two hosts.
class PathTest : public ::testing::Test {
 protected:
  PathTest() : fabric(fakes::FabricBuilder::fat_tree(2, 3, 2)) { fabric.route(); }
  Path path(const std::string& from, const std::string& to) {
    return find_path(*fabric.topology(), *fabric.routes(), fabric.port_of(from, 1), fabric.lid_of(to));
  }
  std::string names(const Path& way) {
    std::string text;
    for (const PathHop& hop : way.hops) text += fabric.nodes()[fabric.ports()[hop.to].node].name + ", ";
    return text;
  }
  /// leaf-0 sends what is for host-2-1 through `port`.
  void send(std::uint16_t port) { fabric.send(fabric.find("leaf-0"), fabric.lid_of(kFar), PortNum{port}); }
  std::uint16_t number_towards(const std::string& from, const std::string& to) {
    return fabric.ports()[fabric.port_towards(from, to)].number.value;
  }
  static constexpr const char* kNear = "host-0-0 mlx5_0";
  static constexpr const char* kFar = "host-2-1 mlx5_0";
  fakes::FabricBuilder fabric;
};

TEST_F(PathTest, GoesUpAndDownAgain) {
  const Path way = path(kNear, kFar);
  ASSERT_EQ(way.end, PathEnd::kArrived);
  const std::string text = names(way);
  EXPECT_TRUE(text == "leaf-0, spine-0, leaf-2, host-2-1 mlx5_0, " ||
              text == "leaf-0, spine-1, leaf-2, host-2-1 mlx5_0, ")
      << text;
  EXPECT_EQ(names(path(kNear, "host-0-1 mlx5_0")), "leaf-0, host-0-1 mlx5_0, ") << "by the leaf alone";
  EXPECT_EQ(path(kNear, kNear).hops.size(), 0U);
  EXPECT_EQ(path(kNear, "leaf-1").hops.size(), 3U) << "a switch has a LID, too";
  EXPECT_TRUE(path("leaf-1", kFar).arrived()) << "a switch sends, too";
}

TEST_F(PathTest, TellsWhereItEndsAndWhy) {
  send(kNoEgress.value);
  Path way = path(kNear, kFar);
  EXPECT_EQ(way.end, PathEnd::kNoRoute);
  const Lid lid = fabric.lid_of(kFar);
  EXPECT_EQ(describe_end(*fabric.topology(), way, lid),
            "leaf-0 has no route to LID " + std::to_string(lid.value) + " and drops its packets");
  const std::uint16_t up = number_towards("leaf-0", "spine-0");
  send(up);
  fabric.send(fabric.find("spine-0"), lid, PortNum{number_towards("spine-0", "leaf-0")});
  way = path(kNear, kFar);
  EXPECT_EQ(way.end, PathEnd::kLoop);
  EXPECT_EQ(fabric.nodes()[way.node].name, "leaf-0");
  send(200);
  EXPECT_EQ(path(kNear, kFar).end, PathEnd::kNoSuchPort);
  send(0);
  EXPECT_EQ(path(kNear, kFar).end, PathEnd::kWrongNode) << "the switch keeps what is not for it";
  send(number_towards("leaf-0", "host-0-1 mlx5_0"));
  EXPECT_EQ(path(kNear, kFar).end, PathEnd::kWrongNode) << "a host gets what is not for it";
  send(up);
  fabric.unlink(fabric.port_towards("leaf-0", "spine-0"));
  way = path(kNear, kFar);
  EXPECT_EQ(way.end, PathEnd::kLinkDown);
  EXPECT_EQ(way.way_out, fabric.port_towards("leaf-0", "spine-0"));
}

TEST_F(PathTest, ALinkIsDownWhenEitherEndSaysSo) {
  fabric.port(fabric.ports()[fabric.port_of(kNear, 1)].peer).state = PortState::kDown;
  const Path way = path(kNear, kFar);
  EXPECT_EQ(way.end, PathEnd::kLinkDown) << "the host out of reach was last seen up";
  EXPECT_EQ(way.hops.size(), 1U) << "the cable in question is shown";
}

TEST_F(PathTest, ASwitchThatWasNotReadEndsThePath) {
  RouteTables empty(1);
  empty.set_top(0, Lid{10});
  EXPECT_EQ(find_path(*fabric.topology(), *empty.publish(), fabric.port_of(kNear, 1), fabric.lid_of(kFar)).end,
            PathEnd::kNotRead);
}

TEST_F(PathTest, AfterACutAndNewRoutesTheOtherWayIsTaken) {
  fabric.unlink(fabric.port_towards("leaf-0", "spine-0"));
  fabric.route();
  EXPECT_EQ(names(path(kNear, kFar)), "leaf-0, spine-1, leaf-2, host-2-1 mlx5_0, ");
}

TEST_F(PathTest, DestinationsOverACableAreThoseRoutedThere) {
  const auto topology = fabric.topology();
  const LidOwners owners(*topology);
  const auto over = [&](const std::string& from, const std::string& to) {
    return destinations_over(*topology, *fabric.routes(), owners, fabric.port_towards(from, to));
  };
  EXPECT_EQ(over("leaf-2", kFar), std::vector{fabric.lid_of(kFar)});
  const auto down = over("spine-0", "leaf-2");
  EXPECT_TRUE(std::ranges::count(down, fabric.lid_of("host-2-0 mlx5_0")) &&
              std::ranges::count(down, fabric.lid_of(kFar)));
  EXPECT_EQ(over("leaf-0", "spine-0").size() + over("leaf-0", "spine-1").size(), 8U)
      << "four hosts, two leaves and two spines are not behind leaf-0 itself";
}

}  // namespace
}  // namespace weft
