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
  std::vector<Source> carriers, bad_frames;
  std::vector<std::pair<std::string_view, bool>> known;  // names of what was taken, and whether RDMA counts it
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
    if (series.name == "crc_errors") {
      source.counter = CounterId::kReceiveErrors;
      if (bad_frames.empty()) bad_frames.push_back(source);
      continue;
    }
    const CounterInfo* const info = find_counter(series.name);
    if (series.name == "physical_symbol_errors" || series.name == "fec_uncorrectable_blocks")
      source.counter = CounterId::kSymbolErrors;
    // Ticks of an InfiniBand port are no microseconds.
    else if (info && info->is_swept() && info->instances == 1 && info->group == CounterGroup::kEverySweep &&
             info->id != CounterId::kTransmitWait)
      source.counter = info->id;
    else
      continue;
    // Of several sources the first is the most trusted. But the errors that RDMA receives are not the interface's.
    const bool of_rdma = source.counter == CounterId::kReceiveErrors && series.source == CounterSource::kRdma;
    const std::pair<std::string_view, bool> origin(series.name, of_rdma);
    if (std::ranges::find(known, origin) != known.end()) continue;
    known.push_back(origin);
    found.sources_.push_back(source);
  }
  const auto counts = [&](std::string_view name) {
    return std::ranges::find(known, name, &std::pair<std::string_view, bool>::first) != known.end();
  };
  if (!counts("link_downed")) found.sources_.insert(found.sources_.end(), carriers.begin(), carriers.end());
  // What the interface counts as receive errors has them.
  if (std::ranges::find(known, std::pair<std::string_view, bool>("receive_errors", false)) == known.end())
    found.sources_.insert(found.sources_.end(), bad_frames.begin(), bad_frames.end());
  return found;
}

PortCounters PortSeries::read(const HostReading& reading) const {
  PortCounters counters;
  std::array<std::uint8_t, kEverySweepCounters> missing{};
  bool any_missing = false, pauses_missing = false;
  for (const Source& source : sources_) {
    const bool is_here = source.series < reading.values.size() && source.series < reading.present.size() &&
                         reading.present[source.series] != 0;
    const bool is_pause = source.counter == CounterId::kCount;
    if (!is_here) {
      (is_pause ? pauses_missing : any_missing) = true;
      if (!is_pause) missing[at(source.counter)] = 1;
      continue;
    }
    PortCounters::Value& value = is_pause ? counters.paused_others : counters.values[at(source.counter)];
    value.value += reading.values[source.series];
    value.present = true;
    value.saturated |= source.stuck_at != 0 && reading.values[source.series] == source.stuck_at;
  }
  for (std::size_t i = 0; any_missing && i < missing.size(); ++i)
    if (missing[i]) counters.values[i] = {};
  if (pauses_missing) counters.paused_others = {};
  return counters;
}

}  // namespace weft::analyzer
