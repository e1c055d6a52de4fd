// SPDX-License-Identifier: Apache-2.0
#include "collectors/rdma/driver_tables.hpp"

#include <gtest/gtest.h>

#include "collectors/ethernet/driver_statistics.hpp"
#include "fabric/counters.hpp"

namespace weft::rdma {
namespace {

constexpr const char* kDrivers[] = {"mlx5", "mlx4",  "bnxt_re", "irdma", "ionic", "hns", "mana",
                                    "efa",  "erdma", "rxe",     "cxgb4", "hfi1",  "siw"};

TEST(DriverTables, SayOnlyWhatTheCatalogueHas) {
  const auto check = [](std::span<const DriverCounter> table) {
    for (const DriverCounter& counter : table) {
      const CounterInfo* info = find_counter(counter.name);
      ASSERT_TRUE(info && info->on_hosts) << counter.driver_name << " → " << counter.name;
      EXPECT_EQ(info->by_direction, counter.direction != Direction::kNone) << counter.driver_name;
      EXPECT_TRUE(info->by_priority || counter.index != NameIndex::kPriority) << counter.driver_name;
      EXPECT_TRUE(info->by_lane || counter.index != NameIndex::kLane) << counter.driver_name;
      EXPECT_EQ(info->is_gauge, counter.behaviour == CounterBehaviour::kGauge) << counter.driver_name;
    }
  };
  check(port_counter_table());
  for (const char* driver : kDrivers) {
    check(hw_counter_table(driver));
    for (const DriverCounter& counter : hw_counter_table(driver)) EXPECT_EQ(counter.factor, 1U) << counter.driver_name;
  }
  for (const char* driver : {"mlx5_core", "mlx4_en", "bnxt_en", "ice", "i40e", "ionic", "hns3", "cxgb4"}) {
    EXPECT_FALSE(ethernet::ethtool_table(driver).empty()) << driver;
    check(ethernet::ethtool_table(driver));
  }
}

TEST(DriverTables, KnowStatisticsOfEthernetDrivers) {
  const auto pause = find_driver_counter(ethernet::ethtool_table("mlx5_core"), "rx_prio3_pause_duration");
  ASSERT_TRUE(pause);
  const HostSeries series = series_of(*pause, "mlx5_0", 1);
  EXPECT_EQ(series.name, "pfc_pause");
  EXPECT_EQ(series.priority, 3);
  EXPECT_EQ(series.direction, Direction::kReceive);
  const auto discards = find_driver_counter(ethernet::ethtool_table("bnxt_en"), "rx_discard_packets_cos7");
  ASSERT_TRUE(discards);
  EXPECT_EQ(series_of(*discards, "eth0", 0).priority, kNoPriority);
  EXPECT_TRUE(find_driver_counter(ethernet::ethtool_table("ice"), "tx_priority_5_xoff.nic"));
}

TEST(DriverTables, MatchOnTheDriver) {
  const auto oos = find_driver_counter(hw_counter_table("mlx5"), "out_of_sequence");
  ASSERT_TRUE(oos);
  EXPECT_EQ(oos->counter->bits, 32);
  EXPECT_FALSE(find_driver_counter(hw_counter_table("bnxt_re"), "out_of_sequence"));
  EXPECT_TRUE(find_driver_counter(hw_counter_table("ionic"), "resp_rx_outouf_seq"));
  EXPECT_FALSE(find_driver_counter(hw_counter_table("nobody"), "out_of_sequence"));
}

TEST(DriverTables, KnowDriversByTheirBusDriver) {
  EXPECT_EQ(rdma_driver_of("mlx5_core"), "mlx5");
  EXPECT_EQ(rdma_driver_of("bnxt_en"), "bnxt_re");
  EXPECT_EQ(rdma_driver_of("ice"), "irdma");
  EXPECT_EQ(rdma_driver_of("hfi1"), "hfi1");
  EXPECT_EQ(rdma_driver_from_device_name("mlx5_12"), "mlx5");
  EXPECT_EQ(rdma_driver_from_device_name("bnxt_re0"), "bnxt_re");
  EXPECT_EQ(rdma_driver_from_device_name("hfi1_0"), "hfi1");
  EXPECT_EQ(rdma_driver_from_device_name("mlx5_bond_0"), "");
  EXPECT_EQ(rdma_driver_from_device_name("rocep23s0"), "");
}

TEST(DriverCounter, TakesTheNumberOutOfAName) {
  constexpr DriverCounter kTable[] = {
      {"rx_prio#_pause", "pfc_frames", Direction::kReceive, NameIndex::kPriority},
      {"rx_err_lane_#_phy", "fec_lane_corrected_bit_errors", Direction::kNone, NameIndex::kLane},
  };
  const auto match = find_driver_counter(kTable, "rx_prio3_pause");
  ASSERT_TRUE(match);
  const HostSeries series = series_of(*match, "eth0", 0);
  EXPECT_EQ(series.priority, 3);
  EXPECT_EQ(series.lane, kNoLane);
  EXPECT_EQ(series.direction, Direction::kReceive);
  EXPECT_EQ(series_of(*find_driver_counter(kTable, "rx_err_lane_15_phy"), "eth0", 0).lane, 15);
  EXPECT_FALSE(find_driver_counter(kTable, "rx_prio8_pause"));
  EXPECT_FALSE(find_driver_counter(kTable, "rx_prio_pause"));
  EXPECT_FALSE(find_driver_counter(kTable, "rx_prio3_pause_duration"));
  EXPECT_FALSE(find_driver_counter(kTable, "rx_prio300_pause"));
  EXPECT_FALSE(find_driver_counter(kTable, "rx_prio-1_pause"));
}

}  // namespace
}  // namespace weft::rdma
