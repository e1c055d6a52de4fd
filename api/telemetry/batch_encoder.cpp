// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/telemetry/batch_codec.hpp"
#include "api/telemetry/batch_format.hpp"
#include "api/telemetry/fact_codec.hpp"
#include "api/telemetry/neighbour_codec.hpp"

namespace weft::api {
namespace {

using namespace batch;

std::uint64_t nanoseconds(TimePoint time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

/// Writes the parts of one body.
class Writer {
 public:
  explicit Writer(const BatchLimits& limits) : limits_(limits) { texts_.emplace("", 1); }

  std::vector<std::byte> take() { return std::move(body_); }
  std::size_t size() const { return body_.size(); }

  void byte(std::uint8_t value) { body_.push_back(static_cast<std::byte>(value)); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
    byte(static_cast<std::uint8_t>(value));
  }
  void difference(std::uint64_t now, std::uint64_t before) { varint(zigzag(now - before)); }

  void ports(const std::vector<HostPort>& ports) {
    const std::size_t count = std::min(ports.size(), limits_.ports);
    varint(count);
    for (std::size_t i = 0; i < count; ++i) port(ports[i]);
  }
  void series(const SeriesList& series, std::size_t count) {
    varint(count);
    for (std::size_t i = 0; i < count; ++i) one_series(series[i]);
  }
  void sources(const std::vector<SourceStatus>& sources) {
    const std::size_t count = std::min(sources.size(), limits_.sources);
    varint(count);
    for (std::size_t i = 0; i < count; ++i) {
      name(sources[i].name);
      byte(sources[i].ok ? 1 : 0);
      text(sources[i].message);
    }
  }
  void jobs(const std::vector<std::string>& jobs) {
    const std::size_t count = std::min(jobs.size(), limits_.jobs);
    varint(count);
    for (std::size_t i = 0; i < count; ++i) text(jobs[i]);
  }
  void tables(const HostReading& now, const HostReading* last) {
    const bool has_neighbours = are_news(now, last, &HostReading::neighbours, &HostReading::neighbours_at);
    const bool has_facts = are_news(now, last, &HostReading::facts, &HostReading::facts_at);
    const bool other_neighbours = has_neighbours && is_another(now, last, &HostReading::neighbours);
    const bool other_facts = has_facts && is_another(now, last, &HostReading::facts);
    byte(static_cast<std::uint8_t>((other_neighbours ? kAnotherTable : 0U) | (has_neighbours ? 0U : kNoNeighbours) |
                                   (has_facts ? kHasFacts : 0U) | (other_facts ? kOtherFacts : 0U)));
    if (other_neighbours) packed(encode_neighbours(*now.neighbours));
    if (has_neighbours) difference(nanoseconds(now.taken), nanoseconds(now.neighbours_at));
    if (other_facts) packed(encode_facts(*now.facts));
    if (has_facts) difference(nanoseconds(now.taken), nanoseconds(now.facts_at));
  }
  /// Whether a table is another one, or was read again, since `last`.
  template <typename Table>
  static bool are_news(const HostReading& now, const HostReading* last, Table table, TimePoint HostReading::*read_at) {
    return now.*table && (is_another(now, last, table) || now.*read_at != last->*read_at);
  }
  template <typename Table>
  static bool is_another(const HostReading& now, const HostReading* last, Table table) {
    return last == nullptr || last->*table == nullptr ||
           (last->*table != now.*table && *(last->*table) != *(now.*table));
  }
  void events(const std::vector<LinkEvent>& events, std::uint64_t before) {
    const std::size_t count = std::min(events.size(), limits_.events);
    varint(count);
    for (std::size_t i = 0; i < count; ++i) {
      difference(nanoseconds(events[i].at), before);
      before = nanoseconds(events[i].at);
      event(events[i]);
    }
  }
  /// `last` is what the values are compared with; null stands for absent ones.
  void values(const HostReading& now, const HostReading* last, std::size_t count) {
    const auto same = [&](std::size_t i) {
      const bool was = last != nullptr && last->present[i] != 0;
      const bool is = now.present[i] != 0;
      return is == was && (!is || now.values[i] == last->values[i]);
    };
    for (std::size_t i = 0; i < count;) {
      const std::size_t begin = i;
      if (same(i)) {
        while (i < count && same(i)) ++i;
        run(Run::kSame, i - begin);
      } else if (now.present[i] == 0) {
        while (i < count && now.present[i] == 0) ++i;
        run(Run::kAbsent, i - begin);
      } else {
        // One value that stood still among others that moved is cheaper as a difference of 0 than as a run.
        while (i < count && now.present[i] != 0 && !(same(i) && (i + 1 == count || same(i + 1)))) ++i;
        run(Run::kPresent, i - begin);
        for (std::size_t k = begin; k < i; ++k) difference(now.values[k], old_value(last, k));
      }
    }
  }

 private:
  /// What was absent counts as 0: a body depends on the last reading alone.
  static std::uint64_t old_value(const HostReading* last, std::size_t i) {
    return last == nullptr || last->present[i] == 0 ? 0 : last->values[i];
  }
  void packed(const std::vector<std::byte>& table) {
    varint(table.size());
    body_.insert(body_.end(), table.begin(), table.end());
  }
  void run(Run kind, std::size_t length) { varint((length - 1) * 4 + static_cast<std::uint64_t>(kind)); }

  void fixed(std::uint64_t value) {
    for (unsigned shift = 0; shift < 64; shift += 8) byte(static_cast<std::uint8_t>(value >> shift));
  }
  void raw_text(std::string text) {
    const auto [place, is_new] = texts_.emplace(std::move(text), texts_.size() + 1);
    if (!is_new) return varint(place->second);
    varint(0);
    varint(place->first.size());
    for (const char c : place->first) body_.push_back(static_cast<std::byte>(c));
  }
  void text(std::string_view value) { raw_text(std::string(value.substr(0, limits_.text_length))); }
  void name(std::string_view value) {
    std::string clean(value.substr(0, limits_.name_length));
    std::ranges::replace_if(
        clean, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
    raw_text(std::move(clean));
  }

  void port(const HostPort& port) {
    name(port.device);
    byte(port.number);
    name(port.netdev);
    name(port.bond);
    name(port.pci_address);
    name(port.driver);
    name(port.firmware);
    const bool has_board = !port.board_id.empty() || !port.device_type.empty();
    byte(static_cast<std::uint8_t>(static_cast<unsigned>(port.link_layer) |
                                   (port.is_virtual_function ? kVirtualFunction : 0U) |
                                   (port.administratively_down ? kSetDown : 0U) | (has_board ? kHasBoard : 0U)));
    if (has_board) {
      name(port.board_id);
      name(port.device_type);
    }
    fixed(port.node_guid.value);
    fixed(port.port_guid.value);
    varint(port.lid.value);
    byte(static_cast<std::uint8_t>(port.state));
    byte(static_cast<std::uint8_t>(port.physical_state));
    varint(port.rate_bits_per_second);
    text(port.down_reason);
  }
  void one_series(const HostSeries& series) {
    name(series.device);
    byte(series.port);
    name(series.name);
    byte(static_cast<std::uint8_t>(
        (series.is_raw ? kRaw : 0U) | static_cast<unsigned>(series.direction) << kDirectionShift |
        static_cast<unsigned>(series.behaviour) << kBehaviourShift |
        (series.priority != kNoPriority ? kHasPriority : 0U) | (series.lane != kNoLane ? kHasLane : 0U) |
        (series.source != CounterSource::kUnknown ? kHasSource : 0U)));
    byte(series.bits);
    if (series.priority != kNoPriority) byte(series.priority);
    if (series.lane != kNoLane) byte(series.lane);
    if (series.source != CounterSource::kUnknown) byte(static_cast<std::uint8_t>(series.source));
  }
  void event(const LinkEvent& event) {
    name(event.device);
    byte(event.port);
    name(event.netdev);
    byte(static_cast<std::uint8_t>((event.up ? kUp : 0U) | (event.administrative ? kAdministrative : 0U) |
                                   (event.carrier_up_count ? kHasUpCount : 0U) |
                                   (event.carrier_down_count ? kHasDownCount : 0U)));
    if (event.carrier_up_count) varint(*event.carrier_up_count);
    if (event.carrier_down_count) varint(*event.carrier_down_count);
    text(event.reason);
  }

  const BatchLimits& limits_;
  std::vector<std::byte> body_;
  std::unordered_map<std::string, std::size_t> texts_;
};

}  // namespace

void BatchEncoder::restart() {
  fresh_ = true;
  last_.reset();
}

Result<std::vector<std::byte>> BatchEncoder::encode(const HostBatch& batch) {
  const HostReading* reading = batch.reading ? &*batch.reading : nullptr;
  std::size_t series = 0;
  if (reading != nullptr) {
    const std::size_t told = reading->inventory == nullptr ? 0 : reading->inventory->series.size();
    if (reading->inventory == nullptr || reading->values.size() != told || reading->present.size() != told)
      return fail(ErrorCode::kInternal, "a reading must have one value for each of its series");
    series = std::min(told, limits_.series);
  }
  const HostInventory* known = last_ ? last_->inventory.get() : nullptr;
  std::uint8_t parts = fresh_ ? kRefersToNothing : 0;
  if (reading != nullptr) {
    const HostInventory* now = reading->inventory.get();
    parts |= kHasReading;
    if (known == nullptr || (now != known && now->ports != known->ports)) parts |= kHasPorts;
    if (known == nullptr || (now != known && now->series != known->series)) parts |= kHasSeries;
    if (!last_ || reading->sources != last_->sources) parts |= kHasSources;
    if (!last_ || reading->jobs != last_->jobs) parts |= kHasJobs;
    const HostReading* const before = last_ ? &*last_ : nullptr;
    if (with_tables_ && (Writer::are_news(*reading, before, &HostReading::neighbours, &HostReading::neighbours_at) ||
                         Writer::are_news(*reading, before, &HostReading::facts, &HostReading::facts_at)))
      parts |= kHasNeighbours;
  }
  if (!batch.events.empty()) parts |= kHasEvents;

  Writer writer(limits_);
  writer.byte(kFormat);
  writer.byte(parts);
  if (parts & kHasPorts) writer.ports(reading->inventory->ports);
  if (parts & kHasSeries) writer.series(reading->inventory->series, series);
  std::uint64_t taken = last_ ? nanoseconds(last_->taken) : 0;
  if (reading != nullptr) {
    writer.difference(nanoseconds(reading->taken), taken);
    taken = nanoseconds(reading->taken);
    writer.values(*reading, parts & kHasSeries ? nullptr : &*last_, series);
  }
  if (parts & kHasSources) writer.sources(reading->sources);
  if (parts & kHasJobs) writer.jobs(reading->jobs);
  if (parts & kHasNeighbours) writer.tables(*reading, last_ ? &*last_ : nullptr);
  if (parts & kHasEvents) writer.events(batch.events, taken);
  if (writer.size() > limits_.bytes)
    return fail(ErrorCode::kResourceExhausted, "a batch of " + std::to_string(writer.size()) +
                                                   " bytes is too large; limit: " + std::to_string(limits_.bytes));
  fresh_ = false;
  if (reading != nullptr) last_ = *reading;
  return writer.take();
}

}  // namespace weft::api
