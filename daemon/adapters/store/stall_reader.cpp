// SPDX-License-Identifier: Apache-2.0
// How long all switches of a fabric waited to send: one interval of the history after the other, all its chunks at
// once, and of each switch the port that waited most. So a row costs its buckets, however many ports the switch has.

#include <algorithm>
#include <chrono>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/adapters/store/history_codec.hpp"
#include "daemon/adapters/store/history_places.hpp"
#include "daemon/adapters/store/history_reader.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostStallValues = 1'000'000;
/// Chunks read for one question: half a second's of a machine that does nothing else.
constexpr std::size_t kMostChunks = 10'000;
/// Moments that are looked at for one question: three days of them, one a second.
constexpr std::size_t kMostMoments = 300'000;
constexpr auto kWait =
    static_cast<std::size_t>(std::ranges::find(kHistoryCounters, CounterId::kTransmitWait) - kHistoryCounters.begin());
static_assert(kWait < kHistoryCounters.size());

/// One port of the question, where it stands in its chunk.
struct StallPlace {
  std::size_t offset;
  std::size_t port;
};
using StallPlaces = std::map<std::int64_t, std::vector<StallPlace>>;

/// One stretch of time of which the history speaks.
struct StallInterval {
  std::int64_t id;
  TimePoint end;
  Duration length;
  Duration covered;  ///< of the length, by readings
};

StallPlaces find_stall_places(Database& database, const StallQuestion& question) {
  std::vector<std::pair<PortKey, std::size_t>> wanted;
  for (std::size_t i = 0; i < question.ports.size(); ++i) wanted.emplace_back(question.ports[i].port, i);
  std::ranges::sort(wanted);
  StallPlaces places;
  constexpr auto kPorts = static_cast<std::int64_t>(kChunkPorts);
  Statement all(database, "SELECT slot, node, port FROM port WHERE fabric = ?");
  all.query(question.fabric);
  while (all.next()) {
    const PortKey key{NodeGuid{all.bits(1)}, PortNum{static_cast<std::uint16_t>(all.integer(2))}};
    const auto found = std::ranges::lower_bound(wanted, std::pair(key, std::size_t{0}));
    if (found == wanted.end() || found->first != key) continue;
    const std::int64_t slot = all.integer(0);
    places[slot / kPorts].push_back({static_cast<std::size_t>(slot % kPorts), found->second});
  }
  return places;
}

std::vector<StallInterval> hours_of(Database& database, const StallQuestion& question) {
  std::vector<StallInterval> hours;
  Statement rows(
      database,
      "SELECT id, at, span FROM hour WHERE fabric = ? AND at > ? AND at <= ? AND next_chunk IS NULL ORDER BY "
      "at");
  rows.query(question.fabric, question.from + 1h - 1ns, question.to);
  while (rows.next())
    if (const Duration covered(rows.integer(2)); covered > Duration::zero())
      hours.push_back({rows.integer(0), rows.time(1), 1h, covered});
  return hours;
}

Result<std::vector<StallInterval>> moments_of(Database& database, const StallQuestion& question,
                                              std::span<const Stretch> times) {
  std::vector<StallInterval> moments;
  Statement rows(database,
                 "SELECT id, at, span FROM moment WHERE fabric = ? AND at > ? AND at <= ? ORDER BY at LIMIT ?");
  for (const auto& [from, to] : times) {
    rows.query(question.fabric, from, to, kMostMoments + 1);
    while (rows.next()) {
      if (moments.size() == kMostMoments)
        return fail(ErrorCode::kResourceExhausted, "there are too many moments in that time: request a shorter one");
      const Duration span(rows.integer(2));
      if (span > Duration::zero()) moments.push_back({rows.integer(0), rows.time(1), span, span});
    }
  }
  return moments;
}

/// The first of each so many.
std::vector<StallInterval> every(std::span<const StallInterval> intervals, std::size_t nth) {
  std::vector<StallInterval> kept;
  for (std::size_t i = 0; i < intervals.size(); i += nth) kept.push_back(intervals[i]);
  return kept;
}

