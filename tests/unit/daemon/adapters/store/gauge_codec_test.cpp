// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/gauge_codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "daemon/adapters/store/history_codec.hpp"

namespace weft::store {
namespace {

constexpr std::array kAll{PortGauge::kReceivePower, PortGauge::kTransmitPower, PortGauge::kLaserBias,
                          PortGauge::kTemperature};

std::vector<GaugeCodes> random_gauges(std::mt19937_64& random, std::size_t count) {
  std::vector<GaugeCodes> ports(count);
  for (GaugeCodes& port : ports)
    for (std::size_t i = 0; i < kPortGauges; ++i) {
      if (random() % 4 == 0) continue;
      std::array<std::uint64_t, 3> codes{1 + random() % 255, 1 + random() % 255, 1 + random() % 255};
      std::ranges::sort(codes);
      port.last[i] = static_cast<std::uint8_t>(codes[1]);
      port.below[i] = static_cast<std::uint8_t>(codes[1] - codes[0]);
      port.above[i] = static_cast<std::uint8_t>(codes[2] - codes[1]);
    }
  return ports;
}

/// A port of one gauge.
GaugePort port_of(PortGauge gauge, GaugeRange range) {
  GaugePort port;
  port.present = static_cast<std::uint8_t>(1U << static_cast<unsigned>(gauge));
  port.ranges[static_cast<std::size_t>(gauge)] = range;
  return port;
}

std::int64_t kept(PortGauge gauge, std::int64_t value, std::int64_t before) {
  const GaugeCodes old = to_codes(port_of(gauge, {before, before, before}), {});
  return range_of(to_codes(port_of(gauge, {value, value, value}), old), gauge).last;
}
std::int64_t kept(PortGauge gauge, std::int64_t value) {
  return range_of(to_codes(port_of(gauge, {value, value, value}), {}), gauge).last;
}

TEST(GaugeCodec, ComesBackAsItWas) {
  std::mt19937_64 random(1);
  for (const std::size_t count : {1U, 2U, 37U, 255U, 256U})
    for (int i = 0; i < 20; ++i) {
      const std::vector<GaugeCodes> ports = random_gauges(random, count);
      const auto back = decode_gauges(encode_gauges(ports));
      ASSERT_TRUE(back) << back.error().message;
      ASSERT_EQ(*back, ports);
      // As differences to another row, which may have fewer ports.
      const std::vector<GaugeCodes> before = random_gauges(random, 1 + random() % count);
      const auto differences = encode_gauges(ports, before);
      const auto again = decode_gauges(differences, before);
      ASSERT_TRUE(again) << again.error().message;
      ASSERT_EQ(*again, ports);
      ASSERT_FALSE(decode_gauges(differences)) << "without the row before it tells nothing";
    }
}

TEST(GaugeCodec, PortsThatAreGoneAreAbsent) {
  std::mt19937_64 random(2);
  const std::vector<GaugeCodes> before = random_gauges(random, 9);
  const std::vector<GaugeCodes> ports = random_gauges(random, 4);
  const auto back = decode_gauges(encode_gauges(ports, before), before);
  ASSERT_TRUE(back);
  ASSERT_EQ(back->size(), 9U);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(back->at(i), i < 4 ? ports[i] : GaugeCodes{});
}

TEST(GaugeCodec, WhatIsSteadyTakesNoRoom) {
  std::mt19937_64 random(3);
  std::vector<GaugeCodes> ports = random_gauges(random, 256);
  for (GaugeCodes& port : ports) port.below = port.above = {};
  EXPECT_LT(encode_gauges(ports, ports).size(), 20U);
}

TEST(GaugeCodec, RoundsByHalfAStepAndHoldsByThreeQuarters) {
  for (std::int64_t nanowatts = 100; nanowatts < 10'000'000; nanowatts += 1 + nanowatts / 500) {
    const auto error = [nanowatts](std::int64_t value) {
      return std::abs(10 * std::log10(static_cast<double>(value) / static_cast<double>(nanowatts)));
    };
    ASSERT_LT(error(kept(PortGauge::kReceivePower, nanowatts)), 0.13) << nanowatts;
    ASSERT_LT(error(kept(PortGauge::kReceivePower, nanowatts, nanowatts * 103 / 100)), 0.17) << nanowatts;
  }
  for (std::int64_t microamperes = 100; microamperes < 600'000; microamperes += 1 + microamperes / 500) {
    const auto error = [microamperes](std::int64_t value) {
      return std::abs(static_cast<double>(value) / static_cast<double>(microamperes) - 1);
    };
    ASSERT_LT(error(kept(PortGauge::kLaserBias, microamperes)), 0.02) << microamperes;
    ASSERT_LT(error(kept(PortGauge::kLaserBias, microamperes, microamperes * 103 / 100)), 0.03) << microamperes;
  }
  for (std::int64_t milli = -100'000; milli <= 154'000; milli += 37) {
    ASSERT_LE(std::abs(kept(PortGauge::kTemperature, milli) - milli), 500);
    ASSERT_LE(std::abs(kept(PortGauge::kTemperature, milli, milli + 900) - milli), 750);
  }
  EXPECT_EQ(kept(PortGauge::kTemperature, 40'700, 40'000), 40'000);
  EXPECT_EQ(kept(PortGauge::kTemperature, 40'800, 40'000), 41'000);
  for (const PortGauge gauge : kAll)
    for (int code = 1; code <= 255; ++code) {
      GaugeCodes codes;
      codes.last[static_cast<std::size_t>(gauge)] = static_cast<std::uint8_t>(code);
      ASSERT_EQ(to_codes(port_of(gauge, range_of(codes, gauge)), {}), codes) << code;
    }
}

TEST(GaugeCodec, TheLowestAndTheHighestStandBesideTheLast) {
  const GaugeCodes codes = to_codes(port_of(PortGauge::kTemperature, {41'000, 38'200, 45'000}), {});
  EXPECT_EQ(range_of(codes, PortGauge::kTemperature), (GaugeRange{41'000, 38'000, 45'000}));
  const GaugeCodes steady = to_codes(port_of(PortGauge::kTemperature, {41'000, 40'300, 41'700}), {});
  EXPECT_EQ(range_of(steady, PortGauge::kTemperature), (GaugeRange{41'000, 41'000, 41'000})) << "that is noise";
  const GaugeCodes faded = to_codes(port_of(PortGauge::kReceivePower, {500'000, 0, 500'000}), {});
  EXPECT_EQ(range_of(faded, PortGauge::kReceivePower).low, 0);
}

TEST(GaugeCodec, AddsRowsUp) {
  GaugeCodes sum;
  for (const GaugeRange& range :
       std::vector<GaugeRange>{{41'000, 40'000, 42'000}, {43'000, 43'000, 50'000}, {39'000, 38'000, 43'000}})
    add(sum, to_codes(port_of(PortGauge::kTemperature, range), {}));
  add(sum, GaugeCodes{});
  EXPECT_EQ(range_of(sum, PortGauge::kTemperature), (GaugeRange{39'000, 38'000, 50'000}));
  EXPECT_EQ(sum.last[0], 0) << "of the others nothing is known";
}

TEST(GaugeCodec, NoLightIsNotAbsentAndWhatIsBeyondIsTheEnd) {
  EXPECT_EQ(kept(PortGauge::kReceivePower, 0), 0);
  EXPECT_EQ(kept(PortGauge::kReceivePower, -1), 0);
  EXPECT_EQ(kept(PortGauge::kReceivePower, 0, 100), 0);
  EXPECT_EQ(kept(PortGauge::kReceivePower, 1), 100);
  EXPECT_GT(kept(PortGauge::kReceivePower, INT64_MAX), 11'000'000);
  EXPECT_EQ(kept(PortGauge::kTemperature, INT64_MIN), -100'000);
  EXPECT_EQ(kept(PortGauge::kTemperature, INT64_MAX), 154'000);
  EXPECT_EQ(to_codes(GaugePort{}, {}), GaugeCodes{});
}

TEST(GaugeChain, GoesOnFromRowToRowAndNotOverAGap) {
  std::mt19937_64 random(4);
  const TimePoint at{std::chrono::hours(1000)};
  const auto minute = [&](int n) { return at + std::chrono::minutes(n); };
  const auto first = random_gauges(random, 5), second = random_gauges(random, 5), third = random_gauges(random, 5);
  GaugeChain chain;
  EXPECT_EQ(chain.next(encode_gauges(second, first), minute(5), minute(10)), nullptr) << "the first one is not known";
  ASSERT_NE(chain.next(encode_gauges(first), minute(0), minute(5)), nullptr);
  const auto* row = chain.next(encode_gauges(second, first), minute(5), minute(10));
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(*row, second);
  EXPECT_EQ(chain.next(encode_gauges(third, second), minute(11), minute(15)), nullptr);
  EXPECT_EQ(chain.next(encode_gauges(third, second), minute(10), minute(15)), nullptr) << "until the next whole one";
  row = chain.next(encode_gauges(third), minute(15), minute(20));
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(*row, third);
}

TEST(GaugeCodec, AddsReadingsUp) {
  GaugePort port;
  PortGauges reading;
  reading.present = 1U << static_cast<unsigned>(PortGauge::kTemperature);
  for (const std::int64_t value : {40'000, 45'000, 38'000, 41'000}) {
    reading.values[static_cast<std::size_t>(PortGauge::kTemperature)] = value;
    add(port, reading);
  }
  const GaugeRange& range = port.ranges[static_cast<std::size_t>(PortGauge::kTemperature)];
  EXPECT_EQ(range, (GaugeRange{41'000, 38'000, 45'000}));
  EXPECT_EQ(port.present, reading.present);
  add(port, PortGauges{});
  EXPECT_EQ(range.last, 41'000) << "what is absent changes nothing";
}

TEST(GaugeCodec, RefusesDamage) {
  std::mt19937_64 random(3);
  const std::vector<std::byte> good = encode_gauges(random_gauges(random, 256));
  EXPECT_FALSE(decode_gauges({}));
  for (std::size_t length = 0; length < good.size(); length += 13)
    EXPECT_FALSE(decode_gauges(std::span(good).first(length)));
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> bad = good;
    bad[random() % bad.size()] ^= std::byte{static_cast<unsigned char>(1 + random() % 255)};
    const auto decoded = decode_gauges(bad);
    EXPECT_LE(decoded ? decoded->size() : 0, kChunkPorts);
  }
}

}  // namespace
}  // namespace weft::store
