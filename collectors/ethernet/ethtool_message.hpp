// SPDX-License-Identifier: Apache-2.0
#pragma once
// What ethtool netlink says (Documentation/networking/ethtool-netlink.rst, linux/ethtool_netlink.h). Pure.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collectors/netlink/attributes.hpp"
#include "fabric/host.hpp"

namespace weft::ethernet {

/// One value of the catalogue out of an answer.
struct Figure {
  std::string_view name;  ///< canonical
  Direction direction = Direction::kNone;
  std::uint8_t priority = kNoPriority;
  std::uint8_t lane = kNoLane;
  bool is_gauge = false;
  std::uint64_t value = 0;

  bool operator==(const Figure&) const = default;
};
/// Figures of one answer, in the answer's order.
using Figures = std::vector<Figure>;

/// Why a link is down, in ethtool(8)'s words; empty when it is not said, or the link is up.
std::string_view parse_down_reason(netlink::Bytes attributes);

// Each adds what the answer has to `figures`; the attributes are those behind genlmsghdr.
void parse_link_state(netlink::Bytes attributes, Figures& figures);  ///< ETHTOOL_MSG_LINKSTATE_GET: signal quality
void parse_fec(netlink::Bytes attributes, Figures& figures);         ///< ETHTOOL_MSG_FEC_GET with statistics
void parse_pause(netlink::Bytes attributes, Figures& figures);       ///< ETHTOOL_MSG_PAUSE_GET with statistics
void parse_statistics(netlink::Bytes attributes, Figures& figures);  ///< ETHTOOL_MSG_STATS_GET: eth-phy, eth-mac

/// The raw pages of a module's memory in an answer to ETHTOOL_MSG_MODULE_EEPROM_GET; empty when there are none.
netlink::Bytes parse_module_eeprom(netlink::Bytes attributes);

/// The number of a generic netlink family in an answer to CTRL_CMD_GETFAMILY.
std::optional<std::uint16_t> parse_family(netlink::Bytes attributes);

}  // namespace weft::ethernet
