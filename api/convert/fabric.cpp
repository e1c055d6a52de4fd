// SPDX-License-Identifier: Apache-2.0
#include "api/convert/fabric.hpp"

#include <algorithm>
#include <cmath>

#include "api/convert/times.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/utf8.hpp"
#include "fabric/counters.hpp"

namespace weft::api {
namespace {

static_assert(v1::Node::ROUTER == static_cast<int>(NodeType::kRouter));
static_assert(v1::Port::ACTIVE == static_cast<int>(PortState::kActive));
static_assert(v1::Port::PHY_TEST == static_cast<int>(PortPhysicalState::kPhyTest));

std::string hexadecimal(std::uint64_t guid) {
  return to_string(NodeGuid{guid});
}

std::string lanes_text(int lane_count) {
  return lane_count > 0 ? std::to_string(lane_count) + "X" : std::string();
}

void add_counters(const SampleTable* table, PortIndex index, v1::Port& to) {
  if (!table || index >= table->rows()) return;
  for (const CounterId id : table->counters()) {
    const CounterInfo& info = counter_info(id);
    for (unsigned instance = 0; instance < info.instances; ++instance) {
      const SampleTable::Column column = table->column(id, instance);
      if (!table->present(index, column)) continue;
      v1::Counter& counter = *to.add_counters();
      counter.set_name(std::string(info.name));
      counter.set_value(table->value(index, column));
      counter.set_unit(to_string(info.unit));
      counter.set_saturated(table->saturated(index, column));
      if (info.instances > 1) counter.set_instance(instance);
    }
  }
}

void set_rates(const PortRates& from, v1::PortRates& to) {
  if (std::isfinite(from.transmit_bits_per_second)) to.set_transmit_bits_per_second(from.transmit_bits_per_second);
  if (std::isfinite(from.receive_bits_per_second)) to.set_receive_bits_per_second(from.receive_bits_per_second);
  if (std::isfinite(from.utilization_ratio)) to.set_utilization_ratio(from.utilization_ratio);
  if (std::isfinite(from.stall_ratio)) to.set_stall_ratio(from.stall_ratio);
  if (std::isfinite(from.error_rate)) to.set_error_rate(from.error_rate);
}

/// Of an Ethernet fabric: none of its ports has a recent reading of its own. What the other end of a cable says is
/// none.
bool is_unread_node(const FabricView& fabric, const Node& node) {
  const Sweep& sweep = *fabric.sweep;
  if (!sweep.topology->is_ethernet()) return false;
  for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port) {
    const bool by_peer = port < sweep.inferred_from_peer.size() && sweep.inferred_from_peer[port] != 0;
    const TimePoint read_at = port < sweep.state_read_at.size() ? sweep.state_read_at[port] : kNever;
    if (by_peer || read_at == kNever) continue;
    if (fabric.stale_after == Duration{} || read_at + fabric.stale_after >= sweep.finished) return false;
  }
  return true;
}

}  // namespace

std::string width_text(WidthMask width) {
  return lanes_text(lanes(width));
}

std::string speed_text(SpeedMask speed) {
  return speed != 0 ? speed_name(speed) : std::string();
}

void to_proto(const Topology& topology, PortIndex index, v1::PortReference& to) {
  const Port& port = topology.port(index);
  const Node& node = topology.node_of(port);
  to.set_node(valid_utf8(node.name));
  to.set_node_guid(to_string(node.guid));
  to.set_port(port.number.value);
  to.set_name(valid_utf8(topology.port_name(index)));
}

void to_proto(const Sweep& from, v1::SweepSummary& to) {
  to.set_number(from.number);
  set_timestamp(*to.mutable_started(), from.started);
  set_timestamp(*to.mutable_finished(), from.finished);
  set_duration(*to.mutable_duration(), from.statistics.duration);
  set_duration(*to.mutable_interval(), from.interval);
  if (from.topology && from.topology->is_ethernet()) return;
  to.set_window(from.statistics.window);
  to.set_nodes_backed_off(from.statistics.nodes_backed_off);
  to.set_nodes_with_other_key(from.statistics.nodes_with_other_key);
  to.set_silent_neighbors(from.statistics.silent_neighbors);
  for (std::size_t i = 0; i < kMadResultCount; ++i) {
    v1::SweepSummary::Requests& requests = *to.add_requests();
    requests.set_result(to_string(static_cast<MadResult>(i)));
    requests.set_count(from.statistics.requests[i]);
  }
}

void to_proto(const FabricView& from, v1::Fabric& to) {
  to.set_name(valid_utf8(from.name));
  to.set_watching(from.watching);
  to.set_status(valid_utf8(from.status));
  if (!from.sweep || !from.sweep->topology) return;
  const Topology& topology = *from.sweep->topology;
  const FabricCounts counts = count(topology);
  to.set_adapters(counts.nodes[static_cast<std::size_t>(NodeType::kChannelAdapter)]);
  to.set_switches(counts.nodes[static_cast<std::size_t>(NodeType::kSwitch)]);
  to.set_routers(counts.nodes[static_cast<std::size_t>(NodeType::kRouter)]);
  to.set_unreachable_nodes(counts.unreachable_nodes);
  std::uint32_t ports = 0;
  for (const std::uint32_t number : counts.ports) ports += number;
  to.set_ports(ports);
  to.set_ports_up(counts.ports[static_cast<std::size_t>(PortState::kActive)]);
  to.set_links(counts.links);
  to.set_links_up(counts.links_up);
  if (topology.is_ethernet()) to.set_links_unknown(counts.links_unknown);
  to.set_link_layer(to_string(topology.layer()));
  to.set_epoch(topology.epoch());
  to_proto(*from.sweep, *to.mutable_last_sweep());
}

