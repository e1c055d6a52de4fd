// SPDX-License-Identifier: Apache-2.0
#include "collectors/rdma/nldev_source.hpp"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include <algorithm>
#include <map>
#include <utility>

#include "collectors/rdma/driver_tables.hpp"
#include "collectors/rdma/nldev_message.hpp"

namespace weft::rdma {
namespace {

constexpr std::uint16_t message_type(unsigned command) {
  return static_cast<std::uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command));
}

netlink::Request port_request(unsigned command, std::uint32_t device, std::uint8_t port) {
  return netlink::RequestBuilder(message_type(command))
      .u32(RDMA_NLDEV_ATTR_DEV_INDEX, device)
      .u32(RDMA_NLDEV_ATTR_PORT_INDEX, port)
      .finish();
}

}  // namespace

NldevSource::NldevSource(bool raw_names) : raw_names_(raw_names) {
  Result<netlink::Socket> socket = netlink::Socket::open(NETLINK_RDMA);
  if (socket)
    socket_ = std::move(*socket);
  else
    trouble_ = socket.error().message;
}

void NldevSource::watch(std::span<const ScannedDevice> devices) {
  ports_.clear();
  requests_.clear();
  has_devices_ = !devices.empty();
  if (!socket_ && !devices.empty()) {
    // The bus appears with the first RDMA module.
    Result<netlink::Socket> socket = netlink::Socket::open(NETLINK_RDMA);
    if (socket) socket_ = std::move(*socket);
    trouble_ = socket ? std::string() : socket.error().message;
  }
  if (!socket_ || devices.empty()) return;
  std::map<std::string, std::uint32_t, std::less<>> indices;
  const Result<void> listed = socket_->dump(netlink::RequestBuilder(message_type(RDMA_NLDEV_CMD_GET)).finish(),
                                            [&](const netlink::Message& message) {
                                              if (const auto device = parse_nldev_device(message.payload))
                                                indices[std::string(device->name)] = device->index;
                                            });
  trouble_ = listed ? std::string() : listed.error().message;
  for (const ScannedDevice& device : devices) {
    const auto index = indices.find(device.name);
    if (index == indices.end()) continue;
    for (const ScannedPort& port : device.ports) {
      ports_.push_back({device.name, device.driver, port.port.number, index->second, device.is_beside_its_port, {}});
      requests_.push_back(port_request(RDMA_NLDEV_CMD_STAT_GET, index->second, port.port.number));
    }
  }
  ask(nullptr);
}

void NldevSource::add_netdevs(std::span<ScannedDevice> devices) {
  std::vector<netlink::Request> requests;
  std::vector<HostPort*> unknown;
  for (ScannedDevice& device : devices)
    for (ScannedPort& scanned : device.ports) {
      const auto port = std::ranges::find_if(ports_, [&](const Port& watched) {
        return watched.device == device.name && watched.number == scanned.port.number;
      });
      if (port == ports_.end() || !scanned.port.netdev.empty()) continue;
      requests.push_back(port_request(RDMA_NLDEV_CMD_PORT_GET, port->index, port->number));
      unknown.push_back(&scanned.port);
    }
  if (!socket_ || requests.empty()) return;
  const Result<void> asked = socket_->ask(requests, [&](std::size_t i, int error, const netlink::Message& answer) {
    if (error == 0) unknown[i]->netdev = parse_nldev_port_netdev(answer.payload);
  });
  if (!asked) trouble_ = asked.error().message;
}

void NldevSource::enter(SeriesRegistry& book) {
  book.begin_source(CounterSource::kRdma);
  for (Port& port : ports_) port.slots.enter(book);
}

void NldevSource::ask(ValueSink* sink) {
  if (!socket_) return;
  const Result<void> asked = socket_->ask(requests_, [&](std::size_t i, int error, const netlink::Message& answer) {
    if (error != 0) return;
    Port& port = ports_[i];
    port.slots.begin(sink);
    parse_nldev_statistics(answer.payload, [&](std::string_view name, std::uint64_t value) {
      const auto series = [&]() -> std::optional<HostSeries> {
        if (const auto match = find_own_counter(hw_counter_table(port.driver), name, port.is_beside_its_port))
          return series_of(*match, port.device, port.number);
        if (raw_names_) return raw_series(name, port.device, port.number);
        return std::nullopt;
      };
      if (is_no_reading(value))
        port.slots.skip({name}, series);
      else
        port.slots.put({name}, value, series);
    });
  });
  if (!asked) trouble_ = asked.error().message;
}

bool NldevSource::has_new() const {
  return std::ranges::any_of(ports_, [](const Port& port) { return port.slots.has_new(); });
}

SourceStatus NldevSource::status() const {
  // A kernel without RDMA has no such bus: that is no trouble while there is no device.
  if (!has_devices_) return {"rdma_netlink", true, {}};
  return {"rdma_netlink", trouble_.empty(), trouble_};
}

}  // namespace weft::rdma
