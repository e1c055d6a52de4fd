// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/history_codec.hpp"

#include <gtest/gtest.h>

#include <random>

namespace weft::store {
namespace {

std::vector<ChunkPort> random_ports(std::mt19937_64& random, std::size_t count) {
  std::vector<ChunkPort> ports(count);
  for (ChunkPort& port : ports) {
    if (random() % 8 == 0) continue;  // not read
    port.present = static_cast<std::uint32_t>(random()) & ((1U << kHistoryCounters.size()) - 1);
    port.at_least = port.present & static_cast<std::uint32_t>(random());
    for (std::size_t i = 0; i < port.increase.size(); ++i)
      if ((port.present >> i & 1) != 0 && random() % 2 == 0) {
        const std::uint64_t value = random() >> (random() % 64);
        port.increase[i] = i < kDenseCounters ? round_dense(value) : value;
      }
  }
  return ports;
}

TEST(HistoryCodec, ComesBackAsItWas) {
  std::mt19937_64 random(1);
  for (const std::size_t count : {1U, 2U, 37U, 255U, 256U})
    for (int i = 0; i < 20; ++i) {
      const std::vector<ChunkPort> ports = random_ports(random, count);
      const auto back = decode_chunk(encode_chunk(ports));
      ASSERT_TRUE(back) << back.error().message;
      ASSERT_EQ(*back, ports);
    }
}

TEST(HistoryCodec, SingleValuesAreThoseOfTheWholeChunk) {
  std::mt19937_64 random(4);
  ChunkReader reader;
  EXPECT_EQ(reader.ports(), 0U);
  for (const std::size_t count : {256U, 1U, 37U}) {
    const std::vector<ChunkPort> ports = random_ports(random, count);
    ASSERT_TRUE(reader.read(encode_chunk(ports)));
    ASSERT_EQ(reader.ports(), count);
    for (std::size_t port = 0; port < count; ++port)
      for (std::size_t counter = 0; counter < kHistoryCounters.size(); ++counter) {
        ASSERT_EQ(reader.present(port, counter), (ports[port].present >> counter & 1) != 0);
        ASSERT_EQ(reader.at_least(port, counter), (ports[port].at_least >> counter & 1) != 0);
        ASSERT_EQ(reader.increase(port, counter), ports[port].increase[counter]);
      }
  }
  EXPECT_FALSE(reader.read({}));
  EXPECT_EQ(reader.ports(), 0U) << "nothing is left of the chunk before";
}

TEST(HistoryCodec, RoundsTrafficByLessThanAFifthOfAPercent) {
  std::mt19937_64 random(2);
  for (std::uint64_t value = 0; value < 512; ++value) EXPECT_EQ(round_dense(value), value);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t value = (random() >> (random() % 55)) | 1;
    const double error = static_cast<double>(round_dense(value)) / static_cast<double>(value) - 1;
    ASSERT_LT(std::abs(error), 0.002) << value;
    ASSERT_EQ(round_dense(round_dense(value)), round_dense(value));
  }
  EXPECT_GE(round_dense(~std::uint64_t{0}), ~std::uint64_t{0} / 512 * 511);
}

TEST(HistoryCodec, RefusesDamage) {
  std::mt19937_64 random(3);
  const std::vector<std::byte> good = encode_chunk(random_ports(random, 256));
  EXPECT_FALSE(decode_chunk({}));
  for (std::size_t length = 0; length < good.size(); length += 13)
    EXPECT_FALSE(decode_chunk(std::span(good).first(length)));
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> bad = good;
    bad[random() % bad.size()] ^= std::byte{static_cast<unsigned char>(1 + random() % 255)};
    const auto decoded = decode_chunk(bad);  // zlib's checksum notices nearly all; the rest must merely be harmless
    EXPECT_LE(decoded ? decoded->size() : 0, kChunkPorts);
  }
}

}  // namespace
}  // namespace weft::store
