// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/cli/duration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::usage {
namespace {

using namespace std::chrono_literals;
using testing::StartsWith;

std::string refusal(std::string_view text) {
  const auto duration = parse_duration(text);
  return duration ? "accepted" : duration.error();
}

TEST(Duration, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_duration("1s").value(), 1s);
  EXPECT_EQ(parse_duration("7ns").value(), 7ns);
  EXPECT_EQ(parse_duration("7us").value(), 7us);
  EXPECT_EQ(parse_duration("250ms").value(), 250ms);
  EXPECT_EQ(parse_duration("1.5s").value(), 1500ms);
  EXPECT_EQ(parse_duration("90s").value(), 90s);
  EXPECT_EQ(parse_duration("15m").value(), 15min);
  EXPECT_EQ(parse_duration("3d").value(), 72h);
  EXPECT_EQ(parse_duration("0s").value(), 0s);
}

TEST(Duration, ReadsSums) {
  EXPECT_EQ(parse_duration("1h30m").value(), 90min);
  EXPECT_EQ(parse_duration("1m30.5s").value(), 90'500ms);
  EXPECT_EQ(parse_duration("1.5h250ms").value(), 90min + 250ms);
  EXPECT_EQ(parse_duration("1s1s").value(), 2s);
  EXPECT_EQ(parse_duration("1d1h1m1s1ms1us1ns").value(), 25h + 1min + 1s + 1ms + 1us + 1ns);
}

TEST(Duration, RefusesAnythingElse) {
  for (const char* text :
       {"",     "5",  "2",   "s",     "h",      "-1s",  "-1h",  "1 s",    "1sec",  "1e3s", "nan", "nans", "inf",
        "infs", "2w", "1h-", "1h-1m", "1h 30m", "1h30", "1h m", "1.5.5s", "1..5s", ".s",   "+1s", "0x1s", "1h,30m"})
    EXPECT_THAT(refusal(text), StartsWith("is not a duration; give a number and a unit")) << text;
  for (const char* text : {"99999999999d", "99999999999h", "106000d106000d", "9000000d9000000d"})
    EXPECT_EQ(refusal(text), "is too long; at most 106000d") << text;
  EXPECT_EQ(parse_duration("106000d").value(), 24h * 106'000);
}

TEST(Duration, ComesBackAsItWas) {
  for (const char* text : {"1ns", "250ms", "1s", "90m", "3d", "365d", "0s", "1500ms"})
    EXPECT_EQ(format_duration(parse_duration(text).value()), text);
  EXPECT_EQ(format_duration(-1s), "0s");
}

}  // namespace
}  // namespace weft::usage
