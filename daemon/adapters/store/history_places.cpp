// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/history_places.hpp"

#include "daemon/adapters/store/dialect.hpp"
#include "daemon/adapters/store/postgres_schema.hpp"
#include "daemon/adapters/store/schema.hpp"

namespace weft::store {

using namespace std::chrono_literals;

Result<Database> open_history(const HistoryPlace& place) {
  if (place.url.empty()) return look_into_database(place.state_dir / "history.db", history_schema());
  auto database = open_postgres_history(place.url);
  if (!database) return database;
  const bool is_there = database->number(postgres::kHasHistory) == 1;
  if (is_there &&
      database->number(postgres::kHistoryVersion) != static_cast<std::int64_t>(history_schema().migrations.size()))
    database->fail(ErrorCode::kUnavailable, "the history is not of this version of weftd");
  if (auto outcome = database->outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  if (!is_there) return fail(ErrorCode::kNotFound, "there is no history of that yet");
  return database;
}

bool is_by_hours(Duration time, Duration step) {
  constexpr Duration kMostOfMoments = 72h;
  return time > kMostOfMoments || step >= 1h;
}

std::vector<Stretch> not_in_hours(Database& database, std::string_view fabric, TimePoint from, TimePoint to) {
  std::vector<Stretch> minutes;
  TimePoint read_until = from;
  Statement whole(database,
                  "SELECT at FROM hour WHERE fabric = ? AND at >= ? AND at <= ? AND next_chunk IS NULL ORDER BY at");
  whole.query(fabric, from + 1h, to);
  while (whole.next()) {
    if (const TimePoint begin = whole.time(0) - 1h; begin > read_until) minutes.emplace_back(read_until, begin);
    read_until = whole.time(0);
  }
  if (read_until < to) minutes.emplace_back(read_until, to);
  return minutes;
}

}  // namespace weft::store
