// SPDX-License-Identifier: Apache-2.0
#include "fabric/list_text.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

using Parts = std::vector<std::string>;

TEST(SplitList, PartsAreBetweenCommasWithoutBlanksAroundThem) {
  EXPECT_EQ(split_list("a:1"), Parts{"a:1"});
  EXPECT_EQ(split_list("a:1,b:1"), (Parts{"a:1", "b:1"}));
  EXPECT_EQ(split_list(" a:1 ,\tb c\n"), (Parts{"a:1", "b c"}));
}

TEST(SplitList, EmptyPartsAreKept) {
  EXPECT_EQ(split_list(""), Parts{""});
  EXPECT_EQ(split_list("  "), Parts{""});
  EXPECT_EQ(split_list("a,,b,"), (Parts{"a", "", "b", ""}));
}

}  // namespace
}  // namespace weft
