// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/uplink/renewal_time.hpp"

#include <gtest/gtest.h>

namespace weft::uplink {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kBegin{std::chrono::seconds(1'700'000'000)};
constexpr RenewalTime::Steady::time_point kGot{5h};
constexpr Duration kLife = 30 * 24h;

RenewalTime of(std::optional<RenewalTime::Steady::time_point> got, double share = 0) {
  RenewalTime time(share);
  time.start(kBegin, kBegin + kLife, got);
  return time;
}

TEST(RenewalTime, IsAfterTwoThirdsOfTheLife) {
  for (const auto& time : {of(kGot), of(std::nullopt)}) {
    EXPECT_FALSE(time.is_due(kBegin, kGot));
    EXPECT_FALSE(time.is_due(kBegin + 479h, kGot + 479h));
    EXPECT_TRUE(time.is_due(kBegin + 481h, kGot + 481h));
  }
  EXPECT_FALSE(of(kGot, 1).is_due(kBegin + 481h, kGot + 481h)) << "not all nodes at once";
  EXPECT_TRUE(of(kGot, 1).is_due(kBegin + 517h, kGot + 517h));
}

TEST(RenewalTime, AClockThatIsAheadAsksThreeTimesInALife) {
  const RenewalTime time = of(kGot);
  for (const auto ahead : {Duration(500h), Duration(24h * 3650)}) {
    EXPECT_TRUE(time.is_due_by_wall(kBegin + ahead));
    for (const auto later : {0h, 1h, 239h}) EXPECT_FALSE(time.is_due(kBegin + ahead + later, kGot + later));
    EXPECT_TRUE(time.is_due(kBegin + ahead + 240h, kGot + 240h));
  }
  EXPECT_TRUE(of(std::nullopt).is_due(kBegin + 500h, kGot)) << "once after a start";
}

TEST(RenewalTime, AClockThatIsBehindDoesNotLetItEnd) {
  EXPECT_FALSE(of(kGot).is_due(kBegin - 1000h, kGot + 479h));
  EXPECT_TRUE(of(kGot).is_due(kBegin - 1000h, kGot + 480h));
}

}  // namespace
}  // namespace weft::uplink
