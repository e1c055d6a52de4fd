// SPDX-License-Identifier: Apache-2.0
#pragma once
// Incidents and their events as rows. Failures stay in the Database (see sql.hpp); the caller has the transaction.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "daemon/adapters/store/sql.hpp"
#include "daemon/adapters/store/store.hpp"

namespace weft::store {

/// Writes each incident whole, in place of its older revision; raises the next id and the counts of openings.
void write_incidents(Database& database, std::span<const Incident> incidents);
/// Adds events; they are never changed.
void write_events(Database& database, std::span<const Event> events);

/// Open ones, and those resolved after `resolved_since`, ascending by id.
std::vector<Incident> read_incidents(Database& database, TimePoint resolved_since);
/// The events of one incident, oldest first.
std::vector<Event> read_events(Database& database, std::uint64_t incident);
/// Of the next incident; never given before, even if its predecessors are deleted.
std::uint64_t read_next_incident_id(Database& database);
/// How many incidents of each kind were opened or re-opened, ever.
decltype(Restored::opened) read_opened(Database& database);

/// Deletes at most `limit` incidents resolved before `before`, and as many events older than it. True when there may be
/// more.
bool delete_old_incidents(Database& database, TimePoint before, std::int64_t limit);

}  // namespace weft::store
