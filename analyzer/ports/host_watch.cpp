// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/host_watch.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace weft::analyzer {
namespace {

std::string label_of(const HostWatch& host, std::string_view device, std::uint32_t number, const std::string& netdev) {
  std::string label = host.name + ' ' + std::string(device);
  if (number > 0) label += " port " + std::to_string(number);
  if (!netdev.empty() && netdev != device) label += " (" + netdev + ")";
  return label;
}

void see_state(PortWatch& port, bool up, TimePoint at) {
  port.fell = port.known && port.up && !up && !port.fell_late;
  port.fell_late = false;
  if (!port.known || port.up != up) port.changed = at;
  port.known = true;
  port.up = up;
  if (!up) ++port.times_away;
}

/// Nothing of the inventory is called so.
bool is_free(const HostInventory& inventory, const std::string& device, std::uint16_t number) {
  return std::ranges::none_of(inventory.ports,
                              [&](const HostPort& told) { return told.device == device && told.number == number; });
}

/// Finds which port of the host each port of an inventory is.
class PortMatch {
 public:
  PortMatch(const HostWatch& host, const HostInventory& inventory)
      : host_(host), inventory_(inventory), found_(inventory.ports.size(), kNoIndex), taken_(host.ports.size()) {
    by_guid();
    by_name();
    by_interface();
  }
  /// Of the port there in the inventory; kNoIndex: it is new.
  std::uint32_t operator[](std::size_t told) const { return found_[told]; }

 private:
  void take(std::size_t told, std::uint32_t port) {
    found_[told] = port;
    taken_[port] = true;
  }
  /// A GUID that two ports have says nothing.
  void by_guid() {
    std::unordered_map<std::uint64_t, std::pair<unsigned, std::uint32_t>> known;  // how often, and where
    for (std::uint32_t i = 0; i < host_.ports.size(); ++i)
      if (const PortGuid guid = host_.ports[i].guid) known[guid.value] = {known[guid.value].first + 1, i};
    std::unordered_map<std::uint64_t, unsigned> told;
    for (const HostPort& port : inventory_.ports) ++told[port.port_guid.value];
    for (std::size_t i = 0; i < inventory_.ports.size(); ++i) {
      const PortGuid guid = inventory_.ports[i].port_guid;
      if (!guid || told[guid.value] > 1) continue;
      if (const auto port = known.find(guid.value); port != known.end() && port->second.first == 1)
        take(i, port->second.second);
    }
  }
  /// Mostly ports stand where the inventory has them, and a switch has hundreds.
  void by_name() {
    for (std::size_t i = 0; i < inventory_.ports.size(); ++i) {
      if (found_[i] != kNoIndex) continue;
      const HostPort& told = inventory_.ports[i];
      const auto is_it = [&](std::uint32_t at) {
        return !taken_[at] && host_.ports[at].number == told.number && host_.ports[at].device == told.device;
      };
      if (i < host_.ports.size() && is_it(static_cast<std::uint32_t>(i))) {
        take(i, static_cast<std::uint32_t>(i));
        continue;
      }
      for (std::uint32_t at = 0; at < host_.ports.size(); ++at)
        if (is_it(at)) {
          take(i, at);
          break;
        }
    }
  }
  /// An interface is called after its RDMA device as soon as it has one, a bond's device takes the place of two, and
  /// udev renames devices.
  void by_interface() {
    for (std::size_t i = 0; i < inventory_.ports.size(); ++i) {
      const HostPort& told = inventory_.ports[i];
      if (found_[i] != kNoIndex || told.netdev.empty()) continue;
      for (std::uint32_t at = 0; at < host_.ports.size(); ++at) {
        const PortWatch& port = host_.ports[at];
        if (taken_[at] || port.netdev != told.netdev || !is_free(inventory_, port.device, port.number)) continue;
        take(i, at);
        break;
      }
    }
  }

