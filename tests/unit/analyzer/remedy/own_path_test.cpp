// SPDX-License-Identifier: Apache-2.0
// Neither our own way into the fabric nor the subnet manager's is ever taken out.

#include <gtest/gtest.h>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

std::string refusal(Book& b, const std::string& from, const std::string& to) {
  const auto asked = b.book->request(RemedyAction::kIsolateLink, b.link(from, to), "looks bad", "ann", b.look());
  return asked ? "" : asked.error().message;
}

TEST(OwnPath, TheSubnetManagersOwnLinkStays) {
  Book b;
  b.fabric.set_subnet_manager(b.fabric.key_of(b.fabric.port_of("host-1-0 mlx5_0", 1)));
  EXPECT_EQ(refusal(b, "leaf-1", "host-1-0 mlx5_0"),
            "OWN_PATH: the link is on the subnet manager's path into the fabric");
  EXPECT_EQ(refusal(b, "leaf-0", "host-0-0 mlx5_0"), "OWN_PATH: the link is on weftd's own path into the fabric");
  EXPECT_EQ(refusal(b, "leaf-1", "spine-0"), "");
}

TEST(OwnPath, TheLastWayToASwitchThatManagesTheSubnetStays) {
  RemedySettings settings;
  settings.limits.capacity.leaf_share_idle = 0.1;
  settings.limits.budget.out_per_switch = 10;
  Book b(settings);
  b.fabric.set_subnet_manager(b.fabric.key_of(b.fabric.port_of("spine-0", 0)));
  for (const char* leaf : {"leaf-0", "leaf-1", "leaf-2"}) b.fabric.unlink(b.fabric.port_towards("spine-0", leaf));
  const std::string why = refusal(b, "leaf-3", "spine-0");
  EXPECT_TRUE(why.starts_with("OWN_PATH: it is the last path to a part of the fabric")) << why;
  EXPECT_NE(why.find("spine-0"), std::string::npos) << why;
  EXPECT_EQ(refusal(b, "leaf-3", "spine-1"), "");
}

TEST(OwnPath, WithoutASubnetManagerNobodyRoutesRoundAnything) {
  Book b;
  b.fabric.set_subnet_manager(std::nullopt);
  EXPECT_EQ(refusal(b, "leaf-1", "spine-0"), "OWN_PATH: no subnet manager is known that could reroute");
  b.fabric.set_subnet_manager(b.fabric.key_of(b.fabric.port_of("host-1-0 mlx5_0", 1)));
  b.fabric.node(b.fabric.find("host-1-0 mlx5_0")).reachable = false;
  EXPECT_EQ(refusal(b, "leaf-2", "spine-0"), "OWN_PATH: the subnet manager is unreachable and could not reroute");
}

}  // namespace
}  // namespace weft::analyzer
