// SPDX-License-Identifier: Apache-2.0
#include "collectors/ethernet/fact_message.hpp"

#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace weft::ethernet {
namespace {

using netlink::Bytes;

constexpr std::size_t kDscpValues = 64;
constexpr char kNoPriorityLetter = '-';

void add_word(std::string& list, std::string_view word) {
  if (!list.empty()) list += ',';
  list += word;
}

std::optional<bool> read_switch(Bytes attributes, std::uint16_t type) {
  const auto attribute = netlink::find_attribute(attributes, type);
  const auto value = attribute ? attribute->number<std::uint8_t>() : std::nullopt;
  return value ? std::optional(*value != 0) : std::nullopt;
}

/// The names of a verbose bit set without a mask: those that are listed are set.
std::string names_of_bits(Bytes set) {
  std::string names;
  const auto bits = netlink::find_attribute(set, ETHTOOL_A_BITSET_BITS);
  if (!bits) return names;
  netlink::AttributeReader reader(bits->payload);
  while (const auto bit = reader.next()) {
    const auto name = netlink::find_attribute(bit->payload, ETHTOOL_A_BITSET_BIT_NAME);
    if (name) add_word(names, name->text());
  }
  return names;
}

const char* fec_name(std::uint32_t link_mode) {
  switch (link_mode) {
    case ETHTOOL_LINK_MODE_FEC_NONE_BIT:
      return "none";
    case ETHTOOL_LINK_MODE_FEC_RS_BIT:
      return "RS";
    case ETHTOOL_LINK_MODE_FEC_BASER_BIT:
      return "BASER";
    case ETHTOOL_LINK_MODE_FEC_LLRS_BIT:
      return "LLRS";
    default:
      return nullptr;
  }
}

/// "0-7=0 26=3".
std::string ranges_of(const std::array<char, kDscpValues>& priorities) {
  std::string text;
  for (std::size_t first = 0; first < kDscpValues;) {
    std::size_t next = first + 1;
    while (next < kDscpValues && priorities[next] == priorities[first]) ++next;
    if (priorities[first] != kNoPriorityLetter) {
      if (!text.empty()) text += ' ';
      text += std::to_string(first);
      if (next - first > 1) text += '-' + std::to_string(next - 1);
      text += '=';
      text += priorities[first];
    }
    first = next;
  }
  return text.empty() ? "none" : text;
}

void add_dcb(ConfigFact fact, std::string value, std::vector<FactValue>& facts) {
  facts.push_back({fact, FactSource::kDcb, std::move(value)});
}

void add_pfc(const ieee_pfc& pfc, std::vector<FactValue>& facts) {
  std::string priorities;
  for (unsigned priority = 0; priority < IEEE_8021QAZ_MAX_TCS; ++priority)
    if ((pfc.pfc_en >> priority & 1U) != 0) add_word(priorities, std::to_string(priority));
  add_dcb(ConfigFact::kPfc, priorities.empty() ? "none" : priorities, facts);
}

void add_ets(const ieee_ets& ets, std::vector<FactValue>& facts) {
  std::string classes;
  std::string scheduling;
  for (std::size_t i = 0; i < IEEE_8021QAZ_MAX_TCS; ++i) {
    add_word(classes, std::to_string(ets.prio_tc[i]));
    switch (ets.tc_tsa[i]) {
      case IEEE_8021QAZ_TSA_STRICT:
        add_word(scheduling, "strict");
        break;
      case IEEE_8021QAZ_TSA_CB_SHAPER:
        add_word(scheduling, "cbs");
        break;
      case IEEE_8021QAZ_TSA_ETS:
        add_word(scheduling, std::to_string(ets.tc_tx_bw[i]) + '%');
        break;
      default:
        add_word(scheduling, "vendor");
        break;
    }
  }
  add_dcb(ConfigFact::kEtsPriorities, std::move(classes), facts);
  add_dcb(ConfigFact::kEtsClasses, std::move(scheduling), facts);
}

void add_dscp(Bytes table, std::vector<FactValue>& facts) {
  std::array<char, kDscpValues> priorities;
  priorities.fill(kNoPriorityLetter);
  netlink::AttributeReader reader(table);
  while (const auto entry = reader.next()) {
    dcb_app app;
    if (entry->type != DCB_ATTR_IEEE_APP || entry->payload.size() < sizeof(app)) continue;
    std::memcpy(&app, entry->payload.data(), sizeof(app));
    if (app.selector != IEEE_8021QAZ_APP_SEL_DSCP || app.protocol >= kDscpValues ||
        app.priority >= IEEE_8021QAZ_MAX_TCS)
      continue;
    priorities[app.protocol] = static_cast<char>('0' + app.priority);
  }
  std::string text = ranges_of(priorities);
  if (text.size() > FactLimits::kValueLength) text.assign(priorities.begin(), priorities.end());
  add_dcb(ConfigFact::kDscp, std::move(text), facts);
}

template <typename Structure>
std::optional<Structure> structure_in(Bytes attributes, std::uint16_t type) {
  const auto attribute = netlink::find_attribute(attributes, type);
  if (!attribute || attribute->payload.size() < sizeof(Structure)) return std::nullopt;
  Structure value;
  std::memcpy(&value, attribute->payload.data(), sizeof(value));
  return value;
}

}  // namespace

void parse_pause_facts(Bytes attributes, std::vector<FactValue>& facts) {
  const auto receive = read_switch(attributes, ETHTOOL_A_PAUSE_RX);
  const auto transmit = read_switch(attributes, ETHTOOL_A_PAUSE_TX);
  if (!receive || !transmit) return;
  std::string setting;
  if (read_switch(attributes, ETHTOOL_A_PAUSE_AUTONEG).value_or(false)) add_word(setting, "autoneg");
  if (*receive) add_word(setting, "rx");
  if (*transmit) add_word(setting, "tx");
  facts.push_back({ConfigFact::kPause, FactSource::kEthtool, setting.empty() ? "none" : std::move(setting)});
}

void parse_fec_facts(Bytes attributes, std::vector<FactValue>& facts) {
  std::string setting;
  if (read_switch(attributes, ETHTOOL_A_FEC_AUTO).value_or(false)) setting = "auto";
  if (const auto modes = netlink::find_attribute(attributes, ETHTOOL_A_FEC_MODES))
    if (const std::string names = names_of_bits(modes->payload); !names.empty()) add_word(setting, names);
  if (!setting.empty()) facts.push_back({ConfigFact::kFecSetting, FactSource::kEthtool, std::move(setting)});
  const auto active = netlink::find_attribute(attributes, ETHTOOL_A_FEC_ACTIVE);
  const auto mode = active ? active->number<std::uint32_t>() : std::nullopt;
  if (const char* const name = mode ? fec_name(*mode) : nullptr)
    facts.push_back({ConfigFact::kFecActive, FactSource::kEthtool, name});
}

void parse_dcb_facts(Bytes attributes, std::vector<FactValue>& facts) {
  const auto ieee = netlink::find_attribute(attributes, DCB_ATTR_IEEE);
  if (!ieee) return;
  if (const auto pfc = structure_in<ieee_pfc>(ieee->payload, DCB_ATTR_IEEE_PFC)) add_pfc(*pfc, facts);
  if (const auto ets = structure_in<ieee_ets>(ieee->payload, DCB_ATTR_IEEE_ETS)) add_ets(*ets, facts);
  if (const auto table = netlink::find_attribute(ieee->payload, DCB_ATTR_IEEE_APP_TABLE))
    add_dscp(table->payload, facts);
}

}  // namespace weft::ethernet
