// SPDX-License-Identifier: Apache-2.0
#include "collectors/rdma/driver_tables.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

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
  for (const char* driver : {"mlx5_core", "mlx4_en", "bnxt_en", "ice", "i40e", "ionic", "hns3", "cxgb4",
                             "mlxsw_spectrum", "mlxsw_spectrum4"}) {
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
  const auto told = find_driver_counter(ethernet::ethtool_table("mlxsw_spectrum3"), "rx_pause_duration_prio_3");
  ASSERT_TRUE(told);
  EXPECT_EQ(series_of(*told, "swp1", 0).name, "pfc_pause");
  EXPECT_EQ(series_of(*told, "swp1", 0).priority, 3);
  const auto marks = find_driver_counter(ethernet::ethtool_table("mlxsw_spectrum"), "ecn_marked");
  ASSERT_TRUE(marks);
  EXPECT_EQ(series_of(*marks, "swp1", 0).name, "ecn_marks_made");
}

TEST(DriverTables, MatchOnTheDriver) {
  const auto oos = find_driver_counter(hw_counter_table("mlx5"), "out_of_sequence");
  ASSERT_TRUE(oos);
  EXPECT_EQ(oos->counter->bits, 32);
  EXPECT_FALSE(find_driver_counter(hw_counter_table("irdma"), "out_of_sequence"));
  EXPECT_TRUE(find_driver_counter(hw_counter_table("ionic"), "resp_rx_outouf_seq"));
  EXPECT_FALSE(find_driver_counter(hw_counter_table("nobody"), "out_of_sequence"));
}

struct Meaning {
  const char* driver;
  const char* driver_name;
  const char* name;
};

TEST(DriverTables, KnowTheNamesOfEachKernel) {
  for (const Meaning& meaning :
       std::initializer_list<Meaning>{{"mlx5", "rx_icrc_encapsulated", "icrc_error"},
                                      {"mlx5", "req_cqe_flush_error", "request_flush"},
                                      {"mlx5", "resp_cqe_flush_error", "response_flush"},
                                      {"mlx5", "resp_remote_access_errors", "response_access_error"},
                                      {"mlx5", "roce_adp_retrans_to", "adaptive_retransmit_timeout"},
                                      {"mlx5", "roce_slow_restart_cnps", "slow_restart_cnp"},
                                      {"mlx5", "roce_slow_restart_trans", "slow_restart_transition"},
                                      {"mlx5", "cc_rx_ce_pkts", "rdma_ecn_marked_packets"},
                                      {"mlx5", "cc_rx_cnp_pkts", "rdma_cnp_received"},
                                      {"mlx5", "cc_tx_cnp_pkts", "rdma_cnp_sent"},
                                      {"mlx5", "rdma_tx_bytes", "rdma_transmit_bytes"},
                                      {"bnxt_re", "to_retransmits", "ack_timeout"},
                                      {"bnxt_re", "local_ack_timeout_err", "ack_timeout"},
                                      {"bnxt_re", "seq_err_naks_rcvd", "sequence_nak"},
                                      {"bnxt_re", "packet_seq_err", "sequence_nak"},
                                      {"bnxt_re", "missing_resp", "implied_nak"},
                                      {"bnxt_re", "implied_nak_seq_err", "implied_nak"},
                                      {"bnxt_re", "oos_drop_count", "out_of_sequence"},
                                      {"bnxt_re", "out_of_sequence", "out_of_sequence"},
                                      {"bnxt_re", "np_cnp_pkts", "cnp_sent"},
                                      {"bnxt_re", "rp_cnp_handled", "cnp_handled"},
                                      {"bnxt_re", "np_ecn_marked_roce_packets", "ecn_marked_packets"},
                                      {"efa", "unresponsive_remote_events", "unresponsive_peer"},
                                      {"efa", "impaired_remote_conn_events", "impaired_connection"},
                                      {"efa", "retrans_bytes", "retransmitted_bytes"},
                                      {"erdma", "hw_rx_disable_drop_cnt", "receive_drop"},
                                      {"erdma", "hw_tx_bytes_cnt", "transmit_bytes"},
                                      {"irdma", "CRC errors", "icrc_error"},
                                      {"irdma", "InProtoErrors", "protocol_error"},
                                      {"mana", "received_cnp_count", "rdma_cnp_received"},
                                      {"ionic", "req_rx_dup_response", "duplicate_response"},
                                      {"ionic", "resp_rx_cqe_flush", "response_flush"}}) {
    const auto match = find_driver_counter(hw_counter_table(meaning.driver), meaning.driver_name);
    ASSERT_TRUE(match) << meaning.driver << ' ' << meaning.driver_name;
    EXPECT_EQ(match->counter->name, meaning.name) << meaning.driver << ' ' << meaning.driver_name;
  }
  for (const char* name :
       {"module_bus_stuck", "module_high_temp", "module_bad_shorted", "rx_prio3_buf_discard", "rx_prio7_cong_discard"})
    EXPECT_TRUE(find_driver_counter(ethernet::ethtool_table("mlx5_core"), name)) << name;
}

TEST(DriverTables, FlushesAreShownAndNoErrors) {
  EXPECT_FALSE(find_counter("response_flush")->is_error);
  EXPECT_TRUE(find_counter("response_completion_error")->is_error);
  EXPECT_EQ(metric_name(*find_counter("request_flush")), "weft_rdma_errors_total");
}

TEST(DriverTables, KnowADriverByItsCounters) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(rdma_driver_from_counter_names(Names{"np_cnp_sent", "rp_cnp_handled", "out_of_sequence", "lifespan"}),
            "mlx5");
  EXPECT_EQ(rdma_driver_from_counter_names(Names{"tx_rdma_cnp_pkts", "req_rx_dup_response", "resp_rx_outouf_seq"}),
            "ionic");
  EXPECT_EQ(rdma_driver_from_counter_names(Names{"rx_drops", "retrans_pkts", "unresponsive_remote_events"}), "efa");
  // Since kernel 6.18 bnxt_re has names of mlx5, and some of its own.
  EXPECT_EQ(rdma_driver_from_counter_names(Names{"packet_seq_err", "out_of_sequence", "np_cnp_pkts", "rx_roce_errors"}),
            "bnxt_re");
  EXPECT_EQ(rdma_driver_from_counter_names(Names{"out_of_sequence", "packet_seq_err", "rnr_nak_retry_err"}), "")
      << "mlx5 or bnxt_re";
  EXPECT_EQ(rdma_driver_from_counter_names(Names{"out_of_sequence", "np_cnp_sent"}), "") << "too few";
  EXPECT_EQ(rdma_driver_from_counter_names(Names{}), "");
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
