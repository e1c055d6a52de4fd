// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/switch_port/messages.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "daemon/platform/runtime/child_options.hpp"

namespace weft::switch_port {
namespace {

using namespace std::chrono_literals;

TEST(SwitchPortMessages, AQuestionArrivesAsItWasSent) {
  const Question sent{.targets = "leaf01 192.0.2.1:9339\n",
                      .targets_file = "/etc/weft/switches",
                      .credentials_directory = "/etc/weft/gnmi",
                      .max_message_bytes = 1 << 20,
                      .max_targets = 7,
                      .target = "leaf01",
                      .port = "Ethernet1/1",
                      .wanted = Wanted::kShut,
                      .before = 5s,
                      .timeout = 3s};
  const auto got = runtime::unpack_options<Question>(runtime::pack_options(sent));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->targets, sent.targets);
  EXPECT_EQ(got->targets_file, sent.targets_file);
  EXPECT_EQ(got->credentials_directory, sent.credentials_directory);
  EXPECT_EQ(got->max_message_bytes, sent.max_message_bytes);
  EXPECT_EQ(got->max_targets, sent.max_targets);
  EXPECT_EQ(got->target, "leaf01");
  EXPECT_EQ(got->port, "Ethernet1/1");
  EXPECT_EQ(got->wanted, Wanted::kShut);
  EXPECT_EQ(got->before, sent.before);
  EXPECT_EQ(got->timeout, sent.timeout);
}

TEST(SwitchPortMessages, WhatIsOutOfItsBoundsIsRefused) {
  const auto refused = [](Question question) {
    const auto got = runtime::unpack_options<Question>(runtime::pack_options(question));
    return got ? std::string("nothing") : got.error().message;
  };
  EXPECT_EQ(refused({.target = "leaf01", .port = "swp1"}), "nothing");
  EXPECT_EQ(refused({.target = "leaf01"}), "a switch and a port must be named");
  EXPECT_NE(refused({.target = "a", .port = "b", .wanted = static_cast<Wanted>(3)}).find("wanted is 3"),
            std::string::npos);
  EXPECT_NE(refused({.target = "a", .port = "b", .timeout = 0s}).find("timeout"), std::string::npos);
}

TEST(SwitchPortMessages, AnAnswerArrivesAsItWasSent) {
  const Answer sent{.outcome = Outcome::kUnclear,
                    .is_shut = true,
                    .is_up = false,
                    .is_known = true,
                    .systems = "spine01\n",
                    .detail = "leaf01 swp1: shut"};
  const auto got = runtime::unpack_options<Answer>(runtime::pack_options(sent));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->outcome, Outcome::kUnclear);
  EXPECT_TRUE(got->is_shut && !got->is_up && got->is_known);
  EXPECT_EQ(got->systems, sent.systems);
  EXPECT_EQ(got->detail, sent.detail);
  EXPECT_FALSE(runtime::unpack_options<Answer>(runtime::pack_options(Answer{.outcome = Outcome::kCount})));
}

}  // namespace
}  // namespace weft::switch_port
