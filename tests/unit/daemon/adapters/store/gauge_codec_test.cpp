// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/gauge_codec.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "daemon/adapters/store/history_codec.hpp"

namespace weft::store {
namespace {

std::vector<GaugePort> random_gauges(std::mt19937_64& random, std::size_t count) {
  std::vector<GaugePort> ports(count);
  for (GaugePort& port : ports)
    for (std::size_t i = 0; i < kPortGauges; ++i) {
      if (random() % 4 == 0) continue;
      const auto gauge = static_cast<PortGauge>(i);
      std::array<std::int64_t, 3> values{};
      for (std::int64_t& value : values)
        value =
            round_gauge(gauge, gauge == PortGauge::kTemperature ? static_cast<std::int64_t>(random() % 200'000) - 60'000
                                                                : static_cast<std::int64_t>(random() % 3'000'000));
      std::ranges::sort(values);
      port.ranges[i] = {values[1], values[0], values[2]};
      port.present = static_cast<std::uint8_t>(port.present | 1U << i);
    }
  return ports;
}

TEST(GaugeCodec, ComesBackAsItWas) {
  std::mt19937_64 random(1);
  for (const std::size_t count : {1U, 2U, 37U, 255U, 256U})
    for (int i = 0; i < 20; ++i) {
      const std::vector<GaugePort> ports = random_gauges(random, count);
      const auto back = decode_gauges(encode_gauges(ports));
      ASSERT_TRUE(back) << back.error().message;
      ASSERT_EQ(*back, ports);
    }
}

TEST(GaugeCodec, RoundsByHalfAStep) {
  for (std::int64_t nanowatts = 100; nanowatts < 10'000'000; nanowatts += 1 + nanowatts / 500) {
    const std::int64_t kept = round_gauge(PortGauge::kReceivePower, nanowatts);
    ASSERT_LT(std::abs(10 * std::log10(static_cast<double>(kept) / static_cast<double>(nanowatts))), 0.13) << nanowatts;
    ASSERT_EQ(round_gauge(PortGauge::kReceivePower, kept), kept);
  }
  for (std::int64_t microamperes = 100; microamperes < 600'000; microamperes += 1 + microamperes / 500) {
    const std::int64_t kept = round_gauge(PortGauge::kLaserBias, microamperes);
    ASSERT_LT(std::abs(static_cast<double>(kept) / static_cast<double>(microamperes) - 1), 0.02) << microamperes;
    ASSERT_EQ(round_gauge(PortGauge::kLaserBias, kept), kept);
  }
  for (std::int64_t milli = -100'000; milli <= 154'000; milli += 37) {
    const std::int64_t kept = round_gauge(PortGauge::kTemperature, milli);
    ASSERT_LE(std::abs(kept - milli), 500);
    ASSERT_EQ(round_gauge(PortGauge::kTemperature, kept), kept);
  }
}

TEST(GaugeCodec, NoLightIsNotAbsentAndWhatIsBeyondIsTheEnd) {
  EXPECT_EQ(round_gauge(PortGauge::kReceivePower, 0), 0);
  EXPECT_EQ(round_gauge(PortGauge::kReceivePower, -1), 0);
  EXPECT_EQ(round_gauge(PortGauge::kReceivePower, 1), 100);
  EXPECT_GT(round_gauge(PortGauge::kReceivePower, INT64_MAX), 11'000'000);
  EXPECT_EQ(round_gauge(PortGauge::kTemperature, INT64_MIN), -100'000);
  EXPECT_EQ(round_gauge(PortGauge::kTemperature, INT64_MAX), 154'000);
  GaugePort dark;
  dark.present = 1;
  const auto back = decode_gauges(encode_gauges(std::vector{dark, GaugePort{}}));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->at(0).present, 1);
  EXPECT_EQ(back->at(0).ranges[0], GaugeRange{});
  EXPECT_EQ(back->at(1).present, 0);
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
  add(port, GaugePort{});
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
