// SPDX-License-Identifier: Apache-2.0
#include "fabric/graph/known_cables.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/fabric_builder.hpp"

namespace weft {
namespace {

struct KnownCablesTest : testing::Test {
  KnownCablesTest() : fabric(fakes::FabricBuilder::fat_tree(2, 3, 1)) {
    for (PortIndex i = 0; i < fabric.ports().size(); ++i)
      if (fabric.ports()[i].peer != kNoIndex && fabric.ports()[i].peer > i)
        links.push_back({fabric.link_of(i), {}, {}});
  }
  LinkKey link(const std::string& a, const std::string& b) const { return fabric.link_of(fabric.port_towards(a, b)); }
  /// The port's cable in the completed graph.
  std::optional<LinkKey> cable(PortKey end) {
    const auto topology = complete();
    return topology->link_of(topology->find_port(end));
  }
  std::shared_ptr<const Topology> complete() {
    return cables.complete(fabric.topology(), [this] {
      ++asked;
      return links;
    });
  }
  fakes::FabricBuilder fabric;
  std::vector<KnownLink> links;
  KnownCables cables;
  unsigned asked = 0;
};

TEST_F(KnownCablesTest, ThatADiscoveryDoesNotSeeAreAdded) {
  const LinkKey out = link("leaf-1", "spine-0");
  fabric.unlink(fabric.port_towards("leaf-1", "spine-0"));
  fabric.rediscover();
  ASSERT_FALSE(fabric.topology()->link_of(fabric.topology()->find_port(out.low)));
  EXPECT_EQ(cable(out.low), out);
  EXPECT_EQ(cable(out.high), out);
  const auto topology = complete();
  EXPECT_EQ(topology->epoch(), fabric.topology()->epoch());
  EXPECT_EQ(Topology::validate(topology->nodes(), topology->ports()), "");
}

TEST_F(KnownCablesTest, AreAskedForOnceInADiscovery) {
  fabric.unlink(fabric.port_towards("leaf-1", "spine-0"));
  fabric.rediscover();
  const auto first = complete();
  EXPECT_EQ(complete(), first) << "the same graph";
  fabric.port(0);
  EXPECT_NE(complete(), first);
  EXPECT_EQ(asked, 1U);
  fabric.rediscover();
  complete();
  EXPECT_EQ(asked, 2U);
}

TEST_F(KnownCablesTest, NothingIsCopiedWhereAllAreSeen) {
  EXPECT_EQ(complete(), fabric.topology());
}

TEST_F(KnownCablesTest, OnesThatAreSeenCountMore) {
  const LinkKey out = link("leaf-1", "spine-0");
  fabric.unlink(fabric.port_towards("leaf-1", "spine-0"));
  fabric.rediscover();
  complete();
  // One end comes up with another port.
  const NodeIndex other = fabric.add_adapter("new");
  const PortIndex end = fabric.topology()->find_port(out.low);
  fabric.connect(end, fabric.nodes()[other].first_port);
  EXPECT_EQ(cable(out.low), fabric.link_of(end));
  EXPECT_EQ(cable(out.high), std::nullopt);
}

TEST_F(KnownCablesTest, OfOnePortTwoAreNone) {
  const LinkKey out = link("leaf-1", "spine-0"), moved = make_link_key(out.low, link("leaf-2", "spine-1").high);
  fabric.unlink(fabric.port_towards("leaf-1", "spine-0"));
  fabric.unlink(fabric.port_towards("leaf-2", "spine-1"));
  fabric.rediscover();
  links.push_back({moved, {}, {}});
  EXPECT_EQ(cable(out.low), std::nullopt);
  EXPECT_EQ(cable(out.high), std::nullopt);
}

TEST_F(KnownCablesTest, AnEndThatIsUpIsCabledElsewhere) {
  const LinkKey out = link("leaf-1", "spine-0");
  fabric.unlink(fabric.port_towards("leaf-1", "spine-0"));
  fabric.rediscover();
  fabric.port(fabric.topology()->find_port(out.low)).state = PortState::kActive;
  EXPECT_EQ(cable(out.high), std::nullopt) << "behind it nobody answers, but somebody is there";
}

}  // namespace
}  // namespace weft
