// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/port_families.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "api/publication/derived.hpp"
#include "fabric/counters.hpp"

namespace weft::api {
namespace {

constexpr std::size_t kPortChunk = 128 * 1024;
constexpr std::size_t kNoFamily = static_cast<std::size_t>(-1);
constexpr std::size_t kLongestPortName = 64;  ///< bytes; Linux has 15 at most

enum class Source : std::uint8_t { kUp, kStale, kInfo, kByteRate, kLanes, kRate, kCounter, kSaturated, kHostsOnly };

/// Marks the ports of an Ethernet fabric that a collector on their node reads: they are told as the host's.
std::vector<std::uint8_t> told_by_hosts(const Topology& topology, const Snapshot& snapshot) {
  std::vector<std::uint8_t> told(topology.ports().size());
  if (!topology.is_ethernet() || !snapshot.hosts) return told;
  std::set<std::pair<std::string_view, std::string_view>> read;
  for (const auto& host : *snapshot.hosts) {
    if (!host->reading || !host->reading->inventory) continue;
    for (const HostPort& port : host->reading->inventory->ports)
      read.emplace(host->host, port.netdev.empty() ? port.device : port.netdev);
  }
  for (PortIndex port = 0; port < told.size(); ++port)
    told[port] = read.contains({host_name(topology.node_of(topology.port(port))), topology.port_name(port)});
  return told;
}

}  // namespace

/// One subnet, made ready for a scrape.
struct PortFamilies::View {
  const FabricView* fabric;
  const Topology* topology;
  NodeLabels labels;
  std::vector<std::uint8_t> shown;  ///< for each port: it has series here
  std::vector<std::uint8_t> told;   ///< for each port: what hosts tell in the same family is not told again

  View(const FabricView& view, const Snapshot& snapshot)
      : fabric(&view),
        topology(view.sweep->topology.get()),
        labels(*topology),
        shown(topology->ports().size()),
        told(told_by_hosts(*topology, snapshot)) {}
};

struct PortFamilies::Family {
  std::string name;
  std::string_view help;
  MetricType type = MetricType::kGauge;
  Source source = Source::kUp;
  CounterId counter = CounterId::kCount;
  double PortRates::*rate = nullptr;
  std::size_t of_hosts = kNoFamily;  ///< position in HostFamilies::families()
};

/// Writes the parts of one series; the caller has made sure of the room.
struct PortFamilies::Line {
  char*& at;

