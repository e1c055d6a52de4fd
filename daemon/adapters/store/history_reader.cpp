// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/history_reader.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/adapters/store/gauge_reader.hpp"
#include "daemon/adapters/store/history_codec.hpp"
#include "daemon/adapters/store/history_places.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostValues = 1'000'000;

/// What the rows are added to.
class Buckets {
 public:
  Buckets(const HistoryQuestion& question, Duration step, std::vector<std::size_t> positions)
      : from_(question.from),
        step_(step),
        last_((question.to - question.from - 1ns) / step),
        positions_(std::move(positions)) {
    answer_.step = step;
    for (const PortKey& port : question.ports) {
      answer_.ports.push_back({port});
      for (const std::size_t position : positions_)
        answer_.ports.back().counters.push_back({kHistoryCounters[position], false, 0, {}});
    }
  }

  /// What was stored of a stretch of time.
  struct Row {
    TimePoint end;
    Duration length;
    Duration covered;  ///< of the length, by readings
    const ChunkReader& increases;
    const ChunkReader* peaks = nullptr;  ///< as they would be of a whole hour; null: the row is one interval
  };

  void add(const Row& row, std::span<const ChunkPlace> places) {
    const auto shares = shares_of(row);
    const auto middle = index_of(row.end - row.length / 2);
    for (const ChunkPlace& place : places) {
      if (place.offset >= row.increases.ports()) continue;
      for (std::size_t i = 0; i < positions_.size(); ++i) {
        const std::size_t position = positions_[i];
        if (!row.increases.present(place.offset, position)) continue;
        const std::uint64_t increase = row.increases.increase(place.offset, position);
        CounterHistory& counter = answer_.ports[place.port].counters[i];
        counter.at_least = counter.at_least || row.increases.at_least(place.offset, position);
        counter.total += increase;
        for (const auto& [index, share] : shares) {
          HistoryBucket& bucket = bucket_at(counter.buckets, index);
          bucket.increase += static_cast<double>(increase) * share;
          bucket.covered += Duration(static_cast<std::int64_t>(static_cast<double>(row.covered.count()) * share));
          if (index == middle) bucket.peak = std::max(bucket.peak, peak_of(row, place, position, increase));
        }
      }
    }
  }

  /// A bucket that is shorter than an interval has the interval's rate, also where its middle is elsewhere.
  HistoryAnswer take() {
    for (PortHistory& port : answer_.ports)
      for (CounterHistory& counter : port.counters)
        for (HistoryBucket& bucket : counter.buckets)
          if (bucket.covered > Duration::zero())
            bucket.peak =
                std::max(bucket.peak, bucket.increase / std::chrono::duration<double>(bucket.covered).count());
    for (PortHistory& port : answer_.ports)
      std::erase_if(port.counters, [](const CounterHistory& counter) { return counter.buckets.empty(); });
    return std::move(answer_);
  }

 private:
  std::int64_t index_of(TimePoint at) const { return (at - from_ - 1ns) / step_; }

  /// The buckets that the row reaches into, and the part of it that is in each.
  std::vector<std::pair<std::int64_t, double>> shares_of(const Row& row) const {
    std::vector<std::pair<std::int64_t, double>> shares;
    const TimePoint begin = row.end - row.length;
    const std::int64_t first = begin < from_ ? 0 : (begin - from_) / step_;
    for (std::int64_t index = first; index <= std::min(index_of(row.end), last_); ++index) {
      const TimePoint low = std::max(begin, from_ + index * step_);
      const TimePoint high = std::min(row.end, from_ + (index + 1) * step_);
      if (high > low)
        shares.emplace_back(index, static_cast<double>((high - low).count()) / static_cast<double>(row.length.count()));
    }
    return shares;
  }

  /// Rows come in order, so it is nearly always the last one. They do not where the clock was set back.
  static HistoryBucket& bucket_at(std::vector<HistoryBucket>& buckets, std::int64_t at) {
    const auto index = static_cast<std::uint32_t>(at);
    if (!buckets.empty() && buckets.back().index == index) return buckets.back();
    if (buckets.empty() || buckets.back().index < index) return buckets.emplace_back(HistoryBucket{index, 0, {}, 0});
    const auto place = std::ranges::lower_bound(buckets, index, {}, &HistoryBucket::index);
    return place->index == index ? *place : *buckets.insert(place, HistoryBucket{index, 0, {}, 0});
  }

