// SPDX-License-Identifier: Apache-2.0
#include "api/telemetry/batch_codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace weft::api {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart = TimePoint(1'700'000'000s);

/// `devices` ports with `each` series.
std::shared_ptr<HostInventory> make_inventory(unsigned devices, unsigned each) {
  auto inventory = std::make_shared<HostInventory>();
  for (unsigned d = 0; d < devices; ++d) {
    HostPort port;
    port.device = "mlx5_" + std::to_string(d);
    port.number = 1;
    port.netdev = "ens" + std::to_string(d) + "np0";
    port.pci_address = "0000:17:00." + std::to_string(d);
    port.driver = "mlx5";
    port.firmware = "28.39.1002";
    if (d % 2 == 0) port.board_id = "MT_0000000838";
    if (d % 2 == 0) port.device_type = "MT4129";
    port.link_layer = d % 2 == 0 ? LinkLayer::kEthernet : LinkLayer::kInfiniBand;
    port.node_guid = NodeGuid{0xb83fd20300000000 + d};
    port.port_guid = PortGuid{0xb83fd20300000000 + d};
    port.lid = Lid{static_cast<std::uint16_t>(d)};
    port.state = PortState::kActive;
    port.physical_state = PortPhysicalState::kLinkUp;
    port.rate_bits_per_second = 400'000'000'000;
    inventory->ports.push_back(port);
    for (unsigned s = 0; s < each; ++s) {
      HostSeries series;
      series.device = port.device;
      series.port = 1;
      series.name = "counter_number_" + std::to_string(s);
      series.is_raw = s % 5 == 0;
      series.direction = static_cast<Direction>(s % 3);
      if (s % 4 == 0) series.priority = static_cast<std::uint8_t>(s % 8);
      if (s % 7 == 0) series.lane = static_cast<std::uint8_t>(s);
      series.bits = s % 2 == 0 ? 64 : 32;
      series.behaviour = static_cast<CounterBehaviour>(s % 3);
      inventory->series.push_back(series);
    }
  }
  return inventory;
}

HostBatch make_batch(std::shared_ptr<const HostInventory> inventory, std::uint64_t value) {
  HostBatch batch;
  HostReading reading;
  reading.taken = kStart;
  reading.values.assign(inventory->series.size(), value);
  reading.present.assign(inventory->series.size(), 1);
  reading.inventory = std::move(inventory);
  reading.sources = {{"sysfs", true, ""}, {"module", false, "needs CAP_NET_ADMIN"}};
  reading.jobs = {"slurm:4711"};
  batch.reading = std::move(reading);
  return batch;
}

LinkEvent make_event() {
  LinkEvent event;
  event.at = kStart + 300ms;
  event.device = "mlx5_0";
  event.port = 1;
  event.netdev = "ens0np0";
  event.up = true;
  event.carrier_down_count = 7;
  event.administrative = true;
  event.reason = "No cable";
  return event;
}

/// What was decoded says the same as `expected`. Values of absent series are of no account.
void expect_same(const HostBatch& expected, const HostBatch& decoded) {
  EXPECT_EQ(expected.events, decoded.events);
  ASSERT_EQ(expected.reading.has_value(), decoded.reading.has_value());
  if (!expected.reading) return;
  const HostReading& a = *expected.reading;
  const HostReading& b = *decoded.reading;
  EXPECT_EQ(a.taken, b.taken);
  EXPECT_EQ(a.inventory->ports, b.inventory->ports);
  EXPECT_EQ(a.inventory->series, b.inventory->series);
  EXPECT_EQ(a.present, b.present);
  ASSERT_EQ(a.values.size(), b.values.size());
  for (std::size_t i = 0; i < a.values.size(); ++i)
    if (a.present[i]) {
      EXPECT_EQ(a.values[i], b.values[i]) << i;
    }
  EXPECT_EQ(a.sources, b.sources);
  EXPECT_EQ(a.jobs, b.jobs);
}

class Pair {
 public:
  /// Encodes, decodes, compares; the body's size.
  std::size_t pass(const HostBatch& batch) {
    const auto body = encoder.encode(batch);
    if (!body) {
      ADD_FAILURE() << body.error().message;
      return 0;
    }
    const auto decoded = decoder.decode(*body);
    if (!decoded) {
      ADD_FAILURE() << decoded.error().message;
      return 0;
    }
    expect_same(batch, *decoded);
    return body->size();
  }
  BatchEncoder encoder;
  BatchDecoder decoder;
};

