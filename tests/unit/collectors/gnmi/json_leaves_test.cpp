// SPDX-License-Identifier: Apache-2.0
#include "collectors/gnmi/json_leaves.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::gnmi {
namespace {

std::string value_text(const Value& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return "'" + std::string(*text) + "'";
  if (const auto* whole = std::get_if<std::uint64_t>(&value)) return std::to_string(*whole);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return std::to_string(*real);
  if (const auto* is_true = std::get_if<bool>(&value)) return *is_true ? "true" : "false";
  return "nothing";
}

/// Leaves as "path=value"; "!" behind them when it is no JSON.
std::vector<std::string> leaves_of(std::string_view json, std::string_view at = "/") {
  Path path = at == "/" ? Path{} : *parse_path(at);
  const std::string before = to_text(path);
  std::vector<std::string> found;
  if (!for_each_leaf(json, path, [&](const Path& place, const Value& value) {
        found.push_back(to_text(place) + "=" + value_text(value));
      }))
    found.emplace_back("!");
  EXPECT_EQ(to_text(path), before);
  return found;
}
using Texts = std::vector<std::string>;

TEST(JsonLeaves, ScalarsAreALeafAtThePath) {
  EXPECT_EQ(leaves_of("\"UP\"", "/a"), Texts{"/a='UP'"});
  EXPECT_EQ(leaves_of(" 12 ", "/a"), Texts{"/a=12"});
  EXPECT_EQ(leaves_of("-3", "/a"), Texts{"/a=-3"});
  EXPECT_EQ(leaves_of("1.5e1", "/a"), Texts{"/a=15.000000"});
  EXPECT_EQ(leaves_of("true", "/a"), Texts{"/a=true"});
  EXPECT_EQ(leaves_of("null", "/a"), Texts{});
}

TEST(JsonLeaves, ObjectsAreWalkedWithoutTheirModules) {
  EXPECT_EQ(
      leaves_of(R"({"openconfig-interfaces:counters": {"in-octets": "12", "out-octets": 7}, "oper-status": "UP"})",
                "/interfaces/interface[name=Ethernet1]/state"),
      (Texts{"/interfaces/interface[name=Ethernet1]/state/counters/in-octets='12'",
             "/interfaces/interface[name=Ethernet1]/state/counters/out-octets=7",
             "/interfaces/interface[name=Ethernet1]/state/oper-status='UP'"}));
}

TEST(JsonLeaves, EntriesOfAListHaveTheirFirstLeavesAsKeys) {
  EXPECT_EQ(leaves_of(R"([{"name": "a", "state": {"x": 1}}, {"index": 3, "state": {"x": 2}}])", "/list[name=*]"),
            (Texts{"/list[name=a]/name='a'", "/list[name=a]/state/x=1", "/list[index=3]/index=3",
                   "/list[index=3]/state/x=2"}));
  EXPECT_EQ(leaves_of(R"({"list": [{"name": "a", "x": 1}]})"),
            (Texts{"/list[name=a][x=1]/name='a'", "/list[name=a][x=1]/x=1"}));
}

TEST(JsonLeaves, OfLeafListsThoseOfOneCount) {
  EXPECT_EQ(leaves_of(R"({"a": ["x"], "b": [1, 2], "c": []})"), Texts{"/a='x'"});
}

TEST(JsonLeaves, EscapesOfPlainLettersAreRead) {
  EXPECT_EQ(leaves_of(R"("a\"\\\/b")", "/a"), Texts{R"(/a='a"\/b')"});
  EXPECT_EQ(leaves_of(R"({"a": "x\u0041\n", "b": 1})"), Texts{"/b=1"});
}

TEST(JsonLeaves, WhatIsNoJsonEndsTheWalk) {
  EXPECT_EQ(leaves_of(R"({"a": 1, "b": })"), (Texts{"/a=1", "!"}));
  for (const auto text :
       {"", "{", "[", "\"a", "{\"a\"}", "[1,]", "{\"a\":1,}", "1 2", "nul", "+", "1e999", "\"\\", "{]"})
    EXPECT_EQ(leaves_of(text, "/a").back(), "!") << text;
}

TEST(JsonLeaves, DepthIsBounded) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + "1" + std::string(depth, ']'); };
  EXPECT_EQ(leaves_of(nested(4), "/a"), Texts{"/a=1"});
  EXPECT_EQ(leaves_of(nested(10'000), "/a"), Texts{"!"});
  std::string objects;
  for (int i = 0; i < 10'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(leaves_of(objects), Texts{"!"});
}

}  // namespace
}  // namespace weft::gnmi