  const HostWatch& host_;
  const HostInventory& inventory_;
  std::vector<std::uint32_t> found_;
  std::vector<bool> taken_;  ///< by port of the host
};

/// As find_port(). Mostly ports stand where the inventory has them, and a switch has hundreds.
PortWatch* find_near(HostWatch& host, const HostPort& told, std::size_t position) {
  if (position < host.ports.size() && host.ports[position].number == told.number &&
      host.ports[position].device == told.device)
    return &host.ports[position];
  return find_port(host, told.device, told.number);
}

/// Another adapter in the same place: what was measured of the one before is not its own.
void renew(PortWatch& port, PortSlots& slots) {
  slots.give_back(port.slot);
  port.slot = slots.take();
  port.known = port.up = false;
  port.changed = kNever;
  port.best_rate = 0;
  port.place.reset();
  port.place_before.reset();
}

/// Somebody wants it down, or no more: then it is missed when it is down.
void set_wanted(HostWatch& host, PortWatch& port, bool down) {
  if (port.was_up && port.set_down != down) ++host.seen_revision;
  port.set_down = down;
}

/// No adapter of the one is in the other.
bool are_of_two_hosts(const HostInventory& a, const HostInventory& b) {
  const auto has_guid = [](const HostPort& port) { return static_cast<bool>(port.port_guid); };
  if (std::ranges::none_of(a.ports, has_guid) || std::ranges::none_of(b.ports, has_guid)) return false;
  return std::ranges::none_of(a.ports, [&](const HostPort& port) {
    return port.port_guid && std::ranges::find(b.ports, port.port_guid, &HostPort::port_guid) != b.ports.end();
  });
}

/// Removes those ports of which `is_over` is true. Were there any?
template <typename IsOver>
bool erase_ports(HostWatch& host, PortSlots& slots, const IsOver& is_over) {
  for (const PortWatch& port : host.ports)
    if (is_over(port)) slots.give_back(port.slot);
  return std::erase_if(host.ports, is_over) > 0;
}

}  // namespace

void note_up(HostWatch& host, PortWatch& port, std::uint64_t rate, bool by_history) {
  port.by_history = by_history && (port.by_history || !port.was_up);
  if (port.was_up && rate <= port.best_rate) return;
  port.was_up = true;
  port.best_rate = std::max(port.best_rate, rate);
  ++host.seen_revision;
}

const PortWatch* find_port(const HostWatch& host, std::string_view device, std::uint16_t number) {
  const auto found = std::ranges::find_if(
      host.ports, [&](const PortWatch& port) { return port.number == number && port.device == device; });
  return found == host.ports.end() ? nullptr : &*found;
}
PortWatch* find_port(HostWatch& host, std::string_view device, std::uint16_t number) {
  return const_cast<PortWatch*>(find_port(std::as_const(host), device, number));
}

PortWatch& add_port(HostWatch& host, std::string_view device, std::uint16_t number, PortSlots& slots) {
  PortWatch& port = host.ports.emplace_back();
  port.slot = slots.take();
  port.device = device;
  port.number = number;
  port.label = label_of(host, device, number, {});
  return port;
}

std::uint32_t port_of(const HostWatch& host, const HostSeries& series) {
  for (std::uint32_t i = 0; i < host.ports.size(); ++i)
    if (host.ports[i].device == series.device && (series.port == 0 || host.ports[i].number == series.port)) return i;
  return kNoIndex;
}

Entity entity_of(const HostWatch& host, const PortWatch& port) {
  Entity entity{.kind = EntityKind::kHostPort, .fabric = {}, .port = {}, .peer = {}, .label = port.label};
  entity.port.port = PortNum{port.number};
  entity.host = host.name;
  entity.device = port.device;
  return entity;
}

Entity place_of(const HostWatch& host, const PortWatch& port) {
  return port.place ? port.place->port : entity_of(host, port);
}

Entity cable_of(const HostWatch& host, const PortWatch& port) {
  return port.place && port.place->is_ethernet ? port.place->link : entity_of(host, port);
}

Entity collector_of(const std::string& host) {
  Entity entity{.kind = EntityKind::kCollector, .fabric = {}, .port = {}, .peer = {}, .label = host};
  entity.host = host;
  return entity;
}

void weigh_history(HostWatch& host, const HostInventory& next, bool is_late) {
  if (std::ranges::none_of(host.ports, &PortWatch::by_history)) return;
  const bool is_others = host.inventory && are_of_two_hosts(*host.inventory, next);
  if (is_late && !is_others) return;
  for (PortWatch& port : host.ports) {
    if (!std::exchange(port.by_history, false)) continue;
    if (is_others) port.was_up = false;
    if (is_others) port.best_rate = 0;
  }
  ++host.seen_revision;
}