  static double peak_of(const Row& row, const ChunkPlace& place, std::size_t position, std::uint64_t increase) {
    if (row.peaks != nullptr)
      return place.offset < row.peaks->ports() ? static_cast<double>(row.peaks->increase(place.offset, position)) /
                                                     std::chrono::duration<double>(1h).count()
                                               : 0;
    return static_cast<double>(increase) / std::chrono::duration<double>(row.length).count();
  }

  TimePoint from_;
  Duration step_;
  std::int64_t last_;                   ///< bucket
  std::vector<std::size_t> positions_;  ///< in kHistoryCounters
  HistoryAnswer answer_;
};

Result<std::vector<std::size_t>> positions_of(const HistoryQuestion& question) {
  std::vector<std::size_t> positions;
  if (question.counters.empty() && question.gauges.empty())
    for (std::size_t i = 0; i < kHistoryCounters.size(); ++i) positions.push_back(i);
  for (const CounterId counter : question.counters) {
    const auto kept = std::ranges::find(kHistoryCounters, counter);
    if (kept == kHistoryCounters.end())
      return fail(ErrorCode::kInvalidArgument, "history is not stored for " + std::string(counter_info(counter).name));
    positions.push_back(static_cast<std::size_t>(kept - kHistoryCounters.begin()));
  }
  return positions;
}

/// Which ports of the node that is gone are kept, and of which fabric.
void find_gone(Database& database, HistoryQuestion& question) {
  const PortKey gone = *question.gone;
  if (question.fabric.empty()) {
    Statement last(database, "SELECT fabric FROM port WHERE node = ? ORDER BY seen DESC LIMIT 1");
    last.query(gone.node.value);
    if (last.next()) {
      question.fabric = last.text(0);
      last.next();
    }
  }
  Statement ports(database,
                  "SELECT port FROM port WHERE fabric = ? AND node = ? AND port BETWEEN ? AND ? ORDER BY port");
  ports.query(question.fabric, gone.node.value, gone.port.value,
              gone.port.value == 0 ? kMostPorts : std::uint32_t{gone.port.value});
  while (ports.next()) question.ports.push_back({gone.node, PortNum{static_cast<std::uint16_t>(ports.integer(0))}});
}

ChunkPlaces find_places(Database& database, const HistoryQuestion& question) {
  ChunkPlaces places;
  constexpr auto kPorts = static_cast<std::int64_t>(kChunkPorts);
  Statement find(database, "SELECT slot FROM port WHERE fabric = ? AND node = ? AND port = ?");
  for (std::size_t i = 0; i < question.ports.size(); ++i) {
    find.query(question.fabric, question.ports[i].node.value, question.ports[i].port.value);
    if (!find.next()) continue;
    const std::int64_t slot = find.integer(0);
    places[slot / kPorts].push_back({static_cast<std::size_t>(slot % kPorts), i});
    find.next();
  }
  return places;
}

/// Rows of (at, span, sums, peaks) into the buckets.
class RowReader {
 public:
  explicit RowReader(Buckets& buckets) : buckets_(buckets) {}

  Result<void> read(Statement& rows, bool of_hours, std::span<const ChunkPlace> places) {
    while (rows.next()) {
      if (++rows_ > kMostHistoryRows)
        return fail(ErrorCode::kResourceExhausted, "there are too many moments in that time: request a shorter one");
      if (std::chrono::steady_clock::now() > deadline_)
        return fail(ErrorCode::kTimeout, "the disk takes too long for so much history: request a shorter time");
      const Duration span(rows.integer(1));
      const Buckets::Row row{rows.time(0), of_hours ? Duration(1h) : span, span, increases_,
                             of_hours ? &peaks_ : nullptr};
      // What is damaged is a gap.
      if (row.length <= Duration::zero() || !increases_.read(rows.blob(2))) continue;
      if (of_hours && !peaks_.read(rows.blob(3))) continue;
      buckets_.add(row, places);
    }
    return {};
  }

