// SPDX-License-Identifier: Apache-2.0
// What is left to those that a link served.
#include "analyzer/links/ways_left.hpp"

#include <gtest/gtest.h>

#include "analyzer/places/ranks.hpp"
#include "analyzer/ports/double_guids.hpp"
#include "tests/fakes/fabric_builder.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;

struct Ways {
  explicit Ways(FabricBuilder built) : fabric(std::move(built)) { look(); }
  void look() {
    const Sweep sweep = fabric.sweep();
    table.observe(sweep, {}, {});
    ranks = node_ranks(*sweep.topology);
  }
  WaysLeft of(const std::string& a, const std::string& b) {
    const PortKey key = fabric.key_of(fabric.port_towards(a, b));
    for (LinkId id = 0; id < table.links().size(); ++id)
      if (table.links()[id].key.low == key || table.links()[id].key.high == key) return ways_left(table, ranks, id);
    ADD_FAILURE() << "no link " << a << " - " << b;
    return {};
  }

  FabricBuilder fabric;
  Thresholds thresholds;
  LinkTable table{thresholds};
  std::vector<std::uint8_t> ranks;
};

TEST(WaysLeft, OfALeafAreItsUplinks) {
  Ways ways(FabricBuilder::fat_tree(4, 3, 8));
  ways.fabric.unlink(ways.fabric.port_towards("leaf-1", "spine-0"));
  ways.fabric.unlink(ways.fabric.port_towards("leaf-1", "host-1-3 mlx5_0"));
  ways.look();
  EXPECT_EQ(in_words(ways.of("leaf-1", "spine-0")), "3 of 4 uplinks of leaf-1 are up");
  EXPECT_EQ(in_words(ways.of("leaf-1", "host-1-3 mlx5_0")), "it is the only link of host-1-3");
  EXPECT_EQ(severity_of(ways.of("leaf-1", "spine-0"), 0.5), Severity::kWarning);
  EXPECT_EQ(severity_of(ways.of("leaf-1", "spine-0"), 0.75), Severity::kCritical);
  EXPECT_EQ(severity_of(ways.of("leaf-1", "host-1-3 mlx5_0"), 0.5), Severity::kCritical);
}

TEST(WaysLeft, OfASwitchInTheMiddleAreThoseUpwards) {
  FabricBuilder fabric;
  const NodeIndex core = fabric.add_switch("core", 4);
  const NodeIndex middles[] = {fabric.add_switch("middle", 8), fabric.add_switch("other", 8)};
  const auto port = [&](NodeIndex node, PortIndex number) { return fabric.nodes()[node].first_port + number; };
  for (PortIndex l = 0; l < 8; ++l) {
    const NodeIndex leaf = fabric.add_switch("leaf-" + std::to_string(l), 2);
    const NodeIndex host = fabric.add_adapter("host-" + std::to_string(l) + " mlx5_0");
    fabric.connect(port(leaf, 1), fabric.nodes()[host].first_port);
    fabric.connect(port(leaf, 2), port(middles[l / 4], 1 + l % 4));
  }
  for (PortIndex cable = 0; cable < 4; ++cable)
    fabric.connect(port(middles[cable / 2], 5 + cable % 2), port(core, 1 + cable));
  fabric.set_local_port(fabric.key_of(fabric.port_of("host-0 mlx5_0", 1)));
  Ways ways(std::move(fabric));
  ways.fabric.unlink(ways.fabric.port_towards("middle", "core"));
  ways.look();
  EXPECT_EQ(in_words(ways.of("middle", "core")), "1 of 2 uplinks of middle is up");
}

TEST(WaysLeft, AreUnknownWhereNothingTellsThem) {
  EXPECT_EQ(in_words({}), "");
  EXPECT_EQ(in_words({.of = "gpu-1", .is_host = true, .up = 0, .all = 1}, 2),
            "gpu-1 and 2 others have lost their only link");
  EXPECT_EQ(in_words({.of = "leaf-3", .up = 1, .all = 4}, 1), "1 of 4 uplinks is up at leaf-3 and 1 other");
  EXPECT_EQ(severity_of({}, 0.5), Severity::kCritical) << "nobody knows that there is another way";
  EXPECT_EQ(in_words({.of = "gpu-1", .is_host = true, .up = 0, .all = 8}), "none of 8 links of gpu-1 are up");
  EXPECT_EQ(in_words({.of = "gpu-1", .is_host = true, .up = 1, .all = 8}), "1 of 8 links of gpu-1 is up");
}

}  // namespace
}  // namespace weft::analyzer
