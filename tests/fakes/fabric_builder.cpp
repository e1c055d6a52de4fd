// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/fabric_builder.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace weft::fakes {
namespace {

constexpr WidthMask k4X = 2;
constexpr WidthMask k1XTo4X = 1 | 2;
constexpr SpeedMask kToHdr = kSpeedSdr | kSpeedDdr | kSpeedQdr | kSpeedFdr | kSpeedEdr | kSpeedHdr;

}  // namespace

NodeIndex FabricBuilder::add_node(std::string name, NodeType type, std::uint16_t ports) {
  const auto index = static_cast<NodeIndex>(nodes_.size());
  Node node;
  node.guid = {0x0002'c903'0000'0000ULL + 0x100 * (index + 1ULL)};
  node.type = type;
  node.port_count = ports;
  node.first_port = static_cast<PortIndex>(ports_.size());
  node.description = name;
  node.name = std::move(name);
  for (unsigned i = 0; i < node.port_entries(); ++i) {
    Port port;
    port.node = index;
    port.number = {static_cast<std::uint16_t>(i + node.lowest_port())};
    port.guid = {node.guid.value + (type == NodeType::kSwitch ? 0 : i + 1)};
    port.state = port.number.value == 0 ? PortState::kActive : PortState::kDown;
    port.physical_state = port.number.value == 0 ? PortPhysicalState::kLinkUp : PortPhysicalState::kPolling;
    port.width_supported = port.width_enabled = k1XTo4X;
    port.speed_supported = port.speed_enabled = kToHdr;
    ports_.push_back(port);
  }
  nodes_.push_back(std::move(node));
  silent_.push_back(false);
  counters_frozen_.push_back(false);
  state_read_at_.resize(ports_.size(), kNever);
  const std::size_t known = counters_.rows();
  counters_.grow(ports_.size());
  readings_.grow(ports_.size());
  for (std::size_t row = known; row < ports_.size(); ++row)
    for (SampleTable::Column column = 0; column < counters_.columns(); ++column) counters_.set(row, column, 0, false);
  touch();
  return index;
}

NodeIndex FabricBuilder::add_switch(std::string name, std::uint16_t ports) {
  return add_node(std::move(name), NodeType::kSwitch, ports);
}

NodeIndex FabricBuilder::add_adapter(std::string name, std::uint16_t ports) {
  return add_node(std::move(name), NodeType::kChannelAdapter, ports);
}

void FabricBuilder::connect(PortIndex a, PortIndex b) {
  ports_[a].peer = b;
  ports_[b].peer = a;
  relink(a);
}

FabricBuilder FabricBuilder::fat_tree(unsigned spines, unsigned leaves, unsigned hosts_per_leaf) {
  FabricBuilder fabric;
  for (unsigned s = 0; s < spines; ++s)
    fabric.add_switch("spine-" + std::to_string(s), static_cast<std::uint16_t>(leaves));
  for (unsigned l = 0; l < leaves; ++l) {
    const NodeIndex leaf =
        fabric.add_switch("leaf-" + std::to_string(l), static_cast<std::uint16_t>(spines + hosts_per_leaf));
    for (unsigned s = 0; s < spines; ++s)
      fabric.connect(fabric.nodes_[leaf].first_port + 1 + s, fabric.nodes_[s].first_port + 1 + l);
    for (unsigned h = 0; h < hosts_per_leaf; ++h) {
      const NodeIndex host = fabric.add_adapter("host-" + std::to_string(l) + "-" + std::to_string(h) + " mlx5_0");
      fabric.connect(fabric.nodes_[leaf].first_port + 1 + spines + h, fabric.nodes_[host].first_port);
    }
  }
  fabric.local_port_ = fabric.key_of(fabric.port_of("host-0-0 mlx5_0", 1));
  return fabric;
}

NodeIndex FabricBuilder::find(const std::string& name) const {
  const auto found = std::ranges::find(nodes_, name, &Node::name);
  if (found == nodes_.end()) throw std::invalid_argument("no node " + name);
  return static_cast<NodeIndex>(found - nodes_.begin());
}

PortIndex FabricBuilder::port_of(const std::string& name, std::uint16_t number) const {
  const Node& of = nodes_[find(name)];
  return of.first_port + number - of.lowest_port();
}

PortIndex FabricBuilder::port_towards(const std::string& name, const std::string& peer) const {
  const Node& of = nodes_[find(name)];
  for (PortIndex port = of.first_port; port < of.first_port + of.port_entries(); ++port)
    if (ports_[port].peer != kNoIndex && nodes_[ports_[ports_[port].peer].node].name == peer) return port;
  throw std::invalid_argument("no cable from " + name + " to " + peer);
}

void FabricBuilder::unlink(PortIndex end) {
  for (const PortIndex index : {end, ports_[end].peer}) {
    Port& port = ports_[index];
    port.state = PortState::kDown;
    port.physical_state = PortPhysicalState::kPolling;
    port.width_active = 0;
    port.speed_active = 0;
    port.wait_tick_seconds = 0;
  }
  touch();
}

void FabricBuilder::relink(PortIndex end, PortState state) {
  for (const PortIndex index : {end, ports_[end].peer}) {
    Port& port = ports_[index];
    port.state = state;
    port.physical_state = PortPhysicalState::kLinkUp;
    port.width_active = k4X;
    port.speed_active = kSpeedHdr;
    port.wait_tick_seconds = 64.0F * 8 / 200e9F;
  }
  touch();
}

void FabricBuilder::silence(NodeIndex index, bool silent) {
  silent_[index] = silent;
  nodes_[index].reachable = !silent;
  touch();
}

void FabricBuilder::power_off(NodeIndex index) {
  silence(index);
  for (PortIndex port = nodes_[index].first_port; port < nodes_[index].first_port + nodes_[index].port_entries();
       ++port) {
    if (ports_[port].peer == kNoIndex) continue;
    Port& far = ports_[ports_[port].peer];
    far.state = PortState::kDown;
    far.physical_state = PortPhysicalState::kPolling;
    far.width_active = 0;
    far.speed_active = 0;
  }
}

void FabricBuilder::power_on(NodeIndex index) {
  silence(index, false);
  for (PortIndex port = nodes_[index].first_port; port < nodes_[index].first_port + nodes_[index].port_entries();
       ++port)
    if (ports_[port].peer != kNoIndex) relink(port);
}

void FabricBuilder::freeze_counters(NodeIndex index, bool frozen) {
  counters_frozen_[index] = frozen;
}

void FabricBuilder::rediscover() {
  FabricBuilder fresh(name_);
  std::vector<PortIndex> moved(ports_.size(), kNoIndex);
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (silent_[i]) continue;
    const NodeIndex index = fresh.add_node(nodes_[i].name, nodes_[i].type, nodes_[i].port_count);
    fresh.nodes_[index].guid = nodes_[i].guid;
    for (PortIndex p = 0; p < nodes_[i].port_entries(); ++p) {
      const PortIndex to = fresh.nodes_[index].first_port + p;
      moved[nodes_[i].first_port + p] = to;
      fresh.ports_[to] = ports_[nodes_[i].first_port + p];
      fresh.ports_[to].node = index;
      for (SampleTable::Column column = 0; column < counters_.columns(); ++column)
        fresh.counters_.set(to, column, counters_.value(nodes_[i].first_port + p, column),
                            counters_.saturated(nodes_[i].first_port + p, column));
    }
  }
  for (Port& port : fresh.ports_)
    port.peer = port.peer == kNoIndex || port.state == PortState::kDown ? kNoIndex : moved[port.peer];
  fresh.epoch_ = epoch_ + 1;
  fresh.routes_ = RouteTables(fresh.epoch_);
  fresh.now_ = now_;
  fresh.interval_ = interval_;
  fresh.local_port_ = local_port_;
  fresh.subnet_manager_ = subnet_manager_;
  fresh.manager_said_ = manager_said_;
  *this = std::move(fresh);
}

