// SPDX-License-Identifier: Apache-2.0
#include "collectors/gnmi/value.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace weft::gnmi {
namespace {

using namespace std::string_view_literals;

TEST(GnmiPath, IsReadAndWrittenAsPeopleWriteIt) {
  for (const auto text : {"/interfaces/interface[name=Ethernet1/1]/state/counters", "/lldp/state", "/a/b[x=1][y=two]/c",
                          "/COUNTERS/Ethernet*"}) {
    const auto path = parse_path(text);
    ASSERT_TRUE(path) << text;
    EXPECT_EQ(to_text(*path), text);
  }
  EXPECT_EQ(parse_path("/a/b[x=1][y=two]/c")->key_of(parse_path("/a/b[x=1][y=two]/c")->elements[1], "y"), "two");
  EXPECT_EQ(to_text(Path{}), "/");
}

TEST(GnmiPath, WhatIsNoneIsRefused) {
  for (const auto text : {"", "a/b", "/a//b", "/a/", "/a[b]", "/a[=b]", "/a[b=c", "/a[b=c]d", "/a\\b"})
    EXPECT_FALSE(parse_path(text)) << text;
  std::string deep;
  for (std::size_t i = 0; i <= PathLimits::kElements; ++i) deep += "/a";
  EXPECT_FALSE(parse_path(deep));
  EXPECT_FALSE(parse_path("/" + std::string(PathLimits::kTextLength, 'a')));
}

TEST(GnmiPath, TheLastElementGoesWithItsKeys) {
  Path path;
  path.add("a");
  path.add("b");
  path.add_key("k", "v");
  path.drop_last();
  EXPECT_EQ(to_text(path), "/a");
  EXPECT_TRUE(path.keys.empty());
}

TEST(GnmiValue, CountsAreWholeAndNotNegative) {
  EXPECT_EQ(as_count(std::uint64_t{7}), 7U);
  EXPECT_EQ(as_count(std::int64_t{7}), 7U);
  EXPECT_EQ(as_count(7.0), 7U);
  EXPECT_EQ(as_count("18446744073709551615"sv), std::numeric_limits<std::uint64_t>::max());
  for (const Value& bad :
       {Value(std::int64_t{-1}), Value(-1.0), Value(1.5), Value(1e300), Value(std::numeric_limits<double>::quiet_NaN()),
        Value(""sv), Value("7x"sv), Value("-7"sv), Value("18446744073709551616"sv), Value(true), Value()})
    EXPECT_FALSE(as_count(bad));
}

TEST(GnmiValue, NumbersAreFinite) {
  EXPECT_EQ(as_number("-1.5"sv), -1.5);
  EXPECT_EQ(as_number(std::int64_t{-2}), -2.0);
  EXPECT_FALSE(as_number("inf"sv));
  EXPECT_FALSE(as_number(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(as_number(true));
}

TEST(GnmiValue, DecimalsKeepWhatIsWhole) {
  EXPECT_EQ(decimal_value(12, 0), Value(std::int64_t{12}));
  EXPECT_EQ(decimal_value(-123, 2), Value(-1.23));
  EXPECT_EQ(decimal_value(1, 19), Value());
}

TEST(GnmiValue, NamesLoseTheirModule) {
  EXPECT_EQ(without_module("openconfig-if-ethernet:SPEED_400GB"), "SPEED_400GB");
  EXPECT_EQ(without_module("UP"), "UP");
}

}  // namespace
}  // namespace weft::gnmi
