// SPDX-License-Identifier: Apache-2.0
// Answers of ethtool netlink, dcbnl and RDMA netlink, made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <rdma/rdma_netlink.h>

#include <map>
#include <string>

#include "collectors/ethernet/dcb_message.hpp"
#include "collectors/ethernet/driver_statistics.hpp"
#include "collectors/ethernet/ethtool_message.hpp"
#include "collectors/rdma/nldev_message.hpp"
#include "tests/unit/collectors/netlink_message.hpp"

namespace weft {
namespace {

using ethernet::Figure;
using ethernet::Figures;
using testing::ElementsAre;
using testing::IsEmpty;
using tests::MessageBytes;

Figures read(void (*parser)(netlink::Bytes, Figures&), const MessageBytes& message) {
  Figures figures;
  parser(message, figures);
  return figures;
}

TEST(EthtoolMessage, ReadsFecByLane) {
  const std::uint64_t corrected[] = {100};
  const std::uint64_t uncorrectable[] = {1};
  const std::uint64_t bits[] = {500, 300, 200};
  MessageBytes statistics;
  statistics.attribute(ETHTOOL_A_FEC_STAT_CORRECTED, corrected, sizeof(corrected))
      .attribute(ETHTOOL_A_FEC_STAT_UNCORR, uncorrectable, sizeof(uncorrectable))
      .attribute(ETHTOOL_A_FEC_STAT_CORR_BITS, bits, sizeof(bits));
  EXPECT_THAT(read(ethernet::parse_fec, MessageBytes().nested(ETHTOOL_A_FEC_STATS, statistics)),
              ElementsAre(Figure{.name = "fec_corrected_blocks", .value = 100},
                          Figure{.name = "fec_uncorrectable_blocks", .value = 1},
                          Figure{.name = "fec_corrected_bit_errors", .value = 500},
                          Figure{.name = "fec_lane_corrected_bit_errors", .lane = 0, .value = 300},
                          Figure{.name = "fec_lane_corrected_bit_errors", .lane = 1, .value = 200}));
  EXPECT_THAT(read(ethernet::parse_fec, MessageBytes()), IsEmpty());
}

TEST(EthtoolMessage, ReadsPauseAndStandardStatistics) {
  const MessageBytes pause =
      MessageBytes().nested(ETHTOOL_A_PAUSE_STATS, MessageBytes()
                                                       .number<std::uint64_t>(ETHTOOL_A_PAUSE_STAT_TX_FRAMES, 3)
                                                       .number<std::uint64_t>(ETHTOOL_A_PAUSE_STAT_RX_FRAMES, 4)
                                                       .number<std::uint64_t>(4, 5));  // TX_PAUSE_STORM_EVENTS
  EXPECT_THAT(read(ethernet::parse_pause, pause),
              ElementsAre(Figure{.name = "pause_frames", .direction = Direction::kTransmit, .value = 3},
                          Figure{.name = "pause_frames", .direction = Direction::kReceive, .value = 4},
                          Figure{.name = "pause_storm_errors", .value = 5}));
  const auto statistic = [](std::uint16_t type, std::uint64_t value) {
    return MessageBytes().number<std::uint64_t>(type, value);
  };
  MessageBytes groups;
  groups.nested(ETHTOOL_A_STATS_GRP,
                MessageBytes()
                    .number<std::uint32_t>(ETHTOOL_A_STATS_GRP_ID, ETHTOOL_STATS_ETH_MAC)
                    .nested(ETHTOOL_A_STATS_GRP_STAT, statistic(ETHTOOL_A_STATS_ETH_MAC_8_TX_BYTES, 7))
                    .nested(ETHTOOL_A_STATS_GRP_STAT, statistic(ETHTOOL_A_STATS_ETH_MAC_10_LATE_COL, 8))
                    .nested(ETHTOOL_A_STATS_GRP_STAT, statistic(ETHTOOL_A_STATS_ETH_MAC_6_FCS_ERR, 9)));
  groups.nested(ETHTOOL_A_STATS_GRP,
                MessageBytes()
                    .number<std::uint32_t>(ETHTOOL_A_STATS_GRP_ID, ETHTOOL_STATS_ETH_PHY)
                    .nested(ETHTOOL_A_STATS_GRP_STAT, statistic(ETHTOOL_A_STATS_ETH_PHY_5_SYM_ERR, 10)));
  EXPECT_THAT(read(ethernet::parse_statistics, groups),
              ElementsAre(Figure{.name = "transmit_bytes", .value = 7}, Figure{.name = "crc_errors", .value = 9},
                          Figure{.name = "physical_symbol_errors", .value = 10}));
}

TEST(EthtoolMessage, SaysWhyALinkIsDown) {
  MessageBytes down;
  down.number<std::uint8_t>(ETHTOOL_A_LINKSTATE_LINK, 0)
      .number<std::uint8_t>(ETHTOOL_A_LINKSTATE_EXT_STATE, ETHTOOL_LINK_EXT_STATE_NO_CABLE);
  EXPECT_EQ(ethernet::parse_down_reason(down), "No cable");
  MessageBytes up;
  up.number<std::uint8_t>(ETHTOOL_A_LINKSTATE_LINK, 1).number<std::uint32_t>(ETHTOOL_A_LINKSTATE_SQI, 6);
  EXPECT_EQ(ethernet::parse_down_reason(up), "");
  EXPECT_THAT(read(ethernet::parse_link_state, up),
              ElementsAre(Figure{.name = "signal_quality_index", .is_gauge = true, .value = 6}));
  EXPECT_EQ(ethernet::parse_down_reason(MessageBytes().number<std::uint8_t>(ETHTOOL_A_LINKSTATE_EXT_STATE, 200)), "");
}

TEST(DcbMessage, ReadsPfcOfEachPriority) {
  ieee_pfc pfc{};
  pfc.pfc_en = 1 << 3;
  pfc.requests[3] = 30;
  pfc.indications[7] = 70;
  const MessageBytes message =
      MessageBytes().nested(DCB_ATTR_IEEE, MessageBytes().attribute(DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc)));
  std::map<std::tuple<std::string, int, int>, std::uint64_t> values;
  for (const Figure& figure : read(ethernet::parse_dcb_pfc, message))
    values[{std::string(figure.name), static_cast<int>(figure.direction), figure.priority}] = figure.value;
  EXPECT_EQ(values.size(), 24U);
  EXPECT_EQ((values[{"pfc_frames", static_cast<int>(Direction::kTransmit), 3}]), 30U);
  EXPECT_EQ((values[{"pfc_frames", static_cast<int>(Direction::kReceive), 7}]), 70U);
  EXPECT_EQ((values[{"pfc_enabled", 0, 3}]), 1U);
  EXPECT_EQ((values[{"pfc_enabled", 0, 4}]), 0U);
  const MessageBytes short_one =
      MessageBytes().nested(DCB_ATTR_IEEE, MessageBytes().attribute(DCB_ATTR_IEEE_PFC, &pfc, 8));
  EXPECT_THAT(read(ethernet::parse_dcb_pfc, short_one), IsEmpty());
}

TEST(StatisticsNames, ArePaddedAndMayHaveColons) {
  std::string bytes;
  for (const char* name : {"tx_ppp0_frames  ", "[0]: rx_ucast_packets", "", "a name of exactly 32 bytes here"}) {
    std::string padded(name);
    padded.resize(32, '\0');
    bytes += padded;
  }
  bytes += "cut";
  EXPECT_THAT(ethernet::parse_statistics_names(bytes),
              ElementsAre("tx_ppp0_frames", "[0]: rx_ucast_packets", "", "a name of exactly 32 bytes here"));
}

TEST(NldevMessage, ReadsDevicesAndCounters) {
  MessageBytes device;
  device.number<std::uint32_t>(RDMA_NLDEV_ATTR_DEV_INDEX, 4).text(RDMA_NLDEV_ATTR_DEV_NAME, "rxe0");
  const auto parsed = rdma::parse_nldev_device(device);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->index, 4U);
  EXPECT_EQ(parsed->name, "rxe0");
  EXPECT_FALSE(rdma::parse_nldev_device(MessageBytes().text(RDMA_NLDEV_ATTR_DEV_NAME, "rxe0")));

  const auto entry = [](const char* name, std::uint64_t value) {
    return MessageBytes()
        .text(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name)
        .number<std::uint64_t>(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value);
  };
  MessageBytes table;
  table.nested(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, entry("sent_pkts", 12))
      .nested(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, MessageBytes().text(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, "x"))
      .nested(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, entry("cc_rx_ce_pkts", 13));
  MessageBytes message;
  message.text(RDMA_NLDEV_ATTR_NDEV_NAME, "eth2").nested(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, table);
  std::map<std::string, std::uint64_t, std::less<>> counters;
  rdma::parse_nldev_statistics(
      message, [&](std::string_view name, std::uint64_t value) { counters[std::string(name)] = value; });
  EXPECT_EQ(counters, (std::map<std::string, std::uint64_t, std::less<>>{{"sent_pkts", 12}, {"cc_rx_ce_pkts", 13}}));
  EXPECT_EQ(rdma::parse_nldev_port_netdev(message), "eth2");
}

}  // namespace
}  // namespace weft