TEST(BatchCodec, BringsEveryFieldBack) {
  Pair pair;
  HostBatch batch = make_batch(make_inventory(3, 20), 12345);
  auto changed = std::make_shared<HostInventory>(*batch.reading->inventory);
  changed->ports[1].bond = "bond0";
  changed->ports[1].is_virtual_function = true;
  changed->ports[1].administratively_down = true;
  changed->ports[1].state = PortState::kDown;
  changed->ports[1].down_reason = "No cable";
  batch.reading->inventory = changed;
  batch.reading->present[5] = 0;
  batch.reading->values[6] = ~std::uint64_t{0};
  batch.events = {make_event(), make_event()};
  batch.events[1].at = kStart - 5s;
  batch.events[1].carrier_up_count = 0xFFFFFFFF;
  pair.pass(batch);
}

TEST(BatchCodec, AQuietBatchOfTwoHundredValuesIsATenthOfAPacket) {
  Pair pair;
  HostBatch batch = make_batch(make_inventory(8, 25), 1'000'000);
  for (std::size_t i = 0; i < 200; i += 10) batch.reading->present[i] = 0;
  const std::size_t first = pair.pass(batch);
  EXPECT_LT(first, 6'000U);
  batch.reading->taken += 1s;
  EXPECT_LT(pair.pass(batch), 15U) << "nothing changed";
  batch.reading->taken += 1s;
  for (std::size_t i = 1; i < 200; i += 25) batch.reading->values[i] += 50'000'000'000;  // bytes at 400 Gb/s
  for (std::size_t i = 2; i < 200; i += 25) batch.reading->values[i] += 12'000'000;
  EXPECT_LT(pair.pass(batch), 120U) << "16 of 200 moved";
}

TEST(BatchCodec, ValuesWrapFallAndComeBack) {
  Pair pair;
  HostBatch batch = make_batch(make_inventory(1, 4), 0);
  batch.reading->values = {~std::uint64_t{0}, 0, 1, std::uint64_t{1} << 63};
  pair.pass(batch);
  batch.reading->values = {0, ~std::uint64_t{0}, 0, 5};
  pair.pass(batch);
  batch.reading->present = {0, 1, 0, 1};
  pair.pass(batch);
  pair.pass(batch);
  batch.reading->present = {1, 0, 1, 1};
  batch.reading->values = {0, 77, 1, 5};
  pair.pass(batch);
}

TEST(BatchCodec, AnythingAReaderMayGiveComesBack) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20; ++round) {
    Pair pair;
    std::shared_ptr<const HostInventory> inventory = make_inventory(2, 30);
    HostBatch batch = make_batch(inventory, 0);
    for (int step = 0; step < 50; ++step) {
      for (std::size_t i = 0; i < batch.reading->values.size(); ++i) {
        if (random() % 4 == 0) batch.reading->present[i] = random() % 3 != 0;
        if (random() % 3 == 0) batch.reading->values[i] += random() >> (random() % 64);
        if (random() % 50 == 0) batch.reading->values[i] = random();
      }
      batch.reading->taken += Duration(static_cast<std::int64_t>(random() % 2'000'000'000) - 1'000'000);
      if (random() % 10 == 0) batch.reading->jobs = {std::to_string(random())};
      if (random() % 10 == 0) batch.reading->sources[0].ok = !batch.reading->sources[0].ok;
      if (random() % 10 == 0) {
        auto changed = std::make_shared<HostInventory>(*inventory);
        changed->ports[0].state = random() % 2 == 0 ? PortState::kDown : PortState::kActive;
        if (random() % 3 == 0) {
          std::vector<HostSeries> swapped(changed->series.begin(), changed->series.end());
          std::swap(swapped[0], swapped[1]);
          changed->series = std::move(swapped);
        }
        batch.reading->inventory = inventory = changed;
      }
      batch.events.assign(random() % 3, make_event());
      if (random() % 5 == 0) {
        HostBatch events;
        events.events = {make_event()};
        pair.pass(events);
      }
      pair.pass(batch);
      if (random() % 20 == 0) pair.encoder.restart();
    }
  }
}

TEST(BatchCodec, WhatStayedIsNotToldAgain) {
  Pair pair;
  HostBatch batch = make_batch(make_inventory(8, 25), 1);
  const std::size_t whole = pair.pass(batch);
  auto changed = std::make_shared<HostInventory>(*batch.reading->inventory);
  changed->ports[3].state = PortState::kDown;
  batch.reading->inventory = changed;
  EXPECT_LT(pair.pass(batch), whole / 2) << "ports changed, series did not";
  batch.reading->inventory = std::make_shared<HostInventory>(*changed);
  EXPECT_LT(pair.pass(batch), 15U) << "made anew, but the same";
}

TEST(BatchCodec, ARestartedEncoderRefersToNothing) {
  Pair pair;
  HostBatch batch = make_batch(make_inventory(1, 5), 3);
  pair.pass(batch);
  pair.encoder.restart();
  const auto body = pair.encoder.encode(batch);
  ASSERT_TRUE(body);
  BatchDecoder other;
  const auto decoded = other.decode(*body);
  ASSERT_TRUE(decoded) << decoded.error().message;
  expect_same(batch, *decoded);
}

TEST(BatchCodec, ABodyWithoutItsPredecessorIsRefusedUntilOneThatRefersToNothing) {
  BatchEncoder encoder;
  HostBatch batch = make_batch(make_inventory(1, 5), 3);
  const auto first = encoder.encode(batch);
  const auto second = encoder.encode(batch);
  BatchDecoder decoder;
  EXPECT_EQ(decoder.decode(*second).error().code, ErrorCode::kProtocol);
  EXPECT_TRUE(decoder.decode(*first));
  EXPECT_TRUE(decoder.decode(*second));
  EXPECT_FALSE(decoder.decode({}));
  EXPECT_FALSE(decoder.decode(*second)) << "after an error";
  EXPECT_TRUE(decoder.decode(*first));
}

TEST(BatchCodec, EventsMayComeBeforeAnyReading) {
  Pair pair;
  HostBatch events;
  events.events = {make_event()};
  pair.pass(events);
  pair.pass(make_batch(make_inventory(1, 2), 1));
  pair.pass(events);
  pair.pass(HostBatch{});
}

TEST(BatchCodec, EveryBodyThatIsCutShortIsRefused) {
  HostBatch batch = make_batch(make_inventory(2, 10), 99);
  batch.events = {make_event()};
  const auto body = BatchEncoder().encode(batch);
  ASSERT_TRUE(body);
  for (std::size_t length = 0; length < body->size(); ++length) {
    const auto decoded = BatchDecoder().decode(std::span(*body).first(length));
    ASSERT_FALSE(decoded) << length;
    EXPECT_TRUE(decoded.error().code == ErrorCode::kProtocol || decoded.error().code == ErrorCode::kInvalidArgument);
  }
  std::vector<std::byte> longer = *body;
  longer.push_back(std::byte{0});
  EXPECT_EQ(BatchDecoder().decode(longer).error().message, "batch: it has data after its end");
}

TEST(BatchCodec, WhatGoesOverTheLimitsIsLeftOutByTheEncoder) {
  BatchLimits small;
  small.series = 3;
  small.ports = 1;
  small.jobs = 1;
  small.sources = 1;
  small.events = 2;
  small.name_length = 6;
  small.text_length = 4;
  HostBatch batch = make_batch(make_inventory(2, 10), 5);
  auto odd = std::make_shared<HostInventory>(*batch.reading->inventory);
  odd->ports[0].firmware = "a\nb";
  std::vector<HostSeries> renamed(odd->series.begin(), odd->series.end());
  for (HostSeries& series : renamed) series.name = std::to_string(&series - renamed.data()) + series.name;
  odd->series = std::move(renamed);
  batch.reading->inventory = odd;
  batch.reading->jobs = {"one too long", "two"};
  batch.events.assign(5, make_event());
  const auto body = BatchEncoder(small).encode(batch);
  ASSERT_TRUE(body);
  const auto decoded = BatchDecoder(small).decode(*body);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->reading->inventory->series.size(), 3U);
  EXPECT_EQ(decoded->reading->values.size(), 3U);
  EXPECT_EQ(decoded->reading->inventory->ports.at(0).firmware, "a?b");
  EXPECT_EQ(decoded->reading->jobs, std::vector<std::string>{"one "});
  EXPECT_EQ(decoded->events.size(), 2U);
}

