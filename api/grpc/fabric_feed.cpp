// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/fabric_feed.hpp"

#include "api/convert/fabric.hpp"

namespace weft::api {
namespace {

constexpr int kMostChanges = 500;  ///< in a message: at some 300 bytes each
constexpr std::uint64_t kUntold = ~0ULL;
constexpr std::uint8_t kUntoldNode = 2;

std::uint64_t fingerprint(const Port& port) {
  const auto as_number = [](auto value) { return static_cast<std::uint64_t>(value); };
  return as_number(port.state) | as_number(port.physical_state) << 8 | as_number(port.width_active) << 16 |
         as_number(port.speed_active) << 32;
}

}  // namespace

bool FabricFeed::next(const Snapshot& snapshot, Message& message) {
  message.Clear();
  const std::size_t count = snapshot.fabrics.size();
  for (std::size_t i = 0; i < count; ++i) {
    const FabricView& view = snapshot.fabrics[turn_++ % count];
    if (!wanted_.empty() && view.name != wanted_) continue;
    if (tell(view, told_[view.name], message)) return true;
  }
  return false;
}

bool FabricFeed::tell(const FabricView& view, Told& told, Message& message) {
  const bool has_graph = view.sweep && view.sweep->topology;
  const bool new_epoch = has_graph && (!told.graph || told.epoch != view.sweep->topology->epoch());
  const bool new_sweep = has_graph && (new_epoch || told.sweep != view.sweep->number || told.more);
  if (told.any && !new_sweep && told.watching == view.watching && told.status == view.status) return false;
  told.any = true;
  told.watching = view.watching;
  told.status = view.status;
  to_proto(view, *message.mutable_fabric());
  message.mutable_fabric()->mutable_last_sweep()->clear_requests();
  if (!has_graph) {
    message.mutable_fabric()->clear_last_sweep();
    return true;
  }
  const Topology& topology = *view.sweep->topology;
  told.sweep = view.sweep->number;
  if (!new_epoch) {
    tell_changes(view, told, message);
    return true;
  }
  message.set_rediscovered(true);
  told.graph = true;
  told.more = false;
  told.next_port = 0;
  told.epoch = topology.epoch();
  told.ports.clear();
  told.nodes.clear();
  for (const Port& port : topology.ports()) told.ports.push_back(fingerprint(port));
  for (const Node& node : topology.nodes()) told.nodes.push_back(node.reachable ? 1 : 0);
  return true;
}

void FabricFeed::tell_changes(const FabricView& view, Told& told, Message& message) {
  const Topology& topology = *view.sweep->topology;
  const auto nodes = topology.nodes();
  const auto ports = topology.ports();
  told.more = false;
  told.nodes.resize(nodes.size(), kUntoldNode);
  told.ports.resize(ports.size(), kUntold);
  for (NodeIndex i = 0; i < nodes.size(); ++i) {
    const std::uint8_t reachable = nodes[i].reachable ? 1 : 0;
    if (told.nodes[i] == reachable) continue;
    if (message.changed_nodes_size() >= kMostChanges) {
      told.more = true;
      break;
    }
    told.nodes[i] = reachable;
    node_to_proto(view, i, *message.add_changed_nodes());
  }
  for (std::size_t visited = 0; visited < ports.size(); ++visited) {
    if (told.next_port >= ports.size()) told.next_port = 0;
    const auto i = static_cast<PortIndex>(told.next_port);
    const std::uint64_t now = fingerprint(ports[i]);
    if (told.ports[i] != now) {
      if (message.changed_ports_size() >= kMostChanges) {
        told.more = true;
        break;
      }
      told.ports[i] = now;
      port_to_proto(view, i, PortDetail::kStates, view.sweep->finished, *message.add_changed_ports());
    }
    ++told.next_port;
  }
}

}  // namespace weft::api
