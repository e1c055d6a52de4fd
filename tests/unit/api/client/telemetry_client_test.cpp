// SPDX-License-Identifier: Apache-2.0
#include "api/client/telemetry_client.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace weft::api {
namespace {

constexpr const char* kNobody = "127.0.0.1:0";  // nobody can listen there

TEST(TelemetryClient, ends_while_its_stream_ends) {
  // The last channel must not be released on gRPC's thread of callbacks: that thread would wait for itself, and then
  // use the queue that it has destroyed.
  for (int round = 0; round < 200; ++round) {
    TelemetryClient client([] {});
    client.open(kNobody, {});
    std::this_thread::sleep_for(std::chrono::microseconds(20 * round));
  }
}

TEST(TelemetryClient, opens_another_stream_while_one_ends) {
  for (int round = 0; round < 100; ++round) {
    TelemetryClient client([] {});
    client.open(kNobody, {});
    client.open("no address", {});
    std::this_thread::sleep_for(std::chrono::microseconds(20 * round));
    client.open(kNobody, {});
  }
}

}  // namespace
}  // namespace weft::api
