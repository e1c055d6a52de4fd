// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/switches/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

namespace weft::switches {
namespace {

using namespace std::chrono_literals;

/// What one side writes, the other reads.
struct Pipe {
  FrameWriter writer{[this](std::span<const std::byte> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
    return true;
  }};
  FrameReader reader{[this](std::span<std::byte> part) {
    if (bytes.size() - at < part.size()) return false;
    std::ranges::copy(std::span(bytes).subspan(at, part.size()), part.begin());
    at += part.size();
    return true;
  }};
  std::vector<std::byte> bytes{};
  std::size_t at = 0;
};

HostReading reading_of(std::uint64_t value) {
  static const auto kInventory = [] {
    auto inventory = std::make_shared<HostInventory>();
    HostPort port;
    port.device = port.netdev = "Ethernet1";
    inventory->ports.push_back(port);
    HostSeries series;
    series.device = "Ethernet1";
    series.name = "receive_bytes";
    inventory->series.push_back(series);
    return inventory;
  }();
  HostReading reading;
  reading.taken = TimePoint(1'700'000'000s);
  reading.inventory = kInventory;
  reading.values = {value};
  reading.present = {1};
  return reading;
}

TEST(SwitchFrames, ReadingsOfSeveralTargetsComeAsTheyWent) {
  Pipe pipe;
  ASSERT_TRUE(pipe.writer.write("leaf01", reading_of(5)));
  ASSERT_TRUE(pipe.writer.write("leaf02", reading_of(6)));
  ASSERT_TRUE(pipe.writer.write("leaf01", reading_of(7)));
  for (const auto& [name, value] : {std::pair("leaf01", 5U), {"leaf02", 6U}, {"leaf01", 7U}}) {
    const auto frame = pipe.reader.read();
    ASSERT_TRUE(frame) << frame.error().message;
    const auto& told = std::get<SwitchReading>(*frame);
    EXPECT_EQ(told.target, name);
    EXPECT_EQ(told.reading.values, std::vector<std::uint64_t>{value});
    EXPECT_EQ(told.reading.inventory->ports[0].device, "Ethernet1");
  }
  EXPECT_EQ(pipe.reader.read().error().code, ErrorCode::kUnavailable);
}

TEST(SwitchFrames, StatesAndTroubleComeAsTheyWent) {
  Pipe pipe;
  SwitchTarget target{.name = "leaf01", .address = "192.0.2.1:9339"};
  target.state = SwitchTargetState::kRefused;
  target.port_setting = "openconfig";
  target.since = target.told = TimePoint(5s);
  target.reason = "it does not accept our login";
  target.bad = 7;
  target.clock_difference = -3s;
  ASSERT_TRUE(pipe.writer.write(TargetStates{{target, target}}));
  ASSERT_TRUE(pipe.writer.write(Trouble{"no"}));
  EXPECT_EQ(std::get<TargetStates>(*pipe.reader.read()).targets, (std::vector<SwitchTarget>{target, target}));
  EXPECT_EQ(std::get<Trouble>(*pipe.reader.read()).message, "no");
}

TEST(SwitchFrames, ATargetThatIsForgottenBeginsAnew) {
  Pipe pipe;
  ASSERT_TRUE(pipe.writer.write("leaf01", reading_of(5)));
  ASSERT_TRUE(pipe.reader.read());
  ASSERT_TRUE(pipe.writer.write(TargetStates{}));
  ASSERT_TRUE(pipe.reader.read());
  pipe.writer.forget("leaf01");
  ASSERT_TRUE(pipe.writer.write("leaf01", reading_of(6)));
  const auto frame = pipe.reader.read();
  ASSERT_TRUE(frame) << frame.error().message;
  EXPECT_EQ(std::get<SwitchReading>(*frame).reading.values[0], 6U);
}

TEST(SwitchFrames, WhatIsNoFrameIsRefused) {
  Pipe whole;
  ASSERT_TRUE(whole.writer.write("leaf01", reading_of(5)));
  ASSERT_TRUE(whole.writer.write(TargetStates{{SwitchTarget{.name = "leaf01", .address = "192.0.2.1:1"}}}));
  for (std::size_t i = 0; i < whole.bytes.size(); ++i)
    for (const unsigned flip : {0x01U, 0x80U, 0xFFU}) {
      Pipe pipe;
      pipe.bytes = whole.bytes;
      pipe.bytes[i] ^= static_cast<std::byte>(flip);
      for (int frames = 0; frames < 3; ++frames)
        if (!pipe.reader.read()) break;
    }
  Pipe cut;
  cut.bytes.assign(whole.bytes.begin(), whole.bytes.begin() + 20);
  EXPECT_FALSE(cut.reader.read());
  Pipe nothing;
  nothing.bytes.resize(100);
  EXPECT_EQ(nothing.reader.read().error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace weft::switches
