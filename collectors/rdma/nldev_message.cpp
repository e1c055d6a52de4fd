// SPDX-License-Identifier: Apache-2.0
#include "collectors/rdma/nldev_message.hpp"

#include <rdma/rdma_netlink.h>

namespace weft::rdma {

std::optional<NldevDevice> parse_nldev_device(netlink::Bytes attributes) {
  const auto index = netlink::find_attribute(attributes, RDMA_NLDEV_ATTR_DEV_INDEX);
  const auto name = netlink::find_attribute(attributes, RDMA_NLDEV_ATTR_DEV_NAME);
  if (!index || !name || name->text().empty()) return std::nullopt;
  const auto number = index->number<std::uint32_t>();
  if (!number) return std::nullopt;
  return NldevDevice{*number, name->text()};
}

std::string_view parse_nldev_port_netdev(netlink::Bytes attributes) {
  const auto name = netlink::find_attribute(attributes, RDMA_NLDEV_ATTR_NDEV_NAME);
  return name ? name->text() : std::string_view();
}

netlink::Bytes nldev_counter_table(netlink::Bytes attributes) {
  const auto table = netlink::find_attribute(attributes, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
  return table ? table->payload : netlink::Bytes();
}

std::optional<NldevCounter> parse_nldev_counter(const netlink::Attribute& entry) {
  if (entry.type != RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY) return std::nullopt;
  const auto name = netlink::find_attribute(entry.payload, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME);
  const auto value = netlink::find_attribute(entry.payload, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE);
  if (!name || !value || name->text().empty()) return std::nullopt;
  const auto number = value->number<std::uint64_t>();
  if (!number) return std::nullopt;
  return NldevCounter{name->text(), *number};
}

}  // namespace weft::rdma
