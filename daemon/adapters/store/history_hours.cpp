// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/history_hours.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "daemon/adapters/store/gauge_codec.hpp"
#include "daemon/adapters/store/history_codec.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kChunksAtOnce = 2000;
constexpr std::int64_t kHoursDeletedAtOnce = 50;

/// What the moments of an hour add up to, for the ports of one chunk.
struct Sums {
  std::vector<ChunkPort> sum;
  std::vector<ChunkPort> peak;  ///< the greatest increase, as it would be of a whole hour
};

struct OpenHour {
  std::int64_t id = 0;
  TimePoint end = kNever;
  std::int64_t next_chunk = 0;  ///< those below are added up
};

std::uint64_t by_the_hour(std::uint64_t increase, Duration span) {
  const double rate = static_cast<double>(increase) * (static_cast<double>(Duration(1h).count()) /
                                                       static_cast<double>(std::max<std::int64_t>(span.count(), 1)));
  return rate < 1e19 ? static_cast<std::uint64_t>(rate) : static_cast<std::uint64_t>(1e19);
}

void add(std::span<const ChunkPort> moment, Duration span, Sums& sums) {
  const std::size_t ports = std::max(sums.sum.size(), moment.size());
  sums.sum.resize(ports);
  sums.peak.resize(ports);
  for (std::size_t i = 0; i < moment.size(); ++i) {
    sums.sum[i].present |= moment[i].present;
    sums.sum[i].at_least |= moment[i].at_least;
    sums.peak[i].present |= moment[i].present;
    for (std::size_t counter = 0; counter < kHistoryCounters.size(); ++counter) {
      if (moment[i].increase[counter] == 0) continue;
      sums.sum[i].increase[counter] += moment[i].increase[counter];
      sums.peak[i].increase[counter] =
          std::max(sums.peak[i].increase[counter], by_the_hour(moment[i].increase[counter], span));
    }
  }
}

/// The time that the statement gives of the fabric; kNever where there is none.
template <typename... Values>
TimePoint time_of(Database& history, const char* sql, const std::string& fabric, const Values&... values) {
  Statement statement(history, sql);
  statement.query(fabric, values...);
  if (!statement.next()) return kNever;
  const TimePoint at = statement.null(0) ? kNever : statement.time(0);
  statement.next();
  return at;
}

/// An hour of the fabric that was begun; id 0: none.
OpenHour open_hour(Database& history, const std::string& fabric) {
  Statement begun(history, "SELECT id, at, next_chunk FROM hour WHERE fabric = ? AND next_chunk IS NOT NULL LIMIT 1");
  begun.query(fabric);
  if (!begun.next()) return {};
  const OpenHour hour{begun.integer(0), begun.time(1), begun.integer(2)};
  begun.next();
  return hour;
}

/// The hour of the fabric that is to be added up next; id 0: none. Begins one where no other is begun.
OpenHour next_hour(Database& history, const std::string& fabric) {
  if (const OpenHour hour = open_hour(history, fabric); hour.id != 0) return hour;
  const TimePoint after = time_of(history, "SELECT max(at) FROM hour WHERE fabric = ?", fabric);
  const TimePoint newest = time_of(history, "SELECT at FROM moment WHERE fabric = ? ORDER BY id DESC LIMIT 1", fabric);
  TimePoint first = time_of(history, "SELECT min(at) FROM moment WHERE fabric = ? AND at > ?", fabric, after);
  // The clock was set back, below hours that are added up: what is shown now lies between older ones.
  if (first == kNever || newest <= after)
    first =
        time_of(history,
                "SELECT min(at) FROM moment WHERE fabric = ?1 AND NOT EXISTS (SELECT 1 FROM hour WHERE fabric = ?1 AND "
                "hour.at >= moment.at AND hour.at - ?2 < moment.at)",
                fabric, Duration(1h));
  if (first == kNever) return {};
  const TimePoint end = TimePoint(std::chrono::floor<std::chrono::hours>(first.time_since_epoch() - 1ns) + 1h);
  if (newest <= end) return {};
  Statement covered(history, "SELECT sum(span) FROM moment WHERE fabric = ? AND at > ? AND at <= ?");
  covered.query(fabric, end - 1h, end);
  Duration span{};
  while (covered.next()) span = Duration(covered.integer(0));
  Statement begin(history, "INSERT INTO hour (fabric, at, span, next_chunk) VALUES (?, ?, ?, 0) RETURNING id");
  begin.query(fabric, end, span);
  std::int64_t id = 0;
  while (begin.next()) id = begin.integer(0);
  return {id, end, 0};
}

/// What gauges were in the hour, of the chunks from the first up to the last.
void add_up_gauges(Database& history, const std::string& fabric, const OpenHour& hour, std::int64_t last) {
  struct Chunk {
    GaugeChain chain;
    std::vector<GaugeCodes> sums;
  };
  std::map<std::int64_t, Chunk> chunks;
  Statement rows(history,
                 "SELECT gauge_chunk.id & ?5, at, gauge_chunk.span, data FROM moment JOIN gauge_chunk ON "
                 "gauge_chunk.id BETWEEN (moment.id << "
                 "24 | ?4) AND (moment.id << 24 | ?6) WHERE fabric = ?1 AND at > ?2 AND at <= ?3 ORDER BY at");
  rows.query(fabric, hour.end - 1h, hour.end, hour.next_chunk, kLastChunk, last);
  while (rows.next()) {
    auto& [chain, sums] = chunks[rows.integer(0)];
    const auto* const ports = chain.next(rows.blob(3), rows.time(1) - Duration(rows.integer(2)), rows.time(1));
    if (ports == nullptr) continue;
    if (sums.size() < ports->size()) sums.resize(ports->size());
    for (std::size_t i = 0; i < ports->size(); ++i) add(sums[i], (*ports)[i]);
  }
  Statement insert(history, "INSERT INTO hour_gauge VALUES (?, ?)");
  for (const auto& [chunk, of] : chunks)
    if (!of.sums.empty()) insert.run(hour.id << kChunkBits | chunk, encode_gauges(of.sums));
}

