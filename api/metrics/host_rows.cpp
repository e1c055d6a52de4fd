// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/host_rows.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "api/metrics/series_line.hpp"
#include "fabric/counters.hpp"

namespace weft::api {
namespace {

const std::vector<std::shared_ptr<const HostView>>& hosts_in(const Snapshot& snapshot) {
  static const std::vector<std::shared_ptr<const HostView>> kNone;
  return snapshot.hosts ? *snapshot.hosts : kNone;
}

std::span<const HostSeries> series_of(const HostView& host) {
  return host.reading && host.reading->inventory ? host.reading->inventory->series.all()
                                                 : std::span<const HostSeries>{};
}
std::span<const HostPort> ports_of(const HostView& host) {
  return host.reading && host.reading->inventory ? host.reading->inventory->ports : std::span<const HostPort>{};
}

bool is_stale(const HostView& host, TimePoint now) {
  return host.state != CollectorState::kConnected ||
         now - host.reading->taken > std::max<Duration>(3 * host.interval, std::chrono::seconds(5));
}

void begin_line(SeriesLine& line, std::string_view name, const std::string& host, const std::string& device,
                unsigned port) {
  line.put(name);
  line.put("{node=\"");
  line.escaped(host);
  line.label("device", device);
  line.label("port", port);
}

bool has_line(PortRow row, const HostPort& port) {
  return (row != PortRow::kUp || port.state != PortState::kUnknown) &&
         (row != PortRow::kByteRate || port.rate_bits_per_second != 0);
}

void write_port(const PortFamily& family, const HostView& host, const HostPort& port, TimePoint now, SeriesLine& line) {
  begin_line(line, family.name, host.host, port.device, port.number);
  switch (family.row) {
    case PortRow::kUp:
      return line.end(port.state == PortState::kActive ? 1 : 0);
    case PortRow::kStale:
      return line.end(is_stale(host, now) ? 1 : 0);
    case PortRow::kByteRate:
      return line.end(port.rate_bits_per_second / 8);
    default:
      break;
  }
  line.label("host", host.host);
  if (!port.netdev.empty()) line.label("netdev", port.netdev);
  if (!port.bond.empty()) line.label("bond", port.bond);
  if (!port.pci_address.empty()) line.label("pci_address", port.pci_address);
  if (!port.driver.empty()) line.label("driver", port.driver);
  if (!port.firmware.empty()) line.label("firmware", port.firmware);
  if (!port.board_id.empty()) line.label("board_id", port.board_id);
  if (!port.device_type.empty()) line.label("device_type", port.device_type);
  if (port.port_guid) line.label("port_guid", to_string(port.port_guid));
  line.label("link_layer", to_string(port.link_layer));
  line.end(1);
}

void write_value(const PortFamily& family, const HostView& host, const HostSeries& series, std::uint64_t value,
                 SeriesLine& line) {
  begin_line(line, family.name, host.host, series.device, series.port);
  if (family.row == PortRow::kRaw) line.label("counter", series.name);
  if (family.counter && family.counter->family == CounterFamily::kRdmaError) line.label("error", series.name);
  if (series.priority != kNoPriority) line.label("priority", unsigned{series.priority});
  if (series.direction != Direction::kNone) line.label("direction", to_string(series.direction));
  if (series.lane != kNoLane) line.label("lane", unsigned{series.lane});
  if (series.source != CounterSource::kUnknown) line.label("source", to_string(series.source));
  if (!family.counter || base_value(family.counter->unit, 1) == 1.0)
    line.end(value);
  else
    line.end(base_value(family.counter->unit, value));
}

/// How the series of the reading at `position` is shown.
ShownAs shown(const HostView& host, std::size_t position, const PortFamily& family, Duration now) {
  const bool may_be_left_out = host.moved && family.counter && family.counter->is_left_out_at_zero();
  return may_be_left_out ? host.moved->shown(0, position, now) : ShownAs::kAsRead;
}

}  // namespace

HostRows::HostRows(std::shared_ptr<const Snapshot> snapshot, ScrapeTime now, MetricGroups groups)
    : snapshot_(std::move(snapshot)), now_(now), groups_(groups) {
  if (hosts_in(*snapshot_).empty()) return;
  for (const FabricView& fabric : snapshot_->fabrics) {
    if (!fabric.watching || !fabric.sweep || !fabric.sweep->topology) continue;
    if (fabric.sweep->topology->is_ethernet()) continue;  // whose GUIDs are made from names
    for (const Port& port : fabric.sweep->topology->ports())
      if (port.guid && port.number.value > 0) swept_ports_.push_back(port.guid.value);
  }
  std::ranges::sort(swept_ports_);
  index_series();
}

void HostRows::index_series() {
  const PortFamilyTable& table = port_family_table();
  std::vector<std::pair<std::uint16_t, std::uint16_t>> sorted;  // family, position
  for (const auto& host : hosts_in(*snapshot_)) {
    begin_.push_back(static_cast<std::uint32_t>(order_.size()));
    sorted.clear();
    const auto series = series_of(*host);
    for (std::size_t i = 0; i < series.size(); ++i) {
      if (!host->reading->present[i]) continue;
      std::uint16_t family = table.raw;
      if (!series[i].is_raw) {
        const auto found = table.of_host_counter.find(series[i].name);
        if (found == table.of_host_counter.end()) continue;
        family = found->second;
      }
      if (groups_.has(table.families[family].group) &&
          shown(*host, i, table.families[family], now_.steady) != ShownAs::kNot)
        sorted.emplace_back(family, static_cast<std::uint16_t>(i));
    }
    std::ranges::sort(sorted);
    for (const auto& [family, position] : sorted) {
      order_.push_back(position);
      family_of_.push_back(family);
    }
  }
  cursor_ = begin_;
  begin_.push_back(static_cast<std::uint32_t>(order_.size()));
}

/// Is the port shown by the sweep of a subnet?
bool HostRows::is_swept(const HostView& host, const std::string& device, std::uint8_t number) const {
  if (swept_ports_.empty()) return false;
  for (const HostPort& port : ports_of(host))
    if (port.number == number && port.device == device)
      return std::ranges::binary_search(swept_ports_, port.port_guid.value);
  return false;
}

bool HostRows::write(std::size_t place, char*& at, const char* full, bool& headed, std::string_view head) {
  const PortFamily& family = port_family_table().families[place];
  switch (family.row) {
    case PortRow::kCounter:
    case PortRow::kRaw:
      return write_series(place, at, full, headed, head);
    case PortRow::kUp:
    case PortRow::kStale:
    case PortRow::kInfo:
    case PortRow::kByteRate:
      break;
    default:
      return true;
  }
  const auto& hosts = hosts_in(*snapshot_);
  SeriesLine line{at};
  for (; host_ < hosts.size(); ++host_, port_ = 0) {
    const HostView& host = *hosts[host_];
    const auto ports = ports_of(host);
    for (; port_ < ports.size(); ++port_) {
      if (at >= full) return false;
      const HostPort& port = ports[port_];
      const bool swept = family.row != PortRow::kInfo && !swept_ports_.empty() &&
                         std::ranges::binary_search(swept_ports_, port.port_guid.value);
      if (swept || !has_line(family.row, port)) continue;
      if (!std::exchange(headed, true)) line.put(head);
      write_port(family, host, port, now_.wall, line);
    }
  }
  host_ = 0;
  return true;
}

bool HostRows::write_series(std::size_t place, char*& at, const char* full, bool& headed, std::string_view head) {
  const PortFamily& family = port_family_table().families[place];
  const bool has_sweep = family.counter && family.counter->is_swept();
  const auto& hosts = hosts_in(*snapshot_);
  SeriesLine line{at};
  for (; host_ < hosts.size(); ++host_) {
    const HostView& host = *hosts[host_];
    std::uint32_t& cursor = cursor_[host_];
    for (; cursor < begin_[host_ + 1] && family_of_[cursor] == place; ++cursor) {
      if (at >= full) return false;
      const std::size_t position = order_[cursor];
      const HostSeries& series = series_of(host)[position];
      const bool is_twin = has_sweep && series.source == CounterSource::kUnknown;
      if (is_twin && is_swept(host, series.device, series.port)) continue;
      if (!std::exchange(headed, true)) line.put(head);
      const bool at_zero = shown(host, position, family, now_.steady) == ShownAs::kAtZero;
      write_value(family, host, series, at_zero ? 0 : host.reading->values[position], line);
    }
  }
  host_ = 0;
  return true;
}

}  // namespace weft::api
