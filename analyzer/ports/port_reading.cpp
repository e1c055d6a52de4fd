// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/port_reading.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace weft::analyzer {
namespace {

std::size_t at(CounterId id) {
  return static_cast<std::size_t>(id);
}

constexpr std::array<std::pair<CounterId, CounterId>, 8> kOtherWay{{
    {CounterId::kTransmitBytes, CounterId::kReceiveBytes},
    {CounterId::kReceiveBytes, CounterId::kTransmitBytes},
    {CounterId::kTransmitPackets, CounterId::kReceivePackets},
    {CounterId::kReceivePackets, CounterId::kTransmitPackets},
    {CounterId::kUnicastTransmitPackets, CounterId::kUnicastReceivePackets},
    {CounterId::kUnicastReceivePackets, CounterId::kUnicastTransmitPackets},
    {CounterId::kMulticastTransmitPackets, CounterId::kMulticastReceivePackets},
    {CounterId::kMulticastReceivePackets, CounterId::kMulticastTransmitPackets},
}};

bool is_pause(std::string_view name) {
  return name == "pfc_pause" || name == "pause";
}

}  // namespace

bool PortCounters::any() const {
  return std::ranges::any_of(values, &Value::present);
}

PortCounters PortCounters::seen_from_the_peer() const {
  PortCounters other;
  for (const auto& [here, there] : kOtherWay) other.values[at(there)] = values[at(here)];
  other.values[at(CounterId::kTransmitWait)] = paused_others;
  other.paused_others = values[at(CounterId::kTransmitWait)];
  return other;
}

void PortCounters::write(SampleTable& table, std::size_t row) const {
  for (const CounterId id : table.counters())
    if (const Value& value = values[at(id)]; value.present)
      table.set(row, table.column(id), value.value, value.saturated);
}

PortSeries PortSeries::find(const HostInventory& inventory, const HostPort& port) {
  PortSeries found;
  std::vector<Source> carriers;
  bool counts_downs = false;
  for (std::uint32_t i = 0; i < inventory.series.size(); ++i) {
    const HostSeries& series = inventory.series[i];
    if (series.is_raw || series.device != port.device || series.port != port.number || series.lane != kNoLane) continue;
    if (series.behaviour == CounterBehaviour::kGauge) continue;
    Source source{.series = i};
    if (series.behaviour == CounterBehaviour::kSticks && series.bits > 0)
      source.stuck_at = series.bits >= 64 ? ~0ULL : (1ULL << series.bits) - 1;
    if (is_pause(series.name)) {
      if (series.direction == Direction::kNone) continue;
      if (series.direction == Direction::kReceive) source.counter = CounterId::kTransmitWait;
      found.sources_.push_back(source);
      continue;
    }
    if (series.priority != kNoPriority || series.direction != Direction::kNone) continue;
    if (series.name == "carrier_down") {
      source.counter = CounterId::kLinkDowned;
      carriers.push_back(source);
      continue;
    }
    const CounterInfo* const info = find_counter(series.name);
    // Ticks of an InfiniBand port are no microseconds.
    if (!info || !info->is_swept() || info->instances != 1 || info->group != CounterGroup::kEverySweep ||
        info->id == CounterId::kTransmitWait)
      continue;
    source.counter = info->id;
    // Of several sources the first is the most trusted.
    if (std::ranges::find(found.sources_, info->id, &Source::counter) != found.sources_.end()) continue;
    counts_downs = counts_downs || info->id == CounterId::kLinkDowned;
    found.sources_.push_back(source);
  }
  if (!counts_downs) found.sources_.insert(found.sources_.end(), carriers.begin(), carriers.end());
  return found;
}

PortCounters PortSeries::read(const HostReading& reading) const {
  PortCounters counters;
  std::array<std::uint8_t, kCounterCount + 1> missing{};
  for (const Source& source : sources_) {
    const bool is_here = source.series < reading.values.size() && source.series < reading.present.size() &&
                         reading.present[source.series] != 0;
    if (!is_here) {
      missing[at(source.counter)] = 1;
      continue;
    }
    PortCounters::Value& value =
        source.counter == CounterId::kCount ? counters.paused_others : counters.values[at(source.counter)];
    value.value += reading.values[source.series];
    value.present = true;
    value.saturated |= source.stuck_at != 0 && reading.values[source.series] == source.stuck_at;
  }
  for (std::size_t i = 0; i < kCounterCount; ++i)
    if (missing[i]) counters.values[i] = {};
  if (missing[kCounterCount]) counters.paused_others = {};
  return counters;
}

}  // namespace weft::analyzer
