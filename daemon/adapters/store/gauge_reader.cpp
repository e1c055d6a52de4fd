// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/gauge_reader.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "daemon/adapters/store/gauge_codec.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;

/// A row may end so long after the time that is asked for, and speak of its end.
constexpr Duration kLongestGauge = 5min;

/// Rows come in order, so it is nearly always the last bucket. They do not where the clock was set back.
void add_to_bucket(std::vector<GaugeBucket>& buckets, std::uint32_t index, const GaugeRange& range) {
  if (buckets.empty() || buckets.back().index < index) {
    buckets.push_back({index, range.last, range.low, range.high});
    return;
  }
  const auto place = std::ranges::lower_bound(buckets, index, {}, &GaugeBucket::index);
  if (place->index != index) {
    buckets.insert(place, {index, range.last, range.low, range.high});
    return;
  }
  *place = {index, range.last, std::min(place->low, range.low), std::max(place->high, range.high)};
}

/// Puts rows into the buckets of the answer.
class GaugeRows {
 public:
  GaugeRows(const HistoryQuestion& question, HistoryAnswer& answer)
      : question_(question),
        step_(answer.step),
        last_((question.to - question.from - 1ns) / answer.step),
        wanted_(gauges_of(question)),
        answer_(answer) {
    for (PortHistory& port : answer_.ports)
      for (const PortGauge gauge : wanted_) port.gauges.push_back({gauge});
  }

  /// Rows of (at, data, span) of one chunk; of whole hours without the span. Those up to `after` are only there for
  /// the differences of the next ones.
  Result<void> read(Statement& rows, bool of_hours, TimePoint after, std::span<const ChunkPlace> places) {
    GaugeChain chain;
    while (rows.next()) {
      if (++rows_ > kMostHistoryRows)
        return fail(ErrorCode::kResourceExhausted, "there are too many moments in that time: request a shorter one");
      if (std::chrono::steady_clock::now() > deadline_)
        return fail(ErrorCode::kTimeout, "the disk takes too long for so much history: request a shorter time");
      const TimePoint end = rows.time(0);
      const TimePoint begin = end - (of_hours ? Duration(1h) : Duration(rows.integer(2)));
      const auto* const ports = chain.next(rows.blob(1), begin, end);
      if (ports != nullptr && end > after) add(begin, end, *ports, places);  // what is damaged is a gap
    }
    return {};
  }

  void end() {
    for (PortHistory& port : answer_.ports)
      std::erase_if(port.gauges, [](const GaugeHistory& gauge) { return gauge.buckets.empty(); });
  }

 private:
  void add(TimePoint begin, TimePoint end, std::span<const GaugeCodes> ports, std::span<const ChunkPlace> places) {
    if (end <= question_.from || begin >= question_.to || begin >= end) return;
    const std::int64_t first = begin < question_.from ? 0 : (begin - question_.from) / step_;
    const std::int64_t last = std::min((end - question_.from - 1ns) / step_, last_);
    for (const ChunkPlace& place : places) {
      if (place.offset >= ports.size()) continue;
      const GaugeCodes& port = ports[place.offset];
      for (std::size_t i = 0; i < wanted_.size(); ++i) {
        if (port.last[static_cast<std::size_t>(wanted_[i])] == 0) continue;
        const GaugeRange range = range_of(port, wanted_[i]);
        for (std::int64_t index = first; index <= last; ++index)
          add_to_bucket(answer_.ports[place.port].gauges[i].buckets, static_cast<std::uint32_t>(index), range);
      }
    }
  }

  const HistoryQuestion& question_;
  Duration step_;
  std::int64_t last_;  ///< bucket
  std::vector<PortGauge> wanted_;
  HistoryAnswer& answer_;
  std::size_t rows_ = 0;
  const std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now() + kHistoryPatience;
};

}  // namespace

std::vector<PortGauge> gauges_of(const HistoryQuestion& question) {
  if (!question.gauges.empty() || !question.counters.empty()) return question.gauges;
  std::vector<PortGauge> all;
  for (std::size_t i = 0; i < kPortGauges; ++i) all.push_back(static_cast<PortGauge>(i));
  return all;
}

Result<void> read_gauges(Database& database, const HistoryQuestion& question, bool by_hours,
                         std::span<const Stretch> minutes, const ChunkPlaces& places, HistoryAnswer& answer) {
  GaugeRows reader(question, answer);
  if (gauges_of(question).empty()) return {};
  if (by_hours) {
    Statement hours(database,
                    "SELECT at, data FROM hour JOIN hour_gauge ON hour_gauge.id = (hour.id << 24 | ?4) "
                    "WHERE fabric = ?1 AND at > ?2 AND at <= ?3 AND next_chunk IS NULL ORDER BY at LIMIT ?5");
    for (const auto& [chunk, ports] : places) {
      hours.query(question.fabric, question.from + 1h - 1ns, question.to, chunk, kMostHistoryRows + 1);
      if (auto done = reader.read(hours, true, question.from, ports); !done) return done;
    }
  }
  Statement moments(database,
                    "SELECT at, data, gauge_chunk.span FROM moment JOIN gauge_chunk ON gauge_chunk.id = (moment.id << "
                    "24 | ?4) WHERE fabric = ?1 AND at > ?2 AND at <= ?3 ORDER BY at LIMIT ?5");
  for (const auto& [chunk, ports] : places)
    for (const auto& [from, to] : minutes) {
      const TimePoint until = to == question.to ? to + kLongestGauge : to;
      // The first row of an hour is whole.
      const TimePoint whole = std::chrono::floor<std::chrono::hours>(from);
      moments.query(question.fabric, whole, until, chunk, kMostHistoryRows + 1);
      if (auto done = reader.read(moments, false, from, ports); !done) return done;
    }
  reader.end();
  return {};
}

}  // namespace weft::store
