// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/errored_seconds.hpp"

#include <gtest/gtest.h>

namespace weft::analyzer {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr PortKey kPort{NodeGuid{1}, PortNum{1}};
constexpr TimePoint kStart{seconds(1'700'000'040)};  // begins a minute

TEST(ErroredSeconds, AreCountedInBothWindows) {
  ErroredSeconds errored;
  for (int minute : {0, 1, 1, 60, 110}) errored.add(kPort, kStart + minutes(minute));
  const TimePoint now = kStart + minutes(110);
  EXPECT_EQ(errored.count(kPort, 0, now).seconds, 1U);
  EXPECT_EQ(errored.count(kPort, 1, now).seconds, 5U);
  EXPECT_EQ(errored.count(kPort, 1, now).minutes, 4U);
  EXPECT_EQ(errored.count(kPort, 1, kStart + minutes(126)).seconds, 2U) << "the first three are too old";
  EXPECT_EQ(errored.count({NodeGuid{1}, PortNum{2}}, 1, now).seconds, 0U);
}

TEST(ErroredSeconds, AMinuteHasNoMoreThanSixty) {
  ErroredSeconds errored;
  for (int i = 0; i < 600; ++i) errored.add(kPort, kStart + std::chrono::milliseconds(100 * i));
  EXPECT_EQ(errored.count(kPort, 0, kStart + seconds(59)).seconds, 60U);
}

TEST(ErroredSeconds, OldOnesDoNotComeBackWhenTheRingGoesRound) {
  ErroredSeconds errored;
  errored.add(kPort, kStart);
  errored.add(kPort, kStart + minutes(125));
  EXPECT_EQ(errored.count(kPort, 1, kStart + minutes(125)).seconds, 1U);
  errored.add(kPort, kStart + minutes(200));
  errored.add(kPort, kStart + minutes(251));
  EXPECT_EQ(errored.count(kPort, 1, kStart + minutes(251)).seconds, 2U);
}

TEST(ErroredSeconds, AClockThatWasSetBackStartsAnew) {
  ErroredSeconds errored;
  errored.add(kPort, kStart + minutes(10));
  errored.add(kPort, kStart);
  EXPECT_EQ(errored.count(kPort, 1, kStart).seconds, 1U);
}

TEST(ErroredSeconds, AreForgottenWithTheirPortAndWithTime) {
  ErroredSeconds errored;
  errored.add(kPort, kStart);
  errored.expire(kStart + minutes(124));
  EXPECT_EQ(errored.count(kPort, 1, kStart).seconds, 1U);
  errored.expire(kStart + minutes(125));
  EXPECT_EQ(errored.count(kPort, 1, kStart).seconds, 0U);
  errored.add(kPort, kStart);
  errored.forget(kPort);
  EXPECT_EQ(errored.count(kPort, 1, kStart).seconds, 0U);
}

}  // namespace
}  // namespace weft::analyzer
