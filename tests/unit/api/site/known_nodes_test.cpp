// SPDX-License-Identifier: Apache-2.0
#include "api/site/known_nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace weft::api {
namespace {

using Answers = std::vector<ShardAnswer<v1::BatchGetHealthResponse>>;

v1::NodeHealth healthy(const std::string& node) {
  v1::NodeHealth health;
  health.set_node(node);
  health.set_verdict(v1::NodeHealth::HEALTHY);
  health.set_fabric("ib0");
  return health;
}

/// south has seen it.
Answers seen(const std::string& node) {
  v1::BatchGetHealthResponse answer;
  *answer.add_nodes() = healthy(node);
  return {{"south", answer, false}};
}

/// south has not.
Answers gone(const std::string& node, bool is_swept = true) {
  v1::BatchGetHealthResponse answer;
  answer.add_nodes()->set_node(node);
  if (!is_swept) answer.add_missing_shards("south");
  return {{"south", answer, false}};
}

/// Whether its silence makes the verdict a doubtful one.
bool knew(const KnownNodes& known, const std::string& node) {
  auto health = healthy(node);
  health.add_missing_shards("south");
  known.doubt(health, node);
  return health.verdict() == v1::NodeHealth::UNKNOWN;
}

TEST(KnownNodes, WhatIsGoneIsForgottenUnlessTheShardHasNotSwept) {
  KnownNodes known;
  known.learn(seen("a"));
  known.learn(gone("a", false));
  EXPECT_TRUE(knew(known, "a")) << "it may be there again after the sweep";
  known.learn(gone("a"));
  EXPECT_FALSE(knew(known, "a"));
}

TEST(KnownNodes, AllSpellingsOfAHostAreOneName) {
  for (const char* spelled : {"gpu-7", "GPU-7", "gpu-7.example.org", "Gpu-7.Example.org"}) {
    KnownNodes known;
    known.learn(seen(spelled));
    for (const char* asked : {"gpu-7", "GPU-7", "gpu-7.example.org", "GPU-7.EXAMPLE.ORG"})
      EXPECT_TRUE(knew(known, asked)) << spelled << ", " << asked;
    EXPECT_FALSE(knew(known, "gpu-70"));
    known.learn(gone("GPU-7"));
    EXPECT_FALSE(knew(known, "gpu-7.example.org")) << spelled;
  }
  KnownNodes known;
  known.learn(seen("0x00ab"));
  EXPECT_TRUE(knew(known, "0xAB")) << "a GUID";
}

TEST(KnownNodes, AHostOfAnotherDomainThatIsNotThereTakesNothingAway) {
  KnownNodes known;
  known.learn(seen("gpu-7.a.org"));
  known.learn(gone("gpu-7.b.org"));
  EXPECT_TRUE(knew(known, "gpu-7.a.org"));
  known.learn(gone("GPU-7.a.org"));
  EXPECT_FALSE(knew(known, "gpu-7.a.org"));
}

TEST(KnownNodes, SpellingsOfOneNameTakeNoRoom) {
  KnownNodes known(4);
  known.learn(seen("gpu-1"));
  for (unsigned i = 0; i < 1000; ++i) {
    std::string name = "gpu-host-of-many-spellings";
    for (unsigned bit = 0; bit < 10; ++bit)
      if ((i >> bit & 1U) != 0 && name[bit] >= 'a') name[bit] = static_cast<char>(name[bit] - 'a' + 'A');
    known.learn(seen(name + '.' + std::to_string(i)));
  }
  EXPECT_TRUE(knew(known, "gpu-1"));
  EXPECT_FALSE(known.forgets());
}

TEST(KnownNodes, WhenItIsFullItDropsWhatIsOldest) {
  KnownNodes known(100);
  for (int i = 0; i < 1000; ++i) {
    known.learn(seen("gpu-" + std::to_string(i)));
    known.learn(seen("often"));
    ASSERT_TRUE(knew(known, "gpu-" + std::to_string(i))) << "what is learned last is there";
    ASSERT_TRUE(knew(known, "gpu-" + std::to_string(std::max(i - 40, 0))));
    ASSERT_TRUE(knew(known, "often")) << "what is asked for is young";
    if (i == 10) {
      EXPECT_FALSE(known.forgets());
    }
  }
  EXPECT_TRUE(known.forgets());
  EXPECT_TRUE(knew(known, "gpu-1")) << "it may have been one of those that were dropped";
}

TEST(KnownNodes, ALongNameTakesNoRoom) {
  KnownNodes known;
  const std::string longest(kLongestKnownName + 1, 'x');
  known.learn(seen(longest));
  known.claim("south", longest);
  EXPECT_FALSE(knew(known, longest));
}

TEST(KnownNodes, WhatIsClaimedPushesNothingOut) {
  KnownNodes known(100, 10);
  for (int i = 0; i < 50; ++i) known.learn(seen("gpu-" + std::to_string(i)));
  known.claim("south", "lost-1");
  EXPECT_TRUE(knew(known, "lost-1"));
  EXPECT_FALSE(knew(known, "lost-2"));
  known.learn(gone("lost-1"));
  EXPECT_FALSE(knew(known, "lost-1")) << "south does not know it";
  for (int i = 0; i < 10; ++i) known.claim("south", "made-up-" + std::to_string(i));
  EXPECT_FALSE(knew(known, "lost-2"));
  for (int i = 0; i < 1000; ++i) known.claim("south", "made-up-" + std::to_string(i));
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(knew(known, "gpu-" + std::to_string(i)));
  EXPECT_TRUE(knew(known, "lost-2")) << "too many: nobody can tell";
  EXPECT_TRUE(known.forgets());
  auto other = healthy("lost-2");
  other.add_missing_shards("west");
  known.doubt(other, "lost-2");
  EXPECT_EQ(other.verdict(), v1::NodeHealth::HEALTHY) << "of another shard nothing was dropped";
}

}  // namespace
}  // namespace weft::api
