// SPDX-License-Identifier: Apache-2.0
#include "api/convert/host_devices.hpp"

#include "fabric/host_names.hpp"

namespace weft::api {

HostDevices::HostDevices(const Snapshot& snapshot) {
  if (!snapshot.hosts) return;
  for (const auto& host : *snapshot.hosts) {
    if (!host->reading || !host->reading->inventory) continue;
    by_host_.emplace(short_host_name(host->host), host.get());
    for (const HostPort& device : host->reading->inventory->ports)
      if (device.port_guid) by_guid_.emplace(device.port_guid.value, FoundDevice{host.get(), &device});
  }
}

FoundDevice HostDevices::find(const Topology& topology, PortIndex index) const {
  const Port& port = topology.port(index);
  const std::string_view name = host_name(topology.node_of(port));
  if (!topology.is_ethernet()) {
    const auto found = port.guid ? by_guid_.find(port.guid.value) : by_guid_.end();
    return found != by_guid_.end() && same_host(found->second.host->host, name) ? found->second : FoundDevice{};
  }
  const std::string_view interface = topology.port_name(index);
  const auto [begin, end] = by_host_.equal_range(short_host_name(name));
  for (auto at = begin; at != end; ++at) {
    if (!same_host(at->second->host, name)) continue;
    for (const HostPort& device : at->second->reading->inventory->ports)
      if (!device.netdev.empty() && device.netdev == interface) return {at->second, &device};
  }
  return {};
}

FoundDevice HostDevices::find(const Entity& host_port) const {
  const auto [begin, end] = by_host_.equal_range(short_host_name(host_port.host));
  for (auto at = begin; at != end; ++at) {
    if (at->second->host != host_port.host) continue;
    for (const HostPort& device : at->second->reading->inventory->ports)
      if (device.device == host_port.device && device.number == host_port.port.port.value) return {at->second, &device};
  }
  return {};
}

const PortFacts* facts_of(const FoundDevice& found) {
  if (!found || !found.host->reading->facts) return nullptr;
  return find_facts(*found.host->reading->facts, found.device->device, found.device->number);
}

}  // namespace weft::api
