// SPDX-License-Identifier: Apache-2.0
#pragma once
// What rtnetlink says of an interface (RTM_NEWLINK, RTM_DELLINK; linux/if_link.h). Pure.

#include <cstdint>
#include <optional>
#include <string_view>

#include "collectors/netlink/attributes.hpp"

namespace weft::ethernet {

/// Those of rtnl_link_stats64 that are worth something for a whole port.
struct LinkStatistics {
  std::uint64_t receive_packets = 0;
  std::uint64_t transmit_packets = 0;
  std::uint64_t receive_bytes = 0;
  std::uint64_t transmit_bytes = 0;
  std::uint64_t receive_errors = 0;
  std::uint64_t transmit_errors = 0;
  std::uint64_t receive_dropped = 0;
  std::uint64_t transmit_dropped = 0;
  std::uint64_t receive_crc_errors = 0;
};

/// What one message says of an interface.
struct LinkMessage {
  std::uint32_t index = 0;
  std::string_view name;             ///< into the message's bytes
  bool administratively_up = false;  ///< IFF_UP
  bool carrier = false;
  std::optional<std::uint32_t> carrier_up_count;
  std::optional<std::uint32_t> carrier_down_count;
  std::optional<LinkStatistics> statistics;
  bool moved = false;  ///< of RTM_DELLINK: it lives on in another network namespace

  /// IFF_UP is set and there is a carrier.
  bool is_up() const { return administratively_up && carrier; }
};

/// `payload` starts with ifinfomsg. nullopt when it is too short, names no interface or is another
/// family's view of one (AF_BRIDGE).
std::optional<LinkMessage> parse_link_message(netlink::Bytes payload);

}  // namespace weft::ethernet
