// SPDX-License-Identifier: Apache-2.0
#include "collectors/ethernet/ethtool_message.hpp"

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <array>
#include <utility>

namespace weft::ethernet {
namespace {

using netlink::Attribute;
using netlink::AttributeReader;
using netlink::Bytes;

constexpr std::uint8_t kMostLanes = 32;

/// Added to linux/ethtool.h after 6.1.
constexpr std::uint8_t kExtStateOtp = 11;  // ETHTOOL_LINK_EXT_STATE_OTP_SPEED_VIOLATION
/// Added to linux/ethtool_netlink_generated.h in March 2026: times that the device ended a storm of its own pauses
/// (Documentation/netlink/specs/ethtool.yaml, tx-pause-storm-events).
constexpr std::uint16_t kPauseStormEvents = 4;  // ETHTOOL_A_PAUSE_STAT_TX_PAUSE_STORM_EVENTS

/// FEC statistics are a number for the whole link, and after it one for each lane where the hardware has them.
void add_fec(const Attribute& attribute, std::string_view total, std::string_view lane_name, Figures& figures) {
  const std::size_t count = attribute.payload.size() / sizeof(std::uint64_t);
  for (std::size_t i = 0; i < count && i <= kMostLanes; ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, attribute.payload.data() + i * sizeof(value), sizeof(value));
    if (i == 0)
      figures.push_back({.name = total, .value = value});
    else if (!lane_name.empty())
      figures.push_back({.name = lane_name, .lane = static_cast<std::uint8_t>(i - 1), .value = value});
  }
}

using Names = std::span<const std::pair<std::uint16_t, std::string_view>>;
constexpr auto kPhyNames = std::to_array<std::pair<std::uint16_t, std::string_view>>({
    {ETHTOOL_A_STATS_ETH_PHY_5_SYM_ERR, "physical_symbol_errors"},
});
constexpr auto kMacNames = std::to_array<std::pair<std::uint16_t, std::string_view>>({
    {ETHTOOL_A_STATS_ETH_MAC_2_TX_PKT, "transmit_packets"},
    {ETHTOOL_A_STATS_ETH_MAC_5_RX_PKT, "receive_packets"},
    {ETHTOOL_A_STATS_ETH_MAC_6_FCS_ERR, "crc_errors"},
    {ETHTOOL_A_STATS_ETH_MAC_8_TX_BYTES, "transmit_bytes"},
    {ETHTOOL_A_STATS_ETH_MAC_14_RX_BYTES, "receive_bytes"},
});

void add_group(Bytes group, Figures& figures) {
  const auto id = netlink::find_attribute(group, ETHTOOL_A_STATS_GRP_ID);
  const std::optional<std::uint32_t> number = id ? id->number<std::uint32_t>() : std::nullopt;
  if (number != ETHTOOL_STATS_ETH_PHY && number != ETHTOOL_STATS_ETH_MAC) return;
  const Names names = number == ETHTOOL_STATS_ETH_PHY ? Names(kPhyNames) : Names(kMacNames);
  AttributeReader reader(group);
  while (const auto entry = reader.next()) {
    if (entry->type != ETHTOOL_A_STATS_GRP_STAT) continue;
    const auto statistic = AttributeReader(entry->payload).next();
    const auto value = statistic ? statistic->number<std::uint64_t>() : std::nullopt;
    if (!value) continue;
    for (const auto& [type, name] : names)
      if (type == statistic->type) figures.push_back({.name = name, .value = *value});
  }
}

}  // namespace

