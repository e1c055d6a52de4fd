// SPDX-License-Identifier: Apache-2.0
#include "api/convert/worst_links.hpp"

#include <gtest/gtest.h>

#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

using Request = v1::ListWorstLinksRequest;

/// Links of leaf-1: its ports 1, 2, 3 lead to the ports with the indices 5, 6, 7.
class WorstLinks : public ::testing::Test {
 protected:
  std::string listed(Request::Measure by, std::int32_t limit = 0, const std::string& name = "") {
    Request request;
    request.set_by(by);
    request.set_limit(limit);
    request.set_fabric(name);
    const auto worst = list_worst_links(*make_snapshot(1, {fabric.build()}), request, kNow);
    if (!worst) return worst.error().message;
    std::string text;
    for (const v1::WorstLink& each : worst->links()) {
      EXPECT_EQ(each.link().a().node(), "leaf-1");
      text += std::to_string(each.link().a().port()) + " at " + each.at().node() + ' ' + std::to_string(each.value()) +
              '\n';
    }
    return text;
  }

  SmallFabric fabric{3};
};

TEST_F(WorstLinks, CountByTheirWorseEnd) {
  fabric.rates[1].stall_ratio = 0.25;
  fabric.rates[6].stall_ratio = 0.5;
  fabric.rates[2].stall_ratio = 0.125;
  fabric.rates[3].stall_ratio = 0;
  EXPECT_EQ(listed(Request::STALL), "2 at host-2 mlx5_0 0.500000\n1 at leaf-1 0.250000\n");
  EXPECT_EQ(listed(Request::STALL, 1), "2 at host-2 mlx5_0 0.500000\n");
  EXPECT_EQ(listed(Request::STALL, 0, "ib0"), "2 at host-2 mlx5_0 0.500000\n1 at leaf-1 0.250000\n");
  EXPECT_EQ(listed(Request::ERRORS), "") << "nothing is known, and that is not zero";
}

TEST_F(WorstLinks, ByErrorsAndByFlaps) {
  fabric.rates[5].error_rate = 0.5;
  fabric.rates[3].error_rate = 0.75;
  EXPECT_EQ(listed(Request::ERRORS), "3 at leaf-1 0.750000\n1 at host-1 mlx5_0 0.500000\n");
  fabric.set(2, CounterId::kLinkDowned, 3);
  fabric.set(6, CounterId::kLinkDowned, 2);
  fabric.set(7, CounterId::kLinkDowned, 9);
  fabric.set(1, CounterId::kLinkDowned, 0);
  EXPECT_EQ(listed(Request::FLAPS), "3 at host-3 mlx5_0 9.000000\n2 at leaf-1 3.000000\n");
}

TEST_F(WorstLinks, AnEndThatWasNotReadLatelySaysNothing) {
  fabric.rates[1].stall_ratio = 0.25;
  fabric.rates[5].stall_ratio = 0.5;
  fabric.state_read_at[5] = kNow - std::chrono::minutes(1);
  EXPECT_EQ(listed(Request::STALL), "1 at leaf-1 0.250000\n");
  fabric.state_read_at[1] = kNow - std::chrono::minutes(1);
  EXPECT_EQ(listed(Request::STALL), "");
}

TEST_F(WorstLinks, RefuseWhatIsNoQuestion) {
  EXPECT_EQ(listed(Request::MEASURE_UNSPECIFIED), "links are ranked by errors, flaps or stall");
  EXPECT_EQ(listed(static_cast<Request::Measure>(9)), "links are ranked by errors, flaps or stall");
  EXPECT_EQ(listed(Request::STALL, -1), "the limit must not be negative");
  EXPECT_EQ(listed(Request::STALL, 0, "ib9"), "no fabric named ib9");
}

TEST_F(WorstLinks, AreBounded) {
  Request request;
  EXPECT_EQ(limit_of(request), 20U);
  request.set_limit(1'000'000);
  EXPECT_EQ(limit_of(request), 1000U);
}

}  // namespace
}  // namespace weft::api
