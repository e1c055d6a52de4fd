// SPDX-License-Identifier: Apache-2.0
#include "analyzer/hosts/host_state.hpp"

#include <algorithm>
#include <utility>

namespace weft::analyzer {
namespace {

enum FlapSource : unsigned { kByState, kByCarrier, kByLinkDowned, kByLinkDownEvents };

constexpr std::array<std::string_view, kRdmaTroubles> kTroubleNames{
    "retries_exhausted", "rnr_retries_exhausted", "request_completion_error", "response_completion_error"};

FlapRecord& flaps_of(PortWatch& port, TimePoint at) {
  if (!port.flaps) {
    port.flaps = std::make_unique<FlapRecord>();
    port.flaps->state.updated = at;
  }
  return *port.flaps;
}

void went_down(PortWatch& port, unsigned source, std::uint64_t times, TimePoint at) {
  const bool meant = port.set_down || port.set_down_lately || port.exempt;
  if (times > 0 && !meant && !port.is_virtual) flaps_of(port, at).note(source, times);
}

void see_state(PortWatch& port, bool up, TimePoint at) {
  const bool was_up = port.known && port.up;
  if (!port.known || port.up != up) port.changed = at;
  port.known = true;
  port.up = up;
  port.was_up = port.was_up || up;
  if (!up) port.was_away = true;
  if (was_up && !up) went_down(port, kByState, 1, at);
}

std::optional<RdmaTrouble> trouble_of(std::string_view name) {
  const auto found = std::ranges::find(kTroubleNames, name);
  if (found == kTroubleNames.end()) return std::nullopt;
  return static_cast<RdmaTrouble>(found - kTroubleNames.begin());
}

struct TransferCounter {
  std::string_view name;
  Transfers::Kind kind;
  std::uint64_t TransferTotals::*total;
};
constexpr TransferCounter kTransferCounters[] = {
    {"transmit_packets", Transfers::kSent, &TransferTotals::sent},
    {"receive_packets", Transfers::kReceived, &TransferTotals::received},
    {"sequence_nak", Transfers::kSentAgain, &TransferTotals::sent_again},
    {"implied_nak", Transfers::kSentAgain, &TransferTotals::sent_again},
    {"ack_timeout", Transfers::kSentAgain, &TransferTotals::sent_again},
    {"out_of_sequence", Transfers::kOutOfSequence, &TransferTotals::out_of_sequence}};

struct StallCounter {
  std::string_view name;
  HostStall::Sign HostStall::*sign;
};
constexpr StallCounter kStallCounters[] = {{"pcie_write_stall", &HostStall::pcie_write},
                                           {"pcie_read_stall", &HostStall::pcie_read},
                                           {"out_of_buffer", &HostStall::out_of_buffer}};

void follow(HostWatch& host, const HostInventory& inventory) {
  host.followed.clear();
  for (PortWatch& port : host.ports) port.transfers.kinds = 0;
  for (std::uint32_t i = 0; i < inventory.series.size(); ++i) {
    const HostSeries& series = inventory.series[i];
    if (series.is_raw) continue;
    Followed next{i, 0, Followed::Use::kTrouble, RdmaTrouble::kCount, nullptr, nullptr};
    const auto transfer = std::ranges::find(kTransferCounters, series.name, &TransferCounter::name);
    const auto stall = std::ranges::find(kStallCounters, series.name, &StallCounter::name);
    const bool whole = series.priority == kNoPriority && series.lane == kNoLane;
    if (const auto trouble = trouble_of(series.name))
      next.trouble = *trouble;
    else if (series.name == "carrier_down")
      next.use = Followed::Use::kCarrier;
    else if (series.name == "link_downed")
      next.use = Followed::Use::kLinkDowned;
    else if (series.name == "link_down_events")
      next.use = Followed::Use::kLinkDownEvents;
    else if (transfer != std::end(kTransferCounters)) {
      next.use = Followed::Use::kTransfer;
      next.total = transfer->total;
    } else if (stall != std::end(kStallCounters)) {
      next.use = Followed::Use::kStall;
      next.sign = stall->sign;
    } else if (whole && series.name == "transmit_bytes") {
      next.use = Followed::Use::kSent;
    } else if (whole && series.name == "receive_bytes") {
      next.use = Followed::Use::kReceived;
    } else
      continue;
    next.port = port_of(host, series);
    if (next.port == kNoIndex) continue;
    if (next.total) host.ports[next.port].transfers.kinds |= transfer->kind;
    host.followed.push_back(next);
  }
  follow_trends(host, inventory);
  follow_signals(host, inventory);
  std::vector<std::uint32_t> series;
  for (const Followed& followed : host.followed) series.push_back(followed.series);
  for (const HostTrend& trend : host.trends) series.push_back(trend.series);
  for (const SignalCounter& counter : host.signal_counters) series.push_back(counter.series);
  host.memory.follow(inventory, std::move(series));
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

void take_inventory(HostWatch& host, std::shared_ptr<const HostInventory> inventory) {
  for (PortWatch& port : host.ports) port.present = false;
  for (const HostPort& told : inventory->ports) {
    PortWatch* port = find_port(host, told.device, told.number);
    if (!port) port = find_renamed(host, told, *inventory);
    if (!port) port = &host.ports.emplace_back();
    port->device = told.device;
    port->number = told.number;
    port->netdev = told.netdev;
    port->present = true;
    port->missing_readings = 0;
    port->missing_since = kNever;
    port->is_virtual = told.is_virtual_function;
    if (port->guid != told.port_guid) port->place.reset();
    port->guid = told.port_guid;
    port->label = host.name + ' ' + told.device;
    if (told.number > 0) port->label += " port " + std::to_string(told.number);
    if (!told.netdev.empty() && told.netdev != told.device) port->label += " (" + told.netdev + ")";
  }
  // One that was never up, or whose driver made it for others, may go without a word.
  std::erase_if(host.ports, [](const PortWatch& port) { return !port.present && (!port.was_up || port.is_virtual); });
  follow(host, *inventory);
  host.inventory = std::move(inventory);
}

void take_states(HostWatch& host, const HostReading& reading) {
  for (const HostPort& told : host.inventory->ports) {
    PortWatch& port = *find_port(host, told.device, told.number);
    port.set_down = told.administratively_down;
    port.set_down_lately = port.set_down_lately || port.set_down;
    // Between down and up the subnet manager, or a training, has the word.
    if (told.state == PortState::kActive || told.state == PortState::kDown)
      see_state(port, told.state == PortState::kActive, reading.taken);
    port.reason = told.down_reason;
    port.rate = port.up ? told.rate_bits_per_second : 0;
    port.best_rate = std::max(port.best_rate, port.rate);
    port.slow_readings = port.rate > 0 && port.rate < port.best_rate ? port.slow_readings + 1 : 0;
  }
  for (PortWatch& port : host.ports)
    if (!port.present && ++port.missing_readings == 1) port.missing_since = reading.taken;
}

void count_trouble(TroubleCount& count, std::uint64_t moved, bool at_once, TimePoint at, const Thresholds& thresholds) {
  if (!count.confirmed && at - count.began > thresholds.rdma_error_window) count = {0, 0, at, count.moved, false};
  if (moved == 0) return;
  if (count.total == 0) count.began = at;
  count.total += moved;
  ++count.readings;
  count.moved = at;
  count.confirmed = count.confirmed || at_once || count.readings >= 2 || count.total >= thresholds.rdma_error_count;
}

/// `amount`: packets, or a share of the time. One that is worth nothing ends what has not been seen for long.
void show(HostStall::Sign& sign, double amount, bool is_share, TimePoint at, const Thresholds& thresholds) {
  if (at - sign.seen > kStallMemory) sign = {};
  if (is_share ? amount < thresholds.host_stall_ratio : amount <= 0) return;
  if (sign.began == kNever) sign.began = at;
  sign.seen = at;
  sign.value = is_share ? std::max(sign.value, amount) : sign.value + amount;
}

void take_counters(HostWatch& host, const HostMovement& movement, const Thresholds& thresholds) {
  for (const Followed& followed : host.followed) {
    const SeriesMovement& row = movement.series[followed.series];
    if (!row.present) continue;
    const TimePoint taken = movement.taken;
    const std::uint64_t value = row.value;
    PortWatch& port = host.ports[followed.port];
    if (followed.use == Followed::Use::kCarrier) {
      if (port.carrier_downs && value > *port.carrier_downs)
        went_down(port, kByCarrier, value - *port.carrier_downs, taken);
      port.carrier_downs = value;
      continue;
    }
    if (followed.use == Followed::Use::kStall &&
        host.inventory->series[followed.series].behaviour == CounterBehaviour::kGauge) {
      show(port.stall.*followed.sign, static_cast<double>(value) / 100, true, taken, thresholds);
      continue;
    }
    const std::uint64_t moved = row.delta.moved;
    if (followed.use == Followed::Use::kSent || followed.use == Followed::Use::kReceived) {
      const bool sent = followed.use == Followed::Use::kSent;
      std::uint64_t& total = sent ? port.bytes.sent : port.bytes.received;
      const bool is_new = !row.known || row.delta.was_reset;
      port.bytes.read |= sent ? Bytes::kSent : Bytes::kReceived;
      port.bytes.was_new = port.bytes.was_new || is_new;
      total = is_new ? value : total + moved;
      continue;
    }
    if (followed.use == Followed::Use::kTransfer) {
      port.transfers.totals.*followed.total += moved;
    } else if (followed.use == Followed::Use::kStall) {
      show(port.stall.*followed.sign, static_cast<double>(moved), false, taken, thresholds);
    } else if (followed.use == Followed::Use::kTrouble) {
      // A queue pair whose retries are used up is in error: one is trouble enough.
      const bool at_once =
          followed.trouble == RdmaTrouble::kRetries || followed.trouble == RdmaTrouble::kReceiverNotReady;
      count_trouble(port.troubles[static_cast<std::size_t>(followed.trouble)], moved, at_once, taken, thresholds);
    } else {
      went_down(port, followed.use == Followed::Use::kLinkDowned ? kByLinkDowned : kByLinkDownEvents, moved, taken);
    }
  }
}

void take_activity(HostWatch& host, TimePoint at, const Thresholds& thresholds) {
  for (PortWatch& port : host.ports) {
    if (std::exchange(port.bytes.read, 0U) != (Bytes::kSent | Bytes::kReceived)) continue;
    if (std::exchange(port.bytes.was_new, false)) port.activity.interrupt();
    port.activity.take({at, port.bytes.sent, port.bytes.received, false}, thresholds.straggler);
  }
}

}  // namespace

std::string_view counter_name(RdmaTrouble trouble) {
  return kTroubleNames[static_cast<std::size_t>(trouble)];
}

const PortWatch* find_port(const HostWatch& host, std::string_view device, std::uint8_t number) {
  const auto found = std::ranges::find_if(
      host.ports, [&](const PortWatch& port) { return port.number == number && port.device == device; });
  return found == host.ports.end() ? nullptr : &*found;
}
PortWatch* find_port(HostWatch& host, std::string_view device, std::uint8_t number) {
  return const_cast<PortWatch*>(find_port(std::as_const(host), device, number));
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

Entity cable_of(const HostWatch& host, const PortWatch& port) {
  return port.place && port.place->is_ethernet ? port.place->link : entity_of(host, port);
}

Entity collector_of(const std::string& host) {
  Entity entity{.kind = EntityKind::kCollector, .fabric = {}, .port = {}, .peer = {}, .label = host};
  entity.host = host;
  return entity;
}

bool take_reading(HostWatch& host, const HostReading& reading, bool is_late, const Thresholds& thresholds,
                  HostMovement& movement) {
  if (host.inventory != reading.inventory) take_inventory(host, reading.inventory);
  if (!is_late) {
    take_states(host, reading);
    host.jobs = reading.jobs;
    host.has_reading = true;
  }
  host.memory.take(reading, movement);
  take_counters(host, movement, thresholds);
  take_activity(host, reading.taken, thresholds);
  take_trends(host, movement, is_late, thresholds);
  if (!is_late) take_signals(host, movement, thresholds);
  bool flapped = false;
  for (PortWatch& port : host.ports) {
    const auto change = port.flaps ? port.flaps->settle(thresholds, reading.taken, true) : FlapRecord::Change{};
    port.news = port.news || change.sides;
    flapped = flapped || change.counted;
    port.set_down_lately = port.set_down;
  }
  return flapped;
}

void forget_missing(HostWatch& host, const Thresholds& thresholds, TimePoint now) {
  const std::size_t forgotten = std::erase_if(host.ports, [&](const PortWatch& port) {
    return is_gone(port) && now - port.missing_since >= thresholds.host_port_forget_after;
  });
  // The others have moved up.
  if (forgotten > 0) follow(host, *host.inventory);
}

bool take_event(HostWatch& host, const LinkEvent& event, bool is_late, const Thresholds& thresholds) {
  PortWatch* const port = find_port(host, event.device, event.port);
  if (!port) return false;
  if (event.administrative) {
    port->set_down = !event.up;
    port->set_down_lately = true;
  } else {
    // An adapter that falls off the bus is closed first, which looks like somebody's will until its removal is told.
    port->set_down = false;
  }
  if (event.carrier_down_count) {
    if (port->carrier_downs && *event.carrier_down_count > *port->carrier_downs)
      went_down(*port, kByCarrier, *event.carrier_down_count - *port->carrier_downs, event.at);
    port->carrier_downs = *event.carrier_down_count;
  }
  if (!is_late) {
    see_state(*port, event.up, event.at);
    if (!event.up) port->reason = event.reason;
    port->news = true;
  } else if (!event.up) {
    went_down(*port, kByState, 1, event.at);
  }
  return port->flaps && port->flaps->settle(thresholds, event.at, false).counted;
}

}  // namespace weft::analyzer
