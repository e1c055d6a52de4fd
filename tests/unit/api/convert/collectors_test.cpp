// SPDX-License-Identifier: Apache-2.0
#include "api/convert/collectors.hpp"

#include <gtest/gtest.h>

#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

TEST(Collectors, SayWhereTheyAreAndHowFarBehind) {
  HostView view;
  view.host = "gpu-1";
  view.address = "192.0.2.7:4242";
  view.heard = kNow;
  v1::Collector collector;
  to_proto(view, collector);
  EXPECT_EQ(collector.address(), "192.0.2.7:4242");
  EXPECT_FALSE(collector.has_behind_seconds()) << "there was no reading, and that is not zero";
  auto reading = std::make_shared<HostReading>();
  reading->taken = kNow - std::chrono::seconds(90);
  view.reading = reading;
  to_proto(view, collector);
  EXPECT_EQ(collector.behind_seconds(), 90);
  view.heard = kNow - std::chrono::minutes(5);
  to_proto(view, collector);
  EXPECT_EQ(collector.behind_seconds(), 0) << "a clock that was set back makes no negative age";
}

}  // namespace
}  // namespace weft::api
