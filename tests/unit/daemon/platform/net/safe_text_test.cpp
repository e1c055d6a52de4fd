// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/net/safe_text.hpp"

#include <gtest/gtest.h>

namespace weft::net {
namespace {

TEST(OneLine, KeepsTextAndMakesTheRestHarmless) {
  EXPECT_EQ(one_line("disk \"sda\" größer"), "disk \"sda\" größer");
  EXPECT_EQ(one_line("a\nb\tc\x7f"), "a b c ");
  EXPECT_EQ(one_line("\xff\xc3(\xe2\x82"), std::string("?") + "?(?" + "?");
  EXPECT_EQ(one_line("\xed\xa0\x80"), "???");  // a surrogate
  EXPECT_EQ(one_line("\xc0\xaf"), "??");       // an overlong slash
  EXPECT_EQ(one_line("\xf0\x9f\x98\x80", 4).size(), 4U);
  EXPECT_EQ(one_line("aä", 2), "a");  // no half characters
  EXPECT_EQ(one_line("abc", 2), "ab");
}

TEST(HostNames, WhatCouldBeTakenForAnOptionAListOrAPathIsNone) {
  EXPECT_TRUE(is_host_name("dgx-07.example_x.org"));
  for (const char* bad : {"", "-n1", ".n1", "n[1-8]", "n1,n2", "n1/..", "n 1", "n1\n", "ä"})
    EXPECT_FALSE(is_host_name(bad)) << bad;
  EXPECT_FALSE(is_host_name(std::string(254, 'a')));
}

}  // namespace
}  // namespace weft::net
