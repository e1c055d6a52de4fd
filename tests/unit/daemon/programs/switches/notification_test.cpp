// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/switches/notification.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <string>

namespace weft::switches {
namespace {

using namespace std::chrono_literals;

/// The wire format of protobuf by hand (protobuf.dev, encoding), with the numbers of openconfig/gnmi's gnmi.proto: so
/// that ours cannot be wrong on both sides.
std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes.push_back(static_cast<char>(value | 0x80U));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}
std::string field(unsigned number, std::uint64_t value) {
  return varint(number << 3U) + varint(value);
}
std::string field(unsigned number, const std::string& bytes) {
  return varint((number << 3U) | 2U) + varint(bytes.size()) + bytes;
}
std::string fixed64(unsigned number, double value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return varint((number << 3U) | 1U) + bytes;
}
std::string fixed32(unsigned number, float value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return varint((number << 3U) | 5U) + bytes;
}
std::string element(const std::string& name) {
  return field(3, field(1, name));
}
std::string element(const std::string& name, const std::string& key, const std::string& value) {
  return field(3, field(1, name) + field(2, field(1, key) + field(2, value)));
}

gnmi::Value read_value(const std::string& bytes, ::gnmi::TypedValue& into) {
  EXPECT_TRUE(into.ParseFromString(bytes));
  return value_of(into);
}

TEST(GnmiNotification, EachKindOfValueIsRead) {
  ::gnmi::TypedValue told;
  EXPECT_EQ(read_value(field(1, "UP"), told), gnmi::Value(std::string_view("UP")));
  EXPECT_EQ(read_value(field(2, static_cast<std::uint64_t>(-5)), told), gnmi::Value(std::int64_t{-5}));
  EXPECT_EQ(read_value(field(3, 18446744073709551614U), told), gnmi::Value(std::uint64_t{18446744073709551614U}));
  EXPECT_EQ(read_value(field(4, 1), told), gnmi::Value(true));
  EXPECT_EQ(read_value(field(5, "\x01\x02"), told), gnmi::Value());
  EXPECT_EQ(read_value(fixed32(6, 1.5F), told), gnmi::Value(1.5));
  EXPECT_EQ(read_value(field(7, field(1, 1234) + field(2, 2)), told), gnmi::Value(12.34));
  EXPECT_EQ(read_value(field(8, field(1, field(3, 7))), told), gnmi::Value(std::uint64_t{7}));
  EXPECT_EQ(read_value(field(8, field(1, field(3, 7)) + field(1, field(3, 8))), told), gnmi::Value());
  EXPECT_EQ(read_value(field(10, "{}"), told), gnmi::Value(gnmi::Json{"{}"}));
  EXPECT_EQ(read_value(field(11, "\"1\""), told), gnmi::Value(gnmi::Json{"\"1\""}));
  EXPECT_EQ(read_value(field(12, "text"), told), gnmi::Value(std::string_view("text")));
  EXPECT_EQ(read_value(field(13, "\x08\x01"), told), gnmi::Value());
  EXPECT_EQ(read_value(fixed64(14, 2.5), told), gnmi::Value(2.5));
  EXPECT_EQ(read_value("", told), gnmi::Value());
  EXPECT_EQ(read_value(field(9, field(1, "type.googleapis.com/x")), told), gnmi::Value());
}

TEST(GnmiNotification, AMessageOfATargetBecomesValuesOfPorts) {
  const std::string prefix = element("interfaces") + element("interface", "name", "Ethernet1");
  const std::string counters = element("state") + element("counters");
  const std::string notification =
      field(1, 1'700'000'000'000'000'000U) + field(2, prefix) +
      field(4, field(1, counters + element("in-octets")) + field(3, field(3, 12))) +
      field(4, field(1, element("state") + element("oper-status")) + field(3, field(1, "UP")));
  ::gnmi::SubscribeResponse response;
  ASSERT_TRUE(response.ParseFromString(field(1, notification)));
  ASSERT_TRUE(response.has_update());
  EXPECT_EQ(response.update().timestamp(), 1'700'000'000'000'000'000);
  gnmi::SwitchState state;
  const TimePoint now{5s};
  EXPECT_EQ(take(response.update(), state, now).values, 2U);
  const HostReading reading = state.reading(now, now, 15s);
  ASSERT_EQ(reading.inventory->ports.size(), 1U);
  EXPECT_EQ(reading.inventory->ports[0].device, "Ethernet1");
  EXPECT_EQ(reading.inventory->ports[0].state, PortState::kActive);
  EXPECT_EQ(reading.values[0], 12U);
  ASSERT_TRUE(response.ParseFromString(field(1, field(5, prefix))));
  take(response.update(), state, now);
  EXPECT_TRUE(state.reading(now, now, 15s).inventory->ports.empty());
  ASSERT_TRUE(response.ParseFromString(field(3, 1)));
  EXPECT_TRUE(response.sync_response());
}

TEST(GnmiNotification, LongPathsAndManyValuesAreLeftOut) {
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += element("a");
  ::gnmi::Notification told;
  ASSERT_TRUE(told.ParseFromString(field(4, field(1, deep) + field(3, field(3, 1)))));
  gnmi::SwitchState state;
  EXPECT_EQ(take(told, state, TimePoint(1s)).left_out, 1U);
  told.Clear();
  for (std::size_t i = 0; i < kMostUpdates + 7; ++i) told.add_update();
  const Taken taken = take(told, state, TimePoint(1s));
  EXPECT_EQ(taken.values, kMostUpdates);
  EXPECT_EQ(taken.left_out, 7U);
}

TEST(GnmiNotification, TheRequestHasTheGroupsPaths) {
  const gnmi::Group& states = gnmi::groups().front();
  const auto request = request_for(states, gnmi::Pace::kChange, 5s, 30s, ::gnmi::PROTO);
  ASSERT_TRUE(request.has_subscribe());
  EXPECT_EQ(request.subscribe().mode(), ::gnmi::SubscriptionList::STREAM);
  EXPECT_EQ(request.subscribe().encoding(), ::gnmi::PROTO);
  ASSERT_EQ(static_cast<std::size_t>(request.subscribe().subscription_size()), states.paths.size());
  const auto& first = request.subscribe().subscription(0);
  EXPECT_EQ(first.mode(), ::gnmi::ON_CHANGE);
  EXPECT_EQ(first.heartbeat_interval(), 30'000'000'000U);
  ASSERT_EQ(first.path().elem_size(), 4);
  EXPECT_EQ(first.path().elem(1).key().at("name"), "*");
  const auto sampled = request_for(states, gnmi::Pace::kSample, 5s, 30s, ::gnmi::JSON_IETF);
  EXPECT_EQ(sampled.subscribe().subscription(0).mode(), ::gnmi::SAMPLE);
  EXPECT_EQ(sampled.subscribe().subscription(0).sample_interval(), 5'000'000'000U);
}

TEST(GnmiNotification, TheBestEncodingOfATargetIsAskedFor) {
  ::gnmi::CapabilityResponse told;
  EXPECT_EQ(encoding_of(told), ::gnmi::JSON_IETF);
  told.add_supported_encodings(::gnmi::JSON);
  EXPECT_EQ(encoding_of(told), ::gnmi::JSON);
  told.add_supported_encodings(::gnmi::JSON_IETF);
  EXPECT_EQ(encoding_of(told), ::gnmi::JSON_IETF);
  told.add_supported_encodings(::gnmi::PROTO);
  EXPECT_EQ(encoding_of(told), ::gnmi::PROTO);
}

}  // namespace
}  // namespace weft::switches