Duration longest(std::span<const StallInterval> intervals) {
  Duration most{};
  for (const StallInterval& each : intervals) most = std::max(most, each.length);
  return most;
}

/// Adds intervals up in buckets.
class StallSums {
 public:
  StallSums(const StallQuestion& question, Duration step)
      : question_(question),
        step_(step),
        buckets_(static_cast<std::size_t>((question.to - question.from - 1ns) / step) + 1),
        worst_(question.rows, -1),
        waited_(question.ports.size(), 0),
        sums_(question.rows * buckets_) {}

  /// A chunk of the interval whose chunks are being read.
  void add(const StallInterval& interval, std::span<const StallPlace> places, const ChunkReader& ports) {
    const double seconds = std::chrono::duration<double>(interval.covered).count();
    for (const StallPlace& place : places) {
      if (place.offset >= ports.ports() || !ports.present(place.offset, kWait)) continue;
      const StallQuestion::Port& port = question_.ports[place.port];
      if (port.tick_seconds <= 0) continue;
      const double wait = static_cast<double>(ports.increase(place.offset, kWait)) * port.tick_seconds;
      worst_[port.row] = std::max(worst_[port.row], std::min(1.0, wait / seconds));
      waited_[place.port] += wait;
    }
  }

  /// All chunks of it were added.
  void end(const StallInterval& interval) {
    const TimePoint begin = interval.end - interval.length;
    const auto first = static_cast<std::size_t>(std::max<std::int64_t>(0, (begin - question_.from) / step_));
    for (std::size_t bucket = first; bucket < buckets_; ++bucket) {
      const TimePoint low = std::max(begin, question_.from + static_cast<std::int64_t>(bucket) * step_);
      const TimePoint high = std::min(interval.end, question_.from + static_cast<std::int64_t>(bucket + 1) * step_);
      if (high <= low) break;
      const double part = std::chrono::duration<double>(high - low).count();
      for (std::size_t row = 0; row < worst_.size(); ++row)
        if (worst_[row] >= 0) {
          Sum& sum = sums_[row * buckets_ + bucket];
          sum.share += worst_[row] * part;
          sum.time += part;
        }
    }
    std::ranges::fill(worst_, -1);
  }

  std::vector<StallRow> take() const {
    std::vector<StallRow> rows(question_.rows);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      Sum whole;
      for (std::size_t bucket = 0; bucket < buckets_; ++bucket) {
        const Sum& sum = sums_[row * buckets_ + bucket];
        if (sum.time <= 0) continue;
        rows[row].buckets.push_back({static_cast<std::uint32_t>(bucket), sum.share / sum.time});
        whole.share += sum.share;
        whole.time += sum.time;
      }
      if (whole.time > 0) rows[row].share = whole.share / whole.time;
    }
    std::vector<double> most(rows.size(), 0);
    for (std::size_t i = 0; i < waited_.size(); ++i) {
      const StallQuestion::Port& port = question_.ports[i];
      if (waited_[i] <= most[port.row]) continue;
      most[port.row] = waited_[i];
      rows[port.row].worst = port.port;
    }
    return rows;
  }

 private:
  struct Sum {
    double share = 0;  ///< times the seconds
    double time = 0;   ///< seconds
  };
  const StallQuestion& question_;
  Duration step_;
  std::size_t buckets_;
  std::vector<double> worst_;   ///< of the interval that is read, by row; -1: nothing is known
  std::vector<double> waited_;  ///< seconds, by port
  std::vector<Sum> sums_;
};

