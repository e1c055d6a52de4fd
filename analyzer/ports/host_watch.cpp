// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/host_watch.hpp"

#include <algorithm>

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

/// The port that bears another name since this inventory, or nullptr: an interface is called after its RDMA device as
/// soon as it has one, a bond's device takes the place of two, and udev renames devices.
PortWatch* find_renamed(HostWatch& host, const HostPort& told, const HostInventory& inventory) {
  const auto found = std::ranges::find_if(host.ports, [&](const PortWatch& port) {
    const bool same = told.netdev.empty() ? told.port_guid && port.netdev.empty() && port.guid == told.port_guid
                                          : port.netdev == told.netdev;
    return same && std::ranges::none_of(inventory.ports, [&](const HostPort& other) {
             return other.device == port.device && other.number == port.number;
           });
  });
  return found == host.ports.end() ? nullptr : &*found;
}

/// As find_port(). Mostly ports stand where the inventory has them, and a switch has hundreds.
PortWatch* find_near(HostWatch& host, const HostPort& told, std::size_t position) {
  if (position < host.ports.size() && host.ports[position].number == told.number &&
      host.ports[position].device == told.device)
    return &host.ports[position];
  return find_port(host, told.device, told.number);
}

/// Removes those ports of which `is_over` is true. Were there any?
template <typename IsOver>
bool erase_ports(HostWatch& host, PortSlots& slots, const IsOver& is_over) {
  for (const PortWatch& port : host.ports)
    if (is_over(port)) slots.give_back(port.slot);
  return std::erase_if(host.ports, is_over) > 0;
}

}  // namespace

void note_up(HostWatch& host, PortWatch& port, std::uint64_t rate) {
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

void take_inventory(HostWatch& host, std::shared_ptr<const HostInventory> inventory, PortSlots& slots) {
  for (PortWatch& port : host.ports) port.present = false;
  for (std::size_t i = 0; i < inventory->ports.size(); ++i) {
    const HostPort& told = inventory->ports[i];
    PortWatch* port = find_near(host, told, i);
    if (!port) port = find_renamed(host, told, *inventory);
    if (!port) port = &add_port(host, told.device, told.number, slots);
    if (port->was_up && (port->device != told.device || port->number != told.number || port->netdev != told.netdev ||
                         port->guid != told.port_guid))
      ++host.seen_revision;
    port->device = told.device;
    port->number = told.number;
    port->netdev = told.netdev;
    port->present = true;
    port->missing_readings = 0;
    port->missing_since = kNever;
    port->is_virtual = told.is_virtual_function;
    if (port->guid != told.port_guid) port->place.reset();
    port->guid = told.port_guid;
    port->label = label_of(host, told.device, told.number, told.netdev);
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
    port.set_down = told.administratively_down;
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
    if (told.state == PortState::kActive) note_up(host, *find_near(host, told, i), told.rate_bits_per_second);
  }
}

PortWatch* take_event(HostWatch& host, const LinkEvent& event, bool is_late) {
  PortWatch* const port = find_port(host, event.device, event.port);
  if (!port) return nullptr;
  // An adapter that falls off the bus is closed first, which looks like somebody's will until its removal is told.
  port->set_down = event.administrative && !event.up;
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
    if (port.was_up && !port.is_virtual && seen.size() < kMostPortsSeen)
      seen.push_back({port.device, port.number, port.netdev, port.guid, port.best_rate});
  return seen;
}

void restore_ports(HostWatch& host, std::span<const HostPortSeen> seen, PortSlots& slots) {
  for (const HostPortSeen& known : seen) {
    PortWatch* port = find_port(host, known.device, known.port);
    if (!port) {
      port = &add_port(host, known.device, known.port, slots);
      port->present = false;
      port->label = label_of(host, known.device, known.port, known.netdev);
    }
    port->netdev = known.netdev;
    port->guid = known.guid;
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