  void put(std::string_view text) {
    std::memcpy(at, text.data(), text.size());
    at += text.size();
  }
  void begin(std::string_view name, const View& view, const Port& port) {
    put(name);
    put(view.labels.prefix(port.node));
    number(port.number.value);
  }
  template <typename Number>
  void number(Number value) {
    at = std::to_chars(at, at + kLongestNumber, value).ptr;
  }
  template <typename Number>
  void end(Number value) {
    put("\"} ");
    number(value);
    *at++ = '\n';
  }
};

PortFamilies::PortFamilies(std::shared_ptr<const Snapshot> snapshot, TimePoint now, MetricsFormat format)
    : snapshot_(std::move(snapshot)), now_(now), format_(format) {
  std::size_t longest = 0;
  for (const FabricView& fabric : snapshot_->fabrics) {
    if (!fabric.sweep || !fabric.sweep->topology) continue;
    View view(fabric, *snapshot_);
    for (PortIndex i = 0; i < view.shown.size(); ++i) {
      // Two subnets may know the same port: one adapter's two ports in one subnet, watched through both. One series.
      const bool known = std::any_of(views_.begin(), views_.end(), [&](const View& earlier) {
        const PortIndex other = earlier.topology->find_port(view.topology->key_of(i));
        return other != kNoIndex && earlier.shown[other];
      });
      view.shown[i] = !known && !never_seen(*fabric.sweep, i);
    }
    longest = std::max(longest, view.labels.longest() + 3 * fabric.name.size());
    views_.push_back(std::move(view));
  }
  // The longest line is weft_port_info with two nodes' and a host's names; the most lines of a port are the saturated
  // ones.
  buffer_.resize(kPortChunk + std::max(HostFamilies::kLongestLine, (3 * longest + 512) * kCounterCount));
  full_ = buffer_.data() + kPortChunk;

  const auto gauge = [&](const char* name, std::string_view help, Source source, double PortRates::*rate = nullptr) {
    families_.push_back({name, help, MetricType::kGauge, source, CounterId::kCount, rate, kNoFamily});
  };
  gauge("weft_port_up", "1 if the port is logically active.", Source::kUp);
  gauge("weft_port_stale", "1 if the port's last reading is older than three sweep intervals.", Source::kStale);
  families_.push_back({"weft_port_info", "Properties of the port and of its peer.", MetricType::kInfo, Source::kInfo,
                       CounterId::kCount, nullptr, kNoFamily});
  // In bytes: "promtool check metrics" objects to bits, whatever the name says besides.
  gauge("weft_port_rate_bytes_per_second", "Active data rate of the port after line coding.", Source::kByteRate);
  gauge("weft_port_width_lanes", "Active lanes of the port.", Source::kLanes);
  for (const CounterInfo& info : swept_counters()) {
    // Ticks change their length with the link's rate: their sum in seconds is kept with the rates.
    const bool summed = info.id == CounterId::kTransmitWait;
    families_.push_back({metric_name(info), info.help, info.is_gauge ? MetricType::kGauge : MetricType::kCounter,
                         summed ? Source::kRate : Source::kCounter, info.id,
                         summed ? &PortRates::transmit_wait_seconds_total : nullptr, kNoFamily});
  }
  gauge("weft_port_saturated", "1 for a saturated counter (all ones): its value is a minimum.", Source::kSaturated);
  gauge("weft_link_utilization_ratio", "The busier direction's data rate as a share of the active rate.", Source::kRate,
        &PortRates::utilization_ratio);
  gauge("weft_link_stall_ratio", "Share of time in which the port had data to send but no credit.", Source::kRate,
        &PortRates::stall_ratio);
  gauge("weft_link_error_rate", "Errors per bit, over the error window.", Source::kRate, &PortRates::error_rate);
  add_host_families();
}

/// What hosts tell goes below the sweep's lines of the same family, for the formats want them together.
void PortFamilies::add_host_families() {
  std::vector<std::string> names;
  for (const Family& family : families_) names.push_back(family.name);
  hosts_ = HostFamilies(snapshot_, now_, names);
  for (std::size_t i = 0; i < hosts_.families().size(); ++i) {
    const HostFamilies::Family& told = hosts_.families()[i];
    const auto same = std::ranges::find(families_, told.name, &Family::name);
    if (same != families_.end())
      same->of_hosts = i;
    else
      families_.push_back({told.name, told.help, told.type, Source::kHostsOnly, CounterId::kCount, nullptr, i});
  }
}

PortFamilies::~PortFamilies() = default;
PortFamilies::PortFamilies(PortFamilies&&) noexcept = default;

std::string_view PortFamilies::next() {
  at_ = buffer_.data();
  while (family_ < families_.size() && at_ < full_) {
    if (!begun_) begin_family();
    write_family();
    if (fabric_ < views_.size()) break;  // full
    const Family& family = families_[family_];
    if (family.of_hosts != kNoFamily && !hosts_.write(family.of_hosts, at_, full_, headed_, head_)) break;
    ++family_;
    fabric_ = 0;
    begun_ = false;
  }
  return {buffer_.data(), static_cast<std::size_t>(at_ - buffer_.data())};
}

void PortFamilies::begin_family() {
  const Family& family = families_[family_];
  begun_ = true;
  headed_ = false;
  head_.clear();
  append_head(head_, {family.name, family.type, family.help}, format_);
}

/// Calls `row(line, view, port index)` for each port that is left and shown, until the buffer is full. The head comes
/// before the first series: a family that nobody has is not mentioned.
template <typename Row>
void PortFamilies::rows(Row&& row) {
  const Family& family = families_[family_];
  // Rates, and what is summed up with them, are nobody's but ours.
  const bool of_both = family.of_hosts != kNoFamily && family.source != Source::kInfo && family.source != Source::kRate;
  for (; fabric_ < views_.size(); ++fabric_, port_ = 0) {
    const View& view = views_[fabric_];
    const auto count = static_cast<PortIndex>(view.shown.size());
    for (; port_ < count; ++port_) {
      if (at_ >= full_) return;
      if (!view.shown[port_] || (of_both && view.told[port_])) continue;
      if (headed_) {
        row(Line{at_}, view, port_);
        continue;
      }
      char* const head_at = at_;
      at_ += head_.size();
      char* const first = at_;
      row(Line{at_}, view, port_);
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
  const Family& family = families_[family_];
  const std::string_view name = family.name;
  switch (family.source) {
    case Source::kUp:
      return rows([&](Line line, const View& view, PortIndex index) {
        const Port& port = view.topology->port(index);
        if (port.state == PortState::kUnknown) return;
        line.begin(name, view, port);
        line.end(port.is_up() ? 1 : 0);
      });
    case Source::kStale:
      return rows([&](Line line, const View& view, PortIndex index) {
        line.begin(name, view, view.topology->port(index));
        line.end(is_stale(*view.fabric, index, now_) ? 1 : 0);
      });
    case Source::kByteRate:
      return rows([&](Line line, const View& view, PortIndex index) {
        const Port& port = view.topology->port(index);
        const double rate = port.bits_per_second();
        if (rate <= 0) return;
        line.begin(name, view, port);
        line.end(static_cast<std::uint64_t>(rate / 8));
      });
    case Source::kLanes:
      return rows([&](Line line, const View& view, PortIndex index) {
        const Port& port = view.topology->port(index);
        const int count = lanes(port.width_active);
        if (count == 0) return;
        line.begin(name, view, port);
        line.end(count);
      });
    case Source::kInfo:
      return write_info();
    case Source::kRate:
      return write_rate(family.rate);
    case Source::kCounter:
      return write_counter();
    case Source::kSaturated:
      return write_saturated();
    case Source::kHostsOnly:
      fabric_ = views_.size();
      return;
  }
}

namespace {

template <typename Line>
void put_text(Line& line, std::string_view label, std::string_view name) {
  if (name.empty()) return;
  std::string escaped;
  append_label_value(escaped, name);
  line.put(label);
  line.put(escaped);
}

}  // namespace

void PortFamilies::write_info() {
  const std::string_view name = families_[family_].name;
  rows([&](Line line, const View& view, PortIndex index) {
    const Topology& topology = *view.topology;
    const Port& port = topology.port(index);
    const Node& node = topology.node_of(port);
    // A host's name is the front of its adapter's name, and escaping keeps the front a front.
    std::string host;
    append_label_value(host, host_name(node).substr(0, 256));
    std::string subnet;
    append_label_value(subnet, view.fabric->name);
    line.begin(name, view, port);
    line.put("\",node_type=\"");
    line.put(to_string(node.type));
    line.put("\",host=\"");
    line.put(host);
    if (port.peer != kNoIndex) {
      const Port& peer = topology.port(port.peer);
      line.put("\",peer_node=\"");
      line.put(view.labels.name(peer.node));
      line.put("\",peer_guid=\"");
      line.put(view.labels.guid(peer.node));
      line.put("\",peer_port=\"");
      line.number(peer.number.value);
    }
    put_text(line, "\",netdev=\"", topology.port_name(index).substr(0, kLongestPortName));
    if (port.peer != kNoIndex)
      put_text(line, "\",peer_netdev=\"", topology.port_name(port.peer).substr(0, kLongestPortName));
    if (view.fabric->places) {
      put_text(line, "\",pod=\"", view.fabric->places->pod_of(port.node));
      put_text(line, "\",rail=\"", view.fabric->places->rail_of(index));
    }
    line.put("\",subnet=\"");
    line.put(subnet);
    line.put("\",link_layer=\"");
    line.put(to_string(topology.layer()));
    line.end(1);
  });
}

void PortFamilies::write_rate(double PortRates::*field) {
  const std::string_view name = families_[family_].name;
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
  const std::string_view name = families_[family_].name;
  const CounterInfo& info = counter_info(families_[family_].counter);
  rows([&](Line line, const View& view, PortIndex index) {
    // Counters of Ethernet are the collectors' to tell: what a sweep has of them is theirs, or its other end's
    // mirrored.
    if (view.topology->is_ethernet()) return;
    const Sweep& sweep = *view.fabric->sweep;
    const SampleTable* table = (info.group == CounterGroup::kEverySweep ? sweep.counters : sweep.details).get();
    if (!table || index >= table->rows()) return;
    const SampleTable::Column first = table->column(info.id);
    if (first == SampleTable::kNoColumn) return;
    const Port& port = view.topology->port(index);
    const bool ticks = info.unit == CounterUnit::kTicks;
    if (ticks && !(port.wait_tick_seconds > 0)) return;
    for (unsigned instance = 0; instance < info.instances; ++instance) {
      const auto column = static_cast<SampleTable::Column>(first + instance);
      if (!table->present(index, column)) continue;
      line.begin(name, view, port);
      if (info.instances > 1) {
        line.put("\",");
        line.put(info.instance_label);
        line.put("=\"");
        line.number(instance);
      }
      if (info.by_source) line.put("\",source=\"sweep");
      const std::uint64_t value = table->value(index, column);
      if (ticks) {
        line.end(static_cast<double>(value) * static_cast<double>(port.wait_tick_seconds));
      } else {
        line.end(value);
      }
    }
  });
}

void PortFamilies::write_saturated() {
  const std::string_view name = families_[family_].name;
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
        line.put("\",counter=\"");
        line.put(info.name);
        line.end(1);
      }
    }
  });
}

}  // namespace weft::api
