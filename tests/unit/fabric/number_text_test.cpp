// SPDX-License-Identifier: Apache-2.0
#include "fabric/number_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace weft {
namespace {

using namespace std::chrono_literals;

TEST(NumberText, HasThreeSignificantDigitsAndNoPowersOfTenWherePeopleCount) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(-0.0), "0");
  EXPECT_EQ(short_number(0.25), "0.25");
  EXPECT_EQ(short_number(0.0001), "0.0001");
  EXPECT_EQ(short_number(12.345), "12.3");
  EXPECT_EQ(short_number(-3.2), "-3.2");
  EXPECT_EQ(short_number(999.4), "999");
  EXPECT_EQ(short_number(999.6), "1,000");
  EXPECT_EQ(short_number(3000), "3,000");
  EXPECT_EQ(short_number(-12'345), "-12,300");
  EXPECT_EQ(short_number(999'999), "1,000,000");
  EXPECT_EQ(short_number(1'234'567), "1,230,000");
  EXPECT_EQ(short_number(123'456'789'012), "123,000,000,000");
}

TEST(NumberText, ErrorRatesStayScientific) {
  EXPECT_EQ(short_number(3.2e-11), "3.2e-11");
  EXPECT_EQ(short_number(1e-12), "1e-12");
  EXPECT_EQ(short_number(3.456e-9), "3.46e-9");
  EXPECT_EQ(short_number(-2e-5), "-2e-5");
  EXPECT_EQ(short_number(4.1e12), "4.1e12");
  EXPECT_EQ(short_number(1e300), "1e300");
}

TEST(NumberText, WhatIsNoNumberSaysSo) {
  EXPECT_EQ(short_number(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(short_number(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(quantity_text(std::numeric_limits<double>::infinity(), "s"), "inf s");
  EXPECT_EQ(quantity_text(std::numeric_limits<double>::quiet_NaN(), "events"), "nan events");
  EXPECT_EQ(rate_text(std::numeric_limits<double>::quiet_NaN()), "0");
}

TEST(NumberText, CountsAreExact) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(3'293'504), "3,293,504");
  EXPECT_EQ(count_text(18'446'744'073'709'551'615U), "18,446,744,073,709,551,615");
}

TEST(NumberText, RatesAndAmountsHavePrefixes) {
  EXPECT_EQ(rate_text(400e9), "400 Gb/s");
  EXPECT_EQ(rate_text(2.5e6), "2.5 Mb/s");
  EXPECT_EQ(rate_text(999.6), "1 kb/s");
  EXPECT_EQ(rate_text(0), "0");
  EXPECT_EQ(rate_text(-1), "0");
  EXPECT_EQ(rate_text(1e19), "10,000 Pb/s");
  EXPECT_EQ(bits_text(4.1e12), "4.1 Tbit");
  EXPECT_EQ(bits_text(12), "12 bit");
  EXPECT_EQ(share_text(0.1234), "12.3 %");
  EXPECT_EQ(share_text(0.0025), "0.25 %");
  EXPECT_EQ(share_text(1), "100 %");
}

TEST(NumberText, DurationsHaveTheirTwoLargestUnits) {
  EXPECT_EQ(short_duration(12s), "12 s");
  EXPECT_EQ(short_duration(125s), "2 min 5 s");
  EXPECT_EQ(short_duration(2h + 5min), "2 h 5 min");
  EXPECT_EQ(short_duration(49h), "2 d 1 h");
  EXPECT_EQ(short_duration(15min), "15 min");
  EXPECT_EQ(short_duration(2h + 5s), "2 h");
  EXPECT_EQ(short_duration(-3s), "-3 s");
}

TEST(NumberText, QuantitiesGoByTheirUnit) {
  EXPECT_EQ(quantity_text(0.6, ""), "0.6");
  EXPECT_EQ(quantity_text(160, "Gb/s"), "160 Gb/s");
  EXPECT_EQ(quantity_text(0.0025, "Gb/s"), "2.5 Mb/s");
  EXPECT_EQ(quantity_text(3'293'504, "events"), "3,293,504 events");
  EXPECT_EQ(quantity_text(2345.678, "points"), "2,350 points");
  EXPECT_EQ(quantity_text(3e-12, "errors/bit"), "3e-12 errors/bit");
  EXPECT_EQ(quantity_text(-3.25, "dBm"), "-3.25 dBm");
  EXPECT_EQ(quantity_text(0, "s"), "0 s");
  EXPECT_EQ(quantity_text(0.0005, "s"), "500 us");
  EXPECT_EQ(quantity_text(0.5, "s"), "500 ms");
  EXPECT_EQ(quantity_text(63, "s"), "63 s");
  EXPECT_EQ(quantity_text(7500, "s"), "2 h 5 min");
  EXPECT_EQ(quantity_text(1e300, "s"), "1e300 s");
}

}  // namespace
}  // namespace weft
