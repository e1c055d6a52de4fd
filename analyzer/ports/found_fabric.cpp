// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/found_fabric.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "analyzer/ports/plan_topology.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// So often an interface that only hears may have another neighbour in kRestlessTime.
constexpr std::size_t kMostChanges = 8;
constexpr Duration kRestlessTime = 1h;

std::string text_of(const ChassisId& chassis) {
  return std::string(to_string(chassis.type)) + ' ' + chassis.id;
}
NodeGuid switch_guid(const ChassisId& chassis) {
  return guid_of_name("lldp " + text_of(chassis));
}
NodeGuid interface_guid(const ChassisId& chassis, const std::string& port) {
  return guid_of_name("lldp " + text_of(chassis) + '\n' + port);
}

/// A name of one word: host_name() takes the first.
std::string one_word(std::string text) {
  std::ranges::replace(text, ' ', '_');
  return text;
}

std::string id_key(const CableClaimEnd& end) {
  return text_of(end.chassis) + '\n' + std::to_string(static_cast<int>(end.port.type)) + ' ' + end.port.id;
}

}  // namespace

FoundFabric::FoundFabric(const FoundFabricOptions& options)
    : switch_port_(options.switch_port_pattern), cabling_(std::make_shared<const FoundCabling>()) {
  if (!options.ignored_interfaces.empty()) ignored_.emplace(options.ignored_interfaces);
  build();
}

void FoundFabric::restore(std::span<const KnownLink> links) {
  nodes_.clear();
  const auto add = [this](PortKey key, const KnownEnd& end) -> std::optional<Place> {
    if (end.port_name.empty() || key.port.value == 0) return std::nullopt;
    FoundNode& node = nodes_[key.node];
    node.name = end.node_name;
    node.is_switch = end.type == NodeType::kSwitch;
    if (node.ports.size() < key.port.value) node.ports.resize(key.port.value);
    node.ports[key.port.value - 1U].name = end.port_name;
    return Place{key.node, key.port.value - 1U};
  };
  for (const KnownLink& link : links) {
    const auto low = add(link.key.low, link.low), high = add(link.key.high, link.high);
    if (!low || !high || port(*low).peer || port(*high).peer) continue;
    port(*low).peer = high;
    port(*high).peer = low;
  }
  for (auto& [guid, node] : nodes_)
    for (FoundPort& each : node.ports) each.had_cable = true;
  drop_loose_nodes();
  describe(kNever, {});
  build();
}

bool FoundFabric::update(std::span<const NeighbourTeller> tellers, TimePoint now) {
  changed_ = false;
  NeighbourCables told = match_neighbours(tellers, ignored_ ? &*ignored_ : nullptr);
  collectors_.clear();
  for (const NeighbourTeller& teller : tellers) collectors_.insert(teller.name);
  learn_systems(told, tellers, told.unclear);
  bind(tellers);
  settle(places_of(told, now), now, told.unclear);
  drop_loose_nodes();
  describe(now, std::move(told.unclear));
  if (changed_) build();
  return changed_;
}

void FoundFabric::learn_systems(const NeighbourCables& told, std::span<const NeighbourTeller> tellers,
                                Unclear& unclear) {
  for (const NeighbourTeller& teller : tellers) {
    if (!teller.table || teller.table->chassis.id.empty()) continue;
    name_system(teller.table->chassis, teller.name, teller.name, unclear);
    System& system = systems_[teller.table->chassis];
    system.is_switch = system.is_switch || std::ranges::any_of(teller.table->ports, [&](const NeighbourPort& each) {
                         return std::regex_search(each.interface, switch_port_);
                       });
  }
  struct Heard {
    const CableClaimEnd* end = nullptr;
    bool has_switch_port = false, has_names = false;
  };
  std::map<ChassisId, Heard> heard;
  for (const CableClaim& claim : told.cables)
    for (const CableClaimEnd* end : {&claim.a, &claim.b}) {
      if (!end->teller.empty()) continue;
      Heard& one = heard[end->chassis];
      one.end = end;
      one.has_names = one.has_names || end->has_name();
      one.has_switch_port =
          one.has_switch_port || (end->has_name() && std::regex_search(end->port_name(), switch_port_));
    }
  for (const auto& [chassis, one] : heard) {
    name_system(chassis, one.end->system_name, {}, unclear);
    System& system = systems_[chassis];
    const bool forwards = (one.end->capabilities & (kCapabilityBridge | kCapabilityRouter)) != 0;
    system.is_switch = system.is_switch || one.has_switch_port || (!one.has_names && forwards);
  }
}