std::string_view parse_down_reason(Bytes attributes) {
  const auto link = netlink::find_attribute(attributes, ETHTOOL_A_LINKSTATE_LINK);
  const auto state = netlink::find_attribute(attributes, ETHTOOL_A_LINKSTATE_EXT_STATE);
  if (!state || (link && link->number<std::uint8_t>() == 1)) return {};
  const std::optional<std::uint8_t> number = state->number<std::uint8_t>();
  if (!number) return {};
  switch (*number) {
    case ETHTOOL_LINK_EXT_STATE_AUTONEG:
      return "Autoneg";
    case ETHTOOL_LINK_EXT_STATE_LINK_TRAINING_FAILURE:
      return "Link training failure";
    case ETHTOOL_LINK_EXT_STATE_LINK_LOGICAL_MISMATCH:
      return "Logical mismatch";
    case ETHTOOL_LINK_EXT_STATE_BAD_SIGNAL_INTEGRITY:
      return "Bad signal integrity";
    case ETHTOOL_LINK_EXT_STATE_NO_CABLE:
      return "No cable";
    case ETHTOOL_LINK_EXT_STATE_CABLE_ISSUE:
      return "Cable issue";
    case ETHTOOL_LINK_EXT_STATE_EEPROM_ISSUE:
      return "EEPROM issue";
    case ETHTOOL_LINK_EXT_STATE_CALIBRATION_FAILURE:
      return "Calibration failure";
    case ETHTOOL_LINK_EXT_STATE_POWER_BUDGET_EXCEEDED:
      return "Power budget exceeded";
    case ETHTOOL_LINK_EXT_STATE_OVERHEAT:
      return "Overheat";
    case ETHTOOL_LINK_EXT_STATE_MODULE:
      return "Module";
    case kExtStateOtp:
      return "OTP speed violation";
    default:
      return {};
  }
}

void parse_link_state(Bytes attributes, Figures& figures) {
  const auto quality = netlink::find_attribute(attributes, ETHTOOL_A_LINKSTATE_SQI);
  const auto value = quality ? quality->number<std::uint32_t>() : std::nullopt;
  if (value) figures.push_back({.name = "signal_quality_index", .is_gauge = true, .value = *value});
}

void parse_fec(Bytes attributes, Figures& figures) {
  const auto statistics = netlink::find_attribute(attributes, ETHTOOL_A_FEC_STATS);
  if (!statistics) return;
  AttributeReader reader(statistics->payload);
  while (const auto attribute = reader.next()) {
    if (attribute->type == ETHTOOL_A_FEC_STAT_CORRECTED) add_fec(*attribute, "fec_corrected_blocks", {}, figures);
    if (attribute->type == ETHTOOL_A_FEC_STAT_UNCORR) add_fec(*attribute, "fec_uncorrectable_blocks", {}, figures);
    if (attribute->type == ETHTOOL_A_FEC_STAT_CORR_BITS)
      add_fec(*attribute, "fec_corrected_bit_errors", "fec_lane_corrected_bit_errors", figures);
  }
}

void parse_pause(Bytes attributes, Figures& figures) {
  const auto statistics = netlink::find_attribute(attributes, ETHTOOL_A_PAUSE_STATS);
  if (!statistics) return;
  AttributeReader reader(statistics->payload);
  while (const auto attribute = reader.next()) {
    const auto value = attribute->number<std::uint64_t>();
    if (!value) continue;
    if (attribute->type == ETHTOOL_A_PAUSE_STAT_TX_FRAMES)
      figures.push_back({.name = "pause_frames", .direction = Direction::kTransmit, .value = *value});
    if (attribute->type == ETHTOOL_A_PAUSE_STAT_RX_FRAMES)
      figures.push_back({.name = "pause_frames", .direction = Direction::kReceive, .value = *value});
    if (attribute->type == kPauseStormEvents) figures.push_back({.name = "pause_storm_errors", .value = *value});
  }
}

void parse_statistics(Bytes attributes, Figures& figures) {
  AttributeReader reader(attributes);
  while (const auto attribute = reader.next())
    if (attribute->type == ETHTOOL_A_STATS_GRP) add_group(attribute->payload, figures);
}

Bytes parse_module_eeprom(Bytes attributes) {
  const auto data = netlink::find_attribute(attributes, ETHTOOL_A_MODULE_EEPROM_DATA);
  return data ? data->payload : Bytes();
}

std::optional<std::uint16_t> parse_family(Bytes attributes) {
  const auto id = netlink::find_attribute(attributes, CTRL_ATTR_FAMILY_ID);
  return id ? id->number<std::uint16_t>() : std::nullopt;
}

}  // namespace weft::ethernet
