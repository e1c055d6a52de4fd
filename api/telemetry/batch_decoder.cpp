// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>

#include "api/telemetry/batch_codec.hpp"
#include "api/telemetry/batch_format.hpp"
#include "api/telemetry/fact_codec.hpp"
#include "api/telemetry/neighbour_codec.hpp"

namespace weft::api {
namespace {

using namespace batch;

TimePoint moment(std::uint64_t nanoseconds) {
  return TimePoint(Duration(static_cast<std::int64_t>(nanoseconds)));
}

auto identity(const HostSeries& series) {
  return std::tie(series.device, series.port, series.name, series.direction, series.priority, series.lane,
                  series.source);
}

/// Reads the parts of one body. After the first thing that is wrong everything reads as 0, and error() says what it
/// was: who reads checks once for each element.
class Reader {
 public:
  Reader(std::span<const std::byte> body, const BatchLimits& limits) : rest_(body), limits_(limits) {
    texts_.emplace_back();
  }

  bool failed() const { return error_.has_value(); }
  bool at_end() const { return rest_.empty(); }
  Error error() const { return *error_; }
  void wrong(ErrorCode code, std::string message) {
    if (!error_) error_ = Error{code, "batch: " + std::move(message)};
    rest_ = {};
  }

  std::uint8_t byte() {
    if (rest_.empty()) {
      wrong(ErrorCode::kProtocol, "it is truncated");
      return 0;
    }
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      value |= static_cast<std::uint64_t>(next & 0x7F) << shift;
      if ((next & 0x80) == 0) {
        if (shift == 63 && next > 1) break;
        return value;
      }
    }
    wrong(ErrorCode::kProtocol, "a number has more than 64 bits");
    return 0;
  }
  std::uint64_t after(std::uint64_t before) { return before + unzigzag(varint()); }

  void ports(std::vector<HostPort>& ports) {
    constexpr std::size_t kLeast = 29;
    ports.resize(count("ports", limits_.ports, kLeast));
    for (std::size_t i = 0; i < ports.size() && !failed(); ++i) {
      port(ports[i]);
      if (i > 0 && std::tie(ports[i - 1].device, ports[i - 1].number) >= std::tie(ports[i].device, ports[i].number))
        wrong(ErrorCode::kInvalidArgument, "ports are not sorted, or one is listed twice");
    }
  }
  void series(std::vector<HostSeries>& series) {
    constexpr std::size_t kLeast = 5;
    series.resize(count("series", limits_.series, kLeast));
    for (std::size_t i = 0; i < series.size() && !failed(); ++i) one_series(series[i]);
    if (!failed() && has_twins(series)) wrong(ErrorCode::kInvalidArgument, "two series are the same");
  }
  /// Into `reading`, which holds the values of the last one.
  void values(HostReading& reading) {
    const std::size_t total = reading.values.size();
    for (std::size_t i = 0; i < total && !failed();) {
      const std::uint64_t run = varint();
      if (failed()) return;
      if ((run >> 2) >= total - i) return wrong(ErrorCode::kProtocol, "it has more values than series");
      const auto end = i + static_cast<std::size_t>(run >> 2) + 1;
      switch (static_cast<Run>(run & 3)) {
        case Run::kSame:
          break;
        case Run::kAbsent:
          std::fill(reading.values.begin() + static_cast<std::ptrdiff_t>(i),
                    reading.values.begin() + static_cast<std::ptrdiff_t>(end), 0);
          std::fill(reading.present.begin() + static_cast<std::ptrdiff_t>(i),
                    reading.present.begin() + static_cast<std::ptrdiff_t>(end), std::uint8_t{0});
          break;
        case Run::kPresent:
          for (std::size_t k = i; k < end && !failed(); ++k) {
            reading.values[k] = after(reading.values[k]);
            reading.present[k] = 1;
          }
          break;
        default:
          return wrong(ErrorCode::kProtocol, "it has a run of an unknown kind");
      }
      i = end;
    }
  }
  void sources(std::vector<SourceStatus>& sources) {
    sources.resize(count("sources", limits_.sources, 3));
    for (SourceStatus& source : sources) {
      source.name = name();
      source.ok = byte() != 0;
      source.message = text();
    }
  }
  void jobs(std::vector<std::string>& jobs) {
    jobs.resize(count("jobs", limits_.jobs, 1));
    for (std::string& job : jobs) job = text();
  }
  void tables(HostReading& reading) {
    const std::uint8_t flags = at_most(kKnownTableFlags, "set of flags");
    if ((flags & kNoNeighbours) == 0)
      table((flags & kAnotherTable) != 0, decode_neighbours, "neighbours", reading.neighbours, reading.neighbours_at,
            reading.taken);
    if ((flags & kHasFacts) != 0)
      table((flags & kOtherFacts) != 0, decode_facts, "facts", reading.facts, reading.facts_at, reading.taken);
  }
  void events(std::vector<LinkEvent>& events, std::uint64_t before) {
    events.resize(count("events", limits_.events, 6));
    for (LinkEvent& event : events) {
      if (failed()) return;
      before = after(before);
      event.at = moment(before);
      read(event);
    }
  }

