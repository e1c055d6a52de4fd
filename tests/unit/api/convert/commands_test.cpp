// SPDX-License-Identifier: Apache-2.0
#include "api/convert/commands.hpp"

#include <gtest/gtest.h>

namespace weft::api {
namespace {

TEST(WhoAsks, IsTheKnownNameWithTheClaimBesideIt) {
  EXPECT_EQ(who_asks("root (uid 0)", "", "ipv4:127.0.0.1:1"), "root (uid 0)");
  EXPECT_EQ(who_asks("root (uid 0)", "ann", "ipv4:127.0.0.1:1"), "root (uid 0), for ann");
  EXPECT_EQ(who_asks("", "ann", "ipv4:127.0.0.1:1"), "ann");
  EXPECT_EQ(who_asks("", "", "ipv4:127.0.0.1:1"), "ipv4:127.0.0.1:1");
}

TEST(WhoAsks, IsOneShortLine) {
  EXPECT_EQ(who_asks("ops", "a\nb\x1b[2J\x7f", ""), "ops, for a?b?[2J?");
  std::string many;
  for (int i = 0; i < 200; ++i) many += "\xc3\xa9";  // é: never cut in two
  const std::string kept = who_asks("ops", many, "");
  EXPECT_EQ(kept.size(), 255U);
  EXPECT_EQ(kept.substr(253), "\xc3\xa9");
}

}  // namespace
}  // namespace weft::api
