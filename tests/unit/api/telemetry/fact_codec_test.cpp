// SPDX-License-Identifier: Apache-2.0
#include "api/telemetry/fact_codec.hpp"

#include <gtest/gtest.h>

#include "api/telemetry/batch_codec.hpp"

namespace weft::api {
namespace {

FactTable facts() {
  return {{{"", 0, {{ConfigFact::kHostModel, FactSource::kSysfs, "DGXH100"}}},
           {"mlx5_0",
            1,
            {{ConfigFact::kFirmware, FactSource::kSysfs, "28.41.1000"}, {ConfigFact::kPfc, FactSource::kDcb, "3"}}}}};
}

TEST(FactCodec, WhatIsPackedComesOutAgain) {
  const auto again = decode_facts(encode_facts(facts()));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, facts());
  EXPECT_EQ(decode_facts(encode_facts({})).value(), FactTable{});
}

TEST(FactCodec, EveryTruncationIsRefused) {
  const std::vector<std::byte> packed = encode_facts(facts());
  for (std::size_t length = 0; length < packed.size(); ++length)
    EXPECT_FALSE(decode_facts(std::span(packed).first(length))) << length;
  std::vector<std::byte> longer = packed;
  longer.push_back({});
  EXPECT_FALSE(decode_facts(longer));
}

TEST(FactCodec, EveryByteMayBeAnyOther) {
  const std::vector<std::byte> packed = encode_facts(facts());
  for (std::size_t at = 0; at < packed.size(); ++at)
    for (unsigned value = 0; value < 256; ++value) {
      std::vector<std::byte> other = packed;
      other[at] = static_cast<std::byte>(value);
      const auto read = decode_facts(other);
      if (!read) continue;
      EXPECT_EQ(tidy(*read), *read);
    }
}

/// A newer collector tells of more: the rest is understood.
TEST(FactCodec, FactsThatAreNotKnownAreLeftOut) {
  FactTable newer = facts();
  newer.ports[1].facts.push_back({static_cast<ConfigFact>(60), FactSource::kSysfs, "tomorrow"});
  newer.ports[1].facts.push_back({ConfigFact::kMtu, static_cast<FactSource>(9), "9000"});
  EXPECT_EQ(decode_facts(encode_facts(newer)).value(), facts());
}

TEST(FactCodec, IsBounded) {
  FactTable great;
  for (unsigned i = 0; i < FactLimits::kPorts; ++i)
    great.ports.push_back(
        {"swp" + std::to_string(10'000 + i), 0, {{ConfigFact::kFirmware, FactSource::kSysfs, std::string(128, 'x')}}});
  great.ports.resize(2'000);
  EXPECT_EQ(decode_facts(encode_facts(great)).value(), great);
  for (PortFacts& port : great.ports)
    for (const ConfigFact fact : {ConfigFact::kDriver, ConfigFact::kMtu, ConfigFact::kPfc})
      port.facts.push_back({fact, FactSource::kSysfs, std::string(128, 'y')});
  const auto cut = decode_facts(encode_facts(great));
  ASSERT_TRUE(cut);
  EXPECT_LT(cut->ports.size(), great.ports.size());
  EXPECT_LE(encode_facts(great).size(), kMostFactBytes);
  EXPECT_EQ(decode_facts(std::vector<std::byte>(kMostFactBytes + 1)).error().code, ErrorCode::kInvalidArgument);
}

TEST(FactCodec, TidyMakesOfAnythingATable) {
  FactTable any;
  any.ports.push_back(
      {"b\n\xff", 1, {{ConfigFact::kMtu, FactSource::kSysfs, "\x1b[31m"}, {ConfigFact::kMtu, FactSource::kDcb, "2"}}});
  any.ports.push_back({"a", 1, {{ConfigFact::kFirmware, FactSource::kSysfs, ""}}});
  any.ports.push_back({"a",
                       2,
                       {{ConfigFact::kPfc, FactSource::kDcb, std::string(1'000, 'p')},
                        {ConfigFact::kFirmware, FactSource::kSysfs, "1"}}});
  any.ports.push_back({"a", 2, {{ConfigFact::kMtu, FactSource::kSysfs, "7"}}});
  const FactTable clean = tidy(any);
  ASSERT_EQ(clean.ports.size(), 2U);
  EXPECT_EQ(clean.ports[0].device, "a");
  EXPECT_EQ(clean.ports[0].facts[0].fact, ConfigFact::kFirmware);
  EXPECT_EQ(clean.ports[0].facts[1].value.size(), FactLimits::kValueLength);
  EXPECT_EQ(clean.ports[1].device, "b??");
  ASSERT_EQ(clean.ports[1].facts.size(), 1U);
  EXPECT_EQ(clean.ports[1].facts[0].value, "?[31m");
  EXPECT_EQ(find_fact(*find_facts(clean, "a", 2), ConfigFact::kFirmware)->value, "1");
  EXPECT_EQ(find_facts(clean, "a", 1), nullptr);
}

HostBatch fact_batch(std::shared_ptr<const FactTable> table, int second, TimePoint read_at) {
  HostBatch made;
  made.reading.emplace();
  made.reading->taken = TimePoint(std::chrono::seconds(second));
  made.reading->inventory = std::make_shared<HostInventory>();
  made.reading->facts = std::move(table);
  made.reading->facts_at = read_at;
  return made;
}

TEST(FactCodec, TheSpoolKeepsThemAndTellsThemOnce) {
  BatchEncoder spool(BatchLimits{}, true);
  BatchDecoder decoder;
  const auto table = std::make_shared<const FactTable>(facts());
  const TimePoint first(std::chrono::seconds(1));
  const auto whole = *spool.encode(fact_batch(table, 1, first));
  auto read = decoder.decode(whole);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read->reading->facts, facts());
  EXPECT_EQ(read->reading->facts_at, first);
  const auto same = *spool.encode(fact_batch(table, 2, first));
  EXPECT_LT(same.size() + 20, whole.size());
  read = decoder.decode(same);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read->reading->facts, facts());
  EXPECT_EQ(read->reading->facts_at, first);
  // Read again, and nothing changed.
  const TimePoint later(std::chrono::seconds(3'601));
  read = decoder.decode(*spool.encode(fact_batch(std::make_shared<const FactTable>(facts()), 3'601, later)));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->reading->facts_at, later);
  FactTable other = facts();
  other.ports[1].facts[0].value = "28.43.1";
  read = decoder.decode(*spool.encode(fact_batch(std::make_shared<const FactTable>(other), 3'602, later)));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read->reading->facts, other);
}

TEST(FactCodec, TheStreamHasThemBesideItsBodies) {
  BatchEncoder stream;
  BatchEncoder without;
  EXPECT_EQ(
      *stream.encode(fact_batch(std::make_shared<const FactTable>(facts()), 1, TimePoint(std::chrono::seconds(1)))),
      *without.encode(fact_batch(nullptr, 1, kNever)));
}

}  // namespace
}  // namespace weft::api