 private:
  template <typename Table>
  void table(bool is_another, Result<Table> (*decode)(std::span<const std::byte>), const char* what,
             std::shared_ptr<const Table>& kept, TimePoint& read_at, TimePoint taken) {
    if (failed()) return;
    if (is_another) {
      const std::uint64_t length = varint();
      if (length > rest_.size()) wrong(ErrorCode::kProtocol, "it is truncated");
      if (failed()) return;
      auto decoded = decode(rest_.first(static_cast<std::size_t>(length)));
      if (!decoded) return wrong(decoded.error().code, decoded.error().message);
      rest_ = rest_.subspan(static_cast<std::size_t>(length));
      kept = std::make_shared<const Table>(std::move(*decoded));
    } else if (!kept) {
      return wrong(ErrorCode::kProtocol, std::string("its ") + what + " refer to an unknown batch");
    }
    read_at = moment(static_cast<std::uint64_t>(taken.time_since_epoch().count()) - unzigzag(varint()));
  }
  std::size_t count(const char* what, std::size_t limit, std::size_t least) {
    const std::uint64_t number = varint();
    if (number > limit)
      wrong(ErrorCode::kInvalidArgument,
            std::to_string(number) + ' ' + what + " exceed the limit of " + std::to_string(limit));
    else if (number * least > rest_.size())
      wrong(ErrorCode::kProtocol, "it is truncated");
    return failed() ? 0 : static_cast<std::size_t>(number);
  }
  std::uint8_t at_most(std::uint8_t top, const char* what) {
    const std::uint8_t value = byte();
    if (value > top) wrong(ErrorCode::kInvalidArgument, std::to_string(value) + " is not a valid " + what);
    return value;
  }
  std::uint32_t narrow(std::uint64_t top, const char* what) {
    const std::uint64_t value = varint();
    if (value > top) wrong(ErrorCode::kInvalidArgument, std::to_string(value) + " is not a valid " + what);
    return static_cast<std::uint32_t>(value);
  }
  std::uint64_t fixed() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 8) value |= static_cast<std::uint64_t>(byte()) << shift;
    return value;
  }

  std::string_view any_text(std::size_t limit) {
    const std::uint64_t known = varint();
    std::string_view result;
    if (known != 0) {
      if (known > texts_.size()) wrong(ErrorCode::kProtocol, "it refers to an unknown text");
      result = failed() ? std::string_view{} : texts_[known - 1];
    } else {
      const std::uint64_t length = varint();
      if (length <= limit && length > rest_.size()) wrong(ErrorCode::kProtocol, "it is truncated");
      if (failed()) return {};
      if (length <= limit) {
        result = {reinterpret_cast<const char*>(rest_.data()), static_cast<std::size_t>(length)};
        rest_ = rest_.subspan(result.size());
        texts_.push_back(result);
        return result;
      }
      wrong(ErrorCode::kInvalidArgument,
            "a text of " + std::to_string(length) + " bytes is too long; limit: " + std::to_string(limit));
    }
    if (result.size() > limit)
      wrong(ErrorCode::kInvalidArgument,
            "a text of " + std::to_string(result.size()) + " bytes is too long; limit: " + std::to_string(limit));
    return result;
  }
  std::string_view text() { return any_text(limits_.text_length); }
  std::string_view name() {
    const std::string_view value = any_text(limits_.name_length);
    if (std::ranges::any_of(value, [](unsigned char c) { return c < 0x20 || c == 0x7F; }))
      wrong(ErrorCode::kInvalidArgument, "a name has a control character");
    return value;
  }
  std::string_view given_name() {
    const std::string_view value = name();
    if (value.empty()) wrong(ErrorCode::kInvalidArgument, "a name is empty");
    return value;
  }

  void port(HostPort& port) {
    port.device = given_name();
    port.number = byte();
    port.netdev = name();
    port.bond = name();
    port.pci_address = name();
    port.driver = name();
    port.firmware = name();
    const std::uint8_t flags = at_most(kKnownPortFlags, "set of flags");
    if ((flags & 3) > static_cast<unsigned>(LinkLayer::kEthernet)) wrong(ErrorCode::kInvalidArgument, "no link layer");
    port.link_layer = static_cast<LinkLayer>(flags & 3);
    port.is_virtual_function = (flags & kVirtualFunction) != 0;
    port.administratively_down = (flags & kSetDown) != 0;
    if (flags & kHasBoard) {
      port.board_id = name();
      port.device_type = name();
    }
    port.node_guid = NodeGuid{fixed()};
    port.port_guid = PortGuid{fixed()};
    port.lid = Lid{static_cast<std::uint16_t>(narrow(0xFFFF, "LID"))};
    port.state = static_cast<PortState>(at_most(static_cast<std::uint8_t>(PortState::kActive), "port state"));
    port.physical_state = static_cast<PortPhysicalState>(
        at_most(static_cast<std::uint8_t>(PortPhysicalState::kPhyTest), "physical port state"));
    port.rate_bits_per_second = varint();
    port.down_reason = text();
  }
  void one_series(HostSeries& series) {
    series.device = given_name();
    series.port = byte();
    series.name = given_name();
    const std::uint8_t flags = byte();
    const unsigned direction = flags >> kDirectionShift & 3U;
    const unsigned behaviour = flags >> kBehaviourShift & 3U;
    if (direction > static_cast<unsigned>(Direction::kReceive) ||
        behaviour > static_cast<unsigned>(CounterBehaviour::kGauge))
      wrong(ErrorCode::kInvalidArgument, "a series has an unknown direction or behaviour");
    series.is_raw = (flags & kRaw) != 0;
    series.direction = static_cast<Direction>(direction);
    series.behaviour = static_cast<CounterBehaviour>(behaviour);
    series.bits = at_most(64, "width");
    if (flags & kHasPriority) series.priority = at_most(7, "priority");
    if (flags & kHasLane) series.lane = at_most(kNoLane - 1, "lane");
    if (flags & kHasSource) {
      series.source = static_cast<CounterSource>(byte());
      if (series.source != CounterSource::kRdma && series.source != CounterSource::kNetdev)
        wrong(ErrorCode::kInvalidArgument, "a series has an unknown source");
    }
  }
  void read(LinkEvent& event) {
    event.device = given_name();
    event.port = byte();
    event.netdev = name();
    const std::uint8_t flags = at_most(0x0F, "set of flags");
    event.up = (flags & kUp) != 0;
    event.administrative = (flags & kAdministrative) != 0;
    if (flags & kHasUpCount) event.carrier_up_count = narrow(0xFFFFFFFF, "carrier count");
    if (flags & kHasDownCount) event.carrier_down_count = narrow(0xFFFFFFFF, "carrier count");
    event.reason = text();
  }

  static bool has_twins(const std::vector<HostSeries>& series) {
    std::vector<std::uint32_t> order(series.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order,
                      [&](std::uint32_t a, std::uint32_t b) { return identity(series[a]) < identity(series[b]); });
    return std::ranges::adjacent_find(order, [&](std::uint32_t a, std::uint32_t b) {
             return identity(series[a]) == identity(series[b]);
           }) != order.end();
  }

  std::span<const std::byte> rest_;
  const BatchLimits& limits_;
  std::optional<Error> error_;
  std::vector<std::string_view> texts_;
};

