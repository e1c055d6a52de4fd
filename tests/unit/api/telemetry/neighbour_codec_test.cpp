// SPDX-License-Identifier: Apache-2.0
#include "api/telemetry/neighbour_codec.hpp"

#include <gtest/gtest.h>

#include "api/telemetry/batch_codec.hpp"

namespace weft::api {
namespace {

NeighbourTable table() {
  Neighbour leaf;
  leaf.chassis = {ChassisIdType::kMac, "02:00:00:00:00:01"};
  leaf.port = {PortIdType::kInterfaceName, "swp1"};
  leaf.system_name = "leaf01";
  leaf.port_description = "to gpu-01";
  leaf.addresses = {"192.0.2.1", "fe80::1"};
  leaf.capabilities = kCapabilityBridge | kCapabilityRouter;
  leaf.ttl_seconds = 120;
  leaf.since = 1'700'000'000;
  return {.chassis = {ChassisIdType::kLocal, "gpu-01"},
          .system_name = "gpu-01",
          .ports = {{.interface = "eth1",
                     .own = {PortIdType::kMac, "02:00:00:00:00:02"},
                     .own_description = "eth1",
                     .neighbours = {leaf},
                     .left_out = 3},
                    {.interface = "eth2", .own = {}, .own_description = {}, .neighbours = {}}}};
}

TEST(NeighbourCodec, WhatIsPackedComesOutAgain) {
  const auto again = decode_neighbours(encode_neighbours(table()));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, table());
}

TEST(NeighbourCodec, EveryTruncationIsRefused) {
  const std::vector<std::byte> packed = encode_neighbours(table());
  for (std::size_t length = 0; length < packed.size(); ++length)
    EXPECT_FALSE(decode_neighbours(std::span(packed).first(length))) << length;
  std::vector<std::byte> longer = packed;
  longer.push_back({});
  EXPECT_FALSE(decode_neighbours(longer));
}

TEST(NeighbourCodec, EveryByteMayBeAnyOther) {
  const std::vector<std::byte> packed = encode_neighbours(table());
  for (std::size_t at = 0; at < packed.size(); ++at)
    for (unsigned value = 0; value < 256; ++value) {
      std::vector<std::byte> other = packed;
      other[at] = static_cast<std::byte>(value);
      const auto read = decode_neighbours(other);
      if (!read) continue;
      EXPECT_EQ(tidy(*read), *read);
    }
}

HostBatch batch(std::shared_ptr<const NeighbourTable> neighbours, int second) {
  HostBatch made;
  made.reading.emplace();
  made.reading->taken = TimePoint(std::chrono::seconds(1000 + second));
  made.reading->inventory = std::make_shared<const HostInventory>();
  made.reading->neighbours = std::move(neighbours);
  if (made.reading->neighbours) made.reading->neighbours_at = TimePoint(std::chrono::seconds(999 + second / 5 * 5));
  return made;
}

TEST(NeighbourCodec, TheSpoolHasATableOnceAndThenItsTimeAlone) {
  BatchEncoder spool(BatchLimits{}, true);
  BatchDecoder reader;
  const auto neighbours = std::make_shared<const NeighbourTable>(table());
  std::vector<std::size_t> sizes;
  for (int second = 0; second < 12; ++second) {
    const HostBatch sent = batch(neighbours, second);
    const auto body = spool.encode(sent);
    ASSERT_TRUE(body);
    sizes.push_back(body->size());
    const auto read = reader.decode(*body);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_TRUE(read->reading->neighbours);
    EXPECT_EQ(*read->reading->neighbours, table());
    EXPECT_EQ(read->reading->neighbours_at, sent.reading->neighbours_at);
  }
  EXPECT_GT(sizes[0], sizes[1] + 100);
  EXPECT_LT(sizes[5], sizes[1] + 12);
}

TEST(NeighbourCodec, AStreamHasThemBesideItsBodies) {
  BatchEncoder stream;
  BatchEncoder without;
  EXPECT_EQ(*stream.encode(batch(std::make_shared<const NeighbourTable>(table()), 0)),
            *without.encode(batch(nullptr, 0)));
}

}  // namespace
}  // namespace weft::api
