// SPDX-License-Identifier: Apache-2.0
#include "api/request/target.hpp"

#include <gtest/gtest.h>

namespace weft::api {
namespace {

TEST(Target, IsTakenApart) {
  const auto target = parse_target("/a%2Fb//c?x=1+2&y=%26&z");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, (std::vector<std::string>{"a/b", "c"}));
  EXPECT_EQ(target->parameter("x"), "1 2");
  EXPECT_EQ(target->parameter("y"), "&");
  EXPECT_EQ(target->parameter("z"), "");
  EXPECT_FALSE(parse_target("/%4"));
  for (const char* not_utf8 : {"/a%ff", "/a?x=%ff%fe", "/a?%c3=1"}) {
    ASSERT_FALSE(parse_target(not_utf8)) << not_utf8;
    EXPECT_EQ(parse_target(not_utf8).error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_TRUE(parse_target("/a?x=%c3%a9"));
  EXPECT_FALSE(parse_target(""));
}

}  // namespace
}  // namespace weft::api
