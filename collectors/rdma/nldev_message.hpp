// SPDX-License-Identifier: Apache-2.0
#pragma once
// What RDMA netlink says (rdma/rdma_netlink.h, drivers/infiniband/core/nldev.c). Pure.

#include <cstdint>
#include <optional>
#include <string_view>

#include "collectors/netlink/attributes.hpp"

namespace weft::rdma {

/// A device of the list (RDMA_NLDEV_CMD_GET).
struct NldevDevice {
  std::uint32_t index = 0;
  std::string_view name;  ///< into the message
};
/// nullopt when the index or the name is missing.
std::optional<NldevDevice> parse_nldev_device(netlink::Bytes attributes);

/// The interface that belongs to a port (RDMA_NLDEV_CMD_PORT_GET); empty when none does.
std::string_view parse_nldev_port_netdev(netlink::Bytes attributes);

/// One entry of the table of counters.
struct NldevCounter {
  std::string_view name;
  std::uint64_t value;
};
/// The table of counters in an answer; empty when there is none.
netlink::Bytes nldev_counter_table(netlink::Bytes attributes);
/// The counter in an entry; nullopt when its name or value is missing.
std::optional<NldevCounter> parse_nldev_counter(const netlink::Attribute& entry);

/// Hands each counter of a port (RDMA_NLDEV_CMD_STAT_GET) to `put(name, value)`, optional ones that are switched on
/// included.
template <typename Put>
void parse_nldev_statistics(netlink::Bytes attributes, const Put& put) {
  netlink::AttributeReader entries(nldev_counter_table(attributes));
  while (const auto entry = entries.next())
    if (const auto counter = parse_nldev_counter(*entry)) put(counter->name, counter->value);
}

}  // namespace weft::rdma
