// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/port_families.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "api/metrics/series_line.hpp"
#include "api/metrics/shown_ports.hpp"
#include "api/publication/derived.hpp"
#include "fabric/counters.hpp"

namespace weft::api {
namespace {

constexpr std::size_t kPortChunk = 128 * 1024;
constexpr std::size_t kLongestPortName = 64;  ///< bytes; Linux has 15 at most

/// Marks the ports of an Ethernet fabric that a collector on their node reads: their state is shown as the host's.
std::vector<std::uint8_t> read_by_hosts(const Topology& topology, const Snapshot& snapshot) {
  std::vector<std::uint8_t> marks(topology.ports().size());
  if (!topology.is_ethernet() || !snapshot.hosts) return marks;
  std::set<std::pair<std::string_view, std::string_view>> read;
  for (const auto& host : *snapshot.hosts) {
    if (!host->reading || !host->reading->inventory) continue;
    for (const HostPort& port : host->reading->inventory->ports)
      read.emplace(host->host, port.netdev.empty() ? port.device : port.netdev);
  }
  for (PortIndex port = 0; port < marks.size(); ++port)
    marks[port] = read.contains({host_name(topology.node_of(topology.port(port))), topology.port_name(port)});
  return marks;
}

void label_text(std::string_view label, std::string_view text, SeriesLine& line) {
  if (!text.empty()) line.label(label, text);
}

}  // namespace

/// One subnet, made ready for a scrape.
struct PortFamilies::View {
  const FabricView* fabric;
  const Topology* topology;
  NodeLabels labels;
  std::vector<std::uint8_t> shown;  ///< for each port: it has series here
  std::vector<std::uint8_t> read;   ///< for each port: a host shows its state and rate

  View(const FabricView& view, std::vector<std::uint8_t> shown_here, const Snapshot& snapshot)
      : fabric(&view),
        topology(view.sweep->topology.get()),
        labels(*topology),
        shown(std::move(shown_here)),
        read(read_by_hosts(*topology, snapshot)) {}
};

struct PortFamilies::Line : SeriesLine {
  void begin(std::string_view name, const View& view, const Port& port) {
    put(name);
    put(view.labels.prefix(port.node));
    number(port.number.value);
  }
};

PortFamilies::PortFamilies(std::shared_ptr<const Snapshot> snapshot, ScrapeTime now, MetricsFormat format,
                           MetricGroups groups)
    : snapshot_(std::move(snapshot)), now_(now), format_(format), groups_(groups), hosts_(snapshot_, now, groups) {
  std::size_t longest = 0;
  std::vector<std::vector<std::uint8_t>> shown = shown_ports(*snapshot_);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const FabricView& fabric = snapshot_->fabrics[i];
    if (!fabric.sweep || !fabric.sweep->topology) continue;
    View view(fabric, std::move(shown[i]), *snapshot_);
    longest = std::max(longest, view.labels.longest() + 3 * fabric.name.size());
    views_.push_back(std::move(view));
  }
  // The longest line is weft_port_info with two nodes' and a host's names; the most lines of a port are the saturated
  // ones.
  buffer_.resize(kPortChunk + std::max(HostRows::kLongestLine, (3 * longest + 512) * kCounterCount));
  full_ = buffer_.data() + kPortChunk;
}

PortFamilies::~PortFamilies() = default;
PortFamilies::PortFamilies(PortFamilies&&) noexcept = default;

std::string_view PortFamilies::next() {
  at_ = buffer_.data();
  while (family_ < port_family_table().families.size() && at_ < full_) {
    if (groups_.has(family().group)) {
      if (!begun_) begin_family();
      write_family();
      if (fabric_ < views_.size()) break;  // full
      if (!hosts_.write(family_, at_, full_, headed_, head_)) break;
    }
    ++family_;
    fabric_ = 0;
    begun_ = false;
  }
  return {buffer_.data(), static_cast<std::size_t>(at_ - buffer_.data())};
}

const PortFamily& PortFamilies::family() const {
  return port_family_table().families[family_];
}

void PortFamilies::begin_family() {
  begun_ = true;
  headed_ = false;
  head_.clear();
  append_head(head_, {family().name, family().type, family().help}, format_);
}

/// Calls `row(line, view, port index)` for each port that is left and shown, until the buffer is full. The head comes
/// before the first series: a family that nobody has is not mentioned.
template <typename Row>
void PortFamilies::rows(Row&& row) {
  const PortRow kind = family().row;
  const bool is_state = kind == PortRow::kUp || kind == PortRow::kStale || kind == PortRow::kByteRate;
  for (; fabric_ < views_.size(); ++fabric_, port_ = 0) {
    const View& view = views_[fabric_];
    const auto count = static_cast<PortIndex>(view.shown.size());
    for (; port_ < count; ++port_) {
      if (at_ >= full_) return;
      if (!view.shown[port_] || (is_state && view.read[port_])) continue;
      if (headed_) {
        row(Line{{at_}}, view, port_);
        continue;
      }
      char* const head_at = at_;
      at_ += head_.size();
      char* const first = at_;
      row(Line{{at_}}, view, port_);
      headed_ = at_ != first;
      if (headed_) {
        std::memcpy(head_at, head_.data(), head_.size());
      } else {
        at_ = head_at;
      }
    }
  }
}

