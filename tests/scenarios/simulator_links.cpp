// SPDX-License-Identifier: Apache-2.0
// Links and nodes of the simulated fabric that go and come back, and the subnet manager that activates them.
#include <algorithm>

#include "tests/scenarios/simulator.hpp"

namespace weft::scenarios {

void Simulator::cut(PortIndex port) {
  for (const PortIndex end : {port, ports_[port].peer}) {
    Port& side = ports_[end];
    if (side.state == PortState::kActive && powered_[side.node]) {
      registers_.add(end, CounterId::kLinkDowned, 1);
      registers_.add(end, CounterId::kTransmitDiscards, random_.below(400));
    }
    side.state = PortState::kDown;
    side.physical_state = PortPhysicalState::kPolling;
  }
  states_moved_ = true;
}

void Simulator::join(PortIndex port, double activation) {
  const PortIndex peer = ports_[port].peer;
  if (!powered_[ports_[port].node] || !powered_[ports_[peer].node]) return;
  for (const PortIndex end : {port, peer}) {
    ports_[end].state = PortState::kInitialize;
    ports_[end].physical_state = PortPhysicalState::kLinkUp;
    registers_.add(end, CounterId::kSymbolErrors, random_.below(300));  // training makes them
  }
  states_moved_ = true;
  if (!manager_.is_slow()) schedule(now_ + activation, ActionKind::kActivate, port);
}

void Simulator::activate(PortIndex port) {
  const PortIndex peer = ports_[port].peer;
  if (ports_[port].state != PortState::kInitialize) return;  // it went down again meanwhile
  for (const PortIndex end : {port, peer}) {
    ports_[end].state = PortState::kActive;
    ports_[end].wait_tick_seconds = tick_of(end);
  }
  if (seen_[port].peer != peer) new_cables_.emplace_back(port, peer);
  states_moved_ = true;
}

void Simulator::manage() {
  switch (manager_.step()) {
    case SubnetManager::Step::kBegin:
      return;
    case SubnetManager::Step::kProgram:
      discovered_.clear();
      for (PortIndex port = 0; port < ports_.size(); ++port)
        if (ports_[port].state == PortState::kInitialize && port < ports_[port].peer) discovered_.push_back(port);
      return;
    case SubnetManager::Step::kDone:
      for (const PortIndex port : discovered_) activate(port);
      discovered_.clear();
      states_moved_ = false;  // its own doing is no news to it
      reroute();
      update_reachable();
      return;
  }
}

void Simulator::power(NodeIndex node, bool on) {
  powered_[node] = on;
  const Node& what = plan_.nodes[node];
  for (PortIndex port = what.first_port; port < what.first_port + what.port_entries(); ++port) {
    if (ports_[port].peer == kNoIndex) continue;
    if (on) {
      registers_.clear(port);
      schedule(now_ + random_.uniform(1, 3), ActionKind::kJoin, port, random_.uniform(0.3, 1.2));
    } else {
      cut(port);
    }
  }
  states_moved_ = true;
}

void Simulator::swap_cables(PortIndex a, PortIndex b) {
  const PortIndex far_a = ports_[a].peer;
  const PortIndex far_b = ports_[b].peer;
  ports_[a].peer = far_b;
  ports_[far_b].peer = a;
  ports_[b].peer = far_a;
  ports_[far_a].peer = b;
}

template <typename Passes>
void Simulator::reach(const Passes& passes, std::vector<std::uint8_t>& reached) const {
  std::ranges::fill(reached, std::uint8_t{0});
  std::vector<NodeIndex> queue{ports_[local_].node};
  reached[queue[0]] = 1;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const Node& node = plan_.nodes[queue[head]];
    for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port) {
      if (!passes(port)) continue;
      const NodeIndex next = ports_[ports_[port].peer].node;
      if (reached[next]) continue;
      reached[next] = 1;
      queue.push_back(next);
    }
  }
}

void Simulator::update_reachable() {
  if (!manager_.is_slow()) return reach([&](PortIndex port) { return carries(port); }, reachable_);
  // Directed routes pass links that wait for the subnet manager (vol. 1, 14.2.2: SMPs use VL15, which needs no Active
  // port); what is routed by LID passes Active links, and only as the tables say.
  reach(
      [&](PortIndex port) {
        const PortIndex peer = ports_[port].peer;
        return peer != kNoIndex && ports_[port].state != PortState::kDown && ports_[peer].state != PortState::kDown;
      },
      reachable_);
  reach([&](PortIndex port) { return carries(port); }, routed_);
  std::vector<std::uint8_t> led(plan_.nodes.size(), 0);  // leaves that some way leads to
  std::vector<PortIndex> path;
  for (std::uint32_t endpoint = 0; endpoint < plan_.adapters.size(); ++endpoint) {
    const bool arrives = traffic_.path(0, endpoint, path);
    if (!arrives) routed_[plan_.adapters[endpoint]] = 0;
    if (arrives) led[plan_.ports[plan_.access_port(endpoint)].node] = 1;
  }
  for (const NodeIndex leaf : plan_.leaves)
    if (!led[leaf]) routed_[leaf] = 0;
}

bool Simulator::is_routed(NodeIndex node) const {
  return !manager_.is_slow() || (routed_[node] && !manager_.reads_fail(node, now_));
}

}  // namespace weft::scenarios
