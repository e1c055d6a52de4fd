// SPDX-License-Identifier: Apache-2.0
#include "collectors/ethernet/link_message.hpp"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "collectors/netlink/socket.hpp"

namespace weft::ethernet {
namespace {

// linux/if.h has it and cannot stand beside net/if.h.
constexpr unsigned kLowerUp = 1U << 16;  // IFF_LOWER_UP

std::optional<LinkStatistics> parse_statistics(netlink::Bytes payload) {
  // Kernels append to the structure: what is there is enough from the first version on.
  constexpr std::size_t kThroughCrcErrors = offsetof(rtnl_link_stats64, rx_crc_errors) + sizeof(__u64);
  if (payload.size() < kThroughCrcErrors) return std::nullopt;
  rtnl_link_stats64 raw{};
  std::memcpy(&raw, payload.data(), std::min(payload.size(), sizeof(raw)));
  return LinkStatistics{raw.rx_packets, raw.tx_packets, raw.rx_bytes,   raw.tx_bytes,     raw.rx_errors,
                        raw.tx_errors,  raw.rx_dropped, raw.tx_dropped, raw.rx_crc_errors};
}

}  // namespace

std::optional<LinkMessage> parse_link_message(netlink::Bytes payload) {
  ifinfomsg header;
  if (payload.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, payload.data(), sizeof(header));
  // A bridge tells of its ports, their removal too, in a family of its own.
  if (header.ifi_index <= 0 || header.ifi_family != AF_UNSPEC) return std::nullopt;
  LinkMessage message;
  message.index = static_cast<std::uint32_t>(header.ifi_index);
  message.administratively_up = (header.ifi_flags & IFF_UP) != 0;
  message.carrier = (header.ifi_flags & kLowerUp) != 0;
  netlink::AttributeReader reader(netlink::attributes_of(payload, sizeof(header)));
  while (const auto attribute = reader.next()) {
    switch (attribute->type) {
      case IFLA_IFNAME:
        message.name = attribute->text();
        break;
      case IFLA_CARRIER:
        if (const auto carrier = attribute->number<std::uint8_t>()) message.carrier = *carrier != 0;
        break;
      case IFLA_CARRIER_UP_COUNT:
        message.carrier_up_count = attribute->number<std::uint32_t>();
        break;
      case IFLA_CARRIER_DOWN_COUNT:
        message.carrier_down_count = attribute->number<std::uint32_t>();
        break;
      case IFLA_NEW_NETNSID:
        message.moved = true;
        break;
      case IFLA_STATS64:
        message.statistics = parse_statistics(attribute->payload);
        break;
      default:
        break;
    }
  }
  return message;
}

}  // namespace weft::ethernet
