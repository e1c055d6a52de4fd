// SPDX-License-Identifier: Apache-2.0
#pragma once
// What all readers of port history share: how it is opened, and which of its rows speak of a time.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/adapters/store/history_reader.hpp"
#include "daemon/adapters/store/sql.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::store {

/// One port that is asked for, where it stands in its chunk.
struct ChunkPlace {
  std::size_t offset;  ///< in the chunk
  std::size_t port;    ///< in the answer
};
/// The chunks that hold the ports, and where.
using ChunkPlaces = std::map<std::int64_t, std::vector<ChunkPlace>>;

/// How long one question may read.
inline constexpr std::chrono::seconds kHistoryPatience{2};
/// Rows of one chunk that one question may read.
inline constexpr std::size_t kMostHistoryRows = 50'000;

/// A connection of its own, which writes nothing. kNotFound where nothing was ever stored.
Result<Database> open_history(const HistoryPlace& place);

/// So much time, or in such steps, is read from the sums of whole hours.
bool is_by_hours(Duration time, Duration step);

/// After the first, up to the second.
using Stretch = std::pair<TimePoint, TimePoint>;
/// Where no whole hour lies within the time: at its ends, and since the last hour that is added up. There minutes are
/// read.
std::vector<Stretch> not_in_hours(Database& database, std::string_view fabric, TimePoint from, TimePoint to);

}  // namespace weft::store