void PortFamilies::write_family() {
  const std::string_view name = family().name;
  switch (family().row) {
    case PortRow::kUp:
      return rows([&](Line line, const View& view, PortIndex index) {
        const Port& port = view.topology->port(index);
        if (port.state == PortState::kUnknown) return;
        line.begin(name, view, port);
        line.end(port.is_up() ? 1 : 0);
      });
    case PortRow::kStale:
      return rows([&](Line line, const View& view, PortIndex index) {
        line.begin(name, view, view.topology->port(index));
        line.end(is_stale(*view.fabric, index, now_.wall) ? 1 : 0);
      });
    case PortRow::kByteRate:
      return rows([&](Line line, const View& view, PortIndex index) {
        const Port& port = view.topology->port(index);
        const double rate = port.bits_per_second();
        if (rate <= 0) return;
        line.begin(name, view, port);
        line.end(static_cast<std::uint64_t>(rate / 8));
      });
    case PortRow::kLanes:
      return rows([&](Line line, const View& view, PortIndex index) {
        const Port& port = view.topology->port(index);
        const int count = lanes(port.width_active);
        if (count == 0) return;
        line.begin(name, view, port);
        line.end(count);
      });
    case PortRow::kInfo:
      return write_info();
    case PortRow::kRate:
      return write_rate(family().rate);
    case PortRow::kCounter:
      if (family().counter->is_swept()) return write_counter();
      break;
    case PortRow::kSaturated:
      return write_saturated();
    case PortRow::kRaw:
      break;
  }
  fabric_ = views_.size();  // only hosts have it
}

void PortFamilies::write_info() {
  const std::string_view name = family().name;
  rows([&](Line line, const View& view, PortIndex index) {
    const Topology& topology = *view.topology;
    const Port& port = topology.port(index);
    const Node& node = topology.node_of(port);
    line.begin(name, view, port);
    line.label("node_type", to_string(node.type));
    // A host's name is the front of its adapter's name, and escaping keeps the front a front.
    line.label("host", host_name(node).substr(0, 256));
    if (port.peer != kNoIndex) {
      const Port& peer = topology.port(port.peer);
      line.put("\",peer_node=\"");
      line.put(view.labels.name(peer.node));
      line.put("\",peer_guid=\"");
      line.put(view.labels.guid(peer.node));
      line.label("peer_port", peer.number.value);
    }
    label_text("netdev", topology.port_name(index).substr(0, kLongestPortName), line);
    if (port.peer != kNoIndex)
      label_text("peer_netdev", topology.port_name(port.peer).substr(0, kLongestPortName), line);
    if (view.fabric->places) {
      label_text("pod", view.fabric->places->pod_of(port.node), line);
      label_text("rail", view.fabric->places->rail_of(index), line);
    }
    line.label("subnet", view.fabric->name);
    line.label("link_layer", to_string(topology.layer()));
    line.end(1);
  });
}

void PortFamilies::write_rate(double PortRates::*field) {
  const std::string_view name = family().name;
  rows([&](Line line, const View& view, PortIndex index) {
    const auto* rates = view.fabric->rates.get();
    if (!rates || index >= rates->size()) return;
    const double value = (*rates)[index].*field;
    if (!std::isfinite(value)) return;
    line.begin(name, view, view.topology->port(index));
    line.end(value);
  });
}

void PortFamilies::write_counter() {
  const std::string_view name = family().name;
  const CounterInfo& info = *family().counter;
  rows([&](Line line, const View& view, PortIndex index) {
    // Counters of Ethernet are the collectors' to tell: what a sweep has of them is theirs, or its other end's
    // mirrored.
    if (view.topology->is_ethernet()) return;
    const Sweep& sweep = *view.fabric->sweep;
    const bool is_detail = info.group != CounterGroup::kEverySweep;
    const SampleTable* table = (is_detail ? sweep.details : sweep.counters).get();
    const MovedCounters* moved = nullptr;
    if (info.is_left_out_at_zero())
      moved = (is_detail ? view.fabric->details_moved : view.fabric->counters_moved).get();
    if (!table || index >= table->rows()) return;
    const SampleTable::Column first = table->column(info.id);
    if (first == SampleTable::kNoColumn) return;
    const Port& port = view.topology->port(index);
    const bool ticks = info.unit == CounterUnit::kTicks;
    if (ticks && !(port.wait_tick_seconds > 0)) return;
    for (unsigned instance = 0; instance < info.instances; ++instance) {
      const auto column = static_cast<SampleTable::Column>(first + instance);
      if (!table->present(index, column)) continue;
      const ShownAs shown = moved ? moved->shown(index, column, now_.steady) : ShownAs::kAsRead;
      if (shown == ShownAs::kNot) continue;
      line.begin(name, view, port);
      if (info.instances > 1) line.label(info.instance_label, instance);
      if (info.by_source) line.label("source", to_string(CounterSource::kSweep));
      const std::uint64_t value = shown == ShownAs::kAtZero ? 0 : table->value(index, column);
      if (ticks) {
        line.end(static_cast<double>(value) * static_cast<double>(port.wait_tick_seconds));
      } else {
        line.end(value);
      }
    }
  });
}

void PortFamilies::write_saturated() {
  const std::string_view name = family().name;
  rows([&](Line line, const View& view, PortIndex index) {
    if (view.topology->is_ethernet()) return;
    const Sweep& sweep = *view.fabric->sweep;
    for (const SampleTable* table : {sweep.counters.get(), sweep.details.get()}) {
      if (!table || index >= table->rows()) continue;
      const auto words = table->raw_saturated().subspan(index * table->words_per_row(), table->words_per_row());
      if (std::all_of(words.begin(), words.end(), [](std::uint64_t word) { return word == 0; })) continue;
      for (const CounterId id : table->counters()) {
        const CounterInfo& info = counter_info(id);
        bool stuck = false;
        for (unsigned instance = 0; instance < info.instances && !stuck; ++instance) {
          const SampleTable::Column column = table->column(id, instance);
          stuck = table->present(index, column) && table->saturated(index, column);
        }
        if (!stuck) continue;
        line.begin(name, view, view.topology->port(index));
        line.label("counter", info.name);
        line.end(1);
      }
    }
  });
}

}  // namespace weft::api
