// SPDX-License-Identifier: Apache-2.0
#pragma once
// Windows of planned work as rows. Failures stay in the Database (see sql.hpp); the caller has the transaction.

#include "daemon/adapters/store/sql.hpp"
#include "daemon/adapters/store/store.hpp"

namespace weft::store {

/// Adds the window, or replaces the one of its id.
void write_maintenance(Database& database, const MaintenanceWindow& window);
/// Those that are not over, and those that were over after `over_since`; ascending by id.
MaintenanceList read_maintenance(Database& database, TimePoint over_since);
/// Of the next window; never given before, even if its predecessors are deleted.
std::uint64_t read_next_maintenance_id(Database& database);
/// Deletes at most `limit` windows that were over before then. True: there may be more.
bool delete_old_maintenance(Database& database, TimePoint before, std::int64_t limit);

}  // namespace weft::store
