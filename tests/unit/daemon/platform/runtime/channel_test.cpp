// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/channel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace weft::runtime {
namespace {

TEST(Channel, KeepsTheOrder) {
  Channel<int> channel("test", 4, WhenFull::kRefuse);
  EXPECT_TRUE(channel.push(1));
  EXPECT_TRUE(channel.push(2));
  EXPECT_EQ(channel.figures().depth, 2U);
  EXPECT_EQ(channel.try_pop(), 1);
  EXPECT_EQ(channel.try_pop(), 2);
  EXPECT_EQ(channel.try_pop(), std::nullopt);
}

TEST(Channel, WhatIsFirstGoesBeforeTheRestInItsOrder) {
  Channel<char> channel("test", 8, WhenFull::kRefuse);
  for (const char c : {'c', 'd'}) EXPECT_TRUE(channel.push(c));
  EXPECT_TRUE(channel.push('a', Turn::kFirst));
  EXPECT_TRUE(channel.push('b', Turn::kFirst));
  std::string taken;
  for (int i = 0; i < 3; ++i) taken += *channel.try_pop();
  EXPECT_TRUE(channel.push('C', Turn::kFirst));
  while (const auto c = channel.try_pop()) taken += *c;
  EXPECT_EQ(taken, "abcCd");
}

TEST(Channel, RefusesWhenFull) {
  Channel<int> channel("test", 2, WhenFull::kRefuse);
  EXPECT_TRUE(channel.push(1));
  EXPECT_TRUE(channel.push(2));
  EXPECT_FALSE(channel.push(3));
  EXPECT_EQ(channel.figures().refused, 1U);
  EXPECT_EQ(channel.try_pop(), 1);
  EXPECT_TRUE(channel.push(4));
}

TEST(Channel, LatestWinsWithCapacityOne) {
  Channel<int> channel("test", 1, WhenFull::kDropOldest);
  for (int i = 1; i <= 5; ++i) EXPECT_TRUE(channel.push(i));
  EXPECT_EQ(channel.try_pop(), 5);
  EXPECT_EQ(channel.try_pop(), std::nullopt);
  EXPECT_EQ(channel.figures().dropped, 4U);
  EXPECT_EQ(channel.figures().pushed, 5U);
}

TEST(Channel, NotifiesOnceForEachFillingOfAnEmptyChannel) {
  int notified = 0;
  Channel<int> channel("test", 1, WhenFull::kDropOldest, [&] { ++notified; });
  channel.push(1);
  channel.push(2);  // replaces 1: whoever was told has not come yet
  EXPECT_EQ(notified, 1);
  channel.try_pop();
  channel.push(3);
  EXPECT_EQ(notified, 2);
}

TEST(Channel, ClosingLetsTheRestOutAndNothingIn) {
  Channel<int> channel("test", 4, WhenFull::kBlock);
  channel.push(1);
  channel.close();
  EXPECT_FALSE(channel.push(2));
  EXPECT_EQ(channel.pop(), 1);
  EXPECT_EQ(channel.pop(), std::nullopt);
}

TEST(Channel, ClosingWakesAProducerThatWaitsForRoom) {
  Channel<int> channel("test", 1, WhenFull::kBlock);
  channel.push(1);
  std::atomic<bool> taken{true};
  std::thread producer([&] { taken = channel.push(2); });
  channel.close();
  producer.join();
  EXPECT_FALSE(taken);
}

TEST(Channel, BlockingLosesNothingBetweenManyThreads) {
  constexpr int kEach = 2000;
  Channel<std::unique_ptr<int>> channel("test", 3, WhenFull::kBlock);
  std::atomic<long> sum{0};
  std::vector<std::thread> consumers;
  for (int i = 0; i < 2; ++i)
    consumers.emplace_back([&] {
      while (auto item = channel.pop()) sum += **item;
    });
  std::vector<std::thread> producers;
  for (int i = 0; i < 3; ++i)
    producers.emplace_back([&] {
      for (int value = 1; value <= kEach; ++value) channel.push(std::make_unique<int>(value));
    });
  for (auto& thread : producers) thread.join();
  channel.close();
  for (auto& thread : consumers) thread.join();
  EXPECT_EQ(sum, 3L * kEach * (kEach + 1) / 2);
  EXPECT_EQ(channel.figures().dropped, 0U);
  EXPECT_EQ(channel.figures().depth, 0U);
}

}  // namespace
}  // namespace weft::runtime