void take_inventory(HostWatch& host, std::shared_ptr<const HostInventory> inventory, PortSlots& slots) {
  for (PortWatch& port : host.ports) port.present = false;
  const PortMatch match(host, *inventory);
  const std::size_t known = host.ports.size();
  for (std::size_t i = 0; i < inventory->ports.size(); ++i) {
    const HostPort& told = inventory->ports[i];
    PortWatch* const port =
        match[i] == kNoIndex ? &add_port(host, told.device, told.number, slots) : &host.ports[match[i]];
    if (port->was_up && (port->device != told.device || port->number != told.number || port->netdev != told.netdev ||
                         port->guid != told.port_guid))
      ++host.seen_revision;
    if (port->guid && told.port_guid && port->guid != told.port_guid) renew(*port, slots);
    port->device = told.device;
    port->number = told.number;
    port->netdev = told.netdev;
    port->present = true;
    port->missing_readings = 0;
    port->missing_since = kNever;
    port->is_virtual = told.is_virtual_function;
    if (port->guid != told.port_guid) {
      port->place.reset();
      port->place_before.reset();
    }
    port->guid = told.port_guid;
    port->node = told.link_layer == LinkLayer::kInfiniBand ? told.node_guid : NodeGuid{};
    port->label = label_of(host, told.device, told.number, told.netdev);
  }
  // The name of one that is gone may be another one's by now.
  for (std::size_t i = 0; i < known; ++i) {
    PortWatch& gone = host.ports[i];
    if (gone.present || !gone.guid || is_free(*inventory, gone.device, gone.number)) continue;
    gone.device = to_string(gone.guid);
    gone.label = label_of(host, gone.device, gone.number, {});
  }
  // One that was never up, or whose driver made it for others, may go without a word.
  erase_ports(host, slots, [](const PortWatch& port) { return !port.present && (!port.was_up || port.is_virtual); });
  host.inventory = std::move(inventory);
}

void take_states(HostWatch& host, const HostReading& reading) {
  for (PortWatch& port : host.ports) {
    port.fell = false;
    if (!port.present && ++port.missing_readings == 1) port.missing_since = reading.taken;
  }
  for (std::size_t i = 0; i < host.inventory->ports.size(); ++i) {
    const HostPort& told = host.inventory->ports[i];
    PortWatch& port = *find_near(host, told, i);
    set_wanted(host, port, told.administratively_down);
    // Between down and up the subnet manager, or a training, has the word.
    if (told.state == PortState::kActive || told.state == PortState::kDown)
      see_state(port, told.state == PortState::kActive, reading.taken);
    port.reason = told.down_reason;
    port.rate = port.up ? told.rate_bits_per_second : 0;
    if (port.up) note_up(host, port, port.rate);
  }
}

void take_past_states(HostWatch& host) {
  for (std::size_t i = 0; i < host.inventory->ports.size(); ++i) {
    const HostPort& told = host.inventory->ports[i];
    PortWatch& port = *find_near(host, told, i);
    set_wanted(host, port, told.administratively_down);
    if (told.state == PortState::kActive) note_up(host, port, told.rate_bits_per_second, true);
  }
}

PortWatch* take_event(HostWatch& host, const LinkEvent& event, bool is_late) {
  PortWatch* const port = find_port(host, event.device, event.port);
  if (!port) return nullptr;
  // An adapter that falls off the bus is closed first, which looks like somebody's will until its removal is told.
  set_wanted(host, *port, event.administrative && !event.up);
  if (is_late) {
    port->fell_late = !event.up;
    return port;
  }
  see_state(*port, event.up, event.at);
  if (!event.up) port->reason = event.reason;
  return port;
}

void let_go_of_uncabled(HostWatch& host) {
  for (PortWatch& port : host.ports) {
    const bool is_uncabled = port.place && port.place->is_ethernet && port.place->link.kind != EntityKind::kLink;
    if (!is_uncabled || !port.was_up || !port.known || port.up) continue;
    port.was_up = false;
    port.best_rate = 0;
    ++host.seen_revision;
  }
}

std::vector<HostPortSeen> ports_seen(const HostWatch& host) {
  std::vector<HostPortSeen> seen;
  for (const PortWatch& port : host.ports)
    if (port.was_up && !port.by_history && !port.is_virtual && !port.set_down && seen.size() < kMostPortsSeen)
      seen.push_back({port.device, port.number, port.netdev, port.guid, port.best_rate, port.node});
  return seen;
}

void restore_ports(HostWatch& host, std::span<const HostPortSeen> seen, PortSlots& slots) {
  for (const HostPortSeen& known : seen) {
    PortWatch* port = find_port(host, known.device, known.port);
    if (!port) {
      port = &add_port(host, known.device, known.port, slots);
      port->present = false;
    }
    port->label = label_of(host, known.device, known.port, known.netdev);
    port->netdev = known.netdev;
    port->guid = known.guid;
    port->node = known.node;
    note_up(host, *port, known.rate);
  }
}

bool forget_missing(HostWatch& host, Duration after, TimePoint now, PortSlots& slots) {
  const bool any = erase_ports(
      host, slots, [&](const PortWatch& port) { return is_gone(port) && now - port.missing_since >= after; });
  if (any) ++host.seen_revision;
  return any;
}

}  // namespace weft::analyzer
