// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/detail_schedule.hpp"

#include <algorithm>

#include "tests/unit/collectors/infiniband/small_subnet.hpp"

namespace weft::infiniband {
namespace {

using namespace std::chrono_literals;
using Ports = std::vector<PortIndex>;

constexpr TimePoint kBegin{std::chrono::hours(1000)};

struct Schedule {
  DetailSchedule schedule;
  TimePoint now = kBegin;
  std::size_t ports = 1000;

  /// One sweep a second; each port's turn comes once in 1,000 seconds.
  Ports sweep(const Ports& troubled = {}, const Ports& moved = {}) {
    now += 1s;
    return schedule.next(troubled, moved, ports, 1s, 1000s, now, [](PortIndex) { return true; });
  }
};

bool contains(const Ports& ports, PortIndex port) {
  return std::ranges::find(ports, port) != ports.end();
}

TEST(DetailSchedule, EachPortHasItsTurn) {
  Schedule each;
  std::vector<unsigned> seen(each.ports, 0);
  for (int i = 0; i < 1000; ++i)
    for (const PortIndex port : each.sweep()) ++seen[port];
  for (const unsigned times : seen) EXPECT_TRUE(times == 2 || times == 1 || times == 3) << times;
}

TEST(DetailSchedule, ALinkInTroubleIsReadInEverySweepForAMinute) {
  Schedule one;
  EXPECT_TRUE(contains(one.sweep({700}), 700));
  for (int i = 1; i < 60; ++i) EXPECT_TRUE(contains(one.sweep(), 700)) << i;
  EXPECT_FALSE(contains(one.sweep(), 700));
  EXPECT_EQ(one.schedule.watched(), 0U);
  one.sweep({700});
  for (int i = 0; i < 30; ++i) one.sweep();
  one.sweep({700});
  for (int i = 1; i < 60; ++i) EXPECT_TRUE(contains(one.sweep(), 700)) << "since its last trouble";
}

TEST(DetailSchedule, APortWhosePacketsHadErrorsIsReadOnce) {
  Schedule one;
  EXPECT_TRUE(contains(one.sweep({}, {700}), 700));
  EXPECT_FALSE(contains(one.sweep(), 700));
}

TEST(DetailSchedule, IsBoundedWhateverHappens) {
  Schedule all;
  all.ports = 10'000;
  Ports everywhere(all.ports);
  for (PortIndex i = 0; i < everywhere.size(); ++i) everywhere[i] = i;
  const std::size_t most = DetailSchedule::kMostWatched + DetailSchedule::kMostAtOnce + 11;
  for (int i = 0; i < 5; ++i) EXPECT_LE(all.sweep(everywhere, everywhere).size(), most);
  EXPECT_EQ(all.schedule.watched(), DetailSchedule::kMostWatched);
  EXPECT_TRUE(contains(all.sweep({9'999}), 9'999)) << "the latest trouble takes the place of an older one";
  EXPECT_TRUE(contains(all.sweep(), 9'999));
}

TEST(DetailSchedule, PortsThatAreDownHaveNoTurnButMayBeInTrouble) {
  DetailSchedule schedule;
  const auto none = [](PortIndex) { return false; };
  EXPECT_EQ(schedule.next({}, {}, 4, 1s, 1s, kBegin, none), Ports{});
  EXPECT_EQ(schedule.next(Ports{2}, {}, 4, 1s, 1s, kBegin, none), Ports{2});
  EXPECT_EQ(schedule.next({}, {}, 0, 1s, 1s, kBegin + 100s, none), Ports{}) << "no ports at all";
}

TEST(DetailSchedule, ASetBackClockEndsTheWatch) {
  Schedule one;
  one.sweep({700});
  one.now -= 10h;
  EXPECT_FALSE(contains(one.sweep(), 700));
}

using DetailSweep = SmallSubnet;

TEST_F(DetailSweep, AFlapMakesTheSweeperLookCloser) {
  options.detail_interval = 24h;
  port.node(left).details = true;
  unsigned readings = 0;
  port.tamper = [&](const MadAddress& to, FakeMadPort::Reply& reply) {
    const bool is_detail = mad_get_field(reply.data(), 0, IB_MAD_ATTRID_F) == IB_GSI_PORT_RCV_ERROR_DETAILS;
    if (to.mad_class == MadClass::kPerformance && to.lid == find_lid(left) && is_detail && reply[65] == 2) ++readings;
    return reply.size();
  };
  port.port(left, 2).counters = {{IB_PC_LINK_DOWNED_F, 3}};
  Sweeper sweeper(port, options);
  for (int i = 0; i < 30; ++i) sweep(sweeper);
  EXPECT_LE(readings, 2U) << "its turn at most: flaps of long ago are none";
  readings = 0;
  port.port(left, 2).counters = {{IB_PC_LINK_DOWNED_F, 4}};
  for (int i = 0; i < 10; ++i) sweep(sweeper);
  EXPECT_EQ(readings, 10U);
}

}  // namespace
}  // namespace weft::infiniband