void FoundFabric::name_system(const ChassisId& chassis, const std::string& claimed, const std::string& teller,
                              Unclear& unclear) {
  System& system = systems_[chassis];
  system.teller = teller;
  std::string name = one_word(claimed.empty() ? chassis.id : claimed);
  const auto owner = owners_.find(name);
  const bool is_taken = owner != owners_.end() && owner->second != chassis;
  if (!teller.empty() && is_taken) {
    // Whoever only claimed it loses it.
    const ChassisId other = owner->second;
    owner->second = chassis;
    if (systems_[other].teller.empty()) {
      systems_[other].name = one_word(other.id);
      rename(other);
    }
  } else if (teller.empty() && (is_taken || collectors_.contains(name))) {
    unclear.push_back({name, text_of(chassis),
                       is_taken && systems_[owner->second].teller.empty()
                           ? "another system, " + text_of(owner->second) + ", says this name, too"
                           : "it says the name of a collector, which does not confirm that this is its system"});
    name = one_word(chassis.id);
  }
  owners_.try_emplace(name, chassis);
  if (system.name == name) return;
  system.name = name;
  rename(chassis);
}

void FoundFabric::rename(const ChassisId& chassis) {
  const System& system = systems_[chassis];
  for (auto& [guid, node] : nodes_) {
    if (node.chassis != chassis) continue;
    const std::string name = node.is_switch ? system.name : system.name + ' ' + node.ports.front().name;
    changed_ = changed_ || node.name != name;
    node.name = name;
  }
}

std::optional<FoundFabric::Place> FoundFabric::place_of(const CableClaimEnd& end) {
  const System& system = systems_[end.chassis];
  const std::string name = end.port_name();
  if (system.is_switch && end.has_name() && !std::regex_search(name, switch_port_)) return std::nullopt;
  const std::string id = id_key(end);
  const auto known = by_id_.find(id);
  const NodeGuid guid = system.is_switch ? switch_guid(end.chassis) : interface_guid(end.chassis, name);
  std::optional<Place> place;
  if (const auto node = nodes_.find(guid); node != nodes_.end()) {
    const auto same = std::ranges::find(node->second.ports, name, &FoundPort::name);
    if (same != node->second.ports.end()) place = {guid, static_cast<std::size_t>(same - node->second.ports.begin())};
  }
  // Who heard it first may not have known its name.
  if (!place && known != by_id_.end() && nodes_.contains(known->second.node) &&
      nodes_.at(known->second.node).is_switch == system.is_switch && port(known->second).collector.empty())
    place = known->second;
  if (!place) {
    FoundNode& node = nodes_[guid];
    node.is_switch = system.is_switch;
    node.ports.push_back({.name = name});
    place = {guid, node.ports.size() - 1};
  }
  FoundNode& node = nodes_.at(place->node);
  FoundPort& found = node.ports[place->port];
  node.chassis = end.chassis;
  if (!end.teller.empty()) {
    changed_ = changed_ || (found.peer && (found.name != name || found.collector != end.teller));
    found.name = name;
    found.collector = end.teller;
    found.interface = end.interface;
  } else if (!found.collector.empty()) {
    changed_ = true;  // its collector tells no neighbours any more, or another chassis id
    found.collector.clear();
    found.interface.clear();
  }
  by_id_[id] = *place;
  const std::string full = node.is_switch ? system.name : system.name + ' ' + found.name;
  changed_ = changed_ || (found.had_cable && node.name != full);
  node.name = full;
  return place;
}

/// Ports that are known already belong to whoever has them, even where nobody is heard there.
void FoundFabric::bind(std::span<const NeighbourTeller> tellers) {
  for (const NeighbourTeller& teller : tellers) {
    if (!teller.table || teller.table->chassis.id.empty()) continue;
    const ChassisId& chassis = teller.table->chassis;
    const System& system = systems_[chassis];
    for (const NeighbourPort& each : teller.table->ports) {
      const auto node = nodes_.find(system.is_switch ? switch_guid(chassis) : interface_guid(chassis, each.interface));
      if (node == nodes_.end()) continue;
      const auto port = std::ranges::find(node->second.ports, each.interface, &FoundPort::name);
      if (port == node->second.ports.end() || port->collector == teller.name) continue;
      port->collector = teller.name;
      port->interface = each.interface;
      node->second.chassis = chassis;
      changed_ = true;
    }
  }
}

