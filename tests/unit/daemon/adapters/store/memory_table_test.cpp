// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

LinkKey link(std::uint64_t a, std::uint64_t b) {
  return make_link_key({NodeGuid{a}, PortNum{1}}, {NodeGuid{b}, PortNum{2}});
}

const AnalyzerState* find(const Restored& restored, const std::string& fabric) {
  for (const FabricMemory& memory : restored.fabrics)
    if (memory.fabric == fabric) return &memory.state;
  return nullptr;
}

using Memory = OnEachEngine;
INSTANTIATE_ON_EACH_ENGINE(Memory);

TEST_P(Memory, LinksAreReplacedFabricByFabric) {
  const TempDir dir;
  auto store = must_open(dir.path());
  const KnownLink first{
      link(0xF000000000000001, 2), {"leaf-1", NodeType::kSwitch}, {"dgx-04 mlx5_0", NodeType::kChannelAdapter}};
  const KnownLink second{link(3, 4), {}, {}};
  ASSERT_TRUE(store->save_links("a", std::vector{first, second}));
  ASSERT_TRUE(store->save_links("b", std::vector{second}));
  KnownLink renamed = first;
  renamed.low.node_name = "leaf-one";
  ASSERT_TRUE(store->save_links("a", std::vector{renamed}));
  const auto restored = store->restore(kNever);
  ASSERT_TRUE(restored) << restored.error().message;
  ASSERT_EQ(restored->fabrics.size(), 2U);
  ASSERT_EQ(find(*restored, "a")->links.size(), 1U);
  const KnownLink& back = find(*restored, "a")->links[0];
  EXPECT_EQ(back.key, first.key);
  EXPECT_EQ(back.low.node_name, "leaf-one");
  EXPECT_EQ(back.low.type, NodeType::kSwitch);
  EXPECT_EQ(back.high.node_name, "dgx-04 mlx5_0");
  EXPECT_EQ(back.high.type, NodeType::kChannelAdapter);
  EXPECT_EQ(find(*restored, "b")->links.size(), 1U);
}

TEST_P(Memory, AFabricWasSeenWhenANodeOfItWas) {
  const TempDir dir;
  auto store = must_open(dir.path());
  for (const char* fabric : {"a", "b"})
    ASSERT_TRUE(store->save_links(fabric, std::vector{KnownLink{link(3, 4), {}, {}}}));
  const Sweep sweep = make_sweep(at_second(0), 0);
  ASSERT_TRUE(store->save_nodes("a", *sweep.topology, at_second(0)));
  ASSERT_TRUE(store->save_nodes("a", *sweep.topology, at_second(7200)));
  ASSERT_TRUE(store->save_nodes("c", *sweep.topology, at_second(9000)));
  const auto restored = store->restore(kNever);
  ASSERT_TRUE(restored) << restored.error().message;
  ASSERT_EQ(restored->fabrics.size(), 2U);
  EXPECT_EQ(restored->fabrics[0].seen, at_second(7200));
  EXPECT_EQ(restored->fabrics[1].seen, kNever);
}

TEST_P(Memory, ASubnetOfTheSameNameIsKeptApart) {
  const TempDir dir;
  auto store = must_open(dir.path());
  const Sweep sweep = make_sweep(at_second(0), 0, 4, NodeGuid{1}), other = make_sweep(at_second(0), 0, 4, NodeGuid{9});
  FabricMemory kept{"a@0x1", {}};
  kept.state.links.push_back({link(1, 2), {"leaf-1", NodeType::kSwitch}, {"gpu-1", NodeType::kChannelAdapter}});
  kept.state.errors.push_back({{NodeGuid{1}, PortNum{1}}, 1e-9});
  ASSERT_TRUE(store->save_links("a", kept.state.links));
  ASSERT_TRUE(store->save_nodes("a", *sweep.topology, at_second(7200)));
  ASSERT_TRUE(store->save_nodes("a", *other.topology, at_second(9000)));
  for (int times = 0; times < 2; ++times) {
    ASSERT_TRUE(store->keep_apart("a", kept));
    const auto restored = store->restore(kNever);
    ASSERT_TRUE(restored) << restored.error().message;
    const auto found = std::ranges::find(restored->fabrics, kept.fabric, &FabricMemory::fabric);
    ASSERT_NE(found, restored->fabrics.end());
    EXPECT_EQ(found->state.links.size(), 1U);
    EXPECT_EQ(found->state.errors.size(), 1U);
    EXPECT_EQ(found->seen, at_second(7200)) << "with its nodes";
    ASSERT_EQ(store->nodes("a")->size(), 1U);
    EXPECT_EQ(store->nodes("a")->front().guid, NodeGuid{9});
  }
  // Once more, after it was back under its name.
  ASSERT_TRUE(store->save_nodes("a", *sweep.topology, at_second(14400)));
  ASSERT_TRUE(store->keep_apart("a", kept));
  ASSERT_EQ(store->nodes(kept.fabric)->size(), 1U);
  EXPECT_EQ(store->nodes(kept.fabric)->front().last_seen, at_second(14400));
}