TEST(BatchCodec, ABatchThatIsTooLargeIsAsIfItHadNeverBeen) {
  BatchLimits limits;
  limits.bytes = 2'000;
  BatchEncoder encoder(limits);
  BatchDecoder decoder(limits);
  EXPECT_EQ(encoder.encode(make_batch(make_inventory(8, 100), 5)).error().code, ErrorCode::kResourceExhausted);
  const HostBatch small = make_batch(make_inventory(1, 5), 5);
  const auto body = encoder.encode(small);
  ASSERT_TRUE(body);
  const auto decoded = decoder.decode(*body);
  ASSERT_TRUE(decoded) << decoded.error().message;
  expect_same(small, *decoded);
}

TEST(BatchCodec, TheDecoderRefusesWhatGoesOverItsLimits) {
  const auto body = BatchEncoder().encode(make_batch(make_inventory(3, 10), 5));
  const auto refused = [&](auto&& change) {
    BatchLimits limits;
    change(limits);
    const auto decoded = BatchDecoder(limits).decode(*body);
    return !decoded && decoded.error().code == ErrorCode::kInvalidArgument ? decoded.error().message : "taken";
  };
  EXPECT_EQ(refused([](BatchLimits& l) { l.series = 29; }), "batch: 30 series exceed the limit of 29");
  EXPECT_EQ(refused([](BatchLimits& l) { l.ports = 2; }), "batch: 3 ports exceed the limit of 2");
  EXPECT_EQ(refused([](BatchLimits& l) { l.name_length = 5; }), "batch: a text of 6 bytes is too long; limit: 5");
  EXPECT_EQ(refused([](BatchLimits& l) { l.text_length = 9; }), "batch: a text of 19 bytes is too long; limit: 9");
  EXPECT_EQ(refused([](BatchLimits& l) { l.sources = 1; }), "batch: 2 sources exceed the limit of 1");
  EXPECT_EQ(refused([](BatchLimits& l) { l.jobs = 0; }), "batch: 1 jobs exceed the limit of 0");
  EXPECT_NE(refused([&](BatchLimits& l) { l.bytes = body->size() - 1; }), "taken");
}

