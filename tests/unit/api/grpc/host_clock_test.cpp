// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/host_clock.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace weft::api {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kTestStart{std::chrono::seconds(1'700'000'000)};

/// The host's clock is `ahead` of ours; a probe takes `there` to it and its reply `back` to us.
void measure(HostClock& clock, Duration ahead, Duration there, Duration back) {
  clock.add(kTestStart, kTestStart + there + back, kTestStart + there + ahead);
}

TEST(HostClock, BeforeTheFirstMeasurementTimesAreTakenAsTheyAre) {
  const HostClock clock;
  EXPECT_EQ(clock.offset(), Duration::zero());
  EXPECT_EQ(clock.correct(kTestStart - 5s, kTestStart), kTestStart - 5s);
}

TEST(HostClock, TakesHalfOfTheRoundTripAsTheDelay) {
  for (const Duration ahead : {Duration(90s), Duration(-90s), Duration(3ms), Duration::zero()}) {
    HostClock clock;
    measure(clock, ahead, 10ms, 10ms);
    EXPECT_EQ(clock.offset(), -ahead);
    EXPECT_EQ(clock.correct(kTestStart + ahead - 1s, kTestStart), kTestStart - 1s);
  }
  // A way that is all one direction is the worst: half of it is the error.
  HostClock clock;
  measure(clock, 0s, 30ms, 0ms);
  EXPECT_EQ(clock.offset(), -15ms);
}

TEST(HostClock, UsesTheShortestRoundTrip) {
  HostClock clock;
  measure(clock, 2s, 400ms, 0ms);
  measure(clock, 2s, 1ms, 1ms);
  EXPECT_EQ(clock.offset(), -2s);
  measure(clock, 2s, 0ms, 900ms);
  EXPECT_EQ(clock.offset(), -2s) << "what waited in a queue spoils nothing";
}

TEST(HostClock, ForgetsWhatIsEightMeasurementsOld) {
  HostClock clock;
  measure(clock, 2s, 0ms, 0ms);
  // Its clock runs a little fast.
  for (int i = 0; i < 7; ++i) measure(clock, 2100ms, 5ms, 5ms);
  EXPECT_EQ(clock.offset(), -2s);
  measure(clock, 2100ms, 5ms, 5ms);
  EXPECT_EQ(clock.offset(), -2100ms);
}

TEST(HostClock, ForgetsWhatWasMeasuredBeforeAClockWasSet) {
  for (const Duration step : {Duration(-1h), Duration(-25s), Duration(50s)}) {
    HostClock clock;
    measure(clock, 2s, 0ms, 0ms);
    measure(clock, 2s + step, 5ms, 5ms);
    EXPECT_EQ(clock.offset(), -2s - step);
    measure(clock, 2s + step, 200s, 0ms);
    EXPECT_EQ(clock.offset(), -2s - step) << "what waited so long says nothing";
  }
}

TEST(HostClock, TimesAreNeverLaterThanNow) {
  HostClock clock;
  EXPECT_EQ(clock.correct(kTestStart + 1s, kTestStart), kTestStart);
  measure(clock, -90s, 1ms, 1ms);
  EXPECT_EQ(clock.correct(kTestStart - 80s, kTestStart), kTestStart);
}

TEST(HostClock, AnInvalidTimeIsNotMeasuredAndBecomesNow) {
  HostClock clock;
  measure(clock, 7s, 1ms, 1ms);
  const TimePoint never{Duration(0)};
  const TimePoint before_1970{Duration(-1)};
  const TimePoint first{Duration(std::numeric_limits<std::int64_t>::min())};
  const TimePoint last{Duration(std::numeric_limits<std::int64_t>::max())};
  const TimePoint in_2116{Duration(std::int64_t{1} << 62)};
  for (const TimePoint none : {never, before_1970, first, last, in_2116}) {
    EXPECT_FALSE(is_sane(none));
    clock.add(kTestStart, kTestStart, none);
    EXPECT_EQ(clock.offset(), -7s);
    EXPECT_EQ(clock.correct(none, kTestStart), kTestStart);
  }
  // Ours was set back while the probe was under way: how long it took nobody knows.
  clock.add(kTestStart, kTestStart - 1ns, kTestStart);
  EXPECT_EQ(clock.offset(), -7s);
  // The farthest apart that two clocks can be is no overflow.
  HostClock extreme;
  const TimePoint latest = in_2116 - Duration(1);
  const TimePoint earliest{Duration(1)};
  ASSERT_TRUE(is_sane(latest) && is_sane(earliest));
  extreme.add(latest, latest, earliest);
  EXPECT_EQ(extreme.offset(), latest - earliest);
  EXPECT_EQ(extreme.correct(latest - 1s, latest), latest);
}

}  // namespace
}  // namespace weft::api