TEST_P(Memory, PortsBeyond255ComeBackAndWhatIsNoPortIsDamage) {
  const TempDir dir;
  const KnownLink far{make_link_key({NodeGuid{1}, PortNum{300}}, {NodeGuid{2}, PortNum{65'535}}), {}, {}};
  ASSERT_TRUE(must_open(dir.path())->save_links("a", std::vector{far}));
  {
    auto store = must_open(dir.path());
    const auto restored = store->restore(kNever);
    ASSERT_TRUE(restored) << restored.error().message;
    EXPECT_EQ(find(*restored, "a")->links.at(0).key, far.key);
  }
  for (const char* number : {"65536", "-1", "4294967340"}) {
    {
      auto database = by_hand(dir.path());
      database.run(("UPDATE link SET low_port = " + std::string(number)).c_str());
      ASSERT_TRUE(database.outcome());
    }
    const auto restored = must_open(dir.path())->restore(kNever);
    ASSERT_FALSE(restored) << number;
    EXPECT_EQ(restored.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(restored.error().message.find("holds the port number " + std::string(number)), std::string::npos)
        << restored.error().message;
  }
}

TEST_P(Memory, FecBaselinesComeBackAsTheyWere) {
  const TempDir dir;
  const FecBaseline first{.port = {NodeGuid{0xF000000000000001}, PortNum{3}},
                          .rate = 400e9,
                          .taken = at_second(5),
                          .drift = {.mean = -8.25F,
                                    .squares = 0.5F,
                                    .sum = 1.5F,
                                    .last = -7.5F,
                                    .recent = -7.75F,
                                    .readings = 20,
                                    .drifting = true}};
  FecBaseline second = first;
  second.port.port = PortNum{4};
  {
    auto store = must_open(dir.path());
    ASSERT_TRUE(store->save_fec_baselines("a", std::vector{second, first}));
    ASSERT_TRUE(store->save_fec_baselines("a", std::vector{first}));
    ASSERT_TRUE(store->save_fec_baselines("b", std::vector{second}));
  }
  auto store = must_open(dir.path());
  auto restored = store->restore(kNever);
  ASSERT_TRUE(restored) << restored.error().message;
  const AnalyzerState* state = find(*restored, "a");
  ASSERT_NE(state, nullptr);
  EXPECT_EQ(state->fec_baselines, std::vector{first});
  ASSERT_NE(find(*restored, "b"), nullptr);
  EXPECT_EQ(find(*restored, "b")->fec_baselines, std::vector{second});
}

TEST_P(Memory, ConditionsComeBackAsTheyWere) {
  const TempDir dir;
  FlapState flap;
  flap.link = link(1, 2);
  flap.fast = 1234.5;
  flap.slow = 0.25;
  flap.updated = at_second(1);
  flap.slow_counted = at_second(2);
  flap.last_flap = at_second(3);
  flap.flaps = 7;
  flap.both_ends = true;
  flap.suppressed = true;
  const ErrorState error{{NodeGuid{9}, PortNum{3}}, 3e-11};
  ASSERT_TRUE(must_open(dir.path())->save_conditions("a", std::vector{flap}, std::vector{error}));
  auto store = must_open(dir.path());
  auto restored = store->restore(kNever);
  const AnalyzerState* state = find(*restored, "a");
  ASSERT_NE(state, nullptr);
  ASSERT_EQ(state->flaps.size(), 1U);
  EXPECT_EQ(state->flaps[0].link, flap.link);
  EXPECT_EQ(state->flaps[0].fast, flap.fast);
  EXPECT_EQ(state->flaps[0].slow, flap.slow);
  EXPECT_EQ(state->flaps[0].updated, flap.updated);
  EXPECT_EQ(state->flaps[0].slow_counted, flap.slow_counted);
  EXPECT_EQ(state->flaps[0].last_flap, flap.last_flap);
  EXPECT_EQ(state->flaps[0].flaps, 7U);
  EXPECT_TRUE(state->flaps[0].both_ends);
  EXPECT_TRUE(state->flaps[0].suppressed);
  ASSERT_EQ(state->errors.size(), 1U);
  EXPECT_EQ(state->errors[0].port, error.port);
  EXPECT_EQ(state->errors[0].rate, error.rate);
  ASSERT_TRUE(store->save_conditions("a", {}, {}));
  EXPECT_TRUE(store->restore(kNever)->fabrics.empty());
}

TEST_P(Memory, NodesKeepTheTimeTheyWereFirstSeen) {
  const TempDir dir;
  auto store = must_open(dir.path());
  const Sweep sweep = make_sweep(at_second(0), 0);
  ASSERT_TRUE(store->save_nodes("a", *sweep.topology, at_second(0)));
  ASSERT_TRUE(store->save_nodes("a", *sweep.topology, at_second(60)));
  auto nodes = store->nodes("a");
  ASSERT_TRUE(nodes) << nodes.error().message;
  ASSERT_EQ(nodes->size(), 1U);
  EXPECT_EQ((*nodes)[0].name, "leaf-1");
  EXPECT_EQ((*nodes)[0].type, NodeType::kSwitch);
  EXPECT_EQ((*nodes)[0].first_seen, at_second(0));
  EXPECT_EQ((*nodes)[0].last_seen, at_second(0));
  ASSERT_TRUE(store->save_nodes("a", *sweep.topology, at_second(7200)));
  nodes = store->nodes("a");
  EXPECT_EQ((*nodes)[0].first_seen, at_second(0));
  EXPECT_EQ((*nodes)[0].last_seen, at_second(7200));
  EXPECT_TRUE(store->nodes("b")->empty());
}

}  // namespace
}  // namespace weft::store