std::uint64_t FabricBuilder::counter(PortIndex port, CounterId id) const {
  return counters_.value(port, counters_.column(id));
}

void FabricBuilder::set_counter(PortIndex port, CounterId id, std::uint64_t value, bool saturated) {
  counters_.set(port, counters_.column(id), value, saturated);
}

void FabricBuilder::reset_counters(PortIndex port) {
  for (SampleTable::Column column = 0; column < counters_.columns(); ++column) counters_.set(port, column, 0, false);
}

void FabricBuilder::traffic(std::mt19937& random) {
  std::uniform_real_distribution<double> chance(0, 1);
  for (PortIndex i = 0; i < ports_.size(); ++i) {
    if (ports_[i].peer == kNoIndex || !ports_[i].is_up()) continue;
    const double share = chance(random);
    // Credits play for some per cent of the time; a burst now and then stalls a port for one interval.
    load(i, share, chance(random) * (1 - share) * (chance(random) < 0.005 ? 1 : 0.05));
  }
}

void FabricBuilder::load(PortIndex egress, double share, double stall) {
  const Port& port = ports_[egress];
  const double rate = link_bits_per_second(port.width_active, port.speed_active);
  const auto bytes = static_cast<std::uint64_t>(rate / 8 * share * seconds(interval_));
  const std::uint64_t packets = bytes / 2048 + 1;
  add_counter(egress, CounterId::kTransmitBytes, bytes);
  add_counter(egress, CounterId::kTransmitPackets, packets);
  add_counter(port.peer, CounterId::kReceiveBytes, bytes);
  add_counter(port.peer, CounterId::kReceivePackets, packets);
  if (port.wait_tick_seconds > 0)
    add_counter(egress, CounterId::kTransmitWait,
                static_cast<std::uint64_t>(stall * seconds(interval_) / static_cast<double>(port.wait_tick_seconds)));
}

std::shared_ptr<const Topology> FabricBuilder::topology() {
  if (!topology_) topology_ = std::make_shared<const Topology>(epoch_, nodes_, ports_, duplicates_);
  return topology_;
}

Sweep FabricBuilder::sweep() {
  now_ += interval_;
  Sweep sweep;
  sweep.fabric = name_;
  sweep.number = ++number_;
  sweep.started = now_ - interval_ / 10;
  sweep.finished = now_;
  sweep.interval = interval_;
  sweep.local_port = local_port_;
  sweep.subnet_manager = manager_said_ ? subnet_manager_ : local_port_;
  for (PortIndex port = 0; port < ports_.size(); ++port) {
    if (silent_[ports_[port].node]) continue;
    state_read_at_[port] = now_;
    if (counters_frozen_[ports_[port].node]) continue;
    for (SampleTable::Column column = 0; column < counters_.columns(); ++column)
      readings_.set(port, column, counters_.value(port, column), counters_.saturated(port, column));
    readings_.set_read_at(port, now_);
  }
  sweep.topology = topology();
  sweep.routes = routes();
  sweep.state_read_at = state_read_at_;
  sweep.counters = std::make_shared<const SampleTable>(readings_);
  return sweep;
}

}  // namespace weft::fakes