TEST(BatchCodec, SeriesThatDifferInTheirSourceAreNoTwins) {
  HostBatch batch = make_batch(make_inventory(1, 3), 5);
  auto inventory = std::make_shared<HostInventory>(*batch.reading->inventory);
  std::vector<HostSeries> list(3, inventory->series[0]);
  list[1].source = CounterSource::kRdma;
  list[2].source = CounterSource::kNetdev;
  inventory->series = list;
  batch.reading->inventory = inventory;
  const auto decoded = BatchDecoder().decode(*BatchEncoder().encode(batch));
  ASSERT_TRUE(decoded) << decoded.error().message;
  expect_same(batch, *decoded);
  list[2].source = CounterSource::kSweep;  // which no collector is
  inventory = std::make_shared<HostInventory>(*inventory);
  inventory->series = list;
  batch.reading->inventory = inventory;
  EXPECT_EQ(BatchDecoder().decode(*BatchEncoder().encode(batch)).error().message,
            "batch: a series has an unknown source");
}

TEST(BatchCodec, TwinsAndUnsortedPortsAreRefused) {
  HostBatch batch = make_batch(make_inventory(2, 3), 5);
  auto twins = std::make_shared<HostInventory>(*batch.reading->inventory);
  std::vector<HostSeries> repeated(twins->series.begin(), twins->series.end());
  repeated[2] = repeated[0];
  twins->series = std::move(repeated);
  batch.reading->inventory = twins;
  EXPECT_EQ(BatchDecoder().decode(*BatchEncoder().encode(batch)).error().message, "batch: two series are the same");
  auto unsorted = make_inventory(2, 3);
  std::swap(unsorted->ports[0], unsorted->ports[1]);
  batch.reading->inventory = unsorted;
  EXPECT_EQ(BatchDecoder().decode(*BatchEncoder().encode(batch)).error().code, ErrorCode::kInvalidArgument);
}

TEST(BatchCodec, AReadingWithoutAValueForEachSeriesIsNotEncoded) {
  HostBatch batch = make_batch(make_inventory(1, 3), 5);
  batch.reading->values.pop_back();
  EXPECT_EQ(BatchEncoder().encode(batch).error().code, ErrorCode::kInternal);
}

TEST(BatchCodec, HostileBodiesGiveAnErrorOrASoundBatch) {
  std::mt19937_64 random(3);
  HostBatch batch = make_batch(make_inventory(2, 10), 99);
  batch.events = {make_event()};
  const auto body = BatchEncoder().encode(batch);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bent = *body;
    for (std::uint64_t flips = 1 + random() % 4; flips > 0; --flips)
      bent[random() % bent.size()] = static_cast<std::byte>(random());
    const auto decoded = BatchDecoder().decode(bent);
    if (!decoded || !decoded->reading) continue;
    EXPECT_EQ(decoded->reading->values.size(), decoded->reading->inventory->series.size());
    EXPECT_EQ(decoded->reading->present.size(), decoded->reading->inventory->series.size());
  }
}

TEST(SeriesPool, HostsOfOneMakeShareOneList) {
  auto pool = std::make_shared<SeriesPool>();
  const auto batch = make_batch(make_inventory(1, 30), 7);
  const auto body = *BatchEncoder().encode(batch);
  BatchDecoder first({}, pool);
  BatchDecoder second({}, pool);
  const auto one = first.decode(body);
  const auto other = second.decode(body);
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->reading->inventory->series.shared(), other->reading->inventory->series.shared());
  EXPECT_EQ(one->reading->inventory->series, batch.reading->inventory->series);
  EXPECT_NE(BatchDecoder().decode(body)->reading->inventory->series.shared(), one->reading->inventory->series.shared());
}

}  // namespace
}  // namespace weft::api
