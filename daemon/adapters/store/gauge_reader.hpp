// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gauges of ports over time: a part of read_history().

#include <span>
#include <vector>

#include "daemon/adapters/store/history_places.hpp"
#include "daemon/adapters/store/sql.hpp"
#include "fabric/port_history.hpp"
#include "fabric/result.hpp"

namespace weft::store {

/// The gauges that are asked for: all where neither counters nor gauges are named.
std::vector<PortGauge> gauges_of(const HistoryQuestion& question);

/// Adds the gauges to `answer`, which has the ports of the question and its step. Of each bucket the last, the lowest
/// and the highest value that was read in a stretch of time that reaches into it. Errors as read_history().
Result<void> read_gauges(Database& database, const HistoryQuestion& question, bool by_hours,
                         std::span<const Stretch> minutes, const ChunkPlaces& places, HistoryAnswer& answer);

}  // namespace weft::store