void node_to_proto(const FabricView& fabric, NodeIndex index, v1::Node& to) {
  const Node& node = fabric.sweep->topology->node(index);
  to.set_guid(to_string(node.guid));
  to.set_system_image_guid(hexadecimal(node.system_image_guid));
  to.set_name(valid_utf8(node.name));
  to.set_description(valid_utf8(node.description));
  to.set_host(valid_utf8(host_name(node)));
  to.set_type(static_cast<v1::Node::Type>(node.type));
  to.set_port_count(node.port_count);
  to.set_vendor_id(node.vendor_id);
  to.set_device_id(node.device_id);
  to.set_aggregation_node(node.aggregation_node);
  to.set_reachable(node.reachable);
  to.set_unread(is_unread_node(fabric, node));
  to.set_fabric(valid_utf8(fabric.name));
  if (!fabric.places) return;
  if (const std::uint8_t tier = fabric.places->tiers[index]; tier != kNoTier) to.set_tier(tier);
  to.set_pod(valid_utf8(fabric.places->pod_of(index)));
}

void port_to_proto(const FabricView& fabric, PortIndex index, PortDetail detail, TimePoint now, v1::Port& to) {
  const Sweep& sweep = *fabric.sweep;
  const Topology& topology = *sweep.topology;
  const Port& port = topology.port(index);
  const Node& node = topology.node_of(port);
  to.set_fabric(valid_utf8(fabric.name));
  to.set_node(valid_utf8(node.name));
  to.set_node_guid(to_string(node.guid));
  to.set_port(port.number.value);
  to.set_name(valid_utf8(topology.port_name(index)));
  if (port.guid) to.set_guid(to_string(port.guid));
  to.set_lid(port.lid.value);
  to.set_lid_mask_control(port.lid_mask_control);
  to.set_state(static_cast<v1::Port::State>(port.state));
  to.set_physical_state(static_cast<v1::Port::PhysicalState>(port.physical_state));
  to.set_width(width_text(port.width_active));
  to.set_speed(speed_text(port.speed_active));
  to.set_width_supported(lanes_text(widest_lanes(port.width_supported)));
  to.set_speed_supported(speed_text(fastest(port.speed_supported)));
  to.set_width_enabled(lanes_text(widest_lanes(port.width_enabled)));
  to.set_speed_enabled(speed_text(fastest(port.speed_enabled)));
  to.set_rate_bits_per_second(port.bits_per_second());
  if (port.peer != kNoIndex) to_proto(topology, port.peer, *to.mutable_peer());
  if (index < sweep.state_read_at.size() && sweep.state_read_at[index] != kNever)
    set_timestamp(*to.mutable_state_read_at(), sweep.state_read_at[index]);
  if (const TimePoint read = counters_read_at(sweep, index); read != kNever)
    set_timestamp(*to.mutable_counters_read_at(), read);
  to.set_stale(is_stale(fabric, index, now));
  to.set_wait_tick_seconds(static_cast<double>(port.wait_tick_seconds));
  if (fabric.places) to.set_rail(valid_utf8(fabric.places->rail_of(index)));
  if (detail == PortDetail::kStates) return;
  if (fabric.rates && index < fabric.rates->size()) set_rates((*fabric.rates)[index], *to.mutable_rates());
  if (detail == PortDetail::kRates) return;
  add_counters(sweep.counters.get(), index, to);
  add_counters(sweep.details.get(), index, to);
}

bool is_port(const Topology& topology, PortIndex index) {
  return !topology.is_ethernet() || topology.port(index).number.value != 0;
}

bool starts_link(const Topology& topology, PortIndex index) {
  const PortIndex peer = topology.port(index).peer;
  return peer != kNoIndex && (peer == index || topology.key_of(index) < topology.key_of(peer));
}

bool is_loose_end(const Topology& topology, PortIndex index) {
  const Port& port = topology.port(index);
  return port.peer == kNoIndex && port.number.value != 0 && port.physical_state == PortPhysicalState::kDisabled &&
         topology.node_of(port).type == NodeType::kSwitch;
}

void link_to_proto(const FabricView& fabric, const AbsentLink& link, v1::Link& to) {
  const auto end = [](const NamedPort& port, v1::PortReference& reference) {
    reference.set_node(valid_utf8(port.node));
    reference.set_node_guid(to_string(port.key.node));
    reference.set_port(port.key.port.value);
    reference.set_name(valid_utf8(port.name));
  };
  to.set_fabric(valid_utf8(fabric.name));
  end(link.ends.a, *to.mutable_a());
  end(link.ends.b, *to.mutable_b());
  to.set_state_unknown(!link.is_seen);
  to.set_disabled(link.is_disabled);
}

void link_to_proto(const FabricView& fabric, PortIndex index, v1::Link& to) {
  const Topology& topology = *fabric.sweep->topology;
  const Port& port = topology.port(index);
  to.set_fabric(valid_utf8(fabric.name));
  to_proto(topology, index, *to.mutable_a());
  to.set_disabled(port.physical_state == PortPhysicalState::kDisabled);
  if (port.peer == kNoIndex) return;
  const Port& peer = topology.port(port.peer);
  to_proto(topology, port.peer, *to.mutable_b());
  to.set_up(port.is_up() && peer.is_up());
  to.set_disabled(to.disabled() || peer.physical_state == PortPhysicalState::kDisabled);
  to.set_state_unknown(is_unread(topology, index));
  // A node out of reach keeps what its ports last said: the rate of a link whose other end is down.
  if (port.state == PortState::kDown || peer.state == PortState::kDown) return;
  to.set_width(width_text(port.width_active));
  to.set_speed(speed_text(port.speed_active));
  to.set_rate_bits_per_second(port.bits_per_second());
}

}  // namespace weft::api