std::vector<FoundFabric::Told> FoundFabric::places_of(const NeighbourCables& told, TimePoint now) {
  // In the order in which people count: so ports get their numbers.
  std::vector<const CableClaim*> claims;
  for (const CableClaim& claim : told.cables) claims.push_back(&claim);
  std::ranges::stable_sort(claims, [](const CableClaim* one, const CableClaim* other) {
    const auto is_before = [](const CableClaimEnd& a, const CableClaimEnd& b) {
      return a.chassis != b.chassis ? a.chassis < b.chassis : comes_before(a.port_name(), b.port_name());
    };
    if (is_before(one->a, other->a)) return true;
    return !is_before(other->a, one->a) && is_before(one->b, other->b);
  });
  std::vector<Told> found;
  std::map<std::pair<Place, Place>, TimePoint> first_told;
  for (const CableClaim* const claim : claims) {
    const auto a = place_of(claim->a), b = place_of(claim->b);
    if (!a || !b || *a == *b) continue;
    const auto key = *a < *b ? std::pair(*a, *b) : std::pair(*b, *a);
    const auto before = first_told_.find(key);
    const TimePoint since = before == first_told_.end() ? now : std::min(before->second, now);
    first_told.emplace(key, since);
    found.push_back({claim, *a, *b, since});
  }
  first_told_ = std::move(first_told);
  return found;
}

/// Of contradicting claims the one counts that is told now, by both ends, or since later; where none stands out, none.
void FoundFabric::settle(const std::vector<Told>& told, TimePoint now, Unclear& unclear) {
  const auto weight = [](const Told& one) { return std::tuple(one.claim->is_fresh, one.claim->is_mutual, one.since); };
  std::map<Place, const Told*> best;
  std::set<Place> tied;
  for (const Told& one : told)
    for (const Place& at : {one.a, one.b}) {
      const auto [found, added] = best.try_emplace(at, &one);
      if (added) continue;
      if (weight(*found->second) == weight(one)) {
        tied.insert(at);
      } else if (weight(*found->second) < weight(one)) {
        found->second = &one;
        tied.erase(at);
      }
    }
  for (const Place& at : tied) unclear.push_back({label(at), "", "more than one port says that its cable ends here"});
  for (const Told& one : told) {
    if (best.at(one.a) != &one || best.at(one.b) != &one || tied.contains(one.a) || tied.contains(one.b)) continue;
    FoundPort& a = port(one.a);
    FoundPort& b = port(one.b);
    if (a.peer == one.b) {
      if (one.claim->is_fresh) a.told = b.told = now;
      continue;
    }
    // What somebody said before he fell silent takes no cable away.
    if (!one.claim->is_fresh && (a.peer || b.peer)) continue;
    if (!one.claim->is_mutual && is_restless(a.collector.empty() ? b : a, now)) {
      unclear.push_back({label(a.collector.empty() ? one.b : one.a), "",
                         "its neighbour changes again and again, and does not hear it"});
      continue;
    }
    connect(one, now);
  }
}

bool FoundFabric::is_restless(FoundPort& port, TimePoint now) {
  if (port.changes_since == kNever || now < port.changes_since || now - port.changes_since > kRestlessTime) {
    port.changes_since = now;
    port.changes = 0;
  }
  if (port.changes >= kMostChanges) return true;
  ++port.changes;
  return false;
}

void FoundFabric::connect(const Told& told, TimePoint now) {
  disconnect(told.a);
  disconnect(told.b);
  port(told.a).peer = told.b;
  port(told.b).peer = told.a;
  port(told.a).had_cable = port(told.b).had_cable = true;
  if (told.claim->is_fresh) port(told.a).told = port(told.b).told = now;
  changed_ = true;
}

void FoundFabric::disconnect(const Place& at) {
  FoundPort& here = port(at);
  if (!here.peer) return;
  port(*here.peer).peer.reset();
  port(*here.peer).told = kNever;
  here.peer.reset();
  here.told = kNever;
  changed_ = true;
}