 private:
  Buckets& buckets_;
  ChunkReader increases_;
  ChunkReader peaks_;
  std::size_t rows_ = 0;
  const std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now() + kHistoryPatience;
};

Result<void> read_counters(Database& database, const HistoryQuestion& question, bool by_hours,
                           std::span<const Stretch> minutes, const ChunkPlaces& places, Buckets& sums) {
  RowReader reader(sums);
  if (by_hours) {
    Statement hours(database,
                    "SELECT at, span, sums, peaks FROM hour JOIN hour_chunk ON hour_chunk.id = (hour.id << 24 | ?4) "
                    "WHERE fabric = ?1 AND at > ?2 AND at <= ?3 AND next_chunk IS NULL ORDER BY at LIMIT ?5");
    for (const auto& [chunk, ports] : places) {
      hours.query(question.fabric, question.from + 1h - 1ns, question.to, chunk, kMostHistoryRows + 1);
      if (auto done = reader.read(hours, true, ports); !done) return done;
    }
  }
  Statement moments(
      database,
      "SELECT at, span, data FROM moment JOIN chunk ON chunk.id = (moment.id << 24 | ?4) WHERE fabric = ?1 "
      "AND at > ?2 AND at <= ?3 ORDER BY at LIMIT ?5");
  for (const auto& [chunk, ports] : places)
    for (const auto& [from, to] : minutes) {
      moments.query(question.fabric, from, to, chunk, kMostHistoryRows + 1);
      if (auto done = reader.read(moments, false, ports); !done) return done;
    }
  return {};
}

}  // namespace

Result<HistoryAnswer> read_history(const HistoryPlace& place, const HistoryQuestion& asked) {
  HistoryQuestion question = asked;
  auto positions = positions_of(question);
  if (!positions) return tl::unexpected<Error>(positions.error());
  if (question.step < 1s || question.to <= question.from)
    return fail(ErrorCode::kInvalidArgument, "the time must begin before it ends, and a step is 1 s at least");
  const bool by_hours = is_by_hours(question.to - question.from, question.step);
  const Duration step = by_hours ? std::max<Duration>(question.step, 1h) : question.step;
  const auto buckets = static_cast<std::size_t>((question.to - question.from) / step) + 1;
  const std::size_t values = positions->size() + gauges_of(question).size();
  const auto is_too_much = [&] {
    return buckets > kMostValues || buckets * question.ports.size() * values > kMostValues;
  };
  const Error too_much{ErrorCode::kInvalidArgument,
                       "that is more than a million values: request fewer ports, fewer counters or a longer step"};
  if (is_too_much()) return tl::unexpected(too_much);

  auto database = open_history(place);
  if (!database) return tl::unexpected<Error>(database.error());
  if (question.gone) find_gone(*database, question);
  if (is_too_much()) return tl::unexpected(too_much);
  const ChunkPlaces places = find_places(*database, question);
  if (places.empty()) {
    if (auto outcome = database->outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
    if (question.gone)
      return fail(ErrorCode::kNotFound,
                  to_string(question.gone->node) + " is in no fabric, and nothing is stored of it");
    return fail(ErrorCode::kNotFound, "there is no history of that yet");
  }
  std::vector<Stretch> minutes{{question.from, question.to}};
  if (by_hours) minutes = not_in_hours(*database, question.fabric, question.from, question.to);
  Buckets sums(question, step, std::move(*positions));
  if (question.gauges.empty() || !question.counters.empty())
    if (auto done = read_counters(*database, question, by_hours, minutes, places, sums); !done)
      return tl::unexpected<Error>(done.error());
  HistoryAnswer answer = sums.take();
  if (question.gone) answer.fabric = question.fabric;
  if (auto done = read_gauges(*database, question, by_hours, minutes, places, answer); !done)
    return tl::unexpected<Error>(done.error());
  if (auto outcome = database->outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return answer;
}

}  // namespace weft::store
