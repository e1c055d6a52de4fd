// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/host_families.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "api/metrics/labels.hpp"
#include "api/publication/utf8.hpp"
#include "fabric/counters.hpp"

namespace weft::api {
namespace {

constexpr std::uint16_t kNotShown = 0xFFFF;

const std::vector<std::shared_ptr<const HostView>>& hosts_of(const Snapshot& snapshot) {
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

}  // namespace

/// Writes the parts of one series; the caller has made sure of the room.
struct HostFamilies::Line {
  char*& at;

  void put(std::string_view text) {
    std::memcpy(at, text.data(), text.size());
    at += text.size();
  }
  void escaped(std::string_view text) {
    const bool plain = std::ranges::all_of(
        text, [](char c) { return c >= 0x20 && static_cast<unsigned char>(c) < 0x80 && c != '"' && c != '\\'; });
    if (plain) return put(text);
    std::string safe;
    append_label_value(safe, text);
    put(safe);
  }
  template <typename Number>
  void number(Number value) {
    at = std::to_chars(at, at + kLongestNumber, value).ptr;
  }
  void begin(std::string_view name, const std::string& host, const std::string& device, unsigned port) {
    put(name);
    put("{node=\"");
    escaped(host);
    label("device", device);
    put("\",port=\"");
    number(port);
  }
  void label(std::string_view name, std::string_view value) {
    put("\",");
    put(name);
    put("=\"");
    escaped(value);
  }
  template <typename Number>
  void end(Number value) {
    put("\"} ");
    number(value);
    *at++ = '\n';
  }
};

HostFamilies::HostFamilies(std::shared_ptr<const Snapshot> snapshot, TimePoint now, std::span<const std::string> swept)
    : snapshot_(std::move(snapshot)), now_(now) {
  if (hosts_of(*snapshot_).empty()) return;
  struct Entry {
    Family family;
    Source source;
    std::ptrdiff_t place;  ///< among the swept
  };
  std::vector<Entry> entries;
  const auto add = [&](std::string name, std::string_view help, MetricType type, Source source) {
    const std::ptrdiff_t place = std::ranges::find(swept, name) - swept.begin();
    entries.push_back({{std::move(name), help, type}, source, place});
  };
  add("weft_port_up", "1 if the port is logically active.", MetricType::kGauge, Source::kUp);
  add("weft_port_stale", "1 if the port's last reading is stale.", MetricType::kGauge, Source::kStale);
  add("weft_port_info", "Properties of the port.", MetricType::kInfo, Source::kInfo);
  add("weft_port_rate_bytes_per_second", "Active data rate of the port.", MetricType::kGauge, Source::kByteRate);
  for (const CounterInfo& info : counter_catalogue()) {
    if (!info.on_hosts) continue;
    std::string name = metric_name(info);
    // All errors of RDMA are one family, told apart by a label.
    if (entries.back().family.name == name) continue;
    const bool errors = info.family == CounterFamily::kRdmaError;
    add(std::move(name), errors ? "Errors of the RDMA transport, by canonical name." : info.help,
        info.is_gauge ? MetricType::kGauge : MetricType::kCounter, Source::kCounter);
  }
  add("weft_port_raw", "A counter without a canonical name, under the driver's name.", MetricType::kGauge,
      Source::kRaw);
  // What the sweep gives as well is asked for in the sweep's order, the rest after it: no series is gone back to.
  std::ranges::stable_sort(entries, {}, &Entry::place);
  for (Entry& entry : entries) {
    families_.push_back(std::move(entry.family));
    sources_.push_back(entry.source);
    is_swept_family_.push_back(entry.place < std::ssize(swept));
  }
  for (const FabricView& fabric : snapshot_->fabrics) {
    if (!fabric.watching || !fabric.sweep || !fabric.sweep->topology) continue;
    if (fabric.sweep->topology->is_ethernet()) continue;  // whose GUIDs are made from names
    for (const Port& port : fabric.sweep->topology->ports())
      if (port.guid && port.number.value > 0) swept_ports_.push_back(port.guid.value);
  }
  std::ranges::sort(swept_ports_);
  index_series();
}

void HostFamilies::index_series() {
  std::unordered_map<std::string_view, std::uint16_t> by_counter;
  std::unordered_map<std::string_view, std::uint16_t> by_name;
  for (std::size_t i = 0; i < families_.size(); ++i) by_name.emplace(families_[i].name, static_cast<std::uint16_t>(i));
  for (const CounterInfo& info : counter_catalogue()) {
    // Ticks have no length here: only the subnet's sweep knows the port's.
    const bool shown = info.on_hosts && info.unit != CounterUnit::kTicks;
    by_counter.emplace(info.name, shown ? by_name.at(metric_name(info)) : kNotShown);
  }
  const auto raw = static_cast<std::uint16_t>(families_.size() - 1);
  std::vector<std::pair<std::uint16_t, std::uint16_t>> sorted;  // family, position
  for (const auto& host : hosts_of(*snapshot_)) {
    begin_.push_back(static_cast<std::uint32_t>(order_.size()));
    sorted.clear();
    const auto series = series_of(*host);
    for (std::size_t i = 0; i < series.size(); ++i) {
      if (!host->reading->present[i]) continue;
      const auto found = by_counter.find(series[i].name);
      const std::uint16_t family = series[i].is_raw ? raw : found == by_counter.end() ? kNotShown : found->second;
      if (family != kNotShown) sorted.emplace_back(family, static_cast<std::uint16_t>(i));
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
bool HostFamilies::is_swept(const HostView& host, const std::string& device, std::uint8_t number) const {
  if (swept_ports_.empty()) return false;
  for (const HostPort& port : ports_of(host))
    if (port.number == number && port.device == device)
      return std::ranges::binary_search(swept_ports_, port.port_guid.value);
  return false;
}

bool HostFamilies::write(std::size_t family, char*& at, const char* full, bool& headed, std::string_view head) {
  const auto& hosts = hosts_of(*snapshot_);
  const Source source = sources_[family];
  const std::string_view name = families_[family].name;
  Line line{at};
  const auto before_line = [&] {
    if (!headed) line.put(head);
    headed = true;
  };
  for (; host_ < hosts.size(); ++host_) {
    const HostView& host = *hosts[host_];
    if (at >= full) return false;
    if (source == Source::kCounter || source == Source::kRaw) {
      std::uint32_t& cursor = cursor_[host_];
      for (; cursor < begin_[host_ + 1] && family_of_[cursor] == family; ++cursor) {
        if (at >= full) return false;
        const std::size_t position = order_[cursor];
        const HostSeries& series = series_of(host)[position];
        const bool is_twin = series.source == CounterSource::kUnknown;
        if (is_twin && is_swept_family_[family] && is_swept(host, series.device, series.port)) continue;
        before_line();
        write_series(name, host, position, line);
      }
      continue;
    }
    const auto ports = ports_of(host);
    for (; port_ < ports.size(); ++port_) {
      if (at >= full) return false;
      const HostPort& port = ports[port_];
      const bool swept = source != Source::kInfo && !swept_ports_.empty() &&
                         std::ranges::binary_search(swept_ports_, port.port_guid.value);
      if (swept || (source == Source::kUp && port.state == PortState::kUnknown) ||
          (source == Source::kByteRate && port.rate_bits_per_second == 0))
        continue;
      before_line();
      write_port(source, name, host, port, line);
    }
    port_ = 0;
  }
  host_ = 0;
  return true;
}

void HostFamilies::write_port(Source source, std::string_view name, const HostView& host, const HostPort& port,
                              Line& line) const {
  line.begin(name, host.host, port.device, port.number);
  switch (source) {
    case Source::kUp:
      return line.end(port.state == PortState::kActive ? 1 : 0);
    case Source::kStale:
      return line.end(is_stale(host, now_) ? 1 : 0);
    case Source::kByteRate:
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
  if (port.port_guid) line.label("port_guid", to_string(port.port_guid));
  line.label("link_layer", to_string(port.link_layer));
  line.end(1);
}

void HostFamilies::write_series(std::string_view name, const HostView& host, std::size_t position, Line& line) const {
  const HostSeries& series = series_of(host)[position];
  const std::uint64_t value = host.reading->values[position];
  line.begin(name, host.host, series.device, series.port);
  const CounterInfo* const info = series.is_raw ? nullptr : find_counter(series.name);
  if (series.is_raw) line.label("counter", series.name);
  if (info && info->family == CounterFamily::kRdmaError) line.label("error", series.name);
  if (series.priority != kNoPriority) {
    line.put("\",priority=\"");
    line.number(unsigned{series.priority});
  }
  if (series.direction != Direction::kNone) line.label("direction", to_string(series.direction));
  if (series.lane != kNoLane) {
    line.put("\",lane=\"");
    line.number(unsigned{series.lane});
  }
  if (series.source != CounterSource::kUnknown) line.label("source", to_string(series.source));
  if (!info || base_value(info->unit, 1) == 1.0)
    line.end(value);
  else
    line.end(base_value(info->unit, value));
}

void append_collector_states(std::string& out, const Snapshot& snapshot, MetricsFormat format) {
  if (!snapshot.hosts) return;
  std::array<std::size_t, 3> counts{};
  for (const auto& host : *snapshot.hosts) ++counts[static_cast<std::size_t>(host->state) % counts.size()];
  append_head(out, {"weft_collectors", MetricType::kGauge, "Hosts with a collector, by its state."}, format);
  for (const auto state : {CollectorState::kConnected, CollectorState::kSilent, CollectorState::kDisconnected})
    out += std::string("weft_collectors{state=\"") + to_string(state) + "\"} " +
           std::to_string(counts[static_cast<std::size_t>(state)]) + '\n';
}

bool append_collectors(std::string& out, const Snapshot& snapshot, MetricsFormat format, std::size_t& position) {
  struct Kind {
    MetricFamily family;
    std::uint64_t HostView::*field;
  };
  constexpr std::array kKinds{
      Kind{{"weft_collector_batches_total", MetricType::kCounter, "Batches received from the host's collector."},
           &HostView::batches},
      Kind{{"weft_collector_late_batches_total", MetricType::kCounter,
            "Batches that arrived late, from the collector's spool."},
           &HostView::late_batches},
      Kind{{"weft_collector_lost_batches_total", MetricType::kCounter,
            "Batches of the collector that never arrived: its spool was full or deleted."},
           &HostView::lost_batches},
      Kind{{"weft_collector_clock_offset_seconds", MetricType::kGauge, "weftd's clock minus the host's."}, nullptr}};
  const auto& hosts = hosts_of(snapshot);
  for (; position < kKinds.size() * hosts.size() && out.size() < kChunk; ++position) {
    const Kind& kind = kKinds[position / hosts.size()];
    const HostView& host = *hosts[position % hosts.size()];
    if (position % hosts.size() == 0) append_head(out, kind.family, format);
    out.append(kind.family.name).append("{node=\"");
    append_label_value(out, host.host);
    out += "\"} ";
    std::array<char, kLongestNumber> digits;
    char* const last = digits.data() + digits.size();
    out.append(digits.data(), kind.field ? std::to_chars(digits.data(), last, host.*kind.field).ptr
                                         : std::to_chars(digits.data(), last, seconds(host.clock_offset)).ptr);
    out += '\n';
  }
  return !out.empty();
}

}  // namespace weft::api