Result<void> read_intervals(Database& database, const char* sql, std::span<const StallInterval> intervals,
                            const StallPlaces& places, std::chrono::steady_clock::time_point deadline,
                            StallSums& sums) {
  Statement chunks(database, sql);
  ChunkReader ports;
  for (const StallInterval& interval : intervals) {
    const std::int64_t id = interval.id << kChunkBits;
    chunks.query(id | places.begin()->first, id | places.rbegin()->first);
    while (chunks.next()) {
      const auto found = places.find(chunks.integer(0) & kLastChunk);
      if (found == places.end()) continue;
      if (ports.read(chunks.blob(1))) sums.add(interval, found->second, ports);
    }
    sums.end(interval);
    if (std::chrono::steady_clock::now() > deadline)
      return fail(ErrorCode::kTimeout, "the disk takes too long for so much history: request a shorter time");
  }
  return {};
}

}  // namespace

Result<StallAnswer> read_stall(const HistoryPlace& place, const StallQuestion& question) {
  const auto deadline = std::chrono::steady_clock::now() + kHistoryPatience;
  if (question.step < 1s || question.to <= question.from)
    return fail(ErrorCode::kInvalidArgument, "the time must begin before it ends, and a step is 1 s at least");
  if (std::ranges::any_of(question.ports, [&](const auto& port) { return port.row >= question.rows; }))
    return fail(ErrorCode::kInvalidArgument, "a port is of a row that is none");
  const auto steps = static_cast<std::size_t>((question.to - question.from) / question.step) + 1;
  if (steps > kMostStallValues || steps * question.rows > kMostStallValues)
    return fail(ErrorCode::kInvalidArgument, "that is more than a million values: request a longer step");

  auto database = open_history(place);
  if (!database) return tl::unexpected<Error>(database.error());
  const StallPlaces places = find_stall_places(*database, question);
  if (places.empty()) {
    if (auto outcome = database->outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
    return fail(ErrorCode::kNotFound, "there is no history of that yet");
  }
  const auto find = [&](bool by_hours) -> Result<std::pair<std::vector<StallInterval>, std::vector<StallInterval>>> {
    std::vector<Stretch> minutes{{question.from, question.to}};
    if (by_hours) minutes = not_in_hours(*database, question.fabric, question.from, question.to);
    auto moments = moments_of(*database, question, minutes);
    if (!moments) return tl::unexpected<Error>(moments.error());
    return std::pair(by_hours ? hours_of(*database, question) : std::vector<StallInterval>{}, std::move(*moments));
  };
  const Duration time = question.to - question.from;
  bool by_hours = is_by_hours(time, question.step);
  auto found = find(by_hours);
  // Of a large fabric the hours of a day are known whole, and of its minutes only a few could be read.
  if (found && !by_hours && time >= 12h && found->second.size() * places.size() > kMostChunks)
    found = find(by_hours = true);
  if (!found) return tl::unexpected<Error>(found.error());
  auto& [hours, moments] = *found;

  StallAnswer answer;
  const std::size_t chunks = (hours.size() + moments.size()) * places.size();
  answer.read_every = static_cast<std::uint32_t>((chunks + kMostChunks - 1) / kMostChunks);
  answer.read_every = std::max(answer.read_every, 1U);
  // So long that each bucket has an interval that is read.
  answer.step = std::max<Duration>(question.step, by_hours ? 1h : 1s);
  if (answer.read_every > 1)
    answer.step = std::max(answer.step, (hours.empty() ? longest(moments) : Duration(1h)) * answer.read_every);
  hours = every(hours, answer.read_every);
  moments = every(moments, answer.read_every);

  StallSums sums(question, answer.step);
  auto done = read_intervals(*database, "SELECT id, sums FROM hour_chunk WHERE id >= ? AND id <= ? ORDER BY id", hours,
                             places, deadline, sums);
  if (done)
    done = read_intervals(*database, "SELECT id, data FROM chunk WHERE id >= ? AND id <= ? ORDER BY id", moments,
                          places, deadline, sums);
  if (!done) return tl::unexpected<Error>(done.error());
  if (auto outcome = database->outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  answer.rows = sums.take();
  return answer;
}

}  // namespace weft::store