/// The inventory that `reading` shall have: the last one, with what the body says anew.
void read_inventory(Reader& reader, std::uint8_t parts, SeriesPool* pool, HostReading& reading) {
  if ((parts & (kHasPorts | kHasSeries)) == 0) return;
  auto inventory =
      reading.inventory ? std::make_shared<HostInventory>(*reading.inventory) : std::make_shared<HostInventory>();
  if (parts & kHasPorts) reader.ports(inventory->ports);
  if (parts & kHasSeries) {
    std::vector<HostSeries> list;
    reader.series(list);
    inventory->series = pool && !reader.failed() ? pool->share(std::move(list)) : SeriesList(std::move(list));
    reading.values.assign(inventory->series.size(), 0);
    reading.present.assign(inventory->series.size(), 0);
  }
  reading.inventory = std::move(inventory);
}

}  // namespace

Result<HostBatch> BatchDecoder::decode(std::span<const std::byte> body) {
  if (body.size() > limits_.bytes) {
    lost_ = true;
    return fail(ErrorCode::kInvalidArgument, "batch: " + std::to_string(body.size()) + " bytes exceed the limit of " +
                                                 std::to_string(limits_.bytes));
  }
  Reader reader(body, limits_);
  const std::uint8_t format = reader.byte();
  const std::uint8_t parts = reader.byte();
  if (!reader.failed() && format != kFormat) reader.wrong(ErrorCode::kProtocol, "its format is unknown");
  if (!(parts & kHasReading) && (parts & (kHasPorts | kHasSeries | kHasSources | kHasJobs | kHasNeighbours)))
    reader.wrong(ErrorCode::kProtocol, "its header announces a reading, but there is none");
  if (parts & kRefersToNothing) {
    last_.reset();
  } else if (lost_) {
    reader.wrong(ErrorCode::kProtocol, "it refers to an unknown batch");
  }
  constexpr unsigned kWhole = kHasPorts | kHasSeries | kHasSources | kHasJobs;
  if ((parts & kHasReading) && !last_ && (parts & kWhole) != kWhole)
    reader.wrong(ErrorCode::kProtocol, "its reading refers to an unknown batch");

  HostBatch batch;
  if (!reader.failed() && (parts & kHasReading)) {
    if (!last_) last_.emplace();
    read_inventory(reader, parts, pool_.get(), *last_);
    last_->taken = moment(reader.after(static_cast<std::uint64_t>(last_->taken.time_since_epoch().count())));
    reader.values(*last_);
    if (parts & kHasSources) reader.sources(last_->sources);
    if (parts & kHasJobs) reader.jobs(last_->jobs);
    if (parts & kHasNeighbours) reader.tables(*last_);
  }
  if (!reader.failed() && (parts & kHasEvents))
    reader.events(batch.events,
                  last_ ? static_cast<std::uint64_t>(last_->taken.time_since_epoch().count()) : std::uint64_t{0});
  if (!reader.failed() && !reader.at_end()) reader.wrong(ErrorCode::kProtocol, "it has data after its end");
  lost_ = reader.failed();
  if (reader.failed()) {
    last_.reset();  // half of it may be the new one
    return tl::unexpected(reader.error());
  }
  if (parts & kHasReading) batch.reading = *last_;
  return batch;
}

}  // namespace weft::api