/// Adds up as many chunks of the hour as one step does.
void add_up(Database& history, const std::string& fabric, const OpenHour& hour) {
  const TimePoint begin = hour.end - 1h;
  Statement count(history, "SELECT count(*) FROM moment WHERE fabric = ? AND at > ? AND at <= ?");
  count.query(fabric, begin, hour.end);
  const std::int64_t moments = count.next() ? std::max<std::int64_t>(count.integer(0), 1) : 1;
  count.next();
  const std::int64_t end_chunk = hour.next_chunk + std::max<std::int64_t>(kChunksAtOnce / moments, 1);
  std::map<std::int64_t, Sums> chunks;
  Statement rows(
      history,
      "SELECT chunk.id & ?5, span, data FROM moment JOIN chunk ON chunk.id BETWEEN (moment.id << 24 | ?4) AND "
      "(moment.id << 24 | ?6) WHERE fabric = ?1 AND at > ?2 AND at <= ?3 ORDER BY at");
  rows.query(fabric, begin, hour.end, hour.next_chunk, kLastChunk, std::min(end_chunk - 1, kLastChunk));
  while (rows.next())
    // A damaged chunk is a gap, as it is where moments are read.
    if (const auto ports = decode_chunk(rows.blob(2))) add(*ports, Duration(rows.integer(1)), chunks[rows.integer(0)]);
  Statement insert(history, "INSERT INTO hour_chunk VALUES (?, ?, ?)");
  for (const auto& [chunk, sums] : chunks)
    insert.run(hour.id << kChunkBits | chunk, encode_chunk(sums.sum), encode_chunk(sums.peak));
  add_up_gauges(history, fabric, hour, std::min(end_chunk - 1, kLastChunk));

  Statement left(history,
                 "SELECT CASE WHEN EXISTS (SELECT 1 FROM moment JOIN chunk ON chunk.id BETWEEN (moment.id << 24 | ?4) "
                 "AND (moment.id << 24 | ?5) WHERE fabric = ?1 AND at > ?2 AND at <= ?3) THEN 1 ELSE 0 END");
  left.query(fabric, begin, hour.end, std::min(end_chunk, kLastChunk), kLastChunk);
  const bool more = left.next() && left.integer(0) != 0;
  left.next();
  if (more)
    Statement(history, "UPDATE hour SET next_chunk = ? WHERE id = ?").run(end_chunk, hour.id);
  else
    Statement(history, "UPDATE hour SET next_chunk = NULL WHERE id = ?").run(hour.id);
}

void delete_hour(Database& history, std::int64_t id) {
  const auto [first, last] = chunk_ids(id);
  Statement(history, "DELETE FROM hour_chunk WHERE id BETWEEN ? AND ?").run(first, last);
  Statement(history, "DELETE FROM hour_gauge WHERE id BETWEEN ? AND ?").run(first, last);
  Statement(history, "DELETE FROM hour WHERE id = ?").run(id);
}

}  // namespace

Result<bool> add_up_hours(Database& history) {
  Transaction transaction(history);
  std::vector<std::string> fabrics;
  {
    Statement names(history, "SELECT DISTINCT fabric FROM moment");
    names.query();
    while (names.next()) fabrics.push_back(names.text(0));
  }
  bool more = false;
  for (const std::string& fabric : fabrics) {
    const OpenHour hour = next_hour(history, fabric);
    if (hour.id == 0) continue;
    add_up(history, fabric, hour);
    more = true;  // another hour may be over, too
    break;
  }
  if (auto done = transaction.commit(); !done) return tl::unexpected<Error>(done.error());
  return more;
}

void reopen_hour(Database& history, std::string_view fabric, TimePoint at) {
  Statement of(history, "SELECT id FROM hour WHERE fabric = ? AND at >= ? AND at < ?");
  of.query(fabric, at, at + 1h);
  if (!of.next()) return;
  const std::int64_t id = of.integer(0);
  of.next();
  delete_hour(history, id);
}

void delete_old_hours(Database& history, TimePoint oldest_allowed) {
  std::vector<std::int64_t> ids;
  {
    Statement old(history, "SELECT id FROM hour WHERE at < ? ORDER BY at LIMIT ?");
    old.query(oldest_allowed, kHoursDeletedAtOnce);
    while (old.next()) ids.push_back(old.integer(0));
  }
  for (const std::int64_t id : ids) delete_hour(history, id);
}

bool delete_oldest_hour(Database& history, TimePoint before) {
  Statement oldest(history, "SELECT id FROM hour WHERE at < ? ORDER BY at LIMIT 1");
  oldest.query(before);
  if (!oldest.next()) return false;
  const std::int64_t id = oldest.integer(0);
  oldest.next();
  delete_hour(history, id);
  return true;
}

}  // namespace weft::store