/// So that a neighbour who is somebody else each time does not fill the memory.
void FoundFabric::drop_loose_nodes() {
  std::erase_if(nodes_, [](const auto& entry) {
    return std::ranges::none_of(entry.second.ports,
                                [](const FoundPort& each) { return each.peer || !each.collector.empty(); });
  });
  for (auto& [guid, node] : nodes_)
    while (!node.ports.empty() && !node.ports.back().had_cable && node.ports.back().collector.empty())
      node.ports.pop_back();
  std::erase_if(by_id_, [this](const auto& entry) {
    const auto node = nodes_.find(entry.second.node);
    return node == nodes_.end() || entry.second.port >= node->second.ports.size();
  });
  std::set<ChassisId> used;
  for (const auto& [guid, node] : nodes_)
    if (node.chassis) used.insert(*node.chassis);
  std::erase_if(systems_,
                [&](const auto& entry) { return entry.second.teller.empty() && !used.contains(entry.first); });
  std::erase_if(owners_, [&](const auto& entry) { return !systems_.contains(entry.second); });
}

std::string FoundFabric::label(const Place& at) const {
  const FoundNode& node = nodes_.at(at.node);
  return node.is_switch ? node.name + ' ' + node.ports[at.port].name : node.name;
}

void FoundFabric::describe(TimePoint now, Unclear unclear) {
  FoundCabling found;
  for (const auto& [guid, node] : nodes_)
    for (std::size_t i = 0; i < node.ports.size(); ++i) {
      const FoundPort& here = node.ports[i];
      const Place at{guid, i};
      if (!here.peer || *here.peer < at) continue;
      ++found.cables;
      if (now != kNever && here.told == now) continue;
      std::string a = label(at), b = label(*here.peer);
      if (comes_before(b, a)) std::swap(a, b);
      found.old.push_back({std::move(a), std::move(b), here.told});
    }
  std::ranges::sort(found.old, [](const OldCable& a, const OldCable& b) { return comes_before(a.a, b.a); });
  found.unclear = std::move(unclear);
  std::ranges::sort(found.unclear, {},
                    [](const UnclearNeighbour& one) { return std::tie(one.where, one.told, one.why); });
  cabling_ = std::make_shared<const FoundCabling>(std::move(found));
}

void FoundFabric::build() {
  std::vector<const std::pair<const NodeGuid, FoundNode>*> order;
  for (const auto& entry : nodes_)
    if (std::ranges::any_of(entry.second.ports, [](const FoundPort& each) { return each.peer.has_value(); }))
      order.push_back(&entry);
  std::ranges::stable_sort(order,
                           [](const auto* a, const auto* b) { return comes_before(a->second.name, b->second.name); });
  std::vector<Node> nodes;
  std::vector<Port> ports;
  std::vector<std::string> names;
  std::map<Place, PortIndex> index_of;
  bindings_.clear();
  std::uint64_t epoch = 1;
  const auto mix = [&epoch](std::uint64_t value) { epoch = (epoch ^ value) * 0x00000100000001B3ULL; };
  for (const auto* entry : order) {
    const auto& [guid, found] = *entry;
    Node& node = nodes.emplace_back();
    node.guid = guid;
    node.system_image_guid = guid.value;
    node.type = found.is_switch ? NodeType::kSwitch : NodeType::kChannelAdapter;
    node.port_count = static_cast<std::uint16_t>(found.ports.size());
    node.first_port = static_cast<PortIndex>(ports.size());
    node.name = node.description = found.name;
    mix(guid.value);
    for (std::uint32_t at = 0; at < node.port_entries(); ++at) {
      Port& port = ports.emplace_back();
      port.node = static_cast<NodeIndex>(nodes.size() - 1);
      port.guid = PortGuid{guid.value};
      port.number = PortNum{static_cast<std::uint16_t>(at + node.lowest_port())};
      const FoundPort* const real = port.number.value == 0 ? nullptr : &found.ports[port.number.value - 1U];
      names.push_back(real ? real->name : std::string());
      if (!real) continue;
      port.wait_tick_seconds = 1e-6F;
      const auto index = static_cast<PortIndex>(ports.size() - 1);
      index_of[{guid, port.number.value - 1U}] = index;
      if (!real->collector.empty() && real->peer) bindings_.push_back({index, real->collector, real->interface});
    }
  }
  for (const auto& [place, index] : index_of)
    if (const auto& peer = port(place).peer) ports[index].peer = index_of.at(*peer);
  for (const Port& port : ports) mix(port.peer);
  constexpr std::uint64_t kEpochBits = (1ULL << 32) - 1;  // clients keep it in numbers of 53 bits
  topology_ = std::make_shared<const Topology>((epoch & kEpochBits) | 1, std::move(nodes), std::move(ports),
                                               std::vector<DuplicateGuid>{}, LinkLayer::kEthernet, std::move(names));
}

}  // namespace weft::analyzer
