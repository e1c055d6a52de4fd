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

TEST(CountsBefore, NumbersInNamesAreNumbers) {
  EXPECT_TRUE(counts_before("gpu-2 mlx5_0", "gpu-2 mlx5_7"));
  EXPECT_TRUE(counts_before("gpu-2 mlx5_7", "gpu-10 mlx5_0"));
  EXPECT_FALSE(counts_before("gpu-10 mlx5_0", "gpu-2 mlx5_7"));
  EXPECT_TRUE(counts_before("leaf", "leaf-1"));
  EXPECT_FALSE(counts_before("rail-02", "rail-2") || counts_before("rail-2", "rail-02"));
  EXPECT_TRUE(counts_before("n9", "n12345678901234567890123"));
}

}  // namespace
}  // namespace weft
