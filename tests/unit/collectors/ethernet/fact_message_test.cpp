// SPDX-License-Identifier: Apache-2.0
#include "collectors/ethernet/fact_message.hpp"

#include <gtest/gtest.h>
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>

#include "tests/unit/collectors/netlink_message.hpp"

namespace weft::ethernet {
namespace {

using tests::MessageBytes;
using Facts = std::vector<FactValue>;

std::string fact_in(const Facts& facts, ConfigFact wanted) {
  for (const FactValue& fact : facts)
    if (fact.fact == wanted) return fact.value;
  return "absent";
}

TEST(FactMessage, Pause) {
  Facts facts;
  parse_pause_facts(MessageBytes()
                        .number(ETHTOOL_A_PAUSE_AUTONEG, std::uint8_t{0})
                        .number(ETHTOOL_A_PAUSE_RX, std::uint8_t{1})
                        .number(ETHTOOL_A_PAUSE_TX, std::uint8_t{1}),
                    facts);
  EXPECT_EQ(facts, (Facts{{ConfigFact::kPause, FactSource::kEthtool, "rx,tx"}}));
  facts.clear();
  parse_pause_facts(
      MessageBytes().number(ETHTOOL_A_PAUSE_RX, std::uint8_t{0}).number(ETHTOOL_A_PAUSE_TX, std::uint8_t{0}), facts);
  EXPECT_EQ(fact_in(facts, ConfigFact::kPause), "none");
  facts.clear();
  parse_pause_facts(MessageBytes().number(ETHTOOL_A_PAUSE_RX, std::uint8_t{0}), facts);
  parse_pause_facts({}, facts);
  EXPECT_TRUE(facts.empty());
}

TEST(FactMessage, Fec) {
  const auto bit = [](const char* name) { return MessageBytes().text(ETHTOOL_A_BITSET_BIT_NAME, name); };
  const MessageBytes modes = MessageBytes().nested(
      ETHTOOL_A_BITSET_BITS,
      MessageBytes().nested(ETHTOOL_A_BITSET_BITS_BIT, bit("RS")).nested(ETHTOOL_A_BITSET_BITS_BIT, bit("BASER")));
  Facts facts;
  parse_fec_facts(MessageBytes()
                      .nested(ETHTOOL_A_FEC_MODES, modes)
                      .number(ETHTOOL_A_FEC_AUTO, std::uint8_t{1})
                      .number(ETHTOOL_A_FEC_ACTIVE, std::uint32_t{ETHTOOL_LINK_MODE_FEC_RS_BIT}),
                  facts);
  EXPECT_EQ(fact_in(facts, ConfigFact::kFecSetting), "auto,RS,BASER");
  EXPECT_EQ(fact_in(facts, ConfigFact::kFecActive), "RS");
  facts.clear();
  parse_fec_facts(MessageBytes().number(ETHTOOL_A_FEC_ACTIVE, std::uint32_t{9'999}), facts);
  EXPECT_TRUE(facts.empty());
}

MessageBytes dcb(const ieee_pfc* pfc, const ieee_ets* ets, const std::vector<dcb_app>& apps, bool has_table = true) {
  MessageBytes ieee;
  if (ets) ieee.attribute(DCB_ATTR_IEEE_ETS, ets, sizeof(*ets));
  if (pfc) ieee.attribute(DCB_ATTR_IEEE_PFC, pfc, sizeof(*pfc));
  MessageBytes table;
  for (const dcb_app& app : apps) table.attribute(DCB_ATTR_IEEE_APP, &app, sizeof(app));
  if (has_table) ieee.nested(DCB_ATTR_IEEE_APP_TABLE, table);
  return MessageBytes().text(DCB_ATTR_IFNAME, "eth2").nested(DCB_ATTR_IEEE, ieee);
}

TEST(FactMessage, DataCentreBridging) {
  ieee_pfc pfc{};
  pfc.pfc_en = 1U << 3 | 1U << 4;
  ieee_ets ets{};
  ets.prio_tc[3] = 1;
  for (auto& algorithm : ets.tc_tsa) algorithm = IEEE_8021QAZ_TSA_STRICT;
  ets.tc_tsa[1] = IEEE_8021QAZ_TSA_ETS;
  ets.tc_tx_bw[1] = 50;
  ets.tc_tsa[7] = 255;
  Facts facts;
  parse_dcb_facts(dcb(&pfc, &ets,
                      {{IEEE_8021QAZ_APP_SEL_DSCP, 3, 26},
                       {IEEE_8021QAZ_APP_SEL_DSCP, 3, 27},
                       {IEEE_8021QAZ_APP_SEL_DSCP, 6, 48},
                       {IEEE_8021QAZ_APP_SEL_ETHERTYPE, 1, 5},
                       {IEEE_8021QAZ_APP_SEL_DSCP, 200, 5},
                       {IEEE_8021QAZ_APP_SEL_DSCP, 1, 900}}),
                  facts);
  EXPECT_EQ(fact_in(facts, ConfigFact::kPfc), "3,4");
  EXPECT_EQ(fact_in(facts, ConfigFact::kEtsPriorities), "0,0,0,1,0,0,0,0");
  EXPECT_EQ(fact_in(facts, ConfigFact::kEtsClasses), "strict,50%,strict,strict,strict,strict,strict,vendor");
  EXPECT_EQ(fact_in(facts, ConfigFact::kDscp), "26-27=3 48=6");
}

TEST(FactMessage, NoPriorityIsSomethingElseThanNoAnswer) {
  ieee_pfc pfc{};
  Facts facts;
  parse_dcb_facts(dcb(&pfc, nullptr, {}), facts);
  EXPECT_EQ(fact_in(facts, ConfigFact::kPfc), "none");
  EXPECT_EQ(fact_in(facts, ConfigFact::kDscp), "none");
  EXPECT_EQ(fact_in(facts, ConfigFact::kEtsPriorities), "absent");
  facts.clear();
  parse_dcb_facts(dcb(nullptr, nullptr, {}, false), facts);
  parse_dcb_facts({}, facts);
  const std::uint8_t shorter = 1;
  parse_dcb_facts(MessageBytes().nested(DCB_ATTR_IEEE, MessageBytes().number(DCB_ATTR_IEEE_PFC, shorter)), facts);
  EXPECT_TRUE(facts.empty());
}

/// All 64 values, each other than the next: written in another form, and still one text for one map.
TEST(FactMessage, ADscpMapIsBounded) {
  std::vector<dcb_app> apps;
  for (std::uint16_t value = 0; value < 64; ++value)
    apps.push_back({IEEE_8021QAZ_APP_SEL_DSCP, static_cast<__u8>(value % 2 == 0 ? 1 : 7), value});
  Facts facts;
  parse_dcb_facts(dcb(nullptr, nullptr, apps), facts);
  const std::string text = fact_in(facts, ConfigFact::kDscp);
  EXPECT_EQ(text.size(), 64U);
  EXPECT_TRUE(text.starts_with("171717"));
}

TEST(FactMessage, EveryTruncationIsReadWithoutHarm) {
  ieee_pfc pfc{};
  ieee_ets ets{};
  const MessageBytes whole = dcb(&pfc, &ets, {{IEEE_8021QAZ_APP_SEL_DSCP, 3, 26}});
  for (std::size_t length = 0; length < whole.bytes().size(); ++length) {
    Facts facts;
    parse_dcb_facts(std::span(whole.bytes()).first(length), facts);
    parse_fec_facts(std::span(whole.bytes()).first(length), facts);
    parse_pause_facts(std::span(whole.bytes()).first(length), facts);
  }
}

}  // namespace
}  // namespace weft::ethernet
